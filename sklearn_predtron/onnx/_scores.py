"""Scores of an estimator as a linear map of features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from sklearn_predtron.onnx._graph import Graph
from sklearn_predtron.onnx._maps import column_nodes, draw_columns, feature_numbers


def check_linear(model: Any) -> None:
    """Raise an error unless the scores are linear."""
    if model._model.learner.weights.expansion is not None:
        raise ValueError(
            f"norm={model.norm!r} predicts by a kernel and its support, which is not converted; accepted are the norms with a "
            "coef_: 'l2', 'l1', 'group', 'trace' and 'scaled'."
        )
    if model._model.columns.features is not None:
        column_nodes(model._model.columns.features)


def draw_terms(graph: Graph, model: Any, X: str) -> str:
    """Return the columns in which the scores are linear."""
    fitted = model._model.columns.features
    return X if fitted is None else draw_columns(graph, fitted, X)


def linear_map(model: Any) -> tuple[NDArray, NDArray]:
    """Return weights and offsets of the scores that predict.

    Weights have shape (n, d) for the columns of `draw_terms`, offsets (d,).
    """
    coef, intercept = model._model.weights_to_predict(model._decision)
    coef = coef.toarray() if issparse(coef) else coef
    d, fitted = max(len(coef), len(intercept)), model._model.columns.features
    if fitted is not None:
        features = feature_numbers(fitted)
        coef = np.where(features < 0, 0, coef[:, features])
    return np.broadcast_to(coef, (d, coef.shape[1])).T, np.broadcast_to(intercept, d)


def unshifted(model: Any) -> NDArray:
    """Return the offsets of the scores before any decision."""
    offsets = np.atleast_1d(model._model.learner.read(lambda weights: weights.mean()[1]))
    return np.broadcast_to(offsets, model._model.problem.d)


def tensor_labels(labels: NDArray) -> NDArray:
    """Return labels in a type of tensors."""
    kind, values = labels.dtype.kind, labels.tolist()
    if kind == "b" or kind == "f":
        return labels.astype(bool if kind == "b" else np.float64)
    if kind in "iu" and max(values) < 1 << 63:
        return labels.astype(np.int64)
    if all(isinstance(value, str) for value in values):
        return labels.astype(object)
    raise ValueError(f"The labels {values[:5]} have no type in ONNX; accepted are integers, numbers, booleans and strings.")
