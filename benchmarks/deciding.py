"""Decisions by costs: the lowest expected cost under probabilities, tuned thresholds, and sklearn_predtron itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import make_scorer

from benchmarks.contestants.base import Contestant
from benchmarks.contestants.tuned_logistic import TunedLogistic
from benchmarks.prediction_costs import ClassCosts, LabelCosts, LabelF1
from benchmarks.tasks import Task

Loss = ClassCosts | LabelCosts | LabelF1


@dataclass(frozen=True)
class Decisions:
    """Predictions of rows for each loss, None where none are made, and their probabilities if there are any."""

    predicted: list[NDArray | None]
    probabilities: NDArray | None = None


@dataclass(frozen=True)
class ByProbabilities:
    """One fit for all losses; predictions have the lowest expected cost."""

    contestant: Contestant

    @property
    def name(self) -> str:
        return self.contestant.name

    def decide(self, split: tuple, losses: Sequence[Loss], task: Task) -> Decisions:
        """Train on the first part of a split, and predict the other."""
        X, y, X_test, _ = split
        P = self.contestant.fit(self.contestant.make(task), X, y).predict_proba(X_test)
        return Decisions([loss.decide(P) for loss in losses], P)


@dataclass(frozen=True)
class ByCut:
    """Two classes: one fit for each loss, with the threshold of the lowest cost in cross-validation; no abstention."""

    name: str = TunedLogistic.name

    def decide(self, split: tuple, losses: Sequence[Loss], task: Task) -> Decisions:
        """Train on the first part of a split, and predict the other."""
        return Decisions([self._one(split, loss, task) for loss in losses])

    def _one(self, split: tuple, loss: Loss, task: Task) -> NDArray | None:
        if not isinstance(loss, ClassCosts) or loss.reject is not None:
            return None
        X, y, X_test, _ = split
        cut = TunedLogistic(make_scorer(_average_cost, greater_is_better=False, loss=loss))
        return cut.predict(cut.fit(cut.make(task), X, y), X_test)


def _average_cost(y: NDArray, predicted: NDArray, loss: Loss) -> float:
    return float(loss.row_costs(predicted, y).mean())


@dataclass(frozen=True)
class ByItself:
    """An estimator of sklearn_predtron: one fit for each loss; probabilities are those of the default loss."""

    contestant: Contestant
    has_probabilities: bool = True

    @property
    def name(self) -> str:
        return self.contestant.name

    def decide(self, split: tuple, losses: Sequence[Loss], task: Task) -> Decisions:
        """Train on the first part of a split, and predict the other."""
        predicted: list = [np.asarray(self._fitted(split, task, loss.params()).predict(split[2])) for loss in losses]
        return Decisions(predicted, self._fitted(split, task, {}).predict_proba(split[2]) if self.has_probabilities else None)

    def _fitted(self, split: tuple, task: Task, params: dict[str, Any]) -> Any:
        model = self.contestant.make(task)
        if model.decision == "learned":  # which never abstains
            params = {name: value for name, value in params.items() if name != "reject"}
        return self.contestant.fit(model.set_params(**params), *split[:2])


Decider = ByProbabilities | ByCut | ByItself
