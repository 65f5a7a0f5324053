"""Weights of which only the nonzero ones are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from sklearn_predtron._core.learner import Learner
from sklearn_predtron._support.parts import real_number
from sklearn_predtron.norms import Norm
from sklearn_predtron.norms._sparse import SparseWeights


def checked_share(tol: float) -> float:
    """Return the share of the largest weight up to which weights count as zeros; raise ValueError if it is none."""
    least = real_number(tol)
    if least is None or not 0 <= least < 1:
        raise ValueError(f"tol={tol!r} must be a number from 0 to below 1.")
    return least


def sparse_copy(learner: Learner, norm: Norm, least: float) -> SparseWeights:
    """Return the weights that predict, without those of at most a share `least` of the largest one."""
    weights: Any = learner.weights
    W, b = learner.read(lambda weights: weights.mean())
    W = W.toarray() if sparse.issparse(W) else W
    W = np.where(np.abs(W) > least * np.abs(W).max(), W, 0.0)
    r2 = weights.intercept.squared_length
    size = norm.length(W, b / r2**0.5 if r2 > 0 else b[:0], apart=False)
    how = weights.intercept, weights.score_map, bool(weights.by_feature or weights.small_pages), weights.averaging, size
    kept = sparse.csc_array(W)
    return SparseWeights(*W.shape, *how, kept.indptr.astype(np.intp), kept.indices.astype(np.intc), kept.data, b)
