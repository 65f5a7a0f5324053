from sklearn_predtron._core.intercept import Intercept
from sklearn_predtron.norms._dual import DualWeights

class PNormWeights(DualWeights): ...

class GroupWeights(DualWeights):
    def __init__(
        self,
        d: int,
        p: int,
        intercept: Intercept | None,
        q: float,
        by_feature: bool = ...,
        averaging: int = ...,
        curvature: float | None = ...,
    ) -> None: ...
