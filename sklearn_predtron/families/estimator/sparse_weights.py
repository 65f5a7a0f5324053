"""Weights that are kept sparse, and made dense again for further training."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from sklearn_predtron._support.names import series
from sklearn_predtron._support.parts import kinds, real_number
from sklearn_predtron.families.estimator.linear_models import empty_rows
from sklearn_predtron.families.estimator.model import Model
from sklearn_predtron.families.training.calls import open_stream
from sklearn_predtron.families.training.composition import BEGAN, build_weights, check_fixed
from sklearn_predtron.norms import Auto, Norm
from sklearn_predtron.norms._sparse import SparseWeights


def check_has_sparse(estimator: Any) -> bool:
    """Return True; raise AttributeError for a family whose weights are not kept sparse."""
    if not estimator._keeps_sparse:
        raise AttributeError(f"{type(estimator).__name__!r} object keeps no sparse weights.")
    return True


def check_takes_weights(estimator: Any) -> bool:
    """Return True; raise ValueError if the norm has no weights that can be sparse, or if the first rows are yet to choose it."""
    check_has_sparse(estimator)
    norm = estimator._norm_of_weights()
    if isinstance(norm, Auto):
        raise estimator._unfitted("weights")
    if not norm.takes_weights:
        accepted = series([repr(kind.alias) for kind in kinds(Norm) if kind.takes_weights])
        raise ValueError(f"norm={norm.alias!r} has no weights that can be kept sparse; accepted are {accepted}: give norm='l2'.")
    return True


def sparsify(estimator: Any, tol: float) -> None:
    """Replace an estimator's model by one that keeps only the nonzero weights that predict."""
    least = real_number(tol)
    if least is None or not 0 <= least < 1:
        raise ValueError(f"tol={tol!r} must be a number from 0 to below 1.")
    model: Model = estimator._model
    weights: Any = model.learner.weights
    check_fixed(estimator, model)
    if model.learner.problem.score_map.offsets_apart:
        raise ValueError(
            f"representation={estimator.representation!r} has one direction, whose weights are not kept sparse; accepted are "
            "representations with weights for each score."
        )
    W, b = model.learner.read(lambda weights: weights.mean())
    W = W.toarray() if sparse.issparse(W) else W
    W = np.where(np.abs(W) > least * np.abs(W).max(), W, 0.0)
    r2 = weights.intercept.squared_length
    size = estimator._norm_of_weights().length(W, b / r2**0.5 if r2 > 0 else b[:0], apart=False)
    how = weights.intercept, weights.score_map, bool(weights.by_feature or weights.small_pages), weights.averaging, size
    kept = sparse.csc_array(W)
    arrays = kept.indptr.astype(np.intp), kept.indices.astype(np.intc), kept.data, b
    take_weights(estimator, SparseWeights(*W.shape, *how, *arrays), model.learned_with)
    settled = estimator._model.settled
    if least > 0 and settled and "certificate" in settled:  # it was of other predictions
        estimator._model.settled = {name: value for name, value in settled.items() if name != "certificate"}


def densify(estimator: Any) -> None:
    """Replace an estimator's model by one with dense weights, if they are sparse."""
    model: Model = estimator._model
    learner, kept = model.learner, model.learner.weights
    if isinstance(kept, SparseWeights):
        check_fixed(estimator, model)
        rows = empty_rows(kept.p, is_sparse=kept.by_feature)
        weights: Any = build_weights(estimator, model.labels, learner.problem, rows, model.norm, average=kept.averaging > 0)
        weights.intercept.__setstate__(kept.intercept.__reduce__()[2])
        W, b = kept.mean()
        weights.begin_at(W.toarray(), b)
        weights.keep_averages(kept.averaging)
        take_weights(estimator, weights, BEGAN)


def take_weights(estimator: Any, weights: Any, learned_with: Any) -> None:
    """Replace the weights of an estimator's model by others that predict the same."""
    model: Model = estimator._model
    learner = model.learner
    if model.stream is not None:
        model.stream.close()
    estimator._model = model.but(
        learner=learner.with_weights(weights, learner.problem, learner.observer), learned_with=learned_with
    )
    if model.resolved:
        open_stream(estimator)
