from sklearn_predtron._core.intercept import Intercept
from sklearn_predtron._core.score_map import ScoreMap
from sklearn_predtron.norms._l2 import L2Weights

class ScaledWeights(L2Weights):
    def __init__(
        self,
        d: int,
        p: int,
        intercept: Intercept | None,
        sparse: bool = ...,
        averaging: int = ...,
        score_map: ScoreMap | None = ...,
    ) -> None: ...
