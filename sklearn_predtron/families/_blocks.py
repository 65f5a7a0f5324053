"""Rounds that are blocks of rows: queries, or groups."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from sklearn_predtron._core.rows import QueryRows, Rows
from sklearn_predtron._queries import QID, Ids, Queries, document_weights, queries_of_positive_weight
from sklearn_predtron.families._base import BasePredtron
from sklearn_predtron.families._validation import as_rows


class Blocked(BasePredtron):
    """Learns from blocks of rows, which ids gather."""

    def _read_blocks(
        self, X: Any, rows: Rows, values: Any, sample_weight: Any, *, partial: bool, ids: Ids = QID
    ) -> tuple[Queries, QueryRows, NDArray | None]:
        """Return which rows belong together, the rounds, and the weight of each: the mean of its rows' positive weights."""
        weight = None
        if sample_weight is None:
            queries = Queries(values, rows.n, ids)
        else:
            queries, weight = queries_of_positive_weight(values, document_weights(sample_weight, X), ids)
            if not partial and queries.n == 0:
                raise ValueError("sample_weight is zero for every row; at least one weight must be positive.")
            if queries.start[-1] < rows.n:
                self._check_finite(X, rows)
        gathered = rows if queries.order is None else as_rows(X[queries.order])
        return queries, QueryRows(gathered, queries.start, queries.order, rows.n), weight
