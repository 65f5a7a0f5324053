"""Certified abstention: a test of the answered rows' risk.

The test uses held-out rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from sklearn_predtron._core.learner import Learner
from sklearn_predtron.decisions._base import Decision
from sklearn_predtron.decisions._curves import least_expected
from sklearn_predtron.decisions._expected import ByCosts, LeastCost

LEVELS = 200  # shares of the rows that may be answered
LARGEST_BET = 0.9  # share of the possible loss
IMAGINED = 5  # rows that were seen before the first
LEAST_SQUARE = 1e-12
NOTHING = -1.0  # the largest expected cost of an answer if no threshold passes the test


class Certificate(NamedTuple):
    """Result of `certify`, and its held-out rows.

    With probability `confidence` over the draw of the held-out rows, the mean loss of the answered rows is at most `risk`.

    Parameters
    ----------
    risk : float
        Largest mean loss of answered rows, in units of `loss`; for the 0-1 loss, the share of wrong answers.
    confidence : float
        Probability that the risk is kept.
    n_rows : int
        Number of held-out rows.
    n_answered : int
        Number of held-out rows that the model answers.
    mean_loss : float
        Mean loss of the answered held-out rows; nan if there are none.
    threshold : float
        Largest expected cost of an answer; -1 if no share of the rows can be certified, and the model abstains on all rows.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.losses import Reject
    >>> X, y = make_classification(6000, class_sep=0.5, random_state=0)
    >>> model = PredtronBinaryClassifier(reject=Reject(risk=0.1), random_state=0).fit(X[:2000], y[:2000])
    >>> certificate = model.certify(X[2000:4000], y[2000:4000]).certificate_
    >>> certificate.n_rows, certificate.n_answered, round(certificate.mean_loss, 3)
    (2000, 703, 0.08)
    >>> predicted = model.predict(X[4000:])
    >>> answered = predicted != -1
    >>> round(float((predicted != y[4000:])[answered].mean()), 3), round(float(answered.mean()), 2)
    (0.113, 0.36)
    """

    risk: float
    confidence: float
    n_rows: int
    n_answered: int
    mean_loss: float
    threshold: float


class RejectAbove(LeastCost):
    """Abstain if the lowest expected cost is too high.

    Otherwise predict the label with the lowest expected cost.  `certify` has yet to find the threshold.

    Parameters
    ----------
    calibration : Calibration
        Calibrates probabilities.
    costs : ndarray of shape (k, k)
        costs[y, sigma] of predicting sigma for y.
    weights : ndarray of shape (k,), default=None
        Training weights of the classes, which stand for their costs.
    """

    def __init__(self, calibration: Any, costs: NDArray, weights: NDArray | None = None):
        super().__init__(calibration, costs, weights)
        self.shifts = False

    def answering(self, found: Any, threshold: float) -> ByCosts:
        """Return the decision that answers below a threshold.

        It answers rows whose lowest expected cost is at most the threshold.
        """
        return ByCosts(self.calibration.of, found, self.with_rejects(threshold))

    def with_rejects(self, threshold: float) -> NDArray:
        """Return the costs with a column for abstention.

        Abstention costs the threshold for every class.
        """
        return np.column_stack([self.costs, np.full(len(self.costs), threshold)])


class Certified(RejectAbove):
    """Abstain above the certified threshold.

    Otherwise predict the label with the lowest expected cost.

    Parameters
    ----------
    calibration : Calibration
        Calibrates probabilities.
    costs : ndarray of shape (k, k)
        costs[y, sigma] of predicting sigma for y.
    risk : float
        The largest mean loss of the rows that are answered.
    confidence : float
        The least probability of that.
    weights : ndarray of shape (k,), default=None
        Training weights of the classes, which stand for their costs.
    """

    def __init__(self, calibration: Any, costs: NDArray, risk: float, confidence: float, weights: NDArray | None = None):
        super().__init__(calibration, costs, weights)
        self.risk, self.confidence = risk, confidence

    def now(self, learner: Learner, fitted_decision: Any) -> Decision:
        """Return the certified decision.

        It holds until training continues.
        """
        found = self.found(learner, fitted_decision)
        if found is None:
            raise ValueError(
                f"reject.risk={self.risk:g} needs a certificate from held-out rows: call certify(X, y) after training, and again "
                "after more training or a change of loss, decision or reject."
            )
        return self.answering(self.calibration.now(learner, fitted_decision).map, found.threshold)

    def found(self, learner: Learner, fitted_decision: Any) -> Certificate | None:
        """Return the certificate of the present model, or None."""
        known = (fitted_decision or {}).get("certificate")
        if known is None or known[0] != learner.t:
            return None
        smoothing, costs, found = known[1], known[2], Certificate(*known[3])
        same = smoothing == self.calibration.smoothing and np.array_equal(costs, self.costs.ravel())
        return found if same and (found.risk, found.confidence) == (self.risk, self.confidence) else None

    def certified(self, learner: Learner, fitted_decision: Any, probabilities: NDArray, codes: NDArray) -> tuple[Any, ...]:
        """Return the certificate fitted on held-out rows.

        Their probabilities and classes are given.

        Learn then Test (Angelopoulos et al. 2021): thresholds are tested one after the other, each at level 1 - confidence, until
        one fails.  The first is the one that is best on the recorded rows (not on these); wider ones follow.
        """
        thresholds = self.thresholds(learner, fitted_decision, len(codes))
        drawn = np.random.default_rng(0).permutation(len(codes))  # bets are in the order of rows, which may be sorted
        probabilities, codes = probabilities[drawn], codes[drawn]
        found = Certificate(self.risk, self.confidence, len(codes), 0, float("nan"), NOTHING)
        for threshold in thresholds:
            losses = self.losses(probabilities, codes, threshold)
            if self.p_value(losses) > 1 - self.confidence:
                break
            found = found._replace(n_answered=len(losses), mean_loss=float(losses.mean()), threshold=float(threshold))
        return learner.t, self.calibration.smoothing, self.costs.ravel(), tuple(found)

    def losses(self, probabilities: NDArray, codes: NDArray, threshold: float) -> NDArray:
        """Return the losses of the answered rows."""
        predicted = least_expected(np.ascontiguousarray(probabilities), self.with_rejects(threshold))
        answered = predicted < len(self.costs)
        return self.costs[codes[answered], predicted[answered]]

    def answers(self, probabilities: NDArray, threshold: float) -> NDArray:
        """Return the predictions of the answered rows."""
        predicted = least_expected(np.ascontiguousarray(probabilities), self.with_rejects(threshold))
        return predicted[predicted < len(self.costs)]

    def thresholds(self, learner: Learner, fitted_decision: Any, n: int) -> NDArray:
        """Return the thresholds in the order of their tests.

        They are for n rows, by the recorded scores.
        """
        observer: Any = learner.observer
        with learner.lock.reading():
            found = self.calibration.now(learner, fitted_decision)
            scores, labels, _, _ = observer.marked()
        probabilities = found.predict(learner.problem, scores.astype(np.float64))
        widening = np.unique(np.quantile((probabilities @ self.costs).min(axis=1), np.arange(1, LEVELS + 1) / LEVELS))
        likely = []
        for threshold in widening:
            losses = self.losses(probabilities, labels[:, 0], threshold)
            likely.append(self.p_value(np.resize(losses, n * len(losses) // len(scores))))  # over again, or not to the end
        return widening[int(np.argmin(likely)) :]

    def p_value(self, losses: NDArray) -> float:
        """Return the p-value of a risk.

        The hypothesis is that the mean loss is above the risk.  The p-value is exact if all mistakes have the same cost;
        otherwise it is by a betting test (Waudby-Smith and Ramdas 2024).
        """
        n, largest = len(losses), self.costs.max()
        risk, x = self.risk / largest, losses / largest
        if np.isin(self.costs, (0, largest)).all():
            return float(binom.cdf(round(x.sum()), n, risk)) if n else 1.0
        return p_of_bets(x, risk)


def p_of_bets(x: NDArray, mean: float) -> float:
    """Return the p-value of a mean by bets.

    The hypothesis is that the mean of numbers from 0 to 1 is at least `mean`; they are tested in their order.  The p-value is
    1 / the largest wealth of a betting strategy.

    The strategy bets a share of its wealth on each number being below the mean, and the share depends on the numbers before.
    Its wealth grows n-fold with a probability of at most 1 / n (Ville 1939).  The share is about the one that lets it grow
    fastest (Kelly 1956; Waudby-Smith and Ramdas 2024), of numbers like those before and like some at half the mean, either 0 or
    1.
    """
    n = len(x)
    if n == 0:
        return 1.0
    seen = IMAGINED + np.arange(n)
    means = (IMAGINED * mean / 2 + before(x)) / seen
    squares = (IMAGINED * mean / 2 + before(x**2)) / seen - 2 * mean * means + mean**2  # of distances from the mean
    share = np.clip((mean - means) / np.maximum(squares, LEAST_SQUARE), 0, LARGEST_BET / (1 - mean))
    gained = np.cumsum(np.log1p(share * (mean - x)))
    return float(np.exp(-max(gained.max(), 0.0)))


def before(x: NDArray) -> NDArray:
    """Return the sum of the numbers before each."""
    return np.append(0.0, np.cumsum(x)[:-1])
