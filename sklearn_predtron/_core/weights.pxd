"""Linear predictors t = W x + b, their steps and the average of their iterates."""
from sklearn_predtron._core.kernels cimport Direction, Matrix
from sklearn_predtron._core.problem cimport Round
from sklearn_predtron._core.rows cimport Rows, View

cdef class Weights:
    cdef readonly Py_ssize_t d, p
    cdef readonly bint observing, averaging
    cdef readonly bint block      # the rows of a round have one score each, not a row d
    cdef readonly bint large      # too large for the caches near the core
    cdef readonly double inverse_convexity    # q - 1, where half the norm's square is strongly convex to 1 / (q - 1)
    cdef readonly bint meeting, ready, frozen    # whether meet is called, whether steps may be taken, whether statistics run
    cdef public bint careful      # whether a round that meet began may be called off
    cdef begin(self, Rows rows, bint fresh)
    cdef Py_ssize_t foresee(self, Rows rows, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last, bint shown) except -1
    cdef conclude(self, bint learned)
    cdef bint unfinished(self) noexcept
    cdef bint meet(self, View* x) noexcept nogil
    cdef void forget(self) noexcept nogil
    cdef void scores(self, const View* x, double* t) noexcept nogil
    cdef void mean_scores(self, const View* x, double* t) noexcept nogil
    cdef void fetch(self, const View* x) noexcept nogil
    cdef void observe(self, View* x) noexcept nogil
    cdef double length2(self, View* x) noexcept nogil
    cdef void measure(self, View* x, const Direction* g, Round* r) noexcept nogil
    cdef void step(self, View* x, const Direction* g, double size) noexcept nogil
    cdef void shrink(self, double factor) noexcept nogil
    cdef void close(self, double weight, double keep) noexcept nogil


cdef class Intercept:
    cdef readonly bint fitted, automatic
    cdef readonly double fixed
    cdef double mantissa
    cdef readonly Py_ssize_t exponent, count
    cdef double known                 # r2 when known_at rows were seen: a power and a logarithm, wanted twice in a round
    cdef Py_ssize_t known_at
    cdef void observe(self, double norm2) noexcept nogil
    cdef void go_back(self, double mantissa, Py_ssize_t exponent, Py_ssize_t rows) noexcept nogil
    cdef double r2(self) noexcept nogil
    cdef double r2_read(self) noexcept nogil


cdef class L2(Weights):
    cdef readonly bint by_feature, radius_needed, radius_of_rows
    cdef readonly Intercept intercept
    cdef double[::1] data, total, b, b_total
    cdef Matrix W, U
    cdef Py_ssize_t stride
    cdef double scale, total_scale, mass, weight
    cdef readonly double radius2
    cdef double[::1] combined         # of the rows of a round, by a direction: what a step adds, but for its size
    cdef bint is_combined, used       # whether it is of the present round; whether it is not zeros
    cdef bint empty
    cdef void iterate_scores(self, const View* x, double* t) noexcept nogil
    cdef void combine(self, View* x, const Direction* g) noexcept nogil
    cdef void step_offsets(self, const Direction* g, double change, double owed) noexcept nogil
    cdef void add_rows(self, View* x, const Direction* g, double change, double owed) noexcept nogil
    cdef void renormalise(self) noexcept nogil
    cdef void settle(self, double[::1] data, double[::1] total) noexcept nogil
    cdef void clear(self) noexcept nogil
    cdef lay(self, Matrix* M, double[::1] data, double[::1] offset)
