"""Abstention on a share of the rows; in a stream the share is kept for any sequence of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.learner import Observer
from sklearn_predtron._core.problem import Problem
from sklearn_predtron.decisions._base import Decision, UnseenRows
from sklearn_predtron.decisions._calibration import Calibration
from sklearn_predtron.decisions._recent_scores import RecentScores
from sklearn_predtron.decisions._reject_at_risk import RejectAbove
from sklearn_predtron.decisions._rejection_tracker import RejectionTracker, threshold_of


class RejectAtRate(RejectAbove):
    """Abstain on the share of rows that cost most.

    These have the highest expected cost.  For others predict the label with the lowest expected cost.

    Parameters
    ----------
    calibration : Calibration
        Calibrates probabilities.
    costs : ndarray of shape (k, k)
        costs[y, sigma] of predicting sigma for y.
    rate : float
        The share of rows with abstention.
    weights : ndarray of shape (k,), default=None
        Training weights of the classes, which stand for their costs.
    """

    def __init__(self, calibration: Calibration, costs: NDArray, rate: float, weights: NDArray | None = None):
        super().__init__(calibration, costs, weights)
        self.rate = rate

    def observer(self, problem: Problem, present: Observer | None) -> Observer:
        """Return the record of the last scores; it also tracks the abstained rows."""
        own = self.calibration.observer(problem, present, RejectionTracker)
        if own is not present and isinstance(present, RecentScores) and present.kind == own.kind:
            own.go_on_from(present)
        own.rule = self
        return own

    def fitted(self, unseen: UnseenRows) -> Decision:
        """Return the decision by map and past abstentions."""
        found = self.calibration.map(unseen)
        known, level = self.sorted_costs(unseen.observer, found), self.rate
        if isinstance(unseen.observer, RejectionTracker):
            level += unseen.observer.up_to_now(self)[0]
        return self.answering(found, threshold_of(known, level, 2 * float(self.costs.max())))

    def costs_since(self, observer: Any, scores: NDArray) -> tuple[NDArray, NDArray]:
        """Return the lowest expected costs on record and those of rows since the last mark, by the map of the record."""
        found = self.calibration.value(UnseenRows(observer.problem, observer, {}, observer.recorded))
        return self.sorted_costs(observer, found), self.least_costs(observer.problem, found, scores)

    def sorted_costs(self, observer: Any, found: Any) -> NDArray:
        """Return the lowest expected costs of the rows up to the last mark, in ascending order, once for each map."""
        return self.once_for(found, lambda found: np.sort(self.least_costs(observer.problem, found, observer.marked()[0])))

    def least_costs(self, problem: Any, found: Any, scores: NDArray) -> NDArray:
        """Return the lowest expected cost of each row; probabilities are those of a calibration map."""
        of = self.calibration.of
        return (of.probabilities(found, of.scores(problem, scores.astype(np.float64))) @ self.costs).min(axis=1)
