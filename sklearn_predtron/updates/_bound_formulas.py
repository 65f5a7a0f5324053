"""Common parts of the bounds on the loss: the theorems' steps, and the losses that they need to know."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_predtron._support.parts import RANKED_LABELS


def theory_step(update: str, problem: Any, numerator: float) -> float:
    """The numerator of a theorem's step numerator / R^2, if the theorem holds and the problem knows its losses."""
    if problem.no_theorem_because is not None:
        raise ValueError(f"{update}(eta='theory') has no theorem for {problem.no_theorem_because}; give eta as a number.")
    if not np.isfinite(numerator):
        raise ValueError(
            f"{update}(eta='theory') needs c_L and C_L, which {problem.constants_source} does not state; give eta as a number."
        )
    return numerator


def least_loss(problem: Any, c_L: float) -> float:
    """c_L, for bounds that need it."""
    if not np.isfinite(c_L):
        raise ValueError(unstated(problem) + "  Pass c_L (theory.loss_constants finds it).")
    return c_L


def unstated(problem: Any) -> str:
    """Return the message that a bound needs unknown losses."""
    return f"loss_bound needs c_L and C_L, the least and the largest loss, which {problem.constants_source} does not state."


def bound_of_step(eta: Any, c_L: float, C_L: float, margin: float, longest2: float) -> float:
    """C_L^2 / (eta gamma^2 (2 - eta D^2 R^2 / c_L)): Theorem 1 with any step eta < 2 c_L / (D R)^2, best at half of that.

    eta = "theory" is the best one, and longest2 is D^2 R^2.
    """
    if eta == "theory":
        return C_L**2 * longest2 / (margin**2 * c_L)
    return C_L**2 / (margin**2 * progress(eta, c_L, longest2))


def progress(eta: float, c_L: float, longest2: float) -> float:
    """eta (2 - eta D^2 R^2 / c_L): how much closer a step brings the weights to those without loss, for each unit of loss."""
    slack = 2 - eta * longest2 / c_L
    if slack <= 0:
        raise ValueError(
            f"No loss bound is proven for the step eta={eta:g} unless eta < 2 c_L / (D R)^2 = {2 * c_L / longest2:g}."
        )
    return eta * slack


def bound_of_fixed_step(eta: float, c_L: float, length: float, excess: float, longest2: float) -> float:
    """(|U|^2 + 2 eta F) / (eta (2 - eta D^2 R^2 / c_L)) for a comparator U whose surrogate losses sum to F."""
    return (length**2 + 2 * eta * excess) / progress(eta, c_L, longest2)


def largest_total(excess: float, slope2: float) -> float:
    """The largest S with S - excess <= sqrt(slope2 S): the perceptron's argument, where `excess` is what the comparator loses."""
    return ((slope2**0.5 + (slope2 + 4 * excess) ** 0.5) / 2) ** 2


def check_fixed_step(update: Any) -> None:
    """Raise ValueError if the step depends on the rows."""
    if isinstance(update.eta, str):
        raise ValueError(
            f"No bound against given weights is proven for update={update}, whose step is not fixed beforehand; give eta as a "
            "number."
        )


def check_fixed_competitor(update: Any, problem: Any) -> None:
    """Raise ValueError for rankings, whose sigma_y depends on the learner's own scores."""
    if problem.sigma_y_varies:
        raise ValueError(
            f"No bound against given weights is proven for update={update} and rankings, whose sigma_y follows the scores; "
            f"accepted are Slam with a number for eta{', MMP ' if RANKED_LABELS in problem.offers else ' '}and MaxPair."
        )


def counts_thresholds(problem: Any) -> bool:
    """Whether the loss is at most the number of ordered thresholds between a rank and the predicted one."""
    if not problem.score_map.offsets_apart:
        return False
    rank, costs = np.arange(problem.k), problem.cost_matrix
    between = np.abs(rank[:, None] - rank)
    return costs is None or bool(((costs <= between) & ((costs > 0) | (between == 0))).all())
