"""scikit-learn's OneVsRestClassifier of any learner of two classes."""

from sklearn.multiclass import OneVsRestClassifier

from benchmarks.contestants.base import Contestant, PerLabelContestant


class OneVsRest(PerLabelContestant):
    """One for each label, under the name of the learner."""

    wrapper = OneVsRestClassifier

    def __init__(self, single: Contestant):
        self.name, self.module, self.single = single.name, single.module, single
