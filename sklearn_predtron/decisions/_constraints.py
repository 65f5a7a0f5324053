"""Decisions of lowest cost whose measures stay within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.special import bdtr

from sklearn_predtron._support.numbers import real_number
from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.row_costs import Capacity, expected_costs
from sklearn_predtron._support.warning import warn
from sklearn_predtron.decisions._base import PLAIN, Decision, HeldOut, UnseenRows
from sklearn_predtron.decisions._calibration import LARGEST_ODDS
from sklearn_predtron.decisions._expected_cost import LeastCost, OfProbabilities
from sklearn_predtron.decisions._expected_values import least_expected, switches
from sklearn_predtron.decisions._promises import EncodedPromise, Promise, bound_of
from sklearn_predtron.decisions._reject_at_risk import PromiseResult

ROUNDING = 1e-9  # by which a measure may be beyond its bound, relative to the bound
MOST_STEPS = 60  # of the search for multipliers
LARGEST = 1e3  # multiplier of a table with entries up to 1, relative to the largest cost
PRECISION = 1e-6  # of the expected cost, relative to the largest cost
MOST_ROWS = 5000  # on which the search for multipliers begins
MARGINS = (0.0, 0.1, 0.35, 0.7)  # shares of the way to the strictest bound by which bounds are tightened
LEAST_IMPROVED = 2  # rules, each under another margin
MOST_CYCLES = 10  # over the multipliers, one after another
LEAST_GAIN = 1e-3  # of a cycle, relative to the cost
MOST_CHECKED = 10  # places of a line whose predictions are made again
INEXACT = np.e  # by which the test of losses that are not 0 or 1 is weaker (Bentkus 2004)


class RuleOutcome(NamedTuple):
    """The cost of a rule on some rows, and each measure, with the number of its rows."""

    cost: float
    values: tuple[float, ...]
    rows: tuple[float, ...]
    beyond: float  # sum of what the measures are beyond their bounds

    @property
    def kept(self) -> bool:
        """Whether all measures are within their bounds."""
        return self.beyond == 0


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

    def some(self) -> Measured:
        """Return evenly spaced rows, if there are many."""
        n = len(self.codes)
        if n <= MOST_ROWS:
            return self
        rows = np.arange(MOST_ROWS) * n // MOST_ROWS
        return self._replace(probabilities=self.probabilities[rows], codes=self.codes[rows], weight=self.weight[rows])

    def outcome(self, constraints: tuple[EncodedPromise, ...], predicted: NDArray, confidence: float | None) -> RuleOutcome:
        """Return the outcome of predictions on these rows."""
        path = Path(self, predicted)
        parts = [path.parts(one) for one in constraints]
        beyond = sum(beyond_bound(one, *part, self.losses, confidence) for one, part in zip(constraints, parts, strict=True))
        values = tuple(float(hits[0] / total[0]) if total[0] > 0 else float("nan") for hits, total in parts)
        cost = float(path.sums(self.costs)[0] / self.weight.sum())
        return RuleOutcome(cost, values, tuple(float(total[0]) for _, total in parts), float(np.sum(beyond)))

    def p_values(self, constraints: tuple[EncodedPromise, ...], predicted: NDArray) -> list[float]:
        """Return the p-value of each bound being broken; nan for functions."""
        path, found = Path(self, predicted), []
        for one in constraints:
            p = np.array([np.nan]) if one.function is not None else p_broken(one, *path.parts(one), self.losses)
            found.append(float(p[0]))
        return found


NO_CHANGES = np.zeros(0, dtype=np.intp)


class Path(NamedTuple):
    """Predictions that change row by row, with stops on the way.

    Parameters
    ----------
    rows : Measured
        The rows.
    first : ndarray of shape (n,)
        The predictions at the beginning.
    row, before, after : ndarray of shape (n_changes,)
        The row of each change, and its prediction before and after.
    stops : ndarray of shape (n_stops,)
        The number of changes before each stop.
    """

    rows: Measured
    first: NDArray
    row: NDArray = NO_CHANGES
    before: NDArray = NO_CHANGES
    after: NDArray = NO_CHANGES
    stops: NDArray = np.zeros(1, dtype=np.intp)

    def sums(self, table: NDArray) -> NDArray:
        """Return the sum of a table's values over all rows, at each stop."""
        codes, weight, changed = self.rows.codes, self.rows.weight, self.rows.codes[self.row]
        change = weight[self.row] * (table[changed, self.after] - table[changed, self.before])
        return (weight @ table[codes, self.first]) + np.append(0, np.cumsum(change))[self.stops]

    def parts(self, constraint: EncodedPromise) -> tuple[NDArray, NDArray]:
        """Return the sums whose ratio is a measure, at each stop."""
        if constraint.function is None:
            hits, total = (self.sums(part) for part in constraint.parts(self.rows.losses))
            return hits, total
        cells = [self.sums(np.eye(4)[i].reshape(2, 2)) for i in range(4)]
        matrices = np.stack(cells, axis=1).reshape(-1, 2, 2).clip(0)
        total = matrices.sum(axis=(1, 2))
        return np.array([value_of(constraint, matrix) for matrix in matrices]) * total, total

    def ranked(self, constraints: tuple[EncodedPromise, ...], confidence: float | None) -> tuple[NDArray, NDArray]:
        """Return the stops, the best one first; with them comes, for each stop, what the measures are beyond their bounds."""
        beyond = np.zeros(len(self.stops))
        for one in constraints:
            beyond += beyond_bound(one, *self.parts(one), self.rows.losses, confidence)
        return np.lexsort((self.sums(self.rows.costs), beyond)), beyond


