"""How svmlight files are read: blocks of lines, and what the lines say."""

from __future__ import annotations

import gzip
import re
import sys
import zlib
from array import array
from bz2 import BZ2File
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader, BytesIO
from itertools import chain
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_svmlight_file

MOST_FEATURES = 2**31 - 1  # whose numbers have 32 bits
MOST_BYTES = sys.maxsize // 2  # whose number, and somewhat more, fits an index
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # which some editors put before UTF-8


def decompressed(raw: IO[bytes], path: str) -> IO[bytes]:
    """Return the file itself, or its contents if its name says that it is compressed."""
    if path.endswith(".gz"):
        return BufferedReader(gzip.GzipFile(fileobj=raw))
    return BufferedReader(BZ2File(raw)) if path.endswith(".bz2") else raw


@dataclass(frozen=True)
class Block:
    """Lines that are parsed together.

    With ids a block has rows only, no comments, and `whole` is how many of them, at its start, are of queries (or sequences)
    known to be whole: a line of another id follows, or the end of the file.
    """

    lines: list[bytes]
    numbers: Sequence[int]
    whole: int
    qid: NDArray[np.int64] | None = None
    # Why the line after the block cannot be read, and its number.
    error: tuple[int, str] | None = None

    def whole_before(self, good: int) -> int:
        """Return how many rows are of whole queries if only the first `good` can be read."""
        if self.qid is None or good == len(self.lines):
            return self.whole
        others = np.flatnonzero(self.qid[:good] != self.qid[good])
        return int(others[-1]) + 1 if len(others) else 0


def line_blocks(file: IO[bytes], most: int, size: int) -> Iterator[Block]:
    """Yield blocks of up to `most` lines, or to the line that makes `size` bytes; the last is empty, unless a line is broken."""
    first, source = 1, read_lines(file, size)
    while True:
        lines: list[bytes] = []
        taken, reason = 0, None
        while len(lines) < most and taken < size:
            line, reason = next(source)
            if reason is not None or not line:
                break
            lines.append(line)
            taken += len(line)
        end = first + len(lines)
        yield Block(lines, range(first, end), len(lines), error=None if reason is None else (end, reason))
        if reason is not None or not lines:
            return
        first = end


def query_blocks(file: IO[bytes], most: int, size: int, group: str) -> Iterator[Block]:
    """Yield blocks of whole queries; each ends with the query that makes it `most` lines or `size` bytes long, or longer.

    No id returns within a block: two queries of one id would be taken for one.  Messages call a query a `group`.
    """
    lines: list[bytes] = []
    numbers, ids = array("q"), array("q")
    # The bytes of the block, where its last query begins, and the bytes of that.
    taken = last = length = 0
    seen: set[int] = set()
    for number, line, qid, reason in rows_of_queries(file, size):
        if reason is None and not (ids and qid == ids[-1]):
            if len(lines) >= most or taken >= size or qid in seen:
                yield Block(lines, numbers, len(lines), np.array(ids, dtype=np.int64))
                lines, numbers, ids, taken = [], array("q"), array("q"), 0
                seen.clear()
            seen.add(qid)
            last, length = len(lines), 0
        length += len(line)
        if reason is None and length > size:
            reason = f"the {group} of qid:{qid}, from line {numbers[last]} on, is longer than chunk_bytes={size}"
        if reason is not None:
            yield Block(lines, numbers, last, np.array(ids, dtype=np.int64), (number, reason))
            return
        lines.append(line)
        numbers.append(number)
        ids.append(qid)
        taken += len(line)
    yield Block(lines, numbers, len(lines), np.array(ids, dtype=np.int64))


def rows_of_queries(file: IO[bytes], size: int) -> Iterator[tuple[int, bytes, int, str | None]]:
    """Yield the lines with rows: number, line, query, and the reason why the line, which is then the last, cannot be read."""
    for number, (line, reason) in enumerate(read_lines(file, size), 1):
        if reason is not None:
            yield number, b"", 0, reason
        elif not line:
            return
        elif fields := line.partition(b"#")[0].split(None, 2):
            qid, reason = query_id(fields)
            yield number, line, qid, reason
        if reason is not None:
            return


def read_lines(file: IO[bytes], size: int) -> Iterator[tuple[bytes, str | None]]:
    """Yield lines, the first without its byte order mark, empty ones at the end, and the reason why one cannot be read."""
    yield read_line(file, size, BYTE_ORDER_MARK)
    while True:
        yield read_line(file, size)


def read_line(file: IO[bytes], size: int, mark: bytes = b"") -> tuple[bytes, str | None]:
    """Return the next line, without the mark it may begin with, and the reason why it cannot be read, if so."""
    try:
        line = file.readline(size + 1 + len(mark)).removeprefix(mark)
    except (EOFError, OSError, zlib.error) as error:
        return b"", str(error)
    return line, f"the line is longer than chunk_bytes={size}" if len(line) > size else None


