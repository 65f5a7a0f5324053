"""LightGBM's lambdarank: 100 trees (optional)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contestants.queries import RankingContestant
from benchmarks.tasks import Task


class LightGBMRanker(RankingContestant):
    name = "LightGBM lambdarank"
    module = "lightgbm"

    def make(self, task: Task) -> Any:
        from lightgbm import LGBMRanker

        return LGBMRanker(objective="lambdarank", n_estimators=100, random_state=task.seed, n_jobs=1, verbose=-1)

    def fit(self, model: Any, X: Any, y: NDArray, qid: NDArray) -> Any:
        starts = np.flatnonzero(np.r_[True, qid[1:] != qid[:-1], True])
        return model.fit(X, y, group=np.diff(starts))

    def predict(self, model: Any, X: Any) -> NDArray:
        return model.booster_.predict(X, num_threads=1)
