"""Rows whose decisions have costs: what a method receives, and how its decisions are measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

TEST_SHARE, MOST_ROWS = 0.3, 10_000


@dataclass(frozen=True)
class Task:
    """A table, the classes 0, ..., k - 1 of its rows, and the costs of decisions.

    `costs` has the shape (k, m) or, by row, (n_rows, k, m), for true classes and decisions.  Decisions are the k classes and,
    at a price, abstention (m = k + 1).  `capacity` is the largest share of rows with the decision 1, `risk` the largest share of
    wrong answers.
    """

    name: str
    X: Any
    y: NDArray
    costs: NDArray
    capacity: float | None = None
    risk: float | None = None

    @property
    def k(self) -> int:
        return self.costs.shape[-2]

    @property
    def price(self) -> float | None:
        """The cost of abstention, if there is one."""
        return float(self.costs[..., -1].flat[0]) if self.costs.shape[-1] > self.k else None

    @property
    def by_row(self) -> NDArray:
        """Costs of each row."""
        return np.broadcast_to(self.costs, (len(self.y), *self.costs.shape[-2:]))

    @property
    def pairs(self) -> dict[tuple[int, int], NDArray]:
        """Costs by row of each pair (true, predicted)."""
        return {(true, answer): self.by_row[:, true, answer] for true in range(self.k) for answer in range(self.k)}

    def rows(self, rows: NDArray) -> Task:
        """Return some of the rows."""
        return replace(self, X=self.X.iloc[rows], y=self.y[rows], costs=self.costs[rows] if self.costs.ndim == 3 else self.costs)

    def split(self, seed: int) -> tuple[Task, Task]:
        """Return rows for training, at most 10,000, and 30 % for the test, stratified by class."""
        first, test = train_test_split(np.arange(len(self.y)), test_size=TEST_SHARE, stratify=self.y, random_state=seed)
        return self.rows(first[:MOST_ROWS]), self.rows(test)

    def halves(self) -> tuple[Task, Task]:
        """Return rows for training and as many for a threshold or a certificate."""
        rows = np.random.default_rng(0).permutation(len(self.y))
        return self.rows(rows[: len(rows) // 2]), self.rows(rows[len(rows) // 2 :])

    def mean_costs(self) -> NDArray:
        """Mean costs of each class and decision, over the rows of the class."""
        return np.stack([self.by_row[self.y == label].mean(axis=0)[label] for label in range(self.k)])

    def realised(self, decided: NDArray) -> float:
        """Sum of the costs of decisions."""
        return float(self.by_row[np.arange(len(self.y)), self.y, decided].sum())

    def constant(self) -> int:
        """The decision that costs least if it is taken for every row.  A capacity leaves 0."""
        return 0 if self.capacity else int(self.by_row[np.arange(len(self.y)), self.y].sum(axis=0).argmin())

    def savings(self, decided: NDArray) -> float:
        """Share of the cost of the best constant decision that decisions save."""
        return 1 - self.realised(decided) / self.realised(np.full(len(self.y), self.constant()))

    def cheapest(self, P: NDArray) -> NDArray:
        """Decide by the lowest expected cost; with a capacity, only the largest expected savings are taken."""
        expected = np.einsum("nk,nkm->nm", P, self.by_row)
        if self.capacity is None:
            return expected.argmin(axis=1)
        saving = expected[:, 0] - expected[:, 1]
        most = np.argsort(-saving, kind="stable")[: int(self.capacity * len(P))]
        decided = np.zeros(len(P), dtype=int)
        decided[most] = saving[most] > 0
        return decided
