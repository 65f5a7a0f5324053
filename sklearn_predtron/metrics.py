"""Measures of rankings, one value per query, and scorers: of measures, of costs, of rejects, of sets of labels.

Of every measure of rankings:

- ``y_true`` and ``scores`` hold a number per document, and ``qid`` the query of each (``qid=None`` is one query).  The documents
  of a query need not be adjacent, and the values are in the order in which the queries first appear.  With ``y_true`` and
  ``scores`` of shape (n, m), as in label ranking, each row is a list, and ``qid`` is None.
- A list is ranked by descending score, documents of equal scores in the order they are in.  (`kendall_tau` compares scores, and
  counts equal ones as half right.)
- Where no ranking is wrong (no document is relevant, all are equally relevant, or there is one) `ndcg`, `average_precision` and
  `kendall_tau` are 1.  `reciprocal_rank` and `precision_at_k` count what is found: without relevant documents they are 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import make_scorer

from sklearn_predtron._compat import Scorer, asked_of_any
from sklearn_predtron._lists import (
    Floats,
    dcg,
    divide,
    inversions,
    rank_documents,
    read_arguments,
    read_lists,
    read_weights,
    running,
    scaled_gains,
    tied_pairs,
)
from sklearn_predtron._parts import real_numbers
from sklearn_predtron._queries import query_numbers, shortened, split_ids
from sklearn_predtron._scorers import cost_scorer, reject_scorer, requesting, subset_scorer

__all__ = [
    "average_precision",
    "average_precision_scorer",
    "cost_scorer",
    "kendall_tau",
    "kendall_tau_scorer",
    "make_query_scorer",
    "mean_over_queries",
    "ndcg",
    "ndcg_scorer",
    "precision_at_k",
    "precision_at_k_scorer",
    "reciprocal_rank",
    "reciprocal_rank_scorer",
    "reject_scorer",
    "subset_scorer",
]

GAINS = ("exponential", "linear")
NO_QID = (
    "qid=None is ambiguous to a scorer: several queries would be scored as one. Accepted are query ids, which arrive as "
    "`groups` with metadata routing on: sklearn.set_config(enable_metadata_routing=True), then cross_validate(..., "
    "params={'groups': qid}) or GridSearchCV(...).fit(X, y, groups=qid), or in a column 'qid' of a data frame X. For rows that "
    "are one list make the scorer with one_query=True."
)


# ---------------------------------------------------------------------------------------------------------------- measures


def ndcg(
    y_true: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    k: int | None = None,
    gain: str = "exponential",
) -> Floats:
    """Normalised discounted cumulative gain of each query.

    DCG / (the largest DCG of any ranking), where DCG = sum over the ranks i = 1..min(k, m) of G(y of the document at rank i)
    / log2(1 + i).  It is 1 where the largest DCG is 0.

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
    values : ndarray of shape (n_queries,)
        From 0 to 1, in order of first appearance of the query.

    Raises
    ------
    ValueError
        If an argument is not as above, with its name and value.

    Notes
    -----
    Jarvelin and Kekalainen, *Cumulated gain-based evaluation of IR techniques*, ACM TOIS 20 (2002); the exponential gain is
    that of Burges et al., *Learning to rank using gradient descent*, ICML 2005.  With the linear gain and scores that do not tie
    it is :func:`sklearn.metrics.ndcg_score`, but for lists without relevant documents, which have 0 there.

    Examples
    --------
    >>> from sklearn_predtron.metrics import ndcg
    >>> ndcg([2, 0, 1, 0, 1], [0.9, 0.8, 0.7, 0.1, 0.2], qid=["a", "a", "a", "b", "b"]).round(3)
    array([0.964, 1.   ])
    >>> ndcg([[0, 1, 0], [0, 0, 0]], [[3, 2, 1], [3, 2, 1]], k=1)
    array([0., 1.])
    """
    _check_k(k, accepted_none=True)
    if not (isinstance(gain, str) and gain in GAINS):
        raise ValueError(f"gain={gain!r} is not known; accepted are {' and '.join(map(repr, GAINS))}.")
    lists = read_lists(y_true, scores, qid)
    gains = scaled_gains(lists, gain)
    reached, largest = dcg(lists, gains, lists.scores, k), dcg(lists, gains, gains, k)
    return np.minimum(divide(reached, largest, otherwise=1.0), 1.0)


def average_precision(y_true: ArrayLike, scores: ArrayLike, qid: ArrayLike | None = None) -> Floats:
    """Average precision of each query, for relevance 0 or 1.

    (1/r) sum over the ranks j of relevant documents of (relevant documents at ranks 1..j) / j, where r is the number of
    relevant documents.  It is 1 for r = 0.

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
    values : ndarray of shape (n_queries,)
        Above 0, up to 1, in order of first appearance of the query.

    Raises
    ------
    ValueError
        If an argument is not as above, with its name and value.

    Notes
    -----
    Manning, Raghavan and Schutze, *Introduction to Information Retrieval* (2008), section 8.4.  The mean over queries is MAP.
    For scores that do not tie it is :func:`sklearn.metrics.average_precision_score` of each query.

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
    relevant, rank = rank_documents(lists, lists.relevance)
    hits = running(relevant, lists)
    total = np.add.reduceat(relevant * hits / rank, lists.starts)
    return divide(total, np.add.reduceat(relevant, lists.starts), otherwise=1.0)


