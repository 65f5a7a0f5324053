from sklearn_predtron._core.rows cimport View


cdef class Intercept:
    cdef readonly bint fitted, automatic
    cdef readonly double fixed
    cdef double mantissa
    cdef readonly Py_ssize_t exponent, count
    cdef double known                 # r2 when known_at rows were seen: a power and a logarithm, wanted twice in a round
    cdef Py_ssize_t known_at
    cdef void update_statistics(self, double norm2) noexcept nogil
    cdef void count_rows(self, View* x) noexcept nogil
    cdef void go_back(self, double mantissa, Py_ssize_t exponent, Py_ssize_t rows) noexcept nogil
    cdef double r2(self) noexcept nogil
    cdef double r2_read(self) noexcept nogil
