"""skordinal's linear models of one direction and ordered thresholds (optional)."""

from typing import Any

from benchmarks.contestants.base import Contestant
from benchmarks.tasks import Task


class Skordinal(Contestant):
    """A classifier of skordinal's."""

    module = "skordinal"
    sparse = False

    def __init__(self, model: str):
        self.model = model
        self.name = f"skordinal {model}"

    def make(self, task: Task) -> Any:
        from skordinal import classifiers

        return getattr(classifiers, self.model)()
