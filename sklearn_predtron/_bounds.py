"""What the bounds on the loss have in common: the theorems' steps, and the losses that they need to know."""

from __future__ import annotations

from typing import Any

import numpy as np


def theory_step(update: str, problem: Any, numerator: float) -> float:
    """The numerator of a theorem's step numerator / R^2, if the theorem holds and the problem knows its losses."""
    if problem.unproven is not None:
        raise ValueError(f"{update}(eta='theory') has no theorem for {problem.unproven}; give eta as a number.")
    if not np.isfinite(numerator):
        raise ValueError(
            f"{update}(eta='theory') needs c_L and C_L, which {problem.stated_by} does not state; give eta as a number."
        )
    return numerator


def least_loss(problem: Any, c_L: float) -> float:
    """c_L, for bounds that need it."""
    if not np.isfinite(c_L):
        raise ValueError(unstated(problem) + "  Pass c_L (theory.loss_constants finds it).")
    return c_L


def unstated(problem: Any) -> str:
    """What is wrong where a bound needs losses that are not known."""
    return f"loss_bound needs c_L and C_L, the least and the largest loss, which {problem.stated_by} does not state."


def bound_of_step(eta: float, c_L: float, C_L: float, margin: float, radius: float) -> float:
    """C_L^2 / (2 eta gamma^2 (1 - 2 eta R^2 / c_L)): Theorem 1 with any step eta < c_L / (2 R^2), best at half of that."""
    slack = 1 - 2 * eta * radius**2 / c_L
    if slack <= 0:
        most = c_L / (2 * radius**2)
        raise ValueError(f"No loss bound is proven for the step eta={eta:g} unless eta < c_L / (2 R^2) = {most:g}.")
    return C_L**2 / (2 * eta * margin**2 * slack)


def counts_thresholds(problem: Any) -> bool:
    """Whether the loss is at most the number of ordered thresholds between a rank and the predicted one."""
    if not problem.shared:
        return False
    rank, costs = np.arange(problem.k), problem.cost_matrix
    between = np.abs(rank[:, None] - rank)
    return costs is None or bool(((costs <= between) & ((costs > 0) | (between == 0))).all())
