"""Compiled weights that have given scores, for tests of one round."""

import numpy as np
from scipy import sparse

from sklearn_predtron._core.averages import Average
from sklearn_predtron._core.intercept import Intercept
from sklearn_predtron._core.learner import Learner
from sklearn_predtron.families.input.reading import as_rows
from sklearn_predtron.norms._l2 import L2Weights
from sklearn_predtron.problems._user import Objects, PythonProblem
from sklearn_predtron.updates._rules import PerceptronRule


class ProblemOfScores:
    """A problem whose step brings the weights to the scores that its label is."""

    c_L = C_L = None

    def __init__(self, n_scores):
        self.n_scores = n_scores

    def decode(self, t):
        return np.zeros(self.n_scores)

    def loss(self, prediction, y):
        return 1.0

    def correct(self, y, competitor):
        return y

    def representation(self, prediction):
        return prediction


def unit_rows(n):
    """Row i is 1 in column i, and so has weights of its own."""
    return as_rows(sparse.csr_matrix(np.ones((1, 1))) if n == 1 else sparse.identity(n, format="csr"))


def weights_with_scores(t, *, by_feature=False):
    """Return weights whose scores of the unit rows are the rows of t."""
    weights = L2Weights(t.shape[1], len(t), Intercept(False, 1.0), by_feature=by_feature, averaging=False)
    learner = Learner(weights, PythonProblem(ProblemOfScores(t.shape[1]), checked=False), PerceptronRule(1.0), Average())
    learner.learn(unit_rows(len(t)), Objects(list(t)))
    assert np.array_equal(weights.last()[0].T, t)
    return weights