def query_id(fields: list[bytes]) -> tuple[int, str | None]:
    """Return the id of a row's query, by the row's first two fields, and the reason why there is none, if so."""
    field = fields[min(1, len(fields) - 1)]
    reason = "expected qid:ID, with an integer of 64 bits, after the label"
    if len(fields) > 1 and field.startswith(b"qid:"):
        digits = field[4:]
        qid = int(digits) if re.fullmatch(rb"[+-]?\d{1,20}", digits) else 2**63
        if -(2**63) <= qid < 2**63:
            return qid, None
    return 0, f"{at_field(field)}: {reason}"


class RowLabels:
    """The labels of rows: one a row, or a set."""

    def __init__(self, y: Any):
        several = isinstance(y, list)
        self.start = np.cumsum([0, *map(len, y)]) if several else np.arange(len(y) + 1)
        self.values = np.fromiter(chain.from_iterable(y), dtype=np.float64) if several else y

    def first(self, n: int) -> RowLabels:
        """Return the labels of the first n rows, which have one each."""
        return RowLabels(self.values[:n])

    def indicators(self, classes: NDArray) -> sparse.csr_matrix:
        """Return zeros and ones, a column for each of the sorted classes."""
        ones, shape = np.ones(len(self.values), dtype=np.int64), (len(self.start) - 1, len(classes))
        matrix = sparse.csr_matrix((ones, np.searchsorted(classes, self.values), self.start), shape=shape)
        # A label that a line names twice is in its set.
        matrix.sum_duplicates()
        matrix.data[:] = 1
        return matrix


class Lines:
    """How lines are read: what is the same for all chunks of a pass."""

    def __init__(
        self,
        n_features: int | None,
        zero_based: bool,
        classes: NDArray | None,
        *,
        multilabel: bool,
        relevance: bool,
        dtype: np.dtype,
    ):
        self.n_features = n_features
        self.zero_based = zero_based
        self.classes = classes
        self.multilabel = multilabel
        self.relevance = relevance
        self.dtype = dtype

    def parse(self, lines: list[bytes]) -> tuple[sparse.csr_matrix, RowLabels]:
        """Return X and the labels of the lines."""
        X, y = load_svmlight_file(
            BytesIO(b"".join(lines)),
            n_features=self.n_features,
            zero_based=self.zero_based,
            multilabel=self.multilabel,
            dtype=self.dtype,
        )
        labels = RowLabels(y)
        if not np.isfinite(labels.values).all():
            raise ValueError("the label is not finite")
        if self.relevance and (labels.values < 0).any():
            raise ValueError("the relevance is negative")
        if X.shape[1] > MOST_FEATURES:
            raise ValueError("the index is too large")
        if not np.isfinite(X.data).all():
            raise ValueError(f"the value is not a finite {self.dtype}")
        if self.classes is not None and not np.isin(labels.values, self.classes).all():
            raise ValueError(f"the label is not one of the classes {shortened(self.classes)}")
        # The indices fit, for the parser takes no longer ones, and not all learners take 64 bits.
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        return X, labels

    def parse_good(self, lines: list[bytes]) -> tuple[sparse.csr_matrix, RowLabels, int]:
        """Return X and the labels of the lines before the first that cannot be read, and how many those are."""
        try:
            return *self.parse(lines), len(lines)
        except (ValueError, OverflowError):
            good = first_true(len(lines), lambda low, high: self.error(lines[low:high]) is not None)
        return *self.parse(lines[:good]), good

    def error(self, lines: list[bytes]) -> str | None:
        """Return why the lines cannot be read, if so."""
        try:
            self.parse(lines)
        except (ValueError, OverflowError) as error:
            return str(error)
        return None

    def explain(self, line: bytes) -> str:
        """Return what is wrong with a line, and where in it."""
        fields = line.partition(b"#")[0].split()
        wrong = first_true(len(fields), lambda _, high: self.error([b" ".join(fields[:high])]) is not None)
        reason = self.error([b" ".join(fields[: wrong + 1])])
        if reason is None or "to unpack" in reason:
            reason = "expected INDEX:VALUE"
        elif "Invalid index" in reason:
            reason = f"the indices count from {0 if self.zero_based else 1} (zero_based={self.zero_based})"
        elif "too large" in reason:
            reason = f"the index is beyond {MOST_FEATURES - bool(self.zero_based)}"
        return f"{at_field(fields[wrong])}: {reason}"


def first_true(n: int, holds: Callable[[int, int], bool]) -> int:
    """Return the least i for which holds(low, i + 1), for any low <= i; it must hold for some i < n."""
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        if holds(low, middle):
            high = middle
        else:
            low = middle
    return low


def shortened(labels: NDArray) -> str:
    """Return the labels for a message, the first ten of them."""
    return "[" + ", ".join(f"{label:g}" for label in labels[:10]) + (", ...]" if len(labels) > 10 else "]")


def at_field(field: bytes) -> str:
    """Return the position in a line, for a message."""
    return f"at {field[:40].decode(errors='replace')!r}"
