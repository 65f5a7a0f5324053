"""Calibrated probabilities as nodes of a graph."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron.decisions._calibration import Calibrated, ClassMap, CurveMap, RankMap
from sklearn_predtron.decisions._calibration_curves import BEYOND_LIMITS, LEAD
from sklearn_predtron.onnx._graph import Graph


def probabilities_of(model: Any) -> Calibrated | None:
    """Return the current calibrator; None without probabilities."""
    learned = model._model
    calibration = learned.decision_of(model._decision).calibration
    known = calibration is not None and calibration.knows(learned.learner.observer)
    return learned.of_unseen_rows(calibration.fitted) if known else None


def probability_output(model: Any, real: Any, shape: list[int | None]) -> dict[str, Any]:
    """Return the output `probabilities`, if `predict_proba` works."""
    known = probabilities_of(model) is not None and hasattr(model, "predict_proba")
    return {"probabilities": (real, shape)} if known else {}


def of_columns(graph: Graph, calibrated: Calibrated, scores: str) -> str:
    """Return the probability of each column of scores."""
    p = above_floor(graph, graph.sigmoid(draw_curves(graph, calibrated.map, scores)), calibrated.map.floor, 2)
    return on_the_side_of(graph, scores, p) if calibrated.agrees else p


def of_decoded(graph: Graph, calibrated: Calibrated, scores: str, predicted: str) -> str:
    """Return class probabilities, given decoded scores and the best."""
    p = by_map(graph, calibrated.map, scores)
    if not calibrated.agrees:
        return p
    most = graph.node("TopK", p, graph.constant([1], np.int64), n_outputs=2, axis=1)
    column = graph.as_column(predicted)
    ahead = graph.node("Mul", most[0], graph.constant(1 + LEAD, graph.real))
    first = graph.node("Where", graph.node("Equal", most[1], column), most[0], ahead)
    on = graph.node("Equal", column, graph.constant([range(calibrated.of.k)], np.int64))
    p = graph.node("Where", on, first, p)
    return graph.node("Div", p, graph.node("ReduceSum", p, graph.constant([1], np.int64), keepdims=1))


def on_the_side_of(graph: Graph, scores: str, p: str) -> str:
    """Return probabilities above 1/2 exactly for positive scores."""
    half, one, unit = (graph.constant(value, graph.real) for value in (0.5, 1, LEAD))
    size = graph.node("Abs", scores)
    share = graph.node("Div", size, graph.node("Add", size, one))
    lead = graph.node("Mul", graph.node("Add", share, one), unit)
    above = graph.node("Max", p, graph.node("Add", half, lead))
    return graph.node("Where", graph.positive(scores), above, graph.node("Min", p, graph.node("Sub", half, lead)))


def by_map(graph: Graph, found: Any, scores: str) -> str:
    """Return class probabilities by a map of decoded scores."""
    if isinstance(found, RankMap):
        steps = graph.times(scores, differences(len(found.scale)))
        of_curves = of_ranks(graph, graph.sigmoid(draw_curves(graph, found, steps)), len(found.scale))
        both = graph.node("Add", of_curves, of_classes(graph, found.classes, scores))
        return graph.node("Div", both, graph.constant(2, graph.real))
    return of_classes(graph, found, scores)


def draw_curves(graph: Graph, found: CurveMap | RankMap, scores: str) -> str:
    """Return the log-odds of the curve of each score."""
    offset, slope, apart = (graph.constant(part, graph.real) for part in np.asarray(found.curves).T)
    s = limited(graph, scores, found.limits, found.scale)
    above = graph.node("Add", graph.node("Mul", s, slope), graph.node("Mul", graph.node("Abs", s), apart))
    return graph.node("Add", above, offset)


def limited(graph: Graph, scores: str, limits: NDArray, scale: NDArray) -> str:
    """Return scores within their limits, divided by their scale; of an excess over a limit next to nothing is added."""
    least, most = (held_limit(graph, part) for part in limits.T)
    within = graph.node("Max", graph.node("Min", scores, most), least)
    unit = graph.constant(scale, graph.real)
    rest = graph.node("Div", graph.node("Sub", scores, within), unit)
    return graph.node("Add", graph.node("Div", within, unit), beyond(graph, rest))


def limited_rows(graph: Graph, s: str, limit: float) -> str:
    """Return rows of scores, which shrink where one is beyond a limit."""
    farthest = graph.node("TopK", graph.node("Abs", s), graph.constant([1], np.int64), n_outputs=2, axis=1)[0]
    most = held_limit(graph, limit)
    within = graph.node("Min", farthest, most)
    size = graph.node("Add", within, beyond(graph, graph.node("Sub", farthest, within)))
    far = graph.node("Greater", farthest, most)
    share = graph.node("Div", size, graph.node("Where", far, farthest, graph.constant(1, graph.real)))
    return graph.node("Where", far, graph.node("Mul", s, share), s)


def held_limit(graph: Graph, limit: Any) -> str:
    """Return a limit, which is that of the type if it is none."""
    largest = float(np.finfo(graph.real).max)
    return graph.constant(np.clip(limit, -largest, largest), graph.real)


def beyond(graph: Graph, excess: str) -> str:
    """Return the share of an excess that counts."""
    share = graph.node("Div", excess, graph.node("Add", graph.node("Abs", excess), graph.constant(1, graph.real)))
    return graph.node("Mul", share, graph.constant(BEYOND_LIMITS, graph.real))


def of_both(graph: Graph, second: str) -> str:
    """Return both classes' probabilities, given the second's."""
    return graph.node("Concat", graph.node("Sub", graph.constant(1, graph.real), second), second, axis=1)


def of_classes(graph: Graph, found: ClassMap, scores: str) -> str:
    """Return the probabilities by a map of classes."""
    d, slope, offsets = len(found.mean), found.parameters[0], found.parameters[1 : 1 + found.k]
    matrix = found.parameters[1 + found.k :].reshape(-1, found.k)
    matrix = (slope * np.eye(d, found.k) if d == found.k else 0) + (matrix if len(matrix) else np.zeros((d, found.k)))
    s = graph.node("Sub", scores, graph.constant(found.mean, graph.real))
    s = limited_rows(graph, graph.node("Div", s, graph.constant(found.scale, graph.real)), found.limit)
    return above_floor(graph, graph.node("Softmax", graph.linear(s, matrix, offsets), axis=1), found.floor, found.k)


def above_floor(graph: Graph, p: str, floor: Any, k: int) -> str:
    """Return k probabilities, none below a floor."""
    return graph.node(
        "Add", graph.node("Mul", p, graph.constant(1 - k * np.asarray(floor), graph.real)), graph.constant(floor, graph.real)
    )


def of_ranks(graph: Graph, above: str, n: int) -> str:
    """Return the probabilities of ranks, given the cumulative ones.

    The n cumulative probabilities, of being above each rank but the last, are made to fall.
    """
    columns = [graph.node("Gather", above, graph.constant([j], np.int64), axis=1) for j in range(n)]
    falling = list(accumulate(columns, lambda least, column: graph.node("Min", least, column)))
    return graph.linear(graph.node("Concat", *falling, axis=1), differences(n).T, np.eye(n + 1)[0])


def differences(n: int) -> NDArray:
    """Return the matrix of differences of adjacent columns."""
    return np.eye(n + 1, n, -1) - np.eye(n + 1, n)


def cheapest(graph: Graph, probabilities: str, costs: NDArray) -> str:
    """Return the number of the prediction of lowest expected cost.

    Where that is not a number, abstention is predicted, if available.
    """
    expected = graph.times(probabilities, costs)
    best = graph.node("ArgMin", expected, axis=1, keepdims=0)
    k, n = costs.shape
    other = graph.constant(n - 1 if n > k else 0, np.int64)
    return graph.node("Where", graph.node("IsNaN", graph.column(expected, 0)), other, best)


def most_expected(graph: Graph, log_odds: str, floor: float, m: int, measure: tuple[float, float, float]) -> str:
    """Return the masks of sets with the greatest expected measure."""
    hits, in_both, missed = measure
    odds, place = graph.node("TopK", log_odds, graph.constant([m], np.int64), n_outputs=2, axis=1)
    p = above_floor(graph, graph.sigmoid(odds), floor, 2)
    columns = [graph.node("Gather", p, graph.constant([j], np.int64), axis=1) for j in range(m)]
    none = graph.node("Add", graph.node("Mul", columns[0], graph.constant(0, graph.real)), graph.constant(1, graph.real))
    above = list(accumulate(columns, lambda counts, column: with_label(graph, counts, column), initial=none))
    below = list(accumulate(columns[::-1], lambda counts, column: with_label(graph, counts, column), initial=none))[::-1]
    values = [graph.node("Gather", below[0], graph.constant([0], np.int64), axis=1)]
    for k in range(1, m + 1):
        i, j = np.arange(k + 1)[:, None], np.arange(m - k + 1)[None, :]
        size = graph.node("Add", graph.constant(k + in_both * i, graph.real), graph.constant(missed * j, graph.real))
        gain = graph.node("MatMul", above[k], graph.node("Div", graph.constant(hits * i, graph.real), size))
        value = graph.node("Mul", gain, below[k])
        values.append(graph.node("ReduceSum", value, graph.constant([1], np.int64), keepdims=1))
    size = graph.node("ArgMax", graph.node("Concat", *values, axis=1), axis=1, keepdims=1)
    return graph.node("Less", graph.node("TopK", place, graph.constant([m], np.int64), n_outputs=2, axis=1, largest=0)[1], size)


def with_label(graph: Graph, counts: str, p: str) -> str:
    """Update the distribution of the set size by a label."""
    on = graph.node("Mul", counts, p)
    off = graph.node("Sub", counts, on)
    zero = graph.node("Mul", p, graph.constant(0, graph.real))
    return graph.node("Add", graph.node("Concat", off, zero, axis=1), graph.node("Concat", zero, on, axis=1))
