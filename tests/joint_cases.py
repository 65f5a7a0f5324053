"""Small problems of joint features for several test modules."""

import numpy as np
from scipy import sparse

from sklearn_predtron import JointProblem


def tables(n=40, k=4, p=9, seed=0):
    """Tables of features, a row for each of k predictions; the first label is not the prediction at w = 0."""
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(p)
    X = [np.round(rng.standard_normal((k, p)) * 64) / 64 * (rng.random((k, p)) < 0.6) for _ in range(n)]
    y = np.array([int((table @ w + rng.standard_normal(k)).argmax()) for table in X])
    y[0] = 1
    return X, y


class Tables(JointProblem):
    """Predictions 0 to k - 1, whose features are the rows of x."""

    n_features = 9

    def __init__(self, k, cost=None, form="dense"):
        self.k, self.cost, self.form = k, cost, form

    @property
    def costs(self):
        return 1 - np.eye(self.k) if self.cost is None else self.cost

    @property
    def c_L(self):
        return float(self.costs[self.costs > 0].min())

    @property
    def C_L(self):
        return float(self.costs.max())

    def features(self, x, prediction):
        return x[prediction] if self.form == "dense" else sparse.csr_matrix(x[prediction : prediction + 1])

    def decode(self, w, x):
        return int((x @ w).argmax())

    def loss(self, prediction, y):
        return self.costs[y, prediction]

    def augmented_decode(self, w, x, y):
        return int((x @ w + self.costs[y]).argmax())
