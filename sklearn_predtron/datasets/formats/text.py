"""Numbered lines of text, which must be decodable."""

from __future__ import annotations

import math
import sys
import zlib
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.numbers import LARGEST_LOSS
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.datasets._broken_lines import BrokenLineError
from sklearn_predtron.datasets._table import PADDING, TableParser
from sklearn_predtron.datasets.formats.labels import BYTE_ORDER_MARK

UTF_8 = "utf-8"


class TextLines:
    """The lines of a file, as text with their ends.

    Parameters
    ----------
    file : binary file
        The file.
    path : str
        Its name in errors.
    longest : int
        How many bytes a line may have.
    encoding : str
        The encoding of the text.
    at_once : int
        How many bytes are read ahead at least, if lines are.
    """

    def __init__(self, file: IO[bytes], path: str, longest: int, encoding: str = UTF_8, at_once: int = 1):
        self._file, self.path, self.longest, self.encoding, self._at_once = file, path, longest, encoding, at_once
        self.number = 0  # of the last line
        self.n_bytes = 0  # up to its end
        self.most_rows, self.chunk_end = sys.maxsize, sys.maxsize  # rows that the present chunk may still take, and `n_bytes`
        self._ahead, self._at, self._end = b"", 0, 0  # bytes that are read ahead, from where to where, and padding
        self._error: Exception | None = None  # that reading ahead has met

    def __iter__(self) -> TextLines:
        return self

    def __next__(self) -> str:
        self.number += 1
        try:
            line = self._next_line()
        except (EOFError, OSError, zlib.error) as error:
            raise self.broken(str(error)) from None
        if not line:
            self.number -= 1
            raise StopIteration
        if len(line) > self.longest:
            raise self.broken(f"the line is longer than chunk_bytes={self.longest}")
        self.n_bytes += len(line)
        return self._decode_line(line)

    def _next_line(self) -> bytes:
        """Return the next line, or the start of a line that is too long."""
        if self.unread == 0 and self._error is None:
            return self._file.readline(self.longest + 1)
        stop = self._ahead.find(b"\n", self._at, self._end) + 1 or self._end
        line = self._ahead[self._at : min(stop, self._at + self.longest + 1)]
        self._at += len(line)
        if not line.endswith(b"\n") and len(line) <= self.longest:
            if self._error is not None:
                raise self._error
            line += self._file.readline(self.longest + 1 - len(line))
        return line

    @property
    def unread(self) -> int:
        """The number of bytes that were read ahead."""
        return self._end - self._at

    def plain_rows(self, parser: TableParser, most: int) -> tuple[NDArray[np.float64], list[tuple[list[int], list[str]]], int]:
        """Return the rows of the plain lines that follow, and where they end; `skip` goes there."""
        if self._error is None and self._ahead.find(b"\n", self._at, self._end) < 0:
            self._read_ahead()
        most_bytes = max(1, self.chunk_end - self.n_bytes)
        return parser.parse(self._ahead, self._at, min(most, self.most_rows), most_bytes, self.longest)

    def skip(self, n: int, end: int) -> None:
        """Go on behind n lines, which end there."""
        self.number += n
        self.n_bytes += end - self._at
        self._at = end

    def _read_ahead(self) -> None:
        """Read ahead up to the end of a line."""
        found = [self._ahead[self._at : self._end]]
        size, whole = len(found[0]), False
        try:
            while (size < self._at_once or not whole) and size <= self.longest:
                more = self._file.read1()  # type: ignore[attr-defined]
                if not more:
                    break
                found.append(more)
                size, whole = size + len(more), whole or b"\n" in more
        except (EOFError, OSError, zlib.error) as error:
            self._error = error
        self._ahead, self._at = b"".join([*found, bytes(PADDING)]), 0
        self._end = len(self._ahead) - PADDING

    def _decode_line(self, line: bytes) -> str:
        """Decode a line."""
        if b"\0" in line:
            raise self.broken("the line has a NUL byte, which text has not")
        try:
            return (line.removeprefix(BYTE_ORDER_MARK) if self.number == 1 else line).decode(self.encoding)
        except UnicodeDecodeError as error:
            hint = "; the parameter `encoding` names another one" if self.encoding == UTF_8 else ""
            place = f"byte {line[error.start]:#04x} at place {error.start + 1}"
            raise self.broken(f"the line is no text in {self.encoding.upper()}: {place}{hint}") from None

    def cost(self, column: str, cell: Any, number: int | None = None) -> float:
        """Return the cost in a column of the row in a line, by default the last one."""
        try:
            cost = float(cell) if not isinstance(cell, str) or "_" not in cell else math.nan  # as Python's numbers may have
        except (TypeError, ValueError, OverflowError):
            cost = math.nan
        if not 0 <= cost <= LARGEST_LOSS:
            text = shortened(cell)
            raise self.broken(f"the cost {shortened(column)} has {text}; accepted are numbers from 0 to {LARGEST_LOSS:g}", number)
        return cost

    def broken(self, reason: str, number: int | None = None) -> BrokenLineError:
        """Return the error of a line, by default the last."""
        return BrokenLineError(self.path, self.number if number is None else number, reason)


def counted(n: int, what: str) -> str:
    """Return a number of things."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"
