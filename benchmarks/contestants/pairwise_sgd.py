"""scikit-learn's SGDClassifier, averaged, on the differences of pairs."""

from sklearn.linear_model import SGDClassifier

from benchmarks.contestants.queries import PairwiseContestant


class PairwiseSGD(PairwiseContestant):
    name = "pairwise SGDClassifier, averaged"
    estimator = SGDClassifier
    params = {"loss": "hinge", "average": True}
