"""Dicts and frames that are no rows of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from sklearn_predtron._core.rows import issparse


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
    """Raise ValueError for a lazy polars frame, which has no rows yet, and for a frame with two columns of one name."""
    if hasattr(X, "collect") and hasattr(X, "collect_schema") and not hasattr(X, "to_series"):
        raise ValueError("X is a LazyFrame; accepted are arrays, sparse matrices and data frames: pass X.collect().")
    refuse_doubles(X)


def refuse_doubles(X: Any, name: str = "X") -> None:
    """Raise ValueError for a data frame with two columns of one name."""
    names = None if hasattr(X, "iloc") else getattr(X, "column_names", None)
    names = getattr(X, "columns", None) if names is None else names
    if names is None or getattr(names, "is_unique", False) or not isinstance(names, Iterable):  # which pandas remembers
        return
    found = [one for one, n in Counter(names).items() if n > 1]
    if found:
        raise ValueError(
            f"{name} has several columns of the name {found[0]!r}; accepted are frames whose columns have different names: "
            "rename them, or leave out all but one."
        )
