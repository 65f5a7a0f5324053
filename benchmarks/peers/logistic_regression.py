"""scikit-learn's LogisticRegression, given time to converge."""

from sklearn.linear_model import LogisticRegression

from benchmarks.peers.base import BatchPeer


class SklearnLogisticRegression(BatchPeer):
    name = "LogisticRegression"
    estimator = LogisticRegression
    params = {"max_iter": 2000}
