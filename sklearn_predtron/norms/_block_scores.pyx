"""Scores of rows to come.

Many rows are scored at a time.  They are scored again if a step has changed a score before their turn.
"""
import numpy as np

from sklearn_predtron._core.rows cimport Rows, View
from sklearn_predtron._core.simd cimport BY_CLASS, Matrix, ScoreGradient

cdef enum:
    FEWEST = 4          # rows for which it is worth while

cdef double SPAN = 1 / 64.0     # the weight of a round in the average number of scores that steps change


cdef class BlockScores:
    """The sums <w_c, x> of the next dense rows.

    The weights W lie by class.

    They are those of the present weights, to the last bit: a step computes those that it touches again.
    """

    def __init__(self, Py_ssize_t d, Py_ssize_t p, Py_ssize_t stride, double[::1] data):
        self.none = np.zeros(d)
        self.sums = np.empty(MOST_ROWS * d)
        self.W.data, self.W.offset = &data[0], &self.none[0]
        self.W.d, self.W.stride, self.W.layout = d, stride, BY_CLASS

    cdef start(self, Rows rows, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last):
        """Set the rounds to come, from the first to the last."""
        self.rows, self.order, self.next, self.last = rows, order, first, last
        self.known = self.taken = 0

    cdef bint take(self, double scale, const double* offset, double* t) noexcept nogil:
        """Return the scores of the next round; return False where looking ahead for its row is not worth it."""
        cdef Py_ssize_t c, d = self.W.d
        cdef const double* sums
        self.touched -= SPAN * self.touched
        if self.taken == self.known and not self.look():
            self.next += 1
            return False
        sums = &self.sums[self.taken * d]
        for c in range(d):
            t[c] = scale * (sums[c] + offset[c])
        self.taken += 1
        return True

    cdef bint look(self) noexcept nogil:
        """Score as many rows as steps make worthwhile; those behind a step are scored again where it changes them."""
        cdef Py_ssize_t i, row
        cdef View x
        self.known = min(MOST_ROWS, self.last - self.next)
        if self.known * 2 * self.touched > self.W.d:
            self.known = <Py_ssize_t> (self.W.d / (2 * self.touched))
        self.taken = 0
        if self.known < FEWEST:
            self.known = 0
            return False
        for i in range(self.known):
            row = self.next + i if self.order is None else self.order[self.next + i]
            self.rows.prefetch(row)
            self.rows.view(row, &x)
            self.row[i] = x.first.value
        self.k = x.k
        self.next += self.known
        self.sum_class(0, self.W.d)
        return True

    cdef void sum_again(self, const ScoreGradient* g) noexcept nogil:
        """Record that a step has changed the classes of g; it has changed all of them, where g is NULL."""
        cdef Py_ssize_t i
        if g == NULL or g.at == NULL:
            self.touched += SPAN * self.W.d
            self.sum_class(0, self.W.d)
            return
        self.touched += SPAN * g.n
        for i in range(g.n):
            self.sum_class(g.at[i], 1)

    cdef void sum_class(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
        """Compute the sums of n classes from the first on; they are for the rows that have not been taken."""
        cdef Matrix some = self.W
        some.data += first * some.stride
        some.d = n
        if self.taken < self.known:
            self.k.scores_at(self.known - self.taken, &self.row[self.taken], self.rows.p, &some, 1, False, self.W.d,
                             &self.sums[self.taken * self.W.d + first])
