"""LightGBM on labels with an order: the median of its classifier's probabilities, and its regressor rounded (optional)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contestants.base import Contestant
from benchmarks.contestants.lightgbm_classifier import LightGBMClassifier
from benchmarks.tasks import Task


class LightGBMMedian(LightGBMClassifier):
    """The first rank that at least half of the probability is at or below."""

    name = "LightGBM, median"

    def predict(self, model: Any, X: Any) -> NDArray:
        return model.classes_[(model.predict_proba(X).cumsum(axis=1) >= 0.5).argmax(axis=1)]


class LightGBMRound(Contestant):
    """100 trees that predict the rank as a number."""

    name = "LightGBM, rounded"
    module = "lightgbm"

    def make(self, task: Task) -> Any:
        from lightgbm import LGBMRegressor

        return LGBMRegressor(n_estimators=100, random_state=task.seed, n_jobs=1, verbose=-1)

    def predict(self, model: Any, X: Any) -> NDArray:
        return np.rint(model.predict(X)).astype(int)
