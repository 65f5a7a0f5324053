from typing import Any

from sklearn_predtron._core.intercept import Intercept
from sklearn_predtron._core.score_map import ScoreMap
from sklearn_predtron.norms._averaging import AveragedWeights

class L2Weights(AveragedWeights):
    radius_needed: bool
    intercept: Intercept
    radius2: float
    def __init__(
        self,
        d: int,
        p: int,
        intercept: Intercept,
        by_feature: bool = ...,
        averaging: int = ...,
        score_map: ScoreMap | None = ...,
    ) -> None: ...
    def last(self) -> Any: ...
    def mean(self) -> Any: ...
