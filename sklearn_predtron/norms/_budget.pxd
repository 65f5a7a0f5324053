"""Kernel expansions of bounded size."""
from sklearn_predtron.norms._rkhs cimport RKHSWeights

cdef class BudgetedWeights(RKHSWeights):
    cdef readonly Py_ssize_t budget
    cdef double[:, ::1] among             # kernels of the rows kept
    cdef double[:, ::1] with_block        # of the rows of the block with the rows kept
    cdef double[::1] apart                # of the rows kept: the squared distance to the nearest other's line
    cdef Py_ssize_t[::1] nearest, of_call        # that other; the row's place in the call
    cdef void sum_up(self, Py_ssize_t m, const double* coefficients, const double* offset, double scale, bint more,
                     double* t) noexcept nogil
    cdef double squared_loss(self, Py_ssize_t slot) noexcept nogil
    cdef Py_ssize_t cut(self) noexcept nogil
    cdef void hand_over(self, Py_ssize_t slot, Py_ssize_t other, double part) noexcept nogil
    cdef void install(self, Py_ssize_t slot, Py_ssize_t row) noexcept nogil
    cdef void compare(self, Py_ssize_t slot, Py_ssize_t other) noexcept nogil
    cdef void find_nearest(self, Py_ssize_t slot) noexcept nogil
