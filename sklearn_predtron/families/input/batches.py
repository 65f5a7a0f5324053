"""Batches of rows that come without groups."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from sklearn_predtron._core.problem import Labels
from sklearn_predtron._core.rows import QueryRows
from sklearn_predtron._core.state import accept, count, nothing
from sklearn_predtron._support.queries import GROUPS, mean_weights
from sklearn_predtron._support.warning import warn
from sklearn_predtron.families.input.reading import (
    Batch,
    BlockReader,
    LabelsOf,
    ResamplingUnits,
    RowReader,
    TrainingInput,
    len_of,
    refuse_unknown,
)
from sklearn_predtron.problems._label_sets import IndicatorBlocks


class BatchReader(BlockReader):
    """Reads rows of two classes as groups or batches.

    The positive rows and all rows are counted.

    Parameters
    ----------
    name : str
        The estimator's name in errors.
    size : int
        Rows of a batch.
    in_blocks : callable
        Returns the labels of blocks, given the codes of rows, block by block, and the first row of each block.
    least : int, default=1
        Rows that a batch must have.
    """

    misses_ids = False
    no_comparator_because = "No bound against given weights is known for batches, which differ from epoch to epoch; pass margin."

    def __init__(self, name: str, size: int, in_blocks: Callable[[NDArray, NDArray], Labels], least: int = 1):
        super().__init__(name, GROUPS, in_blocks)
        self.size, self.least = size, least

    def saved_metadata(self, value: Any) -> Any:
        """Return the saved metadata: the numbers of positive rows and of all rows; raise ValueError for other values."""
        return accept(value, (count, count)) if value else nothing(value or None)

    def read(
        self,
        X: Any,
        y: Any,
        labels_of: LabelsOf,
        known: Any,
        *,
        partial: bool,
        classes: Any = None,
        sample_weight: Any = None,
        **ids: Any,
    ) -> TrainingInput:
        """Return the input of a training call; Rows are in groups, or are cut into batches."""
        refuse_unknown(ids, self.ids)
        groups = ids.get("groups")
        if groups is None:
            reading = RowReader.read(self, X, y, labels_of, known, partial=partial, classes=classes, sample_weight=sample_weight)
            batch, codes = reading.batch, reading.batch.labels.array
            start = (full_batches if partial else equal_batches)(len(codes), self.size)
            batch = batch._replace(labels=self.in_blocks(codes, start))
            column = codes if batch.order is None else codes[batch.order]
        else:

            def codes_of(*given: Any, **how: Any) -> tuple[Any, NDArray]:
                codec, labels = labels_of(*given, **how)
                return codec, labels.array

            reading = self.gathered(X, y, codes_of, known, groups, sample_weight, partial=partial, classes=classes)[1]
            batch, column = reading.batch, column_of(reading.batch.labels)
        before = known.call_metadata if partial and known is not None and known.call_metadata else (0, 0)
        call_metadata = before[0] + int(column.sum()), before[1] + len(column)
        return reading._replace(batch=batch, call_metadata=call_metadata)

    def warn_of_rounds(self, reading: TrainingInput) -> None:
        """Warn if positive rows are missing too often; most of the groups or batches have none."""
        batch = reading.batch
        if isinstance(batch.rows, QueryRows):
            warn_of_groups_without(column_of(batch.labels), batch.labels.starts)
        else:
            n_positive, n = reading.call_metadata
            warn_of_few_positives(n_positive, n, self.size)

    def split_ids(self, X: Any, ids: Any) -> tuple[Any, Any]:
        """Return X and the groups; X has no column of groups."""
        return X, ids

    def split_ids_or_warn(self, X: Any, ids: Any) -> tuple[Any, Any]:
        """Return X and the groups, without a warning; without groups all rows are one group."""
        return X, ids

    def labels_of_blocks(self, y: Any, blocks: Any, model: Any) -> Any:
        """Return the true labels of blocks."""
        codes = model.labels.encode(y).array
        return self.in_blocks(blocks.take(codes), blocks.start)

    def warmup_mask(self, X: Any, given: dict[str, Any], n: int) -> NDArray | None:
        """Return the rows of the first groups.

        Without groups these are all rows, because a call is cut into batches as a whole.
        """
        return np.ones(len_of(X), dtype=bool) if given.get("groups") is None else super().warmup_mask(X, given, n)

    def rounds(self, batch: Batch) -> Batch | None:
        """Return the rounds of a stream; they are groups, or full batches and a shorter last one; None if there are none."""
        if isinstance(batch.rows, QueryRows):
            return batch
        if batch.order is not None and len(batch.order) == 0:
            return None
        return in_batches(batch, batch.order, batch.weight, self.size, full_batches)

    def units(self, batch: Batch, codec: Any) -> ResamplingUnits:
        """Return the units to hold out: groups or rows."""
        column, rows = column_of(batch.labels), batch.rows
        if not isinstance(rows, QueryRows):
            numbers = np.arange(rows.n) if batch.order is None else batch.order

            def labels_of(units: NDArray) -> NDArray:
                return column[units].astype(np.intc)[:, None]

            return ResamplingUnits(
                numbers, column[numbers].astype(np.intp), ceil(len(numbers) / self.size), numbers, 1, labels_of
            )
        return super().units(batch, codec)

    def labels_of_units(self, labels: Any, start: NDArray, units: NDArray) -> NDArray:
        """Return whether the rows of some groups are positive."""
        column = column_of(labels)
        return np.concatenate([column[start[unit] : start[unit + 1]] for unit in units]).astype(np.intc)[:, None]

    def has_enough_rows(self, n: int, batch: Batch) -> bool:
        """Return whether batches of n rows are long enough; groups may have any size."""
        return isinstance(batch.rows, QueryRows) or (n > 0 and np.diff(equal_batches(n, self.size)).min() >= self.least)

    def epochs(self, epochs: Any, *, whole: bool) -> Any:
        """Return epochs whose drawn rows are cut into batches."""
        return BatchEpochs(epochs, self.size, whole=whole)

    def short(self, codec: Any) -> None:
        """Return None, because batches have no fast path; a call is a batch."""


class BatchEpochs:
    """Cuts the rows of each epoch into batches.

    Parameters
    ----------
    epochs : Epochs
        Draws the rows.
    size : int
        Rows of a batch.
    whole : bool
        Whether later epochs keep the batches of the first one, as kernels require.
    """

    def __init__(self, epochs: Any, size: int, *, whole: bool):
        self.epochs, self.size, self.whole = epochs, size, whole
        self.rows = epochs.rows
        self.first: Batch | None = None

    def draw(self, **how: Any) -> tuple[Batch, dict[str, Any]]:
        """Return the next epoch's batches and the learner's arguments."""
        batch, drawn = self.epochs.draw(**how)
        if isinstance(batch.rows, QueryRows):
            return batch, drawn
        order, usual, rounds = drawn["order"], drawn.get("usual", 1.0), self.first
        if rounds is None:
            rounds = in_batches(batch, order, drawn.get("weight"), self.size, equal_batches)
            if self.whole:
                self.first = rounds
            return rounds, {"usual": usual, "weight": rounds.weight, "counted_first": np.arange(rounds.rows.n)}
        numbers = None if order is None else order[order < rounds.rows.n]  # a permutation of rows gives one of batches
        several = numbers is None or len(np.unique(numbers)) < rounds.rows.n
        ahead = np.arange(rounds.rows.n) if several else numbers
        return rounds, {"order": None if several else numbers, "usual": usual, "weight": rounds.weight, "counted_first": ahead}


def equal_batches(n: int, size: int) -> NDArray:
    """Return the first rows of equal batches.

    The last number is n.  The batches are as few as possible, and of nearly equal sizes.
    """
    return np.linspace(0, n, ceil(n / size) + 1).astype(np.intp)


def full_batches(n: int, size: int) -> NDArray:
    """Return the first rows of full batches; they have `size` rows, and the last one may be shorter."""
    return np.append(np.arange(0, n, size), n).astype(np.intp)


def column_of(labels: Labels) -> NDArray:
    """Return the indicators of positive rows, block by block."""
    return labels.column if isinstance(labels, IndicatorBlocks) else labels.relevances


def counts_of_batches(predicted: NDArray, y: NDArray, start: NDArray) -> NDArray:
    """Return the counts of each batch (4, n); they are true and false positives, and false and true negatives."""
    parts = [predicted & y, predicted & (1 - y), (1 - predicted) & y, (1 - predicted) & (1 - y)]
    return np.add.reduceat(parts, start[:-1], axis=1)


def losses_of_batches(loss: Any, predicted: NDArray, y: NDArray, start: NDArray) -> NDArray:
    """Return the loss of each batch, computed from its counts."""
    return loss.evaluate(*counts_of_batches(predicted, y, start))


def chances_at_k(scores: NDArray, predicted: NDArray, start: NDArray) -> NDArray:
    """Return each row's probability of being predicted positive; Rows with equal scores in a batch are in random order."""
    sizes = np.diff(start)
    lowest = np.minimum.reduceat(np.where(predicted == 1, scores, np.inf), start[:-1])
    tied = (scores == np.repeat(lowest, sizes)).astype(np.intp)
    size, drawn = (np.add.reduceat(rows, start[:-1]) for rows in (tied, tied & predicted))
    return np.where(tied == 1, np.repeat(drawn / np.maximum(size, 1), sizes), predicted)


