"""scikit-learn's SGDClassifier, averaged, on the differences of pairs."""

from sklearn.linear_model import SGDClassifier

from benchmarks.peers.queries import PairwisePeer


class PairwiseSGD(PairwisePeer):
    name = "pairwise SGDClassifier, averaged"
    estimator = SGDClassifier
    params = {"loss": "hinge", "average": True}
