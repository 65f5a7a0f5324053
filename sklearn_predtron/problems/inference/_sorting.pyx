"""Sorting numbered keys."""
from libc.string cimport memcpy

import numpy as np

KEYED = np.dtype([("key", np.float64), ("at", np.intp)])

cdef enum:
    RUN = 16    # items that insertion sorts faster than merging


cdef void sort_descending(Keyed* items, Keyed* spare, Py_ssize_t n) noexcept nogil:
    """Sort by descending key; the sort is stable; spare has room for n."""
    cdef Py_ssize_t start = 0, length = RUN
    while start < n:
        insertion_sort(items + start, min(RUN, n - start))
        start += RUN
    while length < n:
        start = 0
        while start + length < n:
            merge(items + start, length, min(2 * length, n - start), spare)
            start += 2 * length
        length *= 2


cdef inline void insertion_sort(Keyed* items, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef Keyed item
    for i in range(1, n):
        item = items[i]
        j = i
        while j > 0 and items[j - 1].key < item.key:
            items[j] = items[j - 1]
            j -= 1
        items[j] = item


cdef inline void merge(Keyed* items, Py_ssize_t half, Py_ssize_t n, Keyed* spare) noexcept nogil:
    """Merge items[:half] and items[half:n], each in order."""
    cdef Py_ssize_t i = 0, j = half, place = 0
    if not items[half - 1].key < items[half].key:
        return
    memcpy(spare, items, half * sizeof(Keyed))
    while i < half:
        if j < n and spare[i].key < items[j].key:
            items[place] = items[j]
            j += 1
        else:
            items[place] = spare[i]
            i += 1
        place += 1
