"""Predictions of the least expected cost, and of the largest expected measure; the bits of a row depend on no other row."""
from libc.math cimport INFINITY

import numpy as np


def least_expected(const double[:, ::1] probabilities not None, const double[:, ::1] costs not None):
    """Return each row's prediction with the lowest expected cost.

    Of several it is the first; costs[y, sigma] is the cost of predicting sigma for y.
    """
    return least_expected_costs(probabilities, costs)[0]


def least_expected_costs(const double[:, ::1] probabilities not None, const double[:, ::1] costs not None):
    """Return the predictions of `least_expected`, and their expected costs."""
    cdef Py_ssize_t n = probabilities.shape[0], k = costs.shape[0], i
    cdef Py_ssize_t[::1] found = np.empty(n, dtype=np.intp)
    cdef double[::1] lowest = np.empty(n), expected = np.empty(costs.shape[1])
    if probabilities.shape[1] != k:
        raise ValueError(f"probabilities must have {k} columns, got {probabilities.shape[1]}.")
    with nogil:
        for i in range(n):
            found[i] = lowest_of(&probabilities[i, 0], costs, expected)
            lowest[i] = expected[found[i]]
    return np.asarray(found), np.asarray(lowest)


def switches(const double[:, ::1] probabilities not None, const double[:, ::1] costs not None,
             const double[:, ::1] table not None):
    """Return where predictions of the lowest expected cost change.

    They change as multiples of a table are added to the costs.  The results are the predictions without it and, for each
    change, its multiplier, its row and the prediction from there on.  The changes are row by row, in the order of their
    multipliers.
    """
    cdef Py_ssize_t n = probabilities.shape[0], k = costs.shape[0], m = costs.shape[1], i, sigma, now, after, found = 0
    cdef Py_ssize_t[::1] first = np.empty(n, dtype=np.intp), row = np.empty(n * max(m - 1, 0), dtype=np.intp)
    cdef Py_ssize_t[::1] to = np.empty(row.shape[0], dtype=np.intp)
    cdef double[::1] at = np.empty(row.shape[0]), height = np.empty(m), slope = np.empty(m)
    cdef double here, crossing, nearest
    if probabilities.shape[1] != k or table.shape[0] != k or table.shape[1] != m:
        raise ValueError(f"costs and table must have one shape, and as many rows as probabilities have columns, {(k, m)}.")
    with nogil:
        for i in range(n):
            now = lowest_of(&probabilities[i, 0], costs, height)
            lowest_of(&probabilities[i, 0], table, slope)
            first[i], here = now, 0
            while True:
                after, nearest = now, INFINITY
                for sigma in range(m):
                    if slope[sigma] < slope[now]:
                        crossing = max(here, (height[sigma] - height[now]) / (slope[now] - slope[sigma]))
                        if crossing < nearest or (crossing == nearest and slope[sigma] < slope[after]):
                            after, nearest = sigma, crossing
                if not nearest < INFINITY:
                    break
                at[found], row[found], to[found] = nearest, i, after
                now, here, found = after, nearest, found + 1
    return np.asarray(first), np.asarray(at)[:found], np.asarray(row)[:found], np.asarray(to)[:found]


cdef Py_ssize_t lowest_of(const double* probabilities, const double[:, ::1] costs, double[::1] expected) noexcept nogil:
    """Return the prediction with the lowest expected cost; of several it is the first; `expected` becomes all expected costs."""
    cdef Py_ssize_t sigma, y, best = 0
    for sigma in range(costs.shape[1]):
        expected[sigma] = 0
        for y in range(costs.shape[0]):
            expected[sigma] += probabilities[y] * costs[y, sigma]
        if expected[sigma] < expected[best]:
            best = sigma
    return best


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