def value_of(constraint: EncodedPromise, matrix: NDArray) -> float:
    """Return a function's value of a confusion matrix; raise ValueError unless it is a number."""
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


def constraint_table(constraint: EncodedPromise, costs: NDArray, margin: float = 0.0) -> NDArray:
    """Return a table whose mean is at most 0 within the bound.

    The bound is tightened by a margin, a share of the way to the strictest one.
    """
    hits, scope = constraint.parts(costs)
    if constraint.at_least:
        strictest = float(constraint.possible(costs[:, : len(costs)]).max())
        return (constraint.bound + margin * (strictest - constraint.bound)) * scope - hits
    return hits - constraint.bound * (1 - margin) * scope


def beyond_bound(constraint: EncodedPromise, hits: NDArray, total: NDArray, losses: NDArray, confidence: float | None) -> NDArray:
    """Return how far a measure is beyond its bound.

    It is 0 within the bound.  The unit is the largest value, or of a function the largest one here.  With a confidence, a
    binomial test must show that the measure is within the bound.  A measure of no rows is as far beyond the bound as can be.
    """
    sign = 1 if constraint.at_least else -1
    with np.errstate(invalid="ignore", divide="ignore"):
        distance = sign * (constraint.bound - hits / total)
    known = np.isfinite(distance)
    unit = float(constraint.possible(losses[:, : len(losses)]).max())
    if constraint.function is not None:
        unit = float(np.abs(distance[known]).max(initial=0)) or 1.0
    far = np.where(known, np.clip(distance / unit, 0, 1), 1.0)
    if confidence is None or constraint.function is not None:
        return np.where(known & (distance <= ROUNDING * abs(constraint.bound)), 0.0, far)
    p = p_broken(constraint, hits, total, losses)
    return np.where(p <= 1 - confidence, 0.0, p + far)


def p_broken(constraint: EncodedPromise, hits: NDArray, total: NDArray, costs: NDArray) -> NDArray:
    """Return the p-value of a binomial test that a bound is broken."""
    bound, largest, exact = bound_of(constraint, costs[:, : len(costs)])
    lost, weaker = largest * total - hits if constraint.at_least else hits, 1.0 if exact else INEXACT
    p = bdtr(np.ceil(lost / largest - ROUNDING), np.floor(total).astype(int), bound / largest)
    return np.where(total > 0, np.minimum(1.0, weaker * p), 1.0)


