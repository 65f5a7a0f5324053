"""Chunks of parsed rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron.datasets._blocks import Block
from sklearn_predtron.datasets._broken_lines import LineRules
from sklearn_predtron.datasets._svmlight import MOST_FEATURES, PADDING, LineParser


@dataclass(frozen=True)
class RowLabels:
    """The labels of rows; without `start` one per row."""

    values: NDArray[np.float64]
    start: NDArray[np.intp] | None = None

    def indicators(self, classes: NDArray) -> Any:
        """Return indicators with a column per sorted class."""
        from scipy import sparse  # rows without labels do without SciPy

        start = np.arange(len(self.values) + 1) if self.start is None else self.start
        ones, shape = np.ones(len(self.values), dtype=np.int64), (len(start) - 1, len(classes))
        matrix = sparse.csr_matrix((ones, np.searchsorted(classes, self.values), start), shape=shape)
        # A label that a line names twice is in its set.
        matrix.sum_duplicates()
        matrix.data[:] = 1
        return matrix


@dataclass(frozen=True)
class Chunk:
    """Rows with labels and ids, and the next unreadable line; the rows are the arrays of a CSR matrix and its shape."""

    arrays: tuple[NDArray, NDArray, NDArray]
    shape: tuple[int, int]
    labels: RowLabels
    qid: NDArray[np.int64] | None
    first: int
    error: tuple[int, str] | None

    @cached_property
    def X(self) -> Any:
        """The rows as a CSR matrix, always the same one."""
        from scipy import sparse  # predictors take the arrays, without SciPy

        return sparse.csr_matrix(self.arrays, shape=self.shape)


def whole_before(qid: NDArray, good: int) -> int:
    """Return the rows in whole queries before an error."""
    others = np.flatnonzero(qid[:good] != qid[good])
    return int(others[-1]) + 1 if len(others) else 0


class RowParser:
    """Parser of blocks, with the settings of a pass."""

    def __init__(self, rules: LineRules):
        self._rules = rules
        self._parser = LineParser(
            rules.n_features,
            rules.zero_based,
            rules.classes,
            multilabel=rules.multilabel,
            relevance=rules.relevance,
            dtype=rules.dtype,
        )

    def parse(self, block: Block) -> Chunk:
        """Return the rows before the first unreadable line; with ids, only whole queries are returned."""
        data, indices, indptr, width, labels, label_end, good, done = self._parser.parse(block.text)
        error = block.error
        if done < len(block.text) - PADDING:
            line = block.text[done:-PADDING].partition(b"\n")[0]
            number = block.first + good if block.line_numbers is None else int(block.line_numbers[good])
            error = number, self._rules.explain(line)
        n, qid = len(indptr) - 1, block.qid
        if qid is not None:
            n = block.whole if good == len(qid) else whole_before(qid, good)
            indptr, labels, qid = indptr[: n + 1], labels[:n], qid[:n]
            data, indices = data[: indptr[n]], indices[: indptr[n]]
        if indptr[n] <= MOST_FEATURES:  # not all learners take indices of 64 bits
            indptr = indptr.astype(np.int32)
        start = None if label_end is None else np.concatenate([[0], label_end])
        shape = n, self._rules.n_features or width
        return Chunk((data, indices, indptr), shape, RowLabels(labels, start), qid, block.first, error)
