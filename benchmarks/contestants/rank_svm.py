"""RankSVM: scikit-learn's LinearSVC on the differences of pairs."""

from sklearn.svm import LinearSVC

from benchmarks.contestants.queries import PairwiseContestant


class RankSVM(PairwiseContestant):
    name = "RankSVM"
    estimator = LinearSVC
    params = {"C": 0.01}