def expected_losses_at_k(loss: Any, scores: NDArray, predicted: NDArray, y: NDArray, start: NDArray) -> NDArray:
    """Return each batch's expected loss at k.

    Rows with equal scores are in random order.

    Some rows with the lowest predicted score may be predicted and others not.  The number of positive rows among the predicted
    ones is hypergeometric.
    """
    a, b, c, d = counts_of_batches(predicted, y, start)
    lowest = np.minimum.reduceat(np.where(predicted == 1, scores, np.inf), start[:-1])
    tied = (scores == np.repeat(lowest, np.diff(start))).astype(np.intp)
    size, true, drawn, hits = (np.add.reduceat(tied & rows, start[:-1]) for rows in (tied, y, predicted, predicted & y))
    losses, weight = np.zeros(len(a)), np.zeros(len(a))
    for found in range(int(np.minimum(true, drawn).max()) + 1):
        probability = hypergeom.pmf(found, size, true, drawn)
        more = np.where(probability > 0, found - hits, 0)
        losses += probability * loss.evaluate(a + more, b - more, c - more, d + more)
        weight += probability
    return losses / weight


def in_batches(
    batch: Batch, order: NDArray | None, weight: NDArray | None, size: int, start_of: Callable[[int, int], NDArray]
) -> Batch:
    """Return the rows as rounds of several rows.

    They stay in this order; the weight of a round is the mean weight of its rows.
    """
    n, X, column, rows = batch.rows.n, batch.X, column_of(batch.labels), batch.rows
    if order is not None:
        X, column = X[order], column[order]
        rows, weight = rows.another(X), None if weight is None else weight[order]
    start = start_of(rows.n, size)
    means = None if weight is None else mean_weights(weight, start)
    kind: Any = type(batch.labels)
    return Batch(batch.X, QueryRows(rows, start, order, n), kind(column, start), means, None)


def warn_of_few_positives(n_positive: int, n: int, size: int) -> None:
    """Warn of shuffled batches without positive rows; many of the batches of `size` rows have none."""
    if size < n and size * n_positive < 5 * n:
        without = 100 * (1 - n_positive / n) ** size
        warn(
            f"y has {n_positive} positive rows among {n}: of the batches of {size} rows {without:.0f} % have none, and bias "
            f"the model towards negative predictions; batch_size={ceil(5 * n / n_positive)} has about five in each."
        )


def warn_of_groups_without(column: NDArray, start: NDArray) -> None:
    """Warn that most groups have no positive row."""
    without = np.mean(np.add.reduceat(column, start[:-1]) == 0)
    if without > 0.5:
        warn(f"groups: {100 * without:.0f} % of them have no positive row, and bias the model towards negative predictions.")
