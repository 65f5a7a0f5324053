"""A reader of large Parquet and Arrow files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_predtron._support.compat import as_configured
from sklearn_predtron.datasets._arrow import (
    ArrowBatch,
    ArrowFile,
    import_arrow,
    is_id,
    is_index,
    is_label,
    is_list,
    is_number_type,
    is_of_table,
    is_word,
)
from sklearn_predtron.datasets._counts import check_counts
from sklearn_predtron.datasets._read_ahead import count_threads, make_ahead
from sklearn_predtron.datasets._svmlight import MOST_FEATURES

ENDINGS = (".parquet", ".pq", ".arrow", ".feather")
Rows = tuple[Any, NDArray, NDArray]  # X, y and ids


@dataclass(frozen=True)
class ParquetSummary:
    """The findings of a first pass over Parquet files.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_features : int
        Number of features.
    classes : ndarray of shape (n_classes,)
        The distinct labels of all rows, sorted.
    n_queries : int or None, default=None
        Number of queries or sequences, with `qid`; an id that returns after another one is a new one.

    See Also
    --------
    ParquetReader.scan : Makes it.
    SvmlightSummary : The same of an svmlight file.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_predtron.datasets import ParquetSummary
    >>> ParquetSummary(150, 4, np.array([0.0, 1.0, 2.0])).n_features
    4
    """

    n_rows: int
    n_features: int
    classes: NDArray
    n_queries: int | None = None


class ParquetReader:
    """Parquet or Arrow files, read in chunks of bounded memory.

    Iterating yields ``(X, y, first_row)``: the features, the labels, and the number (from 1, over all files) of the chunk's first
    row.  With `qid` it yields ``(X, y, qid)`` in chunks of whole queries or sequences, for ``partial_fit(X, y, qid=qid)`` of the
    rankers.  If features are columns of numbers, X is an array.  If they are two columns of lists, the indices and the values of
    each row, X is a CSR matrix; its arrays are those of the file, read-only, if the types match.  With ``dtype=None`` columns may
    also hold strings, booleans, dictionaries and nulls; X is then an Arrow table, for estimators with a feature map
    (``features="piecewise"``).

    Files are read in order, and so are the row groups (record batches) of each file.  A null (unless X is an Arrow table), a
    number that is not finite, an index beyond `n_features`, and lists of different lengths raise ValueError with row and column,
    and their chunk is not yielded.  A damaged file raises ValueError with its name, whatever pyarrow raises.  Check sums of
    Parquet pages are verified.

    Parameters
    ----------
    paths : str, path-like or list of them
        The files, each Parquet or Arrow (Feather version 2).  A folder stands for its files that end in .parquet, .pq, .arrow or
        .feather, in the order of their names, including those of its subfolders.
    label : str
        The column of the labels: numbers or strings.
    features : list of str, default=None
        Columns of the features.  None: all columns but `label` and `qid`; they must be the same in all files.
    indices, values : str, default=None
        Columns of lists: the indices, from 0, of a row's features, and their values.  Give both, and no `features`.
    qid : str, default=None
        The column of integer ids of queries or sequences.  A run of rows with one id is a query, also across files.  An id that
        returns after another one is a new query and begins a chunk.
    n_features : int, default=None
        Number of columns of X with `indices`.  None: the number that `scan` finds.
    chunk_rows : int, default=2_000
        Largest number of rows in a chunk; with `qid`, the number of rows that are decoded at once.
    dtype : {float64, float32} or None, default=float64
        Type of X.  None: X is an Arrow table of the columns as they are.
    n_jobs : int, default=None
        None: no thread.  Any number: one thread, which reads the next chunks while the model trains on the current one.  The
        chunks and their order are the same, to the last bit; up to two chunks wait in memory.

    Attributes
    ----------
    fraction_read : float or None
        The fraction of the rows that the current pass has read.

    See Also
    --------
    SvmlightReader : Reads text files in the same way.

    Notes
    -----
    This reader needs pyarrow: ``pip install pyarrow``.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.datasets import ParquetReader
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "iris.parquet")
    >>> load_iris(as_frame=True).frame.to_parquet(path)
    >>> reader = ParquetReader(path, label="target", chunk_rows=100)
    >>> found = reader.scan()
    >>> found.n_rows, found.n_features, found.classes
    (150, 4, array([0, 1, 2]))
    >>> model = PredtronClassifier()
    >>> for X, y, first_row in reader:
    ...     print(first_row, X.shape)
    ...     model = model.partial_fit(X, y, classes=found.classes)
    1 (100, 4)
    101 (50, 4)

    Sparse rows, and ids of queries:

    >>> import pyarrow, pyarrow.parquet
    >>> table = pyarrow.table(
    ...     {
    ...         "relevance": [2, 0, 1],
    ...         "query": [7, 7, 3],
    ...         "index": [[0, 4], [2], []],
    ...         "value": [[0.5, 1.0], [2.0], []],
    ...     }
    ... )
    >>> pyarrow.parquet.write_table(table, path)
    >>> lists = {"indices": "index", "values": "value"}
    >>> for X, y, qid in ParquetReader(path, label="relevance", qid="query", **lists):
    ...     print(X.toarray(), y, qid)
    [[0.5 0.  0.  0.  1. ]
     [0.  0.  2.  0.  0. ]] [2 0] [7 7]
    [[0. 0. 0. 0. 0.]] [1] [3]
    >>> folder.cleanup()
    """

    def __init__(
        self,
        paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *,
        label: str,
        features: list[str] | None = None,
        indices: str | None = None,
        values: str | None = None,
        qid: str | None = None,
        n_features: int | None = None,
        chunk_rows: int = 2_000,
        dtype: Any = np.float64,
        n_jobs: int | None = None,
    ):
        check_counts(n_features=1 if n_features is None else n_features, chunk_rows=chunk_rows)
        if n_features is not None and n_features > MOST_FEATURES:
            raise ValueError(f"n_features={n_features} must be at most {MOST_FEATURES}: indices have 32 bits.")
        if (indices is None) != (values is None) or (indices is not None and features is not None):
            raise ValueError(
                f"features={features!r}, indices={indices!r}, values={values!r}: accepted are features, or indices with values."
            )
        if n_features is not None and indices is None:
            raise ValueError(f"n_features={n_features} is accepted with indices and values only; else columns are features.")
        if not is_known(dtype):
            raise ValueError(f"dtype={dtype!r} is not known; accepted are float64, float32 and None.")
        if dtype is None and indices is not None:
            raise ValueError(f"dtype=None is for columns as they are, and indices={indices!r} holds lists; accepted is a type.")
        if isinstance(features, str) or not {label, qid}.isdisjoint(features or []) or repeats(features):
            raise ValueError(
                f"features={features!r} is not accepted; accepted are columns in a list, each once, but label and qid."
            )
        if isinstance(paths, (str, os.PathLike)):
            paths = [paths]
        self.paths = [found for path in paths for found in files_in(os.fspath(path))]
        if not self.paths:
            raise ValueError("paths=[] holds no file; at least one is needed.")
        self.label = label
        self.features = features
        self.indices = indices
        self.values = values
        self.qid = qid
        self.n_features = n_features
        self.chunk_rows = chunk_rows
        self.dtype = None if dtype is None else np.dtype(dtype)
        self.n_jobs = n_jobs
        self._n_threads = count_threads(n_jobs)
        self.fraction_read: float | None = None
        self._summary: ParquetSummary | None = None

    def __iter__(self) -> Iterator[tuple[Any, NDArray, Any]]:
        files = self._open()
        names, width = self._names(files[0]), self.n_features
        if self.indices is not None and width is None:
            width = (self._summary or self.scan()).n_features
        pieces = self._pieces(files, names, width)
        if self.qid is not None:
            for X, y, qid in whole_queries(pieces):
                yield as_configured(X), y, qid
            return
        first = 1
        for X, y, _ in pieces:
            yield as_configured(X), y, first
            first += len(y)

    def scan(self, *, max_classes: int = 100_000, callback: Callable[[], Any] | None = None) -> ParquetSummary:
        """Read the labels, ids and indices of all files.

        Parameters
        ----------
        max_classes : int, default=100_000
            Largest number of distinct labels; more raise ValueError.
        callback : callable, default=None
            Called after each chunk.

        Returns
        -------
        ParquetSummary
            The summary of the files.
        """
        files = self._open()
        n_rows, n_queries, before = 0, 0, None
        width = 1 if self.indices is not None else len(self._names(files[0]))
        classes: NDArray | None = None
        for batch in self._batches(files, [name for name in (self.label, self.qid, self.indices) if name is not None]):
            self.fraction_read = batch.fraction
            labels = batch.labels(self.label)
            classes = np.unique(labels) if classes is None else np.union1d(classes, labels)
            if len(classes) > max_classes:
                raise ValueError(
                    f"{batch.path} has more than max_classes={max_classes} distinct labels in {self.label!r} by the chunk from "
                    f"row {batch.first} on; labels must be classes or grades of relevance."
                )
            if self.qid is not None:
                ids = batch.values(self.qid)
                n_queries += int(np.count_nonzero(np.diff(ids))) + bool(before is None or before != ids[0])
                before = ids[-1]
            if self.indices is not None:
                width = max(width, 1 + int(batch.indices(self.indices, MOST_FEATURES)[0].max(initial=0)))
            n_rows += len(labels)
            if callback is not None:
                callback()
        classes = np.empty(0) if classes is None else classes
        self._summary = ParquetSummary(n_rows, width, classes, None if self.qid is None else n_queries)
        return self._summary

    def _open(self) -> list[ArrowFile]:
        """Open all files and check their columns."""
        files = [ArrowFile(path) for path in self.paths]
        for file in files:
            check_column(file, "label", self.label, is_label, "numbers or strings")
            if self.qid is not None:
                check_column(file, "qid", self.qid, is_id, "integers of at most 64 bits, with a sign")
            if self.indices is not None:
                check_column(file, "indices", self.indices, lambda kind: is_list(kind, is_index), "lists of integers")
                check_column(file, "values", self.values, lambda kind: is_list(kind, is_number_type), "lists of numbers")
            else:
                holds, accepted = is_number_type, "numbers"
                if self.dtype is None:
                    holds, accepted = is_of_table, "numbers, strings, booleans and dictionaries of these"
                for name in self._names(files[0]):
                    check_column(file, "features", name, holds, accepted)
                if self.features is None:
                    check_no_more(file, files[0])
            check_labels_alike(self.label, file, files[0])
        return files

    def _names(self, file: ArrowFile) -> list[str]:
        """Return the feature columns."""
        if self.indices is not None and self.values is not None:
            return [self.indices, self.values]
        names = self.features
        if names is None:
            names = [name for name in file.names if name not in (self.label, self.qid)]
        if not names:
            raise ValueError(f"features={self.features!r} of {file.path!r} holds no column; at least one is needed.")
        return names

    def _batches(self, files: list[ArrowFile], columns: list[str]) -> Iterator[ArrowBatch]:
        """Yield the non-empty batches of all files."""
        total, read = sum(file.n_rows for file in files), 0
        for file in files:
            first = 1
            for columns_of_rows in file.batches(list(dict.fromkeys(columns)), self.chunk_rows):
                n = columns_of_rows.num_rows
                if n:
                    read += n
                    yield ArrowBatch(columns_of_rows, file.path, first, read / total)
                first += n

    def _pieces(self, files: list[ArrowFile], names: list[str], width: int | None) -> Iterator[Rows]:
        """Yield the rows of each batch."""
        others = [name for name in (self.label, self.qid) if name is not None]
        batches = self._batches(files, names + others)
        made = ((self._rows_of(batch, names, width), batch.fraction) for batch in batches)
        with closing(make_ahead(made, self._n_threads)) as pieces:
            for rows, self.fraction_read in pieces:
                yield rows

    def _rows_of(self, batch: ArrowBatch, names: list[str], width: int | None) -> Rows:
        """Return the rows of a batch."""
        ids = np.empty(0) if self.qid is None else batch.values(self.qid).astype(np.int64, copy=False)
        if self.dtype is None:
            X: Any = batch.table(names)
        elif self.indices is None or self.values is None or width is None:
            X = batch.dense(names, self.dtype)
        else:
            X = batch.rows(self.indices, self.values, width, self.dtype)
        return X, batch.labels(self.label), ids


def files_in(path: str) -> list[str]:
    """Return a file, or a folder's visible files by name."""
    if not os.path.isdir(path):
        return [path]
    found = []
    for folder, inner, names in os.walk(path):
        inner[:] = [name for name in inner if not name.startswith((".", "_"))]
        shown = [name for name in names if not name.startswith((".", "_"))]
        found += [os.path.join(folder, name) for name in shown if name.lower().endswith(ENDINGS)]
    if not found:
        raise ValueError(f"paths={path!r} is a folder without files that end in {', '.join(ENDINGS)}; at least one is needed.")
    return sorted(found)


