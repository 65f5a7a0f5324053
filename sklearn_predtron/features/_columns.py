"""Columns of arrays and data frames: numbers or categories."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from numbers import Integral, Real
from typing import Any, Protocol
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.rows import issparse
from sklearn_predtron._support.cells import (
    OF_DAYS,
    OF_LENGTHS,
    Census,
    Words,
    advice_on_objects,
    category_text,  # ONNX graphs use it
    examples,
    is_missing_text,
    number_in,
    other_cell,
)
from sklearn_predtron._support.dicts import refuse_dicts, refuse_lazy

MOST_CATEGORIES = 256  # with a place of their own
HASHED = 256  # places for the others of a column

OF_NUMBERS = re.compile(r"(u?int\d*|float\d*|double|halffloat|decimal.*|null|sparse\[(u?int|float).*)(\[pyarrow\])?$")
OF_ENCODED = re.compile(r"(string|large_string|utf8|dictionary<values=(string|large_string|bool|u?int\d+))")  # of pyarrow
OF_RANKED = re.compile(r"(string|str|utf8|categorical|enum)")  # of polars
OF_DATES, OF_SPANS, OF_TIMES = re.compile("date|timestamp"), re.compile("timedelta|duration"), re.compile("time|period")
OF_BOOLEANS = re.compile(r"(bool|sparse\[bool)")
OF_MIXED = re.compile(r"(object|str$|string|large_string|utf8)")  # whose cells are numbers, words or both
SAME_AS_CELLS = re.compile(r"(float64|u?int\d+|bool(ean)?|object|str|string|category)$")  # of pandas, as columns and as cells
FEW = 8  # rows
OF_TEXTS = re.compile(r"(bool|sparse\[bool|object|str|large_string|string_view|utf8|categor|enum|dictionary)")


class ColumnSource(Protocol):
    """Access to columns of frames, arrays and gathered rows."""

    n: int
    p: int
    names: list[Any]

    def name(self, j: int) -> str:
        """Return the column's name for messages."""

    def dtype(self, j: int) -> str:
        """Return the type of its values, in lower case."""

    def objects(self, j: int) -> Iterable[Any]:
        """Return its values as Python objects."""

    def floats(self, j: int) -> NDArray:
        """Return its values as floats; missing is NaN."""


class Frame:
    """A pandas, polars or pyarrow table, column by column."""

    def __init__(self, X: Any):
        self.X = X
        self.names = list(X.column_names if hasattr(X, "column_names") else X.columns)
        self.n, self.p = X.shape

    def column(self, j: int) -> Any:
        if hasattr(self.X, "iloc"):
            return self.X.iloc[:, j]
        return self.X.column(j) if hasattr(self.X, "column_names") else self.X.to_series(j)

    def name(self, j: int) -> str:
        return repr(self.names[j])

    def dtype(self, j: int) -> str:
        column = self.column(j)
        return str(column.dtype if hasattr(column, "dtype") else column.type).lower()

    def objects(self, j: int) -> Iterable[Any]:
        column = self.column(j)
        if self.dtype(j) in ("float32", "float"):
            return self.floats(j)
        if hasattr(column, "to_pylist"):
            return column.to_pylist()
        return column.to_list() if hasattr(column, "to_physical") else column.astype(object).to_numpy()

    def known(self, j: int) -> tuple[Iterable[Any], NDArray] | None:
        """Return a column's distinct values and the rows' numbers.

        The number of a missing value is -1.  Return None for a column of another type, whose values may have several types.
        """
        column, kind = self.column(j), self.dtype(j)
        if hasattr(self.X, "iloc"):
            if kind == "category":
                return column.cat.categories, column.cat.codes.to_numpy()
            return factorized(column) if kind in ("object", "str", "string") else None
        if hasattr(column, "dictionary_encode"):
            return encoded(column) if OF_ENCODED.match(kind) else None
        return ranked(column) if OF_RANKED.match(kind) else None

    def floats(self, j: int) -> NDArray:
        column = self.column(j)
        if hasattr(self.X, "iloc"):
            kind = np.float32 if self.dtype(j) == "float32" else np.float64
            return column.to_numpy(dtype=kind, na_value=np.nan)
        if hasattr(column, "to_physical") and self.dtype(j) != "float32":
            return column.cast(float).to_numpy()  # numpy has no integers of 128 bits
        return as_floats(np.asarray(column.to_numpy()))


