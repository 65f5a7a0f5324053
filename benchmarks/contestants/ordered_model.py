"""statsmodels' OrderedModel: the proportional-odds model by maximum likelihood, without a penalty (optional)."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.contestants.base import Contestant
from benchmarks.contestants.ranks import PresentRanks
from benchmarks.tasks import Task

QUIET = {"skip_hessian": True, "warn_convergence": False}


class MedianRank:
    """fit and predict: the median rank; from centred columns that are not constant, as statsmodels refuses a constant."""

    def fit(self, X: NDArray, y: NDArray) -> "MedianRank":
        from statsmodels.miscmodels.ordinal_model import OrderedModel

        self.columns, self.centre = np.ptp(X, axis=0) > 0, X.mean(axis=0)
        self.found = OrderedModel(y, self.rows(X), distr="logit").fit(method="bfgs", disp=False, **QUIET)
        return self

    def rows(self, X: NDArray) -> NDArray:
        return (X - self.centre)[:, self.columns]

    def predict(self, X: NDArray) -> NDArray:
        below = self.found.model.predict(self.found.params, self.rows(X)).cumsum(axis=1)
        return (below[:, :-1] < 0.5).sum(axis=1)


class StatsmodelsOrderedModel(Contestant):
    name = "statsmodels OrderedModel"
    module = "statsmodels"
    sparse = False

    def make(self, task: Task) -> PresentRanks:
        return PresentRanks(MedianRank())
