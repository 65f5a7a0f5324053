"""Maps from a round's rows to scores, and gradients back; a gradient of the scores is mapped back to the input of a step."""
from sklearn_predtron._core.rows cimport View
from sklearn_predtron._core.simd cimport Matrix, Row, ScoreGradient


cdef inline Py_ssize_t row_number(const ScoreGradient* g, Py_ssize_t i) noexcept nogil:
    """Return the row of a block to which entry i of g belongs."""
    return i if g.at == NULL else g.at[i]


cdef double sum_of(const ScoreGradient* g) noexcept nogil
cdef double cancelled(const View* x, const ScoreGradient* g) noexcept nogil


cdef class ScoreMap:
    cdef readonly Py_ssize_t d             # scores of a row
    cdef readonly Py_ssize_t n_directions  # rows of the coefficients
    cdef readonly Py_ssize_t extra         # scores of a round that are no row's, behind those of its rows
    cdef readonly bint of_blocks           # a round is a block of rows, with one score each
    cdef readonly bint offsets_cancel      # an offset common to all scores of a round changes no prediction
    cdef readonly bint offsets_apart       # the scores have offsets, but no directions, of their own
    cdef bint is_pulled_back               # whether X^T g of the present round is known
    cdef const Row* whole_input(self, const View* x) noexcept nogil
    cdef const ScoreGradient* of_input(self, const ScoreGradient* g, ScoreGradient* single) noexcept nogil
    cdef const ScoreGradient* of_row(self, Py_ssize_t r, const ScoreGradient* g, ScoreGradient* single) noexcept nogil
    cdef double intercept_weight(self, const ScoreGradient* g) noexcept nogil
    cdef const double* row_weights(self, const ScoreGradient* g) noexcept nogil
    cdef void column_lengths(self, View* x, Py_ssize_t* at, double* value) noexcept nogil
    cdef Py_ssize_t gather(self, View* x, const ScoreGradient* g, Py_ssize_t* at, double* value) noexcept nogil
    cdef double norm2(self, View* x, const ScoreGradient* g, double r2) noexcept nogil
    cdef double norm2_by(self, const double[:, ::1] K, Py_ssize_t first, Py_ssize_t m, const ScoreGradient* g,
                         double r2) noexcept nogil
    cdef void add(self, View* x, Matrix* M, const ScoreGradient* g, double scale) noexcept nogil


cdef class BatchMap(ScoreMap):
    cdef double[::1] pulled_back           # X^T g: the direction of a step, without its size
    cdef bint used                         # whether it is not zeros
    cdef double total                      # the sum of the g of the input asked for last
    cdef void pull_back(self, View* x, const ScoreGradient* g) noexcept nogil


cdef class QueryMap(BatchMap):
    pass
