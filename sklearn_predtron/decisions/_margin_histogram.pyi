from typing import Any

from sklearn_predtron._core.learner import Observer
from sklearn_predtron.problems._finite import FiniteProblem

class MarginHistogram(Observer):
    problem: Any
    def __init__(self, problem: FiniteProblem, n_labels: int) -> None: ...
    def threshold(self, beta: Any) -> Any: ...
