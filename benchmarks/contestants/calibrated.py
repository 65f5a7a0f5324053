"""scikit-learn's CalibratedClassifierCV around another learner."""

from typing import Any

from sklearn.calibration import CalibratedClassifierCV

from benchmarks.contestants.base import Contestant
from benchmarks.tasks import Task


class Calibrated(Contestant):
    """Platt's curve, of the scores of five folds."""

    def __init__(self, single: Contestant):
        self.name, self.single = f"CalibratedClassifierCV({single.name})", single

    def make(self, task: Task) -> Any:
        return CalibratedClassifierCV(self.single.make(task))
