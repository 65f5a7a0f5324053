"""Decisions of lowest cost whose measures stay within bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.special import bdtr

from sklearn_predtron._core.learner import Learner
from sklearn_predtron._support.numbers import real_number
from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.warning import warn
from sklearn_predtron.decisions._base import Decision, HeldOut
from sklearn_predtron.decisions._expected_cost import OfProbabilities
from sklearn_predtron.decisions._maps import LARGEST_ODDS
from sklearn_predtron.decisions._promises import Coded, Promise
from sklearn_predtron.decisions._reject_at_risk import PromiseResult

ROUNDING = 1e-9  # by which a measure may be beyond its bound
MOST_STEPS = 60  # of the search for multipliers
LARGEST = 1e3  # multiplier, relative to the largest cost
PRECISION = 1e-6  # of the expected cost, relative to the largest cost
# Shares of the way to the strictest bound by which bounds are tightened, one after another.
MARGINS = (-0.05, 0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
SCALES = (0.0, *np.geomspace(0.02, 50, 300).tolist())  # of the multipliers
INEXACT = np.e  # by which the test of losses that are not 0 or 1 is weaker (Bentkus 2004)


class RuleOutcome(NamedTuple):
    """The cost of a rule on some rows, and each measure, with the number of its rows."""

    cost: float
    values: tuple[float, ...]
    rows: tuple[float, ...]
    kept: bool


class Measured(NamedTuple):
    """Rows, and the predictions that are possible for each.

    Parameters
    ----------
    probabilities : ndarray of shape (n, k)
        Probabilities of the classes.
    codes : ndarray of shape (n,)
        The numbers of the true classes.
    weight : ndarray of shape (n,)
        How often each row occurs.
    costs : ndarray of shape (k, n_predictions)
        costs[y, sigma] of predicting sigma for y, which decide; a last column may be that of a rejection.
    losses : ndarray of shape (k, n_predictions)
        The same without class weights, which measures are of.
    """

    probabilities: NDArray
    codes: NDArray
    weight: NDArray
    costs: NDArray
    losses: NDArray

    def outcome(self, constraints: tuple[Coded, ...], predicted: NDArray, confidence: float | None) -> RuleOutcome:
        """Return the outcome of predictions on these rows."""
        cost = float(np.average(self.costs[self.codes, predicted], weights=self.weight))
        parts = [self.sums(one, predicted) for one in constraints]
        values = tuple(float(hits / total) if total > 0 else float("nan") for hits, total in parts)
        kept = all(is_kept(one, *part, self.losses, confidence) for one, part in zip(constraints, parts, strict=True))
        return RuleOutcome(cost, values, tuple(total for _, total in parts), kept)

    def p_values(self, constraints: tuple[Coded, ...], predicted: NDArray) -> list[float]:
        """Return the p-value of each bound being broken; nan for functions."""
        found = []
        for one in constraints:
            hits, total = self.sums(one, predicted)
            found.append(float("nan") if one.function is not None else p_broken(one, hits, total, self.losses))
        return found

    def sums(self, constraint: Coded, predicted: NDArray) -> tuple[float, float]:
        """Return the sums whose ratio is a measure."""
        at = self.codes, predicted
        if constraint.function is not None:
            matrix = np.zeros((2, 2))
            np.add.at(matrix, at, self.weight)
            return value_of(constraint, matrix) * matrix.sum(), float(matrix.sum())
        hits, scope = parts_of(constraint, self.losses)
        return float(self.weight @ hits[at]), float(self.weight @ scope[at])


def value_of(constraint: Coded, matrix: NDArray) -> float:
    """Return a function's value of a confusion matrix.

    Raise ValueError unless it is a number.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        try:
            found = constraint.function(matrix.copy())
        except ZeroDivisionError:
            return float("nan")
    number = real_number(found)
    if number is None:
        raise ValueError(
            f"decision.subject_to: {constraint.measure} returned {shortened(found)} for the confusion matrix {matrix.tolist()}; "
            "accepted is a number."
        )
    return number


