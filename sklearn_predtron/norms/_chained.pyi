from typing import Any

from sklearn_predtron._core.intercept import Intercept
from sklearn_predtron._core.score_map import ScoreMap
from sklearn_predtron._core.weights import Weights

class ChainMap(ScoreMap):
    transition_scaling: float
    def __init__(self, d: int, transition_scaling: float, p: int = ...) -> None: ...

class ChainedWeights(Weights):
    inner: Weights
    intercept: Intercept
    longest: int
    def __init__(self, inner: Weights, score_map: ChainMap) -> None: ...
    def last(self) -> Any: ...
    def mean(self) -> Any: ...
    def transitions(self, mean: bool) -> Any: ...
