from sklearn_predtron._core.rows cimport View, squared_norm


cdef class Intercept:
    cdef readonly bint fitted, automatic
    cdef readonly double fixed
    cdef double mantissa
    cdef readonly Py_ssize_t exponent, count
    cdef double known                 # r2
    cdef Py_ssize_t due               # the number of rows at which it is computed again
    cdef void compute(self) noexcept nogil
    cdef void update_exponent(self, double norm2) noexcept nogil
    cdef void count_each_row(self, View* x) noexcept nogil
    cdef void go_back(self, double mantissa, Py_ssize_t exponent, Py_ssize_t rows, double r2) noexcept nogil

    cdef inline double r2(self) noexcept nogil:
        return self.known

    cdef inline void update_statistics(self, double norm2) noexcept nogil:
        """Take the squared length of a row into account."""
        cdef double product = self.mantissa * norm2
        if 1e-140 < product < 1e140:
            self.mantissa = product
            self.count += 1
            if self.count >= self.due:
                self.compute()
        else:
            self.update_exponent(norm2)

    cdef inline void count_rows(self, View* x) noexcept nogil:
        """Take the lengths of the rows of a round into account."""
        if x.m == 1:
            self.update_statistics(squared_norm(x))
        else:
            self.count_each_row(x)
