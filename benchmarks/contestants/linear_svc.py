"""scikit-learn's LinearSVC (liblinear)."""

from sklearn.svm import LinearSVC

from benchmarks.contestants.base import BatchContestant


class SklearnLinearSVC(BatchContestant):
    name = "LinearSVC"
    estimator = LinearSVC
