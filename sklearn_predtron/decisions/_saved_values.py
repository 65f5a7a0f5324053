"""The saved form of decisions, and its checks, which come before anything is built from saved values.

A model keeps the values that its decision was fitted to.  A model file also has the fitted decision itself for predictors:
building it again would take the parameters and, for the map of a stream, SciPy.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.state import accept, array, between, count, flag, length_of, real, reals, shown, whole
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
from sklearn_predtron.decisions._measures import CONDITIONS

LEAST = 5e-324  # above 0
LARGEST = np.finfo(float).max


def checked_values(fitted_decision: Any, problem: Any) -> Any:
    """Return the saved values of a decision; raise ValueError if they are not valid for the problem."""
    if fitted_decision is None:
        return None
    try:
        if not isinstance(fitted_decision, dict) or not fitted_decision.keys() <= CHECKS.keys():
            raise ValueError(f"where a map, a cut or a choice is expected there is {shown(fitted_decision)}")
        return {name: CHECKS[name](value, problem) for name, value in fitted_decision.items()}
    except (ValueError, OverflowError) as error:
        raise ValueError(f"The saved model is damaged: {error}.") from None


def saved_values(fitted: Any) -> Any:
    """Return the fitted values of a decision as they are saved, with plain tuples instead of maps."""
    if isinstance(fitted, dict):
        return {name: saved_values(value) for name, value in fitted.items()}
    return tuple(map(saved_values, fitted)) if isinstance(fitted, tuple) else fitted


def is_list(value: Any, n: int | None = None) -> bool:
    """Return whether a value is a sequence of n; any number of values will do if n is not given."""
    return isinstance(value, (tuple, list)) and n in (None, len(value))


def checked_map(value: Any, problem: Any) -> Any:
    """Return the moment, the smoothing and the map; its parameters are curves, a map of classes, or both for ranks."""
    parts: Any = value[2] if is_list(value, 3) else ()
    n = len(parts) if is_list(parts) else 0
    if n not in (3, 4, 5, 6):
        raise ValueError(f"where a map is expected there is {shown(parts)}")
    checked = checked_classes if n > 4 else checked_ranks if is_list(parts[-1]) else checked_curves
    moment, smoothing = accept(value[:2], (count, between(LEAST, 1)))
    return moment, smoothing, checked(parts, problem)


def checked_curves(parts: Any, problem: Any) -> CurveMap:
    """Return the map of one or of all scores."""
    m = length_of(parts, 0)
    if m not in (1, problem.d):
        raise ValueError(f"there are {m} curves, and {problem.d} scores")
    pattern = reals(m, least=LEAST), reals(m, 3), reals(m, 2), reals(m, least=0)
    return CurveMap(*with_floor(rising_curves(accept(parts, pattern)), 2))


def with_floor(parts: Any, k: int) -> Any:
    """Return a map of k probabilities, with their floor.

    The floor is the last part; raise ValueError if the probabilities cannot all be as large.
    """
    if not np.less_equal(parts[-1], 1 / k).all():
        raise ValueError(f"the least of {k} probabilities is above {1 / k}")
    return parts


def rising_curves(parts: Any) -> Any:
    """Return curves if they rise and their limits are in order."""
    if not (parts[1][:, 1] > np.abs(parts[1][:, 2])).all():
        raise ValueError("a curve falls")
    if not (parts[2][:, 0] <= parts[2][:, 1]).all():
        raise ValueError("the least score is above the largest")
    return parts


def checked_classes(parts: Any, problem: Any) -> ClassMap:
    """Return the map of classes; a code for rejections is not one of them."""
    most = getattr(problem, "k", 0)
    k = length_of(parts, 0)
    n = length_of(parts, 4)
    if k != most or n not in (1 + k, 1 + k + k * k):
        raise ValueError(f"a map of {k} classes has {n} numbers")
    pattern = reals(k), between(LEAST, LARGEST), between(0, LARGEST), whole(k, k), reals(n), between(0, 1)
    return ClassMap(*with_floor(accept(parts, pattern), k))


def checked_ranks(parts: Any, problem: Any) -> RankMap:
    """Return the map of ranks."""
    found = checked_classes(parts[-1], problem)
    n = len(found[0]) - 1
    scale, curves, limits = rising_curves(accept(parts[:3], (reals(n, least=LEAST), reals(n, 3), reals(n, 2))))
    return RankMap(scale, curves, limits, found)


def checked_cut(value: Any, problem: Any) -> Any:
    """Return the moment, the measure's name, and its cuts."""
    cuts = value[2] if is_list(value, 3) else ()
    if not is_list(cuts) or not 1 <= len(cuts) <= problem.d:
        raise ValueError(f"where cuts are expected there is {shown(value)}")
    return *accept(value[:1], (count,)), value[1], accept(cuts, (real,) * len(cuts))


