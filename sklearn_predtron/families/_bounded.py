"""What the theory says of an estimator: the theorem behind its parts, and the bound on the loss suffered online."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron._core.learner import Learner
from sklearn_predtron._parts import real_number, resolve
from sklearn_predtron.problems._base import Problem
from sklearn_predtron.updates import Update, build_rule
from sklearn_predtron.updates._bounds import fingerprint, unstated
from sklearn_predtron.updates._comparator import Comparator

BEGAN = "a model"  # what weights that began at one have learned with


class Bounded:
    """Knows the theorem behind an estimator and its bound."""

    _learner: Learner
    _learned_with: Any
    update: Any
    _build_problem: Callable[[], Problem]
    _check_fixed: Callable[[], None]
    _rows_and_labels: Callable[..., tuple[Any, Any]]

    def _check_rows_told(self) -> None:
        """Refuse what asks for the rows of X, or for all predictions, where X has no rows of features."""

    def _differs(self, problem: Problem, update: Any) -> bool:
        """Return whether rounds so far had another loss, representation or update."""
        return getattr(self, "_learned_with", None) not in (None, fingerprint(problem, update))

    def _theorem(self) -> str:
        """Return the theorem behind the bound; raise ValueError if none is proven for the parts and the rounds so far."""
        check_is_fitted(self)
        weights, problem = self._learner.weights, self._learner.problem
        if weights.no_theorem_because is not None:
            raise ValueError(f"No loss bound is proven for {weights.no_theorem_because}.")
        if weights.intercept.automatic:
            raise ValueError(
                "No loss bound is proven for intercept_scaling='auto', whose feature moves; give a number and fit anew."
            )
        update = resolve(Update, self.update, "update")
        rule = build_rule(update, problem)
        if weights.has_longer_steps and rule.bounds_steps:
            raise ValueError(
                f"No loss bound is proven for the norm's q=None and update={self.update!r}, which takes longer steps under it "
                "than the theorem's; accepted are q='theory' and numbers."
            )
        if self._learned_with == BEGAN:
            raise ValueError("No loss bound is proven for weights that began at a model, for the theorems begin at zeros.")
        if self._differs(self._build_problem(), rule):
            raise ValueError("No loss bound is proven for rounds of different losses, representations or updates; they changed.")
        self._check_fixed()
        if problem.no_theorem_because is not None and not update.pairwise:
            raise ValueError(f"No loss bound is proven for {problem.no_theorem_because}.")
        if self._learner.weighted:
            raise ValueError("No loss bound is proven for rounds of different weights; there were some.")
        return update.theorem(problem)

    def loss_bound(
        self,
        margin: float | None = None,
        radius: float | None = None,
        c_L: float | None = None,
        *,
        comparator: Any = None,
        X: Any = None,
        y: Any = None,
    ) -> float:
        """Bound the loss suffered online, if the theory of the parts has a bound.

        None is proven for norm="scaled", which the default is for dense rows: give norm="l2" for these.

        Parameters
        ----------
        margin : float, default=None
            Margin gamma > 0 of some unit-norm weights on the data (see `margin`).
        radius : float, default=None
            The largest length of an input with the intercept's feature of length `intercept_scaling`, which `theory.radius`
            measures.  None takes what an update with eta="theory" has seen, or that of X.
        c_L : float, default=None
            The least positive loss, which `theory.loss_constants` finds for rankings (it depends on the lists) and functions of
            counts.  None takes what the loss, or an update with eta="theory", knows.
        comparator : ndarray of shape (d, n_features), or tuple (coef, intercept), default=None
            In the place of a margin, any weights U: the bound is then by their surrogate losses on X and y, which need not be
            separable.  An error for updates without such a proof, as those whose step is not fixed beforehand.
        X, y : array-like, default=None
            With `comparator`, all rows and labels that were learned; each as often as it was.

        Returns
        -------
        float
            What `cumulative_loss_` cannot exceed.  `theory.theorem_of` names the theorem.

        Examples
        --------
        >>> from sklearn_predtron import PredtronBinaryClassifier
        >>> from sklearn_predtron.theory import theorem_of
        >>> X, y = [[2.0, 1.0], [1.0, 2.0], [-1.0, -1.0], [-2.0, 0.0]], [1, 1, 0, 0]
        >>> model = PredtronBinaryClassifier(norm="l2", update="perceptron", fit_intercept=False)
        >>> model = model.partial_fit(X, y, classes=[0, 1])
        >>> model.cumulative_loss_, round(model.loss_bound(margin=2.5, radius=5**0.5), 6), theorem_of(model)
        (1.0, 3.2, "the perceptron's bound (Novikoff 1962)")
        >>> round(model.loss_bound(comparator=[[0.2, 0.2]], X=X, y=y), 6)  # margins of 1.2, 1.2, 0.8, 0.8
        2.331371
        """
        return self._loss_bound(margin, radius, c_L, comparator, X, y)

    def _loss_bound(
        self, margin: float | None, radius: float | None, c_L: float | None, comparator: Any, X: Any, y: Any, *ids: Any
    ) -> float:
        self._theorem()
        update = resolve(Update, self.update, "update")
        learned = self._problem_of_bounds()
        if not np.isfinite(learned.C_L):
            raise ValueError(unstated(learned))
        radius = None if radius is None else positive(radius, "radius")
        if comparator is not None or X is not None or y is not None:
            if margin is not None or comparator is None or X is None or y is None:
                raise ValueError("loss_bound takes a margin, or comparator, X and y together.")
            X, labels = self._rows_and_labels(X, y, *ids)
            problem = self._build_problem()
            against = Comparator.of(self, problem, X, labels, comparator, radius, update.pairwise)
            with np.errstate(all="ignore"):
                return float(update.comparator_bound(problem, against, self._least_loss(c_L)))
        margin = positive(margin, "margin", ": the bounds are for separable data, others need a comparator")
        radius, c_L = np.float64(self._effective_radius(radius)), self._least_loss(c_L)
        with np.errstate(all="ignore"):  # a bound whose squares overflow is infinite
            return float(update.loss_bound(learned, margin, radius, c_L))

    def _problem_of_bounds(self) -> Problem:
        """Return the problem as the bounds take it."""
        return self._learner.problem

    def _effective_radius(self, radius: float | None) -> float:
        """Return the radius by which a step is measured, of that of the rows or of what an update has seen."""
        weights = self._learner.weights
        if radius is not None:
            return weights.effective_radius(radius)
        if not weights.radius_needed:
            raise ValueError("radius=None is known only after an update with eta='theory'; pass the largest length of an input.")
        if weights.radius2 == 0:
            raise ValueError("radius=None is 0, for all rows so far were zero; pass the largest length of an input.")
        return weights.radius2**0.5

    def _least_loss(self, c_L: float | None) -> float:
        """Return the least positive loss as given, as the loss states it, or as the update has seen it."""
        problem = self._problem_of_bounds()
        stated, most = problem.c_L, problem.C_L
        if c_L is None:
            return stated if np.isfinite(stated) else self._learner.update.c_L_seen
        at_most = f", and at most the largest loss, {most:g}"
        least = positive(c_L, "c_L", at_most)
        if least > most:
            raise ValueError(f"c_L={c_L} must be positive{at_most}.")
        return least

    def _at_unit_norm(self, margins: NDArray) -> NDArray:
        """Margins under weights that predict the same and have norm 1; nan where these are zero."""
        length = self._learner.read(lambda weights: weights.length())
        return margins / length if length > 0 else np.full(len(margins), np.nan)


def positive(value: Any, parameter: str, reason: str = "") -> np.float64:
    """Return a positive number, of a type whose arithmetic knows infinity."""
    number = real_number(value)
    if number is None or not number > 0:
        raise ValueError(f"{parameter}={value} must be positive{reason}.")
    return np.float64(number)
