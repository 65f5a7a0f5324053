"""The parameter `features`: tables of which features are made row by row, and the first rows of a stream."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from sklearn_predtron._core.rows import Rows, dense_rows
from sklearn_predtron._support.parts import kinds, resolve
from sklearn_predtron.families._reading import Columns, ReadTable, len_of
from sklearn_predtron.features import FeatureMap
from sklearn_predtron.features._columns import chosen_categories, numbers_of, opened
from sklearn_predtron.features._table import check_values


def map_of(features: Any) -> FeatureMap | None:
    """Return the map that the parameter `features` stands for."""
    return None if features is None else resolve(FeatureMap, features, "features")


def names_of_maps() -> list[str]:
    """Return the names by which the parameter `features` takes maps."""
    return [str(kind.alias) for kind in kinds(FeatureMap)]


def columns_of(features: Any, X: Any, y: Any, *, labels: bool) -> tuple[Columns, ReadTable]:
    """Return the columns of a table, with a map that is fitted to it, and the table as this reads it.

    `labels` says that y has labels, and not numbers.
    """
    fitted = clone(map_of(features))
    table = fitted._fit(X, targets(X, y, labels=labels)).view(ReadTable)
    if fitted.n_features_out_ == 0:
        raise ValueError(
            f"X has no column that varies (n_samples = {len_of(X)}), of which features={features!r} could make something."
        )
    return Columns(fitted.n_features_in_, getattr(fitted, "feature_names_in_", None), fitted), table


def targets(X: Any, y: Any, *, labels: bool) -> NDArray | None:
    """Return numbers that stand for y, of shape (n, m); None where y is no good, which who reads it says."""
    try:
        found = y.toarray() if sparse.issparse(y) else np.asarray(y)
        if found.dtype.kind == "c":
            return None
        if found.ndim == 2 and found.shape[1] == 1:
            found = found[:, 0]
        if found.ndim == 1 and labels:
            known, found = np.unique(found, return_inverse=True)
            found = (found[:, None] == np.arange(len(known))).astype(np.float64)[:, 1 if len(known) == 2 else 0 :]
        found = found.astype(np.float64).reshape(len(found), -1)
    except (TypeError, ValueError):
        return None
    return found if len(found) == len_of(X) and np.isfinite(found).all() else None


def mark_tables(features: Any, tags: Any) -> None:
    """Let scikit-learn's tags say what rows a map takes."""
    try:
        own = resolve(FeatureMap, features, "features").__sklearn_tags__().input_tags
    except ValueError:  # it is none, which learning says
        return
    given = tags.input_tags
    given.sparse, given.allow_nan, given.string, given.categorical = False, own.allow_nan, own.string, own.categorical


class FirstRows:
    """The first rows of a stream, of which a map is going to be made; until then numbers are learned as they are.

    Nothing changes it: the next rows make another one.

    Parameters
    ----------
    features : str or FeatureMap
        The map.
    calls : tuple of tuples (X, y, given)
        What was given so far.
    labels : bool
        Whether y has labels, and not numbers.
    """

    def __init__(self, features: Any, calls: tuple[tuple[Any, Any, dict[str, Any]], ...], labels: bool):
        self.features, self.calls, self.labels = features, calls, labels
        self.n, self.p = 0, None if not calls else opened(calls[0][0]).p  # rows and columns
        named = getattr(map_of(features), "categories", None)
        self.may_hold_categories = named is not None and not isinstance(named, str)

    def read(self, X: Any) -> NDArray:
        """Return the numbers of a table; what is missing, and categories, are zeros."""
        table = opened(X)
        of_categories = chosen_categories(table, getattr(map_of(self.features), "categories", None))
        found = np.zeros((table.n, table.p))
        for j in set(range(table.p)) - of_categories:
            found[:, j] = numbers_of(table, j)
        check_values(table, found, missing=getattr(map_of(self.features), "missing", True))
        return np.nan_to_num(found, nan=0.0)

    def plain_rows(self, X: Any) -> Rows | None:
        """Return the rows of an array of as many columns that needs no reading; else None."""
        if type(X) is not np.ndarray or X.ndim != 2 or X.dtype.char not in "fd" or X.size == 0 or self.p != X.shape[1]:
            return None
        plain = X.flags.c_contiguous and X.flags.aligned and bool(np.isfinite(X).all())
        return dense_rows(X) if plain and not self.may_hold_categories else None

    def rows(self, matrix: NDArray) -> Rows:
        """Return the rows of such numbers."""
        return dense_rows(matrix)

    def with_call(self, X: Any, y: Any, given: dict[str, Any]) -> FirstRows:
        """Return these rows and some more."""
        more = FirstRows(self.features, (*self.calls, copy.deepcopy((X, y, given))), self.labels)
        more.n = self.n + len_of(X)
        return more

    def columns_so_far(self, X: Any) -> Columns:
        """Return the columns of the first of all rows, which are read as these are."""
        table = opened(X)
        names = list(getattr(table, "names", None) or ())
        named = len(names) > 0 and all(isinstance(name, str) for name in names)
        return Columns(table.p, np.array(names, dtype=object) if named else None, self)

    def columns(self) -> Columns:
        """Return the columns of the rows, and the map that they make."""
        X, y = (joined([call[place] for call in self.calls]) for place in (0, 1))
        return columns_of(self.features, X, y, labels=self.labels)[0]


def joined(parts: list[Any]) -> Any:
    """Return the parts of an array or a data frame as one."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if sparse.issparse(first):
        return sparse.vstack(parts)
    if hasattr(first, "iloc"):
        import pandas as pd

        return pd.concat(parts, ignore_index=True)
    if hasattr(first, "vstack") and hasattr(first, "to_series"):
        import polars as pl

        return pl.concat(parts)
    if hasattr(first, "column_names"):
        import pyarrow as pa

        return pa.concat_tables(parts)
    return np.concatenate([np.asarray(part) for part in parts])
