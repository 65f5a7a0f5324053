"""A cut of the scores at given numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.problem import Problem
from sklearn_predtron.decisions._base import UNSEEN, Decision
from sklearn_predtron.decisions._score_histogram import ClassScores, LabelScores


class CutOfTwoClasses:
    """One cut of the score of the second class.

    With two classes this score is <v, t> / h.
    """

    histogram = ClassScores

    def scores(self, problem: Problem, scores: NDArray) -> NDArray:
        """Return the scores to cut (n_samples, n_cuts)."""
        return score_of_second(problem, scores)

    def shift(self, problem: Problem, cuts: NDArray) -> NDArray:
        """Return the offsets for these cuts, of shape (d,).

        They are subtracted from the scores t.
        """
        direction, unit = difference(problem)
        return cuts[0] * unit * direction / (direction @ direction)


class OfEachLabel:
    """A cut for each score."""

    histogram = LabelScores

    def scores(self, problem: Problem, scores: NDArray) -> NDArray:
        """Return the scores to cut (n_samples, n_cuts)."""
        return scores

    def shift(self, problem: Problem, cuts: NDArray) -> NDArray:
        """Return the offsets for these cuts, of shape (d,).

        They are subtracted from the scores t.
        """
        return cuts


class CutAt(Decision):
    """Cut the scores at given numbers.

    Parameters
    ----------
    of : CutOfTwoClasses or OfEachLabel
        The scores that are cut.
    cuts : ndarray of shape (n_cuts,)
        The cuts.
    calibration : Calibration, default=None
        Calibrates probabilities from the same scores.
    """

    shifts = True

    def __init__(self, of: CutOfTwoClasses | OfEachLabel, cuts: NDArray, calibration: Any = None):
        self.of, self.cuts, self.calibration = of, cuts, calibration
        self.asks_for = None if calibration is None else UNSEEN
        self._last: tuple[Any, Any] = (None, None)  # a problem, and the offsets of its scores

    def shift(self, problem: Problem) -> NDArray:
        """Return the offsets to subtract from the scores."""
        known, shift = self._last
        if known is not problem:
            shift = self.of.shift(problem, self.cuts)
            self._last = problem, shift
        return shift


def difference(problem: Any) -> tuple[NDArray, float]:
    """Return the second score's direction and unit.

    The direction v is that of its score less that of the first of two classes; the unit is h.
    """
    first, second = problem.decision(np.eye(problem.d))[:, :2].T
    return second - first, 2.0 if problem.d == 1 else 1.0


def score_of_second(problem: Any, scores: NDArray) -> NDArray:
    """Return the score of the second of two classes.

    It is of shape (n_samples, 1); the bits of a row do not depend on the others.
    """
    direction, unit = difference(problem)
    total = scores[:, 0] * direction[0]
    for j in range(1, problem.d):
        total = total + scores[:, j] * direction[j]
    return np.ascontiguousarray((total / unit)[:, None])
