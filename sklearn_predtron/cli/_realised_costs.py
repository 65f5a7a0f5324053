"""Realised costs, and the costs of the best constant prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray


@dataclass
class RealisedCosts:
    """Sums of realised costs over rows."""

    rows: int = 0
    total: float = 0.0
    constants: Any = 0.0  # of each answer that is always the same, the last axis of which is to choose from

    def add(self, realised_costs: NDArray, constants: NDArray) -> None:
        """Add rows."""
        self.rows += len(realised_costs)
        self.total += float(realised_costs.sum())
        self.constants = self.constants + constants

    @property
    def mean(self) -> float | None:
        """Return the mean cost per row, if any."""
        return self.total / self.rows if self.rows else None

    @property
    def best_constant(self) -> float | None:
        """Return the mean cost of the best constant prediction."""
        return float(self.constants.min(axis=-1).sum()) / self.rows if self.rows else None

    @property
    def savings(self) -> float | None:
        """Return 1 - realised / best constant cost; None if not finite."""
        if self.mean is None or self.best_constant is None:
            return None
        if not self.best_constant:
            return None if self.mean else 1.0
        return 1 - self.mean / self.best_constant

    def cells(self) -> list[str]:
        """Return the cells of the table of costs."""
        return ["-" if value is None else f"{value:.4f}" for value in (self.mean, self.best_constant, self.savings)]

    def figures(self, name: str) -> dict[str, float | None]:
        """Return the figures for `--json`."""
        return {f"{name}_cost": self.mean, f"{name}_best_constant_cost": self.best_constant, f"{name}_savings": self.savings}
