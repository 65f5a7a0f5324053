from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.intercept import Intercept
from sklearn_predtron._core.score_map import ScoreMap
from sklearn_predtron.norms._l2 import L2Weights

def gaussian(products: NDArray[np.float64], gamma: float, left: NDArray[np.float64], right: NDArray[np.float64]) -> Any: ...

UNMIXED: str

class RKHSWeights(L2Weights):
    n: int
    truncation_loss: float
    def __init__(
        self, d: int, p: int, support: Any, intercept: Intercept, averaging: int = ..., score_map: ScoreMap | None = ...
    ) -> None: ...
    @property
    def row_numbers(self) -> Any: ...
