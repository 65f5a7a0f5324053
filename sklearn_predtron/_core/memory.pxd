"""Memory of weights, of which sparse rows touch few pages."""

cdef enum:
    BLOCK = 512         # doubles that are written together or not at all: a page of 4 KB

cdef bint blank(const double* values, Py_ssize_t n) noexcept nogil
cdef void erase(double[::1] values) noexcept nogil
cdef void restore(double[::1] values, const double[::1] saved) noexcept nogil
