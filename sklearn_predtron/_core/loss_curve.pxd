cdef class LossCurve:
    cdef readonly Py_ssize_t size, stride, t
    cdef readonly double loss
    cdef Py_ssize_t n
    cdef Py_ssize_t[::1] rounds
    cdef double[::1] losses
    cdef void record(self, Py_ssize_t t, double loss) noexcept nogil
    cdef void thin(self) noexcept nogil