class FewRows:
    """A few rows of a pandas frame; their cells are read at once, because reading column by column takes 50 us a column."""

    def __init__(self, X: Any, dtypes: list[str]):
        self.names = list(X.columns)
        self.n, self.p = X.shape
        self.dtypes, self.cells = dtypes, X.to_numpy(dtype=object)

    def name(self, j: int) -> str:
        return repr(self.names[j])

    def dtype(self, j: int) -> str:
        return self.dtypes[j]

    def objects(self, j: int) -> Iterable[Any]:
        return self.cells[:, j]

    def floats(self, j: int) -> NDArray:
        return np.array([math.nan if type(cell).__name__ == "NAType" else float(cell) for cell in self.cells[:, j]])


def opened_frame(X: Any) -> Frame | FewRows:
    """Return the columns of a data frame or table."""
    if hasattr(X, "iloc") and len(X) <= FEW:
        dtypes = [lower(dtype) for dtype in X.dtypes]
        if all(SAME_AS_CELLS.match(dtype) for dtype in dtypes):
            return FewRows(X, dtypes)
    return Frame(X)


def has_names(X: Any, names: Any) -> bool:
    """Whether X is a pandas frame with rows and exactly these columns, which needs no check of scikit-learn (100 us)."""
    return names is not None and hasattr(X, "iloc") and len(X) > 0 and list(X.columns) == list(names)


@cache
def lower(dtype: Any) -> str:
    """Return the name of a type in lower case."""
    return str(dtype).lower()


def factorized(column: Any) -> tuple[Iterable[Any], NDArray] | None:
    """Return a pandas column's texts and rows' numbers; None if other values are among them."""
    import pandas as pd

    if pd.api.types.infer_dtype(column, skipna=True) != "string":
        return None
    codes, values = pd.factorize(column)
    return values, codes


def encoded(column: Any) -> tuple[Iterable[Any], NDArray]:
    """Return a pyarrow column's distinct values and rows' numbers."""
    whole = column.dictionary_encode().unify_dictionaries().combine_chunks()
    return whole.dictionary.to_pylist(), whole.indices.fill_null(-1).to_numpy(zero_copy_only=False)


def ranked(column: Any) -> tuple[Iterable[Any], NDArray]:
    """Return a polars column's texts and rows' numbers."""
    import polars as pl

    texts = column.cast(pl.String)
    return texts.drop_nulls().unique().sort().to_list(), texts.rank("dense").fill_null(0).to_numpy().astype(np.intp) - 1


class Array:
    """A matrix of numbers, objects or strings."""

    def __init__(self, X: NDArray):
        self.X = X
        self.names: list[Any] = []
        self.n, self.p = X.shape
        self.of_numbers = X.dtype.kind == "f"
        self.kind = str(X.dtype).lower() if self.of_numbers else "object"

    def name(self, j: int) -> str:
        return str(j)

    def dtype(self, j: int) -> str:
        return self.kind

    def objects(self, j: int) -> Iterable[Any]:
        return self.X[:, j] if self.X.dtype == np.float32 else self.X[:, j].tolist()

    def floats(self, j: int) -> NDArray:
        return as_floats(self.X[:, j])


def opened(X: Any) -> Frame | FewRows | Array:
    """Return the columns of X."""
    if (
        type(X) is np.ndarray
        and X.dtype in (np.float64, np.float32)
        and X.ndim == 2
        and X.flags.c_contiguous
        and X.flags.aligned
        and X.size
    ):
        return Array(X)  # as it is
    if issparse(X):
        raise ValueError(f"X is a sparse {type(X).__name__}; features= takes dense rows and data frames.")
    refuse_lazy(X)
    refuse_dicts(X)
    if is_frame(X):
        frame = opened_frame(X)
        for size, what in ((frame.n, "sample"), (frame.p, "feature")):
            if size < 1:
                shape = f"(shape={X.shape})"
                raise ValueError(f"Found array with 0 {what}(s) {shape} while a minimum of 1 is required.")
        return frame
    given = X if isinstance(X, np.ndarray) or not hasattr(X, "__len__") else np.asarray(X)
    if getattr(getattr(given, "dtype", None), "kind", "f") not in "biufcOUSTV":
        raise ValueError(f"X is an array of {given.dtype}; accepted are numbers, categories, strings and booleans.")
    of_texts = getattr(getattr(given, "dtype", None), "kind", "f") in "OUST" and getattr(given, "ndim", 0) == 2
    kinds = None if of_texts else [np.float64, np.float32]
    from sklearn.utils import check_array  # a predictor reads columns without scikit-learn

    found = check_array(given, dtype=kinds, order="C", ensure_all_finite=False, input_name="X")
    return Array(np.require(found, requirements=["C", "A"]))


