"""The theory as functions: margins, the largest there is, the constants of losses, and the theorems behind the bounds."""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import pairwise
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_predtron._core.rows import OVERFLOW
from sklearn_predtron._core.score_map import ScoreMap
from sklearn_predtron._parts import Part, kinds, resolve
from sklearn_predtron._queries import Queries, read_document_relevances, read_relevances
from sklearn_predtron.families._base import BasePredtron, check_lengths
from sklearn_predtron.families.label_ranking import PredtronLabelRanker
from sklearn_predtron.families.ranking import PredtronRanker
from sklearn_predtron.families.structured import Problem
from sklearn_predtron.losses import CostTableLoss, RankingLoss, SubsetLoss, costs_of, subset_loss
from sklearn_predtron.norms import Group, Norm, PNorm, Trace
from sklearn_predtron.problems._finite import FiniteProblem
from sklearn_predtron.problems._label_sets import LabelSets
from sklearn_predtron.problems._ranking import RankingProblem
from sklearn_predtron.problems._relevance import Relevances
from sklearn_predtron.problems._user import PythonProblem
from sklearn_predtron.representations import LogRank, SignVector
from sklearn_predtron.theory._largest_margin import Vectors, prove
from sklearn_predtron.updates import Update
from sklearn_predtron.updates._comparator import (
    as_weights,
    check_measured,
    largest_length,
    length_of_query,
    margins,
    measured_by,
    weights_length,
)

__all__ = ["LargestMargin", "largest_margin", "loss_constants", "margin", "radius", "theorem_of"]

MOST_LABELS = 12  # all sets of so many are listed
MOST_NUMBERS = 2e7  # in the vectors of a data set


