"""Rounds that are blocks of rows, which ids gather: queries, groups, sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from sklearn_predtron._compat import check_sample_weight
from sklearn_predtron._core.rows import QueryRows
from sklearn_predtron._queries import Ids, Queries, queries_of_positive_weight, split_ids, warn_of_one_query
from sklearn_predtron.families._base import BasePredtron
from sklearn_predtron.families._validation import Batch, as_rows, check_lengths
from sklearn_predtron.problems._base import Labels

NO_IDS = (
    "{method} was called without {name} on an estimator that was fitted with several {groups}.  Pass {name}, or a data frame "
    "with a column {name!r}; a search or a pipeline passes {name} after sklearn.set_config(enable_metadata_routing=True), if it "
    "is given groups={name}.  If the rows are one {group}, say so by {name}='one'."
)


class Blocked(BasePredtron):
    """Learns from blocks of rows."""

    _ids: Ids

    def _in_blocks(self, values: NDArray, start: NDArray) -> Labels:
        """Return the labels of blocks of rows, given what is known of each row."""
        raise TypeError(f"{type(self).__name__} does not define _in_blocks(); a family of blocks must.")

    def _read_values(self, y: Any) -> NDArray:
        """Return what `_in_blocks` takes, as a fitted estimator reads it."""
        raise TypeError(f"{type(self).__name__} does not define _read_values(); a family of blocks must.")

    def _blocks(self, ids: Any, n: int) -> Queries:
        """Return which of n rows belong together."""
        return Queries(ids, n, self._ids)

    def _blocks_to_score(self, ids: Any, n: int, method: str) -> Queries:
        """Return the same of rows that a method does not learn from."""
        return self._blocks(ids, n)

    def _read_blocks(
        self, X: Any, y: Any, read: Callable[[Any], NDArray], ids: Any, sample_weight: Any, *, fresh: bool, partial: bool
    ) -> tuple[Queries, Batch]:
        """Return which rows belong together, and the rounds, of which each weighs the mean of its rows' positive weights."""
        self._check_labels_given(y)
        X, rows = self._read_rows(X, reset=fresh)
        values, weight = read(y), None
        check_lengths(rows.n, len(values))
        if sample_weight is None:
            blocks = self._blocks(ids, rows.n)
        else:
            blocks, weight = self._weighed_blocks(ids, check_sample_weight(sample_weight, X))
            if not partial and blocks.n == 0:
                raise ValueError("sample_weight is zero for every row; at least one weight must be positive.")
            if blocks.start[-1] < rows.n:
                self._check_finite(X, rows)
        gathered = rows if blocks.order is None else as_rows(X[blocks.order])
        rounds = QueryRows(gathered, blocks.start, blocks.order, rows.n)
        return blocks, Batch(X, rounds, self._in_blocks(blocks.take(values), blocks.start), weight, None)

    def _weighed_blocks(self, ids: Any, weight: NDArray) -> tuple[Queries, NDArray]:
        """Return which of the rows of positive weight belong together, and the weight of each block."""
        return queries_of_positive_weight(ids, weight, self._ids)

    def _apart(self, X: Any, ids: Any) -> tuple[Any, Any]:
        """Return X without ids, and the ids."""
        return X, ids

    def _rows_and_labels(self, X: Any, y: Any, ids: Any = None) -> tuple[Any, Labels]:
        X, ids = self._apart(X, ids)
        X, rows = self._read_rows(X, reset=False)
        self._check_finite(X, rows)
        blocks = self._blocks_to_score(ids, rows.n, "sample_loss")
        return blocks.take(X), self._labels_of(y, blocks)

    def _labels_of(self, y: Any, blocks: Queries) -> Any:
        """Return the true labels of blocks."""
        values = self._read_values(y)
        check_lengths(int(blocks.start[-1]), len(values))
        return self._in_blocks(blocks.take(values), blocks.start)

    def _beside_labels(self, scores: NDArray, y: Any, ids: Any) -> tuple[NDArray, Any]:
        """Return scores and true labels, block by block."""
        blocks = self._blocks(ids, len(scores))
        return np.ascontiguousarray(blocks.take(scores)), self._labels_of(y, blocks)


class InColumn(Blocked):
    """Takes ids beside X or in a column of it, routes them as groups, and misses them where there should be some."""

    _several = False  # whether a call had several blocks

    def _apart(self, X: Any, ids: Any) -> tuple[Any, Any]:
        return split_ids(X, ids, self._ids)

    def _apart_or_warned(self, X: Any, ids: Any) -> tuple[Any, Any]:
        """Return X without ids, and the ids, which only a single block should come without."""
        X, ids = self._apart(X, ids)
        if ids is None:
            warn_of_one_query(X, self._ids)
        return X, ids

    def _check_ids_given(self, ids: Any, method: str) -> None:
        """Refuse rows without ids after several blocks."""
        if ids is None and self._several:
            raise ValueError(NO_IDS.format(method=method, **self._ids._asdict()))

    def _read_blocks(self, *given: Any, fresh: bool, partial: bool) -> tuple[Queries, Batch]:
        blocks, batch = super()._read_blocks(*given, fresh=fresh, partial=partial)
        self._several = blocks.n > 1 or (not fresh and self._several)
        return blocks, batch

    def _shown_to_callbacks(self, given: dict[str, Any]) -> dict[str, Any]:
        own, routed = self._ids.name, "groups" if get_config()["enable_metadata_routing"] else self._ids.name
        return super()._shown_to_callbacks({routed if key == own else key: value for key, value in given.items()})
