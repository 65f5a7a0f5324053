"""Classifiers: predicted classes, by scores or expected cost."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron.decisions._abstain import AbstainByMargin
from sklearn_predtron.decisions._calibration import Calibrated
from sklearn_predtron.decisions._certified import AnswerUpTo
from sklearn_predtron.decisions._expected import ByCosts
from sklearn_predtron.onnx._graph import Graph
from sklearn_predtron.onnx._probabilities import (
    cheapest,
    of_both,
    of_columns,
    of_decoded,
    probabilities_of,
    probability_output,
)
from sklearn_predtron.onnx._scores import linear_map, tensor_labels, unshifted


def labels_of(model: Any) -> NDArray:
    """Return the labels that can be predicted, by number."""
    return tensor_labels(model._named(model.classes_))


def class_outputs(model: Any, real: Any) -> dict[str, Any]:
    """Return the type and the shape of each output."""
    k = len(model.classes_)
    outputs = {"label": (labels_of(model).dtype, [None]), "scores": (real, [None] if k == 2 else [None, k])}
    return {**outputs, **probability_output(model, real, [None, k])}


def draw_classes(graph: Graph, model: Any, X: str) -> list[str]:
    """Add nodes for labels, decoded scores and probabilities."""
    learned, labels, k = model._model, labels_of(model), len(model.classes_)
    problem = learned.problem
    decode = problem.decision(np.eye(problem.d))
    weights, offset = linear_map(model)
    product = graph.times(X, weights @ decode)
    decoded = graph.plus(product, offset @ decode)
    decides, calibrated, probabilities = learned.current_decision(model._decision), probabilities_of(model), None
    if calibrated is not None:
        raw = graph.plus(product, unshifted(model) @ decode)
        probabilities = draw_probabilities(graph, calibrated, raw, k, problem)
    if isinstance(decides, ByCosts):
        assert probabilities is not None
        code = cheapest(graph, probabilities, decides.costs)
    elif isinstance(decides, AnswerUpTo):
        assert probabilities is not None
        code = answer_or_reject(graph, probabilities, decides)
    elif isinstance(decides, AbstainByMargin):
        code = code_or_reject(graph, decides, decoded, k)
    else:
        code = best(graph, decoded, problem)
    label = graph.node("Gather", graph.constant(labels, labels.dtype), code)
    scores = second(graph, decoded, problem) if k == 2 else first_classes(graph, decoded, k, problem)
    return [label, scores] if probabilities is None else [label, scores, probabilities]


def draw_probabilities(graph: Graph, calibrated: Calibrated, decoded: str, k: int, problem: Any) -> str:
    """Add nodes for class probabilities, given unshifted scores."""
    if k == 2:
        return of_both(graph, of_columns(graph, calibrated, graph.as_column(second(graph, decoded, problem))))
    return of_decoded(graph, calibrated, first_classes(graph, decoded, k, problem), best(graph, decoded, problem))


def best(graph: Graph, decoded: str, problem: Any) -> str:
    """Return the number of the best prediction, and its ties."""
    of_ties = problem.predict(np.zeros((1, problem.d)))[0]
    return graph.node("ArgMax", decoded, axis=1, keepdims=0, select_last_index=int(of_ties > 0))


def code_or_reject(graph: Graph, decides: AbstainByMargin, decoded: str, k: int) -> str:
    """Return the number of the best class or of abstention."""
    values, classes = graph.node("TopK", decoded, graph.constant([2], np.int64), n_outputs=2, axis=1)
    lead = graph.node("Sub", graph.column(values, 0), graph.column(values, 1))
    first, second = graph.column(classes, 0), graph.column(classes, 1)
    least = decides.least_margin(np.indices((k, k)).reshape(2, -1).T)
    needed = graph.constant(least, graph.real)
    if np.ndim(least) > 0:  # by the two best classes
        pair = graph.node("Add", graph.node("Mul", first, graph.constant(k, np.int64)), second)
        needed = graph.node("Gather", needed, pair)
    return graph.node("Where", graph.node("GreaterOrEqual", lead, needed), first, graph.constant(k, np.int64))


def answer_or_reject(graph: Graph, probabilities: str, decides: AnswerUpTo) -> str:
    """Return the number of the answer of least expected cost, or of abstention above its limit."""
    expected = graph.times(probabilities, decides.costs)
    best = graph.node("ArgMin", expected, axis=1, keepdims=0)
    costs, _ = graph.node("TopK", expected, graph.constant([1], np.int64), n_outputs=2, axis=1, largest=0)
    limit = graph.node("Gather", graph.constant(decides.limits, graph.real), best)
    within = graph.node("LessOrEqual", graph.column(costs, 0), limit)  # false where the cost is not a number
    return graph.node("Where", within, best, graph.constant(len(decides.costs), np.int64))


def second(graph: Graph, decoded: str, problem: Any) -> str:
    """Return the second class's score, as `decision_function` does."""
    difference = graph.node("Sub", graph.column(decoded, 1), graph.column(decoded, 0))
    return graph.node("Mul", difference, graph.constant(0.5, graph.real)) if problem.d == 1 else difference


def first_classes(graph: Graph, decoded: str, k: int, problem: Any) -> str:
    """Return the decoded scores of classes, without abstention."""
    return decoded if problem.k == k else graph.node("Gather", decoded, graph.constant(np.arange(k), np.int64), axis=1)
