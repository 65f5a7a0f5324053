"""scikit-learn's LogisticRegression, one for each pair of labels: which of the two ranks higher."""

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from benchmarks.contestants.base import Contestant
from benchmarks.contestants.logistic_regression import SklearnLogisticRegression
from benchmarks.tasks import Task


class PairwiseVotes:
    """A label's score is the sum of its probabilities to rank higher; rows where the two labels tie are left out.

    With `counted` it is the number of pairs in which the label is more probable, and the sum decides where these tie.
    """

    def __init__(self, model: Any, counted: bool = False):
        self.model = model
        self.counted = counted

    def fit(self, X: NDArray, Y: NDArray) -> "PairwiseVotes":
        self.n_labels = Y.shape[1]
        self.models = {pair: self._fitted(X, Y[:, pair[0]] - Y[:, pair[1]]) for pair in combinations(range(self.n_labels), 2)}
        return self

    def _fitted(self, X: NDArray, ahead: NDArray) -> Any:
        """The classifier, or the one probability there is where the same label always ranks higher."""
        rows = ahead != 0
        higher = ahead[rows] > 0
        if higher.min(initial=1) == higher.max(initial=0):
            return float(higher[0])
        return clone(self.model).fit(X[rows], higher) if len(higher) else 0.5

    def predict(self, X: NDArray) -> NDArray:
        sums, wins = np.zeros((2, len(X), self.n_labels))
        for (a, b), model in self.models.items():
            higher = np.full(len(X), model) if isinstance(model, float) else model.predict_proba(X)[:, 1]
            sums[:, a] += higher
            sums[:, b] += 1 - higher
            wins[:, a] += higher > 0.5
            wins[:, b] += higher < 0.5
        return wins + sums / self.n_labels if self.counted else sums


class PairwiseLogistic(Contestant):
    single = SklearnLogisticRegression()

    def __init__(self, name: str = "pairwise LogisticRegression", counted: bool = False):
        self.name = name
        self.counted = counted

    def make(self, task: Task) -> PairwiseVotes:
        return PairwiseVotes(self.single.make(task), self.counted)
