"""scikit-learn's Ridge on the relevance."""

from sklearn.linear_model import Ridge

from benchmarks.peers.base import BatchPeer
from benchmarks.peers.queries import PointwisePeer


class RidgeRelevance(PointwisePeer, BatchPeer):
    name = "Ridge on relevance"
    estimator = Ridge
