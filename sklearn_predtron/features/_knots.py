"""Statistics of a numeric column: mean, deviation and knots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_ROWS = 100_000  # that are used, evenly spaced
LARGEST = 1e150  # of a value: its square and the inverse of a distance are floating-point numbers


class Numbers(NamedTuple):
    """Statistics of a column, and its knots, of itself and of its pairs, by each setting; without knots it is constant."""

    mean: float
    sd: float
    knots: list[tuple[NDArray, NDArray]]


def described(values: NDArray, settings: Sequence[tuple[int, int]]) -> Numbers:
    """Describe the values of a column that are not missing, with at most so many knots of itself and of its pairs."""
    nothing = [(np.zeros(0), np.zeros(0))] * len(settings)
    values = np.sort(values.astype(np.float64))
    if len(values) == 0:
        return Numbers(0.0, 1.0, nothing)
    mean = float(values.mean())
    sd = float(np.sqrt(np.mean((values - mean) ** 2)))
    rounding = 10 * np.finfo(np.float64).eps
    found = [(knots(values, most), knots(values, of_pairs)) for most, of_pairs in settings]
    if len(found[0][0]) < 2 or sd <= rounding * abs(mean) or sd < 1 / LARGEST:
        return Numbers(mean, 1.0, nothing)
    return Numbers(mean, sd, found)


def knots(values: NDArray, most: int) -> NDArray:
    """Return rising knots: distinct values, or quantiles.

    If several quantiles are equal, they become one knot, and the others are quantiles of the remaining values.
    """
    distinct = values[np.concatenate([[True], values[1:] > values[:-1]])]
    if len(distinct) <= most:
        return separated(distinct)
    found = quantiles(values, most)
    heavy = np.unique(found[1:][found[1:] == found[:-1]])
    if len(heavy):
        others = values[~np.isin(values, heavy)]
        found = np.unique(np.concatenate([heavy, quantiles(others, most - len(heavy))]))
    found = separated(found)
    return found if len(found) > 1 else separated(distinct[[0, -1]])


def quantiles(values: NDArray, n: int) -> NDArray:
    """Return n interpolated quantiles from .01 to .99."""
    at = (np.linspace(0.01, 0.99, n) if n > 1 else np.full(n, 0.5)) * (len(values) - 1)
    lower = np.floor(at).astype(np.intp)
    upper = np.minimum(lower + 1, len(values) - 1)
    return values[lower] + (at - lower) * (values[upper] - values[lower])


def separated(rising: NDArray) -> NDArray:
    """Drop knots too near to the one before.

    Their differences must have finite inverses.
    """
    least = max(1e-290, 1e-10 * (rising[-1] - rising[0]))
    kept = [rising[0]]
    for knot in rising[1:]:
        if knot - kept[-1] >= least:
            kept.append(knot)
    return np.array(kept)


def evenly(n: int, most: int) -> NDArray:
    """Return evenly spaced row numbers, at most so many."""
    return np.arange(n) if n <= most else np.arange(most) * n // most