def checked_choice(value: Any, problem: Any) -> Any:
    """Return the moment, the measure's parameters, and the choice of the rule.

    The choice is whether the plug-in rule was better.
    """
    n = len(value[1]) if is_list(value, 3) and is_list(value[1]) else 0
    return accept(value, (count, (between(0, LARGEST),) * n, flag))


def checked_moment(value: Any, problem: Any) -> Any:
    """Return the number of rows recorded in an epoch; it is the first of several."""
    return accept((value,), (count,))[0]


def checked_number(value: Any, problem: Any) -> Any:
    """Return the cut chosen on the rows of `fit`."""
    return real(value)


def checked_certificate(value: Any, problem: Any) -> Any:
    """Return the terms and the findings of a certificate; None if it lapsed.

    The terms are the moment, smoothing, costs, confidence and promises for which it holds.
    """
    if value is None:
        return None
    k, share = length_of(value, 8), between(LEAST, 1)
    if not is_list(value, 9) or not is_list(value[4]) or not is_list(value[7]):
        raise ValueError(f"where a certificate is expected there is {shown(value)}")
    promise = promise_of(k)
    results = ((promise, flag, count, any_real, between(0, 1)),) * len(value[7])
    terms = count, share, reals(k * k, least=0), share, (promise,) * len(value[4])
    found = accept(value, (*terms, count, count, results, reals(k)))
    if found[6] > found[5]:
        raise ValueError("a certificate is of more rows than there were")
    return found


def promise_of(k: int) -> Any:
    """Accept the terms of a promise about k classes.

    Bounds of measures are above 0; a function, of which the name is saved, may have any.
    """

    def field(value: Any) -> Any:
        measured = is_list(value, 6) and value[1] in CONDITIONS
        bound = between(LEAST, LARGEST) if measured else real
        return accept(value, (flag, text, bound, optional_class(k), optional_class(k), plain))

    return field


def optional_class(k: int) -> Any:
    """Accept the number of a class, or None."""
    return lambda value: None if value is None else whole(0, k - 1)(value)


def text(value: Any) -> str:
    """Accept a string."""
    if not isinstance(value, str):
        raise ValueError(f"{shown(value)} is no text")
    return value


def plain(value: Any) -> Any:
    """Accept a string, a number or None."""
    if not isinstance(value, (str, int, float, type(None))):
        raise ValueError(f"{shown(value)} is no text or number")
    return value


def any_real(value: Any) -> float:
    """Return a number, or nan."""
    return float("nan") if value != value else real(value)


def checked_tempered(value: Any, problem: Any) -> Any:
    """Return the temperature, biases and limit for sequences; the scores of their labels are read by them."""
    return accept(value, (between(LEAST, LARGEST), (real,) * problem.d, between(LEAST, LARGEST)))


def checked_constrained(value: Any, problem: Any) -> Any:
    """Return the moment, the terms and the constrained costs.

    The terms are the costs, the confidence and the constraints; with the constrained costs come the results of the bounds.
    """
    k = getattr(problem, "k", 2)
    tables = 1 if hasattr(problem, "k") else problem.d
    terms: Any = value[1] if is_list(value, 3) else ()
    if not is_list(terms, 3) or not all(map(is_list, terms[::2])):
        raise ValueError(f"where constrained costs are expected there is {shown(value)}")
    n = len(terms[0])
    if n not in (tables * k * k, k * (k + 1)):
        raise ValueError(f"there are {n} costs of {k} classes")
    constraint = whole(0, tables - 1), promise_of(k)
    confidence = None if terms[1] is None else between(LEAST, 1)(terms[1])
    results = ((flag, count, any_real, p_value),) * len(terms[2])
    moment, costs, constraints, found = accept(
        (value[0], terms[0], terms[2], value[2]), (count, (real,) * n, (constraint,) * len(terms[2]), ((real,) * n, results))
    )
    return moment, (costs, confidence, constraints), found


