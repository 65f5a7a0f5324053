"""scikit-learn's boosted trees of binned columns: 100 rounds."""

from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.contestants.base import Contestant
from benchmarks.tasks import Task


class HistGradientBoosting(Contestant):
    """The defaults, with the categories that a data frame has."""

    name = "HistGradientBoosting"
    sparse = False

    def make(self, task: Task) -> Any:
        return HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=task.seed)