def kendall_tau(y_true: ArrayLike, scores: ArrayLike, qid: ArrayLike | None = None) -> Floats:
    """Kendall's tau of each query, over the pairs of documents whose relevance differs.

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
    values : ndarray of shape (n_queries,)
        From -1 to 1, in order of first appearance of the query.

    Raises
    ------
    ValueError
        If an argument is not as above, with its name and value.

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
    """Reciprocal rank of each query: 1 / (the rank of the first relevant document).

    A document is relevant if its relevance is above 0.  It is 0 for a query without relevant documents.

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
    values : ndarray of shape (n_queries,)
        From 0 to 1, in order of first appearance of the query.

    Raises
    ------
    ValueError
        If an argument is not as above, with its name and value.

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
    relevance, rank = rank_documents(lists, lists.relevance)
    return 1 / np.minimum.reduceat(np.where(relevance > 0, rank, np.inf), lists.starts)


def precision_at_k(y_true: ArrayLike, scores: ArrayLike, qid: ArrayLike | None = None, *, k: int) -> Floats:
    """Precision at k of each query: the share of relevant documents among the first k.

    (Documents of relevance above 0 at the ranks 1..min(k, m)) / min(k, m) for a list of m documents.

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
    values : ndarray of shape (n_queries,)
        From 0 to 1, in order of first appearance of the query.

    Raises
    ------
    ValueError
        If an argument is not as above, with its name and value.

    Notes
    -----
    Manning, Raghavan and Schutze, *Introduction to Information Retrieval* (2008), section 8.4, where a list shorter than k is
    divided by k all the same; here its length is what can be reached.

    Examples
    --------
    >>> from sklearn_predtron.metrics import precision_at_k
    >>> precision_at_k([0, 2, 1, 1, 0], [0.9, 0.8, 0.7, 0.1, 0.2], qid=[7, 7, 7, 8, 8], k=3).round(3)
    array([0.667, 0.5  ])
    """
    _check_k(k)
    lists = read_lists(y_true, scores, qid)
    relevance, rank = rank_documents(lists, lists.relevance)
    found = np.add.reduceat(((relevance > 0) & (rank <= k)).astype(np.float64), lists.starts)
    return found / np.minimum(lists.sizes, k)


