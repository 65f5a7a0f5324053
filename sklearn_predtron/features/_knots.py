"""Statistics of a numeric column: mean, deviation and knots."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_ROWS = 100_000  # that are used, evenly spaced
MOST_TIMES = 2.0**50  # that rows count, in all
LARGEST = 1e150  # of a value: its square and the inverse of a distance are floating-point numbers


class Numbers(NamedTuple):
    """Statistics of a column, and its knots, of itself and of its pairs, by each setting; without knots it is constant."""

    mean: float
    sd: float
    knots: list[tuple[NDArray, NDArray]]


def describe_column(values: NDArray, settings: Sequence[tuple[int, int]], weight: NDArray | None = None) -> Numbers:
    """Describe the values of a column that are not missing.

    A setting has the largest number of its knots, and of the knots for its pairs.  A value of twice the least weight counts as
    two values of it.
    """
    nothing = [(np.zeros(0), np.zeros(0))] * len(settings)
    if len(values) == 0:
        return Numbers(0.0, 1.0, nothing)
    if weight is None or weight.min() == weight.max():
        values = np.sort(values.astype(np.float64))
        weight = ends = None
    else:
        order = np.argsort(values, kind="stable")
        values, weight = values[order].astype(np.float64), times(weight[order])
        ends = np.cumsum(weight)
    mean = float(np.average(values, weights=weight))
    sd = float(np.sqrt(np.average((values - mean) ** 2, weights=weight)))
    rounding = 10 * np.finfo(np.float64).eps
    found = [(knots(values, most, ends), knots(values, of_pairs, ends)) for most, of_pairs in settings]
    if len(found[0][0]) < 2 or sd <= rounding * abs(mean) or sd < 1 / LARGEST:
        return Numbers(mean, 1.0, nothing)
    return Numbers(mean, sd, found)


def knots(values: NDArray, most: int, ends: NDArray | None = None) -> NDArray:
    """Return rising knots: distinct values, or quantiles.

    `ends` are the sums of the weights of all values up to each one.  If several quantiles are equal, they become one knot, and
    the others are quantiles of the remaining values.
    """
    distinct = values[np.concatenate([[True], values[1:] > values[:-1]])]
    if len(distinct) <= most:
        return separated(distinct)
    found = quantiles(values, most, ends)
    equal = found[1:] == found[:-1]
    if equal.any():
        heavy = np.unique(found[1:][equal])
        light = ~np.isin(values, heavy)
        ends = None if ends is None else np.cumsum(np.diff(ends, prepend=0)[light])
        found = np.unique(np.concatenate([heavy, quantiles(values[light], most - len(heavy), ends)]))
    found = separated(found)
    return found if len(found) > 1 else separated(distinct[[0, -1]])


def quantiles(values: NDArray, n: int, ends: NDArray | None = None) -> NDArray:
    """Return n interpolated quantiles from .01 to .99."""
    return interpolated(values, shares_of(n), ends)


@cache
def shares_of(n: int) -> NDArray:
    """Return n evenly spaced shares from .01 to .99, or the middle."""
    return np.linspace(0.01, 0.99, n) if n > 1 else np.full(n, 0.5)


def interpolated(values: NDArray, shares: NDArray, ends: NDArray | None) -> NDArray:
    """Return quantiles of rising values, which occur as often as `ends` rises, once by default."""
    last = len(values) - 1
    at = shares * (last if ends is None else ends[-1] - 1)
    below = np.floor(at)
    places = [below, below + 1] if ends is None else [np.searchsorted(ends, below + one, side="right") for one in (0, 1)]
    lower, upper = (np.minimum(place, last).astype(np.intp) for place in places)
    return values[lower] + (at - below) * (values[upper] - values[lower])


def times(weight: NDArray) -> NDArray:
    """Return how often values of positive weights count: the least once, or next to never if others weigh far more."""
    with np.errstate(over="ignore"):
        found = weight / weight.min()
        whole = found.sum() < MOST_TIMES
    return found if whole else weight / weight.max() * (MOST_TIMES / len(weight))


def separated(rising: NDArray) -> NDArray:
    """Drop knots too near to the one before; their differences must have finite inverses."""
    least = max(1e-290, 1e-10 * (rising[-1] - rising[0]))
    if (rising[1:] - rising[:-1] >= least).all():
        return rising
    kept = [rising[0]]
    for knot in rising[1:]:
        if knot - kept[-1] >= least:
            kept.append(knot)
    return np.array(kept)


def evenly(n: int, most: int) -> NDArray:
    """Return evenly spaced row numbers, at most so many."""
    return np.arange(n) if n <= most else np.arange(most) * n // most
