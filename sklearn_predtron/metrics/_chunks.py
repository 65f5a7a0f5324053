"""Chunks of BIO labels: how many are found, by the definition of CoNLL's evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_predtron._support.compat import check_sample_weight
from sklearn_predtron._support.queries import Queries, sequences_of, shortened, weights_of_sequences

Indices = NDArray[np.intp]
OUTSIDE = -1  # the type of O


class Tags(NamedTuple):
    """The labels of tokens as arrays: the number of the type, whether a chunk may go on after it, and before it."""

    kind: Indices
    goes_on: NDArray[np.bool_]
    went_on: NDArray[np.bool_]


class Chunks(NamedTuple):
    """Where chunks begin, the number of their type there (`OUTSIDE` elsewhere), and where the chunk that begins there ends."""

    kind: Indices
    end: Indices


def chunk_f1_score(y_true: ArrayLike, y_pred: ArrayLike, sid: ArrayLike | None = None, *, sample_weight: Any = None) -> float:
    """Compute the F1 score of the chunks of BIO labels.

    F1 = 2 a / (p + t) for a chunks that are found, p predicted and t true ones, of all types and sequences together ("micro"): a
    chunk is found if one of the same type is predicted with the same first and last token.

    Parameters
    ----------
    y_true : array-like of shape (n_tokens,)
        True labels: "O", "B-x" and "I-x" of chunks of type x, "B" and "I" of chunks without one; "E" (the last token of a chunk)
        and "S" (its only token) are accepted like "B" and "I".
    y_pred : array-like of shape (n_tokens,)
        Predicted labels, of the same kinds.
    sid : array-like of shape (n_tokens,), default=None
        The sequence of each token, in any order; None and "one" are one sequence.  No chunk crosses from one to another.
    sample_weight : array-like of shape (n_tokens,), default=None
        Weights, the same for the tokens of a sequence; a chunk counts by its weight.

    Returns
    -------
    float
        From 0 to 1; 0 if there is no chunk.

    Raises
    ------
    ValueError
        If a label is none of these, or another argument is not as above.

    See Also
    --------
    chunk_precision_recall_fscore_support : Precision, recall and the scores of each type.
    token_scorer : Makes a scorer of it.

    Notes
    -----
    Tjong Kim Sang and Buchholz, *Introduction to the CoNLL-2000 shared task: chunking* (2000), as their program conlleval and
    the package seqeval in its default mode read labels: a chunk goes on to the next token if the first label is B or I, the
    second is I or E, and both have the same type.  So I-x begins a chunk after O or a chunk of another type, and any order is
    valid.

    Examples
    --------
    >>> from sklearn_predtron.metrics import chunk_f1_score
    >>> y_true = ["B-NP", "I-NP", "O", "B-VP", "B-NP"]
    >>> y_pred = ["B-NP", "I-NP", "O", "I-VP", "I-NP"]  # I-VP and I-NP begin chunks, too
    >>> chunk_f1_score(y_true, y_pred, sid=[0, 0, 0, 0, 0])
    1.0
    >>> round(chunk_f1_score(y_true, ["B-NP", "O", "O", "B-VP", "B-NP"], sid=[0, 0, 0, 0, 0]), 3)
    0.667
    """
    return chunk_precision_recall_fscore_support(y_true, y_pred, sid, average="micro", sample_weight=sample_weight)[2]


def chunk_precision_recall_fscore_support(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    sid: ArrayLike | None = None,
    *,
    labels: Sequence[str] | None = None,
    average: str | None = None,
    sample_weight: Any = None,
) -> tuple[Any, Any, Any, Any]:
    """Compute precision, recall and F1 of the chunks of BIO labels, of each type or of all.

    Parameters
    ----------
    y_true : array-like of shape (n_tokens,)
        True labels, as `chunk_f1_score` takes them.
    y_pred : array-like of shape (n_tokens,)
        Predicted labels.
    sid : array-like of shape (n_tokens,), default=None
        The sequence of each token; None and "one" are one sequence.
    labels : sequence of str, default=None
        The types that count, such as "NP"; the type of "B" and "I" is "_".  None is all that occur in either, sorted.
    average : {"micro"} or None, default=None
        None gives a value for each type, "micro" one for the chunks of all of them together.
    sample_weight : array-like of shape (n_tokens,), default=None
        Weights, the same for the tokens of a sequence.

    Returns
    -------
    precision : float or ndarray of shape (n_types,)
        The share of the predicted chunks that are true; 0 if none is predicted.
    recall : float or ndarray of shape (n_types,)
        The share of the true chunks that are found; 0 if there is none.
    fscore : float or ndarray of shape (n_types,)
        Their harmonic mean; 0 if no chunk is found.
    support : float or ndarray of shape (n_types,)
        The number of true chunks, or their weight.

    Raises
    ------
    ValueError
        If an argument is not as above, with its name and value.

    See Also
    --------
    chunk_f1_score : F1 of all chunks, and what a chunk is.
    sklearn.metrics.precision_recall_fscore_support : The same of tokens.

    Examples
    --------
    >>> from sklearn_predtron.metrics import chunk_precision_recall_fscore_support
    >>> y_true = ["B-NP", "I-NP", "O", "B-VP", "B-NP"]
    >>> y_pred = ["B-NP", "O", "O", "B-VP", "B-NP"]
    >>> precision, recall, f1, support = chunk_precision_recall_fscore_support(y_true, y_pred)
    >>> precision, recall, support  # of NP and of VP
    (array([0.5, 1. ]), array([0.5, 1. ]), array([2., 1.]))
    """
    if average not in (None, "micro"):
        raise ValueError(f"average={average!r} is not known; accepted are None and 'micro'.")
    if isinstance(labels, str):
        raise ValueError(f"labels={labels!r} is one type; accepted is a list of types.")
    true, predicted = read_labels(y_true, "y_true"), read_labels(y_pred, "y_pred")
    if len(true) != len(predicted):
        raise ValueError(f"y_pred has {len(predicted)} labels and y_true has {len(true)}; accepted are as many.")
    sequences = sequences_of(sid, len(true), "y_true")
    weight = read_weights(sample_weight, true, sequences)
    types: dict[str, int] = {}
    of_true, of_predicted = (find_chunks(read_tags(tokens, types), sequences) for tokens in (true, predicted))
    same = (of_true.kind == of_predicted.kind) & (of_true.end == of_predicted.end)
    found, predictions, support = (
        count_chunks(kind, len(types), weight)
        for kind in (np.where(same, of_true.kind, OUTSIDE), of_predicted.kind, of_true.kind)
    )
    chosen = [types.get(name, len(types)) for name in (sorted(types) if labels is None else labels)]
    found, predictions, support = (np.append(counts, 0.0)[chosen] for counts in (found, predictions, support))
    if average is None:
        return share(found, predictions), share(found, support), share(2 * found, predictions + support), support
    a, p, t = (float(counts.sum()) for counts in (found, predictions, support))
    return a / p if p else 0.0, a / t if t else 0.0, 2 * a / (p + t) if p + t else 0.0, t


def read_labels(y: Any, name: str) -> list[Any]:
    """Return the labels of all tokens as a list."""
    values = y.tolist() if isinstance(y, np.ndarray) else list(y)
    if values and isinstance(values[0], list | tuple | np.ndarray):
        raise ValueError(
            f"{name}={shortened(y)} is no list of labels; accepted is one label per token, and sid for the sequence of each: "
            "datasets.stack_sequences makes both of lists of lists."
        )
    return values


def read_weights(sample_weight: Any, labels: list[Any], sequences: Queries) -> NDArray | None:
    """Return the weights of the tokens, sequence by sequence."""
    if sample_weight is None:
        return None
    weight = check_sample_weight(sample_weight, labels)
    return np.repeat(weights_of_sequences(sequences, weight), np.diff(sequences.start))


def read_tags(labels: list[Any], types: dict[str, int]) -> Tags:
    """Return what labels say; new types are given numbers."""
    number: dict[Any, int] = {}
    try:
        codes = np.array([number.setdefault(label, len(number)) for label in labels], dtype=np.intp)
    except TypeError:
        raise ValueError(f"Labels {shortened(labels)} are not strings; accepted are 'O', 'B-x' and 'I-x'.") from None
    tags = [read_tag(label) for label in number]
    kind = np.array([OUTSIDE if tag == "O" else types.setdefault(name, len(types)) for tag, name in tags], dtype=np.intp)
    goes_on = np.array([tag in "BI" for tag, _ in tags], dtype=bool)
    went_on = np.array([tag in "IE" for tag, _ in tags], dtype=bool)
    return Tags(kind[codes], goes_on[codes], went_on[codes])


def read_tag(label: Any) -> tuple[str, str]:
    """Return the tag and the type of a label."""
    if isinstance(label, str):
        tag, dash, name = label.partition("-")
        if label == "O" or (tag in ("B", "I", "E", "S") and (dash or not name)):
            return tag, name or "_"
    raise ValueError(f"The label {label!r} is none of chunks; accepted are 'O', 'B-x' and 'I-x' (and 'E-x', 'S-x') for a type x.")


def find_chunks(tags: Tags, sequences: Queries) -> Chunks:
    """Return the chunks of the tokens, sequence by sequence."""
    kind, goes_on, went_on = (sequences.take(values) for values in tags)
    joined = np.zeros(len(kind) + 1, dtype=bool)  # whether a token belongs to the chunk of the token before it
    joined[1:-1] = goes_on[:-1] & went_on[1:] & (kind[1:] == kind[:-1])
    joined[sequences.start] = False
    inside = kind != OUTSIDE
    starts, ends = np.flatnonzero(inside & ~joined[:-1]), np.flatnonzero(inside & ~joined[1:])
    chunks = Chunks(np.full(len(kind), OUTSIDE), np.zeros(len(kind), dtype=np.intp))
    chunks.kind[starts], chunks.end[starts] = kind[starts], ends
    return chunks


def count_chunks(kind: Indices, n_types: int, weight: NDArray | None) -> NDArray:
    """Return the number of chunks of each type, or their weight."""
    there = np.flatnonzero(kind != OUTSIDE)
    return np.bincount(kind[there], None if weight is None else weight[there], minlength=n_types).astype(np.float64)


def share(part: NDArray, whole: NDArray) -> NDArray:
    """Return part / whole, and 0 of nothing."""
    return np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)
