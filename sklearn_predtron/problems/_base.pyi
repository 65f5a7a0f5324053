from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.score_map import ScoreMap

def presence(values: NDArray[Any], lowest: int, span: int) -> Any: ...

class Labels:
    n: int
    def __getattr__(self, name: str) -> Any: ...  # of one kind of labels

class Codes(Labels):
    def __init__(self, codes: NDArray[np.intp]) -> None: ...
    @property
    def numbers(self) -> Any: ...

class Problem:
    d: int
    c_L: float
    C_L: float
    score_map: ScoreMap
    def __getattr__(self, name: str) -> Any: ...  # of one prediction space
    def prepare(self, labels: Labels | None) -> Any: ...
    @property
    def D2(self) -> Any: ...
    @property
    def kappa(self) -> Any: ...
    @property
    def constants_source(self) -> Any: ...
    @property
    def no_theorem_because(self) -> Any: ...
