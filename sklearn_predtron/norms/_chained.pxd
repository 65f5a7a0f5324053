"""Scores of a sequence's labels and transitions, and their weights; the scores are computed from the tokens of the sequence."""
from sklearn_predtron._core.rows cimport View
from sklearn_predtron._core.score_map cimport ScoreMap
from sklearn_predtron._core.simd cimport ScoreGradient


cdef class ChainMap(ScoreMap):
    cdef readonly double transition_scaling
    cdef double[::1] pulled_back           # zeros, where a sum of tokens is put together
    cdef Py_ssize_t[::1] first, following  # the entries of g by class: the last one of each, and the one before each
    cdef Py_ssize_t[::1] token             # of the entries of a class
    cdef double[::1] share                 # the factor of each of these tokens
    cdef Py_ssize_t[::1] label             # of the entries of a token
    cdef Py_ssize_t of_token(self, const ScoreGradient* g, Py_ssize_t i, Py_ssize_t m, ScoreGradient* of_row) noexcept nogil
    cdef Py_ssize_t link_classes(self, const ScoreGradient* g, Py_ssize_t m) noexcept nogil
    cdef bint take_class(self, const ScoreGradient* g, Py_ssize_t i, ScoreGradient* of_class) noexcept nogil
    cdef double table_norm2(self, View* x, const ScoreGradient* g, double r2) noexcept nogil
