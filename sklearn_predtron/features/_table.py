"""Tables as matrices of numbers: what is read in the same way whenever it is given."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron.features._columns import Array, Columns, codes_of, numbers_of, text_of
from sklearn_predtron.features._knots import LARGEST


def matrix_of(table: Columns, categories: list[NDArray | None], hashed: list[int], *, missing: bool) -> NDArray:
    """Return a matrix of numbers, in single or double precision and C-contiguous: NaN is missing, categories are numbered."""
    if isinstance(table, Array) and table.of_numbers and all(known is None for known in categories):
        matrix = table.X
    else:
        columns = [
            numbers_of(table, j) if known is None else codes_of(table, j, known, places)
            for j, (known, places) in enumerate(zip(categories, hashed, strict=True))
        ]
        single = all(column.dtype == np.float32 for column, known in zip(columns, categories, strict=True) if known is None)
        matrix = np.empty((table.n, table.p), dtype=np.float32 if single else np.float64)
        for j, column in enumerate(columns):
            matrix[:, j] = column
    check_values(table, matrix, missing)
    return matrix


def check_values(table: Columns, matrix: NDArray, missing: bool) -> None:
    """Raise ValueError where a value is infinite, or missing where it may not be."""
    if np.isfinite(matrix).all():
        return
    refused: list[tuple[Any, str, str]] = [(np.isinf, "an infinite value (inf)", "finite numbers, and NaN for what is missing")]
    if not missing:
        refused.append((np.isnan, "a missing value (NaN)", "finite numbers; with missing=True NaN is taken, too"))
    for asked, what, accepted in refused:
        for j in range(table.p):
            at = np.flatnonzero(asked(matrix[:, j]))
            if len(at):
                raise ValueError(f"Input X has {what} in row {at[0]} of column {table.name(j)}; accepted are {accepted}.")


def check_range(table: Columns, matrix: NDArray, of_numbers: Iterable[int]) -> None:
    """Raise ValueError where a number to learn from is so large that its square overflows."""
    if matrix.dtype == np.float32:
        return
    for j in of_numbers:
        if np.fmax.reduce(np.abs(matrix[:, j]), initial=0) > LARGEST:
            raise ValueError(f"X has values beyond {LARGEST:g} in column {table.name(j)}; scale it down.")


class Gathered:
    """The first rows of a stream, copied, as a table; what it holds is plain."""

    def __init__(self, state: dict[str, Any]):
        self.state = state
        self.names = state["names"]
        self.n, self.p = state["n"], len(state["dtypes"])

    @classmethod
    def begun(cls, table: Columns) -> Gathered:
        """Return one without rows, of a table's columns."""
        dtypes = [table.dtype(j) for j in range(table.p)]
        return cls({"names": table.names, "n": 0, "dtypes": dtypes, "columns": [[] for _ in dtypes], "y": []})

    def with_rows(self, table: Columns, most: int, y: Any) -> Gathered:
        """Return a table of up to so many rows, these and the first of another."""
        more = min(most - self.n, table.n)
        columns = [list(old) for old in self.state["columns"]]
        for j, column in enumerate(columns):
            if self.numeric(j):
                column += numbers_of(table, j)[:more].astype(np.float64).tolist()
            else:
                column += [simple(value) for _, value in zip(range(more), table.objects(j), strict=False)]
        targets = None if y is None or self.state["y"] is None else [*self.state["y"], *np.asarray(y)[:more].tolist()]
        return Gathered({**self.state, "n": self.n + more, "columns": columns, "y": targets})

    def numeric(self, j: int) -> bool:
        """Whether a column's type is one of numbers."""
        return self.state["dtypes"][j].startswith(("float", "int", "uint", "double", "halffloat", "decimal", "sparse"))

    def name(self, j: int) -> str:
        return repr(self.names[j]) if self.names else str(j)

    def dtype(self, j: int) -> str:
        return self.state["dtypes"][j]

    def objects(self, j: int) -> list[Any]:
        return self.state["columns"][j]

    def floats(self, j: int) -> NDArray:
        return np.array(self.state["columns"][j], dtype=np.float64)


def simple(value: Any) -> Any:
    """Return a value as a number, a text or None."""
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return simple(value.item())
    return text_of(value)
