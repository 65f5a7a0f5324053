"""A reader of svmlight files that need not fit in memory."""

from __future__ import annotations

import gzip
import os
from bz2 import BZ2File
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from io import DEFAULT_BUFFER_SIZE, BufferedReader
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sklearn_predtron.datasets._ahead import count_threads, map_ahead
from sklearn_predtron.datasets._blocks import MOST_BYTES, Block, BlockCutter
from sklearn_predtron.datasets._broken_lines import BrokenLineError, LineRules
from sklearn_predtron.datasets._counts import check_counts
from sklearn_predtron.datasets._rows import Chunk, RowParser
from sklearn_predtron.datasets._svmlight import MOST_FEATURES


def decompressed(raw: IO[bytes], path: str) -> IO[bytes]:
    """Return the file itself, or its contents if its name says that it is compressed."""
    if path.endswith(".gz"):
        return BufferedReader(gzip.GzipFile(fileobj=raw))
    return BufferedReader(BZ2File(raw)) if path.endswith(".bz2") else raw


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
        The first line that cannot be read; the rest of the summary is of the rows that were yielded before it.
    n_queries : int or None, default=None
        Queries, with `query_id`; an id that returns after another one is a new query.
    n_sequences : int or None, default=None
        Sequences, with `sequence_id`; an id that returns after another one is a new sequence.

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
    n_queries: int | None = None
    n_sequences: int | None = None


