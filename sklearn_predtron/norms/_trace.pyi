from sklearn_predtron._core.intercept import Intercept
from sklearn_predtron.norms._l2 import L2Weights

class TraceWeights(L2Weights):
    q: float
    def __init__(
        self, d: int, p: int, q: float, intercept: Intercept | None, by_feature: bool = ..., averaging: int = ...
    ) -> None: ...
