"""Settings with known truth for promises: rows of Gaussian mixtures, whose conditional probabilities are exact."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from sklearn_predtron.decisions import AtLeast, AtMost
from sklearn_predtron.losses import Reject

CONFIDENCE = 0.95
ABSTAINED = -1
LIMITS = 1000  # of the oracle, quantiles of the expected cost
COMPONENTS = 2  # Gaussians of each class, so that no linear model is right
HEAVY = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [30.0, 2.0, 0.0]])


@dataclass(frozen=True)
class Truth:
    """Rows of k classes, each a mixture of Gaussians."""

    centres: NDArray
    shares: NDArray

    @classmethod
    def drawn(cls, k: int, columns: int, distance: float, shares: Sequence[float] | None = None, seed: int = 0) -> "Truth":
        """Centres of one class are half as far apart as those of two."""
        random = np.random.default_rng(seed)
        of_classes = random.standard_normal((k, 1, columns))
        within = random.standard_normal((k, COMPONENTS, columns)) / 2
        scale = distance / np.sqrt(2 * columns)
        return cls(scale * (of_classes + within), np.full(k, 1 / k) if shares is None else np.array(shares))

    def rows(self, n: int, random: np.random.Generator) -> tuple[NDArray, NDArray]:
        """Return n rows and their classes."""
        y = random.choice(len(self.shares), n, p=self.shares)
        centres = self.centres[y, random.integers(0, COMPONENTS, n)]
        return centres + random.standard_normal(centres.shape), y

    def probabilities(self, X: NDArray) -> NDArray:
        """Return the conditional probabilities of the classes."""
        k, _, columns = self.centres.shape
        flat = self.centres.reshape(-1, columns)
        heights = (X @ flat.T - (flat**2).sum(axis=1) / 2).reshape(len(X), k, COMPONENTS)
        return softmax(logsumexp(heights, axis=2) + np.log(self.shares), axis=1)


@dataclass(frozen=True)
class Setting:
    """A truth, promises, and how many held-out rows test them.

    With `groups` the sign of the first column is the group of a row.
    """

    name: str
    truth: Truth
    n: int
    promises: tuple[AtMost | AtLeast, ...]
    costs: NDArray | None = None
    groups: bool = False

    @property
    def k(self) -> int:
        """The number of classes."""
        return len(self.truth.shares)

    @property
    def table(self) -> NDArray:
        """The costs of predictions, costs[y, sigma]."""
        return 1.0 - np.eye(self.k) if self.costs is None else self.costs

    @property
    def answers(self) -> list[int] | None:
        """The predictions with a promise of their own; None if a promise depends on all predictions."""
        found = [promise.predicted for promise in self.promises]
        return None if None in found else list(dict.fromkeys(found))

    @property
    def promised(self) -> str:
        """The promises as text."""
        return ", ".join(repr(promise) for promise in self.promises)

    def reject(self) -> Reject:
        """Return a reject option that lets `certify` take the promises."""
        return Reject(risk=float(self.table.max()) / 10, confidence=CONFIDENCE, label=ABSTAINED)


def in_group(X: NDArray) -> NDArray:
    """Return the group of each row."""
    return np.where(X[:, 0] > 0, "a", "b")


def settings() -> list[Setting]:
    """Return the eight settings."""
    two, rare = Truth.drawn(2, 8, 3.0, seed=1), Truth.drawn(2, 8, 2.5, (0.85, 0.15), seed=5)
    three, ten = Truth.drawn(3, 8, 3.0, seed=3), Truth.drawn(10, 20, 5.0, seed=4)
    return [
        Setting("two classes", two, 500, (AtMost("risk", 0.1, predicted=0), AtMost("risk", 0.05, predicted=1))),
        Setting("ten classes", ten, 1000, (AtMost("risk", 0.05),)),
        Setting("conditional risk of 2 %", rare, 500, (AtMost("risk", 0.02, predicted=0),)),
        Setting("two promises", two, 500, (AtMost("risk", 0.1), AtLeast("recall", 0.5, label=1))),
        Setting("per class", three, 1000, tuple(AtMost("risk", 0.07, label=label) for label in range(3))),
        Setting("groups", rare, 1000, tuple(AtMost("risk", 0.04, predicted=0, group=g) for g in "ab"), groups=True),
        Setting("heavy-tailed costs", three, 1000, (AtMost("risk", 0.3),), costs=HEAVY),
        Setting("marginal risk", two, 500, (AtMost("risk", 0.05),)),
    ]


@dataclass(frozen=True)
class Pool:
    """Very many rows of a setting: the model's answers with their expected costs, and the true probabilities."""

    best: NDArray
    cost: NDArray
    truth: NDArray
    groups: NDArray
    costs: NDArray

    @classmethod
    def drawn(cls, setting: Setting, model: Any, n: int) -> tuple["Pool", NDArray]:
        """Return n rows, which a model has not learned, and the model's probabilities."""
        X, _ = setting.truth.rows(n, np.random.default_rng(99))
        probabilities = model.predict_proba(X)
        expected = probabilities @ setting.table
        pool = cls(expected.argmin(axis=1), expected.min(axis=1), setting.truth.probabilities(X), in_group(X), setting.table)
        return pool, probabilities

    def given(self, limits: NDArray) -> NDArray:
        """Return the answers up to a limit of the expected cost of each."""
        return np.where(self.cost <= limits[self.best], self.best, ABSTAINED)

    def measure(self, promise: Any, given: NDArray) -> float:
        """Return the measure of a promise, nan if there are no rows."""
        rows = np.ones(len(given), bool) if promise.group is None else self.groups == promise.group
        if promise.predicted is not None:
            rows &= given == promise.predicted
        weight = np.ones(len(given)) if promise.label is None else self.truth[:, promise.label]
        if promise.measure == "recall":
            value = given == promise.label
        else:
            rows &= given != ABSTAINED
            by_label = self.truth @ self.costs if promise.label is None else self.costs[[promise.label]]
            value = np.broadcast_to(by_label, (len(given), len(self.costs)))[np.arange(len(given)), given]
        total = weight[rows].sum()
        return float(weight[rows] @ value[rows] / total) if total > 0 else float("nan")

    def keeps(self, promise: Any, given: NDArray) -> bool:
        """Return whether a promise is kept."""
        value = self.measure(promise, given)
        return not (value < promise.bound if isinstance(promise, AtLeast) else value > promise.bound)

    def share(self, setting: Setting, given: NDArray) -> float:
        """Return the share of rows with an answer that has a promise."""
        answers = setting.answers
        return float((given != ABSTAINED if answers is None else np.isin(given, answers)).mean())

    def oracle(self, setting: Setting) -> float:
        """Return the largest share of rows for which the same limits would keep the promises."""
        found = np.full(setting.k, 2 * self.costs.max())
        for answer in [None] if setting.answers is None else setting.answers:
            own = [promise for promise in setting.promises if answer is None or promise.predicted == answer]
            rows = slice(None) if answer is None else self.best == answer
            for limit in np.quantile(self.cost[rows], np.arange(LIMITS, 0, -1) / LIMITS):
                found[slice(None) if answer is None else answer] = limit
                if all(self.keeps(promise, self.given(found)) for promise in own):
                    break
        return self.share(setting, self.given(found))
