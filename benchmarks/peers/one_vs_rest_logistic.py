"""scikit-learn's OneVsRestClassifier of logistic regressions."""

from sklearn.multiclass import OneVsRestClassifier

from benchmarks.peers.base import PerLabelPeer
from benchmarks.peers.logistic_regression import SklearnLogisticRegression


class OneVsRestLogistic(PerLabelPeer):
    name = "OneVsRestClassifier(LogisticRegression)"
    wrapper = OneVsRestClassifier
    single = SklearnLogisticRegression()
