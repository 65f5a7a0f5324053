"""Classifiers: the class of the best decoded score, or the label of a rejected row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron.onnx._graph import Graph
from sklearn_predtron.onnx._scores import linear_map, tensor_labels


def labels_of(model: Any) -> NDArray:
    """Return what may be predicted, by its number."""
    reject = getattr(model, "reject", None)
    return tensor_labels(model.classes_ if reject is None else np.append(model.classes_, reject.label))


def class_outputs(model: Any, real: Any) -> dict[str, Any]:
    """Return the type and the shape of each output."""
    k = len(model.classes_)
    return {"label": (labels_of(model).dtype, [None]), "scores": (real, [None] if k == 2 else [None, k])}


def draw_classes(graph: Graph, model: Any, X: str) -> list[str]:
    """Return the label and the decoded scores of each row."""
    problem, labels = model._model.learner.problem, labels_of(model)
    decode = problem.decision(np.eye(problem.d))
    weights, offset = linear_map(model)
    decoded = graph.linear(X, weights @ decode, offset @ decode)
    reject = getattr(model, "reject", None)
    if reject is None or reject.rule == "code":
        of_ties = problem.predict(np.zeros((1, problem.d)))[0]
        code = graph.node("ArgMax", decoded, axis=1, keepdims=0, select_last_index=int(of_ties > 0))
    else:
        code = code_or_reject(graph, model, decoded)
    label = graph.node("Gather", graph.constant(labels, labels.dtype), code)
    return [label, decision(graph, decoded, len(model.classes_), problem)]


def code_or_reject(graph: Graph, model: Any, decoded: str) -> str:
    """Return the number of the best class, or of the rejection where its lead is not what `reject` asks for, or NaN."""
    k = len(model.classes_)
    values, classes = graph.node("TopK", decoded, graph.constant([2], np.int64), n_outputs=2, axis=1)
    lead = graph.node("Sub", graph.column(values, 0), graph.column(values, 1))
    first, second = graph.column(classes, 0), graph.column(classes, 1)
    learned = model._model
    least = (
        model._decision(learned.labels).now(learned.learner, learned.settled).least_margin(np.indices((k, k)).reshape(2, -1).T)
    )
    needed = graph.constant(least, graph.real)
    if np.ndim(least) > 0:  # by the two best classes
        pair = graph.node("Add", graph.node("Mul", first, graph.constant(k, np.int64)), second)
        needed = graph.node("Gather", needed, pair)
    return graph.node("Where", graph.node("GreaterOrEqual", lead, needed), first, graph.constant(k, np.int64))


def decision(graph: Graph, decoded: str, k: int, problem: Any) -> str:
    """Return what `decision_function` does: for two classes the score of the second."""
    if k == 2:
        difference = graph.node("Sub", graph.column(decoded, 1), graph.column(decoded, 0))
        return graph.node("Mul", difference, graph.constant(0.5, graph.real)) if problem.d == 1 else difference
    if problem.k == k:
        return decoded
    return graph.node("Gather", decoded, graph.constant(np.arange(k), np.int64), axis=1)
