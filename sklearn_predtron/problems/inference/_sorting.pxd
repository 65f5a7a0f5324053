"""Sorting numbered keys."""

cdef struct Keyed:
    double key
    Py_ssize_t at        # the place to which the key belongs

cdef void sort_descending(Keyed* items, Keyed* spare, Py_ssize_t n) noexcept nogil
