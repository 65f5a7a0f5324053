"""Sets of labels: sign vectors, with losses of counts. The counts are those of hits and misses."""
from sklearn_predtron._core.problem cimport Labels, Problem, Round
from sklearn_predtron.problems.inference._sorting cimport Keyed


cdef class Indicators(Labels):
    cdef const unsigned char[:, ::1] rows


cdef class SparseIndicators(Labels):
    cdef const Py_ssize_t[::1] start, label
    cdef unsigned char[::1] row


cdef class IndicatorBlocks(Labels):
    cdef const unsigned char[::1] y
    cdef const Py_ssize_t[::1] start
    cdef readonly Py_ssize_t longest

    cdef inline Py_ssize_t size(self, Py_ssize_t i) noexcept nogil:
        """Return the number of rows of block i."""
        return self.start[i + 1] - self.start[i]


cdef class LabelSets(Problem):
    cdef readonly Py_ssize_t n_labels      # 0 for the rows of batches
    cdef public double balance             # how much the representation of batches makes of the rarer class
    cdef Py_ssize_t n                      # labels, or rows, of the round
    cdef double weight_on, weight_off      # twice the coordinate of rep(sigma), for a label that is on in y and for another
    cdef bint monotone                     # whether no further mistake lowers the loss
    cdef unsigned char[::1] competitor, sigma_y   # competitor and sigma_y, 1 for a label that is on
    cdef Keyed[::1] positive, negative, spare
    cdef Py_ssize_t P, N                   # labels that are on in y, and off
    cdef int check_sets(self, Labels labels) except -1
    cdef double loss(self, Py_ssize_t b, Py_ssize_t c) noexcept nogil
    cdef void search(self, Py_ssize_t* b, Py_ssize_t* c) noexcept nogil
    cdef void decode(self, const double* t, Py_ssize_t n, unsigned char* sigma, Keyed* room) noexcept nogil
    cdef double losing(self, double* lossless) noexcept nogil
    cdef void bind_label(self, const unsigned char* y, Py_ssize_t m) noexcept nogil
    cdef void sort(self, const double* t, const unsigned char* y) noexcept nogil
    cdef void worst_maximiser_loss(self, const double* t, const unsigned char* y, Py_ssize_t m, Round* r) noexcept nogil
    cdef double worst(self, Py_ssize_t* b, Py_ssize_t* c, Py_ssize_t tied_b, Py_ssize_t tied_c) noexcept nogil
    cdef void finish_competitor(self, const double* t, const unsigned char* y, double competitor_loss, Round* r) noexcept nogil
