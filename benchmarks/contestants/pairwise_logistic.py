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
    """A label's score is the sum of its probabilities to rank higher; rows where the two labels tie are left out."""

    def __init__(self, model: Any):
        self.model = model

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
        scores = np.zeros((len(X), self.n_labels))
        for (a, b), model in self.models.items():
            higher = model if isinstance(model, float) else model.predict_proba(X)[:, 1]
            scores[:, a] += higher
            scores[:, b] += 1 - higher
        return scores


class PairwiseLogistic(Contestant):
    name = "pairwise LogisticRegression"
    single = SklearnLogisticRegression()

    def make(self, task: Task) -> PairwiseVotes:
        return PairwiseVotes(self.single.make(task))
