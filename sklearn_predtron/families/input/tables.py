"""The parameter `features`: feature maps of tables. A map of a stream is fitted to its first rows."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from sklearn_predtron._core.rows import Rows, dense_rows
from sklearn_predtron._support.cells import number_in
from sklearn_predtron._support.dicts import refuse_lazy
from sklearn_predtron._support.parts import kinds, resolve
from sklearn_predtron.families.input.reading import Columns, ReadTable, len_of, numbers_of_frame
from sklearn_predtron.features import ROWS_OF_STREAMS, Auto, FeatureMap
from sklearn_predtron.features._columns import (
    OF_BOOLEANS,
    OF_NUMBERS,
    chosen_categories,
    is_auto,
    is_declared,
    is_frame,
    numbers_in_column,
    opened,
    signs_of,
)
from sklearn_predtron.features._table import Gathered, check_values, matrix_of
from sklearn_predtron.norms import RKHS, Norm

MADE_AFTER = ROWS_OF_STREAMS  # the number of a stream's rows to which its map is fitted


def map_of(features: Any) -> FeatureMap | None:
    """Return the feature map that the parameter `features` stands for."""
    return None if features is None else resolve(FeatureMap, features, "features")


def names_of_maps() -> list[str]:
    """Return the names accepted by the parameter `features`."""
    return [str(kind.alias) for kind in kinds(FeatureMap)]


def always_maps(features: Any) -> bool:
    """Return whether all rows are read by a feature map: not under None, nor under "auto"."""
    return features is not None and not isinstance(map_of(features), Auto)


def takes_map(estimator: Any, X: Any) -> bool:
    """Return whether the first rows are read by a feature map.

    Under "auto" those of tables are that have words, missing values or listed categories.
    """
    features = map_of(estimator.features)
    if not isinstance(features, Auto):
        return features is not None
    if sparse.issparse(X) or isinstance(resolve(Norm, estimator.norm, "norm"), RKHS):
        return False
    names_categories = features.categories is not None and not is_auto(features.categories)
    return names_categories or has_words_or_gaps(X)


def has_words_or_gaps(X: Any) -> bool:
    """Return whether a table has columns of categories or texts, or missing values."""
    if is_frame(X):
        table = opened(X)
        kinds = [table.dtype(j) for j in range(table.p)]
        if not all(OF_NUMBERS.match(kind) or OF_BOOLEANS.match(kind) for kind in kinds):
            return True
        values = numbers_of_frame(X) if hasattr(X, "iloc") else None
        columns = [values] if values is not None else [numbers_in_column(table, j, known=False)[0] for j in range(table.p)]
        return any(bool(np.isnan(column).any()) for column in columns)
    found = np.asarray(X)
    try:
        found = found if found.dtype.kind in "biufc" else found.astype(np.float64)
    except (TypeError, ValueError):  # words, or no table, which the reader of rows says
        return found.ndim == 2
    return found.ndim == 2 and found.dtype.kind == "f" and bool(np.isnan(found).any())


def mapped_columns(features: Any, X: Any, y: Any, given: dict[str, Any], *, labels: bool) -> tuple[Columns, ReadTable]:
    """Return a table's columns, with their feature map.

    The map is fitted to the table, which is returned as the map reads it.

    Rows with zero weight, in the `given` arguments of the call, do not change the map.  `labels` is whether y has labels, not
    numbers.
    """
    refuse_lazy(X)
    fitted = clone(map_of(features))
    n = X.n if isinstance(X, Gathered) else len_of(X)
    there = np.ones(n, dtype=bool) if isinstance(X, Gathered) else rows_with_weight(X, given)
    frequency = frequencies_in(given, n)
    if there.all() or not there.any():
        table = fitted._fit(X, targets(y, n, labels=labels), frequency).view(ReadTable)
    else:
        fitted._check_parameters()
        fitted._first_read(opened(X))  # errors name the row of X
        rows, y, _ = part_of(X, y, {}, there)
        fitted._fit(rows, targets(y, len_of(rows), labels=labels), None if frequency is None else frequency[there])
        table = matrix_of(opened(X), fitted._categories, fitted._hashed, missing=bool(fitted.missing))[0].view(ReadTable)
    if fitted.n_features_out_ == 0:
        raise ValueError(
            f"X has no column that varies beyond rounding (n_samples = {len(table)}), of which features={features!r} could make "
            f"something; accepted are rows that differ, in a stream among the first {ROWS_OF_STREAMS} rows, which make the map."
        )
    return Columns(fitted.n_features_in_, getattr(fitted, "feature_names_in_", None), fitted), table


def targets(y: Any, n: int, *, labels: bool) -> NDArray | None:
    """Return y as numbers of shape (n, m); None if y is invalid, for which the reader of labels raises an error."""
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
    return found if len(found) == n and np.isfinite(found).all() else None


def mark_tables(features: Any, tags: Any) -> None:
    """Set scikit-learn's input tags to those of a feature map."""
    try:
        own = resolve(FeatureMap, features, "features").__sklearn_tags__().input_tags
    except ValueError:  # it is invalid, for which training raises an error
        return
    given = tags.input_tags
    given.sparse = given.sparse and not always_maps(features)
    given.allow_nan, given.string, given.categorical = own.allow_nan, own.string, own.categorical


