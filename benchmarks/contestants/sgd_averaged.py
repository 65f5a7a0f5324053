"""scikit-learn's SGDClassifier, averaged."""

from sklearn.linear_model import SGDClassifier

from benchmarks.contestants.base import OnlineContestant


class SGDAveraged(OnlineContestant):
    name = "SGDClassifier, averaged"
    estimator = SGDClassifier
    params = {"loss": "hinge", "average": True}