class LargestMargin(NamedTuple):
    """Weights of length 1 with the largest margin on a data set, and the proof that no others have a larger one.

    Parameters
    ----------
    margin : float
        The margin gamma of the weights.
    coef : ndarray of shape (d, n_features)
        The weights W.
    intercept : ndarray of shape (d,)
        The offsets b.
    bound : float
        What no margin exceeds, by weak duality: the length of ``multipliers @ vectors`` in the dual norm, Euclidean for "l2", the
        largest size for "l1" and the sum of sizes for "max".
    multipliers : ndarray of shape (s,)
        The multipliers, positive; those of the vectors that lose sum to 1.
    vectors : ndarray of shape (s, n)
        The vectors (rep(sigma_y) - rep(sigma)) x^T that have them, row by row, with the entries of b / intercept_scaling at the
        end; for "shared" thresholds also b_j - b_(j + 1).
    loses : ndarray of shape (s,)
        Which of these sigma lose; the others, free of loss, must not be ahead of sigma_y.

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


class Described(NamedTuple):
    """A data set as an estimator sees it."""

    model: Any
    problem: Any
    X: Any
    labels: Any
    feature: float  # of the intercept; 0 is none
    pairwise: bool


# ---------------------------------------------------------------------------------------------------------------- margins


def margin(estimator: Any, X: Any, y: Any, coef: Any, intercept: Any = None, *, qid: Any = None, classes: Any = None) -> float:
    """The margin of given weights, at unit norm, on a data set.

    gamma = min <rep(sigma_y) - rep(sigma), W x + b> / |(W, b / s)| over the rows and the predictions sigma that lose (Jain et al.
    2015, section 2.2), for rankings over pairs of items: what the estimator's own `margin` is of its own weights.

    Parameters
    ----------
    estimator : estimator of sklearn_predtron
        Its loss, representation, norm, intercept and update say what a margin is; it need not be fitted.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Inputs, or documents.
    y : array-like
        Labels as for the estimator's `fit`.
    coef : array-like of shape (d, n_features), or (n_features,) for d = 1
        The weights W.
    intercept : array-like of shape (d,), default=None
        The offsets b; None is 0.
    qid : array-like of shape (n_samples,), default=None
        The query of each document; None is one query.
    classes : array-like of shape (k,), default=None
        The classes of an estimator that is not fitted, as for `partial_fit`: predictions of classes that y lacks count, too.
        None takes those of y.  A fitted estimator has its own.

    Returns
    -------
    margin : float
        The margin gamma, for `loss_bound`; infinite where nothing can be predicted wrongly.

    Examples
    --------
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.theory import margin
    >>> model = PredtronClassifier(representation="onehot", fit_intercept=False)
    >>> round(margin(model, [[1, 0], [0, 1], [-1, -1]], [0, 1, 2], [[3, 0], [0, 3], [0, 0]]), 6)
    0.707107
    """
    data = describe(estimator, X, y, qid, classes)
    d = data.problem.d
    W = as_weights(coef, "coef", (data.problem.score_map.n_directions, data.X.shape[1]))
    b = np.zeros(d) if intercept is None else as_weights(intercept, "intercept", (d,))
    if b.any() and data.feature == 0:
        raise ValueError(f"intercept={intercept!r} must be None or zeros: the estimator has no intercept.")
    size = max(np.abs(W).max(), np.abs(b).max() / (data.feature or 1.0))
    if size == 0:
        raise ValueError("coef is zero; weights of a positive length have a margin.")
    W, b = W / size, b / size  # no square over- or underflows
    with np.errstate(over="ignore", invalid="ignore"):
        scores = np.ascontiguousarray(data.X @ W.T + b, dtype=np.float64)
    if not np.isfinite(scores).all():
        raise ValueError(OVERFLOW)
    return float(margins(data.problem, data.labels, scores, data.pairwise).min(initial=np.inf) / length_of_weights(data, W, b))


def describe(estimator: Any, X: Any, y: Any, qid: Any, classes: Any) -> Described:
    """What the estimator makes of a data set, itself left as it is."""
    if not isinstance(estimator, BasePredtron):
        raise ValueError(f"estimator={estimator!r} must be an estimator of sklearn_predtron.")
    fitted = hasattr(estimator, "_learner")
    model: Any = copy.copy(estimator) if fitted else clone(estimator)
    model._validate_params()
    X = check_array(X, accept_sparse="csr", dtype=np.float64)
    update = resolve(Update, model.update, "update")
    if model._build_intercept().fitted and model._scaling() == "auto":
        raise ValueError("intercept_scaling='auto' moves with the inputs; margins are for a number or fit_intercept=False.")
    feature = float(model._scaling()) if model._build_intercept().fitted else 0.0
    if classes is not None and isinstance(model, (PredtronRanker, PredtronLabelRanker)):
        raise ValueError(f"classes={classes!r} is for classifiers; {type(model).__name__} takes None.")
    if isinstance(model, PredtronRanker):
        X, labels = queries_of(X, y, qid)
    elif qid is not None:
        raise ValueError(f"qid is for PredtronRanker; {type(model).__name__} takes None.")
    else:
        labels = model._read_labels(y, classes, fresh=not fitted, partial=fitted or classes is not None)
        check_lengths(X.shape[0], labels.n)
    problem = model._build_problem()
    problem.prepare(labels)
    if not isinstance(problem, (FiniteProblem, LabelSets, RankingProblem)):
        raise ValueError(f"estimator={estimator!r} has a problem of the user's own, whose predictions are not known.")
    return Described(model, problem, X, labels, feature, update.pairwise)


def queries_of(X: Any, y: Any, qid: Any) -> tuple[Any, Relevances]:
    """Documents and relevances, query by query."""
    y = read_document_relevances(y)
    check_lengths(X.shape[0], len(y))
    queries = Queries(qid, len(y))
    return queries.take(X), Relevances(queries.take(y), queries.start)


def length_of_weights(data: Described, W: NDArray, b: NDArray) -> float:
    """The norm under which the estimator measures margins, the intercept's weights among the others."""
    norm = resolve(Norm, data.model.norm, "norm")
    check_measured(norm)
    directions = ScoreMap(data.problem.score_map.n_directions)
    made = norm.build(directions, W.shape[1], intercept=data.model._build_intercept(), sparse=False, average=False)
    q = getattr(made, "q", 2.0)
    return weights_length(norm, q, data.problem, data.feature, W, b)