def mean_over_queries(
    measure: Callable[..., Any],
    y_true: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    **params: Any,
) -> float:
    """Mean of a measure over the queries.

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
        Query of each document; None is one query, or one per row if y_true is 2-d.
    sample_weight : array-like of shape (n_documents,) or (n,), default=None
        Weight of each document, or of each row if y_true is 2-d; None is 1.
    **params : dict
        Parameters of the measure.

    Returns
    -------
    value : float
        The mean.

    Raises
    ------
    ValueError
        If an argument is not as above, with its name and value, or if all weights are 0.

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
    y, s, rows = read_arguments(y_true, scores, qid)
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


# ----------------------------------------------------------------------------------------------------------------- scorers


def make_query_scorer(
    measure: Callable[..., Any],
    *,
    one_query: bool = False,
    response_method: str | Sequence[str] = ("decision_function", "predict"),
    **params: Any,
) -> Callable[..., float]:
    """Scorer for ``scoring=`` of searches and `cross_validate`: the mean of a measure over the queries of the test part.

    It requests the query ids under the name ``groups``, which splitters such as `GroupKFold` read as well, and `sample_weight`
    (see `mean_over_queries`), both by metadata routing.  `set_score_request` of the scorer asks for others.
    Without routing it reads the ids from a column ``qid`` of X, if X is a data frame that has one.

    Parameters
    ----------
    measure : callable
        One of this module, or any ``measure(y_true, scores, qid=None, **params)`` with a value per query.
    one_query : bool, default=False
        Whether rows that come without query ids are one list (of a test part of `LeaveOneGroupOut`, say).  False raises, for
        without metadata routing scikit-learn passes no ids to scorers, and different queries would be ranked together.
    response_method : str or sequence of str, default=("decision_function", "predict")
        The methods that may give the scores; the first that the estimator has is used.
    **params : dict
        Parameters of the measure.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``, with `qid` too if metadata routing is on; larger is better.

    Raises
    ------
    ValueError
        If the measure refuses its parameters.

    Notes
    -----
    With 2-d y each row is a list: routing is not needed, and ``groups`` serve the splitter only.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn import config_context
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.model_selection import GroupKFold, cross_validate
    >>> from sklearn_predtron.metrics import make_query_scorer, ndcg
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(60, 3)), np.arange(60) // 6
    >>> y = (X[:, 0] > 0) + (X[:, 0] > 1)
    >>> with config_context(enable_metadata_routing=True):
    ...     found = cross_validate(
    ...         LinearRegression(), X, y, params={"groups": qid}, cv=GroupKFold(), scoring=make_query_scorer(ndcg, k=3)
    ...     )
    >>> bool(found["test_score"].mean() > 0.9)
    True
    """
    # A search would turn the error of a wrong parameter into a score of nan.
    measure(np.zeros(1), np.zeros(1), np.zeros(1, dtype=np.intp), **params)
    plain = make_scorer(_score, response_method=response_method, measure=measure, one_query=bool(one_query), **params)
    return requesting(QueryScorer, plain, qid="groups", sample_weight=True)


class QueryScorer(Scorer):
    """A scorer that reads the ids from a column of X, if there is one."""

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **kwargs: Any) -> float:
        _, ids = split_ids(X, kwargs.get("qid", kwargs.get("groups")))
        if ids is not None:
            kwargs["qid"] = ids
        return super()._score(asked_of_any(method_caller), estimator, X, y_true, **kwargs)


def ndcg_scorer(*, k: int | None = None, gain: str = "exponential", one_query: bool = False) -> Callable[..., float]:
    """Scorer of the mean `ndcg`; see `make_query_scorer`.

    Parameters
    ----------
    k : int, default=None
        Only the first k ranks count; None is all.
    gain : {"exponential", "linear"}, default="exponential"
        G(y) = 2^y - 1, or y.
    one_query : bool, default=False
        Whether rows that come without query ids are one list; False raises.

    Returns
    -------
    scorer : callable
        For ``scoring=``.

    Raises
    ------
    ValueError
        If a parameter is not as above.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_predtron.metrics import ndcg_scorer
    >>> X, y = [[0.0], [1.0], [2.0]], [0, 1, 2]
    >>> ndcg_scorer(k=2, one_query=True)(LinearRegression().fit(X, y), X, y)
    1.0
    """
    return make_query_scorer(ndcg, one_query=one_query, k=k, gain=gain)


def average_precision_scorer(*, one_query: bool = False) -> Callable[..., float]:
    """Scorer of the mean `average_precision` (MAP); see `make_query_scorer`.

    Parameters
    ----------
    one_query : bool, default=False
        Whether rows that come without query ids are one list; False raises.

    Returns
    -------
    scorer : callable
        For ``scoring=``.
    """
    return make_query_scorer(average_precision, one_query=one_query)


def kendall_tau_scorer(*, one_query: bool = False) -> Callable[..., float]:
    """Scorer of the mean `kendall_tau`; see `make_query_scorer`.

    Parameters
    ----------
    one_query : bool, default=False
        Whether rows that come without query ids are one list; False raises.

    Returns
    -------
    scorer : callable
        For ``scoring=``.
    """
    return make_query_scorer(kendall_tau, one_query=one_query)


def reciprocal_rank_scorer(*, one_query: bool = False) -> Callable[..., float]:
    """Scorer of the mean `reciprocal_rank` (MRR); see `make_query_scorer`.

    Parameters
    ----------
    one_query : bool, default=False
        Whether rows that come without query ids are one list; False raises.

    Returns
    -------
    scorer : callable
        For ``scoring=``.
    """
    return make_query_scorer(reciprocal_rank, one_query=one_query)


def precision_at_k_scorer(*, k: int, one_query: bool = False) -> Callable[..., float]:
    """Scorer of the mean `precision_at_k`; see `make_query_scorer`.

    Parameters
    ----------
    k : int
        Ranks that count, at least 1.
    one_query : bool, default=False
        Whether rows that come without query ids are one list; False raises.

    Returns
    -------
    scorer : callable
        For ``scoring=``.

    Raises
    ------
    ValueError
        If k is below 1.
    """
    return make_query_scorer(precision_at_k, one_query=one_query, k=k)


def _score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    /,
    *,
    measure: Callable[..., Any],
    one_query: bool,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    **params: Any,
) -> float:
    """What a scorer calls."""
    # `score` of a search with several scorers passes the ids by the name under which they were requested.
    qid = groups if qid is None else qid
    if np.ndim(y_true) == 2:
        qid = None
    elif qid is None and not one_query:
        raise ValueError(NO_QID)
    return mean_over_queries(measure, y_true, y_pred, qid, sample_weight=sample_weight, **params)


def _check_k(k: Any, accepted_none: bool = False) -> None:
    if k is None and accepted_none:
        return
    if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
        raise ValueError(f"k={k!r}; accepted are integers of at least 1{' and None' if accepted_none else ''}.")
