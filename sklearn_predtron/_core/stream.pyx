# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The short way from one row in Python's hands to the loop."""
import numpy as np

from sklearn_predtron._core.learner cimport Learner
from sklearn_predtron._core.problem cimport Codes
from sklearn_predtron._core.rows cimport Rows
from sklearn_predtron._core.rows import dense_rows


def plain_rows(X, Py_ssize_t p):
    """Rows of X if it is a finite, C-contiguous float32 or float64 array of p features; else None."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.shape[1] != p or X.shape[0] == 0:
        return None
    if (X.dtype != np.float64 and X.dtype != np.float32) or not X.flags.c_contiguous or not X.dtype.isnative:
        return None
    rows = dense_rows(X)
    return rows if rows.finite() else None


cdef class Stream:
    """A learner, the numbers of its classes and their weights: takes one labelled row at a time."""
    cdef Learner learner
    cdef dict codes
    cdef const double[::1] class_weight
    cdef Py_ssize_t[::1] code
    cdef double[::1] weight
    cdef Codes labels

    def __init__(self, Learner learner not None, dict codes not None, const double[::1] class_weight=None):
        self.learner = learner
        self.codes = codes
        self.class_weight = class_weight
        self.code = np.zeros(1, dtype=np.intp)
        self.labels = Codes(self.code)
        self.weight = np.ones(1)

    def take(self, X, y):
        """Learn from the row and return True; or return False, having done nothing, where the long way is needed."""
        cdef Rows rows
        if (type(y) is not np.ndarray and type(y) is not list) or len(y) != 1 or len(X) != 1:
            return False
        rows = plain_rows(X, self.learner.weights.p)
        if rows is None:
            return False
        try:
            code = self.codes.get(y[0])
        except TypeError:
            return False
        if code is None:
            return False
        self.code[0] = code
        if self.class_weight is None:
            return self.learner.learn(rows, self.labels) < 0
        self.weight[0] = self.class_weight[self.code[0]]
        return self.weight[0] > 0 and self.learner.learn(rows, self.labels, None, self.weight) < 0
