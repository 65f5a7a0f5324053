"""Batches of rows that come without groups."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.rows import QueryRows
from sklearn_predtron._queries import mean_weights
from sklearn_predtron._warning import warn
from sklearn_predtron.families._validation import Batch, as_rows
from sklearn_predtron.problems._base import Labels
from sklearn_predtron.problems._label_sets import IndicatorBlocks


def equal_batches(n: int, size: int) -> NDArray:
    """Return where batches of n rows begin, and the last one ends: as few as there may be, of nearly equal sizes."""
    return np.linspace(0, n, ceil(n / size) + 1).astype(np.intp)


def full_batches(n: int, size: int) -> NDArray:
    """Return the same of batches of `size` rows and a shorter last one."""
    return np.append(np.arange(0, n, size), n).astype(np.intp)


def column_of(labels: Labels) -> NDArray:
    """Return which rows are positive, block by block."""
    return labels.column if isinstance(labels, IndicatorBlocks) else labels.relevances


def counts_of_batches(predicted: NDArray, y: NDArray, start: NDArray) -> NDArray:
    """Return the counts of each batch, of shape (4, n): true and false positives, false and true negatives."""
    parts = [predicted & y, predicted & (1 - y), (1 - predicted) & y, (1 - predicted) & (1 - y)]
    return np.add.reduceat(parts, start[:-1], axis=1)


def losses_of_batches(loss: Any, predicted: NDArray, y: NDArray, start: NDArray) -> NDArray:
    """Return the loss of each batch, by its counts."""
    return loss.evaluate(*counts_of_batches(predicted, y, start))


def in_batches(
    batch: Batch, order: NDArray | None, weight: NDArray | None, size: int, start_of: Callable[[int, int], NDArray]
) -> Batch:
    """Return the rows, in some order, as rounds of several, which weigh the mean of their rows."""
    n, X, column, rows = batch.rows.n, batch.X, column_of(batch.labels), batch.rows
    if order is not None:
        X, column = X[order], column[order]
        rows, weight = as_rows(X), None if weight is None else weight[order]
    start = start_of(rows.n, size)
    means = None if weight is None else mean_weights(weight, start)
    kind: Any = type(batch.labels)
    return Batch(batch.X, QueryRows(rows, start, order, n), kind(column, start), means, None)


def warn_of_few_positives(n_positive: int, n: int, size: int) -> None:
    """Warn that many of the shuffled batches of `size` rows have no positive one."""
    if size < n and size * n_positive < 5 * n:
        without = 100 * (1 - n_positive / n) ** size
        warn(
            f"y has {n_positive} positive rows among {n}: of the batches of {size} rows {without:.0f} % have none, and teach "
            f"that nobody is positive; batch_size={ceil(5 * n / n_positive)} has about five in each."
        )


def warn_of_groups_without(column: NDArray, start: NDArray) -> None:
    """Warn that most groups have no positive row."""
    without = np.mean(np.add.reduceat(column, start[:-1]) == 0)
    if without > 0.5:
        warn(f"groups: {100 * without:.0f} % of them have no positive row, and teach that nobody is positive.")
