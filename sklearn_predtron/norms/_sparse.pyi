from typing import Any

from sklearn_predtron._core.weights import Weights

class SparseWeights(Weights):
    intercept: Any
    by_feature: bool
    def __init__(self, *arguments: Any) -> None: ...
    def mean(self) -> Any: ...
