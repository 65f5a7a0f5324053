"""Probabilities: calibration maps from the scores of held-out or streamed rows."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.learner import Observer
from sklearn_predtron._core.problem import Problem
from sklearn_predtron.decisions._base import Decision, HeldOut, UnseenRows
from sklearn_predtron.decisions._calibration_curves import (
    BEYOND_LIMITS,
    LEAD,
    ClassProbabilities,
    PairProbabilities,
    fit_curve,
    likelihood,
    probabilities_of_curves,
    probabilities_of_ranks,
    with_largest,
)
from sklearn_predtron.decisions._recent_scores import RecentScores

RIDGE = np.array([0.001, 0.01, 1.0])  # of a curve's offset, its slope and the difference of its slopes, in rows
OFFSETS, MATRIX, SLOPE = 0.01, 5.0, 0.001  # of classes: their ridges, in rows
FEW = 20.0  # rows whose targets are smoothed twice as much as those of many
SHARED_SLOPE = 10.0  # the ridge of a label's slopes towards those of all labels, in rows
LEAST_SLOPE = 1e-6
LARGEST_ODDS = 1e12  # of a decision; a class is predicted at the largest even if its mistakes cost nothing
COARSE, CLOSE = (
    1e-5,
    1e-6,
)  # steps towards the largest log-likelihood of classes that end, relative to it: to compare, and at last
FEW_CLASSES = 12  # that a matrix is fitted for
MOST_FITTED = 5_000  # rows that a map of several classes is fitted to
POOLED = 20_000  # scores that the slopes of all labels are fitted to
OUTER = np.array([0.0, 1 / 64, 1 / 16, 1 / 8])  # shares of scores beyond each limit, of which the likeliest is taken
MARGIN = 0.5  # of the range of all scores, beyond which the widest limits are
LARGEST = np.finfo(np.float64).max
FARTHEST = 1e2  # scales beyond a limit, where cuts of odds are that no score has


class CurveMap(NamedTuple):
    """P(y = 1) of each column of scores.

    It is logistic in s and |s|: with a slope for each side of 0, where Platt (1999) has one.

    Few scores that are far from all others would decide the slopes.  So scores stay within limits, but for next to nothing
    that keeps their order.

    Parameters
    ----------
    scale : ndarray of shape (m,)
        Divisor of the scores.
    curves : ndarray of shape (m, 3)
        Of each column the offset, the slope, and half the difference of the slopes above 0 and below; slopes are positive.
    limits : ndarray of shape (m, 2)
        The least and the largest score of each column.
    floor : ndarray of shape (m,)
        The least probability of both y = 1 and y = 0.
    """

    scale: NDArray
    curves: NDArray
    limits: NDArray
    floor: NDArray

    def probabilities(self, scores: NDArray) -> NDArray:
        """Return P(y = 1), of shape (n, m), of scores of that shape."""
        return self.floor + (1 - 2 * self.floor) * probabilities_of_curves(scores, self.curves, self.scale, self.limits)

    def cuts(self, odds: float | NDArray) -> NDArray:
        """Return the cut of each column, of shape (m,); above it, P(y = 1) / P(y = 0) exceeds the odds (of each column)."""
        offset, slope, apart = self.curves.T
        above, below = odds * (1 - self.floor) - self.floor, 1 - self.floor - odds * self.floor  # the odds of the curve itself
        least, most = 1 / LARGEST_ODDS, LARGEST_ODDS  # of probabilities that are never as small, or as large
        inner = np.where(above <= 0, least, np.where(below <= 0, most, above / np.where(below <= 0, 1.0, below)))
        rest = np.log(np.clip(inner, least, most)) - offset
        return unlimited(rest / np.where(rest > 0, slope + apart, slope - apart) * self.scale, self.scale, self.limits)


class ClassMap(NamedTuple):
    """P(y = c) of rows of scores.

    It is the softmax of a s + b + s A, of centred and scaled scores s, which shrink where one is beyond a limit.

    Parameters
    ----------
    mean : ndarray of shape (d,)
        Offset to subtract from the scores.
    scale : float
        Divisor of the result.
    limit : float
        The largest size of s, as the limits of `CurveMap`.
    k : int
        Number of classes.
    parameters : ndarray of shape (1 + k + d * k,) or (1 + k,)
        a, b and, row by row, A, or no A.
    floor : float
        The least probability.
    """

    mean: NDArray
    scale: float
    limit: float
    k: int
    parameters: NDArray
    floor: float

    def probabilities(self, scores: NDArray) -> NDArray:
        """Return the probabilities, of shape (n, k)."""
        return self.compiled().of(scores)

    def compiled(self) -> ClassProbabilities:
        """Return the compiled map."""
        mean, scale, limit, k, parameters, floor = self
        return ClassProbabilities(parameters, mean, scale, limit, k, len(mean) == k, floor)


class RankMap(NamedTuple):
    """P(y = rank) of rows of scores.

    It is the mean of the probabilities by a curve for each threshold between ranks and by a map of classes.

    Parameters
    ----------
    scale, curves, limits : ndarrays of shapes (r - 1,), (r - 1, 3) and (r - 1, 2)
        Of P(y > rank), by the difference of the decoded scores of the next rank and of this one.
    classes : ClassMap
        The map of classes.
    """

    scale: NDArray
    curves: NDArray
    limits: NDArray
    classes: ClassMap

    def probabilities(self, scores: NDArray) -> NDArray:
        """Return the probabilities, of shape (n, r), of decoded scores."""
        return probabilities_of_ranks(scores, self.curves, self.scale, self.limits, self.classes.probabilities(scores))


def steps(decoded: NDArray) -> NDArray:
    """Return the differences of the decoded scores of ranks that are next to each other."""
    return np.ascontiguousarray(decoded[:, 1:] - decoded[:, :-1])


def relative(weight: NDArray) -> NDArray:
    """Return weights whose mean is 1."""
    share = weight / weight.max() if len(weight) and weight.max() > 0 else np.ones(len(weight))
    return share / share.mean() if len(share) else share


def root_mean_square(scores: NDArray, count: NDArray | None = None) -> float:
    """Return the root mean square of scores; 1 of zeros. A score may stand for several."""
    if count is not None and not count.any():
        return 1.0
    largest = float(np.abs(scores if count is None else scores[count > 0]).max(initial=0))  # relative to it no square overflows
    if not largest > 0:
        return 1.0
    return largest * float(np.sqrt(np.average(np.square(scores / largest, dtype=np.float64), weights=count)))


def share_of_others(n: float | NDArray, total: float, smoothing: float) -> NDArray:
    """Return the share of other classes in targets.

    It is that of Platt (1999) for n rows of a class, and larger where the rows of all classes are few.
    """
    return np.minimum(smoothing * (1 + (FEW / max(total, 1.0)) ** 2) / (np.asarray(n) + 2), 0.5)


def smoothed(on: NDArray, weight: NDArray, smoothing: float) -> tuple[NDArray, NDArray]:
    """Return each row's weights for the two classes; the second class comes first; the targets are smoothed."""
    of_off, of_on = share_of_others(np.array([weight @ (1 - on), weight @ on]), float(weight.sum()), smoothing)
    target = np.where(on == 1, 1 - of_on, of_off)
    return weight * target, weight * (1 - target)