def best_of_two(rows: Measured, constraints: tuple[EncodedPromise, ...], confidence: float | None) -> tuple[NDArray, RuleOutcome]:
    """Return costs of two classes with the best threshold.

    All thresholds are tried; the best one costs least of those within the bounds.
    """
    second = rows.probabilities[:, 1]
    order = np.argsort(-second, kind="stable")
    p, none = second[order], np.zeros(len(second), dtype=np.intp)
    stops = np.flatnonzero(np.append(True, np.append(p[1:] < p[:-1], True)))  # how many rows are predicted as the second class
    cuts = np.concatenate([[1.0], (p[stops[1:-1] - 1] + p[stops[1:-1]]) / 2, [0.0]])
    best = Path(rows, none, order, none, none + 1, stops).ranked(constraints, confidence)[0][0]
    cut = cuts[best]
    ratio = float(np.clip(cut / (1 - cut) if cut < 1 else LARGEST_ODDS, 1 / LARGEST_ODDS, LARGEST_ODDS))
    return np.array([[0.0, ratio], [1.0, 0.0]]), rows.outcome(constraints, (second >= cut).astype(np.intp), confidence)


class BoundedCosts(NamedTuple):
    """Costs with multiples of tables, and their outcome.

    Parameters
    ----------
    outcome : RuleOutcome
        The outcome of the predictions of lowest expected cost.
    costs : ndarray of shape (k, n_predictions)
        The costs.
    scale : float
        The multiple of the last table that was added.
    """

    outcome: RuleOutcome
    costs: NDArray
    scale: float

    @property
    def rank(self) -> tuple[float, float]:
        """What the measures are beyond their bounds, and the cost."""
        return self.outcome.beyond, self.outcome.cost


class Bounds(NamedTuple):
    """Bounds of measures on some rows.

    Parameters
    ----------
    rows : Measured
        The rows.
    constraints : tuple of EncodedPromise
        The bounds.
    confidence : float or None
        As for `Constrained`.
    """

    rows: Measured
    constraints: tuple[EncodedPromise, ...]
    confidence: float | None

    def rule(self, costs: NDArray, scale: float = 0.0) -> BoundedCosts:
        """Return costs with their outcome."""
        predicted = least_expected(self.rows.probabilities, costs)
        return BoundedCosts(self.rows.outcome(self.constraints, predicted, self.confidence), costs, scale)

    def best_multiple(self, costs: NDArray, table: NDArray) -> BoundedCosts:
        """Return costs plus the best multiple of a table.

        It is the best one of all that are at least 0.  As the multiple grows, the predictions change one after another.  The
        outcomes between these changes are sums.
        """
        first, at, row, after = switches(self.rows.probabilities, costs, table)
        new_row = np.append(True, row[1:] > row[:-1])[: len(row)]
        before = np.where(new_row, first[row], np.roll(after, 1))
        order = np.argsort(at, kind="stable")
        at = at[order]
        ends = np.append(at[1:] > at[:-1], True)[: len(at)]
        stops = np.append(0, np.flatnonzero(ends) + 1)
        found, beyond = Path(self.rows, first, row[order], before[order], after[order], stops).ranked(
            self.constraints, self.confidence
        )
        changes = at[ends]
        scales = np.concatenate([[0.0], (changes[:-1] + changes[1:]) / 2, 2 * changes[-1:]])
        # Where changes are close to each other, rounding can move one of them across its stop.
        tried = list[BoundedCosts]()
        for stop in found[:MOST_CHECKED]:
            tried.append(self.rule(costs + scales[stop] * table, float(scales[stop])))
            if tried[-1].outcome.kept or beyond[stop] > 0:
                break
        return min(tried, key=lambda rule: rule.rank)

    def improved(self, tables: NDArray, multiples: NDArray) -> tuple[BoundedCosts, NDArray, NDArray]:
        """Return better costs, the tables in them, and their multiples.

        The multiples are chosen one after another.  Each is the best one beside the present others.
        """
        rule = self.rule(self.rows.costs + np.tensordot(multiples, tables, axes=1))
        for _ in range(MOST_CYCLES):
            before = rule.rank
            for number, one in enumerate(np.eye(len(tables))):
                others = multiples * (1 - one)
                other = self.best_multiple(self.rows.costs + np.tensordot(others, tables, axes=1), tables[number])
                if other.rank < rule.rank:
                    rule, multiples = other, others + other.scale * one
            if rule.rank[0] >= before[0] * (1 - LEAST_GAIN) and rule.rank[1] >= before[1] * (1 - LEAST_GAIN):
                break
        return rule, tables, multiples