def parts_of(constraint: Coded, costs: NDArray) -> tuple[NDArray, NDArray]:
    """Return two tables, whose means over rows have a measure as ratio.

    Each has shape (k, n_predictions).
    """
    (k, n), label = costs.shape, constraint.label
    hits, scope = np.zeros((k, n)), np.zeros((k, n))
    true = np.ones(k, bool) if label is None else np.arange(k) == label
    if constraint.measure == "risk":
        answers = slice(k) if constraint.predicted is None else constraint.predicted
        scope[true, answers], hits[true, answers] = 1, costs[true, answers]
    elif constraint.measure == "precision":
        scope[:, label], hits[label, label] = 1, 1
    elif constraint.measure == "abstention_rate":
        scope[true], hits[true, k] = 1, 1
    elif constraint.measure == "predicted_rate":
        scope[:], hits[:, label] = 1, 1
    else:
        true = true if constraint.measure == "recall" else ~true
        scope[true], hits[true, label] = 1, 1
    return hits, scope


def table_of(constraint: Coded, costs: NDArray, margin: float = 0.0) -> NDArray:
    """Return a table whose mean is at most 0 within the bound.

    The bound is tightened by a margin, a share of the way to the strictest one.
    """
    hits, scope = parts_of(constraint, costs)
    if constraint.at_least:
        strictest = float(constraint.possible(costs[:, : len(costs)]).max())
        return (constraint.bound + margin * (strictest - constraint.bound)) * scope - hits
    return hits - constraint.bound * (1 - margin) * scope


def is_kept(constraint: Coded, hits: float, total: float, costs: NDArray, confidence: float | None) -> bool:
    """Return whether a measure is within its bound.

    With a confidence, a binomial test must show it.  A measure of no rows is not within its bound.
    """
    if total == 0:
        return False
    if confidence is None or constraint.function is not None:
        beyond = constraint.bound * total - hits if constraint.at_least else hits - constraint.bound * total
        return bool(beyond <= ROUNDING * total)
    return p_broken(constraint, hits, total, costs) <= 1 - confidence


def p_broken(constraint: Coded, hits: float, total: float, costs: NDArray) -> float:
    """Return the p-value of a binomial test that a bound is broken."""
    if total == 0:
        return 1.0
    possible = constraint.possible(costs[:, : len(costs)])
    largest = float(possible.max())
    lost, bound = (largest * total - hits, largest - constraint.bound) if constraint.at_least else (hits, constraint.bound)
    exact = bool(np.isin(possible, (0, largest)).all())
    p = float(bdtr(np.ceil(lost / largest - ROUNDING), int(total), bound / largest))
    return p if exact else min(1.0, INEXACT * p)


def best_of_two(rows: Measured, constraints: tuple[Coded, ...], confidence: float | None) -> tuple[NDArray, RuleOutcome]:
    """Return costs of two classes with the best threshold.

    All thresholds are tried; the best one costs least of those within the bounds.
    """
    second = rows.probabilities[:, 1]
    order = np.argsort(-second, kind="stable")
    p, weight = second[order], rows.weight[order]
    places = np.flatnonzero(np.append(True, np.append(p[1:] < p[:-1], True)))  # how many rows are predicted as the second class
    cuts = np.concatenate([[1.0], (p[places[1:-1] - 1] + p[places[1:-1]]) / 2, [0.0]])

    def sums_of(table: NDArray) -> NDArray:
        """Return sums of a table's values over all rows, at each threshold."""
        change = weight * (table[rows.codes, 1] - table[rows.codes, 0])[order]
        return (weight @ table[rows.codes[order], 0]) + np.append(0, np.cumsum(change))[places]

    cost = sums_of(rows.costs)
    kept, worst = np.ones(len(places), bool), np.zeros(len(places))
    for one in constraints:
        hits, total = sums_at_thresholds(one, rows.losses, sums_of)
        kept &= [is_kept(one, *pair, rows.losses, confidence) for pair in zip(hits, total, strict=True)]
        with np.errstate(invalid="ignore", divide="ignore"):
            beyond = (one.bound - hits / total) * (1 if one.at_least else -1)
        worst = np.maximum(worst, np.where(total > 0, beyond, 1))
    best = np.lexsort((cost, np.where(kept, 0, 1 + worst)))[0]
    cut = cuts[best]
    ratio = float(np.clip(cut / (1 - cut) if cut < 1 else LARGEST_ODDS, 1 / LARGEST_ODDS, LARGEST_ODDS))
    return np.array([[0.0, ratio], [1.0, 0.0]]), rows.outcome(constraints, (second >= cut).astype(int), confidence)


