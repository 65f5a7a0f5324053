"""scikit-learn's passive-aggressive classifier (PA-I), in its present spelling."""

from sklearn.linear_model import SGDClassifier

from benchmarks.contestants.base import OnlineContestant


class SGDPassiveAggressive(OnlineContestant):
    name = "SGDClassifier, pa1"
    estimator = SGDClassifier
    params = {"loss": "hinge", "penalty": None, "learning_rate": "pa1", "eta0": 1.0}