def best_of_many(
    rows: Measured, constraints: tuple[EncodedPromise, ...], confidence: float | None
) -> tuple[NDArray, RuleOutcome]:
    """Return costs with multiples of the constraints' tables.

    Their decisions cost least of those within the bounds.

    The first multiples are those of the rows' probabilities, scaled, under bounds that are tightened by several margins.  The
    best ones are then improved one after another.  Of many rows, evenly spaced ones choose where all rows begin.
    """
    some, found = Bounds(rows.some(), constraints, confidence), list[tuple[BoundedCosts, NDArray, NDArray]]()
    scopes = [one.parts(rows.losses)[1] for one in constraints]
    free = [scope for scope in scopes if (scope != scope[:, :1]).any()]  # the predictions decide which rows count
    for margin in MARGINS if free else (0.0,):
        tables = [constraint_table(one, rows.losses, margin) for one in constraints]
        direction = multipliers(some.rows, tables) if len(tables) > 1 else np.ones(1)
        rule = some.best_multiple(rows.costs, np.tensordot(direction, tables, axes=1))
        multiples = np.append(rule.scale * direction, np.zeros(2 * len(free)))
        found.append((rule, np.array([*tables, *free, *(-scope for scope in free)]), multiples))
    found.sort(key=lambda one: one[0].rank)
    improved = list[tuple[BoundedCosts, NDArray, NDArray]]()
    for _, all_tables, multiples in found:
        improved.append(some.improved(all_tables, multiples))
        best = min(improved, key=lambda one: one[0].rank)
        if len(improved) >= LEAST_IMPROVED and best[0].outcome.kept:
            break
    rule = best[0] if some.rows is rows else some._replace(rows=rows).improved(*best[1:])[0]
    return rule.costs, rule.outcome


def multipliers(rows: Measured, tables: list[NDArray]) -> NDArray:
    """Return the multipliers with the largest dual value.

    It is the expected cost of the best predictions.

    The dual function is concave and piecewise linear; each step maximises the lowest of its tangents so far (Kelley 1960).
    """
    probabilities, share = rows.probabilities, rows.weight / rows.weight.sum()
    largest, units = float(rows.costs.max()), np.array([np.abs(table).max() for table in tables])
    costs, limits = (
        probabilities @ (rows.costs / largest),
        np.stack([probabilities @ (t / u) for t, u in zip(tables, units, strict=True)]),
    )
    tangents, heights, multiplier, best = [], [], np.zeros(len(tables)), (-np.inf, np.zeros(len(tables)))
    objective, bounds = np.append(np.zeros(len(tables)), -1.0), [(0, LARGEST)] * len(tables) + [(None, None)]
    for _ in range(MOST_STEPS):
        expected = costs + np.tensordot(multiplier, limits, axes=1)
        predicted = expected.argmin(axis=1)[:, None]
        value = float(share @ np.take_along_axis(expected, predicted, axis=1)[:, 0])
        slope = np.array([share @ np.take_along_axis(limit, predicted, axis=1)[:, 0] for limit in limits])
        best = max(best, (value, multiplier), key=lambda one: one[0])
        tangents.append(np.append(-slope, 1.0))
        heights.append(value - slope @ multiplier)
        step = linprog(objective, np.array(tangents), heights, bounds=bounds)
        if not step.success or -step.fun - best[0] <= PRECISION:
            break
        multiplier = step.x[:-1]
    return best[1] * largest / units