class SvmlightReader:
    """An svmlight file, read in chunks: memory is bounded by the chunk, not by the file.

    Iterating yields ``(X, y, first_line)``: a CSR matrix, the labels, and the number (from 1) of the chunk's first line.  With
    `multilabel` a line begins with any number of labels and commas between them, as "1,3 5:0.2", and y is an indicator matrix:
    CSR, zeros and ones.  A chunk without rows is left out.  Comments, blank lines, ``qid:`` columns and a byte order mark at the
    start of the file are skipped.  A line that cannot be read raises `BrokenLineError`, after the rows before it were yielded: a
    label or value that is not a finite number, an index that is not greater than the one before it, an index beyond
    `n_features`, a label not in `classes`.

    With `query_id` iterating yields ``(X, y, qid)``, as the rankers' ``partial_fit(X, y, qid=qid)`` takes them: for each row
    (document) its relevance, float64 and at least 0, and its query's id, int64, as in "2 qid:10 1:0.5 3:1.2 # comment".  A query
    is a run of rows with one id, whatever blank lines and comments are between them; **an id that returns after another one is a
    new query**, and begins a chunk, for one call of partial_fit would gather both.  A chunk holds whole queries: it ends with the
    query that makes it `chunk_rows` rows or `chunk_bytes` bytes long, or longer.  **A query of more than `chunk_bytes` bytes of
    rows cannot be read**, so that a chunk has less than twice as many: the row that exceeds them is a broken line.  So are a row
    without ``qid:`` and an integer of 64 bits after its label, and a row of negative relevance.  Before the error the queries
    known to be whole are yielded: a row of another id follows, or the file's end.  The broken line may be that row; if its own id
    cannot be read, the query before it is not known to be whole.

    With `sequence_id` the rows are the tokens of sequences in the same way, each with a label, as in "-1 qid:10 1:0.5", and
    iterating yields ``(X, y, sid)``, as ``PredtronSequenceTagger.partial_fit(X, y, sid=sid)`` takes them.

    Parameters
    ----------
    path : str or path-like
        The file; ``.gz`` and ``.bz2`` files are decompressed as they are read.  A pipe can be read only once: what `scan` finds
        must be given.
    n_features : int, default=None
        Width of X; None is what `scan` finds.
    zero_based : bool or "auto", default="auto"
        Whether indices count from 0; "auto" is whether `scan` finds the index 0.
    classes : array-like, default=None
        The labels that may occur; None is any number, and with `multilabel` what `scan` finds.
    multilabel : bool, default=False
        Whether a row has a set of labels; column j of y is the j-th label of the sorted `classes`.
    chunk_rows : int, default=10_000
        Lines in a chunk, at most; with ids the rows that end a chunk, at the end of their query or sequence.
    chunk_bytes : int, default=8 * 2**20
        A chunk ends with the line that makes it this long; a longer line cannot be read.  With ids a chunk ends with the query
        or sequence that makes it this long, and a longer one cannot be read.
    dtype : {float64, float32}, default=float64
        Type of X.
    query_id : bool, default=False
        Whether rows are the documents of queries; not together with `multilabel`.
    sequence_id : bool, default=False
        Whether rows are the tokens of sequences; not together with `multilabel` or `query_id`.
    n_jobs : int, default=None
        Threads that parse the next chunks while the present one is learned; -1 is one for each processor, None is no thread.
        The chunks are the same, to the last bit, and come in the same order; up to `n_jobs` of them wait in memory.

    Attributes
    ----------
    fraction_read : float or None
        How much of the file the present pass has read; None if the size is not known, as of a pipe.

    See Also
    --------
    read_svmlight : Reads a file as a whole.
    sklearn.datasets.load_svmlight_file : Reads the same, bit for bit, and some lines that are refused here.

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

    Documents of queries; the id 7 returns and is a third query:

    >>> with open(path, "w") as file:
    ...     print("2 qid:7 1:0.5", "0 qid:7 2:1", "1 qid:3 1:2", "0 qid:7 1:1", sep="\\n", file=file)
    >>> reader = SvmlightReader(path, query_id=True, chunk_rows=1)
    >>> reader.scan().n_queries
    3
    >>> for X, y, qid in reader:
    ...     print(X.shape, y, qid)
    (2, 2) [2. 0.] [7 7]
    (1, 2) [1.] [3]
    (1, 2) [0.] [7]

    Tokens of sequences, in the same file:

    >>> for X, y, sid in SvmlightReader(path, sequence_id=True):
    ...     print(X.shape, y, sid)
    (3, 2) [2. 0. 1.] [7 7 3]
    (1, 2) [0.] [7]
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
        query_id: bool = False,
        sequence_id: bool = False,
        n_jobs: int | None = None,
    ):
        width = 1 if n_features is None else n_features
        check_counts(n_features=width, chunk_rows=chunk_rows, chunk_bytes=chunk_bytes)
        if width > MOST_FEATURES:
            raise ValueError(f"n_features={n_features} must be at most {MOST_FEATURES}: indices have 32 bits.")
        if chunk_bytes > MOST_BYTES:
            raise ValueError(f"chunk_bytes={chunk_bytes} must be at most {MOST_BYTES}.")
        if zero_based not in (True, False, "auto"):
            raise ValueError(f"zero_based={zero_based!r} is not known; accepted are True, False and 'auto'.")
        for name, flag in {"multilabel": multilabel, "query_id": query_id, "sequence_id": sequence_id}.items():
            if flag not in (True, False):
                raise ValueError(f"{name}={flag!r} is not known; accepted are True and False.")
        if multilabel and query_id:
            raise ValueError("query_id=True is not accepted with multilabel=True: a document has one relevance.")
        if sequence_id and (multilabel or query_id):
            other = "multilabel" if multilabel else "query_id"
            raise ValueError(f"sequence_id=True is not accepted with {other}=True: a token has one label, and is no document.")
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
        self.query_id = bool(query_id)
        self.sequence_id = bool(sequence_id)
        self.n_jobs = n_jobs
        self._n_threads = count_threads(n_jobs)
        self.fraction_read: float | None = None
        self._summary: SvmlightSummary | None = None

    def __iter__(self) -> Iterator[tuple[sparse.csr_matrix, Any, Any]]:
        n_features, zero_based = self.n_features, self.zero_based
        classes: Any = self.classes
        unknown = {"n_features": n_features is None, "zero_based": zero_based == "auto"}
        unknown["classes"] = self.multilabel and classes is None
        if any(unknown.values()):
            found = self._summary or self._first_pass([name for name, is_unknown in unknown.items() if is_unknown])
            n_features = found.n_features if n_features is None else n_features
            zero_based = found.zero_based
            classes = found.classes if self.multilabel and classes is None else classes
        for chunk in self._chunks(n_features, bool(zero_based), classes):
            y = chunk.labels.indicators(classes) if self.multilabel else chunk.labels.values
            yield chunk.X, y, chunk.first if chunk.qid is None else chunk.qid

    def _first_pass(self, unknown: list[str]) -> SvmlightSummary:
        """Find what is not known, unless the rows would then be gone."""
        if os.path.exists(self.path) and not os.path.isfile(self.path):
            raise ValueError(f"path={self.path!r} can be read only once, so {', '.join(unknown)} must be given.")
        return self.scan()

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
        n_rows, n_groups, width, lowest, classes, error = 0, 0, 1, 1, np.empty(0), None
        try:
            for chunk in self._chunks(None, bool(self.zero_based), None):
                n_groups += 0 if chunk.qid is None else 1 + int(np.count_nonzero(np.diff(chunk.qid)))
                n_rows, width = n_rows + chunk.X.shape[0], max(width, chunk.X.shape[1])
                lowest = min(lowest, chunk.X.indices.min(initial=1))
                classes = np.union1d(classes, chunk.labels.values)
                if len(classes) > max_classes:
                    raise ValueError(
                        f"{self.path} has more than max_classes={max_classes} distinct labels by the chunk from line "
                        f"{chunk.first} on; labels must be {'grades of relevance' if self.query_id else 'classes'}."
                    )
                if callback is not None:
                    callback()
        except BrokenLineError as broken:
            error = broken
        zero_based = lowest == 0 if auto else bool(self.zero_based)
        if auto and not zero_based:
            width = max(1, width - 1)
        counts = [n_groups if wanted else None for wanted in (self.query_id, self.sequence_id)]
        self._summary = SvmlightSummary(n_rows, width, classes, zero_based, error, *counts)
        return self._summary

    def _open(self) -> IO[bytes]:
        """Open the file, at its start."""
        return open(self.path, "rb")

    def _blocks(self, raw: IO[bytes], longest: int) -> Iterator[tuple[Block, float | None]]:
        """Yield the text of each chunk, and how much of the file is read with it."""
        group = "query" if self.query_id else "sequence" if self.sequence_id else None
        with decompressed(raw, self.path) as file:
            size, plain = os.fstat(raw.fileno()).st_size, file is raw
            # A compressed file that is broken gives all that is before the break only if it is asked for a little at a time.
            at_once = None if plain else DEFAULT_BUFFER_SIZE
            for block in BlockCutter(file, self.chunk_rows, self.chunk_bytes, longest=longest, group=group, at_once=at_once):
                yield block, (raw.tell() - plain * block.unread) / size if size else None

    def _chunks(
        self, n_features: int | None, zero_based: bool, classes: NDArray | None, longest: int | None = None
    ) -> Iterator[Chunk]:
        """Yield the chunks up to the first line that cannot be read, and raise what is wrong with it."""
        rules = LineRules(n_features, zero_based, classes, self.multilabel, self.query_id, self.dtype)
        parse = RowParser(rules).parse
        with self._open() as raw:
            blocks = self._blocks(raw, longest or self.chunk_bytes)
            with closing(map_ahead(lambda found: (parse(found[0]), found[1]), blocks, self._n_threads)) as chunks:
                for chunk, self.fraction_read in chunks:
                    if chunk.X.shape[0]:
                        yield chunk
                    if chunk.error is not None:
                        raise BrokenLineError(self.path, *chunk.error)
