"""Weights of joint features."""
import numpy as np

from sklearn_predtron._core.joint cimport JointMap
from sklearn_predtron._core.rows cimport Rows, View
from sklearn_predtron.norms._base cimport Weights
from sklearn_predtron.norms._intercept cimport Intercept


cdef class JointWeights(L2Weights):
    """One row w of p weights under the Euclidean norm, without an intercept, that the problem's own methods read.

    Scores say whose weights are asked for, as `JointMap` has it.
    """

    def __init__(self, Py_ssize_t p, int averaging=True):
        L2Weights.__init__(self, 1, p, Intercept(False, 1.0), by_feature=True, averaging=averaging, score_map=JointMap())
        self.iterate = np.frombuffer(memoryview(np.asarray(self.data)).toreadonly())[:p]

    def __reduce__(self):
        _, _, state = L2Weights.__reduce__(self)
        return type(self), (self.p, self.averaging), state

    def resized(self, Py_ssize_t p, Py_ssize_t d, places):
        return Weights.resized(self, p, d, places)

    def expect(self, Rows rows not None):
        """Keep small pages: so many features are touched by few."""

    cdef weights_of(self, int which):
        """An average, or the last iterate, as an array that cannot be written: in place, if no sum has to be made for it."""
        cdef double share, of_total
        if self.scale == 1 and self.sum_of(which) == NULL:
            return self.iterate
        self.shares(which, &share, &of_total)
        w = share * self.iterate
        if of_total != 0:
            w += of_total * self.totals[which - 1][0][:self.p]
        w.setflags(write=False)
        return w

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        t[0] = 0

    cdef void mean_scores(self, const View* x, int which, double* t) noexcept nogil:
        t[0] = which

    cdef void average_scores(self, const View* x, int which, const double* last, double* t) noexcept nogil:
        t[0] = which

    def last(self):
        """w of the last iterate, copied, and 0."""
        W, b = L2Weights.last(self)
        return W.reshape(self.p), b

    def mean(self):
        """w of what predicts, copied, and 0."""
        W, b = L2Weights.mean(self)
        return W.reshape(self.p), b
