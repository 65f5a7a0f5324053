from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.problem import Problem

class FiniteProblem(Problem):
    k: int
    def __init__(self, code: Any, cost: Any = ...) -> None: ...
    @property
    def cost_matrix(self) -> Any: ...
    def decision(self, scores: NDArray[np.float64]) -> Any: ...
    def predict(self, scores: NDArray[np.float64]) -> Any: ...

class OneHotProblem(FiniteProblem):
    def __init__(self, k: int, cost: Any = ...) -> None: ...

class SignProblem(FiniteProblem):
    def __init__(self, cost: Any = ...) -> None: ...
