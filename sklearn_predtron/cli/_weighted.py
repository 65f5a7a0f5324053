"""Rows that have weights in learning."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class WeightedRows:
    """Rows and their weights, sliced together.

    Parameters
    ----------
    values : matrix of shape (n, p)
        The rows.
    weights : ndarray of shape (n,)
        The weight of each row.
    """

    def __init__(self, values: Any, weights: NDArray):
        self.values, self.weights = values, weights

    @classmethod
    def of(cls, X: Any, y: Any, weights: NDArray) -> tuple[WeightedRows, Any]:
        """Return the rows of positive weight, and their labels."""
        there = np.flatnonzero(weights)
        return cls(X, weights)[there], y[there]

    def __getitem__(self, rows: slice | NDArray) -> WeightedRows:
        return WeightedRows(self.values[rows], self.weights[rows])

    @property
    def shape(self) -> tuple[int, int]:
        """Return the shape of the rows."""
        return self.values.shape


def split_weights(X: Any) -> tuple[Any, NDArray | None]:
    """Return the rows and their weights, if any."""
    return (X.values, X.weights) if isinstance(X, WeightedRows) else (X, None)
