from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.averages import Average
from sklearn_predtron._core.loss_curve import LossCurve
from sklearn_predtron._core.rows import Rows
from sklearn_predtron.norms._base import Weights
from sklearn_predtron.problems._base import Labels, Problem
from sklearn_predtron.updates._competitor import Rule

INSTRUCTIONS: str

class Observer:
    def watch(self, problem: Problem) -> Any: ...
    def show(
        self,
        problem: Problem,
        scores: NDArray[np.float64],
        labels: Labels,
        rows: NDArray[np.intp],
        weight: NDArray[np.float64] | None = ...,
    ) -> None: ...
    def scale_to(self, weight: float) -> None: ...
    def export(self) -> Any: ...
    def adopt(self, state: Any, with_sums: bool) -> Any: ...
    def resized(self, problem: Problem, places: list[int]) -> Observer: ...

class Learner:
    weights: Any
    problem: Any
    update: Rule
    average: Average
    observer: Any
    history: LossCurve
    t: int
    n_mistakes: int
    n_updates: int
    cumulative_loss: float
    refused: bool
    weighted: bool
    def __init__(self, weights: Weights, problem: Problem, update: Rule, average: Average) -> None: ...
    def change(self, problem: Problem, update: Rule, average: Average | None, observer: Observer | None) -> Any: ...
    def resized(self, p: int, places: list[int], problem: Problem, observer: Observer | None) -> Learner: ...
    def with_weights(self, weights: Weights, problem: Problem, observer: Observer | None) -> Learner: ...
    def widen(self, n_features: int) -> None: ...
    def parts(self) -> Any: ...
    def record(self, history: LossCurve | None) -> Any: ...
    def read(self, reader: Any) -> Any: ...
    def read_at_once(self, reader: Any) -> Any: ...
    def export(self) -> Any: ...
    def adopt(self, state: Any, with_sums: bool) -> Any: ...
    def learn(
        self,
        rows: Rows,
        labels: Labels,
        order: NDArray[np.intp] | None = ...,
        weight: NDArray[np.float64] | None = ...,
        usual: float = ...,
        fresh: bool = ...,
        counts: NDArray[np.float64] | None = ...,
        unchecked: bool = ...,
        observed: bool = ...,
        ahead: NDArray[np.intp] | None = ...,
    ) -> Any: ...
    def why_refused(self, row: Any, before: Any) -> Any: ...
    def scores(self, rows: Rows, out: NDArray[np.float64], mean: bool = ..., first: int = ...) -> bool: ...
