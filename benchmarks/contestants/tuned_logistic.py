"""scikit-learn's LogisticRegression with the threshold of largest F1, by cross-validation."""

from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV

from benchmarks.contestants.base import Contestant
from benchmarks.tasks import Task


class TunedLogistic(Contestant):
    name = "TunedThresholdClassifierCV(LogisticRegression)"

    def make(self, task: Task) -> Any:
        return TunedThresholdClassifierCV(LogisticRegression(max_iter=2000), scoring="f1", random_state=task.seed)
