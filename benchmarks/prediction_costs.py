"""Costs of predictions, decisions with the lowest expected cost, and measures of probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron.losses import Reject

REJECTED = -1
BINS = 15
LEAST_PROBABILITY = 1e-15


@dataclass(frozen=True)
class ClassCosts:
    """Costs of classes 0, 1, ..., rows = true; with `reject` the model can abstain at that cost."""

    name: str
    costs: NDArray
    reject: float | None = None
    named: str | None = None  # the name of this loss in sklearn_predtron, if it has one

    @property
    def least(self) -> float:
        """The cheapest mistake."""
        return float(self.costs[self.costs > 0].min() if self.reject is None else self.reject)

    def params(self) -> dict[str, Any]:
        """Parameters of this project's estimators."""
        reject = {} if self.reject is None else {"reject": Reject(cost=self.reject, label=REJECTED)}
        return {"loss": self.named or self.costs.tolist(), **reject}

    def decide(self, P: NDArray) -> NDArray:
        """Return the predictions with the lowest expected cost under the probabilities."""
        expected = P @ self.costs
        best = expected.argmin(axis=1)
        return best if self.reject is None else np.where(expected.min(axis=1) > self.reject, REJECTED, best)

    def row_costs(self, predicted: NDArray, y: NDArray) -> NDArray:
        """Return the cost of each row."""
        cost = self.costs[y, np.maximum(predicted, 0).astype(int)]
        return cost if self.reject is None else np.where(predicted == REJECTED, self.reject, cost)


@dataclass(frozen=True)
class LabelCosts:
    """The cost of missed labels, if a false one costs 1, as a mean over the labels."""

    name: str
    missed: float = 1.0
    named: str | None = None

    @property
    def least(self) -> float:
        """The cheapest mistake, of few labels."""
        return min(self.missed, 1.0) / 5

    def params(self) -> dict[str, Any]:
        """Parameters of this project's estimators."""
        return {"loss": self.named or self}

    def decide(self, P: NDArray) -> NDArray:
        """Return the predictions with the lowest expected cost under the probabilities."""
        return (P * self.missed > 1 - P).astype(int)

    def row_costs(self, predicted: NDArray, y: NDArray) -> NDArray:
        """Return the cost of each row."""
        hits = (predicted * y).sum(axis=1)
        return (predicted.sum(axis=1) - hits + self.missed * (y.sum(axis=1) - hits)) / y.shape[1]

    def __call__(self, a: int, b: int, c: int, d: int) -> float:
        """Return the cost by true positives, false positives, false negatives and true negatives."""
        return (b + self.missed * c) / (a + b + c + d)


class LabelF1:
    """1 - F1 of each row's set of labels."""

    name = "F1"
    least = 0.5

    def params(self) -> dict[str, Any]:
        """Parameters of this project's estimators."""
        return {"loss": "f1"}

    def decide(self, P: NDArray) -> NDArray:
        """Return the most probable labels, as many as maximise the expected F1 of independent labels."""
        order = np.argsort(-P, axis=1, kind="stable")
        sizes = _expected_f1(np.take_along_axis(P, order, axis=1)).argmax(axis=1)
        chosen = np.zeros(P.shape, dtype=int)
        np.put_along_axis(chosen, order, (np.arange(P.shape[1]) < sizes[:, None]).astype(int), axis=1)
        return chosen

    def row_costs(self, predicted: NDArray, y: NDArray) -> NDArray:
        """Return the cost of each row; two empty sets are equal."""
        hits, both = (predicted * y).sum(axis=1), predicted.sum(axis=1) + y.sum(axis=1)
        return 1 - np.where(both > 0, 2 * hits / np.maximum(both, 1), 1.0)


def _expected_f1(P: NDArray) -> NDArray:
    """Of predicting the first 0, 1, ..., m labels, whose probabilities fall along a row."""
    n, m = P.shape
    found = np.empty((n, m + 1))
    found[:, 0] = np.prod(1 - P, axis=1)
    for k in range(1, m + 1):
        hits, missed = np.arange(k + 1)[:, None], np.arange(m - k + 1)[None, :]
        found[:, k] = np.einsum("na,ac,nc->n", _counts(P[:, :k]), 2 * hits / (k + hits + missed), _counts(P[:, k:]))
    return found


