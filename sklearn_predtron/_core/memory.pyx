"""Memory of weights, of which sparse rows touch few pages.

A page that was never written takes no memory, and reads as zeros.  So weights are cleared, copied and restored in blocks, of
which those of zeros are not written; and where weights lie by feature, huge pages are not allowed until rows are known to touch
most of them: 1,000 features among 2^20 would make nearly all weights of 100 classes resident.
"""
from libc.string cimport memcmp, memcpy, memset

import mmap
from contextlib import suppress
from math import isqrt

import numpy as np

cdef enum:
    LOOKED_AT = 1 << 20     # non-zeros at most, to find the pages that rows touch

cdef double[BLOCK] nothing

# Bytes of weights whose pages matter: below them huge pages are faster, and waste little.
SMALL_PAGES = 1 << 26


def aligned_zeros(Py_ssize_t n, bint small_pages=False):
    """Return n zeros that start a cache line.

    The kernels read them faster, and get the same sums at any address.

    Those that are `small_pages` become resident by small pages, where the system has a choice.
    """
    if small_pages and hasattr(mmap, "MADV_NOHUGEPAGE"):
        return thin_zeros(n)
    spare = np.zeros(n + 8)
    cdef const double[::1] seen = spare
    cdef Py_ssize_t start = <Py_ssize_t> (64 - <size_t> &seen[0] % 64) % 64 // 8
    return spare[start:start + n]


def thin_zeros(n):
    """Map pages that nothing else uses or has used."""
    try:
        pages = mmap.mmap(-1, 8 * n, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:
        raise MemoryError(f"there is no room for {n} weights.") from None
    advise(pages, mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(pages)


def advise(pages, advice):
    """Advise the kernel on the page size; a kernel without huge pages ignores it."""
    with suppress(OSError):
        pages.madvise(advice)


def use_large_pages(*arrays):
    """Allow huge pages for `small_pages` arrays; they are faster if most of the array is touched."""
    for values in arrays:
        pages = memory_of(values)
        if isinstance(pages, mmap.mmap):
            advise(pages, mmap.MADV_HUGEPAGE)


def memory_of(values):
    """Return the owner of an array's or view's memory."""
    inner = values
    while inner is not None:
        values, inner = inner, getattr(inner, "obj", None) if isinstance(inner, memoryview) else getattr(inner, "base", None)
    return values


def touches_most(rows, Py_ssize_t stride):
    """Return whether sparse rows touch most pages of weights; the lines of the weights are `stride` doubles apart."""
    indices = rows.first_indices(LOOKED_AT).astype(np.intp)
    touched = np.zeros(rows.p * stride // BLOCK + 1, dtype=bool)
    touched[indices * stride >> 9] = True       # a shift is many times faster than a division by BLOCK
    return 2 * np.count_nonzero(touched) > len(touched)


def relay(new, Py_ssize_t stride, old, Py_ssize_t old_stride, places, bint by_feature):
    """Copy weights in lines to zeros with other lines.

    Score c becomes places[c], and features stay in their order.

    Lines are features', or else scores'; pages of zeros are not written.
    """
    cdef Py_ssize_t first, n, d = len(places), step = max(1, BLOCK // old_stride)
    cdef const double[::1] source = old[:len(new)] if by_feature else old
    if by_feature and stride == old_stride and places == list(range(d)):
        restore(new[:len(source)], source)
        return
    into, lines = np.asarray(new).reshape(-1, stride), np.asarray(old).reshape(-1, old_stride)
    if not by_feature:
        n = min(stride, old_stride)
        into[places, :n] = lines[:, :n]
        return
    n = min(len(into), len(lines))
    for first in range(0, n, step):
        part = lines[first:min(first + step, n), :d]
        if part.any():
            into[first:first + len(part), places] = part


def padded(Py_ssize_t width, bint by_feature):
    """Return the stride of lines of that width."""
    pad = 1 if width == 1 else 4 if by_feature else 16
    return (width + pad - 1) // pad * pad


def transfer(new, layout, old, old_layout, places, bint by_feature):
    """Copy weights with an intercept's feature, which is the last; a layout is its place and the stride."""
    (last, stride), (old_last, old_stride) = layout, old_layout
    n = min(last, old_last)
    if by_feature:
        relay(new[:n * stride], stride, old[:n * old_stride], old_stride, places, True)
        new[last * stride + np.array(places)] = old[old_last * old_stride:][:len(places)]
    else:
        into, lines = new.reshape(-1, stride), old.reshape(-1, old_stride)
        into[places, :n] = lines[:, :n]
        into[places, last] = lines[:, old_last]


def transfer_column(new, last, old, old_last):
    """Copy the numbers kept for each feature."""
    transfer(new.view(np.float64), (last, 1), old.view(np.float64), (old_last, 1), [0], True)


def spread(new, old, places):
    """Copy a number of each score or pair of scores; the target holds zeros; score c becomes places[c]."""
    d = len(places)
    if len(old) == d:
        new[places] = old
    else:
        square = new.reshape(isqrt(len(new)), -1)
        square[np.ix_(places, places)] = np.asarray(old).reshape(d, d)


cdef bint blank(const double* values, Py_ssize_t n) noexcept nogil:
    """Return whether all are zero, to the bit."""
    cdef Py_ssize_t first
    for first in range(0, n, 512):
        if memcmp(&values[first], nothing, min(BLOCK, n - first) * sizeof(double)) != 0:
            return False
    return True


cdef void erase(double[::1] values) noexcept nogil:
    """Set all to 0."""
    cdef Py_ssize_t first, n
    for first in range(0, values.shape[0], 512):
        n = min(BLOCK, values.shape[0] - first)
        if not blank(&values[first], n):
            memset(&values[first], 0, n * sizeof(double))


cdef void restore(double[::1] values, const double[::1] saved) noexcept nogil:
    """Write saved values into zeros; the zeros may never have been written."""
    cdef Py_ssize_t first, n
    for first in range(0, values.shape[0], 512):
        n = min(BLOCK, values.shape[0] - first)
        if not blank(&saved[first], n):
            memcpy(&values[first], &saved[first], n * sizeof(double))
