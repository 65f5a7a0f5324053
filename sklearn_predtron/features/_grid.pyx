"""Variance of targets explained by pairs of columns.

Sums have one order for any number of threads.
"""
from libc.stdint cimport uint8_t
from libc.string cimport memset

import numpy as np

cdef enum:
    BINS = 8                    # of a column; one more is for missing values
    SIDE = BINS + 1


def subtract_fit(double[::1] target, const double[:, ::1] columns, double ridge, Py_ssize_t sweeps):
    """Subtract a target's least-squares fit, in place.

    Each column is a row of the matrix; the fit is by coordinate descent.
    """
    cdef Py_ssize_t n = target.shape[0], p = columns.shape[0], i, j, _turn
    cdef double[::1] weight = np.zeros(p), norm2 = np.zeros(p)
    cdef double change, product
    with nogil:
        for j in range(p):
            for i in range(n):
                norm2[j] += columns[j, i] * columns[j, i]
        for _turn in range(sweeps):
            for j in range(p):
                if norm2[j] == 0:
                    continue
                product = 0
                for i in range(n):
                    product += columns[j, i] * target[i]
                change = (product - ridge * weight[j]) / (norm2[j] + ridge)
                weight[j] += change
                for i in range(n):
                    target[i] -= change * columns[j, i]


cdef double explained(const uint8_t* a, const uint8_t* b, const double[:, ::1] targets) noexcept nogil:
    """Return the sum of squares explained by cell means.

    Rows with either value missing are left out.
    """
    cdef Py_ssize_t n = targets.shape[1], i, m, at
    cdef double count[SIDE * SIDE]
    cdef double total[SIDE * SIDE]
    cdef double result = 0, rows = 0, whole
    memset(count, 0, sizeof(count))
    for i in range(n):
        count[a[i] * SIDE + b[i]] += 1
    for at in range(SIDE * SIDE):
        if at // SIDE == BINS or at % SIDE == BINS:
            count[at] = 0
        rows += count[at]
    for m in range(targets.shape[0]):
        memset(total, 0, sizeof(total))
        for i in range(n):
            total[a[i] * SIDE + b[i]] += targets[m, i]
        whole = 0
        for at in range(SIDE * SIDE):
            if count[at] > 0:
                result += total[at] * total[at] / count[at]
                whole += total[at]
        if rows > 0:
            result -= whole * whole / rows
    return result


def drops(const uint8_t[:, ::1] bins, const double[:, ::1] targets, const Py_ssize_t[:, ::1] pairs):
    """Return the explained part for each pair of columns.

    bins[j] is of column j, 8 if missing.
    """
    cdef Py_ssize_t r
    cdef double[::1] found = np.zeros(pairs.shape[0])
    with nogil:
        for r in range(pairs.shape[0]):
            found[r] = explained(&bins[pairs[r, 0], 0], &bins[pairs[r, 1], 0], targets)
    return np.asarray(found)
