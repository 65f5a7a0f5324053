"""Counts of BIO chunks, by CoNLL's definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_predtron._support.chunks import OUTSIDE, Indices, find_chunks, read_labels, read_tags
from sklearn_predtron._support.compat import check_sample_weight
from sklearn_predtron._support.queries import Queries, sequences_of, shortened, weights_of_sequences


def chunk_f1_score(y_true: ArrayLike, y_pred: ArrayLike, sid: ArrayLike | None = None, *, sample_weight: Any = None) -> float:
    """Compute the F1 score of the chunks of BIO labels.

    F1 = 2 a / (p + t) for a found, p predicted and t true chunks of all types and sequences together ("micro").  A chunk is
    found if one of the same type is predicted with the same first and last token.

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
    the package seqeval in its default mode read labels: a chunk continues to the next token if the first label is B or I, the
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
    average: Literal["micro"] | None = None,
    sample_weight: Any = None,
) -> tuple[Any, Any, Any, Any]:
    """Compute precision, recall and F1 of BIO chunks.

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
    chunk_f1_score : F1 of all chunks, and the definition of a chunk.
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
    if average is not None and not (isinstance(average, str) and average == "micro"):
        raise ValueError(f"average={average!r} is not known; accepted are None and 'micro'.")
    if isinstance(labels, str) or not (labels is None or np.iterable(labels)):
        raise ValueError(f"labels={shortened(labels)} is one type; accepted is a list of types.")
    types, found, predictions, support = count_found(y_true, y_pred, sid, sample_weight)
    chosen = [types.get(str(name), len(types)) for name in (sorted(types) if labels is None else labels)]
    found, predictions, support = (np.append(counts, 0.0)[chosen] for counts in (found, predictions, support))
    if average is None:
        return quotient(found, predictions), quotient(found, support), quotient(2 * found, predictions + support), support
    a, p, t = (float(counts.sum()) for counts in (found, predictions, support))
    return a / p if p else 0.0, a / t if t else 0.0, f1_of(a, p, t), t


def f1_of(found: float, predicted: float, true: float) -> float:
    """Return the F1 score of counts of chunks."""
    return 2 * found / (predicted + true) if predicted + true else 0.0


def count_found(y_true: Any, y_pred: Any, sid: Any, sample_weight: Any) -> tuple[dict[str, int], NDArray, NDArray, NDArray]:
    """Return the types, with found, predicted and true counts."""
    true, predicted = read_labels(y_true, "y_true"), read_labels(y_pred, "y_pred")
    if len(true) != len(predicted):
        raise ValueError(f"y_pred has {len(predicted)} labels and y_true has {len(true)}; accepted is the same number.")
    sequences = sequences_of(sid, len(true), "y_true")
    weight = read_weights(sample_weight, true, sequences)
    types: dict[str, int] = {}
    of_true, of_predicted = (find_chunks(read_tags(tokens, types), sequences) for tokens in (true, predicted))
    same = (of_true.kind == of_predicted.kind) & (of_true.end == of_predicted.end)
    kinds = (np.where(same, of_true.kind, OUTSIDE), of_predicted.kind, of_true.kind)
    found, predictions, support = (count_chunks(kind, len(types), weight) for kind in kinds)
    return types, found, predictions, support


def read_weights(sample_weight: Any, labels: list[Any], sequences: Queries) -> NDArray | None:
    """Return the weights of the tokens by sequence."""
    if sample_weight is None:
        return None
    weight = check_sample_weight(sample_weight, labels)
    return np.repeat(weights_of_sequences(sequences, weight), np.diff(sequences.start))


def count_chunks(kind: Indices, n_types: int, weight: NDArray | None) -> NDArray:
    """Return the number or weight of chunks per type."""
    there = np.flatnonzero(kind != OUTSIDE)
    return np.bincount(kind[there], None if weight is None else weight[there], minlength=n_types).astype(np.float64)


def quotient(part: NDArray, whole: NDArray) -> NDArray:
    """Return part / whole, or 0 if both are 0."""
    return np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)
