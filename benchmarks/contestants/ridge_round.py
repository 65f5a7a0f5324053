"""scikit-learn's Ridge on the numbers of the ranks, rounded."""

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from benchmarks.contestants.base import BatchContestant


class RoundedRidge(Ridge):
    """Predicts the nearest whole number between the least and the greatest rank seen."""

    def fit(self, X: NDArray, y: NDArray) -> "RoundedRidge":
        self.lowest, self.highest = y.min(), y.max()
        return super().fit(X, y)

    def predict(self, X: NDArray) -> NDArray:
        return np.rint(super().predict(X)).clip(self.lowest, self.highest).astype(int)


class RidgeRound(BatchContestant):
    name = "Ridge + round"
    estimator = RoundedRidge
