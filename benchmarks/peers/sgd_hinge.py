"""scikit-learn's SGDClassifier as it is: hinge loss, no average."""

from sklearn.linear_model import SGDClassifier

from benchmarks.peers.base import OnlinePeer


class SGDHinge(OnlinePeer):
    name = "SGDClassifier"
    estimator = SGDClassifier
