"""Predictions of lowest expected cost or highest expected measure; the probabilities are those of a calibration map."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron.decisions._base import PLAIN, Decision, HeldOut, UnseenRows, losses_by_table
from sklearn_predtron.decisions._calibration import LARGEST_ODDS
from sklearn_predtron.decisions._expected_values import least_expected, least_expected_costs, most_expected
from sklearn_predtron.decisions._fixed_threshold import CutAt

Loss = Callable[..., NDArray]


class OfProbabilities(Decision):
    """A decision by probabilities of a map.

    Parameters
    ----------
    calibration : Calibration
        Calibrates probabilities.
    or_decoded : bool, default=False
        Whether scores are decoded as they are where no probabilities are known, which is an error if not.
    """

    needs_scores = True

    def __init__(self, calibration: Any, *, or_decoded: bool = False):
        self.calibration, self.or_decoded = calibration, or_decoded

    def fitted(self, unseen: UnseenRows) -> Decision:
        """Return the decision by the present map; before the first round the scores are decoded as they are."""
        if unseen.t == 0 or (self.or_decoded and not self.calibration.knows(unseen.observer)):
            return PLAIN
        return self.once_for(self.calibration.map(unseen), self.by)

    def by(self, found: Any) -> Decision:
        """Return the decision by a map."""
        return self

    def value(self, unseen: UnseenRows) -> Any:
        """Return the value fitted to unseen rows and their calibration map."""
        found = self.calibration.map(unseen)
        return unseen.value(self, lambda problem, held: self.fit(problem, held._replace(map=found)))

    def predictions_for(self, problem: Any, held: HeldOut) -> NDArray:
        """Return the predictions for held-out rows by their map."""
        decision = self.by(held.map)
        shift = decision.shift(problem)
        return decision.predict(problem, np.ascontiguousarray(held.scores if shift is None else held.scores - shift))


class LeastCost(OfProbabilities):
    """Predict the label with the lowest expected cost.

    See Elkan (2001); abstention is one more prediction (Chow 1970).

    Parameters
    ----------
    calibration : Calibration
        Calibrates probabilities.
    costs : ndarray of shape (k, n_predictions)
        costs[y, sigma] of predicting sigma for y; the last column may be that of a rejection.
    weights : ndarray of shape (k,), default=None
        Training weights of the classes, which stand for their costs.
    or_decoded : bool, default=False
        As for `OfProbabilities`.
    """

    def __init__(self, calibration: Any, costs: NDArray, weights: NDArray | None = None, *, or_decoded: bool = False):
        super().__init__(calibration, or_decoded=or_decoded)
        self.weights = weights
        self.costs = np.ascontiguousarray(costs, dtype=np.float64)
        self.regrets = self.costs - self.costs.diagonal()[:, None]  # a right answer may have a cost, too
        self.shifts = self.costs.shape == (2, 2) and bool((self.regrets >= 0).all())

    def tables(self) -> list[NDArray]:
        """Return the costs, as a list."""
        return [self.costs]

    def with_tables(self, tables: list[NDArray]) -> LeastCost:
        """Return the decision by other costs."""
        return LeastCost(self.calibration, tables[0], self.weights)

    def column(self, number: int, probabilities: NDArray, values: NDArray) -> tuple[NDArray, NDArray]:
        """Return the probabilities of the classes and the true ones, by number."""
        return probabilities, values[:, 0]

    def losses_of(self, predicted: NDArray, held: HeldOut) -> NDArray:
        """Return the costs of predictions for held-out rows."""
        return losses_by_table(self.costs, predicted, held.values)

    def task_losses(self, problem: Any, held: HeldOut) -> NDArray:
        """Return the costs of the predictions for held-out rows."""
        return self.losses_of(self.predictions_for(problem, held), held)

    def by(self, found: Any) -> Decision:
        """Return the cut, or the comparison of costs.

        Two classes have a cut.  With more classes, a reject option or a mistake that costs less than the right answer, expected
        costs are compared.
        """
        if self.shifts:
            return CutAt(self.calibration.of, found.cuts(odds(self.regrets[0, 1], self.regrets[1, 0])))
        return ByCosts(self.calibration.of, found, self.costs)


class ByCosts(Decision):
    """Compare expected costs by a map.

    Parameters
    ----------
    of : object
        The kind of labels that the map is of.
    map : object
        The map.
    costs : ndarray of shape (k, n_predictions)
        As for `LeastCost`.
    """

    def __init__(self, of: Any, map: Any, costs: NDArray):
        self.of, self.map, self.costs = of, map, costs

    def predict(self, problem: Any, scores: NDArray) -> NDArray:
        """Return the predictions; one past the last class abstains."""
        return least_expected(self.of.probabilities(self.map, self.of.scores(problem, scores)), self.costs)


class AnswerUpTo(Decision):
    """Give an answer up to a limit of its expected cost, and abstain above it.

    Parameters
    ----------
    of : object
        The kind of labels that the map is of.
    map : object
        The calibration map.
    costs : ndarray of shape (k, k)
        costs[y, sigma] of predicting sigma for y.
    limits : ndarray of shape (k,)
        The largest expected cost of each answer.
    """

    def __init__(self, of: Any, map: Any, costs: NDArray, limits: NDArray):
        self.of, self.map, self.costs, self.limits = of, map, costs, limits

    def predict(self, problem: Any, scores: NDArray) -> NDArray:
        """Return the predictions; one past the last class abstains."""
        best, cost = least_expected_costs(self.of.probabilities(self.map, self.of.scores(problem, scores)), self.costs)
        return np.where(cost <= self.limits[best], best, len(self.costs))


class LeastCostOfLabels(OfProbabilities):
    """Predict each label that is cheaper to predict.

    Its expected cost of being missed exceeds that of being false.

    Parameters
    ----------
    calibration : Calibration
        Calibrates probabilities.
    false, missed : float or ndarray of shape (m,)
        The costs of a false label and of one that is missed.
    or_decoded : bool, default=False
        As for `OfProbabilities`.
    """

    shifts = True

    def __init__(self, calibration: Any, false: float | NDArray, missed: float | NDArray, *, or_decoded: bool = False):
        super().__init__(calibration, or_decoded=or_decoded)
        self.false, self.missed, self.odds = false, missed, odds(false, missed)

    def task_losses(self, problem: Any, held: HeldOut) -> NDArray:
        """Return the costs of false and missed labels; the predictions are those for held-out rows."""
        return self.losses_of(self.predictions_for(problem, held), held)

    def tables(self) -> list[NDArray]:
        """Return a table of costs for each label."""
        both = np.broadcast_arrays(np.atleast_1d(self.false), self.missed)
        return [np.array([[0.0, false], [missed, 0.0]]) for false, missed in zip(*both, strict=True)]

    def with_tables(self, tables: list[NDArray]) -> LeastCostOfLabels:
        """Return the decision by other costs."""
        false, missed = (np.array([table[place] for table in tables]) for place in ((0, 1), (1, 0)))
        return LeastCostOfLabels(self.calibration, false, missed)

    def column(self, number: int, probabilities: NDArray, values: NDArray) -> tuple[NDArray, NDArray]:
        """Return the probabilities of a label being off and on, and the true values."""
        on = probabilities[:, number]
        return np.column_stack([1 - on, on]), values[:, number]

    def losses_of(self, predicted: NDArray, held: HeldOut) -> NDArray:
        """Return the costs of predictions for held-out rows."""
        predicted, true = predicted.astype(bool), held.values.astype(bool)
        return np.where(true & ~predicted, self.missed, np.where(predicted & ~true, self.false, 0.0)).sum(axis=1)

    def by(self, found: Any) -> Decision:
        """Return the cuts of the labels."""
        return CutAt(self.calibration.of, found.cuts(self.odds))


class BestOfTwo(OfProbabilities):
    """The better of two rules for sets of labels.

    One decodes the scores, the other has the highest expected measure.  The better one had the lower loss on held-out rows.

    Parameters
    ----------
    calibration : Calibration
        Calibrates probabilities.
    plug_in : MostExpected or MostProbable
        Turns probabilities into sets of labels.
    loss : callable
        Loss of the counts of true and false positives, and of false and true negatives.
    """

    value_name = "plug_in"

    def __init__(self, calibration: Any, plug_in: Any, loss: Loss):
        super().__init__(calibration)
        self.plug_in, self.loss, self.terms = plug_in, loss, tuple(map(float, plug_in))

    def fit(self, problem: Any, held: HeldOut) -> bool:
        """Return whether the plug-in rule loses less on unseen rows than the decoded scores."""
        plugged_in, decoded = (np.average(self.losses(sets, held), weights=held.weight) for sets in self.both(problem, held))
        return bool(plugged_in < decoded)

    def both(self, problem: Any, held: HeldOut) -> tuple[NDArray, NDArray]:
        """Return the sets by the plug-in rule, and by decoding."""
        return self.plug_in.sets(held.map.probabilities(held.scores)), problem.predict(np.ascontiguousarray(held.scores))

    def losses(self, sets: NDArray, held: HeldOut) -> NDArray:
        """Return the loss of each row."""
        return self.loss(*counts(sets, held.values))

    def task_losses(self, problem: Any, held: HeldOut) -> NDArray:
        """Return the losses of the better rule."""
        plugged_in, decoded = self.both(problem, held)
        return self.losses(plugged_in if self.fit(problem, held) else decoded, held)

    def fitted(self, unseen: UnseenRows) -> Decision:
        """Return the better one of this moment."""
        if unseen.t == 0 or not self.value(unseen):
            return PLAIN
        return BySets(self.calibration.map(unseen), self.plug_in)


class BySets(Decision):
    """Turn a map's probabilities into sets of labels.

    Parameters
    ----------
    map : CurveMap
        The map.
    plug_in : MostExpected or MostProbable
        Turns probabilities into sets of labels.
    """

    def __init__(self, map: Any, plug_in: Any):
        self.map, self.plug_in = map, plug_in

    def predict(self, problem: Any, scores: NDArray) -> NDArray:
        """Return indicators."""
        return self.plug_in.sets(self.map.probabilities(scores))


class MostExpected(NamedTuple):
    """The sets with the greatest expected measure.

    They consist of the most probable labels; labels are taken to be independent.

    Parameters
    ----------
    hits, in_both, missed : float
        The measure of k labels with i hits and j missed is hits i / (k + in_both i + missed j): (1 + b^2, b^2, b^2) is F_b, and
        (1, 0, 1) the index of Jaccard.
    """

    hits: float
    in_both: float
    missed: float

    def sets(self, probabilities: NDArray) -> NDArray:
        """Return indicators, of shape (n, m)."""
        order = np.argsort(-probabilities, axis=1, kind="stable")
        return firsts(order, most_expected(probabilities, order, self.hits, self.in_both, self.missed))


class MostProbable(NamedTuple):
    """The k most probable labels.

    Parameters
    ----------
    k : int
        How many.
    """

    k: int

    def sets(self, probabilities: NDArray) -> NDArray:
        """Return indicators, of shape (n, m)."""
        order = np.argsort(-probabilities, axis=1, kind="stable")
        return firsts(order, np.full(len(order), self.k))


def firsts(order: NDArray, k: NDArray) -> NDArray:
    """Return indicators of the first labels.

    They are the first k[i] labels in row i.  Each row of `order` has the order of the labels.
    """
    found = np.zeros(order.shape, dtype=np.uint8)
    np.put_along_axis(found, order, (np.arange(order.shape[1]) < k[:, None]).astype(np.uint8), axis=1)
    return found


def counts(sets: NDArray, labels: NDArray) -> tuple[NDArray, ...]:
    """Return the counts of each row; they are true positives, false positives, false negatives and true negatives."""
    on, true = sets.astype(bool), labels.astype(bool)
    return tuple(part.sum(axis=1) for part in (on & true, on & ~true, ~on & true, ~on & ~true))


def odds(false: float | NDArray, missed: float | NDArray) -> NDArray:
    """Return the odds above which a label is predicted.

    From there on a false positive has a lower expected cost than a missed label.
    """
    free = np.asarray(missed) == 0
    return np.where(free, LARGEST_ODDS, np.clip(false / np.where(free, 1.0, missed), 1 / LARGEST_ODDS, LARGEST_ODDS))
