"""The theory of a fitted estimator; it has the theorem behind the parts, and bounds on the loss suffered online."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron._core.problem import Problem
from sklearn_predtron._support.numbers import real_number
from sklearn_predtron._support.parts import resolve
from sklearn_predtron.families.model.model import Model
from sklearn_predtron.families.training.factory import BEGAN, MEAN, check_fixed, differs
from sklearn_predtron.updates import Update, build_rule
from sklearn_predtron.updates._comparator import Comparator
from sklearn_predtron.updates._shared_bounds import unstated


class LossBounds:
    """Bounds on the loss an estimator has suffered.

    There are bounds if there is a theorem for its parts.

    Parameters
    ----------
    estimator : BasePredtron
        A fitted estimator.
    """

    def __init__(self, estimator: Any):
        self.estimator = estimator
        self.model: Model = estimator._model

    @property
    def update(self) -> Update:
        """The update of the present parameters."""
        return resolve(Update, self.estimator.update, "update")

    def theorem(self) -> str:
        """Return the theorem behind the bound; raise ValueError if none is proven for the parts and the rounds so far."""
        estimator, model = self.estimator, self.model
        check_is_fitted(estimator)
        weights, problem = model.learner.weights, model.problem
        if weights.no_theorem_because is not None:
            raise ValueError(f"No loss bound is proven for {weights.no_theorem_because}.")
        if weights.intercept.automatic:
            raise ValueError(
                "No loss bound is proven for intercept_scaling='auto' (of taggers 'length'), whose feature moves; give a number "
                "and fit again."
            )
        update = self.update
        rule = build_rule(update, problem)
        if weights.has_longer_steps and rule.bounds_steps:
            raise ValueError(
                f"No loss bound is proven for the norm's q=None and update={estimator.update!r}, which takes longer steps under "
                "it than the theorem's; accepted are q='theory' and numbers."
            )
        if model.training_parts == BEGAN:
            raise ValueError("No loss bound is proven for weights that began at a model, for the theorems begin at zeros.")
        if model.training_parts == MEAN:
            raise ValueError("No loss bound is proven for a mean of fold models, the result of fit; cv=0 trains one model.")
        if differs(model, estimator._build_problem(model.labels), rule):
            raise ValueError("No loss bound is proven for rounds of different losses, representations or updates; they changed.")
        check_fixed(estimator, model)
        if problem.no_theorem_because is not None and not update.pairwise:
            raise ValueError(f"No loss bound is proven for {problem.no_theorem_because}.")
        if model.learner.replayed:
            raise ValueError("No loss bound is proven for rows that were learned again; update=Adaptive(replay=False) does not.")
        if model.learner.weighted:
            raise ValueError("No loss bound is proven for rounds of different weights; there were some.")
        return update.theorem(problem)

    def loss_bound(
        self, margin: float | None, radius: float | None, c_L: float | None, comparator: Any, X: Any, y: Any, *ids: Any
    ) -> float:
        """Return the bound by a margin or by weights; the weights are given, and evaluated on all rows of training."""
        estimator, model = self.estimator, self.model
        reader = estimator._reader()
        if comparator is not None and reader.no_comparator_because is not None:
            raise ValueError(reader.no_comparator_because)
        self.theorem()
        update, learned = self.update, self.problem
        if not np.isfinite(learned.C_L):
            raise ValueError(unstated(learned))
        radius = None if radius is None else positive(radius, "radius")
        if comparator is not None or X is not None or y is not None:
            if margin is not None or comparator is None or X is None or y is None:
                raise ValueError("loss_bound takes a margin, or comparator, X and y together.")
            X, labels = reader.labelled(X, y, model, *ids)
            problem = estimator._build_problem(model.labels)
            if radius is None:
                estimator._check_rows_known()
            against = Comparator.of(estimator, problem, X, labels, comparator, radius, update.pairwise)
            with np.errstate(all="ignore"):
                return float(update.comparator_bound(problem, against, self.least_loss(c_L)))
        margin = positive(margin, "margin", ": the bounds are for separable data, others need a comparator")
        effective, c_L = np.float64(self.effective_radius(radius)), self.least_loss(c_L)
        with np.errstate(all="ignore"):  # a bound whose squares overflow is infinite
            return float(update.loss_bound(learned, margin, effective, c_L))

    def unit_margin_bound(self, unit_margin: float, radius: float | None, c_L: float | None) -> float:
        """Return the bound by a margin, per unit loss."""
        self.theorem()
        rate, radius = positive(unit_margin, "unit_margin"), None if radius is None else positive(radius, "radius")
        effective, c_L = np.float64(self.effective_radius(radius)), self.least_loss(c_L)
        with np.errstate(all="ignore"):
            return float(self.update.unit_margin_bound(self.problem, rate, effective, c_L))

    @property
    def problem(self) -> Any:
        """The problem of the bounds; for sequences it is that of the longest sequence with an update."""
        problem: Any = self.model.problem
        longest = getattr(self.model.learner.weights, "longest", None)
        return problem if longest is None else problem.of_length(max(longest, 1))

    def effective_radius(self, radius: float | None) -> float:
        """Return the radius that limits a step.

        It is computed from that of the rows; None is the one that the update recorded.
        """
        weights = self.model.learner.weights
        if radius is not None:
            return weights.effective_radius(radius)
        if not weights.radius_needed:
            raise ValueError("radius=None is known only after an update with eta='theory'; pass the largest length of an input.")
        if weights.radius2 == 0:
            raise ValueError("radius=None is 0, for all rows so far were zero; pass the largest length of an input.")
        return weights.radius2**0.5

    def least_loss(self, c_L: float | None) -> float:
        """Return the least positive loss; it is as given, as stated by the loss, or as recorded by the update."""
        problem: Problem = self.problem
        stated, most = problem.c_L, problem.C_L
        if c_L is None:
            return stated if np.isfinite(stated) else self.model.learner.update.c_L_seen
        at_most = f", and at most the largest loss, {most:g}"
        least = positive(c_L, "c_L", at_most)
        if least > most:
            raise ValueError(f"c_L={c_L} must be positive{at_most}.")
        return least


def positive(value: Any, parameter: str, reason: str = "") -> np.float64:
    """Return a positive number that allows infinity; the arithmetic of its type knows infinity."""
    number = real_number(value)
    if number is None or not number > 0:
        raise ValueError(f"{parameter}={value} must be positive{reason}.")
    return np.float64(number)
