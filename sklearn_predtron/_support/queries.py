"""Queries and sequences: groups of rows."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.dicts import refuse_lazy
from sklearn_predtron._support.warning import warn


def read_relevances(y: Any) -> NDArray:
    """Return relevances as float64, checked."""
    from sklearn.utils.validation import check_array  # a predictor does without scikit-learn

    y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", ensure_min_samples=0)
    if y.size and y.min() < 0:
        raise ValueError(f"y holds the relevance {y.min():g}; accepted are finite numbers of at least 0.")
    return y


def read_document_relevances(y: Any) -> NDArray:
    """Return relevances of documents, of shape (n,)."""
    from sklearn.utils.validation import column_or_1d  # as above

    return read_relevances(column_or_1d(y, warn=True))


ONE = "one"
OF_SIZES = "np.repeat(np.arange(len(sizes)), sizes)"


class Ids(NamedTuple):
    """Names of row ids and of groups."""

    name: str
    group: str
    groups: str


QID, SID, GROUPS = Ids("qid", "query", "queries"), Ids("sid", "sequence", "sequences"), Ids("groups", "group", "groups")


def ids_taken(method: Callable[..., Any]) -> Ids | None:
    """Return the ids that a method accepts, if any."""
    known = inspect.signature(method).parameters
    return next((ids for ids in (QID, SID, GROUPS) if ids.name in known), None)


# The names of row ids and group sizes in other libraries.
OTHER_NAMES = ("group", "groups", "group_id", "lengths", "qid", "query", "query_id", "sid")


def with_ids(ids: Ids) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that explains other libraries' id names; the methods raise TypeError for them."""

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        known = inspect.signature(method).parameters

        @functools.wraps(method)
        def call(self: Any, *args: Any, **given: Any) -> Any:
            for name in given:
                if name in OTHER_NAMES and name not in known:
                    raise TypeError(unknown_ids(f"{type(self).__name__}.{method.__name__}", name, ids))
            return method(self, *args, **given)

        return call

    return decorate


def unknown_ids(method: str, name: str, ids: Ids) -> str:
    """Return the message for ids under another name."""
    return (
        f"{method}() got an unexpected keyword argument {name!r}; accepted is {ids.name}=, the {ids.group} of each row, which "
        f"{OF_SIZES} makes of the sizes of {ids.groups}."
    )


class Queries:
    """The documents of each query, or tokens of each sequence.

    Queries are in the order of their first appearance.

    Attributes
    ----------
    order : ndarray or None
        The documents, query by query; None if they are stored in that order.
    start : ndarray of shape (n_queries + 1,)
        Where each query begins in `order`.
    """

    def __init__(self, qid: Any, n: int, ids: Ids = QID):
        self.order: NDArray | None = None
        self.start = np.array([0, n] if n else [0], dtype=np.intp)
        if qid is not None and not is_one(qid) and n:
            self._gather(without_missing(check_qid(qid, n, ids), ids))

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
        """Return values query by query."""
        return values if self.order is None else values[self.order]

    def put_back(self, values: NDArray) -> NDArray:
        """Return values in document order."""
        if self.order is None:
            return values
        out = np.empty_like(values)
        out[self.order] = values
        return out


def queries_of_positive_weight(qid: Any, weight: NDArray, ids: Ids = QID) -> tuple[Queries, NDArray]:
    """Return the queries of positive weight, with mean weights."""
    kept = weight > 0
    values = None if qid is None or is_one(qid) else without_missing(check_qid(qid, len(weight), ids), ids)
    if kept.all():
        queries = Queries(values, len(weight))
    else:
        there = np.flatnonzero(kept)
        queries = Queries(None if values is None else values[kept], len(there))
        queries.order = queries.take(there)
    return queries, mean_weights(queries.take(weight), queries.start)


def mean_weights(weight: NDArray, start: NDArray) -> NDArray:
    """Return the mean positive weight of each block."""
    if len(start) == 1:
        return np.zeros(0)
    most, lengths = np.maximum.reduceat(weight, start[:-1]), np.diff(start)  # relative to it no sum overflows
    return most * (np.add.reduceat(weight / np.repeat(most, lengths), start[:-1]) / lengths)


def split_ids(X: Any, qid: Any, ids: Ids = QID) -> tuple[Any, Any]:
    """Return X without its id column, and the ids; X is a data frame or an Arrow table."""
    column = ids.name
    if not has_ids(X, ids):
        return X, qid
    found = X[column]
    if qid is not None and not np.array_equal(np.asarray(qid), np.asarray(found)):
        raise ValueError(
            f"{column}={shortened(qid)} is passed beside a column {column!r} of X that differs; accepted is one of the two."
        )
    return (X.drop(columns=column) if hasattr(X, "iloc") else X.drop([column])), found


def has_ids(X: Any, ids: Ids = QID) -> bool:
    """Return whether X has a column of ids."""
    refuse_lazy(X)
    names = list(getattr(X, "column_names", getattr(X, "columns", ())))
    if any(isinstance(name, tuple) and ids.name in name for name in names):
        raise ValueError(
            f"X has columns of several levels, one of them {ids.name!r}; accepted is a frame whose columns have one."
        )
    return any(isinstance(name, str) and name == ids.name for name in names)


