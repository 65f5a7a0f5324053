"""Streams that grow: columns, checks and averages."""

from __future__ import annotations

import sys
from numbers import Integral
from typing import Any

import numpy as np

from sklearn_predtron._core.averages import Average, ChoosingAverage
from sklearn_predtron._core.problem import Problem
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.families.input.reading import Columns
from sklearn_predtron.families.input.tables import WarmupBuffer
from sklearn_predtron.families.model.model import evaluation_interval
from sklearn_predtron.features import ROWS_OF_STREAMS
from sklearn_predtron.norms import Norm


def check_same_table(features: Any, fitted: Any, n_features: Any) -> None:
    """Raise ValueError if the feature map prevents widening.

    It accepts no more columns than it was fitted to, and no more classes before it is fitted.
    """
    if n_features is not None:
        raise ValueError(
            f"n_features={shortened(n_features)}: features={features!r} is made of the columns of the first rows; "
            "accepted are more classes, and another fit for more columns."
        )
    if isinstance(fitted, WarmupBuffer):
        raise ValueError(
            f"classes= of features={features!r} may be widened once the map is made, of the first {ROWS_OF_STREAMS} "
            f"rows; there are {fitted.n}."
        )


def still_valid(fitted_decision: Any) -> Any:
    """Return a decision's values that remain valid.

    With more classes or labels only the cuts so far do; a certificate has lapsed.
    """
    if not fitted_decision:
        return None
    kept = {"cut": fitted_decision["cut"]} if "cut" in fitted_decision else {}
    return kept | ({"certificate": None} if "certificate" in fitted_decision else {}) or None


def wider_columns(known: Columns, n_features: Any) -> Columns:
    """Return the columns of later rows; they have their names, if any."""
    n, names, _, first = known
    if n_features is None:
        return known
    if names is not None:
        given = np.asarray(n_features, dtype=object)
        texts = given.ndim == 1 and all(isinstance(name, str) for name in given)
        if not texts or len(set(given)) < len(given) or not np.array_equal(given[:n], names):
            raise ValueError(
                f"n_features={shortened(n_features)}: learning began with named features; accepted is a list of different "
                f"names that begins with the {n} known ones, {shortened(names.tolist())}."
            )
        return Columns(len(given), given)
    if not isinstance(n_features, Integral) or isinstance(n_features, bool) or not n <= n_features <= sys.maxsize:
        raise ValueError(
            f"n_features={shortened(n_features)} must be an integer of at least {n}, the features so far (a model does "
            f"not become narrower), and at most {sys.maxsize}."
        )
    return known if n_features == n else Columns(int(n_features), first=n if first is None else first)


def check_constants(norm: Norm, given: Any, known: tuple[int, Any], wanted: tuple[int, Any]) -> None:
    """Raise ValueError if a norm's constant would change; `known` and `wanted` are numbers of scores and features."""
    before, after = norm.constants(*known), norm.constants(*wanted)
    changed = [name for name in before if before[name] != after[name]]
    if changed:
        name, several = changed[0], known[0] != wanted[0]
        sizes, wider = (f"{d} scores of {p}" if several else f"{p}" for d, p in (known, wanted))
        raise ValueError(
            f"norm={given!r} has {name}={before[name]:g} for the {sizes} features so far, and would have "
            f"{name}={after[name]:g} for {wider}, which cannot change after the first training call; give {name} to the norm."
        )


def check_takes(classes: Any, name: str, value: Any, part: Any, accepted: str) -> None:
    """Raise ValueError if a part takes no new classes; a parameter stands for the part."""
    if not part.takes_new_classes:
        raise ValueError(
            f"classes={shortened(classes)}: {name}={shortened(value)} does not take more classes than it began with; accepted is "
            f"{name}={accepted}."
        )


def average_of_width(average: Average, problem: Problem, width: Any) -> Average:
    """Return the average for a new width; candidates with many weights are evaluated less often."""
    if not isinstance(average, ChoosingAverage) or evaluation_interval(problem, width) == average.every:
        return average
    return average.charging(evaluation_interval(problem, width))
