"""scikit-learn's ClassifierChain of logistic regressions, in the order of the labels."""

from sklearn.multioutput import ClassifierChain

from benchmarks.peers.base import PerLabelPeer
from benchmarks.peers.logistic_regression import SklearnLogisticRegression


class SklearnClassifierChain(PerLabelPeer):
    name = "ClassifierChain(LogisticRegression)"
    wrapper = ClassifierChain
    single = SklearnLogisticRegression()
