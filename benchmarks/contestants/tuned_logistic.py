"""scikit-learn's LogisticRegression with the threshold of the largest score, by cross-validation."""

from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV

from benchmarks.contestants.base import Contestant
from benchmarks.tasks import Task


class TunedLogistic(Contestant):
    name = "TunedThresholdClassifierCV(LogisticRegression)"

    def __init__(self, scoring: Any = "f1"):
        self.scoring = scoring

    def make(self, task: Task) -> Any:
        return TunedThresholdClassifierCV(LogisticRegression(max_iter=2000), scoring=self.scoring, random_state=task.seed)
