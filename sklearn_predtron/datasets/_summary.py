"""Findings of a pass over an svmlight file."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron.datasets._broken_lines import BrokenLineError
from sklearn_predtron.datasets._rows import Chunk


@dataclass(frozen=True)
class SvmlightSummary:
    """The findings of a first pass over an svmlight file.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_features : int
        Number of features: the largest feature index, counted from 1.
    classes : ndarray of shape (n_classes,)
        The distinct labels of all rows, sorted.
    zero_based : bool
        Whether indices are read as counted from 0; for ``zero_based="auto"``, whether the index 0 occurs.
    error : BrokenLineError or None
        The first line that cannot be read.  The rest of the summary describes the rows that were yielded before it.
    n_queries : int or None, default=None
        Number of queries, with `query_id`; an id that returns after another one is a new query.
    n_sequences : int or None, default=None
        Number of sequences, with `sequence_id`; an id that returns after another one is a new sequence.

    See Also
    --------
    SvmlightReader.scan : Makes it.
    ParquetSummary : The same of Parquet files.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_predtron.datasets import SvmlightSummary
    >>> SvmlightSummary(150, 4, np.array([0.0, 1.0, 2.0]), False, None).n_features
    4
    """

    n_rows: int
    n_features: int
    classes: NDArray
    zero_based: bool
    error: BrokenLineError | None
    n_queries: int | None = None
    n_sequences: int | None = None


class RunningSummary:
    """Running counts of rows, labels and indices.

    Parameters
    ----------
    most_classes : int
        From the chunk on that brings more distinct labels, no more are gathered.
    """

    def __init__(self, most_classes: int):
        self.most_classes = most_classes
        self.n_rows = 0
        self.n_groups = 0  # queries or sequences
        self.lowest = 1
        self.largest = -1
        self.classes: NDArray[np.float64] = np.empty(0)

    def add(self, chunk: Chunk, base: int) -> None:
        """Add a chunk, with indices counted from `base`."""
        self.n_rows += chunk.shape[0]
        self.n_groups += 0 if chunk.qid is None else int(np.count_nonzero(np.diff(chunk.qid))) + (len(chunk.qid) > 0)
        self.lowest = min(self.lowest, int(chunk.X.indices.min(initial=1)) + base)
        self.largest = max(self.largest, int(chunk.X.indices.max(initial=-1 - base)) + base)
        if len(self.classes) <= self.most_classes:
            self.classes = np.union1d(self.classes, chunk.labels.values)

    def width(self, *, zero_based: bool) -> int:
        """Return the number of features for either index base."""
        return max(1, self.largest + bool(zero_based))

    def state(self) -> dict[str, Any]:
        """Return the state as JSON stores it."""
        return {**vars(self), "classes": self.classes.tolist()}

    @classmethod
    def of(cls, state: dict[str, Any]) -> RunningSummary:
        """Return the summary of a saved state; raise if invalid."""
        summary = cls(0)
        classes, counts = np.array(state["classes"], dtype=np.float64), set(vars(summary)) - {"classes"}
        vars(summary).update({name: index(state[name]) for name in counts}, classes=classes)
        if classes.ndim != 1 or not np.isfinite(classes).all() or (np.diff(classes) <= 0).any():
            raise ValueError(f"classes={classes} are not sorted")
        return summary
