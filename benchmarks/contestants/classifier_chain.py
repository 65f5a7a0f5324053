"""scikit-learn's ClassifierChain of logistic regressions, in the order of the labels."""

from sklearn.multioutput import ClassifierChain

from benchmarks.contestants.base import PerLabelContestant
from benchmarks.contestants.logistic_regression import SklearnLogisticRegression


class SklearnClassifierChain(PerLabelContestant):
    name = "ClassifierChain(LogisticRegression)"
    wrapper = ClassifierChain
    single = SklearnLogisticRegression()
