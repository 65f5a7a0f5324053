"""The largest margin of any weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_predtron._core.rows import OVERFLOW
from sklearn_predtron._support import types
from sklearn_predtron.problems._score_gaps import Leads
from sklearn_predtron.theory._prepared_data import PreparedData, prepare
from sklearn_predtron.theory._programme import Vectors
from sklearn_predtron.theory._proof import prove


class LargestMargin(NamedTuple):
    """Unit weights with the largest margin, and their proof.

    Parameters
    ----------
    margin : float
        The margin gamma of the weights.
    coef : ndarray of shape (d, n_features)
        The weights W.
    intercept : ndarray of shape (d,)
        The offsets b.
    bound : float
        The upper bound of every margin, by weak duality: the length of ``multipliers @ vectors`` in the dual norm, Euclidean
        for "l2", the largest size for "l1" and the sum of sizes for "max".
    multipliers : ndarray of shape (s,)
        The multipliers, positive; those of the vectors that lose sum to 1.
    vectors : ndarray of shape (s, n)
        The vectors (rep(sigma_y) - rep(sigma)) x^T that have them, row by row, with the entries of b / intercept_scaling at the
        end; for "shared" thresholds also b_j - b_(j + 1).
    loses : ndarray of shape (s,)
        Which of these sigma lose; the others, free of loss, must not be ahead of sigma_y.

    See Also
    --------
    largest_margin : Finds it.

    Examples
    --------
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.theory import largest_margin
    >>> found = largest_margin(PredtronBinaryClassifier(fit_intercept=False), [[3.0, 4.0], [-3.0, -4.0]], [1, 0])
    >>> round(found.margin, 6), found.coef.round(6)
    (10.0, array([[0.6, 0.8]]))
    >>> round(found.bound, 6), found.multipliers.round(6), found.vectors
    (10.0, array([1.]), array([[6., 8.]]))
    """

    margin: float
    coef: NDArray
    intercept: NDArray
    bound: float
    multipliers: NDArray
    vectors: NDArray
    loses: NDArray


def largest_margin(
    estimator: Any, X: Any, y: Any, *, norm: types.MarginNormName = "l2", qid: Any = None, classes: Any = None
) -> LargestMargin:
    """Compute the largest margin of any unit weights.

    Maximise gamma over |W| <= 1, where <v, W> >= gamma for the vectors v = (rep(sigma_y) - rep(sigma)) x^T of the rows and the
    predictions that lose, and <v, W> >= 0 for those free of loss, which must not be ahead (Jain et al. 2015, section 2.2, for
    one sigma_y).  By duality it is the least length, in the dual norm, of sum a v over a >= 0 that sum to 1 where sigma loses:
    the distance of 0 from a hull.  Under the Euclidean norm this is the hard-margin problem, solved by the dual method of
    Goldfarb and Idnani (1983), under the others a linear programme.  Both sides are then evaluated, including rounding errors;
    the margin must reach its bound to 1e-6 of it.  No other margin gives a smaller `loss_bound`.

    Parameters
    ----------
    estimator : estimator of sklearn_predtron
        Its loss, representation, intercept and update define the margin; it need not be fitted.  Its norm is not used.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Inputs, or documents: a few hundred rows or so, whose vectors must fit in memory.
    y : array-like
        Labels as for the estimator's `fit`; sets of at most 12 labels.
    norm : {"l2", "l1", "max"}, default="l2"
        The length of the weights: Euclidean, the sum or the largest of their sizes.  The last entry of each row of weights is
        b / intercept_scaling.  A margin under "l1" is one under the estimators' norms "l1" and "group" too, and their r-norm of
        the weights is at most 1, so that `theory.margin` is no smaller.
    qid : array-like of shape (n_samples,), default=None
        The query of each document; None is one query.
    classes : array-like of shape (k,), default=None
        The classes of an estimator that is not fitted, as for `partial_fit`: predictions of classes that y lacks count, too.
        None takes those of y.  A fitted estimator has its own.

    Returns
    -------
    LargestMargin
        The margin, the weights `coef` of shape (d, n_features) and the offsets `intercept`, and the multipliers that prove it.

    Raises
    ------
    ValueError
        If no weights have a positive margin: a combination of vectors that is zero up to rounding shows that the data are not
        separable.  If margin and bound differ by more than 1e-6 of them: rows are too alike for double precision, or only exact
        ties keep predictions free of loss from being ahead.

    See Also
    --------
    margin : The margin of given weights.
    radius : The other quantity of the bounds.

    Examples
    --------
    >>> from sklearn_predtron import PredtronClassifier, PredtronRanker
    >>> from sklearn_predtron.theory import largest_margin
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0, 1, 2]
    >>> model = PredtronClassifier(representation="onehot", fit_intercept=False)
    >>> round(largest_margin(model, X, y).margin, 6)
    0.866025
    >>> largest_margin(PredtronRanker(update="max_pair"), [[2.0], [1.5], [0.0]], [2, 1, 0]).margin
    0.5
    >>> X, y = [[1.0, 0.0], [0.0, 1e-8]], ["no", "yes"]
    >>> found = largest_margin(model, X, y, classes=["maybe", "no", "yes"])
    >>> round(found.margin * 1e8, 6), round(found.bound * 1e8, 6), found.multipliers.shape
    (1.224745, 1.224745, (4,))
    """
    if norm not in ("l2", "l1", "max"):
        raise ValueError(f"norm={norm!r} is not known; accepted are 'l2', 'l1' and 'max'.")
    data = prepare(estimator, X, y, qid, classes)
    if data.problem.no_theorem_because is not None and not data.pairwise:
        raise ValueError(f"No loss bound is proven for {data.problem.no_theorem_because}, and so no margin is the largest.")
    found = vectors(data)
    if not found.loses.any():
        raise ValueError("No prediction of y is wrong, and so no margin is the largest.")
    proof = prove(found, norm)
    d, p = data.problem.d, data.X.shape[1]
    rows = data.problem.score_map.n_directions
    w, support = proof.w, np.flatnonzero(proof.multipliers)
    intercept = w[rows * p :] * data.feature if data.feature > 0 else np.zeros(d)
    certificate = proof.bound, proof.multipliers[support], found.v[support], found.loses[support]
    return LargestMargin(proof.margin, w[: rows * p].reshape(rows, p), intercept, *certificate)


def vectors(data: PreparedData) -> Vectors:
    """Return the vectors whose products are the leads; a lead is of sigma_y over predictions that lose and those that do not."""
    X, problem = data.X.toarray() if sparse.issparse(data.X) else data.X, data.problem
    if problem.score_map.offsets_apart:
        X = np.column_stack([X, np.ones(len(X))])
    elif data.feature > 0:
        X = np.column_stack([X, np.full(len(X), data.feature)])
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        leads = problem.leads(data.labels, data.pairwise, problem.d * X.shape[1])
        found, terms = products(leads, X)
        loses = leads.loses
        if problem.score_map.offsets_apart:
            found, terms = shared_vectors(data, found), shared_vectors(data, terms)
            order = np.zeros((problem.d - 1, found.shape[1]))
            order[:, -problem.d :] = -np.diff(np.eye(problem.d), axis=0)
            found, terms = np.vstack([found, order]), np.vstack([terms, np.abs(order)])
            loses = np.append(loses, np.zeros(len(order), dtype=bool))
        else:
            found, terms = by_row(found, data.X.shape[1]), by_row(terms, data.X.shape[1])
    if not np.isfinite(terms).all():
        raise ValueError(OVERFLOW)
    return Vectors(found, terms, loses)


def products(leads: Leads, X: NDArray) -> tuple[NDArray, NDArray]:
    """Return the difference of joint features for each lead.

    These are rep(sigma_y) x^T less that of the other prediction, of shape (n, d, p), and the sizes of both terms.
    """
    factor = leads.factor[:, None]
    own, other = factor * leads.code[leads.own], factor * leads.code[leads.other]
    x, beside = X[leads.row], X[leads.other_row]
    found = np.einsum("nd,np->ndp", own - other, x)
    terms = np.einsum("nd,np->ndp", np.abs(own), np.abs(x)) + np.einsum("nd,np->ndp", np.abs(other), np.abs(beside))
    if (leads.row != leads.other_row).any():
        found += np.einsum("nd,np->ndp", other, x - beside)
    return found, terms


def by_row(found: NDArray, p: int) -> NDArray:
    """Return flat vectors of shape (n, d, p or p + 1); the intercepts' entries are at the end."""
    n, d, width = found.shape
    return np.column_stack([found[:, :, :p].reshape(n, d * p), found[:, :, p:].reshape(n, d * (width - p))])


def shared_vectors(data: PreparedData, found: NDArray) -> NDArray:
    """Return the vectors for one shared direction; all scores have its inputs, and offsets of their own."""
    return np.column_stack([found[:, :, :-1].sum(axis=1), found[:, :, -1] * data.feature])
