"""mord's LAD: least absolute deviations of the rank by LinearSVR, rounded (optional)."""

from typing import Any

from numpy.typing import NDArray

from benchmarks.contestants.base import Contestant
from benchmarks.tasks import Task


class MordLAD(Contestant):
    name = "mord LAD"
    module = "mord"
    sparse = False

    def make(self, task: Task) -> Any:
        from mord import LAD

        return LAD(random_state=task.seed)

    def predict(self, model: Any, X: NDArray) -> NDArray:
        return super().predict(model, X).astype(int)
