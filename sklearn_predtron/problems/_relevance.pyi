from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.problem import Labels

class Relevances(Labels):
    longest: int
    gain: NDArray[np.float64]
    def __init__(self, y: NDArray[np.float64], start: NDArray[np.intp]) -> None: ...
    @property
    def relevances(self) -> Any: ...
    @property
    def starts(self) -> Any: ...
    @property
    def values(self) -> Any: ...
    @property
    def grades(self) -> Any: ...
    @property
    def top_grades(self) -> Any: ...
