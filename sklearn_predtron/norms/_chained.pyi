from typing import Any

from sklearn_predtron._core.chain_map import ChainMap
from sklearn_predtron.norms._base import Weights
from sklearn_predtron.norms._intercept import Intercept

class ChainedWeights(Weights):
    inner: Weights
    intercept: Intercept
    longest: int
    def __init__(self, inner: Weights, score_map: ChainMap) -> None: ...
    def last(self) -> Any: ...
    def mean(self) -> Any: ...
    def transitions(self, mean: bool) -> Any: ...
