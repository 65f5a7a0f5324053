"""The update of ordered thresholds."""

from __future__ import annotations

from sklearn_predtron._core.problem import Problem
from sklearn_predtron._support.capabilities import ORDERED_THRESHOLDS
from sklearn_predtron.updates._basic_updates import Update
from sklearn_predtron.updates._comparator import Comparator
from sklearn_predtron.updates._prank import PRankRule
from sklearn_predtron.updates._shared_bounds import counts_thresholds, largest_total


class PRank(Update):
    """PRank as printed (Crammer and Singer 2001).

    Each threshold on the wrong side of <u, x>, or on it, moves by 1.

    If the predicted rank is not the label, tau_j = +1 for the thresholds below the label that <u, x> does not exceed, and -1
    for those above it that <u, x> reaches; u <- u + (sum of tau) x, and threshold j falls by tau_j.  It is for
    representation="shared" only.  The loss has no influence; intercept_scaling="auto" is 1.

    See Also
    --------
    PerceptronUpdate : The perceptron of the same thresholds.
    sklearn_predtron.representations.SharedThermometer : The thresholds that it moves.

    Notes
    -----
    `loss_bound` is 4 R^2 / ((r - 1) gamma^2) for the absolute loss and any loss that is nowhere larger, with
    R^2 = (r - 1) |x|^2 + s^2.  Crammer and Singer's theorem, (r - 1) (|x|^2 + 1) / gamma'^2 with the least distance
    gamma' = sqrt(r - 1) gamma / 2 from a threshold, is for s = 1; their proof gives the R^2 above.

    `comparator_bound` is the largest S with S - E <= R |U| sqrt(S), where E sums max(0, 1 - distance) over rows and
    thresholds.

    Examples
    --------
    >>> from sklearn_predtron import PredtronOrdinalClassifier
    >>> from sklearn_predtron.updates import PRank
    >>> as_printed = dict(norm="l2", average=False, shuffle=False, max_iter=1, cv=0)
    >>> model = PredtronOrdinalClassifier(representation="shared", update=PRank(), **as_printed)
    >>> model.fit([[1.0], [2.0], [4.0]], [0, 1, 2]).intercept_
    array([1., 0.])
    """

    alias = "prank"
    needs = (ORDERED_THRESHOLDS,)
    auto_scaling = 1.0

    def build(self, problem: Problem) -> PRankRule:
        return PRankRule()

    def theorem(self, problem: Problem) -> str:
        return "PRank's bound (Crammer and Singer 2001)" if counts_thresholds(problem) else super().theorem(problem)

    def loss_bound(self, problem: Problem, margin: float, radius: float, c_L: float) -> float:
        return 4 * radius**2 / (problem.d * margin**2)

    def comparator_bound(self, problem: Problem, against: Comparator, c_L: float) -> float:
        excess = float(against.threshold_shortfalls().sum())
        return largest_total(excess, (against.radius * against.length) ** 2)
