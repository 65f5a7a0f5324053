"""scikit-learn's OneVsRestClassifier of logistic regressions."""

from sklearn.multiclass import OneVsRestClassifier

from benchmarks.contestants.base import PerLabelContestant
from benchmarks.contestants.logistic_regression import SklearnLogisticRegression


class OneVsRestLogistic(PerLabelContestant):
    name = "OneVsRestClassifier(LogisticRegression)"
    wrapper = OneVsRestClassifier
    single = SklearnLogisticRegression()
