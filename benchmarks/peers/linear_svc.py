"""scikit-learn's LinearSVC (liblinear)."""

from sklearn.svm import LinearSVC

from benchmarks.peers.base import BatchPeer


class SklearnLinearSVC(BatchPeer):
    name = "LinearSVC"
    estimator = LinearSVC
