"""Numbered lines of text, which must be decodable."""

from __future__ import annotations

import math
import zlib
from typing import IO, Any

from sklearn_predtron._support.numbers import LARGEST_LOSS
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.datasets._broken_lines import BrokenLineError
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
    """

    def __init__(self, file: IO[bytes], path: str, longest: int, encoding: str = UTF_8):
        self._file, self.path, self.longest, self.encoding = file, path, longest, encoding
        self.number = 0  # of the last line
        self.n_bytes = 0  # up to its end

    def __iter__(self) -> TextLines:
        return self

    def __next__(self) -> str:
        self.number += 1
        try:
            line = self._file.readline(self.longest + 1)
        except (EOFError, OSError, zlib.error) as error:
            raise self.broken(str(error)) from None
        if not line:
            self.number -= 1
            raise StopIteration
        if len(line) > self.longest:
            raise self.broken(f"the line is longer than chunk_bytes={self.longest}")
        self.n_bytes += len(line)
        return self._decode_line(line)

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
