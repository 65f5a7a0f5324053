"""Rounds with features that depend on the prediction as well; their inputs are of any kind, and their weights are one row."""
import numpy as np

from sklearn_predtron._core.rows cimport Rows, View, of_doubles
from sklearn_predtron._core.weights cimport Weights
from sklearn_predtron._core.intercept cimport Intercept


cdef Py_ssize_t[2] NOWHERE = [0, 0]


cdef class JointMap(ScoreMap):
    """The map <w, Phi(x, sigma)>.

    A prediction has a score, but a round has no scores of which all predictions are made.

    The number in their place says whose weights are to be asked: 0 the last iterate's, else those of an average.  The input of a
    step is Phi(x, competitor) - Phi(x, sigma_y), which the problem fills in when both are known.
    """
    round_name = "object"

    def __init__(self):
        ScoreMap.__init__(self, 1)

    def __reduce__(self):
        return type(self), ()

    def build(self, norm, Py_ssize_t p, intercept, average, **how):
        """Return zero weights of p joint features; raise ValueError if the norm is not Euclidean."""
        self.check_norm(norm)
        return JointWeights(p, average)

    def check_norm(self, norm):
        """Raise ValueError if the norm is not the Euclidean one."""
        from sklearn_predtron.norms import L2  # needs scikit-learn, which a predictor does without

        if not isinstance(norm.for_rows(sparse=True), L2):
            raise ValueError(f"norm={norm.alias!r} does not go with a problem of joint features; accepted is 'l2'.")

    def written_for_means(self, Py_ssize_t p):
        return p


cdef class ObjectRows(Rows):
    """Inputs that the problem's own methods read; the row of a round is empty until the problem fills it in."""

    def __init__(self, objects, Py_ssize_t p):
        self.objects = list(objects)
        self.n = self.given = len(self.objects)
        self.p = p
        self.sparse = True

    cdef void view(self, Py_ssize_t i, View* x) noexcept nogil:
        x.m = 1
        x.p = self.p
        x.k = of_doubles(True)
        x.first.n = 0
        x.first.value = x.first.index = NULL
        x.start = &NOWHERE[0]
        x.norm2 = -1

    cdef Py_ssize_t n_values(self) noexcept nogil:
        return 0

    cpdef Py_ssize_t first_outside(self):
        return -1


cdef class JointWeights(L2Weights):
    """One row w of p weights under the Euclidean norm.

    It has no intercept, and the problem's own methods read it.

    Scores say whose weights are asked for, as `JointMap` has it.
    """

    def __init__(self, Py_ssize_t p, int averaging=True):
        L2Weights.__init__(self, 1, p, Intercept(False, 1.0), by_feature=True, averaging=averaging, score_map=JointMap())
        self.iterate = np.frombuffer(memoryview(np.asarray(self.data)).toreadonly())[:p]

    def arguments(self, Py_ssize_t d, Py_ssize_t p, by_feature=None):
        return self.p, self.averaging

    def resized(self, Py_ssize_t p, Py_ssize_t d, places):
        return Weights.resized(self, p, d, places)

    def reserve(self, Rows rows not None):
        """Keep small pages; few rows touch this many features."""

    cdef weights_of(self, int which):
        """Return an average or the last iterate, read-only; the array is in place, if no sum has to be computed for it."""
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
        """Return a copy of the last iterate's w, and 0."""
        W, b = L2Weights.last(self)
        return W.reshape(self.p), b

    def mean(self):
        """Return a copy of the predicting w, and 0."""
        W, b = L2Weights.mean(self)
        return W.reshape(self.p), b