def checked_capacity(value: Any, problem: Any) -> Any:
    """Return the terms of a capacity, which are a bound and its confidence, and the least saving of its answers."""
    if not is_list(value, 2) or not is_list(value[0], 7):
        raise ValueError(f"where a capacity is expected there is {shown(value)}")
    (*bound, confidence), limit = value
    terms = promise_of(getattr(problem, "k", 2))(tuple(bound))
    return (*terms, None if confidence is None else between(LEAST, 1)(confidence)), between(0, LARGEST)(limit)


def p_value(value: Any) -> float:
    """Return a p-value, or nan of a measure without a test."""
    return float("nan") if value != value else between(0, 1)(value)


CHECKS = {
    "capacity": checked_capacity,
    "constrained": checked_constrained,
    "certificate": checked_certificate,
    "map": checked_map,
    "cut": checked_cut,
    "plug_in": checked_choice,
    "fitted": checked_number,
    "first_epoch": checked_moment,
    "tempered": checked_tempered,
}


# -------------------------------------------------------------------------------------------------------- fitted decisions


def plain_decision(value: Any) -> Any:
    """Return a fitted decision, or a part of one, as its name and its fields; raise TypeError for other decisions."""
    kind = type(value)
    name = kind.__name__
    if kind in (Decision, Argmax):  # the probabilities of the latter are a decision of their own
        return ("Decision",)
    if name in MAPS:
        return name, *(plain_decision(part) if isinstance(part, ClassMap) else part for part in value)
    if name not in FIELDS or FIELDS[name][0] is not kind:
        raise TypeError(f"{name} is no fitted decision")
    fields = FIELDS[name][1].items()
    return name, *((read or plain_decision)(getattr(value, part)) for part, read in fields)


def decision_of(saved: Any, problem: Any) -> Any:
    """Return the decision, or the part of one, of plain values; raise ValueError for values that are damaged."""
    name = saved[0] if is_list(saved) and saved else None
    if name == "Decision":
        return PLAIN
    if isinstance(name, str) and name in MAPS:
        return MAPS[name](saved[1:], problem)
    if not isinstance(name, str) or name not in FIELDS:
        raise ValueError(f"where a decision is expected there is {shown(saved)}")
    kind, fields = FIELDS[name]
    pattern = tuple(partial(decision_of, problem=problem) if read is None else read for read in fields.values())
    return kind(**dict(zip(fields, accept(tuple(saved[1:]), pattern), strict=True)))


def checked_named_ranks(parts: Any, problem: Any) -> RankMap:
    """Return the map of ranks; its map of classes is saved with a name."""
    if not is_list(parts, 4):
        raise ValueError(f"where a map of ranks is expected there is {shown(parts)}")
    return checked_ranks((*parts[:3], decision_of(parts[3], problem)), problem)


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
        return
    kind: Any = CurveMap if not isinstance(of, ClassScores) else RankMap if of.ranked else ClassMap
    if type(decision.map) is not kind:
        raise ValueError(f"where a {kind.__name__} is expected there is {shown(decision.map)}")
    if kind is CurveMap:
        check_shapes((decision.map.curves, (of.count(problem), 3)))
    if isinstance(decision, ByCosts):
        check_shapes((decision.costs[:, :n_labels], (k, decision.costs.shape[1])))
    if isinstance(decision, AnswerUpTo):
        check_shapes((decision.costs, (k, k)), (decision.limits, (n_labels - 1,)))


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
MAPS = {
    "CurveMap": checked_curves,
    "ClassMap": checked_classes,
    "RankMap": checked_named_ranks,
}
# The classes, and how each argument of their constructors, which is an attribute, too, is checked; None is a decision or a map.
FIELDS: dict[str, tuple[Any, dict[str, Any]]] = {
    kind.__name__: (kind, fields)
    for kind, fields in (
        (CutAt, {"of": None, "cuts": numbers}),
        (AnswerUpTo, {"of": None, "map": None, "costs": matrix, "limits": numbers}),
        (ByCosts, {"of": None, "map": None, "costs": matrix}),
        (BySets, {"map": None, "plug_in": None}),
        (MostExpected, {"hits": real, "in_both": real, "missed": real}),
        (MostProbable, {"k": COUNT}),
        (Calibrated, {"of": None, "map": None, "agrees": flag}),
        (BinaryScores, {}),
        (SignScores, {}),
        (ClassScores, {"k": COUNT, "ranked": flag}),
        (LabelScores, {}),
    )
}
