"""Rows of a table on plain lines, read by columns."""

from __future__ import annotations

import codecs
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.cells import number_in
from sklearn_predtron.datasets._table import TableParser
from sklearn_predtron.datasets.formats.text import TextLines

DELIMITERS = ",;\t|"  # that numbers and quoted cells do not have
ENCODINGS = ("utf-8", "ascii", "iso8859-1", "cp1252")  # whose cells can be decoded one by one
FEWEST, MOST = 64, 2**14  # rows that are read together
MOST_COLUMNS = 2**12  # of longer rows few would be read together
FEW = 8  # rows that are read faster one by one
LONGEST_WAIT = 64  # rows that are read one by one before the next attempt


@dataclass(frozen=True)
class ColumnBlock:
    """Rows by columns.

    Parameters
    ----------
    numbers : ndarray of shape (n, p)
        The numbers; NaN where a cell is text.
    cells : list of tuple
        For each column the rows whose cells are text, and these cells, without white space around them, or their values.
    """

    numbers: NDArray[np.float64]
    cells: Sequence[tuple[list[int], list[Any]]]

    def __getitem__(self, first: slice) -> ColumnBlock:
        """Return the first rows."""
        ends = [bisect_left(rows, first.stop) for rows, _ in self.cells]
        return ColumnBlock(
            self.numbers[first], [(rows[:k], cells[:k]) for k, (rows, cells) in zip(ends, self.cells, strict=True)]
        )

    def copy_to(self, X: NDArray) -> None:
        """Write all values to a matrix."""
        X[:] = self.numbers
        for j, (rows, cells) in enumerate(self.cells):
            if rows:
                X[rows, j] = cells


class ColumnReader:
    """Reads rows by columns where lines are plain; the other rows are read one by one between them.

    Parameters
    ----------
    lines : TextLines
        The lines.
    delimiter : str
        The text between columns.
    width : int
        The number of columns.
    as_text : sequence of int
        Columns whose cells are all wanted as text.
    names : list of str or None
        The names of the columns, if the first line has them; a line that has them again is not read.
    n_accepted : callable
        Returns how many of the rows, from the first one on, can be read by columns.
    """

    def __init__(
        self,
        lines: TextLines,
        delimiter: str,
        width: int,
        as_text: Sequence[int],
        names: Sequence[str] | None,
        n_accepted: Callable[[ColumnBlock], int],
    ):
        self._lines, self._n_accepted = lines, n_accepted
        self._name = None if names is None else next((name for name in names if number_in(name) is None), None)
        known = names is None or self._name is not None
        self._parser: TableParser | None = None
        if known and 1 < width <= MOST_COLUMNS and delimiter in DELIMITERS and codecs.lookup(lines.encoding).name in ENCODINGS:
            mask = np.zeros(width, dtype=np.uint8)
            mask[list(as_text)] = 1
            self._parser = TableParser(delimiter, lines.encoding, mask)
        self._most = FEWEST
        self._left, self._wait = 0, 0  # rows to be read one by one: now, and after the next attempt that finds few

    def __iter__(self) -> Iterator[tuple[int, ColumnBlock]]:
        """Yield the first line and the rows of plain lines, up to a line that is read otherwise."""
        if self._parser is None or self._left > 0:
            self._left -= 1
            return
        while True:
            line, (n, found, end) = self._lines.number + 1, self._read(self._parser)
            if n > 0:
                self._lines.skip(n, end)
                yield line, found
            if n < FEW:
                self._left, self._wait = self._wait, min(2 * self._wait + 1, LONGEST_WAIT)
                return
            self._wait = 0

    def _read(self, parser: TableParser) -> tuple[int, ColumnBlock, int]:
        """Return how many rows are accepted, these rows, and where they end."""
        numbers, cells, end = self._lines.plain_rows(parser, self._most)
        n = len(numbers)
        accepted = min([self._n_accepted(ColumnBlock(numbers, cells)), *self._rows_of_names(cells)]) if n else 0
        if accepted == n:
            self._most = min(2 * self._most, MOST)
        elif accepted > 0:
            self._most = 2 * accepted
            numbers, cells, end = self._lines.plain_rows(parser, accepted)
        return accepted, ColumnBlock(numbers, cells), end

    def _rows_of_names(self, cells: list[tuple[list[int], list[str]]]) -> list[int]:
        """Return rows that may have the names of the columns."""
        return [rows[texts.index(self._name)] for rows, texts in cells if self._name is not None and self._name in texts]