def floor_of(weight: NDArray, k: int, smoothing: float) -> float:
    """Return the least probability of each of k classes; it depends on the number of rows as the smoothed targets do."""
    total = float(weight.sum())
    return min(float(share_of_others(total, total, smoothing)) / (k - 1), 0.5 / k)


def unlimited(scores: NDArray, scale: NDArray, limits: NDArray) -> NDArray:
    """Return the scores that count as given ones.

    The given ones may be beyond the limits; if no score counts as one, the result is far away.
    """
    within = np.clip(scores, *limits.T)
    with np.errstate(over="ignore", invalid="ignore"):
        part = np.clip(np.nan_to_num(np.abs(scores - within) / (BEYOND_LIMITS * scale)), 0, FARTHEST / (1 + FARTHEST))
        return within + np.sign(scores - within) * part / (1 - part) * scale


def outer_limits(s: NDArray, count: NDArray | None = None) -> NDArray:
    """Return candidate limits, of shape (len(OUTER), 2).

    They leave out these shares of the scores on each side; the first leave none out, and are a little beyond all scores.
    `count` is how many scores each stands for, 1 by default.
    """
    there = s if count is None else s[count > 0]
    if len(there) == 0:
        return np.tile([-LARGEST, LARGEST], (len(OUTER), 1))
    if count is None:
        order, first = np.sort(there), (OUTER * len(there)).astype(np.intp)
        found = np.column_stack([order[first], order[len(order) - 1 - first]]).astype(np.float64)
    else:
        order, total = np.argsort(there), count.sum()
        count = count[count > 0][order]
        lowest = np.searchsorted(np.cumsum(count), OUTER * total, side="right")
        highest = np.searchsorted(np.cumsum(count[::-1]), OUTER * total, side="right")
        found = np.column_stack([there[order[lowest]], there[order[::-1][highest]]])
    with np.errstate(over="ignore"):
        found[0] += MARGIN * (found[0, 1] - found[0, 0]) * np.array([-1, 1])
    return np.clip(found, -LARGEST, LARGEST)