def is_frame(X: Any) -> bool:
    """Return whether X is a data frame or Arrow table."""
    return (hasattr(X, "columns") or hasattr(X, "column_names")) and hasattr(X, "shape")


def as_floats(values: NDArray) -> NDArray:
    """Return numbers in single or double precision, None as NaN."""
    return np.asarray(values, dtype=np.float32 if values.dtype == np.float32 else np.float64)


def numbers_in_column(table: ColumnSource, j: int, *, known: bool) -> tuple[NDArray, Words | None]:
    """Return a column's numbers, and its stray words.

    `known` says that the column holds numbers, whatever these rows have; otherwise ValueError is raised if few cells have some.
    """
    check_type(table, j)
    kind = table.dtype(j)
    if OF_NUMBERS.match(kind) or OF_BOOLEANS.match(kind):
        return table.floats(j), None
    values, codes = cells_of(table, j)
    if codes is None:
        check_cells(table, j, values, as_number=not known)
    numbers = [number_in(value) for value in values]
    found = np.array([math.nan if number is None else number for number in numbers], dtype=np.float64)
    strange = np.array([number is None for number in numbers], dtype=bool)
    if codes is not None:
        found, strange = found[codes], strange[codes]
    if not strange.any():
        return found, None
    if not known and not Census(values).of_numbers:
        word = category_text(values[int(np.argmax(strange)) if codes is None else codes[int(np.argmax(strange))]])
        raise ValueError(
            f"X has values in column {table.name(j)}, of type {kind}, that are not numbers, as {word!r}; name it in categories=, "
            "and pass it in a data frame or an array of objects."
        )
    at = np.flatnonzero(strange)
    counts = Counter(str(category_text(values[i if codes is None else codes[i]])) for i in at.tolist())
    return found, Words(table.name(j), counts, table.n, int(at[0]))


def cells_of(table: ColumnSource, j: int) -> tuple[list[Any], NDArray | None]:
    """Return the cells of a column, possibly as distinct values.

    Then the last distinct value is None, and each cell's number is returned.
    """
    known = table.known(j) if isinstance(table, Frame) else None
    if known is None:
        return list(table.objects(j)), None
    values, codes = [*known[0], None], known[1]
    return values, np.where(codes < 0, len(values) - 1, codes)


def census_of(table: ColumnSource, j: int) -> Census:
    """Return the distinct numbers and words of a column."""
    values, codes = cells_of(table, j)
    if codes is None:
        check_cells(table, j, values)
        return Census(values)
    there, counts = np.unique(codes, return_counts=True)
    return Census([values[code] for code in there], counts.tolist())


def refuse_columns(X: Any) -> None:
    """Raise an error for non-numeric columns without features=; it names the column; X that is no table passes."""
    check_no_texts(X)
    of_objects = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUST"
    if not of_objects and not is_frame(X):
        return
    table = Array(X) if of_objects else Frame(X)
    for j in range(table.p):
        name, kind = table.name(j), table.dtype(j)
        if advice := advice_on_type(kind):
            raise ValueError(f"X has a column {name} of type {kind}; accepted are numbers{advice}.")
        try:
            table.floats(j)
        except (TypeError, ValueError) as error:
            other = other_cell(table.objects(j)) if kind == "object" else None
            hint = (
                "features='piecewise' and 'auto' take strings and categories as they are, or encode them before, as by "
                "sklearn.preprocessing.OneHotEncoder"
            )
            if other is None and OF_MIXED.match(kind) and (found := census_of(table, j)).of_numbers:
                hint = (
                    f"nearly all of them are numbers: make the others missing, as by pandas.to_numeric(errors='coerce'), or "
                    f"numbers ({examples(sorted(found.words))})"
                )
            elif other is not None:
                hint = advice_on_objects(other[1]).removeprefix(": ")
            raise (TypeError if isinstance(error, TypeError) else ValueError)(
                f"X has values in column {name}, of type {kind}, that are not numbers ({error}); {hint}."
            ) from None


