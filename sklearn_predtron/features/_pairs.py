"""The choice of the pairs of columns that have products.

These are all pairs, or those that explain most of the residuals of a linear fit.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_consistent_length

from sklearn_predtron.features._grid import drops, subtract_fit
from sklearn_predtron.features._knots import evenly

MOST_ROWS = 20_000
LEAST_ROWS = 1_000
MOST_TARGETS = 32
MOST_COLUMNS = 500  # that are tried with each other
MOST_LOOKS = 5 * 10**7  # at a row and a target for a pair: about an eighth of a second
BINS = 8
RIDGE = 1e-3  # a row
SWEEPS = 20


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


def chosen_pairs(table: NDArray, columns: NDArray, of_numbers: NDArray, scaled: Any, Y: NDArray | None, most: int) -> NDArray:
    """Return the best pairs of columns, in rising order.

    `of_numbers` says of all columns which hold numbers, the others hold the numbers of categories; `scaled` standardises the
    numbers of a column.  Without targets those pairs are taken whose columns are nearest to each other.
    """
    n_pairs = len(columns) * (len(columns) - 1) // 2
    if most == 0 or n_pairs == 0:
        return np.zeros((0, 2), dtype=np.intp)
    if n_pairs <= most:
        return np.array(list(combinations(columns.tolist(), 2)), dtype=np.intp)
    if Y is None or Y.shape[1] == 0:
        return neighbours(columns, most)
    considered = min(n_pairs, MOST_COLUMNS * (MOST_COLUMNS - 1) // 2)
    rows = evenly(len(table), max(LEAST_ROWS, min(MOST_ROWS, MOST_LOOKS // (considered * Y.shape[1]))))
    bins = np.stack([binned(table[rows, j], bool(of_numbers[j])) for j in columns])
    main = [part for k, j in enumerate(columns) for part in main_effects(table[rows, j], bins[k], scaled, j, bool(of_numbers[j]))]
    left = np.ascontiguousarray((Y[rows] - Y[rows].mean(axis=0)).T)
    fitted = np.ascontiguousarray(np.stack(main))
    for target in left:
        subtract_fit(target, fitted, RIDGE * len(rows), SWEEPS)
    tried = best_columns(bins, left)
    candidates = np.array(list(combinations(tried, 2)), dtype=np.intp)
    best = np.argsort(-drops(bins, left, candidates), kind="stable")[:most]
    return columns[candidates[np.sort(best)]]


def best_columns(bins: NDArray, left: NDArray) -> list[int]:
    """Return the columns that explain most by themselves."""
    if len(bins) <= MOST_COLUMNS:
        return list(range(len(bins)))
    alone = drops(bins, left, np.repeat(np.arange(len(bins)), 2).reshape(-1, 2))
    return np.sort(np.argsort(-alone, kind="stable")[:MOST_COLUMNS]).tolist()


def neighbours(columns: NDArray, most: int) -> NDArray:
    """Return neighbouring pairs, about equally many per column."""
    found: list[tuple[int, int]] = []
    for distance in range(1, len(columns)):
        found += zip(columns[:-distance].tolist(), columns[distance:].tolist(), strict=True)
        if len(found) >= most:
            break
    return np.array(sorted(found[:most]), dtype=np.intp)


def binned(values: NDArray, of_numbers: bool) -> NDArray:
    """Return the bin of each number, or the frequent category."""
    there = ~np.isnan(values) & (of_numbers | (values >= 0))
    if of_numbers and there.any():
        edges = np.quantile(values[there].astype(np.float64), np.arange(1, BINS) / BINS)
        found = np.searchsorted(edges, values, side="right")
    else:
        found = np.where(there, np.minimum(values, BINS - 1), 0)
    return np.where(there, found, BINS).astype(np.uint8)


def main_effects(values: NDArray, bins: NDArray, scaled: Any, j: int, of_numbers: bool) -> list[NDArray]:
    """Return a column's linear features: number or indicators."""
    parts = [np.nan_to_num(scaled(values, j))] if of_numbers else [(bins == b).astype(np.float64) for b in range(BINS)]
    return [part - part.mean() for part in parts]
