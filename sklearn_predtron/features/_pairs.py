"""The pairs of columns that have products.

These are all pairs, or those that explain most of the residuals of single columns (Lou et al. 2013).
"""

from __future__ import annotations

from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_consistent_length

from sklearn_predtron.features._grid import drops, subtract_additive
from sklearn_predtron.features._knots import evenly, interpolated, times

MOST_ROWS = 20_000
LEAST_ROWS = 1_000
MOST_TARGETS = 32
MOST_COLUMNS, LEAST_COLUMNS = 500, 30  # that are tried with each other, at most and where looks are few
MOST_LOOKS = 2 * 10**7  # at a row and a target for a pair: about a twentieth of a second
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
    return y.reshape(n, -1)


def standardised(Y: NDArray, weight: NDArray) -> NDArray:
    """Return some standardised columns that vary."""
    largest = np.abs(Y).max(axis=0, initial=0)
    Y = Y / np.where(largest > 0, largest, 1)
    Y = Y - np.average(Y, axis=0, weights=weight)
    deviation = np.sqrt(np.average(Y**2, axis=0, weights=weight))
    varies = np.flatnonzero(deviation > 1e-12)[:MOST_TARGETS]
    return Y[:, varies] / deviation[varies]


class PairRanking:
    """The pairs of columns in the order of their explained sums of squares.

    A pair is ranked by the sum of squares that its grid of bins explains in the residuals of an additive fit of the targets on
    the same bins.  No curve of one column, whatever its form, is left for a pair.

    Parameters
    ----------
    table : ndarray of shape (n, p)
        The table as numbers, NaN where they are missing.
    columns : ndarray of shape (m,)
        The columns that may have pairs.
    of_numbers : ndarray of shape (p,)
        Whether a column holds numbers; the others hold the numbers of categories.
    Y : ndarray of shape (n, m) or None
        Targets; without any, those pairs come first whose columns are nearest to each other.
    weight : ndarray of shape (n,) or None
        How often each row counts.
    monotone : ndarray of shape (p,) or None
        Columns that have no pairs with each other.
    """

    def __init__(
        self,
        table: NDArray,
        columns: NDArray,
        of_numbers: NDArray,
        Y: NDArray | None,
        weight: NDArray | None = None,
        monotone: NDArray | None = None,
    ):
        if weight is not None:
            weight = None if weight.min() == weight.max() else times_or_never(weight)
        self.table, self.columns, self.of_numbers, self.Y, self.weight = table, columns, of_numbers, Y, weight
        self.monotone = np.zeros(table.shape[1], dtype=bool) if monotone is None else monotone
        n, n_monotone = len(columns), int(np.count_nonzero(self.monotone[columns]))
        self.n_without = n_monotone * (n_monotone - 1) // 2
        self.n_pairs = n * (n - 1) // 2 - self.n_without
        there = np.arange(len(table)) if weight is None else np.flatnonzero(weight)
        self.rows = there[evenly(len(there), MOST_ROWS)]  # that the bins are of
        self.known: dict[bytes, NDArray] = {}  # the order of the pairs, by the rows

    @cached_property
    def bins(self) -> NDArray:
        """The bins of the rows, of shape (m, number of rows)."""
        weight = None if self.weight is None else self.weight[self.rows]
        table = self.table[self.rows]
        return np.stack([binned(table[:, j], bool(self.of_numbers[j]), weight) for j in self.columns])

    def best(self, most: int, among: NDArray | None = None) -> NDArray:
        """Return at most so many pairs, the best first.

        They are ranked by the targets of the rows `among` alone; by default by those of all rows.
        """
        if most >= self.n_pairs or self.n_pairs == 0:
            pairs = np.array(list(combinations(range(len(self.columns)), 2)), dtype=np.intp).reshape(-1, 2)
            return self.allowed(self.columns[pairs])
        if self.Y is None or most == 0:
            return self.neighbours(most)
        chosen = np.ones(len(self.table), dtype=bool)
        if among is not None:
            chosen[:] = False
            chosen[among] = True
        key = np.packbits(chosen).tobytes()
        if key not in self.known:
            self.known[key] = self.order_by(np.flatnonzero(chosen[self.rows]))
        return self.known[key][:most]

    def order_by(self, places: NDArray) -> NDArray:
        """Return the pairs in order, by the rows at some places of `rows`."""
        assert self.Y is not None
        considered = min(self.n_pairs, MOST_COLUMNS * (MOST_COLUMNS - 1) // 2)
        places = places[evenly(len(places), max(LEAST_ROWS, MOST_LOOKS // (considered * min(self.Y.shape[1], MOST_TARGETS))))]
        rows = self.rows[places]
        weight = np.ones(len(rows)) if self.weight is None else self.weight[rows]
        bins = np.ascontiguousarray(self.bins[:, places])
        targets = np.ascontiguousarray(standardised(self.Y[rows], weight).T)
        if len(targets) == 0:
            return self.neighbours(self.n_pairs)
        left = targets.copy()
        for target in left:
            subtract_additive(target, bins, weight, RIDGE, SWEEPS, LEAST_GAIN)
        tried = best_columns(bins, targets, weight, MOST_LOOKS // (len(rows) * len(targets)))
        pairs = np.array(list(combinations(tried, 2)), dtype=np.intp)
        return self.allowed(self.columns[pairs[np.argsort(-drops(bins, left, weight, pairs), kind="stable")]])

    def neighbours(self, most: int) -> NDArray:
        """Return at most so many pairs of columns that are nearest to each other."""
        return self.allowed(neighbours(self.columns, most + self.n_without))[:most]

    def allowed(self, pairs: NDArray) -> NDArray:
        """Return the pairs without those of two monotone columns."""
        return pairs[~self.monotone[pairs].all(axis=1)]


def times_or_never(weight: NDArray) -> NDArray:
    """Return how often rows count, never if their weight is zero."""
    found = np.zeros(len(weight))
    found[weight > 0] = times(weight[weight > 0])
    return found


def best_columns(bins: NDArray, targets: NDArray, weight: NDArray, n_pairs: int) -> list[int]:
    """Return the columns that are tried with each other: those that explain most by themselves, if there are more pairs."""
    most = min(MOST_COLUMNS, max(LEAST_COLUMNS, int(np.sqrt(2 * n_pairs))))
    if len(bins) <= most:
        return list(range(len(bins)))
    alone = drops(bins, targets, weight, np.repeat(np.arange(len(bins)), 2).reshape(-1, 2))
    return np.sort(np.argsort(-alone, kind="stable")[:most]).tolist()


def neighbours(columns: NDArray, most: int) -> NDArray:
    """Return the pairs of columns that are nearest to each other.

    The nearest come first, so that each column is in about as many pairs.
    """
    found: list[tuple[int, int]] = []
    for distance in range(1, len(columns)):
        found += zip(columns[:-distance].tolist(), columns[distance:].tolist(), strict=True)
        if len(found) >= most:
            break
    return np.array(found[:most], dtype=np.intp).reshape(-1, 2)


def binned(values: NDArray, of_numbers: bool, weight: NDArray | None) -> NDArray:
    """Return the bin of each number, or the frequent category."""
    there = ~np.isnan(values) & (of_numbers | (values >= 0))
    if of_numbers and there.any():
        order = np.flatnonzero(there)[np.argsort(values[there], kind="stable")]
        ends = None if weight is None else np.cumsum(times(weight[order]))
        edges = interpolated(values[order].astype(np.float64), np.arange(1, BINS) / BINS, ends)
        found = np.searchsorted(edges, values, side="right")
    else:
        found = np.where(there, np.minimum(values, BINS - 1), 0)
    return np.where(there, found, BINS).astype(np.uint8)
