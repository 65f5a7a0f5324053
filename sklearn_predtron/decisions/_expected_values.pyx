"""Predictions of the least expected cost, and of the largest expected measure.

The bits of a row depend on no other row.
"""
from libc.math cimport INFINITY

import numpy as np


def least_expected(const double[:, ::1] probabilities not None, const double[:, ::1] costs not None):
    """Return each row's prediction with the lowest expected cost.

    Of several it is the first; costs[y, sigma] is the cost of predicting sigma for y.
    """
    return least_expected_costs(probabilities, costs)[0]


def least_expected_costs(const double[:, ::1] probabilities not None, const double[:, ::1] costs not None):
    """Return the predictions of `least_expected`, and their expected costs."""
    cdef Py_ssize_t n = probabilities.shape[0], k = costs.shape[0], m = costs.shape[1], i, y, sigma, best
    cdef Py_ssize_t[::1] found = np.empty(n, dtype=np.intp)
    cdef double[::1] lowest = np.empty(n)
    cdef double cost, least
    if probabilities.shape[1] != k:
        raise ValueError(f"probabilities must have {k} columns, got {probabilities.shape[1]}.")
    with nogil:
        for i in range(n):
            best, least = 0, INFINITY
            for sigma in range(m):
                cost = 0
                for y in range(k):
                    cost += probabilities[i, y] * costs[y, sigma]
                if cost < least:
                    best, least = sigma, cost
            found[i] = best
            lowest[i] = least
    return np.asarray(found), np.asarray(lowest)


cdef void add_label(double* of_count, Py_ssize_t n, double p) noexcept nogil:
    """Add a label to the distribution of a count.

    The probabilities of the number of n labels that are on become those of n + 1 labels.  The last label has probability p.
    """
    cdef Py_ssize_t i
    of_count[n + 1] = 0
    for i in range(n + 1, 0, -1):
        of_count[i] = of_count[i] * (1 - p) + of_count[i - 1] * p
    of_count[0] *= 1 - p


def most_expected(const double[:, ::1] probabilities not None, const Py_ssize_t[:, ::1] order not None, double hits,
                  double in_both, double missed):
    """Return how many labels to predict.

    The most probable labels are predicted, as many as have the largest expected measure.

    The measure of k labels with i hits, where j are missed, is hits * i / (k + in_both * i + missed * j), and 1 of none where
    none is on; labels are independent given their probabilities, and order has them, the most probable first.
    """
    cdef Py_ssize_t n = probabilities.shape[0], m = probabilities.shape[1], row, k, i, j
    cdef Py_ssize_t[::1] found = np.empty(n, dtype=np.intp)
    cdef double[::1] above = np.empty(m + 2)
    cdef double[:, ::1] below = np.empty((m + 1, m + 2))
    cdef double best, value, expected
    if order.shape[0] != n or order.shape[1] != m:
        raise ValueError(f"order must have shape {(n, m)}.")
    if n and m and not (np.min(order) >= 0 and np.max(order) < m):
        raise ValueError(f"order must hold numbers from 0 to {m - 1}.")
    with nogil:
        for row in range(n):
            expected = 0
            below[m, 0] = 1
            for k in range(m - 1, -1, -1):
                for j in range(m - k):
                    below[k, j] = below[k + 1, j]
                add_label(&below[k, 0], m - k - 1, probabilities[row, order[row, k]])
                expected += probabilities[row, order[row, k]]
            best, found[row] = below[0, 0], 0
            above[0] = 1
            for k in range(1, m + 1):
                if hits * expected / k <= best:       # no larger set can be better
                    break
                add_label(&above[0], k - 1, probabilities[row, order[row, k - 1]])
                value = 0
                for i in range(1, k + 1):
                    for j in range(m - k + 1):
                        if below[k, j] < 1e-12:
                            if j > expected:
                                break
                            continue
                        value += above[i] * below[k, j] * hits * i / (k + in_both * i + missed * j)
                if value > best:
                    best, found[row] = value, k
    return np.asarray(found)
