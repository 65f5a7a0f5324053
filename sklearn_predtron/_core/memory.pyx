"""Memory of weights, of which sparse rows touch few pages.

A page that was never written takes no memory, and reads as zeros.  So weights are cleared, copied and restored in blocks, of
which those of zeros are not written; and where weights lie by feature, huge pages are not allowed until rows are known to touch
most of them: 1,000 features among 2^20 would make nearly all weights of 100 classes resident.
"""
from libc.string cimport memcmp, memcpy, memset

import mmap
from contextlib import suppress

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


def put(new, old, axes, places):
    """Copy an array of a state to zeros with the same axes.

    Axes are scores ("d"), of which number c becomes places[c], features ("p"), of which there may be more, or others.  Where
    features come first, pages of zeros are not written.
    """
    cdef Py_ssize_t first, step = max(1, BLOCK * len(old) // max(old.size, 1)), d = len(places)
    if axes[0] == "p":
        new = new[:len(old)]
        if new.shape == old.shape and new.flags.c_contiguous and old.flags.c_contiguous and places == list(range(d)):
            restore(new.reshape(-1).view(np.float64), old.reshape(-1).view(np.float64))
            return
    old = old[tuple([slice(d if axis == "d" else None) for axis in axes])]      # without what only fills up lines
    index = [places if axis == "d" else slice(n) for axis, n in zip(axes, old.shape, strict=True)]
    if axes[0] != "p":
        new[np.ix_(*index) if axes == "dd" else tuple(index)] = old
        return
    for first in range(0, len(old), step):
        part = old[first:first + step]
        if part.view(np.intp).any():
            new[(slice(first, first + len(part)), *index[1:])] = part


def padded(Py_ssize_t width, bint by_feature):
    """Return the stride of lines of that width."""
    pad = 1 if width == 1 else 4 if by_feature else 16
    return (width + pad - 1) // pad * pad


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
