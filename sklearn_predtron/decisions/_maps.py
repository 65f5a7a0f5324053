"""Calibration maps from scores to probabilities, fitted on unseen rows: plain numbers and their formulas."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from sklearn_predtron.decisions._curves import (
    fit_curve,
    likelihood,
    probabilities_of_classes,
    probabilities_of_curves,
)

RIDGE = np.array([0.001, 0.01, 1.0])  # of a curve's offset, its slope and the difference of its slopes, in rows
OFFSETS, MATRIX, SLOPE = 0.01, 5.0, 0.001  # of classes: their ridges, in rows
SHARED_SLOPE = 10.0  # the ridge of a label's slopes towards those of all labels, in rows
LEAST_SLOPE = 1e-6
LARGEST_ODDS = 1e12  # of a decision; a class is predicted at the largest even if its mistakes cost nothing
FEW_CLASSES = 12  # that a matrix is fitted for
MOST_FITTED = 5_000  # rows that a map of several classes is fitted to
POOLED = 20_000  # scores that the slopes of all labels are fitted to


class CurveMap(NamedTuple):
    """P(y = 1) of each column of scores: logistic in s and |s|, a slope for each side of 0 (Platt 1999 has one).

    Parameters
    ----------
    scale : ndarray of shape (m,)
        Divisor of the scores.
    curves : ndarray of shape (m, 3)
        Of each column the offset, the slope, and half the difference of the slopes above 0 and below; slopes are positive.
    floor : ndarray of shape (m,)
        The least probability of both y = 1 and y = 0.
    """

    scale: NDArray
    curves: NDArray
    floor: NDArray

    def probabilities(self, scores: NDArray) -> NDArray:
        """Return P(y = 1), of shape (n, m), of scores of that shape."""
        return self.floor + (1 - 2 * self.floor) * probabilities_of_curves(scores, self.curves, self.scale)

    def cuts(self, odds: float | NDArray) -> NDArray:
        """Return the score of each column above which P(y = 1) / P(y = 0) exceeds the odds (of each column), of shape (m,)."""
        offset, slope, apart = self.curves.T
        above, below = odds * (1 - self.floor) - self.floor, 1 - self.floor - odds * self.floor  # the odds of the curve itself
        least, most = 1 / LARGEST_ODDS, LARGEST_ODDS  # of probabilities that are never as small, or as large
        inner = np.where(above <= 0, least, np.where(below <= 0, most, above / np.where(below <= 0, 1.0, below)))
        rest = np.log(np.clip(inner, least, most)) - offset
        return rest / np.where(rest > 0, slope + apart, slope - apart) * self.scale


class ClassMap(NamedTuple):
    """P(y = c): softmax of a s + b + s A, of centred and scaled scores s.

    Parameters
    ----------
    mean : ndarray of shape (d,)
        Offset to subtract from the scores.
    scale : float
        Divisor of the result.
    k : int
        Number of classes.
    parameters : ndarray of shape (1 + k + d * k,) or (1 + k,)
        a, b and, row by row, A, or no A.
    floor : float
        The least probability.
    """

    mean: NDArray
    scale: float
    k: int
    parameters: NDArray
    floor: float

    def probabilities(self, scores: NDArray) -> NDArray:
        """Return the probabilities, of shape (n, k)."""
        found = probabilities_of_classes(
            scores, self.parameters, self.mean, float(self.scale), int(self.k), len(self.mean) == self.k
        )
        return self.floor + (1 - self.k * self.floor) * found


class RankMap(NamedTuple):
    """P(y = rank): the mean of what a curve for each threshold between ranks says, and a map of classes.

    Parameters
    ----------
    scale, curves : ndarrays of shapes (r - 1,) and (r - 1, 3)
        Of P(y > rank), by the difference of the decoded scores of the next rank and of this one.
    classes : ClassMap
        The map of classes.
    """

    scale: NDArray
    curves: NDArray
    classes: ClassMap

    def probabilities(self, scores: NDArray) -> NDArray:
        """Return the probabilities, of shape (n, r), of decoded scores."""
        above = probabilities_of_curves(steps(scores), self.curves, self.scale)
        above = np.minimum.accumulate(above, axis=1)
        n = len(above)
        at_least = np.hstack([np.ones((n, 1)), above, np.zeros((n, 1))])
        return (at_least[:, :-1] - at_least[:, 1:] + ClassMap(*self.classes).probabilities(scores)) / 2


def steps(decoded: NDArray) -> NDArray:
    """Return the differences of the decoded scores of ranks that are next to each other."""
    return np.ascontiguousarray(decoded[:, 1:] - decoded[:, :-1])


def relative(weight: NDArray) -> NDArray:
    """Return weights whose mean is 1."""
    share = weight / weight.max() if len(weight) and weight.max() > 0 else np.ones(len(weight))
    return share / share.mean() if len(share) else share


def root_mean_square(scores: NDArray) -> float:
    """Return the scale of some scores; 1 if they are zeros."""
    largest = float(np.abs(scores).max(initial=0))  # relative to it no square overflows
    return largest * float(np.sqrt(np.mean(np.square(scores / largest, dtype=np.float64)))) if largest > 0 else 1.0


def smoothed(on: NDArray, weight: NDArray, smoothing: float) -> tuple[NDArray, NDArray]:
    """Return each row's weight for the second class and for the first, with the targets of Platt (1999)."""
    positive, negative = float(weight @ on), float(weight @ (1 - on))
    target = np.where(on == 1, 1 - smoothing / (positive + 2), smoothing / (negative + 2))
    return weight * target, weight * (1 - target)