def as_arrays(value: Any) -> Any:
    """Return a copy of what a call has given, in which series and the like are arrays."""
    if isinstance(value, dict):
        return {name: as_arrays(one) for name, one in value.items()}
    return np.array(value) if hasattr(value, "__array__") else copy.deepcopy(value)


class WarmupBuffer:
    """The first rows of a stream.

    A feature map will be fitted to them.  Until then columns of numbers are used as they are.

    The object does not change: later rows make another one.

    Parameters
    ----------
    features : str or FeatureMap
        The map.
    labels : bool
        Whether y has labels, not numbers.
    state : dict or None
        The rows so far, as the state of `Gathered`.
    calls : tuple of tuples (n, y, given)
        The number of rows, y and the other arguments of each call.
    """

    learns = False  # whether rows are read for training

    def __init__(
        self,
        features: Any,
        labels: bool,
        state: dict[str, Any] | None = None,
        calls: tuple[tuple[int, Any, dict[str, Any]], ...] = (),
    ):
        self.features, self.labels, self.state, self.calls = features, labels, state, calls
        known = map_of(features)
        self.missing, self.categories = getattr(known, "missing", True), getattr(known, "categories", None)
        self.monotonic_cst = getattr(known, "monotonic_cst", None)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(*(state[name] for name in ("features", "labels", "state", "calls")))  # type: ignore[misc]
        if state.get("learns"):
            self.learns = True
        table = self.state or {"n": 0, "columns": [], "dtypes": [], "names": []}
        of_calls = all(len(call) == 3 and isinstance(call[2], dict) for call in self.calls)
        of_columns = len(table["columns"]) == len(table["dtypes"]) and isinstance(table["names"], list)
        of_columns = of_columns and all(isinstance(dtype, str) for dtype in table["dtypes"])
        sizes = {table["n"], *map(len, table["columns"])} if of_calls and of_columns else set()
        if sizes != {sum(n for n, _, _ in self.calls)}:
            raise ValueError("The saved state of the first rows is damaged: the rows of its calls are not those of its columns.")

    @property
    def n(self) -> int:
        """The number of rows."""
        return 0 if self.state is None else self.state["n"]

    @property
    def of_numbers_(self) -> bool:
        """Whether no column has categories so far."""
        return self.state is None or not chosen_categories(Gathered(self.state), self.categories)

    def read(self, X: Any) -> NDArray:
        """Return a table as numbers.

        Missing values are the means of their columns so far, categories and monotone columns are zeros, and booleans are 0
        and 1.
        """
        table = opened(X)
        auto = is_auto(self.categories)  # cell by cell, so that the result does not depend on how the rows are split
        named = set() if auto else chosen_categories(table, self.categories)
        found = np.zeros((table.n, table.p))
        for j in range(table.p):
            if not (is_declared(table, j) and not OF_BOOLEANS.match(table.dtype(j)) if auto else j in named):
                found[:, j] = numbers_in_column(table, j, known=auto)[0]
        check_values(table, found, missing=self.missing)
        if self.monotonic_cst is not None:
            declared = {j for j in range(table.p) if is_declared(table, j)} if auto else named
            found[:, signs_of(table, self.monotonic_cst, declared) != 0] = 0
        for j in np.flatnonzero(np.isnan(found).any(axis=0)).tolist():
            self._fill(found[:, j], j)
        return found

    def _fill(self, column: NDArray, j: int) -> None:
        """Fill gaps in a column with means; they are the means of the rows so far; in training, of all rows before each."""
        known = [] if self.state is None else [number_in(value) for value in self.state["columns"][j]]
        before = np.array([np.nan if number is None else number for number in known], dtype=np.float64)
        values = np.concatenate([[0.0], before, column]) if self.learns else np.append(0.0, before)
        there = ~np.isnan(values)
        there[0] = False
        means = np.cumsum(np.where(there, values, 0.0)) / np.maximum(np.cumsum(there), 1)
        gaps = np.isnan(column)
        column[gaps] = means[1 + len(before) :][gaps] if self.learns else means[-1]

    def learning(self) -> WarmupBuffer:
        """Return a copy that reads rows for training."""
        found = copy.copy(self)
        found.learns = True
        return found

    def plain_rows(self, X: Any) -> Rows | None:
        """Return a plain array's rows, or None; a plain array needs no conversion."""
        if type(X) is not np.ndarray or X.ndim != 2 or X.dtype not in (np.float32, np.float64) or X.size == 0:
            return None
        if self.state is None or len(self.state["dtypes"]) != X.shape[1] or self.is_chosen:
            return None
        plain = X.flags.c_contiguous and X.flags.aligned and bool(np.isfinite(X).all())
        return dense_rows(X) if plain else None

    @property
    def is_chosen(self) -> bool:
        """Whether columns of categories or monotone columns are listed."""
        return self.monotonic_cst is not None or not (self.categories is None or isinstance(self.categories, str))

    def rows(self, matrix: NDArray) -> Rows:
        """Return the rows of a matrix."""
        return dense_rows(matrix)

    def with_call(self, X: Any, y: Any, given: dict[str, Any]) -> WarmupBuffer:
        """Return an object with the rows of another call added."""
        table = opened(X)
        so_far = Gathered.begun(table) if self.state is None else Gathered(self.state)
        state = so_far.with_rows(table, self.n + table.n, None, self.categories).state
        return WarmupBuffer(self.features, self.labels, state, (*self.calls, (table.n, as_arrays(y), as_arrays(given))))

    def columns_so_far(self, X: Any) -> Columns:
        """Return the columns of the first call; they are for reading its rows as they are."""
        first = Gathered.begun(opened(X))
        return Columns(first.p, first.feature_names, self.learning())

    def columns(self) -> tuple[Columns, Iterator[tuple[NDArray, Any, dict[str, Any]]]]:
        """Return the fitted columns, and the past calls.

        The map of the columns is fitted to the rows; the calls are as the map reads them.
        """
        y = join_labels([y for _, y, _ in self.calls])
        columns, table = mapped_columns(self.features, Gathered(self.state or {}), y, {}, labels=self.labels)
        ends = np.cumsum([n for n, _, _ in self.calls]).tolist()
        return columns, ((table[end - n : end], y, given) for end, (n, y, given) in zip(ends, self.calls, strict=True))


