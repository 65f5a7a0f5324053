"""scikit-learn's SGDClassifier as it is: hinge loss, no average."""

from sklearn.linear_model import SGDClassifier

from benchmarks.contestants.base import OnlineContestant


class SGDHinge(OnlineContestant):
    name = "SGDClassifier"
    estimator = SGDClassifier
