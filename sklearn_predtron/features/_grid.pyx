"""Variance of targets explained by pairs of columns; sums have one order for any number of threads."""
from libc.stdint cimport uint8_t
from libc.string cimport memset

import numpy as np

cdef enum:
    BINS = 8                    # of a column; one more is for missing values
    SIDE = BINS + 1


def subtract_additive(double[::1] target, const uint8_t[:, ::1] bins, const double[::1] weight, double ridge,
                      Py_ssize_t sweeps, double least):
    """Subtract from a target its additive fit by least squares on bins of columns, one row of `bins` each: backfitting, in place.

    Entries have weights.  The fit ends after so many sweeps, or when a sweep explains less than a share `least` of what is left.
    """
    cdef Py_ssize_t n = target.shape[0], p = bins.shape[0], i, j, b, _turn
    cdef double[:, ::1] count = np.zeros((p, SIDE)), height = np.zeros((p, SIDE))
    cdef double total[SIDE]
    cdef double change, gain, left = 0
    with nogil:
        for i in range(n):
            left += weight[i] * target[i] * target[i]
        for j in range(p):
            for i in range(n):
                count[j, bins[j, i]] += weight[i]
        for _turn in range(sweeps):
            gain = 0
            for j in range(p):
                memset(total, 0, sizeof(total))
                for i in range(n):
                    total[bins[j, i]] += weight[i] * target[i]
                for b in range(SIDE):
                    change = (total[b] - ridge * height[j, b]) / (count[j, b] + ridge)
                    gain += change * (2 * total[b] - change * count[j, b])
                    height[j, b] += change
                    total[b] = change
                for i in range(n):
                    target[i] -= total[bins[j, i]]
            left -= gain
            if gain <= least * left:
                break


cdef double explained(const uint8_t* a, const uint8_t* b, const double[:, ::1] targets, const double[::1] weight) noexcept nogil:
    """Return the sum of squares explained by cell means; Rows with either value missing are left out."""
    cdef Py_ssize_t n = targets.shape[1], i, m, at
    cdef double count[SIDE * SIDE]
    cdef double total[SIDE * SIDE]
    cdef double result = 0, rows = 0, whole
    memset(count, 0, sizeof(count))
    for i in range(n):
        count[a[i] * SIDE + b[i]] += weight[i]
    for at in range(SIDE * SIDE):
        if at // SIDE == BINS or at % SIDE == BINS:
            count[at] = 0
        rows += count[at]
    for m in range(targets.shape[0]):
        memset(total, 0, sizeof(total))
        for i in range(n):
            total[a[i] * SIDE + b[i]] += weight[i] * targets[m, i]
        whole = 0
        for at in range(SIDE * SIDE):
            if count[at] > 0:
                result += total[at] * total[at] / count[at]
                whole += total[at]
        if rows > 0:
            result -= whole * whole / rows
    return result


def drops(const uint8_t[:, ::1] bins, const double[:, ::1] targets, const double[::1] weight, const Py_ssize_t[:, ::1] pairs):
    """Return the explained part for each pair of columns; bins[j] is of column j, 8 if missing."""
    cdef Py_ssize_t r
    cdef double[::1] found = np.zeros(pairs.shape[0])
    with nogil:
        for r in range(pairs.shape[0]):
            found[r] = explained(&bins[pairs[r, 0], 0], &bins[pairs[r, 1], 0], targets, weight)
    return np.asarray(found)
