from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.problem import Labels, Problem

class Objects(Labels):
    values: list[Any]
    def __init__(self, values: Iterable[Any]) -> None: ...

class UserProblem(Problem):
    inner: Any
    checked: bool
    def __init__(self, inner: Any, checked: bool = ...) -> None: ...
    @property
    def name(self) -> str: ...
    def loss_of(self, prediction: Any, y: Any) -> float: ...

class PythonProblem(UserProblem):
    def representation_of(self, prediction: Any) -> Any: ...
    def decode(self, scores: NDArray[np.float64]) -> Any: ...