class Fit(NamedTuple):
    """The scale, curve and limits of a column of scores."""

    scale: float
    curve: NDArray
    limits: NDArray


def limited_curve(scores: NDArray, on: NDArray, off: NDArray, count: NDArray | None = None) -> Fit:
    """Return the likeliest curve with its limits; score i stands for on[i] and off[i] rows."""
    fits = []
    for limits in outer_limits(scores, count):
        s = np.clip(scores, *limits).astype(np.float64)
        scale = root_mean_square(s, count)
        curve, objective = fit_curve(s / scale, on, off, np.zeros(3), RIDGE, LEAST_SLOPE)
        fits.append((objective, Fit(scale, np.array(curve), limits)))
    return min(fits, key=itemgetter(0))[1]


def stack_curves(fits: list[Fit]) -> tuple[NDArray, NDArray, NDArray]:
    """Return the scales, the curves and the limits of columns."""
    scale, curves, limits = zip(*fits, strict=True)
    return np.array(scale), np.array(curves), np.array(limits)


def fit_two(scores: NDArray, on: NDArray, weight: NDArray, smoothing: float) -> CurveMap:
    """Return the map of two classes; the scores have shape (n, 1); `on` tells which rows are of the second class."""
    floor = floor_of(relative(weight), 2, smoothing)
    return CurveMap(*fit_thresholds(scores, on[:, None], weight, smoothing), np.array([floor]))


def fit_thresholds(scores: NDArray, on: NDArray, weight: NDArray, smoothing: float) -> tuple[NDArray, NDArray, NDArray]:
    """Return the scale, the curve and the limits of each column by itself."""
    weight = relative(weight)
    targets = (smoothed(column.astype(np.float64), weight, smoothing) for column in on.T)
    return stack_curves([limited_curve(s, *both) for s, both in zip(scores.T, targets, strict=True)])