def _counts(P: NDArray) -> NDArray:
    """Return the probability of each number of events, which do not depend on each other."""
    found = np.zeros((len(P), P.shape[1] + 1))
    found[:, 0] = 1
    for p in P.T[:, :, None]:
        found[:, 1:] = found[:, 1:] * (1 - p) + found[:, :-1] * p
        found[:, :1] *= 1 - p
    return found


def log_loss(P: NDArray, y: NDArray) -> float:
    """Mean over the rows; of label sets over the labels, too."""
    given = np.where(y == 1, P, 1 - P) if y.ndim == 2 else P[np.arange(len(y)), y]
    return float(-np.log(np.clip(given, LEAST_PROBABILITY, 1)).mean())


def calibration_error(P: NDArray, y: NDArray) -> float:
    """Mean distance of probabilities and shares, in bins of as many of them; of all classes or labels, of two classes of one."""
    truth = y if y.ndim == 2 else np.eye(P.shape[1])[y]
    if y.ndim == 1 and P.shape[1] == 2:
        P, truth = P[:, 1], truth[:, 1]
    P, truth = P.ravel(), truth.ravel()
    bins = np.array_split(np.argsort(P, kind="stable"), BINS)
    return float(sum(abs(P[rows].sum() - truth[rows].sum()) for rows in bins) / len(P))


# -------------------------------------------------------------------------------------------------------------------- losses


def both_ways(ratios: tuple[float, ...]) -> Iterator[ClassCosts]:
    """Yield costs of two classes: a miss of the first, then of the second, is more costly."""
    for ratio in ratios:
        yield ClassCosts(f"a miss costs {ratio:g}", np.array([[0.0, 1.0], [ratio, 0.0]]))
        yield ClassCosts(f"a false alarm costs {ratio:g}", np.array([[0.0, ratio], [1.0, 0.0]]))


def unequal(shares: NDArray) -> Iterator[ClassCosts]:
    """Matrices for classes of these shares."""
    k, rarest = len(shares), int(np.argmin(shares))
    i, j = np.indices((k, k))
    wrong = (i != j).astype(float)
    yield ClassCosts("a miss of the rarest costs 20", np.where(i == rarest, 20.0, wrong) * wrong)
    yield ClassCosts("a false alarm of the rarest costs 10", np.where(j == rarest, 10.0, wrong) * wrong)
    yield ClassCosts("by distance, five times below", np.where(i > j, 5.0, 1.0) * abs(i - j))
    yield ClassCosts("drawn", np.exp(np.random.default_rng(k).normal(0, 1.2, (k, k))) * wrong)


def of_ranks(shares: NDArray) -> Iterator[ClassCosts]:
    """Yield the absolute and squared error, a triple cost of predictions above the rank, and errors of more than one rank."""
    i, j = np.indices((len(shares), len(shares)))
    distance = abs(i - j).astype(float)
    yield ClassCosts("absolute", distance, named="absolute")
    yield ClassCosts("squared", distance**2, named="squared")
    yield ClassCosts("too high costs 3", np.where(j > i, 3.0, 1.0) * distance)
    if len(shares) > 3:  # of three ranks the one in the middle is always near
        yield ClassCosts("not within 1", (distance > 1).astype(float))


def of_labels(shares: NDArray) -> Iterator[LabelCosts | LabelF1]:
    """Yield costly and cheap missed labels, and F1."""
    yield LabelCosts("a miss costs 5", 5.0)
    yield LabelCosts("a miss costs 0.2", 0.2)
    yield LabelF1()


def rejecting(losses: list[ClassCosts], parts: tuple[float, ...]) -> Iterator[ClassCosts]:
    """Yield the same losses with abstention, at a part of the mean cost of a mistake."""
    for loss in losses:
        mean = float(loss.costs[loss.costs > 0].mean())
        for part in parts:
            yield ClassCosts(f"{loss.name}; abstention {part:g}", loss.costs, part * mean, loss.named)


def zero_one(k: int) -> ClassCosts:
    """Every mistake costs 1."""
    return ClassCosts("0-1", 1 - np.eye(k), named="zero_one")