def is_known(dtype: Any) -> bool:
    """Return whether X can have a type."""
    try:
        return dtype is None or np.dtype(dtype) in (np.dtype(np.float64), np.dtype(np.float32))
    except TypeError:
        return False


def repeats(names: list[str] | None) -> bool:
    """Return whether a name occurs twice."""
    return names is not None and len(set(names)) < len(names)


def check_no_more(file: ArrowFile, first: ArrowFile) -> None:
    """Raise ValueError for columns that the first file lacks."""
    more = [name for name in file.names if name not in first.names]
    if more:
        raise ValueError(
            f"features=None is all columns of {first.path!r}, and {file.path!r} has {', '.join(map(repr, more[:20]))}, too; "
            "accepted are files of the same columns, and a list of columns."
        )


def check_labels_alike(name: str, file: ArrowFile, first: ArrowFile) -> None:
    """Raise ValueError if label types differ between files."""
    kind, before = (found.types[name] for found in (file, first))
    if is_word(kind) != is_word(before):
        raise ValueError(
            f"label={name!r} is a column of {kind} in {file.path!r} and of {before} in {first.path!r}; accepted are numbers in "
            "all files, or strings in all."
        )


def check_column(file: ArrowFile, parameter: str, name: Any, holds: Callable[[Any], bool], accepted: str) -> None:
    """Raise ValueError for missing columns and wrong types."""
    found = file.names.count(name)
    if found != 1:
        names = ", ".join(map(repr, file.names[:20])) + (", ..." if len(file.names) > 20 else "")
        are = "no column" if found == 0 else f"{found} columns"
        raise ValueError(f"{parameter}={name!r} is {are} of {file.path!r}, which has {names}.")
    kind = file.types[name]
    if not holds(kind):
        raise ValueError(f"{parameter}={name!r} is a column of {kind} in {file.path!r}; accepted are {accepted}.")


