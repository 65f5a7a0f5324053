"""Weights of monotone curves under the Frobenius norm."""
from libc.stdint cimport int32_t

import numpy as np

from sklearn_predtron._core.intercept cimport Intercept
from sklearn_predtron._core.rows cimport View, row_of
from sklearn_predtron._core.score_map cimport ScoreMap
from sklearn_predtron._core.simd cimport Row, ScoreGradient
from sklearn_predtron.norms._l2 cimport L2Weights

from sklearn_predtron._core.state import length_of, restored, wholes

cdef enum:
    MOST_KNOTS = 255


cdef class MonotoneWeights(L2Weights):
    """Weights of one score, some of which are in order.

    A row (first, m, between, n, step, sign) of `orders` is for m lines of n weights: those of the features first + i between,
    first + i between + step, ...  Along a line, sign times the weights does not fall; a weight alone is not negative, times sign.
    Each step is projected on such weights, which brings it no further from any of them: lines that it changed are replaced by
    the nearest ones in order in the Euclidean norm, by isotonic regression.  Such weights are a convex cone, so that averages of
    iterates and of models are in order, too.
    """
    cdef const Py_ssize_t[:, ::1] orders
    cdef const int32_t[::1] order_of, first_of  # each feature's row of `orders`, or -1, and the first feature of its line
    cdef Py_ssize_t[::1] at
    cdef double[::1] value              # of a row's features

    def __init__(self, Py_ssize_t d, Py_ssize_t p, Intercept intercept not None, bint by_feature=False, int averaging=True,
                 ScoreMap score_map=None, orders=None):
        if d != 1:
            raise ValueError(f"monotonic_cst goes with two classes, and with ranks of one direction; there are {d} scores.")
        L2Weights.__init__(self, d, p, intercept, by_feature, averaging, score_map)
        (self.orders,) = restored(self, (orders,), (wholes(length_of((orders,), 0), 6, least=-1, most=p),))
        self.at, self.value = np.empty(p, dtype=np.intp), np.empty(p)
        order_of, first_of = np.full(p, -1, dtype=np.int32), np.zeros(p, dtype=np.int32)
        for r, (first, m, between, n, step, sign) in enumerate(np.asarray(self.orders).tolist()):
            if not (first >= 0 and min(m, between, n, step) >= 1 and n <= MOST_KNOTS and abs(sign) == 1 and m * n <= p):
                raise ValueError("orders must have lines of 1 to 255 features, and a sign of 1 or -1.")
            begin = first + between * np.arange(m)[:, None]
            places = begin + step * np.arange(n)
            if places.max() >= p or (order_of[places] >= 0).any() or len(np.unique(places)) < m * n:
                raise ValueError("orders must have features of the rows, each of them once.")
            order_of[places], first_of[places] = r, begin
        self.order_of, self.first_of = order_of, first_of

    def arguments(self, Py_ssize_t d, Py_ssize_t p, by_feature=None):
        return *L2Weights.arguments(self, d, p, by_feature), np.array(self.orders)

    @property
    def no_theorem_because(self):
        return "monotonic_cst, which the weights that a bound compares with may violate"

    def adopt(self, state, bint with_sums):
        cdef Py_ssize_t j
        L2Weights.adopt(self, state, with_sums)
        for j in range(self.p):     # means of weights in order are in order, but for rounding
            if self.order_of[j] >= 0 and not self.is_in_order(j):
                self.put_in_order(j)

    cdef void step(self, View* x, const ScoreGradient* g, double size) noexcept nogil:
        cdef Py_ssize_t r, i
        cdef const Row* row
        cdef Row spare
        L2Weights.step(self, x, g, size)
        for r in range(x.m):
            row = row_of(x, r, &spare)
            x.k.unpack(row, 0, row.n, &self.at[0], &self.value[0])
            for i in range(row.n):
                if self.order_of[self.at[i]] >= 0 and not self.is_in_order(self.at[i]):
                    self.put_in_order(self.at[i])

    cdef inline bint is_in_order(self, Py_ssize_t j) noexcept nogil:
        """Return whether the weight of a feature is in order with its neighbours; so are the weights that a step left alone."""
        cdef const Py_ssize_t* order = &self.orders[self.order_of[j], 0]
        cdef Py_ssize_t n = order[3], step = order[4], sign = order[5], first = self.first_of[j]
        cdef double own = sign * self.data[j]
        if n == 1:
            return own >= 0
        return ((j == first or sign * self.data[j - step] <= own)
                and (j == first + (n - 1) * step or own <= sign * self.data[j + step]))

    cdef void put_in_order(self, Py_ssize_t feature) noexcept nogil:
        """Replace the weights of a feature's line by the nearest ones in order: means of neighbours that are out of order."""
        cdef const Py_ssize_t* order = &self.orders[self.order_of[feature], 0]
        cdef Py_ssize_t n = order[3], step = order[4], sign = order[5], first = self.first_of[feature]
        cdef Py_ssize_t j, i, own, before, last = 0
        cdef double[MOST_KNOTS] mean
        cdef Py_ssize_t[MOST_KNOTS] start
        cdef double* data = &self.data[first]
        if n == 1:
            self.move(first, 0)
            return
        for j in range(n):
            mean[last], start[last] = data[j * step], j
            while last > 0 and sign * mean[last - 1] > sign * mean[last]:
                own, before = j + 1 - start[last], start[last] - start[last - 1]
                last -= 1
                mean[last] += (mean[last + 1] - mean[last]) * own / (own + before)
            last += 1
        for i in range(last):
            for j in range(start[i], n if i == last - 1 else start[i + 1]):
                if data[j * step] != mean[i]:
                    self.move(first + j * step, mean[i])

    cdef void move(self, Py_ssize_t j, double value) noexcept nogil:
        """Change an entry of data; the sums of the iterates so far stay."""
        cdef int i
        for i in range(self.averaging):
            self.sums[i].total.data[j] += self.pending(i, value - self.data[j])
        self.data[j] = value
