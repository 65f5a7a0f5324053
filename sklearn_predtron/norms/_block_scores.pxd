"""Scores of rows to come."""
from sklearn_predtron._core.rows cimport Rows
from sklearn_predtron._core.simd cimport Matrix, RowOps, ScoreGradient

cdef enum:
    MOST_ROWS = 32     # rows


cdef class BlockScores:
    cdef Rows rows
    cdef const Py_ssize_t[::1] order
    cdef Py_ssize_t next, last            # rounds
    cdef Py_ssize_t known, taken          # rows with sums, and those of them that have been taken
    cdef double touched                   # scores that a round's step changes, on the average of late
    cdef Matrix W                         # without offsets
    cdef const RowOps* k
    cdef const void* row[MOST_ROWS]
    cdef double[::1] sums, none
    cdef start(self, Rows rows, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last)
    cdef bint take(self, double scale, const double* offset, double* t) noexcept nogil
    cdef bint look(self) noexcept nogil
    cdef void sum_again(self, const ScoreGradient* g) noexcept nogil
    cdef void sum_class(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil
