"""Linear predictors in the space of a kernel; they are sums over stored rows."""
from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.rows cimport Rows
from sklearn_predtron.norms._l2 cimport L2Weights

cdef class RKHSWeights(L2Weights):
    cdef readonly object support                 # the rows, and the kernel
    cdef readonly Py_ssize_t n                   # rows kept
    cdef Py_ssize_t given, offset, after         # rows of the calls so far, of those before this one, and with it
    cdef Py_ssize_t[::1] number                  # of each row kept, in the order in which rows were given
    cdef readonly double truncation_loss
    # The rows of the call, and those of the block that was scored ahead
    cdef object matrix, block_rows, in_call      # in_call: numbers within the call
    cdef Py_ssize_t[::1] slot                   # of each row of the call: where it is kept, or -1
    cdef Py_ssize_t[::1] position                # of each row of the block: in the call
    cdef double[:, ::1] K                        # kernels of the rows of the block
    cdef double[::1] F, F_total                  # scores of the rows of the block by data, by each total
    cdef double[::1] F_call, change              # the same of all rows of the call, without the block's changes of data
    cdef Py_ssize_t[::1] source                  # of the rows kept, the row of the block; -1 where they were kept before
    cdef Py_ssize_t length_of_block, here, next
    cdef const unsigned char[::1] vanished       # whether the kernel of a row of the block with itself is too small for a number
    cdef double strange                          # such a kernel that had a round rejected, or one too large; else NaN
    cdef bint means_wanted, left_undone                 # left_undone: a call ended before its rows were put away
    cdef prepare(self)
    cdef keep(self)
    cdef end_call(self)
    cdef follow(self)
    cdef score_call(self)
    cdef make_room(self, Py_ssize_t rows)
    cdef bint has_length(self, Py_ssize_t row) noexcept nogil
    cdef void read(self, const double* F, Py_ssize_t m, double scale, const double* offset, double* t) noexcept nogil
    cdef Py_ssize_t place_for(self, Py_ssize_t row) noexcept nogil
    cdef void add_row(self, Py_ssize_t row, const ScoreGradient* g, double change) noexcept nogil
    cdef void look_at_lengths(self, Py_ssize_t m, double* t) noexcept nogil
    cdef void move_scores(self, int which, Py_ssize_t row, Py_ssize_t c, double change) noexcept nogil
    cdef double* scores_by(self, int which) noexcept nogil