def fit_labels(scores: NDArray, on: NDArray, weight: NDArray, smoothing: float) -> CurveMap:
    """Return the map of label sets.

    Each label has a curve, whose slopes are drawn to those of all labels together.
    Labels that are on in all rows or in none have no say in the others' slopes, so that these are the same when labels come.
    """
    weight, (n, m) = relative(weight), scores.shape
    on = on.astype(np.float64)
    there = (on.min(axis=0, initial=1) < on.max(axis=0, initial=0)).nonzero()[0]
    there = there if len(there) else np.arange(m)
    each = np.stack([outer_limits(column) for column in scores.T], axis=1)  # of shape (shares, m, 2)
    some = np.ix_(np.arange(0, n, max(1, n * len(there) // POOLED)), there)
    pooled = smoothed(on[some].ravel(), np.repeat(weight[some[0]], len(there)), smoothing)
    fits = []
    for limits in each:
        scale = root_mean_square(np.clip(scores[:, there], *limits[there].T))
        s = np.clip(scores[some], *limits[there].T).astype(np.float64).ravel() / scale
        curve, objective = fit_curve(s, *pooled, np.zeros(3), RIDGE, LEAST_SLOPE)
        fits.append((objective, Fit(scale, np.array(curve), limits)))
    scale, common, limits = min(fits, key=itemgetter(0))[1]
    ridge, mean = RIDGE + [0, SHARED_SLOPE, SHARED_SLOPE], np.append(0.0, common[1:])
    curves, s = np.empty((m, 3)), np.asfortranarray(np.clip(scores, *limits.T) / scale, dtype=np.float64)
    for j in range(m):
        curves[j] = fit_curve(s[:, j], *smoothed(on[:, j], weight, smoothing), mean, ridge, LEAST_SLOPE)[0]
    return CurveMap(np.full(m, scale), curves, limits, np.full(m, floor_of(weight, 2, smoothing)))


def limits_of_rows(s: NDArray) -> NDArray:
    """Return candidate limits of rows, of shape (len(OUTER),).

    As many rows are beyond them as scores are beyond `outer_limits`.
    """
    if len(s) == 0:
        return np.full(len(OUTER), LARGEST)
    sizes = np.sort(np.abs(s).max(axis=1))
    found = sizes[len(s) - 1 - (2 * OUTER * len(s)).astype(np.intp)]
    found[0] = min(found[0], LARGEST / 2) * (1 + MARGIN)
    return found


def fit_classes(scores: NDArray, y: NDArray, k: int, weight: NDArray, smoothing: float, *, matrix: bool) -> ClassMap:
    """Return the map of k classes; the scores have shape (n, d), and y the numbers of the classes."""
    n, floor = len(scores), floor_of(relative(weight), k, smoothing)
    if n > MOST_FITTED:
        some = np.arange(MOST_FITTED) * n // MOST_FITTED
        scores, y, weight = scores[some], y[some], weight[some]
    scores, weight, d = np.asarray(scores, dtype=np.float64), relative(weight), scores.shape[1]
    soft = share_of_others(np.bincount(y, weights=weight, minlength=k), float(len(y)), smoothing)
    ridge = np.concatenate([[SLOPE], np.full(k, OFFSETS), np.full(d * k, MATRIX)])

    mean = np.median(scores, axis=0) if len(scores) else np.zeros(d)
    centred = scores - mean
    size = np.abs(centred).max(axis=1, keepdims=True)

    from scipy.optimize import minimize  # a predictor has fitted maps, and does without SciPy

    def fit(limit: float, start: NDArray, close: float) -> tuple[float, float, ClassMap]:
        """Return minus the mean log-likelihood, the limit and the map."""
        s = centred * np.minimum(1, limit / np.maximum(size, limit or 1.0))
        scale = root_mean_square(s)
        if len(s) == 0:
            return 0.0, limit, ClassMap(mean, scale, float(limit), k, start, floor)
        arguments = s / scale, y.astype(np.intp), weight, soft, ridge[: len(start)], d == k
        found = minimize(likelihood, start, args=arguments, jac=True, method="L-BFGS-B", options={"maxiter": 200, "ftol": close})
        return found.fun, limit, ClassMap(mean, scale, float(min(limit / scale, LARGEST)), k, found.x, floor)

    start = np.zeros(1 + k)
    start[0] = float(d == k)
    fits = []
    for limit in limits_of_rows(centred):
        fits.append(fit(limit, start, COARSE))
        start = fits[-1][2].parameters  # near the next one
    _, limit, best = min(fits, key=itemgetter(0))
    start = np.append(best.parameters, np.zeros(d * k)) if matrix and k <= FEW_CLASSES else best.parameters
    return fit(limit, start, CLOSE)[2]


def fit_ranks(scores: NDArray, y: NDArray, r: int, weight: NDArray, smoothing: float, *, matrix: bool) -> RankMap:
    """Return the map of r ranks, of their decoded scores."""
    above = y[:, None] > np.arange(r - 1)
    curves = fit_thresholds(steps(np.asarray(scores, dtype=np.float64)), above, weight, smoothing)
    return RankMap(*curves, fit_classes(scores, y, r, weight, smoothing, matrix=matrix))


UNITS = {d: np.eye(d) for d in (1, 2)}  # of scores
LEAST_PROBABILITY = 1e-15  # that a log loss is charged for


class BinaryScores(NamedTuple):
    """Two classes: one curve, of the score of the second."""

    kind: str = "codes"

    def count(self, problem: Any) -> int:
        """Return the number of scores that can be cut."""
        return 1

    def shift(self, problem: Any, cuts: NDArray) -> NDArray:
        """Return the offsets of the scores t for these cuts, of shape (d,)."""
        direction, unit = difference(problem)
        return cuts[0] * unit * direction / (direction @ direction)

    def scores(self, problem: Any, scores: NDArray) -> NDArray:
        """Return the input of the calibration map, of shape (n, 1): <v, t> / h."""
        return score_of_second(problem, scores)

    def fit_map(self, scores: NDArray, labels: NDArray, weight: NDArray, smoothing: float, *, stream: bool) -> Any:
        """Return the map of rows."""
        return fit_two(scores, labels[:, 0] == 1, weight, smoothing)

    def probabilities(self, found: Any, scores: NDArray) -> NDArray:
        """Return the probabilities of both, of shape (n, 2)."""
        return of_both(found.probabilities(scores)[:, 0])

    def log_losses(self, probabilities: NDArray, labels: NDArray) -> NDArray:
        """Return the log loss of each row."""
        return -np.log(np.maximum(np.take_along_axis(probabilities, labels.astype(np.intp), axis=1)[:, 0], LEAST_PROBABILITY))

    def predictor(self, problem: Any, found: CurveMap, *, agrees: bool) -> Callable[[NDArray], NDArray]:
        """Return the function from scores to probabilities, of which that of the predicted class is the larger one."""
        direction, unit = self.direction(problem)
        scale, curve, limits, floor = (part[0] for part in found)
        return PairProbabilities(np.ascontiguousarray(direction, dtype=np.float64), unit, curve, limits, scale, floor, agrees).of

    def direction(self, problem: Any) -> tuple[NDArray, float]:
        """Return the direction and the unit of the second score."""
        return difference(problem)


class SignScores(BinaryScores):
    """Two classes: one curve, of the one score."""

    def direction(self, problem: Any) -> tuple[NDArray, float]:
        """Return the direction and the unit of the one score."""
        return np.ones(1), 1.0

    def scores(self, problem: Any, scores: NDArray) -> NDArray:
        """Return the scores as they are."""
        return scores


class ClassScores(NamedTuple):
    """Several classes: a map of their decoded scores."""

    k: int
    ranked: bool = False
    kind: str = "codes"

    def scores(self, problem: Any, scores: NDArray) -> NDArray:
        """Return the decoded scores of the classes, of shape (n, k)."""
        return np.ascontiguousarray(problem.decision(np.ascontiguousarray(scores)))

    def fit_map(self, scores: NDArray, labels: NDArray, weight: NDArray, smoothing: float, *, stream: bool) -> Any:
        """Return the map of rows; in streams, which have learned less, without a matrix."""
        fit = fit_ranks if self.ranked else fit_classes
        return fit(scores, labels[:, 0], self.k, weight, smoothing, matrix=not stream)

    def probabilities(self, found: Any, scores: NDArray) -> NDArray:
        """Return the probabilities, of shape (n, k)."""
        return found.probabilities(scores)

    def log_losses(self, probabilities: NDArray, labels: NDArray) -> NDArray:
        """Return the log loss of each row."""
        return -np.log(np.maximum(np.take_along_axis(probabilities, labels.astype(np.intp), axis=1)[:, 0], LEAST_PROBABILITY))

    def predictor(self, problem: Any, found: Any, *, agrees: bool) -> Callable[[NDArray], NDArray]:
        """Return the function from scores to probabilities, of which none is larger than that of the predicted class."""
        of = found.probabilities if isinstance(found, RankMap) else found.compiled().of
        if agrees:
            return lambda scores: with_largest(of(problem.decision(scores)), problem.predict(scores))
        return lambda scores: of(problem.decision(scores))


class LabelScores(NamedTuple):
    """Sets of labels: a curve for each."""

    kind: str = "sets"

    def count(self, problem: Any) -> int:
        """Return the number of scores that can be cut."""
        return problem.d

    def shift(self, problem: Any, cuts: NDArray) -> NDArray:
        """Return the offsets of the scores t for these cuts, of shape (d,)."""
        return cuts

    def scores(self, problem: Any, scores: NDArray) -> NDArray:
        """Return the scores as they are."""
        return scores

    def fit_map(self, scores: NDArray, labels: NDArray, weight: NDArray, smoothing: float, *, stream: bool) -> Any:
        """Return the map of rows."""
        return fit_labels(scores, labels, weight, smoothing)

    def probabilities(self, found: Any, scores: NDArray) -> NDArray:
        """Return the probability of each label, of shape (n, m)."""
        return found.probabilities(scores)

    def log_losses(self, probabilities: NDArray, labels: NDArray) -> NDArray:
        """Return the log loss of each row, of all its labels."""
        return -np.log(np.maximum(np.where(labels, probabilities, 1 - probabilities), LEAST_PROBABILITY)).sum(axis=1)

    def predictor(self, problem: Any, found: CurveMap, *, agrees: bool) -> Callable[[NDArray], NDArray]:
        """Return the function from scores to probabilities, above 1/2 for predicted labels alone, in one order with scores."""
        if agrees:
            return lambda scores: on_the_side_of(scores, found.probabilities(scores))
        return found.probabilities


def of_both(second: NDArray) -> NDArray:
    """Return the probabilities of two classes, of shape (n, 2), of that of the second."""
    found = np.empty((len(second), 2))
    found[:, 0], found[:, 1] = 1 - second, second
    return found


def difference(problem: Any) -> tuple[NDArray, float]:
    """Return the second score's direction and unit.

    The direction v is that of its score less that of the first of two classes; the unit is h.
    """
    first, second = problem.decision(UNITS[problem.d] if problem.d <= 2 else np.eye(problem.d))[:, :2].T
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


def on_the_side_of(scores: NDArray, probabilities: NDArray) -> NDArray:
    """Return probabilities that are above 1/2 where scores are positive, and there alone, in one order with the scores."""
    lead = LEAD * (1 + np.abs(scores) / (1 + np.abs(scores)))
    return np.where(scores > 0, np.maximum(probabilities, 0.5 + lead), np.minimum(probabilities, 0.5 - lead))


SMOOTHING = 0.1


class Calibration(Decision):
    """Probabilities instead of predictions: a calibration map of scores, fitted on unseen rows.

    Parameters
    ----------
    of : BinaryScores, SignScores, ClassScores or LabelScores
        The kind of scores.
    smoothing : float, default=0.1
        The targets of n rows of a class are 1 - smoothing / (n + 2), and smoothed more where all rows are few.
    agrees : bool, default=False
        Whether the prediction by the scores themselves must be the most probable one.
    """

    value_name, needs_scores = "map", True

    def __init__(self, of: Any, smoothing: float = SMOOTHING, *, agrees: bool = False):
        self.of, self.agrees, self.smoothing, self.terms = of, agrees, smoothing, smoothing

    def observer(self, problem: Problem, present: Observer | None, kind: type[RecentScores] = RecentScores) -> Any:
        """Return the record of the last scores, of a kind."""
        kept = present if isinstance(present, kind) and present.kind == self.of.kind else None
        return kind(problem, self.of.kind) if kept is None else kept

    def fit(self, problem: Any, held: HeldOut) -> Any:
        """Return the calibration map of unseen rows."""
        if held.map is not None:
            return held.map
        weight = np.ones(len(held.scores)) if held.weight is None else held.weight
        return self.of.fit_map(self.of.scores(problem, held.scores), held.values, weight, self.smoothing, stream=held.streamed)

    def validation_losses(self, problem: Any, held: HeldOut) -> tuple[NDArray, HeldOut]:
        """Return the log loss of each held-out row, and the rows with their map; the map has no matrix."""
        held = held._replace(map=self.fit(problem, held._replace(map=None, streamed=True)))
        return self.log_losses(problem, held), held

    def log_losses(self, problem: Any, held: HeldOut) -> NDArray:
        """Return the log loss of each held-out row by their map."""
        return self.of.log_losses(self.of.probabilities(held.map, self.of.scores(problem, held.scores)), held.values)

    def map(self, unseen: UnseenRows) -> Any:
        """Return the present calibration map; it is the same object until another one is fitted."""
        self.check_known(unseen.observer)
        return self.value(unseen)

    def fitted(self, unseen: UnseenRows) -> Calibrated:
        """Return the probabilities by the present calibration map; they are the same object for the same map."""
        return self.once_for(self.map(unseen), lambda found: Calibrated(self.of, found, agrees=self.agrees))

    def check_known(self, observer: Any) -> None:
        """Raise ValueError if no scores of unseen rows are known."""
        if not self.knows(observer):
            raise ValueError(
                "predict_proba needs scores of held-out rows, and there are none: call fit with another "
                "decision than 'learned', or continue with partial_fit."
            )

    def knows(self, observer: Any) -> bool:
        """Return whether scores of unseen rows are known, by their record."""
        return isinstance(observer, RecentScores) and observer.kind == self.of.kind and observer.marked_at > 0


class Calibrated(Decision):
    """Probabilities by a map.

    Parameters
    ----------
    of : BinaryScores, SignScores, ClassScores or LabelScores
        The kind of scores.
    map : CurveMap, ClassMap or RankMap
        The map.
    agrees : bool
        Whether the prediction by the scores themselves must be the most probable one.
    """

    def __init__(self, of: Any, map: Any, *, agrees: bool):
        self.of, self.map, self.agrees = of, map, agrees

    def predict(self, problem: Any, scores: NDArray) -> NDArray:
        """Return the probabilities."""
        return self.once_for(problem, self.predictor)(scores)

    def predictor(self, problem: Any) -> Callable[[NDArray], NDArray]:
        """Return the function from a problem's scores to probabilities."""
        return self.of.predictor(problem, self.map, agrees=self.agrees)
