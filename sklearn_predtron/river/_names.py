"""Rows from dicts, with a column per name."""

from __future__ import annotations

from collections.abc import Iterable
from threading import get_ident
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sklearn_predtron._support.dicts import refuse_doubles
from sklearn_predtron._support.numbers import real_number, real_numbers
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.families.input.reading import norm_by_name, warn_of_scales
from sklearn_predtron.families.input.tables import always_maps
from sklearn_predtron.river._dict_rows import fill_row

WATCHED = 300  # rows that show the scales of columns
SMALL, LARGE = 1e-100, 1e100
FLOATS = (float, np.floating)


class DictRow:
    """A dict as a row, with buffers for its entries."""

    def __init__(self) -> None:
        self.index, self.value = np.zeros(1, dtype=np.int32), np.zeros(1)
        self.matrix = csr_array((1, 1))

    def resize(self, width: int) -> None:
        """Set the width of the row."""
        if width > len(self.index):
            room = max(width, 2 * len(self.index))
            self.index, self.value = np.zeros(room, dtype=np.int32), np.zeros(room)
        self.matrix.resize((1, width))

    def fill(self, x: dict, numbers: dict[Any, int]) -> csr_array | None:
        """Fill the row with a dict; None for unknown names."""
        n = fill_row(x, numbers, self.index, self.value)
        if n < 0:
            return None
        row = self.matrix
        row.indices, row.data, row.indptr[1] = self.index[:n], self.value[:n], n
        return row


class NamedColumns:
    """Columns by first appearance of names, and sparse rows.

    A value that is missing is as one that is left out: the row has no entry.
    """

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}
        self.width = 1
        self._rows: dict[int, DictRow] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_rows": {}}

    def row(self, x: dict) -> csr_array | None:
        """Return a dict as a row; None for unknown names. Each thread reuses one row."""
        thread = get_ident()
        here = self._rows.get(thread)
        if here is None:
            here = self._rows[thread] = DictRow()
        if here.matrix.shape[1] != self.width:
            here.resize(self.width)
        try:
            return here.fill(x, self.numbers)
        except (TypeError, OverflowError):
            check_numbers(x)
        return here.fill({name: value for name, value in x.items() if not is_missing_value(value)}, self.numbers)

    def known_row(self, x: dict) -> csr_array:
        """Return a dict as a row without unknown names."""
        row = self.row(x)
        return self.row(self._known(x)) if row is None else row

    def rows(self, block: list[dict]) -> csr_array | None:
        """Return dicts as a matrix; None for unknown names."""
        found = []
        for x in block:
            row = self.row(x)
            if row is None:
                return None
            found.append((row.indices.copy(), row.data.copy()))
        columns, values = (np.concatenate(part) for part in zip(*found, strict=True))
        starts = np.cumsum([0] + [len(index) for index, _ in found], dtype=np.int32)
        return csr_array((values, columns, starts), shape=(len(block), self.width))

    def known_rows(self, block: list[dict]) -> csr_array:
        """Return dicts as a matrix without unknown names."""
        rows = self.rows(block)
        return self.rows([self._known(x) for x in block]) if rows is None else rows

    def frame_rows(self, names: list[Any], values: NDArray) -> csr_array:
        """Return a matrix as rows of known names; every value but NaN is stored, as for dicts."""
        values = values[:, [name in self.numbers for name in names]]
        columns = np.array([self.numbers[name] for name in names if name in self.numbers], dtype=np.int32)
        there = ~np.isnan(values)
        starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        return csr_array((values[there], np.broadcast_to(columns, values.shape)[there], starts), shape=(len(values), self.width))

    def new_names(self, names: list[Any], values: NDArray) -> list[Any]:
        """Return the names that need columns, by first appearance."""
        there = ~np.isnan(values)
        first = np.where(there.any(axis=0), there.argmax(axis=0), len(values))
        return [names[j] for j in np.argsort(first, kind="stable").tolist() if first[j] < len(values)]

    def _known(self, x: dict) -> dict:
        return {name: value for name, value in x.items() if name in self.numbers}

    def record_rows(self, x: list[dict]) -> None:
        """Record rows of training."""

    def add(self, names: Iterable[Any]) -> int:
        """Give columns to new names; return the number of columns."""
        for name in names:
            self.numbers.setdefault(name, len(self.numbers))
        return len(self.numbers)

    def keep(self, n: int) -> None:
        """Keep only the first n columns."""
        for name in list(self.numbers)[n:]:
            del self.numbers[name]


class ScaleCheckedColumns(NamedColumns):
    """Columns for norm="auto", with a check of scales.

    It is "l2" for dicts: the first rows show whether that suits their scales.
    """

    def __init__(self) -> None:
        super().__init__()
        self.first: list[dict] | None = []

    def record_rows(self, x: list[dict]) -> None:
        """Keep the first rows, and warn of different scales once."""
        if self.first is None:
            return
        self.first += [dict(row) for row in x[: WATCHED - len(self.first)]]
        if len(self.first) == WATCHED:
            rows, self.first = self.rows(self.first), None
            if rows is not None:
                warn_of_scales(rows, list(self.numbers))