def floor_of(weight: NDArray, k: int, smoothing: float) -> float:
    """Return the least probability that so many rows let one state of each of k classes, as Platt's targets do."""
    return min(smoothing / ((float(weight.sum()) + 2) * (k - 1)), 0.5 / k)


def rising_curve(s: NDArray, on: NDArray, off: NDArray, mean: NDArray, ridge: NDArray) -> tuple[float, float, float]:
    """Return the likeliest curve whose slopes are positive: with two, else with one, else with next to none."""
    found = fit_curve(s, on, off, mean, ridge, 3)
    if found[1] - abs(found[2]) >= LEAST_SLOPE:
        return found
    found = fit_curve(s, on, off, np.append(mean[:2], 0.0), ridge, 2)
    if found[1] >= LEAST_SLOPE:
        return found
    return fit_curve(s, on, off, np.array([0.0, LEAST_SLOPE, 0.0]), ridge, 1)


def fit_two(scores: NDArray, on: NDArray, weight: NDArray, smoothing: float) -> CurveMap:
    """Return the map of two classes, of scores of shape (n, 1) and whether rows are of the second."""
    floor = floor_of(relative(weight), 2, smoothing)
    return CurveMap(*fit_thresholds(scores, on[:, None], weight, smoothing), np.array([floor]))


def fit_thresholds(scores: NDArray, on: NDArray, weight: NDArray, smoothing: float) -> tuple[NDArray, NDArray]:
    """Return the scale and the curve of each column by itself."""
    weight, m = relative(weight), scores.shape[1]
    scale = np.array([root_mean_square(scores[:, j]) for j in range(m)])
    curves = np.empty((m, 3))
    for j in range(m):
        s = np.ascontiguousarray(scores[:, j] / scale[j], dtype=np.float64)
        curves[j] = rising_curve(s, *smoothed(on[:, j].astype(np.float64), weight, smoothing), np.zeros(3), RIDGE)
    return scale, curves


