"""Sets of labels, and rows of a batch: what is above its cut, or among the k best."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from sklearn_predtron.families.bipartite import batch_loss
from sklearn_predtron.losses import AtK, subset_loss
from sklearn_predtron.onnx._graph import Graph
from sklearn_predtron.onnx._scores import linear_map, tensor_labels


def set_outputs(model: Any, real: Any) -> dict[str, Any]:
    """Return the type and the shape of each output."""
    if model._model.labels.two is not None:
        return {"label": (tensor_labels(model.classes_).dtype, [None]), "scores": (real, [None])}
    shape = [None, model._model.labels.n_labels]
    return {"label": (indicator_type(model), shape), "scores": (real, shape)}


def indicator_type(model: Any) -> Any:
    """Return the type of zeros and ones that tensors have for the one that y had."""
    return tensor_labels(np.zeros(1, dtype=model._model.labels.dtype)).dtype


def draw_sets(graph: Graph, model: Any, X: str) -> list[str]:
    """Return the indicators and the scores of the labels of each row."""
    scores, on = graph.linear(X, *linear_map(model)), None
    if isinstance(subset_loss(model._model.loss), AtK):
        m, problem = model._model.labels.n_labels, model._model.learner.problem
        on = at_k(graph, scores, graph.constant([m], np.int64), problem, axis=1)
    else:
        on = graph.positive(scores)
    if model._model.labels.two is not None:
        return [class_of(graph, model, graph.flat(on)), graph.flat(scores)]
    return [graph.cast(on, indicator_type(model)), scores]


def batch_outputs(model: Any, real: Any) -> dict[str, Any]:
    """Return the type and the shape of each output."""
    return {"label": (tensor_labels(model.classes_).dtype, [None]), "scores": (real, [None])}


def draw_batch(graph: Graph, model: Any, X: str) -> list[str]:
    """Return the label and the score of each row; by losses at k all rows are one group."""
    scores = graph.flat(graph.linear(X, *linear_map(model)))
    if isinstance(batch_loss(model._model.loss), AtK):
        problem = copy.copy(model._model.learner.problem)
        problem.share = model._model.noted[0] / max(model._model.noted[1], 1)
        on = at_k(graph, scores, graph.n_rows(X), problem, axis=0)
    else:
        on = graph.positive(scores)
    return [class_of(graph, model, on), scores]


def class_of(graph: Graph, model: Any, on: str) -> str:
    """Return the second class where a value is on, else the first."""
    classes = tensor_labels(model.classes_)
    return graph.node("Gather", graph.constant(classes, classes.dtype), graph.cast(on, np.int64))


def at_k(graph: Graph, scores: str, n: str, problem: Any, axis: int) -> str:
    """Return which of n scores are among the k largest; with loose rules, and above 0, or besides those above 0."""
    best = graph.node("Less", graph.positions(scores, n, axis), set_size(graph, n, problem))
    if not problem.loose:
        return best
    return graph.node("And" if problem.recall else "Or", best, graph.positive(scores))


def set_size(graph: Graph, n: str, problem: Any) -> str:
    """Return k of n scores: a number, or a share, which is rounded to one at least."""
    if problem.k >= 1:
        return graph.constant([int(problem.k)], np.int64)
    share = problem.k if problem.k > 0 else problem.share
    part = graph.node("Mul", graph.cast(n, np.float64), graph.constant([share], np.float64))
    size = graph.cast(graph.node("Round", part), np.int64)
    return graph.node("Max", size, graph.constant([1], np.int64)) if problem.k > 0 else size
