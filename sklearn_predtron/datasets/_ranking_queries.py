"""The simulated queries of the papers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri_exp
from sklearn.utils import check_random_state

from sklearn_predtron._support import types
from sklearn_predtron.datasets._counts import check_counts


def make_ranking_queries(
    n_queries: int = 100,
    n_documents: int = 10,
    n_features: int = 20,
    *,
    n_informative: int | None = None,
    rows: types.DrawnRowsName = "gaussian",
    std: float = 1.0,
    norm: types.LengthName | None = "l2",
    return_coef: bool = False,
    random_state: Any = None,
) -> tuple[NDArray, ...]:
    """Draw queries with relevances from linear scores.

    Scores are cut at 1/2, 1/3, ..., 1/m.

    The simulation of [1]_, section 6: document i of every query is ~ N(mu_i, std^2 I), and with thresholds zeta_1 = +inf,
    zeta_j = 1/j for j = 2..m, zeta_(m+1) = -inf its relevance is

        y = m - j  for  zeta_(j+1) <= <w*, x> <= zeta_j,  that is  y = #{j in 2..m: <w*, x> >= 1/j}  in  {0, ..., m - 1}.

    So w* ranks every query perfectly.  The gaps between the thresholds, 1/(j (j + 1)), shrink as m grows; documents of adjacent
    relevances may be arbitrarily close, so the margin is positive, but not bounded below.  For data of the l1 experiment (figure
    1c) use ``rows="uniform", n_informative=s, norm="l1"``.

    Parameters
    ----------
    n_queries : int, default=100
        Number of queries.
    n_documents : int, default=10
        Number m of documents of each query, which is also the number of relevance grades.
    n_features : int, default=20
        Number p0 of features.
    n_informative : int, default=None
        Number of entries of w* that are not zero, at random positions; None is all.
    rows : {"gaussian", "uniform"}, default="gaussian"
        Documents are ~ N(mu_i, std^2 I), or have features uniform on [-1, 1] (and no means).
    std : float, default=1.0
        Standard deviation of a document's features about their means.  With 0.1 the i-th documents of all queries are similar,
        and the paper's figure 1b is reproduced.  Only with ``rows="gaussian"``.
    norm : {"l2", "l1"} or None, default="l2"
        The norm in which w* is scaled to length 1; None leaves its entries as drawn.
    return_coef : bool, default=False
        Whether to return w* too.
    random_state : int, RandomState instance or None, default=None
        Seed.  A smaller `n_queries` gives the first queries of a larger one.

    Returns
    -------
    X : ndarray of shape (n_queries * n_documents, n_features)
        Documents, query after query; float64.
    y : ndarray of shape (n_queries * n_documents,)
        Relevances in {0, ..., n_documents - 1}; int64.
    qid : ndarray of shape (n_queries * n_documents,)
        Each document's query, 0, ..., n_queries - 1; int64.
    coef : ndarray of shape (n_features,)
        w*; only with `return_coef`.

    Raises
    ------
    ValueError
        If a parameter is invalid; the message has its name and value.

    See Also
    --------
    make_separable_queries : Queries with a margin.

    Notes
    -----
    Choices that the paper leaves open: the means (mu_i ~ N(0, I), the same for all queries, as the paper's index is that of the
    row alone); the variance (`std`); w* (non-zero entries uniform on [-1, 1], then scaled to length 1 in `norm`); the
    distribution of the "data from [-1, 1]^p0" of the l1 experiment (uniform); its sparsity; p0; a score that equals a threshold
    (the larger relevance).  Its test queries have the same w* and mu: draw them together with the training queries, and split.

    References
    ----------
    .. [1] Jain, Natarajan, Tewari, "Predtron: A Family of Online Algorithms for General Prediction Problems", NIPS 2015.

    Examples
    --------
    >>> from sklearn_predtron.datasets import make_ranking_queries
    >>> X, y, qid, coef = make_ranking_queries(3, 4, n_features=5, n_informative=2, return_coef=True, random_state=0)
    >>> X.shape, qid
    ((12, 5), array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]))
    >>> bool((y == sum(X @ coef >= 1 / j for j in (2, 3, 4))).all())
    True
    """
    check_counts(n_queries=n_queries, n_documents=n_documents, n_features=n_features)
    if n_informative is not None and not (isinstance(n_informative, Integral) and 1 <= n_informative <= n_features):
        raise ValueError(f"n_informative={n_informative!r} must be None or an integer from 1 to n_features={n_features}.")
    if rows not in ("gaussian", "uniform"):
        raise ValueError(f"rows={rows!r} is not known; accepted are 'gaussian' and 'uniform'.")
    if isinstance(std, bool) or not (isinstance(std, Real) and 0 < std < math.inf):
        raise ValueError(f"std={std!r} must be a finite number above 0.")
    if rows == "uniform" and std != 1:
        raise ValueError(f"std={std!r} is not accepted with rows='uniform', which takes std=1.0 alone.")
    if norm not in ("l1", "l2", None):
        raise ValueError(f"norm={norm!r} is not known; accepted are 'l1', 'l2' and None.")
    random = check_random_state(random_state)
    coef = np.zeros(n_features)
    informative = random.permutation(n_features)[:n_informative]
    coef[informative] = random.uniform(-1, 1, len(informative))
    if norm is not None:
        coef /= np.linalg.norm(coef, 1 if norm == "l1" else 2)
    means = random.standard_normal((n_documents, n_features))
    shape = (n_queries, n_documents, n_features)
    documents = std * random.standard_normal(shape) + means if rows == "gaussian" else random.uniform(-1, 1, shape)
    X = documents.reshape(-1, n_features)
    thresholds = 1 / np.arange(n_documents, 1, -1)
    y = np.searchsorted(thresholds, X @ coef, side="right").astype(np.int64)
    qid = np.repeat(np.arange(n_queries, dtype=np.int64), n_documents)
    return (X, y, qid, coef) if return_coef else (X, y, qid)


def make_separable_queries(
    n_queries: int = 1000,
    n_features: int = 10,
    *,
    documents_per_grade: Sequence[int] = (5, 5, 4, 3, 3),
    shuffle: bool = False,
    random_state: Any = None,
) -> tuple[NDArray, NDArray, NDArray]:
    """Draw linearly separable queries with a margin.

    The simulation of the authors of [1]_, with u = (1, ..., 1): documents of grade g are ~ N((2 g - 1) u, I), given that

        <u, x> < min {<u, x'>: x' of the grade above in the same query} - 1.

    So for the unit vector w* = u / sqrt(n_features) and any two documents of a query with y > y',
    <w*, x - x'> > 1 / sqrt(n_features) (up to rounding), which bounds the loss of a perceptron for any number of queries.

    Parameters
    ----------
    n_queries : int, default=1000
        Number of queries.
    n_features : int, default=10
        Number of features.
    documents_per_grade : sequence of int, default=(5, 5, 4, 3, 3)
        Number of documents of a query with the relevance 0, 1, ...
    shuffle : bool, default=False
        False: the documents of each query are sorted by relevance, the highest first, as in the authors' code.  True: they are in
        random order.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_queries * sum(documents_per_grade), n_features)
        Documents, query after query; float64.
    y : ndarray of shape (n_queries * sum(documents_per_grade),)
        Relevances in {0, ..., len(documents_per_grade) - 1}; int64.
    qid : ndarray of shape (n_queries * sum(documents_per_grade),)
        Each document's query, 0, ..., n_queries - 1; int64.

    See Also
    --------
    make_ranking_queries : Queries without a margin that is bounded below.

    Notes
    -----
    The authors redraw a document until its score <u, x> is low enough.  Here <u, x> is drawn directly from the truncated normal
    distribution, which is the same distribution, for any number of features and documents.  The means, the gap of 1 and the
    defaults are those of their code (20 documents; the available text of the paper does not state them).

    References
    ----------
    .. [1] Chaudhuri, Tewari, "Perceptron Like Algorithms for Online Learning to Rank", 2015; code of the simulation:
       github.com/sougatachaudhuri/Online_Ranking_Project.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_predtron.datasets import make_separable_queries
    >>> X, y, qid = make_separable_queries(2, documents_per_grade=(2, 1, 1), random_state=0)
    >>> X.shape, y, qid
    ((8, 10), array([2, 1, 0, 0, 2, 1, 0, 0]), array([0, 0, 0, 0, 1, 1, 1, 1]))
    >>> score = X.sum(axis=1)
    >>> bool((score[[0, 1]] > score[[1, 2]] + 1).all())
    True
    """
    check_counts(n_queries=n_queries, n_features=n_features)
    counts = list(documents_per_grade) if isinstance(documents_per_grade, Sequence | np.ndarray) else []
    if not counts or not all(isinstance(count, Integral) and count >= 1 for count in counts):
        raise ValueError(f"documents_per_grade={documents_per_grade!r} must be one or more integers of at least 1.")
    if shuffle not in (True, False):
        raise ValueError(f"shuffle={shuffle!r} is not known; accepted are True and False.")
    random = check_random_state(random_state)
    length = math.sqrt(n_features)
    limit = np.full((n_queries, 1), np.inf)
    grades = []
    for grade in reversed(range(len(counts))):
        mean = 2 * grade - 1
        rows = random.standard_normal((n_queries, counts[grade], n_features))
        along = rows.sum(axis=2) / length
        below = log_ndtr((limit - n_features * mean) / length)
        wanted = ndtri_exp(below - random.standard_exponential(along.shape))
        rows += mean + ((wanted - along) / length)[:, :, np.newaxis]
        grades.append(rows)
        limit = rows.sum(axis=2).min(axis=1, keepdims=True) - 1
    X = np.concatenate(grades, axis=1)
    y = np.tile(np.repeat(np.arange(len(counts), dtype=np.int64), counts)[::-1], (n_queries, 1))
    if shuffle:
        order = random.random_sample(y.shape).argsort(axis=1)
        X, y = np.take_along_axis(X, order[:, :, np.newaxis], axis=1), np.take_along_axis(y, order, axis=1)
    qid = np.repeat(np.arange(n_queries, dtype=np.int64), y.shape[1])
    return X.reshape(-1, n_features), y.ravel(), qid
