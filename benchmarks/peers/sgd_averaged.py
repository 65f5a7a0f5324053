"""scikit-learn's SGDClassifier, averaged."""

from sklearn.linear_model import SGDClassifier

from benchmarks.peers.base import OnlinePeer


class SGDAveraged(OnlinePeer):
    name = "SGDClassifier, averaged"
    estimator = SGDClassifier
    params = {"loss": "hinge", "average": True}
