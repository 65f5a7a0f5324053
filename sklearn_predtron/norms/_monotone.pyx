"""Weights of monotone curves under the Frobenius norm."""
import numpy as np

from sklearn_predtron._core.intercept cimport Intercept
from sklearn_predtron._core.rows cimport View
from sklearn_predtron._core.score_map cimport ScoreMap
from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron.norms._l2 cimport L2Weights

from sklearn_predtron._core.state import length_of, restored, wholes

cdef enum:
    MOST_KNOTS = 255


cdef class MonotoneWeights(L2Weights):
    """Weights of one score, some of which are in order.

    A row (first, n, sign) of `orders` is for the n hats of a column, from feature `first` on, and for the column's value behind
    them: sign times the weights of the hats does not fall, and sign times the weight of the value is not negative.  Each step is
    projected on these weights, which brings it no further from any of them (the nearest ones in the Euclidean norm, by isotonic
    regression).  They are a convex cone: averages of iterates and of models are in it, too.
    """
    cdef const Py_ssize_t[:, ::1] orders

    def __init__(self, Py_ssize_t d, Py_ssize_t p, Intercept intercept not None, bint by_feature=False, int averaging=True,
                 ScoreMap score_map=None, orders=None):
        if d != 1:
            raise ValueError(f"monotonic_cst goes with two classes, and with ranks of one direction; there are {d} scores.")
        L2Weights.__init__(self, d, p, intercept, by_feature, averaging, score_map)
        (self.orders,) = restored(self, (orders,), (wholes(length_of((orders,), 0), 3, least=-1, most=p),))
        first, n, sign = np.asarray(self.orders).T
        if not ((first >= 0) & (n >= 2) & (n <= MOST_KNOTS) & (first + n < p) & (abs(sign) == 1)).all():
            raise ValueError("orders must be of hats and values of columns, within the features, with a sign of 1 or -1.")

    def arguments(self, Py_ssize_t d, Py_ssize_t p, by_feature=None):
        return *L2Weights.arguments(self, d, p, by_feature), np.array(self.orders)

    @property
    def no_theorem_because(self):
        return "monotonic_cst, which holds for their iterates but not for the weights that these are compared with"

    cdef void step(self, View* x, const ScoreGradient* g, double size) noexcept nogil:
        cdef Py_ssize_t r, first, n, sign
        L2Weights.step(self, x, g, size)
        for r in range(self.orders.shape[0]):
            first, n, sign = self.orders[r, 0], self.orders[r, 1], self.orders[r, 2]
            self.put_in_order(first, n, sign)
            if sign * self.data[first + n] < 0:
                self.move(first + n, 0)

    cdef void put_in_order(self, Py_ssize_t first, Py_ssize_t n, Py_ssize_t sign) noexcept nogil:
        """Replace weights by the nearest ones in order: means of adjacent ones, which are pooled while they are out of order."""
        cdef Py_ssize_t j, i, last = 0
        cdef double[MOST_KNOTS] mean
        cdef Py_ssize_t[MOST_KNOTS] start
        cdef Py_ssize_t before, own
        cdef bint ordered = True
        for j in range(first, first + n - 1):
            ordered &= sign * self.data[j] <= sign * self.data[j + 1]
        if ordered:
            return
        for j in range(n):
            mean[last], start[last] = self.data[first + j], j
            while last > 0 and sign * mean[last - 1] > sign * mean[last]:
                own, before = j + 1 - start[last], start[last] - start[last - 1]
                last -= 1
                mean[last] += (mean[last + 1] - mean[last]) * own / (own + before)
            last += 1
        for i in range(last):
            for j in range(start[i], n if i == last - 1 else start[i + 1]):
                if self.data[first + j] != mean[i]:
                    self.move(first + j, mean[i])

    cdef void move(self, Py_ssize_t j, double value) noexcept nogil:
        """Change an entry of data; the sums of the iterates so far stay."""
        cdef int i
        for i in range(self.averaging):
            self.sums[i].total.data[j] += self.pending(i, value - self.data[j])
        self.data[j] = value
