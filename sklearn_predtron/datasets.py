"""Readers of data that need not fit in memory."""

from __future__ import annotations

import gzip
import os
import zlib
from bz2 import BZ2File
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BufferedReader, BytesIO
from itertools import chain
from numbers import Integral
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.datasets import load_svmlight_file

__all__ = ["BrokenLineError", "SvmlightReader", "SvmlightSummary"]


class BrokenLineError(ValueError):
    """A line of a data file cannot be read.

    Parameters
    ----------
    path : str
        The file.
    line_number : int
        The line, counted from 1.
    reason : str
        What is wrong with it.

    Examples
    --------
    >>> from sklearn_predtron.datasets import BrokenLineError
    >>> print(BrokenLineError("train.svm", 17, "expected INDEX:VALUE"))
    train.svm, line 17: expected INDEX:VALUE
    """

    def __init__(self, path: str, line_number: int, reason: str):
        super().__init__(path, line_number, reason)
        self.path = path
        self.line_number = line_number
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}, line {self.line_number}: {self.reason}"


@dataclass(frozen=True)
class SvmlightSummary:
    """What a first pass finds in an svmlight file.

    Parameters
    ----------
    n_rows : int
        Rows.
    n_features : int
        Width: the largest feature index, counted from 1.
    classes : ndarray of shape (n_classes,)
        The distinct labels of all rows, sorted.
    zero_based : bool
        Whether indices are read as counted from 0; for ``zero_based="auto"``, whether the index 0 occurs.
    error : BrokenLineError or None
        The first line that cannot be read; the rest of the summary is of the lines before it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_predtron.datasets import SvmlightSummary
    >>> SvmlightSummary(150, 4, np.array([0.0, 1.0, 2.0]), False, None).n_features
    4
    """

    n_rows: int
    n_features: int
    classes: NDArray
    zero_based: bool
    error: BrokenLineError | None


