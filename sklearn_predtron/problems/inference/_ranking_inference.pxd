"""Loss-augmented inference for rankings."""
from sklearn_predtron.problems.inference._residual cimport ResidualNetwork
from sklearn_predtron.problems.inference._sorting cimport Keyed


cdef class Inference:
    cdef Py_ssize_t m, n_chains
    cdef bint failed                    # out of memory
    cdef bint cut_short                 # whether the search ended before its ranking was known to be the best
    cdef Py_ssize_t work                # cells of bands so far
    cdef double eps
    cdef const double *f
    cdef const double *D
    cdef double *df                     # f[x] - f[x + 1], and the same of D: the gap between positions x and x + 1
    cdef double *dD
    cdef double *curve                  # of the loss at gap x, per pair of chain 1's items before it
    cdef double *s                      # of the items, chain after chain
    cdef double *a
    cdef double *tail
    cdef Keyed *first
    cdef Keyed *spare
    cdef Py_ssize_t *item               # which item stands at a place of s and a
    cdef Py_ssize_t *chain              # of an item, in sorted order
    cdef Py_ssize_t *start              # of each chain in s and a
    cdef Py_ssize_t *label              # the chain that holds a position
    cdef Py_ssize_t *low
    cdef Py_ssize_t *high
    cdef char *memory
    cdef char *lanes_memory
    cdef size_t size, lanes_size
    cdef bint reserve(self, Py_ssize_t m) noexcept nogil
    cdef char* lanes_room(self, size_t size) noexcept nogil
    cdef bint solve(self, const double* s, const double* a, const double* f, const double* D, Py_ssize_t m,
                    Py_ssize_t* position) noexcept nogil
    cdef bint solve_precision(self, const double* s, const unsigned char* y, const double* f, Py_ssize_t m, double weight,
                              Py_ssize_t* position) noexcept nogil
    cdef bint find_chains(self, const double* s, const double* a) noexcept nogil
    cdef void lay_chains(self, const double* s, const double* a) noexcept nogil
    cdef void slot(self, Py_ssize_t* position) noexcept nogil
    cdef double gain(self, Py_ssize_t x, Py_ssize_t n) noexcept nogil
    cdef Py_ssize_t climb(self, Py_ssize_t x, Py_ssize_t n, Py_ssize_t most) noexcept nogil
    cdef Py_ssize_t descend(self, Py_ssize_t x, Py_ssize_t n, Py_ssize_t least) noexcept nogil
    cdef bint two_chains(self) noexcept nogil
    cdef bint band(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef void greedy(self) noexcept nogil
    cdef bint lanes(self) noexcept nogil
    cdef bint price(self, ResidualNetwork* lanes) noexcept nogil
    cdef bint dense(self, const double* s, const double* a, Py_ssize_t* position) noexcept nogil