# ------------------------------------------------------------------------------------------------------ the largest margin


def largest_margin(estimator: Any, X: Any, y: Any, *, norm: str = "l2", qid: Any = None, classes: Any = None) -> LargestMargin:
    """The largest margin of any weights of length 1 on a small data set, and weights that have it.

    Maximise gamma over |W| <= 1, where <v, W> >= gamma for the vectors v = (rep(sigma_y) - rep(sigma)) x^T of the rows and the
    predictions that lose, and <v, W> >= 0 for those free of loss, which must not be ahead (Jain et al. 2015, section 2.2, for one
    sigma_y).  By duality it is the least length, in the dual norm, of sum a v over a >= 0 that sum to 1 where sigma loses: the
    distance of 0 from a hull.  Under the Euclidean norm this is the hard-margin problem, solved by the dual method of
    Goldfarb and Idnani (1983), under the others a linear programme.  Both sides are then evaluated, rounding counted, and a
    largest margin is one that reaches its bound to 1e-6 of it.  No other gives a smaller `loss_bound`.

    Parameters
    ----------
    estimator : estimator of sklearn_predtron
        Its loss, representation, intercept and update say what a margin is; it need not be fitted.  Its norm is not used.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Inputs, or documents.  The vectors, for a few hundred rows or so, must have room.
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
    largest : LargestMargin
        The margin, the weights `coef` of shape (d, n_features) and the offsets `intercept`, and the multipliers that prove it.

    Raises
    ------
    ValueError
        If no weights have a positive margin: the data are not separable, as a combination of vectors shows that vanishes but
        for rounding.  If margin and bound lie further apart than 1e-6 of them: rows too alike for double precision, or
        predictions free of loss that only exact ties keep from being ahead.

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
    data = describe(estimator, X, y, qid, classes)
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


def vectors(data: Described) -> Vectors:
    """The vectors whose products with the weights are the leads of sigma_y, over predictions that lose and those that do not."""
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    if data.feature > 0 and not data.problem.score_map.offsets_apart:
        X = np.column_stack([X, np.full(len(X), data.feature)])
    make: Callable = pairs if isinstance(data.problem, RankingProblem) else leads
    with np.errstate(over="ignore", invalid="ignore"):
        found, terms, loses = make(data, X)
        if data.problem.score_map.offsets_apart:
            found, terms = shared_vectors(data, found), shared_vectors(data, terms)
            order = np.zeros((data.problem.d - 1, found.shape[1]))
            order[:, -data.problem.d :] = -np.diff(np.eye(data.problem.d), axis=0)
            found, terms = np.vstack([found, order]), np.vstack([terms, np.abs(order)])
            loses = np.append(loses, np.zeros(len(order), dtype=bool))
        else:
            found, terms = by_row(found, data.X.shape[1]), by_row(terms, data.X.shape[1])
    if not np.isfinite(terms).all():
        raise ValueError(OVERFLOW)
    return Vectors(found, terms, loses)


def by_row(found: NDArray, p: int) -> NDArray:
    """Vectors of shape (n, d, p or p + 1), flat, the intercepts' entries at the end."""
    n, d, width = found.shape
    return np.column_stack([found[:, :, :p].reshape(n, d * p), found[:, :, p:].reshape(n, d * (width - p))])


def shared_vectors(data: Described, found: NDArray) -> NDArray:
    """The same for one direction: all scores have its inputs, and offsets of their own."""
    return np.column_stack([found[:, :, :-1].sum(axis=1), found[:, :, -1] * data.feature])


