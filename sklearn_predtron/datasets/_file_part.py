"""Parts of a file: byte ranges of whole lines or queries."""

from __future__ import annotations

import os
from io import DEFAULT_BUFFER_SIZE
from numbers import Integral
from typing import IO, Any

from sklearn_predtron.datasets._blocks import query_id

LINES_AT_ONCE = 2**20  # bytes in which lines are counted


def check_part(part: Any, path: str, cache: Any) -> None:
    """Raise ValueError for invalid parts, and files without parts."""
    if part is None:
        return
    is_part = isinstance(part, tuple) and len(part) == 2 and all(isinstance(number, Integral) for number in part)
    if not (is_part and 0 <= part[0] < part[1]):
        raise ValueError(f"part={part!r} is not known; accepted are None and (i, n), the part i of n, counted from 0.")
    if not can_be_cut(path):
        raise ValueError(f"part={part!r} is not accepted with path={path!r}: only a plain file can be read from its middle.")
    if cache:
        raise ValueError(f"part={part!r} is not accepted with cache={cache!r}, which is of a whole file.")


def can_be_cut(path: str) -> bool:
    """Return whether a file is seekable, or missing."""
    return not path.endswith((".gz", ".bz2")) and (os.path.isfile(path) or not os.path.exists(path))


def find_range(file: IO[bytes], part: tuple[int, int], group: str | None, longest: int) -> tuple[int, int]:
    """Return the start and the end of a part."""
    (i, n), size = part, os.fstat(file.fileno()).st_size
    begin, end = (cut_at(file, size * place // n, size, group, longest) for place in (i, i + 1))
    return begin, end


def cut_at(file: IO[bytes], place: int, size: int, group: str | None, longest: int) -> int:
    """Return the first line or query after a place."""
    if place in (0, size):
        return place
    file.seek(place - 1)
    skip_line(file)
    return file.tell() if group is None else next_query(file, longest)


def skip_line(file: IO[bytes]) -> None:
    """Read up to the end of a line, whatever its length."""
    while (rest := file.readline(DEFAULT_BUFFER_SIZE)) and not rest.endswith(b"\n"):
        pass


def next_query(file: IO[bytes], longest: int) -> int:
    """Return the start of the next query, or the end.

    Both rows must have an id that can be read: only then a reader of the whole file knows that a query ends there.
    """
    before, length = None, 0  # of the rows in a row with that id, or none, as far as they were read here
    while line := file.readline(longest + 1):
        begin = file.tell() - len(line)
        is_long = len(line) > longest
        if is_long and not line.endswith(b"\n"):
            skip_line(file)
        fields = line.partition(b"#")[0].split(maxsplit=2)
        if not fields and not is_long:
            continue
        qid = query_id(fields[1]) if len(fields) > 1 and not is_long else None
        length = len(line) + (length if qid == before else 0)
        # Twice, for then a query that is too long is not cut before it is too long.
        if length > 2 * longest or (None not in (qid, before) and qid != before):
            return begin
        before = qid
    return file.tell()


def count_lines(file: IO[bytes], end: int) -> int:
    """Return the number of lines that end before a position."""
    file.seek(0)
    return sum(file.read(min(LINES_AT_ONCE, end - at)).count(b"\n") for at in range(0, end, LINES_AT_ONCE))


class FilePart:
    """A file that ends earlier.

    Parameters
    ----------
    file : binary file
        The file, at the start of the part.
    end : int
        Where the part ends.
    """

    def __init__(self, file: IO[bytes], end: int):
        self._file, self._end = file, end

    def readinto1(self, buffer: Any) -> int:
        """Read bytes of the part; return how many."""
        left = max(0, self._end - self._file.tell())
        return self._file.readinto1(buffer[:left])  # type: ignore[attr-defined]
