from sklearn_predtron.norms._dual import DualWeights
from sklearn_predtron.norms._intercept import Intercept

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
