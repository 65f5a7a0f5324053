"""The simulated queries of Jain et al. (2015)."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
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
    make_sequences : Sequences of labels.

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
