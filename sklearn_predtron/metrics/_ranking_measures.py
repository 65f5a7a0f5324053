"""Measures of rankings: one value per query."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_predtron._support import types
from sklearn_predtron.metrics._lists import (
    Floats,
    dcg,
    divide,
    expected_at_ranks,
    find_ties,
    hits_before,
    inversions,
    read_lists,
    reciprocal_of_first,
    scaled_gains,
    tied_pairs,
)

GAINS = ("exponential", "linear")


def ndcg(
    y_true: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    k: int | None = None,
    gain: types.GainName = "exponential",
) -> Floats:
    """Compute the normalised discounted cumulative gain of each query.

    DCG / (the largest DCG of any ranking), where DCG = sum over the ranks i = 1..min(k, m) of G(y of the document at rank i) /
    log2(1 + i).  It is 1 if the largest DCG is 0.  For documents of equal scores it is the expectation over their random order.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n, m)
        Relevance, at least 0.
    scores : array-like of the shape of y_true
        Scores; the larger, the higher the rank.
    qid : array-like of shape (n_documents,), default=None
        Query of each document; None is one query, or one per row if y_true is 2-d.
    k : int, default=None
        Only the first k ranks count; None is all.
    gain : {"exponential", "linear"}, default="exponential"
        G(y) = 2^y - 1, or y.  Relevance may be large: gains are computed relative to the largest of the query.

    Returns
    -------
    ndarray of shape (n_queries,)
        From 0 to 1, in order of first appearance of the query.

    Raises
    ------
    ValueError
        If an argument is not as above, with its name and value.

    See Also
    --------
    ndcg_scorer : Makes a scorer of its mean.
    mean_over_queries : Averages it.
    sklearn_predtron.losses.NDCG : The loss, to learn for it.

    Notes
    -----
    Jarvelin and Kekalainen, *Cumulated gain-based evaluation of IR techniques*, ACM TOIS 20 (2002); the exponential gain is
    that of Burges et al., *Learning to rank using gradient descent*, ICML 2005.  With the linear gain it is
    :func:`sklearn.metrics.ndcg_score`, but for lists without relevant documents, which have 0 there.  The expectation over ties
    is that of McSherry and Najork, *Computing information retrieval performance measures efficiently in the presence of tied
    scores*, ECIR 2008.

    Examples
    --------
    >>> from sklearn_predtron.metrics import ndcg
    >>> ndcg([2, 0, 1, 0, 1], [0.9, 0.8, 0.7, 0.1, 0.2], qid=["a", "a", "a", "b", "b"]).round(3)
    array([0.964, 1.   ])
    >>> ndcg([[0, 1, 0], [0, 0, 0]], [[3, 2, 1], [3, 2, 1]], k=1)
    array([0., 1.])
    >>> ndcg([1, 0], [5, 5]).round(3)  # the mean of 1 and 1 / log2(3)
    array([0.815])
    """
    check_k(k, accepted_none=True)
    if not (isinstance(gain, str) and gain in GAINS):
        raise ValueError(f"gain={gain!r} is not known; accepted are {' and '.join(map(repr, GAINS))}.")
    lists = read_lists(y_true, scores, qid)
    gains = scaled_gains(lists, gain)
    reached, largest = dcg(lists, gains, lists.scores, k), dcg(lists, gains, gains, k)
    return np.minimum(divide(reached, largest, otherwise=1.0), 1.0)


def average_precision(y_true: ArrayLike, scores: ArrayLike, qid: ArrayLike | None = None) -> Floats:
    """Compute the average precision of each query, for relevance 0 or 1.

    (1/r) sum over the ranks j of relevant documents of (relevant documents at ranks 1..j) / j, where r is the number of
    relevant documents.  It is 1 for r = 0.  For documents of equal scores it is the expectation over their random order.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n, m)
        Relevance, 0 or 1.
    scores : array-like of the shape of y_true
        Scores; the larger, the higher the rank.
    qid : array-like of shape (n_documents,), default=None
        Query of each document; None is one query, or one per row if y_true is 2-d.

    Returns
    -------
    ndarray of shape (n_queries,)
        Above 0, up to 1, in order of first appearance of the query.

    Raises
    ------
    ValueError
        If an argument is not as above, with its name and value.

    See Also
    --------
    average_precision_scorer : Makes a scorer of its mean.
    mean_over_queries : Averages it.
    sklearn_predtron.losses.AveragePrecision : The loss, to learn for it.

    Notes
    -----
    Manning, Raghavan and Schutze, *Introduction to Information Retrieval* (2008), section 8.4.  The mean over queries is MAP.
    For scores that do not tie it is :func:`sklearn.metrics.average_precision_score` of each query, which gives all documents of
    a tie the precision at the tie's end.

    Examples
    --------
    >>> from sklearn_predtron.metrics import average_precision
    >>> average_precision([1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.1, 0.2], qid=[5, 5, 5, 3, 3]).round(3)
    array([0.833, 1.   ])
    """
    lists = read_lists(y_true, scores, qid)
    graded = lists.relevance[~np.isin(lists.relevance, (0, 1))]
    if graded.size:
        raise ValueError(f"y_true holds {graded[0]:g}; average precision is for relevance 0 or 1.")
    ties = find_ties(lists, lists.scores)
    relevant = expected_at_ranks(lists.relevance, ties)
    total = np.add.reduceat(relevant * (1 + hits_before(lists, ties)) / ties.rank, lists.starts)
    return np.minimum(divide(total, np.add.reduceat(lists.relevance[ties.order], lists.starts), otherwise=1.0), 1.0)


def kendall_tau(y_true: ArrayLike, scores: ArrayLike, qid: ArrayLike | None = None) -> Floats:
    """Compute Kendall's tau of each query, over the pairs of documents whose relevance differs.

    (C - D) / P, where P is the number of pairs with y_i > y_j, C that of pairs among them with s_i > s_j, and D of pairs with
    s_i < s_j.  Equal scores count as half right: it is 1 - 2 (D + T/2) / P with T pairs of equal scores.  It is 1 for P = 0.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n, m)
        Relevance, at least 0.
    scores : array-like of the shape of y_true
        Scores; the larger, the higher the rank.
    qid : array-like of shape (n_documents,), default=None
        Query of each document; None is one query, or one per row if y_true is 2-d.

    Returns
    -------
    ndarray of shape (n_queries,)
        From -1 to 1, in order of first appearance of the query.

    Raises
    ------
    ValueError
        If an argument is not as above, with its name and value.

    See Also
    --------
    kendall_tau_scorer : Makes a scorer of its mean.
    mean_over_queries : Averages it.
    sklearn_predtron.losses.KendallTau : The loss, to learn for it.

    Notes
    -----
    Kendall, *A new measure of rank correlation*, Biometrika 30 (1938).  Without ties it is :func:`scipy.stats.kendalltau`; with
    ties it is Somers' D of the scores given the relevance (:func:`scipy.stats.somersd`), for two grades 2 AUC - 1.  It takes
    O(m log m) for a list of m documents.

    Examples
    --------
    >>> from sklearn_predtron.metrics import kendall_tau
    >>> kendall_tau([2, 1, 0, 1, 1], [0.9, 0.2, 0.7, 0.1, 0.3], qid=[0, 0, 0, 1, 1]).round(3)
    array([0.333, 1.   ])
    >>> kendall_tau([1, 0], [0.5, 0.5])
    array([0.])
    """
    y, s, query, sizes, starts = read_lists(y_true, scores, qid)
    pairs = sizes * (sizes - 1) / 2 - tied_pairs(query, y)
    ties = tied_pairs(query, s) - tied_pairs(query, s, y)
    # Documents of equal relevance are by ascending score, which is no inversion.
    ascending = np.lexsort((s, y, query))
    by_score = np.empty_like(ascending)
    by_score[np.lexsort((s[ascending], query[ascending]))] = np.arange(len(s)) - np.repeat(starts, sizes)
    discordant = inversions(by_score, starts, sizes)
    return divide(pairs - 2 * discordant - ties, pairs, otherwise=1.0)


def reciprocal_rank(y_true: ArrayLike, scores: ArrayLike, qid: ArrayLike | None = None) -> Floats:
    """Compute the reciprocal rank of each query: 1 / (the rank of the first relevant document).

    A document is relevant if its relevance is above 0.  It is 0 for a query without relevant documents.  For documents of equal
    scores it is the expectation over their random order.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n, m)
        Relevance, at least 0.
    scores : array-like of the shape of y_true
        Scores; the larger, the higher the rank.
    qid : array-like of shape (n_documents,), default=None
        Query of each document; None is one query, or one per row if y_true is 2-d.

    Returns
    -------
    ndarray of shape (n_queries,)
        From 0 to 1, in order of first appearance of the query.

    Raises
    ------
    ValueError
        If an argument is not as above, with its name and value.

    See Also
    --------
    reciprocal_rank_scorer : Makes a scorer of its mean.
    mean_over_queries : Averages it.

    Notes
    -----
    Voorhees, *The TREC-8 question answering track report* (1999).  The mean over queries is MRR.

    Examples
    --------
    >>> from sklearn_predtron.metrics import reciprocal_rank
    >>> reciprocal_rank([0, 2, 1, 0, 0], [0.9, 0.8, 0.7, 0.1, 0.2], qid=["a", "a", "a", "b", "b"])
    array([0.5, 0. ])
    """
    lists = read_lists(y_true, scores, qid)
    ties = find_ties(lists, lists.scores)
    relevant = expected_at_ranks((lists.relevance > 0).astype(np.float64), ties)
    rank = np.minimum.reduceat(np.where(relevant > 0, ties.rank, np.inf), lists.starts)
    found = 1 / rank
    first = lists.starts + np.where(np.isfinite(rank), rank, 1).astype(np.intp) - 1
    for query in np.flatnonzero(np.isfinite(rank) & (relevant[first] < 1)):
        size = int(ties.size[first[query]])
        found[query] = reciprocal_of_first(int(rank[query]) - 1, round(relevant[first[query]] * size), size)
    return found


def precision_at_k(y_true: ArrayLike, scores: ArrayLike, qid: ArrayLike | None = None, *, k: int) -> Floats:
    """Compute the precision at k of each query: the share of relevant documents among the first k.

    (Documents of relevance above 0 at the ranks 1..min(k, m)) / min(k, m) for a list of m documents.  For documents of equal
    scores it is the expectation over their random order.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n, m)
        Relevance, at least 0.
    scores : array-like of the shape of y_true
        Scores; the larger, the higher the rank.
    qid : array-like of shape (n_documents,), default=None
        Query of each document; None is one query, or one per row if y_true is 2-d.
    k : int
        Ranks that count, at least 1.

    Returns
    -------
    ndarray of shape (n_queries,)
        From 0 to 1, in order of first appearance of the query.

    Raises
    ------
    ValueError
        If an argument is not as above, with its name and value.

    See Also
    --------
    precision_at_k_scorer : Makes a scorer of its mean.
    mean_over_queries : Averages it.
    sklearn_predtron.losses.PrecisionAtK : The loss of sets of k labels.

    Notes
    -----
    Manning, Raghavan and Schutze, *Introduction to Information Retrieval* (2008), section 8.4, which divides by k even if a
    list is shorter than k; here the divisor is then its length.

    Examples
    --------
    >>> from sklearn_predtron.metrics import precision_at_k
    >>> precision_at_k([0, 2, 1, 1, 0], [0.9, 0.8, 0.7, 0.1, 0.2], qid=[7, 7, 7, 8, 8], k=3).round(3)
    array([0.667, 0.5  ])
    """
    check_k(k)
    lists = read_lists(y_true, scores, qid)
    ties = find_ties(lists, lists.scores)
    relevant = expected_at_ranks((lists.relevance > 0).astype(np.float64), ties)
    return np.minimum(
        np.add.reduceat(relevant * (ties.rank <= min(k, len(ties.rank))), lists.starts)
        / np.minimum(lists.sizes, min(k, len(ties.rank))),
        1.0,
    )


def check_k(k: Any, accepted_none: bool = False) -> None:
    """Raise ValueError unless k is a number of ranks."""
    if k is None and accepted_none:
        return
    if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
        raise ValueError(f"k={k!r}; accepted are integers of at least 1{' and None' if accepted_none else ''}.")
