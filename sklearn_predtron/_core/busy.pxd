from cpython.pythread cimport PyThread_type_lock


cdef class Busy:
    cdef PyThread_type_lock lock
    cdef readonly bint held
    cdef int take(self) except -1
    cdef void release(self) noexcept
    cdef int refuse(self) except -1