class SvmlightReader:
    """An svmlight file, read in chunks: memory is bounded by the chunk, not by the file.

    Iterating yields ``(X, y, first_line)``: a CSR matrix, the labels, and the number (from 1) of the chunk's first line.  With
    `multilabel` a line begins with any number of labels and commas between them, as "1,3 5:0.2", and y is an indicator matrix:
    CSR, zeros and ones.  A chunk without rows is left out.  Comments, blank lines and ``qid:`` columns are skipped.  A line
    that cannot be read raises `BrokenLineError`, after the rows before it were yielded: a label or value that is not a finite
    number, an index that is not greater than the one before it, an index beyond `n_features`, a label not in `classes`.

    Parameters
    ----------
    path : str or path-like
        The file; ``.gz`` and ``.bz2`` files are decompressed as they are read.
    n_features : int, default=None
        Width of X; None is what `scan` finds.
    zero_based : bool or "auto", default="auto"
        Whether indices count from 0; "auto" is whether `scan` finds the index 0.
    classes : array-like, default=None
        The labels that may occur; None is any number, and with `multilabel` what `scan` finds.
    multilabel : bool, default=False
        Whether a row has a set of labels; column j of y is the j-th label of the sorted `classes`.
    chunk_rows : int, default=10_000
        Lines in a chunk, at most.
    chunk_bytes : int, default=8 * 2**20
        A chunk ends with the line that makes it this long; a longer line cannot be read.
    dtype : {float64, float32}, default=float64
        Type of X.

    Attributes
    ----------
    fraction_read : float or None
        How much of the file the present pass has read; None where the size is not known, as of a pipe.

    See Also
    --------
    sklearn.datasets.load_svmlight_file : Reads a file as a whole; it parses the chunks.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import dump_svmlight_file, load_iris
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.datasets import SvmlightReader
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "iris.svm")
    >>> dump_svmlight_file(*load_iris(return_X_y=True), path, zero_based=False)
    >>> reader = SvmlightReader(path, chunk_rows=50)
    >>> found = reader.scan()
    >>> found.n_rows, found.n_features, found.classes
    (150, 4, array([0., 1., 2.]))
    >>> model = PredtronClassifier()
    >>> for X, y, first_line in reader:
    ...     print(first_line, X.shape)
    ...     model = model.partial_fit(X, y, classes=found.classes)
    1 (50, 4)
    51 (50, 4)
    101 (50, 4)

    Rows with several labels, or none:

    >>> with open(path, "w") as file:
    ...     print("10,30 1:0.5", "2:1", "20 1:2", sep="\\n", file=file)
    >>> reader = SvmlightReader(path, multilabel=True)
    >>> reader.scan().classes
    array([10., 20., 30.])
    >>> for X, y, first_line in reader:
    ...     print(y.toarray())
    [[1 0 1]
     [0 0 0]
     [0 1 0]]
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        n_features: int | None = None,
        zero_based: bool | str = "auto",
        classes: ArrayLike | None = None,
        multilabel: bool = False,
        chunk_rows: int = 10_000,
        chunk_bytes: int = 8 * 2**20,
        dtype: Any = np.float64,
    ):
        width = 1 if n_features is None else n_features
        counts = {"n_features": width, "chunk_rows": chunk_rows, "chunk_bytes": chunk_bytes}
        for name, value in counts.items():
            if not (isinstance(value, Integral) and value >= 1):
                raise ValueError(f"{name}={value!r} must be an integer of at least 1.")
        if zero_based not in (True, False, "auto"):
            raise ValueError(f"zero_based={zero_based!r} is not known; accepted are True, False and 'auto'.")
        if multilabel not in (True, False):
            raise ValueError(f"multilabel={multilabel!r} is not known; accepted are True and False.")
        if np.dtype(dtype) not in (np.dtype(np.float64), np.dtype(np.float32)):
            raise ValueError(f"dtype={dtype!r} is not known; accepted are float64 and float32.")
        self.path = os.fspath(path)
        self.n_features = n_features
        self.zero_based = zero_based
        self.classes = None if classes is None else np.unique(np.asarray(classes, dtype=np.float64))
        self.multilabel = bool(multilabel)
        self.chunk_rows = chunk_rows
        self.chunk_bytes = chunk_bytes
        self.dtype = np.dtype(dtype)
        self.fraction_read: float | None = None
        self._summary: SvmlightSummary | None = None

    def __iter__(self) -> Iterator[tuple[sparse.csr_matrix, Any, int]]:
        n_features, zero_based = self.n_features, self.zero_based
        classes: Any = self.classes
        if n_features is None or zero_based == "auto" or (self.multilabel and classes is None):
            found = self._summary or self.scan()
            n_features = found.n_features if n_features is None else n_features
            zero_based = found.zero_based
            classes = found.classes if self.multilabel and classes is None else classes
        for X, labels, first in self._chunks(Lines(n_features, bool(zero_based), classes, self.multilabel, self.dtype)):
            yield X, labels.indicators(classes) if self.multilabel else labels.values, first

    def scan(self, *, max_classes: int = 100_000, callback: Callable[[], Any] | None = None) -> SvmlightSummary:
        """Read the file once, for its width, labels and number of rows, whatever `n_features` and `classes` are.

        Parameters
        ----------
        max_classes : int, default=100_000
            How many distinct labels there may be.
        callback : callable, default=None
            Called after each chunk.

        Returns
        -------
        summary : SvmlightSummary
            What the file holds, up to the first line that cannot be read.
        """
        auto = self.zero_based == "auto"
        n_rows, width, lowest, classes, error = 0, 1, 1, np.empty(0), None
        try:
            for X, labels, first in self._chunks(Lines(None, bool(self.zero_based), None, self.multilabel, self.dtype)):
                n_rows, width = n_rows + X.shape[0], max(width, X.shape[1])
                lowest = min(lowest, X.indices.min(initial=1))
                classes = np.union1d(classes, labels.values)
                if len(classes) > max_classes:
                    raise ValueError(
                        f"{self.path} has more than max_classes={max_classes} distinct labels by the chunk from line {first} on; "
                        "labels must be classes."
                    )
                if callback is not None:
                    callback()
        except BrokenLineError as broken:
            error = broken
        zero_based = lowest == 0 if auto else bool(self.zero_based)
        if auto and not zero_based:
            width = max(1, width - 1)
        self._summary = SvmlightSummary(n_rows, width, classes, zero_based, error)
        return self._summary

    def _chunks(self, lines: Lines) -> Iterator[tuple[sparse.csr_matrix, RowLabels, int]]:
        first = 1
        with open(self.path, "rb") as raw, decompressed(raw, self.path) as file:
            size = os.fstat(raw.fileno()).st_size
            while True:
                chunk, reason = take_lines(file, self.chunk_rows, self.chunk_bytes)
                self.fraction_read = raw.tell() / size if size else None
                X, labels, good = lines.parse_good(chunk)
                if X.shape[0]:
                    yield X, labels, first
                if good < len(chunk):
                    raise BrokenLineError(self.path, first + good, lines.explain(chunk[good]))
                first += len(chunk)
                if reason is not None:
                    raise BrokenLineError(self.path, first, reason)
                if not chunk:
                    return


def decompressed(raw: IO[bytes], path: str) -> IO[bytes]:
    """The file itself, or its contents if its name says that it is compressed."""
    if path.endswith(".gz"):
        return BufferedReader(gzip.GzipFile(fileobj=raw))
    return BufferedReader(BZ2File(raw)) if path.endswith(".bz2") else raw


def take_lines(file: IO[bytes], most: int, size: int) -> tuple[list[bytes], str | None]:
    """The next lines, up to `most` and to the one that makes `size` bytes; and why there are no more, if not at the end."""
    lines: list[bytes] = []
    taken = 0
    while len(lines) < most and taken < size:
        try:
            line = file.readline(size + 1)
        except (EOFError, OSError, zlib.error) as error:
            return lines, str(error)
        if len(line) > size:
            return lines, f"the line is longer than chunk_bytes={size}"
        if not line:
            break
        lines.append(line)
        taken += len(line)
    return lines, None


class RowLabels:
    """The labels of rows: one a row, or a set."""

    def __init__(self, y: Any):
        several = isinstance(y, list)
        self.start = np.cumsum([0, *map(len, y)]) if several else np.arange(len(y) + 1)
        self.values = np.fromiter(chain.from_iterable(y), dtype=np.float64) if several else y

    def indicators(self, classes: NDArray) -> sparse.csr_matrix:
        """Zeros and ones, a column for each of the sorted classes."""
        ones, shape = np.ones(len(self.values), dtype=np.int64), (len(self.start) - 1, len(classes))
        matrix = sparse.csr_matrix((ones, np.searchsorted(classes, self.values), self.start), shape=shape)
        # A label that a line names twice is in its set.
        matrix.sum_duplicates()
        matrix.data[:] = 1
        return matrix


class Lines:
    """How lines are read: what is the same for all chunks of a pass."""

    def __init__(self, n_features: int | None, zero_based: bool, classes: NDArray | None, multilabel: bool, dtype: np.dtype):
        self.n_features = n_features
        self.zero_based = zero_based
        self.classes = classes
        self.multilabel = multilabel
        self.dtype = dtype

    def parse(self, lines: list[bytes]) -> tuple[sparse.csr_matrix, RowLabels]:
        """X and the labels of the lines."""
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
        if not np.isfinite(X.data).all():
            raise ValueError(f"the value is not a finite {self.dtype}")
        if self.classes is not None and not np.isin(labels.values, self.classes).all():
            raise ValueError(f"the label is not one of the classes {shortened(self.classes)}")
        # The indices fit, for the parser takes no longer ones, and not all learners take 64 bits.
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        return X, labels

    def parse_good(self, lines: list[bytes]) -> tuple[sparse.csr_matrix, RowLabels, int]:
        """X and the labels of the lines before the first that cannot be read, and how many those are."""
        try:
            return *self.parse(lines), len(lines)
        except (ValueError, OverflowError):
            good = first_true(len(lines), lambda low, high: self.error(lines[low:high]) is not None)
        return *self.parse(lines[:good]), good

    def error(self, lines: list[bytes]) -> str | None:
        """Why the lines cannot be read, if so."""
        try:
            self.parse(lines)
        except (ValueError, OverflowError) as error:
            return str(error)
        return None

    def explain(self, line: bytes) -> str:
        """What is wrong with a line, and where in it."""
        fields = line.partition(b"#")[0].split()
        wrong = first_true(len(fields), lambda _, high: self.error([b" ".join(fields[:high])]) is not None)
        reason = self.error([b" ".join(fields[: wrong + 1])])
        if reason is None or "to unpack" in reason:
            reason = "expected INDEX:VALUE"
        elif "Invalid index" in reason:
            reason = f"the indices count from {0 if self.zero_based else 1} (zero_based={self.zero_based})"
        elif "too large" in reason:
            reason = f"the index is beyond {2**31 - 1}"
        return f"at {fields[wrong][:40].decode(errors='replace')!r}: {reason}"


def first_true(n: int, holds: Callable[[int, int], bool]) -> int:
    """The least i for which holds(low, i + 1), for any low <= i; it must hold for some i < n."""
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        if holds(low, middle):
            high = middle
        else:
            low = middle
    return low


def shortened(labels: NDArray) -> str:
    """The labels for a message, the first ten of them."""
    return "[" + ", ".join(f"{label:g}" for label in labels[:10]) + (", ...]" if len(labels) > 10 else "]")
