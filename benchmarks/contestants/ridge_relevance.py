"""scikit-learn's Ridge on the relevance."""

from sklearn.linear_model import Ridge

from benchmarks.contestants.base import BatchContestant
from benchmarks.contestants.queries import PointwiseContestant


class RidgeRelevance(PointwiseContestant, BatchContestant):
    name = "Ridge on relevance"
    estimator = Ridge