def sums_at_thresholds(constraint: Coded, losses: NDArray, sums_of: Callable[[NDArray], NDArray]) -> tuple[NDArray, NDArray]:
    """Return the sums whose ratio is a measure, at each threshold."""
    if constraint.function is None:
        hits, total = (sums_of(part) for part in parts_of(constraint, losses))
        return hits, total
    cells = [sums_of(np.eye(4)[i].reshape(2, 2)) for i in range(4)]
    matrices = np.stack(cells, axis=1).reshape(-1, 2, 2).clip(0)
    total = matrices.sum(axis=(1, 2))
    return np.array([value_of(constraint, matrix) for matrix in matrices]) * total, total


def best_of_many(rows: Measured, constraints: tuple[Coded, ...], confidence: float | None) -> tuple[NDArray, RuleOutcome]:
    """Return costs with multiples of the constraints' tables.

    Their decisions cost least of those within the bounds.

    The multipliers are those of the rows' probabilities, and multiples of them.  Where all of these are beyond a bound, by the
    rows' own labels, the bounds are tightened by a margin.
    """
    tables = [table_of(one, rows.losses) for one in constraints]
    found: list[tuple[float, float, int, NDArray, RuleOutcome]] = []
    for margin in MARGINS:
        direction = multipliers(rows, [table_of(one, rows.losses, margin) for one in constraints])
        for scale in SCALES if direction.any() else (0.0,):
            costs = rows.costs + np.tensordot(scale * direction, tables, axes=1)
            outcome = rows.outcome(constraints, (rows.probabilities @ costs).argmin(axis=1), confidence)
            found.append((beyond_bounds(constraints, outcome), outcome.cost, len(found), costs, outcome))
        best = min(found)
        if margin >= 0 and best[-1].kept:
            break
    return best[-2:]


def beyond_bounds(constraints: tuple[Coded, ...], outcome: RuleOutcome) -> float:
    """Return the largest excess over a bound, or 0."""
    if outcome.kept:
        return 0.0
    pairs = zip(constraints, outcome.values, strict=True)
    return 1.0 + max(1.0 if np.isnan(value) else one.bound - value if one.at_least else value - one.bound for one, value in pairs)


def multipliers(rows: Measured, tables: list[NDArray]) -> NDArray:
    """Return the multipliers with the largest dual value.

    It is the expected cost of the best predictions.

    The dual function is concave and piecewise linear; each step maximises the lowest of its tangents so far (Kelley 1960).
    """
    share = rows.weight / rows.weight.sum()
    costs, limits = (rows.probabilities @ table for table in (rows.costs, np.concatenate(tables, axis=1)))
    limits = np.stack(np.split(limits, len(tables), axis=1))
    largest = float(rows.costs.max())
    tangents, heights, multiplier, best = [], [], np.zeros(len(tables)), (-np.inf, np.zeros(len(tables)))
    for _ in range(MOST_STEPS):
        expected = costs + np.tensordot(multiplier, limits, axes=1)
        predicted = expected.argmin(axis=1)[:, None]
        value = float(share @ np.take_along_axis(expected, predicted, axis=1)[:, 0])
        slope = np.array([share @ np.take_along_axis(limit, predicted, axis=1)[:, 0] for limit in limits])
        best = max(best, (value, multiplier), key=lambda one: one[0])
        tangents.append(np.append(-slope, 1.0))
        heights.append(value - slope @ multiplier)
        objective = np.append(np.zeros(len(tables)), -1.0)
        bounds = [(0, LARGEST * largest)] * len(tables) + [(None, None)]
        step = linprog(objective, np.array(tangents), heights, bounds=bounds)
        if not step.success or -step.fun - best[0] <= PRECISION * largest:
            break
        multiplier = step.x[:-1]
    return best[1]


