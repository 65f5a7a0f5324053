"""A reader of large svmlight files."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from io import DEFAULT_BUFFER_SIZE
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_predtron._support import types
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.datasets._blocks import MOST_BYTES, Block, BlockCutter
from sklearn_predtron.datasets._broken_lines import BrokenLineError, LineRules
from sklearn_predtron.datasets._cache import ChunkCache
from sklearn_predtron.datasets._compressed import decompressed
from sklearn_predtron.datasets._counts import check_counts
from sklearn_predtron.datasets._file_part import FilePart, check_part, count_lines, find_range
from sklearn_predtron.datasets._read_ahead import count_threads, map_ahead
from sklearn_predtron.datasets._rows import Chunk, RowParser
from sklearn_predtron.datasets._summary import RunningSummary, SvmlightSummary
from sklearn_predtron.datasets._svmlight import MOST_FEATURES


def read_classes(classes: ArrayLike) -> NDArray[np.float64]:
    """Return the labels that can occur, sorted."""
    try:
        found = np.unique(np.asarray(classes, dtype=np.float64))
    except (TypeError, ValueError):
        found = np.array([np.nan])
    if not np.isfinite(found).all():
        raise ValueError(f"classes={shortened(classes)} is not accepted; accepted are None and finite numbers.")
    return found


class SvmlightReader:
    """An svmlight file, read in chunks of bounded memory.

    Iterating yields ``(X, y, first_line)``: a CSR matrix, the labels, and the number (from 1) of the chunk's first line.  With
    `multilabel` a line begins with any number of comma-separated labels, as in "1,3 5:0.2", and y is a CSR indicator matrix of
    zeros and ones.  A chunk without rows is not yielded.  Comments, blank lines, ``qid:`` columns and a byte order mark at the
    start of the file are skipped.  A line that cannot be read raises `BrokenLineError` after the rows before it have been
    yielded.  Reasons are a label or value that is not a finite number, an index that is not greater than the one before it, an
    index beyond `n_features`, and a label not in `classes`.

    With `query_id` iterating yields ``(X, y, qid)`` for the rankers' ``partial_fit(X, y, qid=qid)``: for each row (document) its
    relevance, float64 and at least 0, and its query's id, int64, as in "2 qid:10 1:0.5 3:1.2 # comment".  A query is a run of
    rows with one id; blank lines and comments do not end it.  **An id that returns after another one is a new query** and begins
    a chunk, since one call of partial_fit would merge both.  A chunk holds whole queries: it ends with the query that brings it
    to at least `chunk_rows` rows or `chunk_bytes` bytes.  **A query of more than `chunk_bytes` bytes of rows cannot be read**:
    the row that exceeds the limit is a broken line, so a chunk has less than twice as many bytes.  A row without ``qid:`` and a
    64-bit integer after its label is a broken line, too, and so is a row of negative relevance.  Before the error, the queries
    known to be whole are yielded: those that a row of another id or the file's end follows.  The broken line may be that row; if
    its own id cannot be read, the query before it is not yielded.

    With `sequence_id` the rows are the tokens of sequences in the same way, each with a label, as in "-1 qid:10 1:0.5".
    Iterating yields ``(X, y, sid)`` for ``PredtronSequenceTagger.partial_fit(X, y, sid=sid)``.

    Parameters
    ----------
    path : str or path-like
        The file; ``.gz`` and ``.bz2`` files are decompressed as they are read.  A pipe can be read only once, so the values that
        `scan` finds must be given.
    n_features : int, default=None
        Number of columns of X.  None: the number that `scan` finds.
    zero_based : bool or "auto", default="auto"
        Whether indices count from 0.  "auto": True if `scan` finds the index 0.
    classes : array-like, default=None
        The labels that may occur.  None: any number, or with `multilabel` the labels that `scan` finds.
    multilabel : bool, default=False
        Whether a row has a set of labels; column j of y is the j-th label of the sorted `classes`.
    chunk_rows : int, default=2_000
        Largest number of lines in a chunk.  With ids a chunk ends with the query or sequence that brings it to this many rows.
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
        Number of threads that parse the next chunks while the model trains on the current one.  None: no thread.  -1: one for
        each processor.  The chunks and their order are the same, to the last bit; up to `n_jobs` chunks wait in memory.
    cache : bool, str or path-like, default=None
        A binary file of the parsed rows.  None and False: no cache.  True: the file's name with ``.cache`` appended.  The first
        complete pass, a scan or an iteration, writes it.  Later passes map it into memory and yield the same chunks to the last
        bit.  An interrupted pass leaves no cache, and neither does a file with a line that cannot be read.  A cache is valid for
        the file's name, size and times of change (also of its status, so a copy has its own cache), and for `multilabel`,
        `query_id`, `sequence_id`, `dtype`, `chunk_rows` and `chunk_bytes`.  If any of these has changed, it is rewritten;
        `n_features`, `zero_based` and `classes` may change.  A damaged cache, or a file that is no cache, raises ValueError and
        is not changed.
    part : tuple of int, default=None
        (i, n) reads part i of n, counted from 0; all parts have about the same number of bytes.  Each row of the file, or with
        ids each whole query or sequence, is in exactly one part, so that several readers can share a file.  If a line cannot be
        read, the parts up to the one with that line have the rows of the file before it.  Only text near the part is read.  Lines
        are counted from the start of the part, and in errors from that of the file.  Not for pipes, compressed files or `cache`.

    Attributes
    ----------
    fraction_read : float or None
        The fraction of the file that the current pass has read; None if the size is not known, as for a pipe.

    See Also
    --------
    read_svmlight : Reads a file as a whole.
    sklearn.datasets.load_svmlight_file : Reads the same, bit for bit, and accepts some lines that raise an error here.

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

    Training again on rows that were parsed once:

    >>> reader = SvmlightReader(path, cache=True)
    >>> for epoch in range(2):
    ...     for X, y, first_line in reader:
    ...         print(epoch, X.shape, sorted(os.listdir(folder.name)))
    0 (4, 2) ['iris.svm', 'iris.svm.cache']
    1 (4, 2) ['iris.svm', 'iris.svm.cache']
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        n_features: int | None = None,
        zero_based: bool | types.AutoName = "auto",
        classes: ArrayLike | None = None,
        multilabel: bool = False,
        chunk_rows: int = 2_000,
        chunk_bytes: int = 8 * 2**20,
        dtype: Any = np.float64,
        query_id: bool = False,
        sequence_id: bool = False,
        n_jobs: int | None = None,
        cache: bool | str | os.PathLike[str] | None = None,
        part: tuple[int, int] | None = None,
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
        if not (cache is None or isinstance(cache, (bool, str, os.PathLike))):
            raise ValueError(f"cache={cache!r} is not known; accepted are None, True, False and the path of a file.")
        self.path = os.fspath(path)
        check_part(part, self.path, cache)
        self.n_features = n_features
        self.zero_based = zero_based
        self.classes = None if classes is None else read_classes(classes)
        self.multilabel = bool(multilabel)
        self.chunk_rows = chunk_rows
        self.chunk_bytes = chunk_bytes
        self.dtype = np.dtype(dtype)
        self.query_id = bool(query_id)
        self.sequence_id = bool(sequence_id)
        self.n_jobs = n_jobs
        self.cache = cache
        self.part = part
        self._n_threads = count_threads(n_jobs)
        self._cache = self._find_cache()
        self.fraction_read: float | None = None
        self._summary: SvmlightSummary | None = None

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        from sklearn_predtron._support.compat import as_configured  # a predictor reads rows without scikit-learn

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
            yield as_configured(chunk.X), as_configured(y), chunk.first if chunk.qid is None else chunk.qid

    def _first_pass(self, unknown: list[str]) -> SvmlightSummary:
        """Scan for unknown properties, if the file can be reread."""
        if os.path.exists(self.path) and not os.path.isfile(self.path):
            raise ValueError(f"path={self.path!r} can be read only once, so {', '.join(unknown)} must be given.")
        return self.scan()

    def scan(self, *, max_classes: int = 100_000, callback: Callable[[], Any] | None = None) -> SvmlightSummary:
        """Scan the file for its width, labels and rows.

        Parameters
        ----------
        max_classes : int, default=100_000
            Largest number of distinct labels; more raise ValueError.
        callback : callable, default=None
            Called after each chunk.

        Returns
        -------
        SvmlightSummary
            The summary of the file up to the first line that cannot be read.
        """
        summary, error = self._summary_of_cache(max_classes), None
        if summary is None:
            summary, error = self._summary_of_rows(max_classes, callback)
        zero_based = summary.lowest == 0 if self.zero_based == "auto" else bool(self.zero_based)
        counts = [summary.n_groups if wanted else None for wanted in (self.query_id, self.sequence_id)]
        width = summary.width(zero_based=zero_based)
        self._summary = SvmlightSummary(summary.n_rows, width, summary.classes, zero_based, error, *counts)
        return self._summary

    def _summary_of_cache(self, max_classes: int) -> RunningSummary | None:
        """Return the cached summary, if within the limits."""
        summary, zero_based = None if self._cache is None else self._cache.summary(), bool(self.zero_based)
        if summary is None or len(summary.classes) > min(max_classes, summary.most_classes):
            return None
        if summary.lowest < 1 - zero_based or summary.width(zero_based=zero_based) > MOST_FEATURES:
            return None
        self.fraction_read = 1.0
        return summary

    def _summary_of_rows(
        self, max_classes: int, callback: Callable[[], Any] | None
    ) -> tuple[RunningSummary, BrokenLineError | None]:
        """Return the summary before the first error, and that error."""
        summary, zero_based = RunningSummary(max_classes), bool(self.zero_based)
        try:
            for chunk in self._chunks(None, zero_based, None):
                summary.add(chunk, base=not zero_based)
                if len(summary.classes) > max_classes:
                    raise ValueError(
                        f"{self.path} has more than max_classes={max_classes} distinct labels by the chunk from line "
                        f"{chunk.first} on; labels must be {'grades of relevance' if self.query_id else 'classes'}."
                    )
                if callback is not None:
                    callback()
        except BrokenLineError as broken:
            return summary, broken
        return summary, None

    def _find_cache(self) -> ChunkCache | None:
        """Return the requested cache."""
        if not self.cache:
            return None
        path = f"{self.path}.cache" if self.cache is True else os.fspath(self.cache)
        if os.path.realpath(path) == os.path.realpath(self.path):
            raise ValueError(f"cache={path!r} is the file that is read; accepted are other files.")
        settings = {name: getattr(self, name) for name in ("multilabel", "query_id", "sequence_id")}
        sizes = {"chunk_rows": int(self.chunk_rows), "chunk_bytes": int(self.chunk_bytes)}
        return ChunkCache(path, self.path, {**settings, **sizes, "dtype": self.dtype.name})

    @property
    def _group(self) -> str | None:
        """The name for a group of rows with one id."""
        return "query" if self.query_id else "sequence" if self.sequence_id else None

    def _open(self) -> IO[bytes]:
        """Open the file at its start."""
        return open(self.path, "rb")

    def _text(self, file: IO[bytes]) -> Any:
        """Return the decompressed file, read by `readinto1`."""
        return file

    def _blocks(self, raw: IO[bytes], longest: int, before: int = 0) -> Iterator[tuple[Block, float | None]]:
        """Yield the text of each chunk, and the progress."""
        begin, end = self._range(raw)
        with decompressed(raw, self.path) as file:
            plain = file is raw
            how: dict[str, Any] = {"longest": longest, "group": self._group, "before": before if begin else None}
            # A compressed file that is broken gives all that is before the break only if it is asked for a little at a time.
            how["at_once"] = None if plain else DEFAULT_BUFFER_SIZE
            text: Any = self._text(file) if self.part is None else FilePart(file, end)
            for block in BlockCutter(text, self.chunk_rows, self.chunk_bytes, **how):
                yield block, (raw.tell() - plain * block.unread - begin) / (end - begin) if end > begin else None

    def _range(self, raw: IO[bytes]) -> tuple[int, int]:
        """Return the byte range to read, after seeking its start."""
        if self.part is None:
            return 0, os.fstat(raw.fileno()).st_size
        begin, end = find_range(raw, self.part, self._group, self.chunk_bytes)
        raw.seek(begin)
        return begin, end

    def _chunks(
        self, n_features: int | None, zero_based: bool, classes: NDArray | None, longest: int | None = None
    ) -> Iterator[Chunk]:
        """Yield the chunks; raise an error at an unreadable line."""
        rules = LineRules(n_features, zero_based, classes, self.multilabel, self.query_id, self.dtype)
        parsed = self._parse(rules, longest or self.chunk_bytes)
        with closing(parsed if self._cache is None else self._cache.chunks(rules, parsed)) as chunks:
            for chunk, self.fraction_read in chunks:
                if chunk.shape[0]:
                    yield chunk

    def _parse(self, rules: LineRules, longest: int, before: int = 0) -> Generator[tuple[Chunk, float | None], None, None]:
        """Yield the parsed chunks with the progress."""
        parse = RowParser(rules).parse
        with self._open() as raw:
            blocks = self._blocks(raw, longest, before)
            with closing(map_ahead(lambda found: (parse(found[0]), found[1]), blocks, self._n_threads)) as chunks:
                for chunk, fraction in chunks:
                    yield chunk, fraction
                    if chunk.error is not None:
                        raise self._broken(rules, longest, before, chunk.error)

    def _broken(self, rules: LineRules, longest: int, before: int, error: tuple[int, str]) -> BrokenLineError:
        """Return the error of a line, numbered by the whole file."""
        if self.part is not None and before == 0:
            with self._open() as raw:
                before = count_lines(raw, self._range(raw)[0])
            if before:
                try:
                    deque(self._parse(rules, longest, before), maxlen=0)
                except BrokenLineError as broken:
                    return broken
        return BrokenLineError(self.path, *error)
