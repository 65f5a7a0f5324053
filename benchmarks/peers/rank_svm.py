"""RankSVM: scikit-learn's LinearSVC on the differences of pairs."""

from sklearn.svm import LinearSVC

from benchmarks.peers.queries import PairwisePeer


class RankSVM(PairwisePeer):
    name = "RankSVM"
    estimator = LinearSVC
    params = {"C": 0.01}