class Constrained(OfProbabilities):
    """Predict at the lowest expected cost within bounds.

    Parameters
    ----------
    base : LeastCost or LeastCostOfLabels
        The decision without bounds.  It has a table of costs, or one for each label of a set.
    bounds : sequence of (Promise, int, Coded)
        Each bound, as it was given, the number of its table, and with the numbers of its labels.
    confidence : float or None
        The confidence of a test of each bound on held-out rows; None takes the measures themselves.
    losses : ndarray of shape (k, n_predictions), default=None
        The costs that measures are of, if those of the decision contain class weights.
    """

    value_name = "constrained"

    def __init__(
        self,
        base: Any,
        bounds: Sequence[tuple[Promise, int, Coded]],
        confidence: float | None,
        losses: NDArray | None = None,
    ):
        super().__init__(base.calibration)
        self.base, self.confidence, self.losses, self.shifts = base, confidence, losses, base.shifts
        self.weights = getattr(base, "weights", None)
        self.given: dict[int, list[Promise]] = {}
        self.bounds: dict[int, tuple[Coded, ...]] = {}
        for promise, number, one in bounds:
            self.given.setdefault(number, []).append(promise)
            self.bounds[number] = (*self.bounds.get(number, ()), one)
        costs = tuple(value for table in base.tables() for value in table.ravel().tolist())
        self.terms = costs, confidence, tuple((number, one.terms) for number, own in self.bounds.items() for one in own)

    def measured(self, problem: Any, held: HeldOut, number: int) -> Measured:
        """Return held-out rows with their probabilities.

        They are those of the classes of a table.
        """
        of = self.calibration.of
        probabilities = of.probabilities(held.map, of.scores(problem, held.scores))
        weight = np.ones(len(held.values)) if held.weight is None else held.weight
        weight = weight * (weight.sum() / (weight**2).sum())  # as many rows as have the same information (Kish 1965)
        p, codes = self.base.column(number, probabilities, held.values)
        table = self.base.tables()[number]
        return Measured(p, codes.astype(np.intp), weight, table, table if self.losses is None else self.losses)

    def solved(self, problem: Any, held: HeldOut) -> tuple[list[NDArray], dict[int, RuleOutcome]]:
        """Return the tables of costs by which to decide.

        With them come the outcomes on held-out rows of those with bounds.
        """
        tables, outcomes = self.base.tables(), {}
        for number, bounds in self.bounds.items():
            rows = self.measured(problem, held, number)
            outcomes[number] = rows.outcome(bounds, (rows.probabilities @ tables[number]).argmin(axis=1), self.confidence)
            if not outcomes[number].kept:
                search = best_of_two if tables[number].shape == (2, 2) else best_of_many
                tables[number], outcomes[number] = search(rows, bounds, self.confidence)
        return tables, outcomes

    def own_losses(self, problem: Any, held: HeldOut) -> NDArray:
        """Return the costs of the predictions for held-out rows."""
        decided = self.base.with_tables(self.solved(problem, held)[0]).predictions_for(problem, held)
        return self.base.losses_of(decided, held)

    def key(self) -> Any:
        """Return the costs, the confidence and the bounds."""
        return self.terms

    def fit(self, problem: Any, held: HeldOut) -> tuple[Any, ...]:
        """Return the costs by which to decide, and the result of each bound on the rows.

        If no decision on the rows is within the bounds, raise ValueError; in a stream warn, and take the nearest one.
        """
        tables, outcomes = self.solved(problem, held)
        if not all(outcome.kept for outcome in outcomes.values()):
            if not held.streamed:
                raise ValueError(self.why_refused(outcomes))
            warn(self.why_refused(outcomes))
        results = [result for number in self.bounds for result in self.results(problem, held, number, tables[number])]
        return tuple(value for table in tables for value in table.ravel().tolist()), tuple(results)

    def results(self, problem: Any, held: HeldOut, number: int, table: NDArray) -> list[tuple[bool, int, float, float]]:
        """Return the result of each bound of a table of costs.

        It has whether the bound is kept, the number of rows, the value, and the p-value.
        """
        rows, bounds, found = self.measured(problem, held, number), self.bounds[number], []
        predicted = (rows.probabilities @ table).argmin(axis=1)
        for bound, p in zip(bounds, rows.p_values(bounds, predicted), strict=True):
            outcome = rows.outcome((bound,), predicted, self.confidence)
            found.append((outcome.kept, round(outcome.rows[0]), outcome.values[0], p))
        return found

    def tables(self, learner: Learner, fitted_decision: Any) -> list[NDArray]:
        """Return the present tables of costs by which to decide."""
        tables = self.base.tables()
        costs = np.split(np.array(self.value(learner, fitted_decision)[0]), len(tables))
        return [part.reshape(tables[0].shape) for part in costs]

    def reached(self, learner: Learner, fitted_decision: Any) -> tuple[PromiseResult, ...]:
        """Return each bound with its result on the rows that chose the costs."""
        results = self.value(learner, fitted_decision)[1]
        promises = [promise for given in self.given.values() for promise in given]
        return tuple(PromiseResult(promise, *result) for promise, result in zip(promises, results, strict=True))

    def why_refused(self, outcomes: dict[int, RuleOutcome]) -> str:
        """Return the message about bounds that no decision keeps."""
        reached = [
            f"{promise!r} ({value:.3g} on {rows:.0f} rows)"
            for number, outcome in outcomes.items()
            for promise, value, rows in zip(self.given[number], outcome.values, outcome.rows, strict=True)
            if not outcome.kept
        ]
        sure = "" if self.confidence is None else f", with confidence {self.confidence:g}"
        return (
            f"decision.subject_to: no decision was found that keeps all bounds on the held-out rows{sure}; the nearest one has "
            f"{', '.join(reached)}.  It takes wider bounds, more rows or a better model."
        )

    def now(self, learner: Learner, fitted_decision: Any) -> Decision:
        """Return the decision by the present map and costs."""
        if learner.t == 0:
            return super().now(learner, fitted_decision)
        with learner.lock.reading():
            found, (known, decision) = self.calibration.now(learner, fitted_decision).map, self._last
            if known is not found:
                decision = self.base.with_tables(self.tables(learner, fitted_decision)).by(found)
                self._last = found, decision
        return decision


def reached_bounds(learner: Learner, decision: Decision, fitted_decision: Any) -> tuple[PromiseResult, ...]:
    """Return each bound with its value on held-out rows.

    Raise AttributeError if the decision has no bounds.
    """
    if not isinstance(decision, Constrained):
        raise AttributeError("bounds_ exists after fit, with decision=ExpectedCost(subject_to=[...]).")
    return decision.reached(learner, fitted_decision)


def check_no_bounds(decision: Any) -> None:
    """Raise ValueError if costs of rows would override bounds."""
    if getattr(decision, "subject_to", None):
        raise ValueError(
            "costs of rows decide alone, and decision.subject_to would be ignored; accepted are costs with subject_to=None, and "
            "predictions without costs."
        )