def whole_queries(pieces: Iterable[Rows]) -> Iterator[Rows]:
    """Yield chunks of whole queries, with distinct ids each."""
    held: list[Rows] = []  # of the last query, which may go on
    for piece in pieces:
        ids = piece[2]
        starts = np.concatenate([[0], np.flatnonzero(np.diff(ids)) + 1])
        if len(starts) > 1 or (held and held[-1][2][-1] != ids[0]):
            whole = concatenate_rows([*held, cut(piece, 0, starts[-1])])
            yield from distinct_queries(whole)
            held = []
        held.append(cut(piece, starts[-1], len(ids)))
    if held:
        yield concatenate_rows(held)


def distinct_queries(rows: Rows) -> Iterator[Rows]:
    """Yield the rows, divided before an id that returns."""
    ids = rows[2]
    begin, seen = 0, set[int]()
    for start in (0, *(np.flatnonzero(np.diff(ids)) + 1).tolist()):
        if ids[start] in seen:
            yield cut(rows, begin, start)
            begin, seen = start, set[int]()
        seen.add(ids[start])
    yield cut(rows, begin, len(ids))


def cut(rows: Rows, begin: int, end: int) -> Rows:
    """Return some of the rows."""
    X, y, ids = rows
    if end - begin == len(y):
        return rows
    return X.slice(begin, end - begin) if hasattr(X, "slice") else X[begin:end], y[begin:end], ids[begin:end]


def concatenate_rows(parts: list[Rows]) -> Rows:
    """Concatenate rows."""
    parts = [part for part in parts if len(part[1])]
    if len(parts) == 1:
        return parts[0]
    X, y, ids = zip(*parts, strict=True)
    return stack_inputs(X), np.concatenate(y), np.concatenate(ids)


def stack_inputs(parts: tuple[Any, ...]) -> Any:
    """Stack the X of several chunks."""
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else import_arrow().concat_tables(parts)
