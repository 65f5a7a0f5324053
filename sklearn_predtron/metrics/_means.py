"""Means of losses over rows and measures over queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_predtron._support.compat import check_sample_weight
from sklearn_predtron._support.numbers import real_numbers
from sklearn_predtron._support.queries import query_numbers, shortened
from sklearn_predtron._support.warning import warn
from sklearn_predtron.metrics._lists import read_arguments, read_weights


def mean_loss(losses: NDArray, sample_weight: Any) -> float:
    """Return the weighted mean."""
    if sample_weight is None:
        return float(losses.mean())
    weight = check_sample_weight(sample_weight, losses)
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one weight must be positive.")
    return float(np.average(losses, weights=weight))


def mean_over_queries(
    measure: Callable[..., Any],
    y_true: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    **params: Any,
) -> float:
    """Compute the mean of a measure over the queries.

    sum_q w_q measure_q / sum_q w_q.  Documents of weight 0 are left out, and w_q is the mean weight of the others of the query.

    Parameters
    ----------
    measure : callable
        One of this module, or any ``measure(y_true, scores, qid=None, **params)`` with a value per query.
    y_true : array-like of shape (n_documents,) or (n, m)
        Relevance, at least 0.
    scores : array-like of the shape of y_true
        Scores; the larger, the higher the rank.
    qid : array-like of shape (n_documents,), default=None
        Query of each document; "one" is one query.  None is one per row if y_true is 2-d, otherwise one query, with a warning
        if it has several documents.
    sample_weight : array-like of shape (n_documents,) or (n,), default=None
        Weight of each document, or of each row if y_true is 2-d; None is 1.
    **params : dict
        Parameters of the measure.

    Returns
    -------
    float
        The mean.

    Raises
    ------
    ValueError
        If an argument is not as above, with its name and value, or if all weights are 0.

    See Also
    --------
    make_query_scorer : Makes a scorer of it.
    ndcg : A measure of each query.

    Examples
    --------
    >>> from sklearn_predtron.metrics import mean_over_queries, reciprocal_rank
    >>> y, scores, qid = [0, 1, 1, 0], [0.9, 0.8, 0.7, 0.1], ["a", "a", "b", "b"]
    >>> mean_over_queries(reciprocal_rank, y, scores, qid)
    0.75
    >>> mean_over_queries(reciprocal_rank, y, scores, qid, sample_weight=[3, 3, 1, 1])
    0.625
    >>> mean_over_queries(reciprocal_rank, y, scores, qid, sample_weight=[0, 1, 1, 1])
    1.0
    """
    if not callable(measure):
        raise ValueError(f"measure={shortened(measure)} must be a function of y_true, scores and qid.")
    y, s, rows = read_arguments(y_true, scores, qid)
    if qid is None and y.ndim == 1 and len(y) > 1:
        warn(
            f"qid=None: all {len(y)} documents are one query, over which there is no mean.  Pass qid, the query of each "
            "document; if they are one query, say so by qid='one'."
        )
    weights = np.ones(len(y)) if sample_weight is None else read_weights(sample_weight, len(y))
    kept = weights > 0
    if not kept.all():
        y, s, rows, weights = y[kept], s[kept], query_numbers(rows[kept]), weights[kept]
    found = measure(y, s, rows if y.ndim == 1 else None, **params)
    values = real_numbers(found)
    if values is None or not np.isfinite(values).all():
        raise ValueError(f"measure={measure!r} returned {shortened(found)}; accepted are finite numbers, one per query.")
    of_query = np.bincount(rows, weights) / np.bincount(rows)
    if values.shape != of_query.shape:
        raise ValueError(f"measure={measure!r} has values of shape {values.shape}; accepted is one per query, {of_query.shape}.")
    return float(np.mean(values) if sample_weight is None else np.average(values, weights=of_query / of_query.max()))
