"""Numbered lines of text, which must be decodable."""

from __future__ import annotations

import zlib
from typing import IO

from sklearn_predtron.cli._labels import BYTE_ORDER_MARK
from sklearn_predtron.datasets import BrokenLineError

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
            hint = "; --encoding says another one" if self.encoding == UTF_8 else ""
            place = f"byte {line[error.start]:#04x} at place {error.start + 1}"
            raise self.broken(f"the line is no text in {self.encoding.upper()}: {place}{hint}") from None

    def broken(self, reason: str, number: int | None = None) -> BrokenLineError:
        """Return the error of a line, by default the last."""
        return BrokenLineError(self.path, self.number if number is None else number, reason)
