"""scikit-learn's SGDClassifier, averaged, one for each label."""

from sklearn.multioutput import MultiOutputClassifier

from benchmarks.contestants.base import PerLabelContestant
from benchmarks.contestants.sgd_averaged import SGDAveraged


class MultiOutputSGDAveraged(PerLabelContestant):
    name = "MultiOutputClassifier(SGDClassifier), averaged"
    wrapper = MultiOutputClassifier
    single = SGDAveraged()
