"""Abstention by the margin between the two best predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.learner import Learner, Observer
from sklearn_predtron.decisions._base import PROGRESSIVE, Decision, HeldOut
from sklearn_predtron.decisions._margin_histogram import MarginHistogram


class AbstainByCode(Decision):
    """Abstain if the code of abstention scores best.

    The problem was trained with that code (Jain et al. 2015, section 3).

    Parameters
    ----------
    k : int
        Number of classes; one past the last rejects.
    calibration : Calibration, default=None
        Calibrates probabilities.
    """

    def __init__(self, k: int, calibration: Any = None):
        self.k, self.calibration = k, calibration

    def predict(self, problem: Any, scores: NDArray) -> NDArray:
        """Return the predictions; one past the last class abstains."""
        if problem.k == self.k:
            raise ValueError("reject.rule='code' is learned; call fit after setting it.")
        return problem.predict(scores)


class AbstainByMargin(Decision):
    """Abstain if the best class leads by too little.

    Its margin must reach the cost of being wrong, less twice the cost of abstention.

    Parameters
    ----------
    costs : ndarray of shape (k, k + 1)
        L(sigma, y), a row for each true class, and in the last column the cost of a rejection.
    calibration : Calibration, default=None
        Calibrates probabilities.
    """

    def __init__(self, costs: NDArray, calibration: Any = None):
        self.costs, self.calibration = costs, calibration

    def predict(self, problem: Any, scores: NDArray) -> NDArray:
        """Return the predictions; one past the last class abstains."""
        best, margin = top_two(problem.decision(scores)[:, : len(self.costs)])
        return np.where(margin < self.least_margin(best), len(self.costs), best[:, 0])

    def least_margin(self, best: NDArray) -> NDArray | float:
        """Return the margin that an answer needs.

        It depends on the two best predictions of the row.
        """
        return self.costs[best[:, 1], best[:, 0]] - 2 * self.costs[best[:, 0], -1]


class AbstainBelow(AbstainByMargin):
    """Abstain if the margin is below a threshold.

    Parameters
    ----------
    costs : ndarray of shape (k, k + 1)
        L(sigma, y), a row for each true class, and in the last column the cost of a rejection.
    threshold : float
        The least margin.
    """

    def __init__(self, costs: NDArray, threshold: float):
        super().__init__(costs)
        self.threshold = threshold

    def least_margin(self, best: NDArray) -> float:
        """Return the threshold, the same for all rows."""
        return self.threshold


class AbstainOnline(AbstainByMargin):
    """Abstain below the threshold with the lowest past cost.

    The cost is that on the margins predicted so far.
    """

    asks_for = PROGRESSIVE

    def __init__(self, costs: NDArray, calibration: Any = None):
        super().__init__(costs)  # without probabilities: margins are observed, and not scores

    def observer(self, problem: Any, present: Observer | None) -> Observer:
        """Return the histogram of the margins."""
        return present if isinstance(present, MarginHistogram) else MarginHistogram(problem, len(self.costs))

    def after_fit(self, learner: Learner, held: HeldOut) -> dict[str, Any]:
        """Add the held-out rows to the histogram."""
        held.show(learner)
        return {}

    def now(self, learner: Learner, fitted_decision: Any) -> AbstainByMargin:
        """Return the decision by the present threshold, if any."""
        observer: Any = learner.observer
        if not isinstance(observer, MarginHistogram):
            return self
        return AbstainBelow(self.costs, observer.threshold(self.costs[:, -1]))

    def least_margin(self, best: NDArray) -> NDArray:
        """Raise ValueError; no margins were observed."""
        raise ValueError("reject.rule='online' chooses its threshold while it learns; call fit or partial_fit after setting it.")


def top_two(decision: NDArray) -> tuple[NDArray, NDArray]:
    """Return the two best predictions, and their margin.

    The best prediction of each row comes first; the margin is the difference of the two scores.
    """
    rows = np.arange(len(decision))
    first = decision.argmax(axis=1)
    rest = decision.copy()
    rest[rows, first] = -np.inf
    second = rest.argmax(axis=1)
    return np.column_stack([first, second]), decision[rows, first] - decision[rows, second]
