"""Weights stored only where they are not zero; they predict, and are not trained."""
import numpy as np

from sklearn_predtron._core.rows cimport Rows, View, row_of
from sklearn_predtron._core.score_map cimport ScoreMap
from sklearn_predtron._core.simd cimport Row
from sklearn_predtron._core.weights cimport Weights
from sklearn_predtron._core.intercept cimport Intercept

cdef enum:
    BUFFER = 256    # values of a row that are read at a time; the step of a loop too, where Cython wants a literal


cdef class SparseWeights(Weights):
    """W (d, p) by feature, stored where it is not zero.

    value[start[j]:start[j + 1]] are the weights of feature j, for the scores `at` the same places.

    They predict as an average does, or as the last iterate: which of them does no longer matter.  `size` is the length that the
    weights had under their norm.
    """
    cdef readonly Intercept intercept
    cdef readonly double size
    cdef const Py_ssize_t[::1] start
    cdef const int[::1] at
    cdef const double[::1] value, b

    def __init__(self, Py_ssize_t d, Py_ssize_t p, Intercept intercept not None, ScoreMap score_map not None, bint by_feature,
                 int averaging, double size, const Py_ssize_t[::1] start not None, const int[::1] at not None,
                 const double[::1] value not None, const double[::1] b not None):
        self.map_scores(d, p, score_map)
        edges, places = np.asarray(start), np.asarray(at)
        sizes = start.shape[0], at.shape[0], b.shape[0]
        if sizes != (p + 1, value.shape[0], d) or edges[0] != 0 or edges[p] != len(places) or (np.diff(edges) < 0).any():
            raise ValueError(f"sparse weights of {d} scores and {p} features have arrays of other sizes.")
        if ((places < 0) | (places >= d)).any() or not (np.isfinite(value).all() and np.isfinite(b).all()):
            raise ValueError(f"sparse weights have numbers that are not finite, or of other scores than {d}.")
        self.intercept = intercept
        self.by_feature = by_feature
        self.averaging = self.most_averages = averaging
        self.size = size
        self.start, self.at, self.value, self.b = start, at, value, b

    def __reduce__(self):
        numbers = self.by_feature, self.averaging, self.size
        arrays = np.array(self.start), np.array(self.at), np.array(self.value), np.array(self.b)
        return SparseWeights, (self.d, self.p, self.intercept, self.score_map, *numbers, *arrays)

    cdef open_call(self, Rows rows, bint fresh, bint undo_needed):
        raise ValueError("The weights are sparse, and only predict; call densify() to go on learning.")

    def export(self):
        raise ValueError("The weights are sparse, and only predict; call densify() before they are mixed.")

    def resized(self, Py_ssize_t p, Py_ssize_t d, places):
        raise ValueError("The weights are sparse, and only predict; call densify() before widen().")

    def own_predictor(self, bint mean):
        return self

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        cdef Py_ssize_t at[BUFFER]
        cdef double value[BUFFER]
        cdef Py_ssize_t r, c, k, e, n, begin
        cdef const Row* row
        cdef Row spare
        for r in range(x.m):
            row = row_of(x, r, &spare)
            for c in range(self.d):
                t[c] = self.b[c]
            for begin in range(0, row.n, 256):
                n = min(BUFFER, row.n - begin)
                x.k.unpack(row, begin, n, at, value)
                for k in range(n):
                    for e in range(self.start[at[k]], self.start[at[k] + 1]):
                        t[self.at[e]] += value[k] * self.value[e]
            t += self.d

    def length(self):
        return self.size

    @property
    def no_theorem_because(self):
        return "weights that were made sparse"

    def last(self):
        """Return W (d, p), a CSR matrix, and b (d,)."""
        return self.mean()

    def mean(self):
        """Return W (d, p), a CSR matrix, and b (d,)."""
        arrays = np.asarray(self.value), np.asarray(self.at), np.asarray(self.start)
        from scipy import sparse  # a predictor does without SciPy

        return sparse.csr_matrix(sparse.csc_matrix(arrays, shape=(self.d, self.p))), np.array(self.b)
