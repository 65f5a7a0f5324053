"""A scikit-learn baseline for tables, with one-hot categories."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from sklearn_predtron.cli._action_spaces import RowsWithCosts
from sklearn_predtron.cli._compare import ResultRow


class OneHotBaseline:
    """A learner of rows of numbers.

    Parameters
    ----------
    baseline : Baseline
        The learner.
    words : list of dict
        Of each column the number of each category; a column without any holds numbers, of which missing ones are 0.
    """

    def __init__(self, baseline: Any, words: list[dict[str, int]]):
        self._baseline = baseline
        self._words = words

    @property
    def result(self) -> ResultRow:
        """Return the row of the table of results."""
        return self._baseline.result

    def learn(self, X: Any, y: Any, *, progressive: bool) -> None:
        """Train on rows in their order."""
        self._baseline.learn(self._encoded(X), y, progressive=progressive)

    def test(self, X: Any, y: Any) -> None:
        """Score held-out rows."""
        self._baseline.test(self._encoded(X), y)

    def _encoded(self, X: Any) -> Any:
        """Return the rows as numbers."""
        if isinstance(X, RowsWithCosts):
            return RowsWithCosts(self._encoded(X.values), X.pairs, X.columns)
        if X.dtype != object:
            return np.nan_to_num(X, nan=0.0)
        return sparse.hstack([self._column(X[:, j], words) for j, words in enumerate(self._words)], format="csr")

    def _column(self, values: Any, words: dict[str, int]) -> Any:
        """Return a column as a sparse matrix, strings one-hot encoded."""
        if not words:
            return sparse.csr_matrix(np.nan_to_num(values.astype(np.float64), nan=0.0)[:, None])
        codes = np.array([words.get(value, -1) for value in values])
        on = np.flatnonzero(codes >= 0)
        return sparse.csr_matrix((np.ones(len(on)), (on, codes[on])), shape=(len(values), len(words)))