def fit_binned(places: NDArray, seen: NDArray, smoothing: float) -> CurveMap:
    """Return the map of scores that were counted in bins: of each score seen[j, bin, side], side 1 being positive."""
    m = len(seen)
    scale, curves = np.empty(m), np.empty((m, 3))
    floor = np.array([floor_of(weight, 2, smoothing) for weight in seen])
    for j, weight in enumerate(seen):
        total = weight.sum()
        scale[j] = np.sqrt((weight.sum(axis=1) * places**2).sum() / total) if total > 0 else 1.0
        s, (n_off, n_on) = places / (scale[j] or 1.0), weight.sum(axis=0)
        of_on, of_off = smoothing / (n_on + 2), smoothing / (n_off + 2)
        on = weight[:, 1] * (1 - of_on) + weight[:, 0] * of_off
        curves[j] = rising_curve(s, on, weight.sum(axis=1) - on, np.zeros(3), RIDGE)
    return CurveMap(np.where(scale > 0, scale, 1.0), curves, floor)


def fit_labels(scores: NDArray, on: NDArray, weight: NDArray, smoothing: float) -> CurveMap:
    """Return the map of sets of labels: a curve for each, whose slopes are drawn to those of all labels together.

    Labels that are on in all rows or in none have no say in the others' slopes, so that these are the same when labels come.
    """
    weight, (n, m) = relative(weight), scores.shape
    on = on.astype(np.float64)
    there = (on.min(axis=0, initial=1) < on.max(axis=0, initial=0)).nonzero()[0]
    there = there if len(there) else np.arange(m)
    scale = root_mean_square(scores[:, there])
    s = np.asarray(scores / scale, dtype=np.float64)
    some = np.ix_(np.arange(0, n, max(1, n * len(there) // POOLED)), there)
    pooled = np.ascontiguousarray(s[some].ravel()), *smoothed(on[some].ravel(), np.repeat(weight[some[0]], len(there)), smoothing)
    common = np.array(rising_curve(*pooled, np.zeros(3), RIDGE))
    ridge = RIDGE + [0, SHARED_SLOPE, SHARED_SLOPE]
    curves = np.empty((m, 3))
    for j in range(m):
        targets = smoothed(on[:, j], weight, smoothing)
        curves[j] = rising_curve(np.ascontiguousarray(s[:, j]), *targets, np.append(0.0, common[1:]), ridge)
    return CurveMap(np.full(m, scale), curves, np.full(m, floor_of(weight, 2, smoothing)))


def fit_classes(scores: NDArray, y: NDArray, k: int, weight: NDArray, smoothing: float, *, matrix: bool) -> ClassMap:
    """Return the map of k classes, of scores of shape (n, d) and the numbers of the rows' classes."""
    n, floor = len(scores), floor_of(relative(weight), k, smoothing)
    if n > MOST_FITTED:
        some = np.arange(MOST_FITTED) * n // MOST_FITTED
        scores, y, weight = scores[some], y[some], weight[some]
    weight, d = relative(weight), scores.shape[1]
    mean = scores.mean(axis=0, dtype=np.float64) if len(scores) else np.zeros(d)
    s = np.ascontiguousarray(scores - mean, dtype=np.float64)
    scale = root_mean_square(s)
    s /= scale
    matrix = matrix and k <= FEW_CLASSES
    ridge = np.concatenate([[SLOPE], np.full(k, OFFSETS), np.full(d * k if matrix else 0, MATRIX)])
    start = np.zeros(len(ridge))
    start[0] = float(d == k)
    if len(s) == 0:
        return ClassMap(mean, scale, k, start, floor)
    soft = np.minimum(smoothing / (np.bincount(y, weights=weight, minlength=k) + 2), 0.5)
    arguments = s, y.astype(np.intp), weight, soft, ridge, d == k
    found = minimize(likelihood, start, args=arguments, jac=True, method="L-BFGS-B", options={"maxiter": 200, "ftol": 1e-5})
    return ClassMap(mean, scale, k, found.x, floor)


def fit_ranks(scores: NDArray, y: NDArray, r: int, weight: NDArray, smoothing: float, *, matrix: bool) -> RankMap:
    """Return the map of r ranks, of their decoded scores."""
    above = y[:, None] > np.arange(r - 1)
    curves = fit_thresholds(steps(np.asarray(scores, dtype=np.float64)), above, weight, smoothing)
    return RankMap(*curves, fit_classes(scores, y, r, weight, smoothing, matrix=matrix))
