"""Weights that are kept sparse, and made dense again to go on learning."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron._names import series
from sklearn_predtron._parts import kinds, real_number
from sklearn_predtron._typing import keeping_type
from sklearn_predtron.families._attributes import unfitted
from sklearn_predtron.families._composition import BEGAN, build_weights, check_fixed
from sklearn_predtron.families._linear import empty_rows
from sklearn_predtron.families._model import Model
from sklearn_predtron.families._training import open_stream
from sklearn_predtron.norms import Auto, Norm
from sklearn_predtron.norms._sparse import SparseWeights

E = TypeVar("E")


def check_takes_weights(estimator: Any) -> bool:
    """Return True; raise ValueError if the norm has no weights that can be sparse, or if the first rows are yet to choose it."""
    norm = estimator._norm_of_weights()
    if isinstance(norm, Auto):
        raise unfitted(estimator, "weights")
    if not norm.takes_weights:
        accepted = series([repr(kind.alias) for kind in kinds(Norm) if kind.takes_weights])
        raise ValueError(f"norm={norm.alias!r} has no weights that can be kept sparse; accepted are {accepted}: give norm='l2'.")
    return True


@keeping_type(available_if(check_takes_weights))
def sparsify(estimator: E, tol: float = 0.0) -> E:
    """Keep only the weights that predict and are not zero.

    The estimator predicts as before, `coef_` becomes a CSR matrix, and memory and saved models hold what is not zero, in the
    place of all weights and of the sums behind their average.  Learning goes on after `densify`.  The method is there if the
    norm has such weights, which "scaled" and "rkhs" have not: under "auto" once CSR rows have been learned, and dense ones
    want norm="l2" or another.

    Parameters
    ----------
    tol : float, default=0.0
        Weights of at most this share of the largest count as zeros, too, by which predictions may change.  Under the norms
        "l1" and "group" most weights are next to nothing, but few are zero.

    Returns
    -------
    Self
        The estimator.

    Raises
    ------
    ValueError
        If `tol` is no such share, or if scores share one direction.

    See Also
    --------
    densify : Makes the weights dense again.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> X = np.random.default_rng(0).standard_normal((500, 200))
    >>> model = PredtronBinaryClassifier(norm="l1", random_state=0).fit(X, X[:, 3] > X[:, 5])
    >>> model.sparsify(tol=0.05).coef_.nnz, round(model.score(X, X[:, 3] > X[:, 5]), 2)
    (3, 0.99)
    """
    least = real_number(tol)
    if least is None or not 0 <= least < 1:
        raise ValueError(f"tol={tol!r} must be a number from 0 to below 1.")
    this: Any = estimator
    with this._lock:
        check_is_fitted(this)
        model: Model = this._model
        weights: Any = model.learner.weights
        check_fixed(this, model)
        if model.learner.problem.score_map.offsets_apart:
            raise ValueError(
                f"representation={this.representation!r} has one direction, whose weights are not kept sparse; accepted are "
                "representations with weights for each score."
            )
        W, b = model.learner.read(lambda weights: weights.mean())
        W = W.toarray() if sparse.issparse(W) else W
        W = np.where(np.abs(W) > least * np.abs(W).max(), W, 0.0)
        r2 = weights.intercept.squared_length
        size = this._norm_of_weights().length(W, b / r2**0.5 if r2 > 0 else b[:0], apart=False)
        how = weights.intercept, weights.score_map, bool(weights.by_feature or weights.thin), weights.averaging, size
        kept = sparse.csc_array(W)
        arrays = kept.indptr.astype(np.intp), kept.indices.astype(np.intc), kept.data, b
        take_weights(this, SparseWeights(*W.shape, *how, *arrays), model.learned_with)
    return estimator


def densify(estimator: E) -> E:
    """Make sparse weights dense, so that learning goes on from what predicts.

    The last iterate, the average and what both were made of are no longer there: the next iterate follows the weights that
    predict, and the average is over those to come.  For the losses to come no bound is proven.

    Returns
    -------
    Self
        The estimator; one whose weights are dense is left as it is.

    See Also
    --------
    sparsify : Keeps only the weights that are not zero.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_predtron import PredtronClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PredtronClassifier(norm="l2", random_state=0).fit(X, y).sparsify()
    >>> type(model.coef_).__name__, type(model.densify().coef_).__name__
    ('csr_matrix', 'ndarray')
    """
    this: Any = estimator
    with this._lock:
        check_is_fitted(this)
        model: Model = this._model
        learner, kept = model.learner, model.learner.weights
        if isinstance(kept, SparseWeights):
            check_fixed(this, model)
            rows = empty_rows(kept.p, is_sparse=kept.by_feature)
            weights: Any = build_weights(this, learner.problem, rows, model.norm, average=kept.averaging > 0)
            weights.intercept.__setstate__(kept.intercept.__reduce__()[2])
            W, b = kept.mean()
            weights.begin_at(W.toarray(), b)
            weights.keep_averages(kept.averaging)
            take_weights(this, weights, BEGAN)
    return estimator


def take_weights(estimator: Any, weights: Any, learned_with: Any) -> None:
    """Let an estimator have a model with other weights that predict the same."""
    model: Model = estimator._model
    learner = model.learner
    if model.stream is not None:
        model.stream.close()
    estimator._model = model.but(
        learner=learner.with_weights(weights, learner.problem, learner.observer), learned_with=learned_with
    )
    if model.resolved:
        open_stream(estimator)
