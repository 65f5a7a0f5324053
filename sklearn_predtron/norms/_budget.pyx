"""The kernelised learner in constant memory.

A row makes place for the next, and hands its coefficients to the most similar row.
"""
from libc.math cimport INFINITY, sqrt

import numpy as np

from sklearn_predtron.norms._rkhs cimport RKHSWeights
from sklearn_predtron._core.score_map cimport ScoreMap
from sklearn_predtron._core.rows cimport Rows, View, of_doubles
from sklearn_predtron._core.simd cimport ONE_CLASS, Matrix, Row
from sklearn_predtron._core.intercept cimport Intercept
from sklearn_predtron.norms._l2 cimport IterateSum

from sklearn_predtron._core.state import MOST

# Losses that differ by less are equal: rounding, which depends on the layout of X and on blocks, does not say which row goes.
cdef double ALIKE = 1e-9


cdef class BudgetedWeights(RKHSWeights):
    """Weights that keep at most `budget` rows.

    The removed row is the one whose term a_s phi(x_s) is best replaced by a multiple of another row's, phi(x_o). That costs
    |a_s|^2 (k(s, s) - k(s, o)^2 / k(o, o)), and the other's coefficients grow by a_s k(s, o) / k(o, o). The average's terms are
    replaced alike; `lost` sums the lengths of the errors.
    """

    def __init__(self, Py_ssize_t d, Py_ssize_t p, support, Intercept intercept, Py_ssize_t budget, int averaging=True,
                 ScoreMap score_map=None):
        if not 0 < budget < MOST:
            raise ValueError(f"budget={budget} must be at least 1.")
        if support.n > budget:
            raise ValueError(f"{support.n} rows are kept, which are more than budget={budget}.")
        self.budget = budget
        self.among = np.zeros((1, 1))
        self.apart = np.zeros(budget)
        self.nearest, self.of_call = np.zeros(budget, dtype=np.intp), np.full(budget, -1, dtype=np.intp)
        self.with_block = np.zeros((0, 0))
        RKHSWeights.__init__(self, d, p, support, intercept, averaging, score_map)

    def arguments(self, Py_ssize_t d, Py_ssize_t p, by_feature=None):
        d, p, support, intercept, *more = RKHSWeights.arguments(self, d, p)
        return d, p, support, intercept, self.budget, *more

    def arrays(self):
        coefficients, n = RKHSWeights.arrays(self), self.n
        return [*coefficients, ("pp", np.asarray(self.among[:n, :n])), ("p", np.asarray(self.apart[:n])),
                ("p", np.asarray(self.nearest[:n]), -1, n - 1)]

    @property
    def no_theorem_because(self):
        return f"norm=RKHS(budget={self.budget}), which cuts off part of the weights"

    cdef open_call(self, Rows rows, bint fresh, bint undo_needed):
        RKHSWeights.open_call(self, rows, fresh, undo_needed)
        if fresh:
            self.of_call[:] = -1

    cdef score_call(self):
        """Compute the scores from the few rows kept; the rows change too often to update scores incrementally."""

    cdef make_room(self, Py_ssize_t rows):
        RKHSWeights.make_room(self, min(rows, self.budget - self.n))
        cdef Py_ssize_t room = min(self.number.shape[0], self.budget)
        if room > self.among.shape[0]:
            among = np.zeros((room, room))
            among[:self.n, :self.n] = self.among[:self.n, :self.n]
            self.among = among

    cdef prepare(self):
        self.with_block = np.zeros((self.length_of_block, self.among.shape[0]))
        if self.n > 0:
            np.asarray(self.with_block)[:, :self.n] = self.support.against(self.block_rows, 0, self.n)

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        self.here = self.next
        self.next += x.m
        self.sum_up(x.m, &self.data[0], &self.b[0], self.scale, False, t)
        self.look_at_lengths(x.m, t)

    cdef void mean_scores(self, const View* x, int which, double* t) noexcept nogil:
        cdef const IterateSum* s = self.sum_of(which)
        cdef double share, of_total
        self.shares(which, &share, &of_total)
        self.sum_up(x.m, &self.data[0], &self.b[0], share, False, t)
        if s != NULL:
            self.sum_up(x.m, s.total.data, s.total.offset, of_total, True, t)

    cdef void sum_up(self, Py_ssize_t m, const double* coefficients, const double* offset, double scale, bint more,
                     double* t) noexcept nogil:
        """Return the scores of the round's rows by the rows kept; nothing remains of removed rows, not even their rounding."""
        cdef Py_ssize_t i, s, c, d = self.d
        cdef double part
        cdef Matrix one
        cdef Row kernels
        if d == 1:
            one.data, one.offset, one.d, one.stride, one.layout = <double*> coefficients, <double*> offset, 1, self.n, ONE_CLASS
            kernels.n, kernels.index = self.n, NULL
            for i in range(m):
                kernels.value = &self.with_block[self.here + i, 0]
                of_doubles(False).scores[ONE_CLASS](1, &kernels, NULL, &one, scale, more, t + i)
            return
        for i in range(m):
            for c in range(d):
                t[i * d + c] = (t[i * d + c] if more else 0) + scale * offset[c]
            for s in range(self.n):
                part = scale * self.with_block[self.here + i, s]
                for c in range(d):
                    t[i * d + c] += part * coefficients[s * d + c]

    cdef void move_scores(self, int which, Py_ssize_t row, Py_ssize_t c, double change) noexcept nogil:
        """Change no scores: each round sums its scores up."""

    cdef Py_ssize_t place_for(self, Py_ssize_t row) noexcept nogil:
        cdef Py_ssize_t slot = self.slot[self.position[row]]
        if slot >= 0:
            return slot
        if self.n < self.budget:
            slot = self.n
            self.n += 1
        else:
            slot = self.cut()
        self.slot[self.position[row]] = slot
        self.of_call[slot] = self.position[row]
        self.source[slot] = row
        self.install(slot, row)
        return slot

    cdef double squared_loss(self, Py_ssize_t slot) noexcept nogil:
        """Return the squared length of the loss without the row; no factor is squared alone, since it may overflow."""
        cdef Py_ssize_t c
        cdef double square = 0, root = sqrt(self.apart[slot]), part
        for c in range(self.d):
            part = root * self.data[slot * self.d + c]
            square += part * part
        return square

    cdef Py_ssize_t cut(self) noexcept nogil:
        """Free the place of the row with the least loss."""
        cdef Py_ssize_t slot, least = 0, other
        cdef double loss, least_loss = INFINITY
        for slot in range(self.n):
            loss = self.squared_loss(slot)
            if loss < (1 - ALIKE) * least_loss:
                least, least_loss = slot, loss
        self.truncation_loss += self.scale * sqrt(least_loss)
        other = self.nearest[least]
        if other >= 0:
            self.hand_over(least, other, self.among[least, other] / self.among[other, other])
        self.hand_over(least, least, -1)
        if self.of_call[least] >= 0:
            self.slot[self.of_call[least]] = -1
        return least

    cdef void hand_over(self, Py_ssize_t slot, Py_ssize_t other, double part) noexcept nogil:
        """Another row's coefficients grow by part of a row's."""
        cdef Py_ssize_t c
        cdef int which
        cdef double* total
        for c in range(self.d):
            self.data[other * self.d + c] += part * self.data[slot * self.d + c]
            for which in range(self.averaging):
                total = self.sums[which].total.data
                total[other * self.d + c] += part * total[slot * self.d + c]

    cdef void install(self, Py_ssize_t slot, Py_ssize_t row) noexcept nogil:
        """Compute the kernels of a block's row to be kept."""
        cdef Py_ssize_t k, other
        for k in range(self.length_of_block):
            self.with_block[k, slot] = self.K[k, row]
        for other in range(self.n):
            self.among[slot, other] = self.among[other, slot] = self.with_block[row, other]
        self.find_nearest(slot)
        for other in range(self.n):
            if other == slot:
                continue
            if self.nearest[other] == slot:
                self.find_nearest(other)
            else:
                self.compare(other, slot)

    cdef void find_nearest(self, Py_ssize_t slot) noexcept nogil:
        cdef Py_ssize_t other
        self.nearest[slot] = -1
        self.apart[slot] = max(self.among[slot, slot], 0)
        for other in range(self.n):
            if other != slot:
                self.compare(slot, other)

    cdef void compare(self, Py_ssize_t slot, Py_ssize_t other) noexcept nogil:
        """Check whether another row is the nearest so far."""
        cdef double k = self.among[slot, other], left
        if self.among[other, other] > 0:
            left = self.among[slot, slot] - k * (k / self.among[other, other])
            if left < ALIKE * self.among[slot, slot]:
                left = 0
            if left < (1 - ALIKE) * self.apart[slot]:
                self.apart[slot] = left
                self.nearest[slot] = other
