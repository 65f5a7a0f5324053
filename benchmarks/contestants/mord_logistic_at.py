"""mord's LogisticAT: one direction, all thresholds, logistic loss (optional)."""

from benchmarks.contestants.base import Contestant
from benchmarks.contestants.ranks import PresentRanks
from benchmarks.tasks import Task


class MordLogisticAT(Contestant):
    name = "mord LogisticAT"
    module = "mord"
    sparse = False

    def make(self, task: Task) -> PresentRanks:
        from mord import LogisticAT

        return PresentRanks(LogisticAT())
