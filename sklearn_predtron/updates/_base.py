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

    `needs` names what a problem must offer; `auto_scaling` is what intercept_scaling="auto" stands for under the update;
    `pairwise` says that its margin is that of pairs of items.

    See Also
    --------
    Adaptive : The default.
    sklearn_predtron.norms.Norm : Base of what the steps are measured by.

    Examples
    --------
    An update of one's own that builds the rule of another one:

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
        """Make the compiled rule.

        Parameters
        ----------
        problem : Problem
            The compiled problem, for its c_L and C_L.

        Returns
        -------
        Rule
            The compiled rule, with nothing learned.
        """
        raise TypeError(f"{type(self).__name__} does not define build(); an update must.")

    def theorem(self, problem: Problem) -> str:
        """Name the theorem behind `loss_bound`.

        Parameters
        ----------
        problem : Problem
            The compiled problem.

        Returns
        -------
        str
            Its name, and the paper that has it.
        """
        raise ValueError(f"No loss bound is proven for update={self}.")

    def loss_bound(self, problem: Problem, margin: float, radius: float, c_L: float) -> float:
        """Bound the loss suffered online on data that are separable with a margin, where `theorem` names one that says so.

        Parameters
        ----------
        problem : Problem
            The compiled problem.
        margin : float
            Margin gamma of unit-norm weights on the data.
        radius : float
            The largest length R of an input, with its intercept feature.
        c_L : float
            The least positive loss, not finite where it is not known.

        Returns
        -------
        float
            What the sum of the losses cannot exceed.
        """
        raise TypeError(f"{type(self).__name__} does not define loss_bound(); an update with a theorem must.")

    def unit_margin_bound(self, problem: Problem, unit_margin: float, radius: float, c_L: float) -> float:
        """Bound the loss suffered online on data that are separable with a margin for each unit of loss.

        Parameters
        ----------
        problem : Problem
            The compiled problem.
        unit_margin : float
            The margin g of unit-norm weights W, which have S(y) - S(sigma) >= g L(sigma, y): U = W / g has no surrogate loss.
        radius : float
            The largest length R of an input, with its intercept feature.
        c_L : float
            The least positive loss, not finite where it is not known.

        Returns
        -------
        float
            What the sum of the losses cannot exceed.
        """
        raise ValueError(f"No loss bound by a unit margin is proven for update={self}; pass a margin.")

    def comparator_bound(self, problem: Problem, against: Comparator, c_L: float) -> float:
        """Bound the loss suffered online on any data by that of given weights, where such a bound is proven.

        Parameters
        ----------
        problem : Problem
            The compiled problem.
        against : Comparator
            The given weights U: their length, their surrogate losses on the rows, and the radius R of these.
        c_L : float
            The least positive loss, not finite where it is not known.

        Returns
        -------
        float
            What the sum of the losses cannot exceed.
        """
        raise ValueError(f"No bound against given weights is proven for update={self}.")


def build_rule(update: Update, problem: Problem) -> Rule:
    """Return the compiled rule of an update for a problem; refuse a problem that does not offer what the update needs."""
    for need in update.needs:
        if need not in problem.offers:
            raise ValueError(lacks(update, need, problem))
    pair = problem.of_one_score
    return update.build(problem) if pair is None else PreferencesRule(update.build(pair), pair, problem.d)


def lacks(update: Update, need: str, problem: Problem) -> str:
    """Say which parts offer what an update needs and a problem does not, and which updates work."""
    offering = [] if "(" in need else [repr(kind.alias) for kind in kinds(Part) if need in kind.offers]
    have = f", which {series(offering)} {'have' if len(offering) > 1 else 'has'}" if offering else ""
    fitting = [repr(kind.alias) for kind in kinds(Update) if set(kind.needs) <= set(problem.offers)]
    name = update if update.alias is None else repr(update.alias)
    return f"update={name} needs {need}{have}; accepted here are {', '.join(fitting)} and other instances of Update."
