"""Cost files: a header of pairs, then a line per row."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import IO

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.numbers import LARGEST_LOSS
from sklearn_predtron._support.one_line import one_line
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.cli._data_files import DataFile, FileError, named
from sklearn_predtron.cli._labels import BYTE_ORDER_MARK, decode_word
from sklearn_predtron.cli._unseen import counted
from sklearn_predtron.datasets._compressed import decompressed

AT_ONCE = 10_000  # lines, where nothing else says how many
SEPARATOR = re.compile(rb"\s*,\s*|\s+")
LONGEST_NUMBER = 40  # of a message


class CostsError(ValueError):
    """A cost file is invalid."""


class CostsFile:
    """A cost file, read several times unless it is a pipe.

    Parameters
    ----------
    option : str
        How the user has given it.
    file : DataFile
        The file.
    longest : int
        How many bytes a line has at most.
    """

    def __init__(self, option: str, file: DataFile, longest: int):
        self.option, self.file, self.longest = option, file, longest

    @property
    def said(self) -> str:
        """Return the name of the file in messages."""
        return f"{self.option}={self.file.path!r}"

    @contextmanager
    def open(self) -> Iterator[CostsReader]:
        """Yield a reader of the rows, after reading the header."""
        with closing(self.file.open()) as raw:
            yield CostsReader(decompressed(raw, self.file.path), self.said, self.longest)


class CostsReader:
    """One pass over a file of costs.

    Parameters
    ----------
    lines : file
        The text, at its start.
    said : str
        The name of the file in messages.
    longest : int
        How many bytes a line has at most.
    """

    def __init__(self, lines: IO[bytes], said: str, longest: int):
        self.said = said
        self.rows = 0  # that have been read
        self._lines, self._longest, self._number = lines, longest, 0
        # NumPy's savetxt writes # before a header.
        header = self._line().removeprefix(BYTE_ORDER_MARK).strip().removeprefix(b"#")
        self.pairs = [decode_word(field) for field in fields_of(header)]
        if not self.pairs:
            what = "has no header" if self._number else "is empty"
            raise CostsError(f"{said} {what}; accepted is a first line of pairs, and a line of costs for each row")

    def take(self, n: int) -> NDArray:
        """Return the costs of the next n rows."""
        found = self._rows(n)
        if len(found) < n:
            raise CostsError(f"{self.said} has {counted(self.rows, 'line')} of costs, and the data have more rows")
        return found

    def count(self) -> int:
        """Count the remaining rows of the file."""
        while len(self._rows(AT_ONCE)):
            pass
        return self.rows

    def finish(self) -> None:
        """Raise CostsError if rows are left."""
        taken = self.rows
        if len(self._rows(1)):
            raise CostsError(f"{self.said} has more than {counted(taken, 'line')} of costs, and the data have {taken:,} rows")

    def _rows(self, most: int) -> NDArray:
        """Return the costs of the next rows, up to a number."""
        first, fields = self._number + 1, list[bytes]()
        width = len(self.pairs)
        while len(fields) < most * width and (line := self._line()):
            found = fields_of(line.strip())
            if not found:
                self._check_no_rows_after_blank()
                break
            if len(found) != width:
                raise self._error(self._number, f"{counted(len(found), 'field')}; the header has {counted(width, 'pair')}")
            fields += found
        n = len(fields) // width
        self.rows += n
        return self._parsed(fields, first).reshape(n, width)

    def _parsed(self, fields: list[bytes], first: int) -> NDArray:
        """Return costs as numbers; raise CostsError for other text."""
        found = np.array([number(field) for field in fields], dtype=np.float64)
        strange = np.flatnonzero(~((found >= 0) & (found <= LARGEST_LOSS)))
        if len(strange):
            line, column = divmod(int(strange[0]), len(self.pairs))
            what, pair = shown(fields[strange[0]]), one_line(self.pairs[column], LONGEST_NUMBER)
            raise self._error(first + line, f"{what} for the pair {pair}; accepted are numbers from 0 to {LARGEST_LOSS:g}")
        return found

    def _line(self) -> bytes:
        """Return the next line, which may lack its line feed.

        It is empty at the end.
        """
        try:
            with named(self.said):
                line = self._lines.readline(self._longest + 1)
        except (EOFError, zlib.error) as error:  # of a compressed file that ends early
            raise FileError(f"{self.said}: {error}") from None
        if len(line) > self._longest:
            raise self._error(self._number + 1, f"longer than --chunk-bytes={self._longest}")
        self._number += bool(line)
        return line

    def _check_no_rows_after_blank(self) -> None:
        """Raise CostsError for rows after a blank line."""
        blank = self._number
        while line := self._line():
            if line.strip():
                raise self._error(blank, "the line is blank; accepted is a line of costs for each row")

    def _error(self, number: int, reason: str) -> CostsError:
        return CostsError(f"{self.said}, line {number}: {reason}")


def fields_of(line: bytes) -> list[bytes]:
    """Return the fields between white space and commas."""
    return SEPARATOR.split(line.strip()) if b"," in line else line.split()


def number(field: bytes) -> float:
    """Return a number, nan for any other text."""
    try:
        return float("nan" if b"_" in field else field)  # Python's numbers may have underscores
    except ValueError:
        return np.nan


def shown(field: bytes) -> str:
    """Return a field as a message shows it."""
    return one_line(decode_word(field), LONGEST_NUMBER) if not np.isnan(number(field)) else shortened(decode_word(field))
