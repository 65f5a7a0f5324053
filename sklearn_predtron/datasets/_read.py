"""Read an svmlight file as a whole."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sklearn_predtron._support import types
from sklearn_predtron._support.compat import as_configured
from sklearn_predtron.datasets._blocks import MOST_BYTES
from sklearn_predtron.datasets._reader import SvmlightReader
from sklearn_predtron.datasets._rows import Chunk, RowLabels
from sklearn_predtron.datasets._svmlight import MOST_FEATURES


def read_svmlight(
    path: str | os.PathLike[str],
    *,
    n_features: int | None = None,
    zero_based: bool | types.AutoName = "auto",
    classes: ArrayLike | None = None,
    multilabel: bool = False,
    dtype: Any = np.float64,
    query_id: bool = False,
    sequence_id: bool = False,
    n_jobs: int | None = None,
) -> tuple:
    """Read an svmlight file as a whole.

    The result equals that of scikit-learn's `load_svmlight_file` to the last bit, many times faster.  Lines that `SvmlightReader`
    rejects raise an error.  The file is read once, so it may be a pipe.

    Parameters
    ----------
    path : str or path-like
        The file; ``.gz`` and ``.bz2`` files are decompressed as they are read.
    n_features : int, default=None
        Number of columns of X.  None: the largest feature index, counted from 1.
    zero_based : bool or "auto", default="auto"
        Whether indices count from 0.  "auto": True if the index 0 occurs.
    classes : array-like, default=None
        The labels that may occur.  None: any number.
    multilabel : bool, default=False
        Whether a row has a set of labels, as in "1,3 5:0.2".
    dtype : {float64, float32}, default=float64
        Type of X.
    query_id : bool, default=False
        Whether rows are the documents of queries, as in "2 qid:10 1:0.5"; not together with `multilabel`.
    sequence_id : bool, default=False
        Whether rows are the tokens of sequences, as in "-1 qid:10 1:0.5"; not together with `multilabel` or `query_id`.
    n_jobs : int, default=None
        Number of parsing threads.  None: no thread.  -1: one for each processor.

    Returns
    -------
    X : csr_matrix of shape (n_rows, n_features)
        The rows, with indices of 32 bits unless there are too many entries.
    y : ndarray of shape (n_rows,) or csr_matrix of shape (n_rows, n_classes)
        The labels, float64; with `multilabel` zeros and ones, a column for each of the sorted classes.
    qid : ndarray of shape (n_rows,)
        The id of each row's query, or with `sequence_id` of its sequence, int64.  Only with `query_id` or `sequence_id`.
    classes : ndarray of shape (n_classes,)
        The sorted labels, one for each column of y.  Only with `multilabel`.

    Raises
    ------
    BrokenLineError
        A line cannot be read.
    ValueError
        A parameter is invalid, or `n_features` is smaller than the number of features of the file.

    See Also
    --------
    SvmlightReader : Reads a file in chunks, without holding it in memory.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn_predtron.datasets import read_svmlight
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "queries.svm")
    ...     with open(path, "w") as file:
    ...         print("2 qid:7 1:0.5", "0 qid:7 2:1", "1 qid:3 1:2 # the last", sep="\\n", file=file)
    ...     X, y, qid = read_svmlight(path, query_id=True)
    >>> X.toarray()
    array([[0.5, 0. ],
           [0. , 1. ],
           [2. , 0. ]])
    >>> y, qid
    (array([2., 0., 1.]), array([7, 7, 3]))
    """
    form: dict[str, Any] = {"n_features": n_features, "zero_based": zero_based, "classes": classes}
    kinds: dict[str, Any] = {"multilabel": multilabel, "query_id": query_id, "sequence_id": sequence_id}
    reader = SvmlightReader(path, **form, **kinds, dtype=dtype, n_jobs=n_jobs)
    auto = zero_based == "auto"
    chunks = list(reader._chunks(None if auto else n_features, bool(zero_based), reader.classes, longest=MOST_BYTES))
    ids = np.concatenate([np.empty(0, dtype=np.int64), *(chunk.qid for chunk in chunks if chunk.qid is not None)])
    labels = stack_labels(chunks)
    rows, chunks = [chunk.X for chunk in chunks], []
    one_based = auto and any(X.nnz for X in rows) and all(X.indices.min(initial=1) > 0 for X in rows)
    width = max([1, *(X.shape[1] - one_based for X in rows)])
    if n_features is not None and n_features < width:
        raise ValueError(f"n_features={n_features} must be at least {width}, the features of {reader.path!r}.")
    X = as_configured(stack_rows(rows, n_features or width, reader.dtype, one_based))
    if multilabel:
        found = np.unique(labels.values) if reader.classes is None else reader.classes
        return X, as_configured(labels.indicators(found)), found
    return (X, labels.values, ids) if query_id or sequence_id else (X, labels.values)


def stack_labels(chunks: list[Chunk]) -> RowLabels:
    """Return the labels of all chunks."""
    values = np.concatenate([np.empty(0), *(chunk.labels.values for chunk in chunks)])
    return RowLabels(values, stack_starts([chunk.labels.start for chunk in chunks if chunk.labels.start is not None]))


def stack_rows(rows: list[sparse.csr_matrix], width: int, dtype: np.dtype, base: int) -> sparse.csr_matrix:
    """Return all rows in one matrix."""
    start = stack_starts([X.indptr for X in rows])
    indices = np.concatenate([np.empty(0, dtype=np.int32), *(X.indices for X in rows)])
    indices -= base
    data = np.concatenate([np.empty(0, dtype=dtype), *(X.data for X in rows)])
    if start[-1] <= MOST_FEATURES:
        start = start.astype(np.int32)
    return sparse.csr_matrix((data, indices, start), shape=(len(start) - 1, width))


def stack_starts(starts: list[NDArray]) -> NDArray[np.intp]:
    """Return the row starts of all chunks."""
    counts = [np.diff(start) for start in starts]
    return np.concatenate([[0], np.cumsum(np.concatenate([np.empty(0, dtype=np.intp), *counts]))]).astype(np.intp)
