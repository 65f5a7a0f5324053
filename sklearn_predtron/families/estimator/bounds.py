"""The theory of an estimator: the theorem behind its parts, and the bound on the loss suffered online."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron._core.problem import Problem
from sklearn_predtron._support.parts import real_number, resolve
from sklearn_predtron.families.estimator.model import Model
from sklearn_predtron.families.training.composition import BEGAN, MEAN, check_fixed, differs
from sklearn_predtron.updates import Update, build_rule
from sklearn_predtron.updates._bound_formulas import unstated
from sklearn_predtron.updates._comparator import Comparator


def theorem(estimator: Any) -> str:
    """Return the theorem behind the bound; raise ValueError if none is proven for the parts and the rounds so far."""
    check_is_fitted(estimator)
    model: Model = estimator._model
    weights, problem = model.learner.weights, model.learner.problem
    if weights.no_theorem_because is not None:
        raise ValueError(f"No loss bound is proven for {weights.no_theorem_because}.")
    if weights.intercept.automatic:
        raise ValueError(
            "No loss bound is proven for intercept_scaling='auto' (of taggers 'length'), whose feature moves; give a number and "
            "fit anew."
        )
    update = resolve(Update, estimator.update, "update")
    rule = build_rule(update, problem)
    if weights.has_longer_steps and rule.bounds_steps:
        raise ValueError(
            f"No loss bound is proven for the norm's q=None and update={estimator.update!r}, which takes longer steps under it "
            "than the theorem's; accepted are q='theory' and numbers."
        )
    if model.learned_with == BEGAN:
        raise ValueError("No loss bound is proven for weights that began at a model, for the theorems begin at zeros.")
    if model.learned_with == MEAN:
        raise ValueError("No loss bound is proven for the mean of several learners, as fit makes it; cv=0 learns one.")
    if differs(model, estimator._build_problem(model.labels), rule):
        raise ValueError("No loss bound is proven for rounds of different losses, representations or updates; they changed.")
    check_fixed(estimator, model)
    if problem.no_theorem_because is not None and not update.pairwise:
        raise ValueError(f"No loss bound is proven for {problem.no_theorem_because}.")
    if model.learner.weighted:
        raise ValueError("No loss bound is proven for rounds of different weights; there were some.")
    return update.theorem(problem)


def loss_bound(
    estimator: Any, margin: float | None, radius: float | None, c_L: float | None, comparator: Any, X: Any, y: Any, *ids: Any
) -> float:
    """Return the bound of an estimator by a margin, or by given weights on all rows that were learned."""
    reader = estimator._reader()
    if comparator is not None and reader.no_comparator_because is not None:
        raise ValueError(reader.no_comparator_because)
    theorem(estimator)
    model: Model = estimator._model
    update, learned = resolve(Update, estimator.update, "update"), problem_of_bounds(model)
    if not np.isfinite(learned.C_L):
        raise ValueError(unstated(learned))
    radius = None if radius is None else positive(radius, "radius")
    if comparator is not None or X is not None or y is not None:
        if margin is not None or comparator is None or X is None or y is None:
            raise ValueError("loss_bound takes a margin, or comparator, X and y together.")
        X, labels = reader.labelled(X, y, model, *ids)
        problem = estimator._build_problem(model.labels)
        if radius is None:
            check_rows_known(estimator)
        against = Comparator.of(estimator, problem, X, labels, comparator, radius, update.pairwise)
        with np.errstate(all="ignore"):
            return float(update.comparator_bound(problem, against, least_loss(model, c_L)))
    margin = positive(margin, "margin", ": the bounds are for separable data, others need a comparator")
    effective, c_L = np.float64(effective_radius(model, radius)), least_loss(model, c_L)
    with np.errstate(all="ignore"):  # a bound whose squares overflow is infinite
        return float(update.loss_bound(learned, margin, effective, c_L))


def unit_margin_bound(estimator: Any, unit_margin: float, radius: float | None, c_L: float | None) -> float:
    """Return the bound of an estimator by a margin for each unit of loss."""
    theorem(estimator)
    model: Model = estimator._model
    rate, radius = positive(unit_margin, "unit_margin"), None if radius is None else positive(radius, "radius")
    effective, c_L = np.float64(effective_radius(model, radius)), least_loss(model, c_L)
    with np.errstate(all="ignore"):
        return float(
            resolve(Update, estimator.update, "update").unit_margin_bound(problem_of_bounds(model), rate, effective, c_L)
        )


def check_rows_known(estimator: Any) -> None:
    """Refuse what asks for the rows of X, or for all predictions, where X has no rows of features."""
    because = estimator._reader().no_rows_because
    if because is not None:
        raise ValueError(because)


def problem_of_bounds(model: Model) -> Any:
    """Return the problem as the bounds take it, of sequences one of the longest that took a step."""
    problem: Any = model.learner.problem
    longest = getattr(model.learner.weights, "longest", None)
    return problem if longest is None else problem.of_length(max(longest, 1))


def effective_radius(model: Model, radius: float | None) -> float:
    """Return the radius by which a step is measured, of that of the rows or of what an update has seen."""
    weights = model.learner.weights
    if radius is not None:
        return weights.effective_radius(radius)
    if not weights.radius_needed:
        raise ValueError("radius=None is known only after an update with eta='theory'; pass the largest length of an input.")
    if weights.radius2 == 0:
        raise ValueError("radius=None is 0, for all rows so far were zero; pass the largest length of an input.")
    return weights.radius2**0.5


def least_loss(model: Model, c_L: float | None) -> float:
    """Return the least positive loss as given, as the loss states it, or as the update has seen it."""
    problem: Problem = problem_of_bounds(model)
    stated, most = problem.c_L, problem.C_L
    if c_L is None:
        return stated if np.isfinite(stated) else model.learner.update.c_L_seen
    at_most = f", and at most the largest loss, {most:g}"
    least = positive(c_L, "c_L", at_most)
    if least > most:
        raise ValueError(f"c_L={c_L} must be positive{at_most}.")
    return least


def positive(value: Any, parameter: str, reason: str = "") -> np.float64:
    """Return a positive number, of a type whose arithmetic knows infinity."""
    number = real_number(value)
    if number is None or not number > 0:
        raise ValueError(f"{parameter}={value} must be positive{reason}.")
    return np.float64(number)
