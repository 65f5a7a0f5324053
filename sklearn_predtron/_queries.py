"""Queries: which rows belong together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, column_or_1d

from sklearn_predtron._compat import check_sample_weight
from sklearn_predtron._warning import warn


def read_relevances(y: Any) -> NDArray:
    """Relevances as an array of float64, checked."""
    y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", ensure_min_samples=0)
    if y.size and y.min() < 0:
        raise ValueError(f"y holds the relevance {y.min():g}; accepted are finite numbers of at least 0.")
    return y


def read_document_relevances(y: Any) -> NDArray:
    """Relevances of documents, of shape (n,)."""
    return read_relevances(column_or_1d(y, warn=True))


ONE = "one"


class Queries:
    """The documents of each query, in the order in which the queries first appear.

    Attributes
    ----------
    order : ndarray or None
        The documents, query by query; None where they lie so.
    start : ndarray of shape (n_queries + 1,)
        Where each query begins in `order`.
    """

    def __init__(self, qid: Any, n: int, name: str = "qid"):
        self.order: NDArray | None = None
        self.start = np.array([0, n] if n else [0], dtype=np.intp)
        if qid is not None and not is_one(qid) and n:
            self._gather(without_missing(check_qid(qid, n, name), name))

    def _gather(self, qid: NDArray) -> None:
        edges = np.flatnonzero(qid[1:] != qid[:-1]) + 1
        self.start = np.concatenate([[0], edges, [len(qid)]]).astype(np.intp)
        runs = query_numbers(qid[self.start[:-1]])
        if runs.max() + 1 < len(runs):
            query = np.repeat(runs, np.diff(self.start))
            self.order = np.argsort(query, kind="stable")
            self.start = np.concatenate([[0], np.cumsum(np.bincount(query))]).astype(np.intp)

    @property
    def n(self) -> int:
        """Number of queries."""
        return len(self.start) - 1

    def take(self, values: Any) -> Any:
        """Values of the documents, query by query."""
        return values if self.order is None else values[self.order]

    def put_back(self, values: NDArray) -> NDArray:
        """Values that are query by query, in the order of the documents."""
        if self.order is None:
            return values
        out = np.empty_like(values)
        out[self.order] = values
        return out


def queries_of_positive_weight(qid: Any, weight: NDArray, name: str = "qid") -> tuple[Queries, NDArray]:
    """The queries of the documents of positive weight, and the mean weight of each."""
    kept = weight > 0
    ids = None if qid is None or is_one(qid) else without_missing(check_qid(qid, len(weight), name), name)
    if kept.all():
        queries = Queries(ids, len(weight))
    else:
        there = np.flatnonzero(kept)
        queries = Queries(None if ids is None else ids[kept], len(there))
        queries.order = queries.take(there)
    return queries, mean_weights(queries.take(weight), queries.start)


def mean_weights(weight: NDArray, start: NDArray) -> NDArray:
    """The mean of the positive weights weight[start[i]:start[i + 1]] of each block."""
    if len(start) == 1:
        return np.zeros(0)
    most, lengths = np.maximum.reduceat(weight, start[:-1]), np.diff(start)  # relative to it no sum overflows
    return most * (np.add.reduceat(weight / np.repeat(most, lengths), start[:-1]) / lengths)


def split_ids(X: Any, qid: Any) -> tuple[Any, Any]:
    """Return X without its column "qid" and the ids, if X is a data frame (or an Arrow table) that has one."""
    if not has_ids(X):
        return X, qid
    ids = X["qid"]
    if qid is not None and not np.array_equal(np.asarray(qid), np.asarray(ids)):
        raise ValueError(f"qid={shortened(qid)} is passed beside a column 'qid' of X that differs; accepted is one of the two.")
    return (X.drop(columns="qid") if hasattr(X, "iloc") else X.drop(["qid"])), ids


def has_ids(X: Any) -> bool:
    """Whether X has a column "qid"."""
    names = list(getattr(X, "column_names", getattr(X, "columns", ())))
    if any(isinstance(name, tuple) and "qid" in name for name in names):
        raise ValueError("X has columns of several levels, one of them 'qid'; accepted is a frame whose columns have one.")
    return any(isinstance(name, str) and name == "qid" for name in names)


def is_one(qid: Any) -> bool:
    """Whether all rows are meant to be one query."""
    return isinstance(qid, str) and qid == ONE


def warn_of_one_query(n: int) -> None:
    """Warn that several rows came without ids."""
    warn(
        f"qid=None: all {n} rows are one query.  Pass qid, the query of each row, or a data frame with a column 'qid'.  Searches "
        "and pipelines pass qid on after sklearn.set_config(enable_metadata_routing=True), if it is given as groups=qid; "
        "without, they keep a column right.  If the rows are one query, say so by qid='one'."
    )


def check_qid(qid: Any, n: int, name: str = "qid") -> NDArray:
    """The ids of the rows' queries, or of what else the parameter is called after, as an array."""
    what = "query id" if name == "qid" else "group"
    try:
        qid = np.asarray(qid)
    except ValueError:
        raise ValueError(f"{name}={shortened(qid)} is not one-dimensional; it must have the {what} of each row.") from None
    if qid.ndim == 2 and qid.shape[1] == 1:
        qid = qid[:, 0]
    if qid.ndim != 1:
        raise ValueError(f"{name} has shape {qid.shape}; it must have the {what} of each row, shape ({n},).")
    if len(qid) != n:
        raise ValueError(f"{name} has {len(qid)} entries and X has {n} rows; it must have the {what} of each row.")
    return qid


def without_missing(ids: NDArray, name: str = "qid") -> NDArray:
    """The ids, none of which may be missing; numbers for objects, which may have no order."""
    if ids.dtype.kind not in "biufcSUmM":
        return numbers_of_objects(ids, name)
    if ids.dtype.kind in "fcmM":
        refuse(ids, name, np.isnat(ids) if ids.dtype.kind in "mM" else np.isnan(ids), "ids without missing values")
    return ids


def query_numbers(ids: NDArray) -> NDArray[np.intp]:
    """0, 1, ... for the ids, in order of first appearance."""
    ids = without_missing(ids)
    _, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.intp)
    number[np.argsort(first)] = np.arange(len(first))
    return number[inverse]


def numbers_of_objects(ids: NDArray, name: str = "qid") -> NDArray[np.intp]:
    """0, 1, ... for ids of any type, in order of first appearance."""
    refuse(ids, name, np.array([is_missing(value) for value in ids]), "ids without missing values")
    known: dict[Any, int] = {}
    try:
        return np.array([known.setdefault(value, len(known)) for value in ids], dtype=np.intp)
    except TypeError:
        raise ValueError(f"{name}={shortened(ids)} holds values without a hash; accepted are numbers and strings.") from None


def is_missing(value: Any) -> bool:
    """Whether it is None, NaN or a kind of them."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # pandas.NA has no truth value
        return True


def refuse(values: NDArray, parameter: str, wrong: NDArray, accepted: str) -> None:
    """Raise an error that names the first of the wrong values."""
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0].tolist())
        raise ValueError(f"{parameter}[{', '.join(map(str, at))}]={values[at]}; accepted are {accepted}.")


def shortened(value: Any) -> str:
    """A value for a message."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def document_weights(sample_weight: Any, X: Any) -> NDArray:
    """Weights of the documents, checked."""
    return check_sample_weight(sample_weight, X)