def is_one(qid: Any) -> bool:
    """Return whether all rows are one query."""
    return isinstance(qid, str) and qid == ONE


def number_of_rows(X: Any) -> int:
    """Return the number of rows; 0 if X is invalid."""
    if hasattr(X, "shape"):
        return X.shape[0] if len(X.shape) == 2 else 0
    return len(X) if hasattr(X, "__len__") else 0


def warn_of_one_query(X: Any, ids: Ids = QID) -> None:
    """Warn that several rows have no ids; an invalid X raises an error later."""
    n = number_of_rows(X)
    if n < 2:
        return
    name, group = ids.name, ids.group
    warn(
        f"{name}=None: all {n} rows are one {group}.  Pass {name}, the {group} of each row, or a data frame with a column "
        f"{name!r}.  Searches and pipelines pass {name} on after sklearn.set_config(enable_metadata_routing=True), if it is "
        f"given as groups={name}; without, they keep a column right.  If the rows are one {group}, say so by {name}='one'."
    )


def check_qid(qid: Any, n: int, ids: Ids = QID) -> NDArray:
    """Return the documents' query ids as an array."""
    name, meaning = ids.name, f"it must have the {ids.group} id of each row"
    try:
        qid = np.asarray(qid)
    except ValueError:
        raise ValueError(f"{name}={shortened(qid)} is not one-dimensional; {meaning}.") from None
    if qid.ndim == 2 and qid.shape[1] == 1:
        qid = qid[:, 0]
    if qid.ndim != 1:
        raise ValueError(f"{name} has shape {qid.shape}; {meaning}, shape ({n},).")
    if len(qid) != n:
        sizes = qid.dtype.kind in "iu" and qid.sum() == n
        how = f", which {OF_SIZES} makes of the sizes of {ids.groups}" if sizes else ""
        raise ValueError(f"{name} has {len(qid)} entries and X has {n} rows; {meaning}{how}.")
    return qid


def without_missing(values: NDArray, ids: Ids = QID) -> NDArray:
    """Return ids without missing ones, numbered if objects; objects may have no order."""
    if values.dtype.kind not in "biufcSUmM":
        return numbers_of_objects(values, ids)
    if values.dtype.kind in "fcmM":
        missing = np.isnat(values) if values.dtype.kind in "mM" else np.isnan(values)
        refuse(values, ids.name, missing, "ids without missing values")
    return values


def query_numbers(values: NDArray, ids: Ids = QID) -> NDArray[np.intp]:
    """Number the ids by first appearance."""
    values = without_missing(values, ids)
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.intp)
    number[np.argsort(first)] = np.arange(len(first))
    return number[inverse]


def numbers_of_objects(values: NDArray, ids: Ids = QID) -> NDArray[np.intp]:
    """Number ids of any type by first appearance."""
    refuse(values, ids.name, np.array([is_missing_id(value) for value in values]), "ids without missing values")
    known: dict[Any, int] = {}
    try:
        return np.array([known.setdefault(value, len(known)) for value in values], dtype=np.intp)
    except TypeError:
        raise ValueError(
            f"{ids.name}={shortened(values)} holds values without a hash; accepted are numbers and strings."
        ) from None


def is_missing_id(value: Any) -> bool:
    """Return whether a value is None or NaN."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # pandas.NA has no truth value
        return True


def refuse(values: NDArray, parameter: str, wrong: NDArray, accepted: str) -> None:
    """Raise an error that names the first wrong value."""
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0].tolist())
        raise ValueError(f"{parameter}[{', '.join(map(str, at))}]={values[at]}; accepted are {accepted}.")


def shortened(value: Any) -> str:
    """Return a value for a message."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def shortened_list(values: Iterable[Any]) -> str:
    """Return the first ten values for a message."""
    found = [shortened(value) for value in islice(values, 11)]
    return f"[{', '.join(found[:10])}{', ...' if len(found) > 10 else ''}]"


def sequences_of(sid: Any, n: int, name: str) -> Queries:
    """Return the tokens of each sequence."""
    if sid is not None and not is_one(sid) and np.ndim(sid) == 1 and len(sid) != n:
        raise ValueError(f"sid has {len(sid)} entries and {name} has {n}; it must have the sequence id of each token.")
    return Queries(sid, n, SID)


def weights_of_sequences(queries: Queries, weight: NDArray) -> NDArray:
    """Return each sequence's weight, which its tokens share."""
    weight, first = queries.take(weight), queries.start[:-1]
    of_sequence = weight[first] if queries.n else weight[:0]
    differs = weight != np.repeat(of_sequence, np.diff(queries.start))
    if differs.any():
        at = int(np.argmax(differs))
        row = at if queries.order is None else int(queries.order[at])
        raise ValueError(
            f"sample_weight[{row}]={weight[at]:g} is not the weight of its sequence's first token; a sequence weighs as one, and "
            "accepted is the same weight for all its tokens."
        )
    return of_sequence