def check_no_texts(X: Any) -> None:
    """Raise an error for texts in the place of rows; lists with as many tokens as they happen to have are texts, too."""
    if not (isinstance(X, (list, tuple)) or (isinstance(X, np.ndarray) and X.ndim == 1)) or len(X) == 0:
        return
    if isinstance(X[0], str):
        raise ValueError(
            "X holds texts; accepted are rows of numbers, which TfidfVectorizer and HashingVectorizer make of texts."
        )
    if all(isinstance(row, (list, tuple)) for row in X) and len({len(row) for row in X}) > 1:
        raise ValueError(
            "X holds lists of different lengths; accepted are rows of the same length.  Of a list of sentences, each a list "
            "of tokens, datasets.stack_sequences makes one list of tokens, and sid."
        )


def distinct_texts(table: ColumnSource, j: int) -> tuple[list[str | None], NDArray]:
    """Return a column's distinct texts and rows' numbers."""
    if isinstance(table, Array) and table.of_numbers:
        values, inverse = np.unique(table.X[:, j], return_inverse=True)
        return [category_text(value) for value in values], inverse.reshape(-1)
    texts: list[str | None]
    known = table.known(j) if isinstance(table, Frame) else None
    if known is not None:
        own, codes = known
        texts = [*map(category_text, own), None]
        return texts, np.where(codes < 0, len(texts) - 1, codes).astype(np.intp)
    cells = list(table.objects(j))
    check_cells(table, j, cells)
    found: dict[Any, int] = {}
    texts = []
    inverse = np.empty(table.n, dtype=np.intp)
    for i, value in enumerate(cells):
        text = value if type(value) is str else category_text(value)
        number = found.setdefault(text, len(texts))
        if number == len(texts):
            texts.append(text)
        inverse[i] = number
    return texts, inverse


def categories_in(table: ColumnSource, j: int) -> tuple[NDArray, int]:
    """Return frequent categories, and the number of shared places."""
    texts, inverse = distinct_texts(table, j)
    counts: Counter[str] = Counter()
    for text, count in zip(texts, np.bincount(inverse, minlength=len(texts)), strict=True):
        if text is not None and count and not is_missing_text(text):
            counts[text] += int(count)
    order = sorted(counts, key=lambda text: (-counts[text], text))
    return np.array(order[:MOST_CATEGORIES], dtype=str), HASHED if len(order) > MOST_CATEGORIES else 0


def codes_of(table: ColumnSource, j: int, categories: NDArray, hashed: int) -> NDArray:
    """Return category numbers; missing is NaN, unknown -1."""
    texts, inverse = distinct_texts(table, j)
    known = {text: code for code, text in enumerate(categories.tolist())}
    codes = [known.get(text, math.nan if text is None else other_code(text, len(known), hashed)) for text in texts]
    return np.array(codes, dtype=np.float64)[inverse]


def other_code(text: str, n_known: int, hashed: int) -> float:
    """Return the number of an unknown category's text."""
    return math.nan if is_missing_text(text) else hashed_code(text, n_known, hashed)


def hashed_code(text: str, n_known: int, hashed: int) -> int:
    """Return the number of a category by hashing."""
    return n_known + crc32(text.encode("utf-8", "surrogatepass")) % hashed if hashed else -1


def check_type(table: ColumnSource, j: int) -> None:
    """Raise an error for a column of unsupported type; dates are an example."""
    kind = table.dtype(j)
    if not (OF_NUMBERS.match(kind) or OF_TEXTS.match(kind)):
        raise ValueError(
            f"X has a column {table.name(j)} of type {kind}; accepted are numbers, categories, strings and booleans"
            f"{advice_on_type(kind)}."
        )


def advice_on_type(kind: str) -> str:
    """Return advice on columns of dates or times."""
    if OF_DATES.match(kind):
        return OF_DAYS
    if OF_SPANS.match(kind):
        return OF_LENGTHS
    return ": make numbers of it, such as seconds or days" if OF_TIMES.match(kind) else ""