def join_labels(parts: list[Any]) -> NDArray | None:
    """Return the labels of several calls together; they are in one array; None if they have no common form."""
    try:
        return np.concatenate([part.toarray() if sparse.issparse(part) else np.asarray(part) for part in parts])
    except ValueError:
        return None


def rows_with_weight(X: Any, given: dict[str, Any]) -> NDArray:
    """Return a mask of the rows with nonzero weight."""
    n = len_of(X)
    weight = np.asarray(given.get("sample_weight"))
    return weight != 0 if weight.shape == (n,) else np.ones(n, dtype=bool)


def frequencies_in(given: dict[str, Any], n: int) -> NDArray | None:
    """Return how often each of n rows counts; None for equal or invalid weights."""
    weight = given.get("sample_weight")
    try:
        weight = None if weight is None else np.asarray(weight, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    valid = weight is not None and weight.shape == (n,) and np.isfinite(weight).all() and weight.min() >= 0 < weight.max()
    return weight if valid else None


def part_of(X: Any, y: Any, given: dict[str, Any], chosen: NDArray) -> tuple[Any, Any, dict[str, Any]]:
    """Return the chosen rows of a call."""
    if chosen.all():
        return X, y, dict(given)
    n = len(chosen)

    def cut(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: cut(entry) for name, entry in value.items()}
        is_array = is_frame(value) or not (value is None or isinstance(value, str) or np.ndim(value) == 0)
        if not is_array or len_of(value) != n:
            return value
        rows = np.flatnonzero(chosen)
        # Older versions of scikit-learn do not index the rows of Arrow tables.
        return value.take(rows) if hasattr(value, "column_names") else _safe_indexing(value, rows)

    return cut(X), cut(y), {name: value if name == "classes" else cut(value) for name, value in given.items()}
