"""Sequences as stacked tokens, and windows of neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array

from sklearn_predtron._support.queries import SID, Queries, sequences_of, shortened, split_ids


def stack_sequences(sequences: Iterable[Any], labels: Iterable[Any] | None = None) -> tuple[Any, NDArray | None, NDArray]:
    """Stack sequences; return tokens and sequence numbers.

    It converts lists of lists of dicts, the input of sklearn-crfsuite, to rows for scikit-learn: `DictVectorizer` or
    `FeatureHasher` turns the tokens into X.

    Parameters
    ----------
    sequences : iterable
        Sequences of at least one token each.  All are lists (or strings, or other iterables) of tokens of any type, or all are
        arrays, or all are sparse matrices of shape (n_tokens_of_sequence, n_features).
    labels : iterable, default=None
        The labels of each sequence, one per token.

    Returns
    -------
    tokens : list, ndarray or CSR matrix
        The tokens of all sequences: a list, or of shape (n_tokens, n_features) for arrays or sparse matrices.
    y : ndarray of shape (n_tokens,) or None
        Their labels; None without `labels`.
    sid : ndarray of shape (n_tokens,)
        The number of each token's sequence, 0, 1, ...; int64.

    Raises
    ------
    ValueError
        If a sequence has no tokens (`sid` cannot represent it, and `unstack` would return one sequence fewer), has another number
        of labels than of tokens, or another number of features than the first.  The message has its number.

    See Also
    --------
    unstack : Splits predictions by sequence.

    Examples
    --------
    >>> from sklearn.feature_extraction import DictVectorizer
    >>> from sklearn_predtron.datasets import stack_sequences
    >>> sentences = [[{"word": "Ada"}, {"word": "sleeps"}], [{"word": "Run"}]]
    >>> tokens, y, sid = stack_sequences(sentences, [["NAME", "VERB"], ["VERB"]])
    >>> tokens
    [{'word': 'Ada'}, {'word': 'sleeps'}, {'word': 'Run'}]
    >>> y, sid
    (array(['NAME', 'VERB', 'VERB'], dtype='<U4'), array([0, 0, 1]))
    >>> DictVectorizer().fit_transform(tokens).shape
    (3, 3)
    """
    if isinstance(sequences, str | Mapping) or is_table(sequences):
        raise ValueError(
            f"sequences={shortened(sequences)} is one {type(sequences).__name__}; accepted are lists of sequences: "
            "[sequence] of a single one."
        )
    items = [read_sequence(item, i) for i, item in enumerate(sequences)]
    lengths = [item.shape[0] if is_table(item) else len(item) for item in items]
    for i, length in enumerate(lengths):
        if length == 0:
            raise ValueError(f"sequences[{i}] has no tokens; leave it out, for sid has an entry per token and cannot tell of it.")
    y = None if labels is None else stack_labels(labels, lengths)
    return stack_items(items), y, np.repeat(np.arange(len(items), dtype=np.int64), lengths)


def is_table(item: Any) -> bool:
    """Whether a sequence is an array with a row per token."""
    return len(getattr(item, "shape", ())) == 2


def read_sequence(item: Any, i: int) -> Any:
    """Return a sequence as a CSR matrix, an array or a list."""
    if sparse.issparse(item):
        return item.tocsr()
    if is_table(item):
        return np.asarray(item)
    if isinstance(item, Mapping) or not isinstance(item, Iterable):
        raise ValueError(
            f"sequences[{i}]={shortened(item)} is no sequence of tokens; accepted are lists of tokens and arrays with a row per "
            "token. One sequence is stacked as [sequence]."
        )
    return list(item)


def stack_items(items: list[Any]) -> Any:
    """Stack sequences of one type: lists, arrays or sparse."""
    for i, item in enumerate(items):
        if type(item) is not type(items[0]):
            raise ValueError(
                f"sequences[{i}] is of type {type(item).__name__} and sequences[0] of type {type(items[0]).__name__}; accepted "
                "are sequences of one type."
            )
        if is_table(item) and item.shape[1] != items[0].shape[1]:
            raise ValueError(f"sequences[{i}] has {item.shape[1]} features and sequences[0] has {items[0].shape[1]}.")
    if items and sparse.issparse(items[0]):
        stacked = sparse.vstack(items, format="csr")
        return sparse.csr_array(stacked) if isinstance(items[0], sparse.sparray) else stacked
    if items and is_table(items[0]):
        return np.concatenate(items)
    return [token for item in items for token in item]


def stack_labels(labels: Iterable[Any], lengths: list[int]) -> NDArray:
    """Return the labels of all tokens."""
    lists = [list(each) for each in labels]
    if len(lists) != len(lengths):
        raise ValueError(f"labels are of {len(lists)} sequences, and there are {len(lengths)} sequences.")
    for i, (each, length) in enumerate(zip(lists, lengths, strict=True)):
        if len(each) != length:
            raise ValueError(f"labels[{i}] has {len(each)} labels and sequences[{i}] has {length} tokens.")
    try:
        y = np.array([label for each in lists for label in each])
    except ValueError:  # labels that are lists, of several lengths
        y = np.zeros((0, 0))
    if y.ndim != 1:
        raise ValueError(f"labels={shortened(lists)} must be one a token: numbers or strings.")
    return y


def unstack(values: Any, sid: ArrayLike | None) -> list[Any]:
    """Split values of tokens by sequence.

    Parameters
    ----------
    values : array-like or sparse matrix of shape (n_tokens,) or (n_tokens, k), or list
        One value or row per token, such as the predictions.
    sid : array-like of shape (n_tokens,) or None
        The sequence of each token; None and "one" are one sequence.

    Returns
    -------
    list
        The values of each sequence, in the order in which the sequences first appear; within a sequence they keep their order.  A
        list is split into lists, a sparse matrix into CSR matrices, and any other input into arrays.

    Raises
    ------
    ValueError
        If `sid` has another length than `values`, or has missing values.

    See Also
    --------
    stack_sequences : Stacks sequences.

    Examples
    --------
    >>> from sklearn_predtron.datasets import unstack
    >>> unstack(["NAME", "VERB", "VERB"], [0, 0, 1])
    [['NAME', 'VERB'], ['VERB']]
    """
    if isinstance(values, list):
        queries = sequences_of(sid, len(values), "values")
        gathered: Any = values if queries.order is None else [values[i] for i in queries.order]
    else:
        values = values.tocsr() if sparse.issparse(values) else np.asarray(values)
        if values.ndim == 0:
            raise ValueError(f"values={shortened(values)} is no list and no array.")
        queries = sequences_of(sid, values.shape[0], "values")
        gathered = queries.take(values)
    edges = queries.start.tolist()
    return [gathered[edges[i] : edges[i + 1]] for i in range(queries.n)]


def window(X: Any, sid: ArrayLike | None, before: int = 2, after: int = 2) -> Any:
    """Append the features of neighbouring tokens to those of each token.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_tokens, n_features)
        Tokens.  A column "sid" of a data frame is left out.
    sid : array-like of shape (n_tokens,) or None
        The sequence of each token, in the order of X; sequences may be interleaved.  None and "one" are one sequence.
    before : int, default=2
        Number of preceding tokens whose features are added.
    after : int, default=2
        Number of following tokens whose features are added.

    Returns
    -------
    {ndarray, CSR matrix} of shape (n_tokens, (before + 1 + after) * n_features)
        Blocks of `n_features` columns from the furthest token before to the furthest after: feature j of the token d places later
        is in column ``(before + d) * n_features + j``, for d = -before, ..., after.  Features outside the sequence are 0.  The
        dtype is that of X; CSR stays CSR, and other sparse formats become CSR.

    Raises
    ------
    ValueError
        If `before` or `after` is no integer of at least 0, X is not two-dimensional, or `sid` is invalid.

    See Also
    --------
    stack_sequences : Makes the rows and `sid` from lists of sequences.
    sklearn_predtron.PredtronSequenceTagger : Trains on them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_predtron.datasets import window
    >>> window(np.array([[1], [2], [3], [4]]), sid=["a", "a", "a", "b"], before=1, after=1)
    array([[0, 1, 2],
           [1, 2, 3],
           [2, 3, 0],
           [0, 4, 0]])
    """
    for name, value in (("before", before), ("after", after)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 0:
            raise ValueError(f"{name}={value!r} must be an integer of at least 0.")
    X, sid = split_ids(X, sid, SID)
    X = check_array(
        X, accept_sparse="csr", accept_large_sparse=True, dtype="numeric", ensure_all_finite=False, ensure_min_samples=0
    )
    queries = Queries(sid, X.shape[0], SID)
    blocks = [neighbours(queries, X.shape[0], d) for d in range(-before, after + 1)]
    return sparse_window(X, blocks) if sparse.issparse(X) else dense_window(X, blocks)


def neighbours(queries: Queries, n: int, d: int) -> NDArray:
    """Return each token's neighbour at distance d; it is n outside the sequence."""
    first, last = (np.repeat(edge, np.diff(queries.start)) for edge in (queries.start[:-1], queries.start[1:]))
    there = np.arange(n) + d
    rows = np.arange(n) if queries.order is None else queries.order
    inside = (there >= first) & (there < last)
    return queries.put_back(np.where(inside, np.append(rows, n)[np.where(inside, there, n)], n))


def dense_window(X: NDArray, blocks: list[NDArray]) -> NDArray:
    """Return the rows of blocks side by side; n means 0."""
    n, p = X.shape
    out = np.zeros((n, len(blocks), p), dtype=X.dtype)
    for i, rows in enumerate(blocks):
        inside = np.flatnonzero(rows < n)
        out[inside, i] = X[rows[inside]]
    return out.reshape(n, len(blocks) * p)


def sparse_window(X: Any, blocks: list[NDArray]) -> Any:
    """Return sparse rows of blocks side by side; n means empty."""
    longer = type(X)((X.data, X.indices, np.append(X.indptr, X.indptr[-1])), shape=(X.shape[0] + 1, X.shape[1]))
    return type(X)(sparse.hstack([longer[rows] for rows in blocks], format="csr", dtype=X.dtype))