def check_cells(table: ColumnSource, j: int, values: Iterable[Any], *, as_number: bool = False) -> None:
    """Raise ValueError for objects that are no cells.

    Where only numbers are accepted, the error is the TypeError of scikit-learn.
    """
    other = other_cell(values) if table.dtype(j) == "object" else None
    if other is None:
        return
    row, kind = other
    name, advice = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins."), advice_on_objects(kind)
    if as_number:
        raise TypeError(
            f"X has values in column {table.name(j)}, of type object, that are not numbers (argument must be a string or a real "
            f"number, not {name}){advice}."
        )
    raise ValueError(
        f"X has a column {table.name(j)} of type object, with a {name} in row {row}; accepted are numbers, categories, strings "
        f"and booleans{advice}."
    )


def is_declared(table: ColumnSource, j: int) -> bool:
    """Return whether a column is categorical by its type."""
    check_type(table, j)
    kind = table.dtype(j)
    return not OF_NUMBERS.match(kind) and not OF_MIXED.match(kind)


def is_category(table: ColumnSource, j: int) -> bool:
    """Return whether a column is categorical by type or cells."""
    if is_declared(table, j) or OF_NUMBERS.match(table.dtype(j)):
        return is_declared(table, j)
    found = census_of(table, j)
    return not found.of_numbers if found.numbers or found.words else table.dtype(j) != "object"


def chosen_categories(table: ColumnSource, categories: Any) -> set[int]:
    """Return the categorical columns for the parameter `categories`."""
    if is_auto(categories):
        return {j for j in range(table.p) if is_category(table, j)}
    return set() if categories is None else set(named_columns(table, categories))


def signs_of(table: ColumnSource, monotonic_cst: Any, categories: set[int]) -> NDArray:
    """Return the constraint of each column by the parameter `monotonic_cst`, which columns of categories cannot have."""
    accepted = "accepted are None, a list of -1, 0 or 1 for each column, and a dict of names of columns to these"
    if isinstance(monotonic_cst, Mapping):
        strange = [name for name in monotonic_cst if name not in table.names]
        if strange:
            known = ": " + ", ".join(map(repr, table.names[:20])) if table.names else ", of which X has none"
            raise ValueError(
                f"monotonic_cst={monotonic_cst!r} names a column {strange[0]!r} that X does not have; {accepted}{known}."
            )
        given = [monotonic_cst.get(name, 0) for name in table.names]
    else:
        given = monotonic_cst.tolist() if hasattr(monotonic_cst, "tolist") else monotonic_cst
    if not isinstance(given, (list, tuple)) or not all(isinstance(sign, Real) and sign in (-1, 0, 1) for sign in given):
        raise ValueError(f"monotonic_cst={monotonic_cst!r} is not known; {accepted}.")
    if len(given) != table.p:
        raise ValueError(f"monotonic_cst={monotonic_cst!r} has {len(given)} entries, and X has {table.p} columns; {accepted}.")
    signs = np.array(given, dtype=np.intp)
    for j in np.flatnonzero(signs).tolist():
        if j in categories:
            raise ValueError(
                f"monotonic_cst={monotonic_cst!r} constrains column {table.name(j)}, which holds categories; accepted are "
                "columns of numbers: make numbers of it, or leave it free."
            )
    return signs


def is_auto(categories: Any) -> bool:
    """Return whether types and cells determine categorical columns."""
    return isinstance(categories, str) and categories == "auto"


def named_columns(table: ColumnSource, categories: Any) -> Iterator[int]:
    """Yield the numbers of columns given by name or number."""
    names = table.names
    at = dict(zip(reversed(names), reversed(range(len(names))), strict=True))
    for column in categories:
        if isinstance(column, Integral) and not isinstance(column, bool) and column not in at:
            if not -table.p <= int(column) < table.p:
                raise ValueError(f"categories={categories!r} names column {column}, and X has {table.p} columns.")
            yield int(column) % table.p
        elif column in at:
            yield at[column]
        else:
            raise ValueError(
                f"categories={categories!r} names a column {column!r} that X does not have; accepted are 'auto', None, and a "
                f"list of numbers of columns{' and of names: ' + ', '.join(map(repr, names[:20])) if names else ''}."
            )
