"""Curves that the displays draw, from losses, scores and margins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def mean(losses: NDArray, weight: NDArray) -> float:
    """Return the weighted mean, or nan if there is no weight."""
    return float(np.average(losses, weights=weight)) if weight.any() else float("nan")


def leads(scores: NDArray, codes: NDArray) -> NDArray:
    """Return the correct score minus the best other one."""
    rows = np.arange(len(scores))
    others = scores.copy()
    others[rows, codes] = -np.inf
    return scores[rows, codes] - others.max(axis=1)


def edges_through_zero(values: NDArray, most: int = 100) -> NDArray:
    """Return equal-width bin edges, one of them at 0.

    The width is that of Freedman and Diaconis (1981), or of Sturges (1926) if that is less.
    """
    n, span = len(values), float(np.ptp(values))
    width = span / (np.log2(n) + 1)
    narrow = 2 * np.subtract(*np.percentile(values, [75, 25])) / np.cbrt(n)
    width = max(min(width, narrow) if narrow > 0 else width, span / most) or 1.0
    first, last = np.floor(values.min() / width), np.floor(values.max() / width) + 1
    edges = width * np.arange(first, last + 1)
    edges[0], edges[-1] = min(edges[0], values.min()), max(edges[-1], values.max())  # rounding loses no value
    return edges
