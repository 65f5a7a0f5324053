from typing import Any

from sklearn_predtron.norms._base import Weights

class SparseWeights(Weights):
    intercept: Any
    by_feature: bool
    def __init__(self, *arguments: Any) -> None: ...
    def mean(self) -> Any: ...
