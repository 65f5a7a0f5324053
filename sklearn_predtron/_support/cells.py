"""Cells of a table: numbers, missing values or categories."""

from __future__ import annotations

import datetime
import math
import re
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from itertools import repeat
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

# The strings that pandas.read_csv takes as missing, and the question mark of the UCI tables.
MISSING = frozenset(
    [
        "",
        "#N/A",
        "#N/A N/A",
        "#NA",
        "-1.#IND",
        "-1.#QNAN",
        "-NaN",
        "-nan",
        "1.#IND",
        "1.#QNAN",
        "<NA>",
        "N/A",
        "NA",
        "NULL",
        "NaN",
        "None",
        "n/a",
        "nan",
        "null",
        "?",
    ]
)
MARKS = frozenset(["-", "--", "---", ".", "..", "*", "#", "\\N"])  # missing in a column of numbers, whatever its length
NEARLY_ALL = 0.95  # of the distinct values of a column of numbers
ENOUGH = 20  # distinct numbers among words that deserve a warning
MANY = 50  # distinct values that deserve a warning if few cells share one
SHOWN = 3  # examples, and
NAMED = 5  # columns, in a warning
SIGNS = re.compile("[$\u20ac\u00a3\u00a5\u20b9]")
THOUSANDS = re.compile("[+-]?\\d{1,3}([,.' \u00a0\u202f]\\d{3})+([.,]\\d+)?$")
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+$")
BELOW_ONE = re.compile(r"[+-]?0,")
COMMAS, SEPARATORS = "decimal commas", "thousands separators"
DATE = re.compile(r"(\d{4}([-/.])\d\d?\2\d\d?|\d\d?([-/.])\d\d?\3\d{4}|\d\d?/\d\d?/\d\d)([T ]\d.*)?$", re.ASCII)
MADE_NUMBERS = ": make numbers of it, as by "
OF_DAYS = f"{MADE_NUMBERS}(pandas.to_datetime(column, utc=True) - pandas.Timestamp('2000-01-01', tz='UTC')).dt.days"
OF_LENGTHS = f"{MADE_NUMBERS}pandas.to_timedelta(column).dt.total_seconds()"


def is_missing_text(text: str) -> bool:
    """Return whether a text means a missing value."""
    return text.strip() in MISSING


def category_text(value: Any) -> str | None:
    """Return a category as text; None if missing. Equal numbers, and booleans among them, have the same text."""
    if isinstance(value, str):
        return str(value)
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, Decimal):
        return None if value.is_nan() else category_text(decimal_number(value))
    if isinstance(value, Real) and not isinstance(value, Integral):
        number = float(str(value)) if isinstance(value, np.float32) else float(value)  # 0.1 in either precision
        return None if math.isnan(number) else str(int(number)) if number.is_integer() else repr(number)
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def decimal_number(value: Decimal) -> int | float:
    """Return a decimal number as exact integer or float."""
    return int(value) if value.is_finite() and value == value.to_integral_value() else float(value)


def number_in(value: Any) -> float | None:
    """Return a cell's number; NaN if missing, else None."""
    if isinstance(value, float):
        return value
    if isinstance(value, (str, bytes)):
        text = value.strip() if isinstance(value, str) else value.decode(errors="replace").strip()
        if text in MISSING:
            return math.nan
        try:
            return None if "_" in text else float(text)  # Python reads 1_000 as a number
        except ValueError:
            return None
    if isinstance(value, (Real, Decimal, np.bool_)):
        try:
            return math.nan if isinstance(value, Decimal) and value.is_nan() else float(value)
        except OverflowError:
            return None
    return math.nan if category_text(value) is None else None


def is_cell(kind: type) -> bool:
    """Return whether values of a type are numbers, strings, booleans or missing."""
    if issubclass(kind, (str, bytes, np.bool_, Real, Decimal)):
        return not issubclass(kind, np.timedelta64)  # which NumPy counts among the integers
    return kind.__name__ in ("NoneType", "NAType", "NaTType")


def other_cell(values: Iterable[Any]) -> tuple[int, type] | None:
    """Return the place and the type of the first value that is no cell of a table, if any."""
    found = list(values)
    others = {kind for kind in set(map(type, found)) if not is_cell(kind)}
    return next(((i, type(value)) for i, value in enumerate(found) if type(value) in others), None) if others else None


def advice_on_objects(kind: type) -> str:
    """Return how to make numbers or strings of values of a type."""
    if issubclass(kind, (datetime.date, np.datetime64)):
        return OF_DAYS
    if issubclass(kind, (datetime.timedelta, np.timedelta64)):
        return OF_LENGTHS
    if issubclass(kind, datetime.time):
        return OF_LENGTHS.replace("column", "column.astype(str)")
    return ": leave the column out, or make strings of it, as by column.map(str), if they are categories"