def leads(data: Described, X: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """(rep(sigma_y) - rep(sigma)) x^T for each row and each prediction but sigma_y, its terms, and whether sigma loses."""
    code, costs, right, labels = predictions(data)
    if data.problem.score_map.offsets_apart:
        X = np.column_stack([X, np.ones(len(X))])
    need_room(len(X) * len(code) * code.shape[1] * X.shape[1])
    i, k = np.nonzero((costs[labels] > 0) | (np.arange(len(code)) != right[labels][:, None]))
    own, other = code[right[labels[i]]], code[k]
    found, terms = (np.einsum("nd,np->ndp", *of) for of in ((own - other, X[i]), (np.abs(own) + np.abs(other), np.abs(X[i]))))
    return found, terms, costs[labels[i], k] > 0


def predictions(data: Described) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """rep of every prediction, costs [y, sigma], sigma_y of every label, and the labels' numbers."""
    problem = data.problem
    if isinstance(problem, FiniteProblem):
        code = problem.decision(np.eye(problem.d)).T
        costs = 1.0 - np.eye(len(code)) if problem.cost_matrix is None else problem.cost_matrix
        own = costs[np.arange(len(costs)), np.arange(len(costs))] == 0
        return code, costs, np.where(own, np.arange(len(costs)), costs.argmin(axis=1)), data.labels.numbers
    m = problem.d
    if m > MOST_LABELS:
        raise ValueError(f"y has {m} labels, and all sets are listed of at most {MOST_LABELS}.")
    sets = (np.arange(2**m)[:, None] >> np.arange(m)) & 1
    true, numbers = np.unique(data.labels.dense().astype(int), axis=0, return_inverse=True)
    hits, ahead, behind = true @ sets.T, (1 - true) @ sets.T, true @ (1 - sets).T
    counts = [part.ravel() for part in (hits, ahead, behind, m - hits - ahead - behind)]
    costs = subset_loss(data.model.loss).evaluate(*counts).reshape(hits.shape)
    return (2 * sets - 1) / np.sqrt(m), costs, true @ (1 << np.arange(m)), numbers.ravel()


def pairs(data: Described, X: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """The difference of two items of a list of which the first is more relevant, times what a ranking makes of a lead."""
    y, d = data.labels.relevances, data.problem.d
    high, low, factor = [], [], []
    for begin, end in pairwise(data.labels.starts):
        i, j = np.nonzero(y[begin:end, None] > y[None, begin:end])
        high.append(begin + i)
        low.append(begin + j)
        factor.append(np.full(len(i), 1.0 if data.pairwise else least_gap(data.problem, end - begin)))
    i, j, factors = np.concatenate(high), np.concatenate(low), np.concatenate(factor)[:, None]
    need_room(len(i) * d * X.shape[1])
    if data.problem.score_map.offsets_cancel:
        found, terms = (factors * (X[i] - X[j]))[:, None, :], (factors * (np.abs(X[i]) + np.abs(X[j])))[:, None, :]
    else:
        found = np.zeros((len(i), d, X.shape[1]))
        found[np.arange(len(i)), i % d] = factors * X[i // d]
        found[np.arange(len(i)), j % d] = -factors * X[j // d]
        terms = np.abs(found)
    return found, terms, np.ones(len(i), dtype=bool)


def least_gap(problem: RankingProblem, m: int) -> float:
    """min f(j) - f(j + 1) over the neighbouring positions of m, over |f|; of a single position anything."""
    f = problem.representation.table(m)
    return float(-np.diff(f).max(initial=-np.inf) / np.linalg.norm(f)) if m > 1 else 0.0


def need_room(numbers: float) -> None:
    if numbers > MOST_NUMBERS:
        raise ValueError(
            f"The vectors of the data hold {numbers:.2g} numbers, and at most {MOST_NUMBERS:.2g} are accepted; take fewer rows."
        )


# ------------------------------------------------------------------------------------------------------ constants of losses


def loss_constants(
    loss: Any, *, classes: Any = None, n_labels: int | None = None, y: Any = None, qid: Any = None
) -> tuple[float, float]:
    """The least positive loss c_L and the largest loss C_L, as the bounds take them (Jain et al. 2015, section 2).

    Parameters
    ----------
    loss : str, CostTableLoss, SubsetLoss, RankingLoss or Problem
        A loss, its alias, or a problem that states them.
    classes : int or array-like of shape (k,), default=None
        For tables: the number of classes, or the classes.
    n_labels : int, default=None
        For sets of labels: their number m.
    y : array-like of shape (n_documents,) or (n_samples, m), default=None
        For rankings: the relevances, of documents or of the labels of each row.
    qid : array-like of shape (n_documents,), default=None
        The query of each document; None is one query.

    Returns
    -------
    c_L, C_L : float
        Of rankings c_L is the least loss of a wrong ranking of these lists, and C_L is 1.  Of losses at k, c_L and C_L
        bound the excess over the least loss of a label.

    Examples
    --------
    >>> from sklearn_predtron.losses import NDCG
    >>> from sklearn_predtron.theory import loss_constants
    >>> loss_constants("absolute", classes=5), loss_constants("hamming", n_labels=4)
    ((1.0, 4.0), (0.25, 1.0))
    >>> c_L, C_L = loss_constants(NDCG(), y=[2, 1, 0, 0])
    >>> round(c_L, 6), C_L
    (0.03606, 1.0)
    """
    if isinstance(loss, Problem):
        return stated_constants(loss)
    found = loss if isinstance(loss, (CostTableLoss, SubsetLoss, RankingLoss)) else any_loss(loss)
    if isinstance(found, CostTableLoss):
        given(classes, "classes", found)
        check_count("classes", classes if np.ndim(classes) == 0 else len(classes), 2)
        costs = costs_of(found, np.arange(classes) if np.ndim(classes) == 0 else np.asarray(classes))
        return (1.0, 1.0) if costs is None else (float(costs[costs > 0].min()), float(costs.max()))
    if isinstance(found, SubsetLoss):
        given(n_labels, "n_labels", found)
        check_count("n_labels", n_labels, 1)
        return constants_of_sets(found, int(n_labels))  # type: ignore[arg-type]
    given(y, "y", found)
    return constants_of_lists(found, y, qid)


def given(value: Any, parameter: str, loss: Any) -> None:
    if value is None:
        raise ValueError(f"{parameter}=None: the constants of loss={loss!r} depend on it.")


def check_count(parameter: str, number: Any, least: int) -> None:
    if not isinstance(number, Integral) or number < least:
        raise ValueError(f"{parameter}={number!r} must be an integer of at least {least}.")


def any_loss(alias: Any) -> Any:
    """The loss of an alias, whatever its family."""
    losses: dict[Any, type[Part]] = {
        kind.alias: kind for base in (CostTableLoss, SubsetLoss, RankingLoss) for kind in kinds(base)
    }
    if not isinstance(alias, str) or alias not in losses:
        raise ValueError(f"loss={alias!r} is not known; accepted are {', '.join(map(repr, losses))} and instances of losses.")
    return losses[alias]()


def stated_constants(problem: Problem) -> tuple[float, float]:
    if problem.c_L is None or problem.C_L is None:
        raise ValueError(f"loss={problem!r} does not state c_L and C_L.")
    checked = PythonProblem(problem)
    return checked.c_L, checked.C_L


def constants_of_sets(loss: SubsetLoss, m: int) -> tuple[float, float]:
    """Those the loss states, or over all counts of hits and misses."""
    problem = loss.build(SignVector(), m)
    if np.isfinite(problem.c_L) and np.isfinite(problem.C_L):
        return float(problem.c_L), float(problem.C_L)
    a, b, c = (part.ravel() for part in np.indices((m + 1, m + 1, m + 1)))
    kept = a + b + c <= m
    a, b, c = a[kept], b[kept], c[kept]
    values = loss.evaluate(a, b, c, m - a - b - c)
    if not values.any():
        raise ValueError(f"loss={loss!r} is 0 for all sets of {m} labels; its constants are those of positive losses.")
    return float(values[values > 0].min()), float(values.max())


def constants_of_lists(loss: RankingLoss, y: Any, qid: Any) -> tuple[float, float]:
    if np.ndim(y) == 2:
        y = read_relevances(y)
        labels = Relevances(y.ravel(), np.arange(len(y) + 1, dtype=np.intp) * y.shape[1])
    else:
        y = read_document_relevances(y)
        queries = Queries(qid, len(y))
        labels = Relevances(queries.take(y), queries.start)
    problem = copy.copy(loss).build(LogRank(), 0)
    least = float(problem.least_losses(labels).min(initial=np.inf))
    if not np.isfinite(least):
        raise ValueError("y holds no list that can be ranked wrongly.")
    return least, float(problem.C_L)


# ------------------------------------------------------------------------------------------------------------ the theorems


def radius(estimator: Any, X: Any, *, qid: Any = None) -> float:
    """The largest length R of the inputs, as the estimator's `loss_bound` takes it.

    It is that of (x, s) with the intercept's feature s = intercept_scaling: Euclidean, or under the norms "l1" and "group" the
    q-norm; with representation="shared", whose thresholds have a norm of their own, sqrt(|x|_q^2 + s^2).  Of queries it is the
    spectral norm of their documents (under "l1" and "group" the q-norm of the Euclidean lengths of their features), and for
    updates of pairs the largest length of a document.

    Parameters
    ----------
    estimator : estimator of sklearn_predtron
        A fitted estimator.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Inputs, or documents.
    qid : array-like of shape (n_samples,), default=None
        The query of each document; None is one query.

    Returns
    -------
    radius : float
        The radius R.

    Examples
    --------
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.theory import radius
    >>> X = [[3.0, 0.0], [0.0, -1.0]]
    >>> radius(PredtronBinaryClassifier(intercept_scaling=4.0).fit(X, [1, 0]), X)
    5.0
    """
    if not isinstance(estimator, BasePredtron):
        raise ValueError(f"estimator={estimator!r} must be an estimator of sklearn_predtron.")
    check_is_fitted(estimator)
    estimator._check_fixed()
    weights, problem = estimator._learner.weights, estimator._learner.problem
    norm, q = measured_by(estimator)
    if weights.intercept.automatic:
        raise ValueError("intercept_scaling='auto' moves with the inputs; a radius is for a number or fit_intercept=False.")
    if qid is not None and not problem.score_map.offsets_cancel:
        raise ValueError(f"qid is for PredtronRanker; {type(estimator).__name__} takes None.")
    X = validate_data(estimator, X, reset=False, accept_sparse="csr", dtype=np.float64)
    if problem.score_map.offsets_cancel and not resolve(Update, estimator.update, "update").pairwise:
        queries = Queries(qid, X.shape[0])
        documents = queries.take(X)
        parts = [documents[start:end] for start, end in pairwise(queries.start)]
        return max(length_of_query(norm, q, part) for part in parts)
    return largest_length(norm, q, problem, weights.intercept.fixed**0.5, X)


def theorem_of(estimator: Any) -> str:
    """The name of the theorem behind the estimator's `loss_bound`.

    Parameters
    ----------
    estimator : estimator of sklearn_predtron
        A fitted estimator.

    Returns
    -------
    theorem : str
        The theorem for its update, and what carries it over to rankings and to other norms.  An error where no bound is proven
        for the parts, as from `loss_bound`.

    Examples
    --------
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.theory import theorem_of
    >>> from sklearn_predtron.updates import LossAugmented
    >>> model = PredtronClassifier(update=LossAugmented(eta="theory"), fit_intercept=False, norm="l1")
    >>> theorem_of(model.fit([[1.0], [-1.0]], [1, 0]))
    'Theorem 1 (Jain et al. 2015), Theorem 15 for its norm'
    """
    if not isinstance(estimator, BasePredtron):
        raise ValueError(f"estimator={estimator!r} must be an estimator of sklearn_predtron.")
    check_is_fitted(estimator)
    theorem = estimator._theorem()
    update, norm = resolve(Update, estimator.update, "update"), resolve(Norm, estimator.norm, "norm")
    if isinstance(estimator._learner.problem, RankingProblem) and not update.pairwise:
        theorem += ", with the margin of pairs"
    if isinstance(norm, (PNorm, Group, Trace)):
        theorem += ", Theorem 15 for its norm"
    return theorem
