"""scikit-learn's SVC with the Gaussian kernel (libsvm)."""

from sklearn.svm import SVC

from benchmarks.contestants.base import BatchContestant


class GaussianSVC(BatchContestant):
    """gamma None is "scale", 1 / (columns * variance of X)."""

    name = "SVC"
    estimator = SVC

    def __init__(self, gamma: float | None = None):
        self.params = {"gamma": "scale" if gamma is None else gamma}
