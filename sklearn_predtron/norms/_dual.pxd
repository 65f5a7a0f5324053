"""Weights whose steps change dual weights."""
from sklearn_predtron._core.simd cimport ScoreGradient, Matrix, Row
from sklearn_predtron._core.rows cimport View
from sklearn_predtron.norms._averaging cimport AVERAGES, AveragedWeights

cdef enum:
    BUFFER = 256        # entries that are taken at once; the step of loops too, where Cython wants a literal
    SEGMENTS = 64

cdef struct LineSum:                  # a sum of the iterates: total + u deferred, line by line
    double* total
    double mass                       # weight of the rounds, in units that grow where the past is forgotten
    double inflation
    double c_at_start
    double segment[SEGMENTS]         # sums of c
    Py_ssize_t now                    # the present segment
    Py_ssize_t* since                 # segment in which a line changed last,
    double* had                       # and its sum then


cdef class DualWeights(AveragedWeights):
    cdef readonly double q
    cdef readonly double curvature    # of the link, by which steps that are bounded are sized: q - 1 in the theorems
    cdef double[::1] theta, u, offset
    cdef Matrix U, U_alone            # with the offset of the present round, and with none
    cdef double[::1] none
    cdef Py_ssize_t lines, width, stride    # how weights lie: a line is a feature's, or a class's
    cdef double unit, c
    cdef double room                  # for a step, in units
    cdef double mass                  # sum |theta|^q
    cdef double most                  # the largest it has been since it was last summed from scratch
    cdef Py_ssize_t moved             # entries changed since then; classes, where a line is a class's
    cdef Py_ssize_t top               # features up to the last that was changed, where a line is a feature's
    cdef Py_ssize_t last_line         # where the intercept's feature lies, behind all others: at a place of which no sum depends
    cdef LineSum sums[AVERAGES]
    # --- the input of the round: features, and how much of each; of all features, where lines are classes
    cdef bint gathered
    cdef Py_ssize_t n
    cdef Py_ssize_t[::1] at
    cdef double[::1] value
    cdef const double* input
    cdef double feature               # the intercept's
    cdef double input_length          # of the input, the intercept's feature aside; negative where it is not known
    cdef bint is_worn(self) noexcept nogil
    cdef Py_ssize_t entry(self, Py_ssize_t c, Py_ssize_t j) noexcept nogil
    cdef const LineSum* sum_of(self, int which) noexcept nogil
    cdef void mean_of_features(self, const View* x, const Row* row, const LineSum* s, double* t) noexcept nogil
    cdef double mean_of_class(self, const View* x, const Row* row, const LineSum* s, Py_ssize_t c) noexcept nogil
    cdef void read_weights(self, bint mean, Py_ssize_t line, Py_ssize_t place, Py_ssize_t n, double* w) noexcept nogil
    cdef void last_scores(self, const View* x, double* t) noexcept nogil
    cdef void gather(self, View* x, const ScoreGradient* g) noexcept nogil
    cdef double norm_of_input(self, View* x, const ScoreGradient* g) noexcept nogil
    cdef double with_intercept(self, double length, double times) noexcept nogil
    cdef double largest_row_norm(self, View* x) noexcept nogil
    cdef double direction_norm(self, const ScoreGradient* g) noexcept nogil
    cdef double largest_change(self, View* x, const ScoreGradient* g) noexcept nogil
    cdef void fetch_all(self) noexcept nogil
    cdef void add(self, const ScoreGradient* g, double change) noexcept nogil
    cdef void move(self, const Py_ssize_t* at, const double* value, Py_ssize_t n, const ScoreGradient* g,
                   double change) noexcept nogil
    cdef double sum_of_powers(self) noexcept nogil
    cdef double length_of_theta(self) noexcept nogil
    cdef void raise_all(self) noexcept nogil
    cdef void relink(self) noexcept nogil
    cdef void change_unit(self, double length) noexcept nogil
    cdef void clear(self) noexcept nogil
    cdef double* first_total(self, Py_ssize_t place) noexcept nogil
    cdef double take_first(self, Py_ssize_t line) noexcept nogil
    cdef void flush_line(self, Py_ssize_t line) noexcept nogil
    cdef void flush_sum(self, LineSum* s, Py_ssize_t line) noexcept nogil
    cdef void add_deferred(self, double deferred, Py_ssize_t line, double* total) noexcept nogil
    cdef void flush_all(self) noexcept nogil
    cdef void flush_lines(self, LineSum* s) noexcept nogil
    cdef void follow_c(self) noexcept nogil
