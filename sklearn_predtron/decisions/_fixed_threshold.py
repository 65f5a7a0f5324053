"""A cut of the scores at given numbers."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from sklearn_predtron._core.problem import Problem
from sklearn_predtron.decisions._base import Decision


class CutAt(Decision):
    """Cut the scores at given numbers.

    Parameters
    ----------
    of : BinaryScores or LabelScores
        The scores that are cut.
    cuts : ndarray of shape (n_cuts,)
        The cuts.
    calibration : Calibration, default=None
        Calibrates probabilities from the same scores.
    """

    shifts = True

    def __init__(self, of: Any, cuts: NDArray, calibration: Any = None):
        self.of, self.cuts, self.calibration = of, cuts, calibration
        self.needs_scores = calibration is not None

    def shift(self, problem: Problem) -> NDArray:
        """Return the offsets to subtract from the scores."""
        return self.once_for(problem, lambda problem: self.of.shift(problem, self.cuts))
