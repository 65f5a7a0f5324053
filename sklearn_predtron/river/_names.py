"""Rows from dicts: every name has a column of its own."""

from __future__ import annotations

from collections.abc import Iterable
from threading import get_ident
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sklearn_predtron._support.parts import real_number, real_numbers
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.river._dict_rows import fill_row

SMALL, LARGE = 1e-100, 1e100


class DictRow:
    """A dict as a row, and the room for its entries."""

    def __init__(self) -> None:
        self.index, self.value = np.zeros(1, dtype=np.int32), np.zeros(1)
        self.matrix = csr_array((1, 1))

    def resize(self, width: int) -> None:
        """Let the row have this width."""
        if width > len(self.index):
            room = max(width, 2 * len(self.index))
            self.index, self.value = np.zeros(room, dtype=np.int32), np.zeros(room)
        self.matrix.resize((1, width))

    def fill(self, x: dict, numbers: dict[Any, int]) -> csr_array | None:
        """Return a dict as a row, in the place of the one before; None if a name has no column."""
        n = fill_row(x, numbers, self.index, self.value)
        if n < 0:
            return None
        row = self.matrix
        row.indices, row.data, row.indptr[1] = self.index[:n], self.value[:n], n
        return row


class NamedColumns:
    """The columns of names, in the order in which they first appeared, and rows of a width, one for each thread."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}
        self.width = 1
        self._rows: dict[int, DictRow] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_rows": {}}

    def row(self, x: dict) -> csr_array | None:
        """Return a dict as a row, in the place of this thread's one before; None if a name has no column."""
        thread = get_ident()
        here = self._rows.get(thread)
        if here is None:
            here = self._rows[thread] = DictRow()
        if here.matrix.shape[1] != self.width:
            here.resize(self.width)
        try:
            return here.fill(x, self.numbers)
        except (TypeError, OverflowError):
            raise no_numbers(x) from None

    def known_row(self, x: dict) -> csr_array:
        """Return a dict as a row, without the names that have no column."""
        row = self.row(x)
        if row is None:
            row = self.row({name: value for name, value in x.items() if name in self.numbers})
        return row

    def add(self, names: Iterable[Any]) -> int:
        """Give columns to names that have none, and return the number of all columns."""
        for name in names:
            self.numbers.setdefault(name, len(self.numbers))
        return len(self.numbers)

    def keep(self, n: int) -> None:
        """Take back the columns of all names but the first n."""
        for name in list(self.numbers)[n:]:
            del self.numbers[name]

    def rows(self, names: list[Any], values: NDArray) -> csr_array:
        """Return a matrix as rows, of the names that have a column; every value is stored, as of dicts."""
        n, there = len(values), [name in self.numbers for name in names]
        columns = np.array([self.numbers[name] for name in names if name in self.numbers], dtype=np.int32)
        starts = np.arange(n + 1) * len(columns)
        return csr_array((values[:, there].ravel(), np.tile(columns, n), starts), shape=(n, self.width))


def no_numbers(x: Any) -> ValueError:
    """Return what is to be said of a dict that is none, or that has a value which is no number."""
    if not isinstance(x, dict):
        return ValueError(f"x={shortened(x)} must be a dict, a number for each feature.")
    name = next(name for name, value in x.items() if real_number(value) is None)
    return ValueError(
        f"x has {name!r}: {shortened(x[name])}, which is no number; river.preprocessing.OneHotEncoder makes some of categories."
    )


def row_values(x: dict) -> NDArray:
    """Return the values of a dict, which are finite numbers."""
    found = real_numbers(list(x.values())) if isinstance(x, dict) else None
    if found is None or found.ndim > 1:
        raise no_numbers(x)
    if not np.isfinite(found).all():
        name = list(x)[int(np.isfinite(found).argmin())]
        raise ValueError(f"x has {name!r}: {shortened(x[name])}; accepted are finite numbers, neither NaN nor infinity.")
    return found


def are_extreme(values: NDArray) -> bool:
    """Return whether some values may make rows of a length that is refused."""
    sizes = np.abs(values)
    return not ((sizes == 0) | ((sizes > SMALL) & (sizes < LARGE))).all()  # nor of NaN


def frame_values(X: Any) -> tuple[list[Any], NDArray]:
    """Return the names of the columns of a data frame, and its values as finite numbers."""
    names = list(X.columns)
    if len(set(names)) < len(names):
        raise ValueError(f"X has the columns {shortened(names)}; accepted are different ones.")
    for name in names:
        values = real_numbers(X[name].to_numpy())
        if values is None or not np.isfinite(values).all():
            raise ValueError(f"X has a column {name!r} with values that are no finite numbers, {shortened(list(X[name]))}.")
    return names, X.to_numpy(dtype=np.float64)
