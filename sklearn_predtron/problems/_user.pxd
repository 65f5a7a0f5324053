"""Problems written in Python."""
from libc.stdint cimport uintptr_t

from sklearn_predtron._core.problem cimport Labels, Problem, Round


cdef class Objects(Labels):
    cdef readonly list values
    cdef uintptr_t[::1] addresses


cdef class UserProblem(Problem):
    cdef readonly object inner
    cdef readonly bint checked
    cdef object error               # the error that was raised
    cdef size(self, attribute, what)
    cdef stated(self, constant)
    cdef try_find(self, double* t, y, bint augmented, Round* r)
    cdef find(self, double* t, y, bint augmented, Round* r)
    cpdef double loss_of(self, prediction, y) except? -1
    cdef refuse_loss(self, prediction, y, value, accepted)
    cdef check_correct(self, right, competitor, y)
