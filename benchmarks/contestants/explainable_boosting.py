"""interpret's additive model of boosted trees (optional)."""

from typing import Any

from benchmarks.contestants.base import Contestant
from benchmarks.tasks import Task


class ExplainableBoosting(Contestant):
    """The defaults: fourteen bags, and products of pairs where there are two classes."""

    name = "ExplainableBoosting"
    module = "interpret"
    sparse = False

    def make(self, task: Task) -> Any:
        from interpret.glassbox import ExplainableBoostingClassifier

        return ExplainableBoostingClassifier(random_state=task.seed, n_jobs=1)