class CentredColumns(NamedColumns):
    """Columns for norm="scaled": missing values become running means.

    They add nothing to the score.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sums: dict[Any, tuple[float, int]] = {}

    def row(self, x: dict) -> csr_array | None:
        """Return a dict as a row; None for unknown names. Each thread reuses one row."""
        if isinstance(x, dict) and any(map(is_missing_value, x.values())):
            x = {name: self._mean(name) if is_missing_value(value) else value for name, value in x.items()}
        return super().row(x)

    def _mean(self, name: Any) -> float | None:
        """Return a name's mean so far, or None."""
        total, n = self.sums.get(name, (0.0, 0))
        return total / n if n else None

    def record_rows(self, x: list[dict]) -> None:
        """Count the values of training rows."""
        for row in x:
            for name, value in row.items():
                if not is_missing_value(value):
                    total, n = self.sums.get(name, (0.0, 0))
                    self.sums[name] = total + float(value), n + 1

    def frame_rows(self, names: list[Any], values: NDArray) -> csr_array:
        """Return a matrix as rows of known names."""
        means = np.array([self._mean(name) for name in names], dtype=np.float64)
        return super().frame_rows(names, np.where(np.isnan(values), means, values))


class TableColumns(NamedColumns):
    """Columns and dense rows of tables, with NaN for missing."""

    def row(self, x: dict) -> NDArray | None:
        """Return a dict as a row; None for unknown names."""
        names, values = entries(x)
        if not all(name in self.numbers for name in names):
            return None
        row = np.full((1, self.width), np.nan)
        row[0, [self.numbers[name] for name in names]] = values
        return row

    def rows(self, block: list[dict]) -> NDArray | None:
        """Return dicts as a matrix; None for unknown names."""
        found = [self.row(x) for x in block]
        return None if any(row is None for row in found) else np.concatenate(found)  # type: ignore[arg-type]

    def frame_rows(self, names: list[Any], values: NDArray) -> NDArray:
        """Return a matrix as rows of known names."""
        rows = np.full((len(values), self.width), np.nan)
        known = [name in self.numbers for name in names]
        rows[:, [self.numbers[name] for name in names if name in self.numbers]] = values[:, known]
        return rows

    def new_names(self, names: list[Any], values: NDArray) -> list[Any]:
        """Return all names: a column may have no value yet."""
        return names


def columns_for(estimator: Any) -> NamedColumns:
    """Return the columns of an estimator: none yet, or those that it was trained on."""
    if estimator.__sklearn_is_fitted__():
        return known_columns(estimator)
    if always_maps(estimator.features):
        return TableColumns()
    kinds = {"auto": ScaleCheckedColumns, "scaled": CentredColumns}
    return kinds.get(norm_by_name(estimator.norm), NamedColumns)()


def known_columns(estimator: Any) -> NamedColumns:
    """Return the columns of a trained estimator: named, or numbered from 0."""
    model = estimator._model
    columns: NamedColumns = NamedColumns() if model.columns.features is None else TableColumns()
    if model.columns.features is None and norm_by_name(model.norm) == "scaled":
        columns = CentredColumns()
    names = model.columns.names
    columns.width = columns.add(range(model.columns.n) if names is None else names.tolist())
    if isinstance(columns, CentredColumns):
        (moments,) = model.learner.read(lambda weights: weights.export())["moments"].values()
        sums = zip((moments.mean * moments.rows).tolist(), moments.counted.astype(int).tolist(), strict=True)
        columns.sums = dict(zip(columns.numbers, sums, strict=True))
    return columns


def is_missing_value(value: Any) -> bool:
    """Return whether a value is None, NaN or pandas' NA or NaT."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, FLOATS) and value != value)


def check_numbers(x: Any) -> None:
    """Raise an error for non-dicts and non-numeric values."""
    if not isinstance(x, dict):
        raise ValueError(f"x={shortened(x)} must be a dict, a number for each feature.")
    for name, value in x.items():
        if not is_missing_value(value) and real_number(value) is None:
            raise ValueError(
                f"x has {name!r}: {shortened(value)}, which is no number; river.preprocessing.OneHotEncoder makes some of "
                "categories."
            )


def entries(x: Any) -> tuple[list[Any], NDArray]:
    """Return a dict's names and values; missing is NaN."""
    found = real_numbers([np.nan if value is None else value for value in x.values()]) if isinstance(x, dict) else None
    if found is None or found.ndim > 1:
        check_numbers(x)
        found = np.array([np.nan if is_missing_value(value) else real_number(value) for value in x.values()])
    if np.isinf(found).any():
        name = list(x)[int(np.isinf(found).argmax())]
        raise ValueError(f"x has {name!r}: {shortened(x[name])}; accepted are finite numbers, and NaN or None for none.")
    return list(x), found


def are_extreme(values: NDArray) -> bool:
    """Return whether values could exceed the accepted row length."""
    sizes = np.abs(values[~np.isnan(values)])
    return not ((sizes == 0) | ((sizes > SMALL) & (sizes < LARGE))).all()


def frame_values(X: Any) -> tuple[list[Any], NDArray, nw.DataFrame]:
    """Return a data frame's column names, its finite values, and narwhals' view of it; missing values are NaN."""
    refuse_doubles(X)
    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        raise ValueError(f"X={shortened(X)} must be a data frame, as of pandas, polars or pyarrow.") from None
    names = list(frame.columns)
    found = np.empty((len(frame), len(names)))
    for j, series in enumerate(frame.iter_columns()):
        column = series.to_numpy()
        if column.dtype == object:
            column = np.array([np.nan if is_missing_value(value) else value for value in column], dtype=object)
        values = real_numbers(column)
        if values is None or np.isinf(values).any():
            raise ValueError(
                f"X has a column {names[j]!r} with values that are no finite numbers, {shortened(series.to_list())}."
            )
        found[:, j] = values
    return names, found, frame


def entries_of(values: Any) -> Any:
    """Return a series or array as a list of Python objects, and a number as it is."""
    values = nw.from_native(values, series_only=True, pass_through=True)
    return values.to_list() if isinstance(values, nw.Series) else np.asarray(values).tolist()
