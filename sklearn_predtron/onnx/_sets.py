"""Label sets and batches of rows as nodes of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_predtron.decisions._expected_cost import BySets, MostExpected
from sklearn_predtron.onnx._graph import Graph
from sklearn_predtron.onnx._probabilities import (
    draw_curves,
    most_expected,
    of_both,
    of_columns,
    probabilities_of,
    probability_output,
)
from sklearn_predtron.onnx._scores import linear_map, tensor_labels, unshifted


def set_outputs(model: Any, real: Any) -> dict[str, Any]:
    """Return the type and the shape of each output."""
    if model._model.labels.two is not None:
        return batch_outputs(model, real)
    shape = [None, model._model.labels.n_labels]
    outputs = {"label": (indicator_type(model), shape), "scores": (real, shape)}
    return {**outputs, **probability_output(model, real, shape)}


def indicator_type(model: Any) -> Any:
    """Return the indicators' type for tensors, given that of y."""
    return tensor_labels(np.zeros(1, dtype=model._model.labels.dtype)).dtype


def draw_sets(graph: Graph, model: Any, X: str) -> list[str]:
    """Add nodes for indicators, scores and probabilities of labels."""
    learned, m = model._model, model._model.labels.n_labels
    (scores, raw), decides = scores_and_raw(graph, model, X), learned.current_decision(model._decision)
    if isinstance(decides, BySets):
        log_odds = draw_curves(graph, decides.map, raw)
        on = plugged_in(graph, decides.plug_in, log_odds, float(decides.map.floor[0]), m)
    elif is_at_k(learned.problem):
        on = at_k(graph, scores, graph.constant([m], np.int64), learned.problem, axis=1)
    else:
        on = graph.positive(scores)
    if learned.labels.two is not None:
        label, scores = class_of(graph, model, graph.flat(on)), graph.flat(scores)
        return [label, scores, *(of_both(graph, p) for p in draw_probabilities(graph, model, raw))]
    return [graph.cast(on, indicator_type(model)), scores, *draw_probabilities(graph, model, raw)]


def scores_and_raw(graph: Graph, model: Any, X: str) -> tuple[str, str]:
    """Return the scores that predict, and the unshifted ones."""
    weights, offset = linear_map(model)
    product = graph.times(X, weights)
    return graph.plus(product, offset), graph.plus(product, unshifted(model))


def draw_probabilities(graph: Graph, model: Any, raw: str) -> list[str]:
    """Add nodes for the probability of each label, if known."""
    calibrated = probabilities_of(model)
    return [] if calibrated is None else [of_columns(graph, calibrated, raw)]


def plugged_in(graph: Graph, plug_in: Any, log_odds: str, floor: float, m: int) -> str:
    """Return the mask of labels by a plug-in rule."""
    if isinstance(plug_in, MostExpected):
        return most_expected(graph, log_odds, floor, m, (plug_in.hits, plug_in.in_both, plug_in.missed))
    return graph.node("Less", graph.positions(log_odds, graph.constant([m], np.int64), 1), graph.constant([plug_in.k], np.int64))


def batch_outputs(model: Any, real: Any) -> dict[str, Any]:
    """Return the type and the shape of each output."""
    outputs = {"label": (tensor_labels(model.classes_).dtype, [None]), "scores": (real, [None])}
    return {**outputs, **probability_output(model, real, [None, 2])}


def draw_batch(graph: Graph, model: Any, X: str) -> list[str]:
    """Add nodes for labels, scores and probabilities of rows."""
    scores, raw = scores_and_raw(graph, model, X)
    scores = graph.flat(scores)
    if is_at_k(model._model.problem):
        on = at_k(graph, scores, graph.n_rows(X), model._problem_at_k(model._model), axis=0)
    else:
        on = graph.positive(scores)
    return [class_of(graph, model, on), scores, *(of_both(graph, p) for p in draw_probabilities(graph, model, raw))]


def class_of(graph: Graph, model: Any, on: str) -> str:
    """Return the second class where true, else the first."""
    classes = tensor_labels(model.classes_)
    return graph.node("Gather", graph.constant(classes, classes.dtype), graph.cast(on, np.int64))


def is_at_k(problem: Any) -> bool:
    """Return whether exactly, or about, k labels are predicted."""
    return hasattr(problem, "loose")


def at_k(graph: Graph, scores: str, n: str, problem: Any, axis: int) -> str:
    """Return the mask of the k largest of n scores; loose rules also require a score above 0, or add those above 0."""
    best = graph.node("Less", graph.positions(scores, n, axis), set_size(graph, n, problem))
    if not problem.loose:
        return best
    return graph.node("And" if problem.recall else "Or", best, graph.positive(scores))


def set_size(graph: Graph, n: str, problem: Any) -> str:
    """Return k of n scores: a number or a share."""
    if problem.k >= 1:
        return graph.constant([int(problem.k)], np.int64)
    share = problem.k if problem.k > 0 else problem.share
    part = graph.node("Mul", graph.cast(n, np.float64), graph.constant([share], np.float64))
    size = graph.cast(graph.node("Round", part), np.int64)
    return graph.node("Max", size, graph.constant([1], np.int64)) if problem.k > 0 else size
