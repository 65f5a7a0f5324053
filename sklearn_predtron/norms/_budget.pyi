from typing import Any

from sklearn_predtron._core.intercept import Intercept
from sklearn_predtron._core.score_map import ScoreMap
from sklearn_predtron.norms._rkhs import RKHSWeights

class BudgetedWeights(RKHSWeights):
    budget: int
    def __init__(
        self,
        d: int,
        p: int,
        support: Any,
        intercept: Intercept | None,
        budget: int,
        averaging: int = ...,
        score_map: ScoreMap | None = ...,
    ) -> None: ...
