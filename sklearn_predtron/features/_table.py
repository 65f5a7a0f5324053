"""Tables as matrices of numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.cells import Words, category_text, decimal_number, message_of_words
from sklearn_predtron._support.warning import warn
from sklearn_predtron.features._columns import (
    OF_NUMBERS,
    Array,
    ColumnSource,
    census_of,
    check_cells,
    chosen_categories,
    codes_of,
    is_declared,
    numbers_in_column,
)
from sklearn_predtron.features._knots import LARGEST

NAMED = "  Columns of categories that are named in categories= need no warning."
OF_FLOATS = re.compile(r"(float\d*|double|halffloat|sparse\[float.*)(\[pyarrow\])?$")


def matrix_of(
    table: ColumnSource, categories: list[NDArray | None], hashed: list[int], *, missing: bool, known: bool = True
) -> tuple[NDArray, list[Words]]:
    """Return a float matrix, and words among the numbers.

    NaN is missing, categories are numbered.  `known` says that the map is made, which knows the columns of numbers.
    """
    words: list[Words] = []
    if isinstance(table, Array) and table.of_numbers and all(names is None for names in categories):
        matrix = table.X
    else:
        columns = []
        for j, (names, places) in enumerate(zip(categories, hashed, strict=True)):
            column, strange = (
                numbers_in_column(table, j, known=known) if names is None else (codes_of(table, j, names, places), None)
            )
            columns.append(column)
            words += [] if strange is None else [strange]
        single = all(column.dtype == np.float32 for column, names in zip(columns, categories, strict=True) if names is None)
        matrix = np.empty((table.n, table.p), dtype=np.float32 if single else np.float64)
        for j, column in enumerate(columns):
            matrix[:, j] = column
    if words and not missing:
        word = next(iter(words[0].counts))
        raise ValueError(
            f"Input X has {word!r} in row {words[0].first} of column {words[0].column}, which is no number; accepted are finite "
            "numbers; with missing=True it counts as missing."
        )
    check_values(table, matrix, missing)
    return matrix, words


def warn_of_cells(table: ColumnSource, words: list[Words], chosen: Iterable[int] = ()) -> None:
    """Warn of words among numbers, and numbers among categories."""
    if words:
        warn(f"{message_of_words('X', words)}{NAMED}")
    for j in chosen:
        advice = None if is_declared(table, j) else census_of(table, j).advice("X", table.name(j))
        if advice is not None:
            warn(f"{advice}{NAMED}")


def check_values(table: ColumnSource, matrix: NDArray, missing: bool) -> None:
    """Raise ValueError for infinite and unexpected missing values."""
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


def check_range(table: ColumnSource, matrix: NDArray, of_numbers: Iterable[int]) -> None:
    """Raise ValueError for numbers whose squares overflow."""
    if matrix.dtype == np.float32:
        return
    for j in of_numbers:
        if np.fmax.reduce(np.abs(matrix[:, j]), initial=0) > LARGEST:
            raise ValueError(f"X has values beyond {LARGEST:g} in column {table.name(j)}; scale it down.")


class Gathered:
    """Copies of the first rows of a stream.

    They do not depend on the type of the table that held the rows.

    Columns are identified by their places, and have the names of the first rows.  A column of several types is one of numbers,
    if all of these are, or one of objects.
    """

    def __init__(self, state: dict[str, Any]):
        self.state = state
        self.names = state["names"]
        self.n, self.p = state["n"], len(state["dtypes"])

    @classmethod
    def begun(cls, table: ColumnSource) -> Gathered:
        """Return an instance without rows."""
        dtypes = [table.dtype(j) for j in range(table.p)]
        return cls({"names": list(table.names), "n": 0, "dtypes": dtypes, "columns": [[] for _ in dtypes], "y": []})

    def with_rows(self, table: ColumnSource, most: int, y: Any, categories: Any) -> Gathered:
        """Return a table with further rows, up to a number."""
        more, chosen = min(most - self.n, table.n), chosen_categories(table, categories)
        columns = [list(old) for old in self.state["columns"]]
        for j, column in enumerate(columns):
            if j in chosen or not OF_FLOATS.match(table.dtype(j)):
                cells = list(islice(table.objects(j), more))
                check_cells(table, j, cells)
                column += map(simple, cells)
            else:
                column += table.floats(j)[:more].astype(np.float64).tolist()
        dtypes = [common(kind, table.dtype(j)) for j, kind in enumerate(self.state["dtypes"])]
        targets = None if y is None or self.state["y"] is None else [*self.state["y"], *np.asarray(y)[:more].tolist()]
        return Gathered({**self.state, "n": self.n + more, "dtypes": dtypes, "columns": columns, "y": targets})

    @property
    def feature_names(self) -> NDArray | None:
        """The names of the columns, if all are strings."""
        named = len(self.names) > 0 and all(isinstance(name, str) for name in self.names)
        return np.array(self.names, dtype=object) if named else None

    def name(self, j: int) -> str:
        return repr(self.names[j]) if self.names else str(j)

    def dtype(self, j: int) -> str:
        return self.state["dtypes"][j]

    def objects(self, j: int) -> list[Any]:
        return self.state["columns"][j]

    def floats(self, j: int) -> NDArray:
        return np.array(self.state["columns"][j], dtype=np.float64)


def common(kind: str, other: str) -> str:
    """Return a type that holds the values of two."""
    if kind == other:
        return kind
    return "float64" if OF_NUMBERS.match(kind) and OF_NUMBERS.match(other) else "object"


def simple(value: Any) -> Any:
    """Return a value as a number, a text or None."""
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Decimal):
        return None if value.is_nan() else decimal_number(value)
    if isinstance(value, np.generic) and not isinstance(value, np.float32):
        return simple(value.item())
    return category_text(value)
