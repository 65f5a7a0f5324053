"""Common parts of the bounds on the loss; they are the theorems' steps, and the losses on which these depend."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_predtron._support.capabilities import RANKED_LABELS


def theory_step(update: str, problem: Any, numerator: float) -> float:
    """Return the numerator of a theorem's step numerator / R^2.

    It exists if the theorem holds and the problem knows its losses.
    """
    if problem.no_theorem_because is not None:
        raise ValueError(f"{update}(eta='theory') has no theorem for {problem.no_theorem_because}; give eta as a number.")
    if not np.isfinite(numerator):
        raise ValueError(
            f"{update}(eta='theory') needs c_L and C_L, which {problem.constants_source} does not state; give eta as a number."
        )
    return numerator


def least_loss(problem: Any, c_L: float) -> float:
    """Return c_L, for bounds that need it."""
    if not np.isfinite(c_L):
        raise ValueError(unstated(problem) + "  Pass c_L (theory.loss_constants finds it).")
    return c_L


def unstated(problem: Any) -> str:
    """Return the message that a bound needs unknown losses."""
    return f"loss_bound needs c_L and C_L, the least and the largest loss, which {problem.constants_source} does not state."


def bound_of_step(eta: Any, c_L: float, C_L: float, margin: float, longest2: float) -> float:
    """Return C_L^2 / (eta gamma^2 (2 - eta D^2 R^2 / c_L)).

    This is Theorem 1 with any step eta < 2 c_L / (D R)^2, best at half of that.

    eta = "theory" is the best one, and longest2 is D^2 R^2.
    """
    if eta == "theory":
        return C_L**2 * longest2 / (margin**2 * c_L)
    return C_L**2 / (margin**2 * progress(eta, c_L, longest2))


def progress(eta: float, c_L: float, longest2: float) -> float:
    """Return eta (2 - eta D^2 R^2 / c_L).

    A step brings the weights closer to those without loss by this, for each unit of loss.
    """
    slack = 2 - eta * longest2 / c_L
    if slack <= 0:
        raise ValueError(
            f"No loss bound is proven for the step eta={eta:g} unless eta < 2 c_L / (D R)^2 = {2 * c_L / longest2:g}."
        )
    return eta * slack


def bound_of_fixed_step(eta: float, c_L: float, length: float, excess: float, longest2: float) -> float:
    """Return (|U|^2 + 2 eta F) / (eta (2 - eta D^2 R^2 / c_L)); the surrogate losses of the comparator U sum to F."""
    return (length**2 + 2 * eta * excess) / progress(eta, c_L, longest2)


def largest_total(excess: float, slope2: float) -> float:
    """Return the largest S with S - excess <= sqrt(slope2 S).

    This is the perceptron's argument, where `excess` is the comparator's loss.
    """
    return ((slope2**0.5 + (slope2 + 4 * excess) ** 0.5) / 2) ** 2


def check_fixed_step(update: Any) -> None:
    """Raise ValueError if the step depends on the rows."""
    if isinstance(update.eta, str):
        raise ValueError(
            f"No bound against given weights is proven for update={update}, whose step depends on the rows; give eta as a number."
        )


def check_fixed_competitor(update: Any, problem: Any) -> None:
    """Raise ValueError for rankings; their sigma_y depends on the learner's own scores."""
    if problem.sigma_y_varies:
        raise ValueError(
            f"No bound against given weights is proven for update={update} and rankings, whose sigma_y follows the scores; "
            f"accepted are Slam with a number for eta{', MMP ' if RANKED_LABELS in problem.offers else ' '}and MaxPair."
        )


def counts_thresholds(problem: Any) -> bool:
    """Return whether the loss counts ordered thresholds at most.

    It is then at most the number of thresholds between a rank and the predicted one.
    """
    if not problem.score_map.offsets_apart:
        return False
    rank, costs = np.arange(problem.k), problem.cost_matrix
    between = np.abs(rank[:, None] - rank)
    return costs is None or bool(((costs <= between) & ((costs > 0) | (between == 0))).all())
