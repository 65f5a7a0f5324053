"""The rounds of each epoch: which rows, how often, in which order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Epochs:
    """Rounds for `Learner.learn`, epoch by epoch.

    Rows in the given order keep their weights.  In shuffled epochs weights are frequencies: each epoch is a systematic sample,
    with as many rounds as there are rows of positive weight, in which a row appears in proportion to its weight, rounded up
    or down at random.

    Parameters
    ----------
    n : int
        Number of rows.
    there : ndarray of shape (n_present,) or None
        The rows of positive weight; None is all.
    weight : ndarray of shape (n,) or None
        Weights of the rows; None is 1.
    random : Generator or None
        What shuffles the rows; None takes them in the given order.
    """

    def __init__(self, n: int, there: NDArray | None, weight: NDArray | None, random: np.random.Generator | None):
        self.there, self.weight, self.random = there, weight, random
        self.rows = np.arange(n) if there is None else there
        self.usual = 1.0  # what a round weighs where rows appear in proportion to their weights
        self.ends: NDArray | None = None
        if random is not None and weight is not None:
            self._resample(weight[self.rows], random)

    def _resample(self, weight: NDArray, random: np.random.Generator) -> None:
        """Lay the rows on a line, in random order, each as long as it is to appear."""
        most = weight.max()  # relative to it no sum overflows
        self.weight, self.usual = None, float(most)
        if weight.min() < most:
            self.usual *= float(np.mean(weight / most))
            places = random.permutation(len(weight))
            self.rows = self.rows[places]
            self.ends = np.cumsum(weight[places] / most)
            self.ends *= len(weight) / self.ends[-1]
            np.minimum(self.ends, len(weight), out=self.ends)  # rounding
            self.ends[-1] = len(weight)

    def draw(self, *, counted: bool) -> dict[str, Any]:
        """Return the arguments of the learner for the next epoch; `counted` says that rows count once for the observer."""
        if self.random is None:
            return {"order": self.there, "weight": self.weight}
        order = self.random.permutation(self._sample(self.random)).astype(np.intp, copy=False)
        first = first_appearances(order) if counted and self.ends is not None else None
        return {"order": order, "usual": self.usual, "counts": first}

    def _sample(self, random: np.random.Generator) -> NDArray:
        """Return the rows of an epoch."""
        if self.ends is None:
            return self.rows
        marks = np.ceil(self.ends - random.random())  # how many of the points 0, 1, ... + offset lie before each end
        return np.repeat(self.rows, np.diff(marks, prepend=0).astype(np.intp))


def first_appearances(order: NDArray) -> NDArray:
    """Return how often the row of each round appears, 0 where it has appeared before: then it is no longer new."""
    times, first = np.bincount(order), np.zeros(order.max(initial=-1) + 1, dtype=np.intp)
    first[order[::-1]] = np.arange(len(order))[::-1]
    counts = np.zeros(len(order))
    counts[first[times > 0]] = times[times > 0]
    return counts
