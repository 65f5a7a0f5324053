"""The radius of the bounds, and their theorems."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron._support.parts import resolve
from sklearn_predtron._support.queries import Queries
from sklearn_predtron.families.estimator.base import BasePredtron
from sklearn_predtron.families.estimator.bounds import LossBounds
from sklearn_predtron.families.training.factory import check_fixed
from sklearn_predtron.theory._prepared_data import as_features
from sklearn_predtron.updates import Update


def radius(estimator: Any, X: Any, *, qid: Any = None) -> float:
    """Compute the largest length R of the inputs.

    It is the length of (x, s) with the intercept's feature s = intercept_scaling: Euclidean, or under the norms "l1" and
    "group" the q-norm; with representation="shared", whose thresholds have a norm of their own, sqrt(|x|_q^2 + s^2).  For
    queries it is the spectral norm of their documents (under "l1" and "group" the q-norm of the Euclidean lengths of their
    features), and for updates of pairs the largest length of a document.

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
    float
        The radius R.

    See Also
    --------
    margin : The other quantity of the bounds.
    loss_constants : The constants of the loss in them.

    Examples
    --------
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.theory import radius
    >>> X = [[3.0, 0.0], [0.0, -1.0]]
    >>> radius(PredtronBinaryClassifier(norm="l2", intercept_scaling=4.0).fit(X, [1, 0]), X)
    5.0
    """
    if not isinstance(estimator, BasePredtron):
        raise ValueError(f"estimator={estimator!r} must be an estimator of sklearn_predtron.")
    check_is_fitted(estimator)
    estimator._check_rows_known()
    model: Any = estimator._model
    check_fixed(estimator, model)
    weights, problem = model.learner.weights, model.problem
    norm = estimator._norm_of_weights()
    norm.check_measured()
    if weights.intercept.automatic:
        raise ValueError("intercept_scaling='auto' moves with the inputs; a radius is for a number or fit_intercept=False.")
    if qid is not None and not problem.score_map.of_blocks:
        raise ValueError(f"qid is for PredtronRanker and PredtronBipartiteClassifier; {type(estimator).__name__} takes None.")
    X = as_features(estimator, X)
    if problem.score_map.of_blocks and not resolve(Update, estimator.update, "update").pairwise:
        queries, feature = Queries(qid, X.shape[0]), weights.intercept.fixed**0.5
        documents = queries.take(X)
        if feature > 0:
            documents = with_feature(documents, feature)
        parts = [documents[start:end] for start, end in pairwise(queries.start)]
        return max(norm.query_length(part) for part in parts)
    return norm.largest_length(X, weights.intercept.fixed**0.5, apart=problem.score_map.offsets_apart)


def with_feature(X: Any, length: float) -> Any:
    """Return rows with the intercept's feature."""
    column = np.full((X.shape[0], 1), length)
    return sparse.hstack([X, column], format="csr") if sparse.issparse(X) else np.hstack([X, column])


def theorem_of(estimator: Any) -> str:
    """Return the name of the theorem behind `loss_bound`.

    Parameters
    ----------
    estimator : estimator of sklearn_predtron
        A fitted estimator.

    Returns
    -------
    str
        The theorem for its update, and its extensions to rankings and to other norms.  Like `loss_bound`, it raises an
        error where no bound is proven for the parts.

    See Also
    --------
    radius : The length R of the inputs in the bound.
    margin : The margin in it.
    loss_constants : The constants of the loss in it.

    Examples
    --------
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.theory import theorem_of
    >>> from sklearn_predtron.updates import LossAugmented
    >>> model = PredtronClassifier(update=LossAugmented(eta="theory"), fit_intercept=False, norm="l1", cv=0)
    >>> theorem_of(model.fit([[1.0], [-1.0]], [1, 0]))
    'Theorem 1 (Jain et al. 2015), Theorem 15 for its norm'
    """
    if not isinstance(estimator, BasePredtron):
        raise ValueError(f"estimator={estimator!r} must be an estimator of sklearn_predtron.")
    check_is_fitted(estimator)
    theorem = LossBounds(estimator).theorem()
    update, norm = resolve(Update, estimator.update, "update"), estimator._norm_of_weights()
    if estimator._model.problem.margin_of_pairs and not update.pairwise:
        theorem += ", with the margin of pairs"
    return theorem if norm.theorem is None else f"{theorem}, {norm.theorem}"
