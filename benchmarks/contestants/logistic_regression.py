"""scikit-learn's LogisticRegression, given time to converge."""

from sklearn.linear_model import LogisticRegression

from benchmarks.contestants.base import BatchContestant


class SklearnLogisticRegression(BatchContestant):
    name = "LogisticRegression"
    estimator = LogisticRegression
    params = {"max_iter": 2000}


class BalancedLogisticRegression(SklearnLogisticRegression):
    """The same with classes of the same weight."""

    name = 'LogisticRegression(class_weight="balanced")'
    params = {"max_iter": 2000, "class_weight": "balanced"}
