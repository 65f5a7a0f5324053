"""Dicts and lazy frames in the place of rows of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sklearn_predtron._core.sparse_type import issparse


def refuse_dicts(X: Any) -> None:
    """Raise ValueError for dicts instead of rows.

    Lists of dicts, and lists of such lists (sentences of tokens), are found, too.
    """
    for _ in range(3):
        if isinstance(X, Mapping) and not issparse(X):  # DOK matrices are dicts, too
            raise ValueError(
                "X holds dicts; accepted are rows of numbers, which DictVectorizer and FeatureHasher make of a list of dicts; of "
                "a list of sentences datasets.stack_sequences makes one list of tokens.  sklearn_predtron.river.to_river makes "
                "estimators that are trained on single dicts."
            )
        if not isinstance(X, (list, tuple)) and not (isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1):
            return
        if len(X) == 0:
            return
        X = X[0]


def refuse_lazy(X: Any) -> None:
    """Raise ValueError for a lazy polars frame, which has no rows yet."""
    if hasattr(X, "collect") and hasattr(X, "collect_schema") and not hasattr(X, "to_series"):
        raise ValueError("X is a LazyFrame; accepted are arrays, sparse matrices and data frames: pass X.collect().")
