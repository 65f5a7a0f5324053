"""LightGBM's classifier: 100 trees (optional)."""

from typing import Any

from benchmarks.contestants.base import Contestant
from benchmarks.tasks import Task


class LightGBMClassifier(Contestant):
    name = "LightGBM"
    module = "lightgbm"

    def make(self, task: Task) -> Any:
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_estimators=100, random_state=task.seed, n_jobs=1, verbose=-1)
