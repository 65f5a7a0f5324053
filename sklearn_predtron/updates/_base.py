"""The base of the updates."""

from __future__ import annotations

from numbers import Real
from typing import Any

from sklearn_predtron._core.problem import Problem
from sklearn_predtron._core.rule import Rule
from sklearn_predtron._support.compat import Interval
from sklearn_predtron._support.names import series
from sklearn_predtron._support.parts import Part, kinds
from sklearn_predtron.updates._comparator import Comparator
from sklearn_predtron.updates._preferences import PreferencesRule

POSITIVE = Interval(Real, 0, None, closed="neither")


class Update(Part):
    """Base of the updates W <- W + eta (rep(sigma_y) - rep(competitor)) x^T.

    `needs` names the parts that a problem must offer.  `auto_scaling` is the value of intercept_scaling="auto" under the update.
    `pairwise` says whether the margin is that of pairs of items.

    See Also
    --------
    Adaptive : The default.
    sklearn_predtron.norms.Norm : Base of the norms that measure the steps.

    Examples
    --------
    A user-defined update that builds the rule of another one:

    >>> from sklearn.datasets import load_wine
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.updates import Adaptive, Update
    >>> class Careful(Update):
    ...     def build(self, problem):
    ...         return Adaptive(kappa=0.1).build(problem)
    >>> X, y = load_wine(return_X_y=True)
    >>> PredtronClassifier(update=Careful(), cv=0, random_state=0).fit(X, y).n_updates_
    595
    """

    needs: tuple[str, ...] = ()
    auto_scaling: Any = "auto"
    pairwise = False
    _parameter_constraints: dict[str, list] = {}

    def build(self, problem: Problem) -> Rule:
        """Build the compiled rule.

        Parameters
        ----------
        problem : Problem
            The compiled problem, for its c_L and C_L.

        Returns
        -------
        Rule
            The compiled rule, untrained.
        """
        raise TypeError(f"{type(self).__name__} does not define build(); an update must.")

    def theorem(self, problem: Problem) -> str:
        """Return the name of the theorem behind `loss_bound`.

        Parameters
        ----------
        problem : Problem
            The compiled problem.

        Returns
        -------
        str
            Name of the theorem and its paper.
        """
        raise ValueError(f"No loss bound is proven for update={self}.")

    def loss_bound(self, problem: Problem, margin: float, radius: float, c_L: float) -> float:
        """Bound the online loss on data separable with a margin.

        The bound exists if `theorem` names a theorem.

        Parameters
        ----------
        problem : Problem
            The compiled problem.
        margin : float
            Margin gamma of unit-norm weights on the data.
        radius : float
            The largest length R of an input, including its intercept feature.
        c_L : float
            The least positive loss; not finite if unknown.

        Returns
        -------
        float
            Upper bound of the sum of the losses.
        """
        raise TypeError(f"{type(self).__name__} does not define loss_bound(); an update with a theorem must.")

    def unit_margin_bound(self, problem: Problem, unit_margin: float, radius: float, c_L: float) -> float:
        """Bound the online loss on data with a loss-scaled margin.

        The data are separable with a margin for each unit of loss.

        Parameters
        ----------
        problem : Problem
            The compiled problem.
        unit_margin : float
            The margin g of unit-norm weights W, with S(y) - S(sigma) >= g L(sigma, y): U = W / g has surrogate loss 0.
        radius : float
            The largest length R of an input, including its intercept feature.
        c_L : float
            The least positive loss; not finite if unknown.

        Returns
        -------
        float
            Upper bound of the sum of the losses.
        """
        raise ValueError(f"No loss bound by a unit margin is proven for update={self}; pass a margin.")

    def comparator_bound(self, problem: Problem, against: Comparator, c_L: float) -> float:
        """Bound the online loss on any data.

        The bound depends on the loss of given weights, and exists if one is proven.

        Parameters
        ----------
        problem : Problem
            The compiled problem.
        against : Comparator
            The given weights U: their length, their surrogate losses on the rows, and the radius R of the rows.
        c_L : float
            The least positive loss; not finite if unknown.

        Returns
        -------
        float
            Upper bound of the sum of the losses.
        """
        raise ValueError(f"No bound against given weights is proven for update={self}.")


def build_rule(update: Update, problem: Problem) -> Rule:
    """Return the compiled rule of an update; raise ValueError if the problem lacks a part that the update needs."""
    for need in update.needs:
        if need not in problem.offers:
            raise ValueError(lacks(update, need, problem))
    pair = problem.of_one_score
    return update.build(problem) if pair is None else PreferencesRule(update.build(pair), pair, problem.d)


def lacks(update: Update, need: str, problem: Problem) -> str:
    """Return a message on the missing parts of a problem; it names the parts that offer them, and the updates that work."""
    offering = [] if "(" in need else [repr(kind.alias) for kind in kinds(Part) if need in kind.offers]
    have = f", which {series(offering)} {'have' if len(offering) > 1 else 'has'}" if offering else ""
    fitting = [repr(kind.alias) for kind in kinds(Update) if set(kind.needs) <= set(problem.offers)]
    name = update if update.alias is None else repr(update.alias)
    return f"update={name} needs {need}{have}; accepted here are {', '.join(fitting)} and other instances of Update."
