from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.learner import Observer
from sklearn_predtron._core.problem import Problem

PLACES: NDArray[np.float64]

class ScoreHistogram(Observer):
    problem: Any
    rounds: int
    def __init__(self, problem: Problem) -> None: ...
    def n_scores(self) -> int: ...
    def weights(self) -> Any: ...

class ClassScores(ScoreHistogram): ...
class LabelScores(ScoreHistogram): ...
