"""From the tokens of a sequence to the scores of its labels and of their transitions."""
from sklearn_predtron._core.rows cimport View
from sklearn_predtron._core.score_map cimport ScoreMap
from sklearn_predtron._core.simd cimport ScoreGradient


cdef class ChainMap(ScoreMap):
    cdef readonly double transition_scaling
    cdef double[::1] pulled_back           # the sum of the tokens of a class
    cdef Py_ssize_t[::1] first, following  # the entries of g by class: the last one of each, and the one before each
    cdef Py_ssize_t[::1] label             # of the entries of a token
    cdef double[::1] offset                # the sum of g by class
    cdef Py_ssize_t of_token(self, const ScoreGradient* g, Py_ssize_t i, Py_ssize_t m, ScoreGradient* of_row) noexcept nogil
    cdef double rows_norm2(self, View* x, const ScoreGradient* g, double r2) noexcept nogil
    cdef double table_norm2(self, View* x, const ScoreGradient* g, double r2) noexcept nogil
    cdef double class_norm2(self, View* x, const ScoreGradient* g, Py_ssize_t last) noexcept nogil
