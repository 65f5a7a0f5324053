"""Rankings of documents and of labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_predtron.onnx._graph import Graph
from sklearn_predtron.onnx._scores import linear_map


def document_outputs(model: Any, real: Any) -> dict[str, Any]:
    """Return the type and the shape of each output."""
    return {"scores": (real, [None]), "positions": (np.int64, [None])}


def draw_documents(graph: Graph, model: Any, X: str) -> list[str]:
    """Add nodes for scores, and for ranks of one query."""
    scores = graph.flat(graph.linear(X, *linear_map(model)))
    return [scores, from_one(graph, graph.positions(scores, graph.n_rows(X), axis=0))]


def label_outputs(model: Any, real: Any) -> dict[str, Any]:
    """Return the type and the shape of each output."""
    shape = [None, model._model.labels.n_labels]
    return {"positions": (np.int64, shape), "scores": (real, shape)}


def draw_labels(graph: Graph, model: Any, X: str) -> list[str]:
    """Add nodes for the ranks and scores of labels."""
    m, scores = model._model.labels.n_labels, graph.linear(X, *linear_map(model))
    if model._model.problem.of_one_score is not None:
        scores = votes(graph, scores, m)
    positions = graph.positions(scores, graph.constant([m], np.int64), axis=1)
    return [from_one(graph, positions), scores]


def from_one(graph: Graph, positions: str) -> str:
    """Return positions counted from 1."""
    return graph.node("Add", positions, graph.constant(1, np.int64))


def votes(graph: Graph, scores: str, m: int) -> str:
    """Return each label's pairwise wins, and its scaled scores."""
    ahead, behind = np.triu_indices(m, 1)
    if len(ahead) == 0:  # a single label, whose score is of no pair
        return graph.node("Mul", scores, graph.constant(0, graph.real))
    first, second = np.eye(m)[ahead], np.eye(m)[behind]
    won = graph.node("MatMul", graph.cast(graph.positive(scores), graph.real), graph.constant(first, graph.real))
    against = graph.positive(graph.node("Neg", scores))
    lost = graph.node("MatMul", graph.cast(against, graph.real), graph.constant(second, graph.real))
    sizes = graph.node("Abs", scores)
    largest = graph.node("TopK", sizes, graph.constant([1], np.int64), n_outputs=2, axis=1)[0]
    unit = graph.node("Max", largest, graph.constant(np.finfo(graph.real).tiny, graph.real))  # so that no sum overflows
    margin = graph.node("MatMul", graph.node("Div", scores, unit), graph.constant(first - second, graph.real))
    ones = graph.constant(np.ones((len(ahead), 1)), graph.real)
    total = graph.node("Max", graph.node("MatMul", graph.node("Div", sizes, unit), ones), graph.constant(1, graph.real))
    share = graph.node("Div", margin, graph.node("Mul", total, graph.constant(4, graph.real)))
    return graph.node("Add", graph.node("Add", won, lost), share)
