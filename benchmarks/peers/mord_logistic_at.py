"""mord's LogisticAT: one direction, all thresholds, logistic loss (optional)."""

from benchmarks.peers.base import Peer
from benchmarks.peers.ranks import PresentRanks
from benchmarks.tasks import Task


class MordLogisticAT(Peer):
    name = "mord LogisticAT"
    module = "mord"
    sparse = False

    def make(self, task: Task) -> PresentRanks:
        from mord import LogisticAT

        return PresentRanks(LogisticAT())