class Census:
    """The distinct numbers and words of a column.

    Parameters
    ----------
    values : iterable
        Its cells, or its distinct values.
    counts : iterable of int
        How many cells have each of them.
    """

    def __init__(self, values: Iterable[Any] = (), counts: Iterable[int] = repeat(1)):
        self.numbers: set[float] = set()
        self.words: set[str] = set()
        self.filled = 0  # cells that are not missing
        for value, n in zip(values, counts, strict=False):
            self.add(value, n)

    def add(self, value: Any, n: int = 1) -> None:
        """Count n equal cells; booleans are words."""
        number = None if isinstance(value, (bool, np.bool_)) else number_in(value)
        if number is None:
            self.words.add(str(category_text(value)))
        elif number == number:
            self.numbers.add(number)
        self.filled += n * (number is None or number == number)

    @property
    def of_numbers(self) -> bool:
        """Return whether nearly all distinct values are numbers."""
        words = len(self.words - MARKS)
        return len(self.numbers) > 0 and len(self.numbers) >= NEARLY_ALL * (len(self.numbers) + words)

    def advice(self, table: str, column: str) -> str | None:
        """Return a warning of a numeric-looking categorical column, if any."""
        found = forms_of(self.words)
        written = [word for word in sorted(self.words) if form_of(word) is not None]
        n, others = len(self.numbers), len(self.words - MARKS)
        if written and n + len(written) >= NEARLY_ALL * (n + others):
            reading = "decimal=',' of pandas.read_csv, or by " if COMMAS in found else ""
            replacing = "str.replace(',', '.')" if found == [COMMAS] else "str.replace"
            return (
                f"{table} has numbers with {' and '.join(found)}, as {examples(written)}, in column {column}, which is read as "
                f"categories; make numbers of them before, as by {reading}{replacing} and pandas.to_numeric."
            )
        if n >= ENOUGH and n > others:
            return (
                f"{table} has {n} distinct numbers and {others} distinct words, as {examples(sorted(self.words - MARKS))}, in "
                f"column {column}, which is read as categories; if it is of numbers, make the words missing, as by "
                "pandas.to_numeric(errors='coerce')."
            )
        return self._advice_on_many(table, column)

    def _advice_on_many(self, table: str, column: str) -> str | None:
        """Return a warning of dates, or of nearly as many distinct values as cells."""
        n, dates = len(self.numbers) + len(self.words), sorted(filter(DATE.match, self.words))
        if len(dates) >= max(ENOUGH, NEARLY_ALL * n):
            return (
                f"{table} has {len(dates):,} dates, as {examples(dates)}, in column {column}, which is read as "
                f"categories{OF_DAYS}."
            )
        if n >= max(MANY, NEARLY_ALL * self.filled):
            return (
                f"{table} has {n:,} distinct values in {self.filled:,} cells, as {examples(sorted(self.words))}, in column "
                f"{column}, which is read as categories; few rows share one: leave it out, or make numbers of it."
            )
        return None


def form_of(text: str) -> str | None:
    """Return the notation that prevents parsing as a number."""
    bare = SIGNS.sub("", text).strip()
    signs = "a currency sign" if len(bare) < len(text.strip()) else None
    if bare.endswith("%"):
        bare, signs = bare[:-1].strip(), "a percent sign"
    if THOUSANDS.match(bare) and not BELOW_ONE.match(bare):
        return SEPARATORS if signs is None else signs
    if DECIMAL_COMMA.match(bare):
        return COMMAS if signs is None else signs
    number = number_in(bare)
    return None if number is None or number != number else signs


def forms_of(words: Iterable[str]) -> list[str]:
    """Return the notations of a column's numbers that prevent parsing them.

    The comma of 1,234 is a decimal comma if others of the column are.
    """
    found = {word: form for word in words if (form := form_of(word)) is not None}
    if COMMAS in found.values():
        found = {word: COMMAS if DECIMAL_COMMA.match(word.strip()) else form for word, form in found.items()}
    return sorted(set(found.values()))


class Words(NamedTuple):
    """The words among a column of numbers.

    Parameters
    ----------
    column : str
        How a message calls the column.
    counts : Counter
        How many cells have each of them.
    n : int
        The cells of the column.
    first : int
        The row of the first of them.
    """

    column: str
    counts: Counter[str]
    n: int
    first: int

    @property
    def said(self) -> str:
        """Return the column's part of a message."""
        cells = sum(self.counts.values())
        most = [word for word, _ in self.counts.most_common(SHOWN)]
        return f"column {self.column} ({cells:,} of {self.n:,} cells, {cells / self.n:.2%}, as {examples(most)})"


def examples(words: list[str]) -> str:
    """Return some of the words, quoted."""
    return ", ".join(repr(word[:40]) for word in words[:SHOWN])


def message_of_words(table: str, found: list[Words]) -> str:
    """Return a warning of words that count as missing."""
    columns = ", ".join(words.said for words in found[:NAMED]) + (", ..." if len(found) > NAMED else "")
    forms = sorted({form for words in found for form in forms_of(words.counts)})
    written = f"  Some are numbers with {' and '.join(forms)}: write these as 1234.5." if forms else ""
    return f"{table} has words among the numbers of {columns}; they count as missing.{written}"
