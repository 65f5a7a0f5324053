"""The pairs of columns that have products: all, or those that explain most of what single columns leave (Lou et al. 2013)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_consistent_length

from sklearn_predtron.features._grid import drops, subtract_additive
from sklearn_predtron.features._knots import evenly

MOST_ROWS = 20_000
LEAST_ROWS = 1_000
MOST_TARGETS = 32
MOST_COLUMNS = 500  # that are tried with each other
MOST_LOOKS = 5 * 10**7  # at a row and a target for a pair: about an eighth of a second
BINS = 8
RIDGE = 1.0  # rows in a bin
SWEEPS, LEAST_GAIN = 20, 1e-3  # of the additive fit, which ends when a sweep explains less than that share


def targets_of(y: Any, n: int) -> NDArray | None:
    """Return targets as columns of numbers; None without targets."""
    if y is None:
        return None
    y = y.toarray() if sparse.issparse(y) else np.asarray(y)
    check_consistent_length(y, np.empty(n))
    if y.ndim not in (1, 2):
        raise ValueError(f"y has {y.ndim} dimensions; accepted are labels or numbers of shape (n,), or numbers of shape (n, m).")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    of_numbers = y.dtype.kind in "iuf" or (y.dtype.kind in "bO" and y.ndim == 2)
    if of_numbers:
        y = y.astype(np.float64)
        if not np.isfinite(y).all():
            raise ValueError("y holds NaN or infinite values; accepted are labels and finite numbers.")
    if y.ndim == 1:
        labels, inverse, counts = np.unique(y if of_numbers else y.astype(str), return_inverse=True, return_counts=True)
        if not of_numbers or len(labels) <= MOST_TARGETS:
            most = np.argsort(-counts, kind="stable")[: 1 if len(labels) == 2 else MOST_TARGETS]
            return (inverse[:, None] == np.sort(most)).astype(np.float64)
    return standardised(y.reshape(n, -1))


def standardised(Y: NDArray) -> NDArray:
    """Return some standardised columns that vary."""
    largest = np.abs(Y).max(axis=0, initial=0)
    Y = Y / np.where(largest > 0, largest, 1)
    Y = Y - Y.mean(axis=0)
    deviation = Y.std(axis=0)
    varies = np.flatnonzero(deviation > 1e-12)[:MOST_TARGETS]
    return Y[:, varies] / deviation[varies]


def ranked_pairs(table: NDArray, columns: NDArray, of_numbers: NDArray, Y: NDArray | None, most: int) -> NDArray:
    """Return at most so many pairs of some columns of a table, those that explain most first.

    `of_numbers` says of all columns which hold numbers, the others hold the numbers of categories.  A pair is ranked by what its
    grid of bins explains of the residuals of an additive fit of the targets on the same bins: no curve of one column, whatever
    its form, is left for a pair.  Without targets those pairs come first whose columns are nearest to each other.
    """
    n_pairs = len(columns) * (len(columns) - 1) // 2
    if most == 0 or n_pairs == 0:
        return np.zeros((0, 2), dtype=np.intp)
    if n_pairs == 1:
        return columns[None, :]
    if Y is None or Y.shape[1] == 0:
        return neighbours(columns, most)
    considered = min(n_pairs, MOST_COLUMNS * (MOST_COLUMNS - 1) // 2)
    rows = evenly(len(table), max(LEAST_ROWS, min(MOST_ROWS, MOST_LOOKS // (considered * Y.shape[1]))))
    bins = np.stack([binned(table[rows, j], bool(of_numbers[j])) for j in columns])
    left = np.ascontiguousarray((Y[rows] - Y[rows].mean(axis=0)).T)
    for target in left:
        subtract_additive(target, bins, RIDGE, SWEEPS, LEAST_GAIN)
    tried = best_columns(bins, np.ascontiguousarray((Y[rows] - Y[rows].mean(axis=0)).T))
    candidates = np.array(list(combinations(tried, 2)), dtype=np.intp)
    best = np.argsort(-drops(bins, left, candidates), kind="stable")[:most]
    return columns[candidates[best]]


def best_columns(bins: NDArray, targets: NDArray) -> list[int]:
    """Return the columns that are tried with each other: those that explain most by themselves, where there are too many."""
    if len(bins) <= MOST_COLUMNS:
        return list(range(len(bins)))
    alone = drops(bins, targets, np.repeat(np.arange(len(bins)), 2).reshape(-1, 2))
    return np.sort(np.argsort(-alone, kind="stable")[:MOST_COLUMNS]).tolist()


def neighbours(columns: NDArray, most: int) -> NDArray:
    """Return the pairs of columns that are nearest to each other, the nearest first, so that each column is in about as many."""
    found: list[tuple[int, int]] = []
    for distance in range(1, len(columns)):
        found += zip(columns[:-distance].tolist(), columns[distance:].tolist(), strict=True)
        if len(found) >= most:
            break
    return np.array(found[:most], dtype=np.intp)


def binned(values: NDArray, of_numbers: bool) -> NDArray:
    """Return the bin of each number, or the frequent category."""
    there = ~np.isnan(values) & (of_numbers | (values >= 0))
    if of_numbers and there.any():
        edges = np.quantile(values[there].astype(np.float64), np.arange(1, BINS) / BINS)
        found = np.searchsorted(edges, values, side="right")
    else:
        found = np.where(there, np.minimum(values, BINS - 1), 0)
    return np.where(there, found, BINS).astype(np.uint8)
