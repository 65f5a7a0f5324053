"""The decision of one moment as plain values.

Model files keep it for predictions.  Building it again would take the parameters and, for the map of a stream, SciPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.state import accept, array, flag, real, reals, shown, whole
from sklearn_predtron.decisions._base import PLAIN, Argmax, Decision
from sklearn_predtron.decisions._calibration import (
    BinaryScores,
    Calibrated,
    ClassMap,
    ClassScores,
    CurveMap,
    LabelScores,
    RankMap,
    SignScores,
)
from sklearn_predtron.decisions._expected_cost import AnswerUpTo, ByCosts, BySets, MostExpected, MostProbable
from sklearn_predtron.decisions._fixed_threshold import CutAt
from sklearn_predtron.decisions._saved_values import checked_classes, checked_curves, checked_ranks


def plain(value: Any) -> Any:
    """Return a decision, or a part of one, as its name and its fields.

    Raise TypeError for other decisions than those of one moment.
    """
    kind = type(value)
    if kind in (Decision, Argmax):  # the probabilities of the latter are a decision of their own
        return ("Decision",)
    if kind.__name__ not in FIELDS or FIELDS[kind.__name__][0] is not kind:
        raise TypeError(f"{kind.__name__} is no decision of one moment")
    return kind.__name__, *(field(getattr(value, name)) for name, field in FIELDS[kind.__name__][1].items())


def decision_of(saved: Any) -> Any:
    """Return the decision, or the part of one, of plain values; raise ValueError for values that are damaged."""
    name = saved[0] if isinstance(saved, (tuple, list)) and saved else None
    if name == "Decision":
        return PLAIN
    if not isinstance(name, str) or name not in FIELDS:
        raise ValueError(f"where a decision is expected there is {shown(saved)}")
    kind, fields = FIELDS[name]
    values = accept(tuple(saved[1:]), tuple(READ.get(field, field) for field in fields.values()))
    return kind(**dict(zip(fields, values, strict=True)))


def check_sizes(decision: Any, problem: Any, n_labels: int) -> None:
    """Raise ValueError if a decision is not of the problem's scores, or has answers beyond the labels of predictions."""
    if type(decision) in (type(None), Decision):
        return
    of: Any = getattr(decision, "of", LabelScores())  # without `of` it decides on sets
    k: Any = getattr(problem, "k", None)
    fits = {BinaryScores: k == 2, SignScores: problem.d == 1, LabelScores: k is None}
    if not fits.get(type(of), k == getattr(of, "k", 0)):
        raise ValueError(f"it has a decision by {type(of).__name__} of other scores")
    if isinstance(decision, CutAt):
        check_shapes((decision.cuts, (of.count(problem),)))
    else:
        check_map(decision.map, of, problem)
    if isinstance(decision, ByCosts):
        check_shapes((decision.costs[:, :n_labels], (k, decision.costs.shape[1])))
    if isinstance(decision, AnswerUpTo):
        check_shapes((decision.costs, (k, k)), (decision.limits, (n_labels - 1,)))


def check_map(found: Any, of: Any, problem: Any) -> None:
    """Raise ValueError if a map is not of the problem's scores."""
    kind: Any = CurveMap if not isinstance(of, ClassScores) else RankMap if of.ranked else ClassMap
    if type(found) is not kind:
        raise ValueError(f"where a {kind.__name__} is expected there is {shown(found)}")
    if kind is RankMap:
        checked_ranks((*found[:3], tuple(found.classes)), problem)
    elif kind is ClassMap:
        checked_classes(tuple(found), problem)
    else:
        checked_curves(tuple(found), problem)
        check_shapes((found.curves, (of.count(problem), 3)))


def check_shapes(*expected: tuple[NDArray, tuple[int, ...]]) -> None:
    """Raise ValueError unless arrays have the given shapes, without a size of 0."""
    for found, shape in expected:
        if found.shape != shape or 0 in shape:
            raise ValueError(f"where an array of shape {shape} is expected there is {shown(found)}")


def matrix(value: Any) -> Any:
    """Accept an array of numbers with two dimensions."""
    return array(value, np.dtype(np.float64), value.shape if isinstance(value, np.ndarray) and value.ndim == 2 else (0, 0))


def numbers(value: Any) -> Any:
    """Accept an array of finite numbers with one dimension."""
    return reals(len(value) if isinstance(value, np.ndarray) and value.ndim == 1 else 0)(value)


COUNT = whole(1, 2**31)
READ: dict[Callable[[Any], Any], Callable[[Any], Any]] = {plain: decision_of}  # other fields are written as they are read
OF_CLASSES: dict[str, Any] = {"k": COUNT, "ranked": flag}
# The classes, and how each argument of their constructors, which is an attribute, too, is written and read.
FIELDS: dict[str, tuple[Any, dict[str, Any]]] = {
    kind.__name__: (kind, fields)
    for kind, fields in (
        (CutAt, {"of": plain, "cuts": numbers}),
        (AnswerUpTo, {"of": plain, "map": plain, "costs": matrix, "limits": numbers}),
        (ByCosts, {"of": plain, "map": plain, "costs": matrix}),
        (BySets, {"map": plain, "plug_in": plain}),
        (MostExpected, {"hits": real, "in_both": real, "missed": real}),
        (MostProbable, {"k": COUNT}),
        (Calibrated, {"of": plain, "map": plain, "agrees": flag}),
        (BinaryScores, {}),
        (SignScores, {}),
        (ClassScores, OF_CLASSES),
        (LabelScores, {}),
        (CurveMap, {"scale": numbers, "curves": matrix, "limits": matrix, "floor": numbers}),
        (ClassMap, {"mean": numbers, "scale": real, "limit": real, "k": COUNT, "parameters": numbers, "floor": real}),
        (RankMap, {"scale": numbers, "curves": matrix, "limits": matrix, "classes": plain}),
    )
}
