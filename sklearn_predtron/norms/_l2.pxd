"""Weights under the Frobenius norm, their steps and the average of their iterates."""
from sklearn_predtron._core.rows cimport Rows, View
from sklearn_predtron._core.simd cimport ScoreGradient, Matrix
from sklearn_predtron.norms._ahead cimport Ahead
from sklearn_predtron.norms._base cimport Weights
from sklearn_predtron.norms._intercept cimport Intercept


cdef class L2Weights(Weights):
    cdef readonly bint radius_needed, radius_of_rows
    cdef readonly Intercept intercept
    cdef double[::1] data, total, b, b_total
    cdef Matrix W, U
    cdef Py_ssize_t stride
    cdef double scale, total_scale, mass, weight
    cdef readonly double radius2
    cdef bint empty
    cdef Ahead ahead                  # None where rows are not scored ahead of their turn
    cdef bint looks_ahead(self, Rows rows) noexcept
    cdef void iterate_scores(self, const View* x, double* t) noexcept nogil
    cdef void step_offsets(self, const ScoreGradient* g, double change, double pending) noexcept nogil
    cdef void renormalise(self) noexcept nogil
    cdef void flush_average(self, double[::1] data, double[::1] total) noexcept nogil
    cdef void clear(self) noexcept nogil
    cdef lay(self, Matrix* M, double[::1] data, double[::1] offset)