class Constrained(OfProbabilities):
    """Predict at the lowest expected cost within bounds.

    Parameters
    ----------
    base : LeastCost or LeastCostOfLabels
        The decision without bounds.  It has a table of costs, or one for each label of a set.
    bounds : sequence of (Promise, int, EncodedPromise)
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
        bounds: Sequence[tuple[Promise, int, EncodedPromise]],
        confidence: float | None,
        losses: NDArray | None = None,
    ):
        super().__init__(base.calibration)
        self.base, self.confidence, self.losses, self.shifts = base, confidence, losses, base.shifts
        self.weights = getattr(base, "weights", None)
        self.given: dict[int, list[Promise]] = {}
        self.bounds: dict[int, tuple[EncodedPromise, ...]] = {}
        for promise, number, one in bounds:
            self.given.setdefault(number, []).append(promise)
            self.bounds[number] = (*self.bounds.get(number, ()), one)
        costs = tuple(value for table in base.tables() for value in table.ravel().tolist())
        self.terms = costs, confidence, tuple((number, one.terms) for number, own in self.bounds.items() for one in own)

    @property
    def capacity(self) -> EncodedPromise | None:
        """The bound that costs by row go with, if it is the only one: of the share of all rows that have an answer."""
        bounds = self.bounds.get(0, ())
        if len(bounds) != 1 or bounds[0].at_least or not isinstance(self.base, LeastCost):
            return None
        one = bounds[0]
        return one if one.measure == "predicted_rate" or (one.measure == "abstention_rate" and one.label is None) else None

    def capacity_now(self, unseen: UnseenRows) -> Capacity:
        """Return the capacity, with the least saving on held-out rows; raise ValueError for other bounds."""
        one = self.capacity
        if one is None:
            given = [promise for promises in self.given.values() for promise in promises]
            share = "AtMost('predicted_rate', ..., label=...) or AtMost('abstention_rate', ...) alone, "
            raise ValueError(
                f"costs of rows do not go with decision.subject_to={shortened(given)}; accepted are "
                f"{share * isinstance(self.base, LeastCost)}subject_to=None, and predictions without costs."
            )
        terms, limit = unseen.values.get("capacity", ((), None))
        return Capacity(self.answer_of(one), one.bound, limit if terms == (*one.terms, self.confidence) else None)

    def answer_of(self, one: EncodedPromise) -> int:
        """Return the number of the answer whose share is bounded."""
        return len(self.base.costs) if one.label is None else one.label

    def least_saving(self, problem: Any, held: HeldOut, one: EncodedPromise) -> float:
        """Return the least saving that an answer must exceed for held-out rows to be within their bound, by their own costs."""
        rows = self.measured(problem, held, 0)
        expected = expected_costs(rows.probabilities, held.costs.table[held.rounds])
        answer = self.answer_of(one)
        saving = np.where(expected.argmin(axis=1) == answer, Capacity(answer, one.bound).savings(expected)[1], 0.0)
        order = np.argsort(-saving, kind="stable")
        share = np.append(0.0, np.cumsum(rows.weight[order]))
        beyond = beyond_bound(one, share, np.full(len(share), share[-1]), rows.losses, self.confidence)
        most = np.flatnonzero(beyond == 0).max(initial=0)
        return float(saving[order[most]]) if most < len(order) else 0.0

    def value(self, unseen: UnseenRows) -> Any:
        """Return the value fitted to unseen rows; the least saving of a capacity is that of the rows of a fit with costs."""
        held, one = unseen.held, self.capacity
        if one is not None and held is not None and held.costs is not None:
            held = held._replace(map=self.calibration.map(unseen))
            unseen.values["capacity"] = (*one.terms, self.confidence), self.least_saving(unseen.problem, held, one)
        return super().value(unseen)

    def measured(self, problem: Any, held: HeldOut, number: int) -> Measured:
        """Return held-out rows with their probabilities; they are those of the classes of a table."""
        of = self.calibration.of
        probabilities = of.probabilities(held.map, of.scores(problem, held.scores))
        weight = np.ones(len(held.values)) if held.weight is None else held.weight
        weight = weight * (weight.sum() / (weight**2).sum())  # as many rows as have the same information (Kish 1965)
        p, codes = self.base.column(number, probabilities, held.values)
        table = self.base.tables()[number]
        losses = table if self.losses is None else self.losses
        return Measured(np.ascontiguousarray(p), codes.astype(np.intp), weight, table, losses)

    def solved(self, problem: Any, held: HeldOut) -> tuple[list[NDArray], dict[int, RuleOutcome]]:
        """Return the tables of costs by which to decide; with them come the outcomes on held-out rows of those with bounds."""
        tables, outcomes = self.base.tables(), {}
        for number, bounds in self.bounds.items():
            rows = self.measured(problem, held, number)
            outcomes[number] = rows.outcome(bounds, least_expected(rows.probabilities, tables[number]), self.confidence)
            if not outcomes[number].kept:
                search = best_of_two if tables[number].shape == (2, 2) else best_of_many
                tables[number], outcomes[number] = search(rows, bounds, self.confidence)
        return tables, outcomes

    def task_losses(self, problem: Any, held: HeldOut) -> NDArray:
        """Return the costs of the predictions for held-out rows."""
        decided = self.base.with_tables(self.solved(problem, held)[0]).predictions_for(problem, held)
        return self.base.losses_of(decided, held)

    def fit(self, problem: Any, held: HeldOut) -> tuple[Any, ...]:
        """Return the costs by which to decide, and the bounds' results.

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
        predicted = least_expected(rows.probabilities, table)
        for bound, p in zip(bounds, rows.p_values(bounds, predicted), strict=True):
            outcome = rows.outcome((bound,), predicted, self.confidence)
            found.append((outcome.kept, round(outcome.rows[0]), outcome.values[0], p))
        return found

    def tables(self, unseen: UnseenRows) -> list[NDArray]:
        """Return the present tables of costs by which to decide."""
        tables = self.base.tables()
        costs = np.split(np.array(self.value(unseen)[0]), len(tables))
        return [part.reshape(tables[0].shape) for part in costs]

    def reached(self, unseen: UnseenRows) -> tuple[PromiseResult, ...]:
        """Return each bound with its result; the rows are those that chose the costs."""
        results = self.value(unseen)[1]
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

    def fitted(self, unseen: UnseenRows) -> Decision:
        """Return the decision by the present map and costs; before the first round the scores are decoded as they are."""
        if unseen.t == 0:
            return PLAIN
        return self.once_for(self.calibration.map(unseen), lambda found: self.base.with_tables(self.tables(unseen)).by(found))


def reached_bounds(decision: Decision, unseen: UnseenRows) -> tuple[PromiseResult, ...]:
    """Return each bound with its value on held-out rows; raise AttributeError if the decision has no bounds."""
    if not isinstance(decision, Constrained):
        raise AttributeError("bounds_ exists after fit, with decision=ExpectedCost(subject_to=[...]).")
    return decision.reached(unseen)


def capacity_of(decision: Decision, unseen: UnseenRows) -> Capacity | None:
    """Return the bound of a decision that costs of rows go with, if there is one; raise ValueError for other bounds."""
    return decision.capacity_now(unseen) if isinstance(decision, Constrained) else None
