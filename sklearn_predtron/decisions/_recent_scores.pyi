from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.learner import Observer
from sklearn_predtron._core.problem import Labels, Problem
from sklearn_predtron.decisions._base import HeldOut

class RecentScores(Observer):
    problem: Any
    kind: str
    every: int
    size: int
    recorded: int
    marked_at: int
    values: int
    def __init__(self, problem: Problem, kind: str) -> None: ...
    def take(self, scores: NDArray[np.float64], labels: NDArray[np.intc], weight: NDArray[np.float64] | None = ...) -> None: ...
    def rows(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]: ...
    def marked(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]: ...
    def held_out(self) -> HeldOut: ...
    def once(self, purpose: Any, make: Callable[[], Any]) -> Any: ...

def label_values(labels: Labels, rows: NDArray[np.intp], m: int) -> NDArray[np.intc]: ...
