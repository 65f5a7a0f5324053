from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.learner import Observer
from sklearn_predtron.problems._base import Labels
from sklearn_predtron.problems._finite import FiniteProblem

class MarginHistogram(Observer):
    problem: Any
    def __init__(self, problem: FiniteProblem, n_labels: int) -> None: ...
    def show(
        self, scores: NDArray[np.float64], labels: Labels, rows: NDArray[np.intp], weight: NDArray[np.float64] | None = ...
    ) -> None: ...
    def scale_to(self, weight: float) -> None: ...
    def threshold(self, beta: Any) -> Any: ...
