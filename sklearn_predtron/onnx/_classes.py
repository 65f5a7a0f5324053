"""Classifiers: predicted classes, by scores or expected cost."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron.decisions._calibration import Calibrated
from sklearn_predtron.decisions._expected_cost import AnswerUpTo, ByCosts
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


def answers_by_number(model: Any) -> NDArray:
    """Return the labels that can be predicted, by number."""
    return tensor_labels(model._named(model.classes_))


def class_outputs(model: Any, real: Any) -> dict[str, Any]:
    """Return the type and the shape of each output."""
    k = len(model.classes_)
    outputs = {"label": (answers_by_number(model).dtype, [None]), "scores": (real, [None] if k == 2 else [None, k])}
    return {**outputs, **probability_output(model, real, [None, k])}


def draw_classes(graph: Graph, model: Any, X: str) -> list[str]:
    """Add nodes for labels, decoded scores and probabilities."""
    learned, labels, k = model._model, answers_by_number(model), len(model.classes_)
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
    else:
        code = best(graph, decoded, problem)
    label = graph.node("Gather", graph.constant(labels, labels.dtype), code)
    scores = second(graph, decoded, problem) if k == 2 else decoded
    return [label, scores] if probabilities is None else [label, scores, probabilities]


def draw_probabilities(graph: Graph, calibrated: Calibrated, decoded: str, k: int, problem: Any) -> str:
    """Add nodes for class probabilities, given unshifted scores."""
    if k == 2:
        return of_both(graph, of_columns(graph, calibrated, graph.as_column(second(graph, decoded, problem))))
    return of_decoded(graph, calibrated, decoded, best(graph, decoded, problem))


def best(graph: Graph, decoded: str, problem: Any) -> str:
    """Return the number of the best prediction, and its ties."""
    of_ties = problem.predict(np.zeros((1, problem.d)))[0]
    return graph.node("ArgMax", decoded, axis=1, keepdims=0, select_last_index=int(of_ties > 0))


def answer_or_reject(graph: Graph, probabilities: str, decides: AnswerUpTo) -> str:
    """Return the number of the answer of lowest expected cost, or of abstention above its limit."""
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
