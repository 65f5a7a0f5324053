# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The short way from one row in Python's hands to the loop."""
import numpy as np

from sklearn_predtron._core.learner cimport Learner
from sklearn_predtron._core.problem cimport Codes
from sklearn_predtron._core.rows cimport Rows
from sklearn_predtron._core.learner import OVERFLOW
from sklearn_predtron._core.rows import dense_rows


def plain_rows(X):
    """Rows of X if it is a C-contiguous float32 or float64 array that is not empty; else None."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.size == 0 or not X.flags.c_contiguous:
        return None
    return dense_rows(X) if X.dtype == np.float64 or X.dtype == np.float32 else None


cdef class Stream:
    """A learner, the numbers of its classes and their weights: takes labelled rows as they come, without ceremony."""
    cdef Learner learner
    cdef dict codes
    cdef const double[::1] class_weight

    def __init__(self, Learner learner not None, dict codes not None, const double[::1] class_weight=None):
        self.learner = learner
        self.codes = codes
        self.class_weight = class_weight

    def take(self, X, y):
        """Learn from the rows and return True; or return False, having done nothing, where the long way is needed."""
        cdef Py_ssize_t n, i
        cdef Rows rows
        if type(y) is np.ndarray and y.ndim == 1:
            y = y.tolist()
        elif type(y) is not list:
            return False
        rows = plain_rows(X)
        n = len(y)
        if rows is None or rows.n != n or rows.p != self.learner.weights.p or not rows.finite():
            return False
        codes = np.empty(n, dtype=np.intp)
        cdef Py_ssize_t[::1] code = codes
        try:
            for i in range(n):
                code[i] = self.codes[y[i]]
        except (KeyError, TypeError):
            return False
        weight = None if self.class_weight is None else np.asarray(self.class_weight)[codes]
        if weight is not None and not weight.all():
            return False
        if self.learner.learn(rows, Codes(codes), None, weight) >= 0:
            raise ValueError(OVERFLOW)
        return True
