"""Weights under the Frobenius norm; they have steps and the average of their iterates."""
from sklearn_predtron._core.rows cimport Rows, View
from sklearn_predtron._core.simd cimport ScoreGradient, Matrix
from sklearn_predtron.norms._block_scores cimport BlockScores
from sklearn_predtron.norms._averaging cimport AVERAGES, AveragedWeights


cdef struct IterateSum:             # sum_u w_u W_{u+1} = weight * data + scale * total, and mass = sum_u w_u
    Matrix total
    double* C                       # the third array of the sum, where weights have one
    double scale, mass, weight


cdef class L2Weights(AveragedWeights):
    cdef double[::1] data, b
    cdef Matrix W
    cdef IterateSum sums[AVERAGES]
    cdef Py_ssize_t stride
    cdef double scale
    cdef bint empty
    cdef BlockScores upcoming           # None where rows are not scored ahead of their turn
    cdef bint looks_ahead(self, Rows rows) noexcept
    cdef void iterate_scores(self, const View* x, double* t) noexcept nogil
    cdef const IterateSum* sum_of(self, int which) noexcept nogil
    cdef void step_sums(self, View* x, const ScoreGradient* g, double change) noexcept nogil
    cdef void step_offsets(self, const ScoreGradient* g, double change) noexcept nogil
    cdef void shares(self, int which, double* share, double* of_total) noexcept nogil
    cdef void reset_scales(self) noexcept nogil
    cdef void renormalise(self) noexcept nogil
    cdef void multiply_out(self, double[::1] data, bint offsets) noexcept nogil
    cdef void multiply_block(self, double* data, Py_ssize_t first, Py_ssize_t n, bint offsets) noexcept nogil
    cdef void clear(self) noexcept nogil
    cdef double length2_of_sum(self, View* x, const ScoreGradient* g, double* z) noexcept nogil
    cdef void sum_rows(self, View* x, const ScoreGradient* g, double* z) noexcept nogil
    cdef lay(self, Matrix* M, double[::1] data, double[::1] offset)

    cdef inline double pending(self, int which, double change) noexcept nogil:
        """Leave a sum as it was when data changes."""
        return -change * self.sums[which].weight / self.sums[which].scale
