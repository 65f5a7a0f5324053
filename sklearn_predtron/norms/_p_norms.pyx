"""The p-norms of all weights and of column lengths; see Jain et al. (2015), supplement, B.2."""
from libc.math cimport INFINITY, fabs, sqrt
from libc.math cimport pow as libm_pow

import numpy as np

from sklearn_predtron._core.rows cimport q_norm_of
from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron.norms.dual_step cimport dual_step, dual_step_classes, dual_step_columns
from sklearn_predtron.norms._dual cimport BUFFER, DualWeights
from sklearn_predtron._core.intercept cimport Intercept
from sklearn_predtron._core.memory cimport blank, erase

from sklearn_predtron._core.memory import aligned_zeros


cdef class PNormWeights(DualWeights):
    """The norm |W|_r of all entries, 1/r + 1/q = 1; the link is u = sign(theta) |theta|^(q - 1)."""

    cdef double direction_norm(self, const ScoreGradient* g) noexcept nogil:
        return q_norm_of(g.value, g.n, self.q)

    cdef void add(self, const ScoreGradient* g, double change) noexcept nogil:
        cdef Py_ssize_t i, line
        cdef double pending
        if self.by_feature:
            DualWeights.add(self, g, change)
            return
        for i in range(g.n):
            if g.value[i] != 0:
                line = (i if g.at == NULL else g.at[i]) * self.stride
                pending = self.take_first(i if g.at == NULL else g.at[i])
                self.move_all(self.n, change * g.value[i], self.input, pending, line)
                if self.intercept.fitted:
                    self.move_all(1, change * g.value[i], &self.feature, pending, line + self.last_line)
                self.moved += 1

    cdef void move_all(self, Py_ssize_t n, double change, const double* x, double pending, Py_ssize_t first) noexcept nogil:
        """Compute n weights that lie together."""
        self.mass += dual_step(n, change, x, self.q - 1, pending, &self.theta[first], &self.u[first],
                               self.first_total(first))

    cdef void move(self, const Py_ssize_t* at, const double* value, Py_ssize_t n, const ScoreGradient* g,
                   double change) noexcept nogil:
        cdef Py_ssize_t slot[BUFFER]
        cdef double step[BUFFER]
        cdef Py_ssize_t i, k, used = 0
        for k in range(n):
            self.flush_line(at[k])
            for i in range(g.n):
                if g.value[i] == 0 or value[k] == 0:
                    continue
                slot[used] = at[k] * self.stride + (i if g.at == NULL else g.at[i])
                step[used] = change * g.value[i] * value[k]
                used += 1
                if used == BUFFER:
                    self.move_slots(slot, step, used)
                    used = 0
        self.move_slots(slot, step, used)

    cdef void move_slots(self, const Py_ssize_t* slot, const double* step, Py_ssize_t n) noexcept nogil:
        """Compute weights at any places, on flushed lines."""
        cdef double theta[BUFFER]
        cdef double u[BUFFER]
        cdef Py_ssize_t i
        for i in range(n):
            theta[i] = self.theta[slot[i]]
            u[i] = self.u[slot[i]]
        self.mass += dual_step(n, 1, step, self.q - 1, 0, theta, u, NULL)
        self.moved += n
        for i in range(n):
            self.theta[slot[i]] = theta[i]
            self.u[slot[i]] = u[i]

    def inverse_link(self, W):
        return inverse_link(W, np.abs(W), self.q)

    cdef double sum_of_powers(self) noexcept nogil:
        cdef Py_ssize_t i
        cdef double total = 0
        for i in range(self.u.shape[0]):
            total += fabs(self.u[i] * self.theta[i])
        return total

    cdef double length_of_theta(self) noexcept nogil:
        return q_norm_of(&self.theta[0], self.theta.shape[0], self.q)

    cdef void raise_all(self) noexcept nogil:
        erase(self.u)
        self.mass = dual_step(self.u.shape[0], 0, &self.theta[0], self.q - 1, 0, &self.theta[0], &self.u[0], NULL)

    def length(self):
        """Return |W|_r of the predicting weights, intercept included."""
        return primal_length(np.abs(whole(self)), self.q)


cdef class GroupWeights(DualWeights):
    """The norm |W|_(2, r): the r-norm of the columns' lengths. It is for two scores or more; u_j = theta_j |theta_j|^(q - 2)."""
    cdef double[::1] part             # |theta_j|^q
    cdef double[::1] push             # of a step, for all scores
    cdef double[::1] lines_owed

    def __init__(self, Py_ssize_t d, Py_ssize_t p, Intercept intercept, double q, bint by_feature=True, int averaging=True,
                 curvature=None):
        DualWeights.__init__(self, d, p, intercept, q, by_feature, averaging, None, curvature)
        if d < 2:
            raise ValueError(f"the norm of columns is for two scores or more, got {d}.")
        self.part = aligned_zeros(self.last_line + 1 if by_feature else self.stride, self.small_pages)
        self.push = np.zeros(self.stride if by_feature else d)
        self.lines_owed = np.zeros(d)

    def arguments(self, Py_ssize_t d, Py_ssize_t p):
        return d, p, self.intercept, self.q, self.by_feature, self.averaging, self.curvature

    def arrays(self):
        part = np.asarray(self.part)
        own = [("p", part[:self.n_features]), ("n", part[self.last_line:self.last_line + 1])]
        return [*DualWeights.arrays(self), *own]

    cdef double direction_norm(self, const ScoreGradient* g) noexcept nogil:
        cdef Py_ssize_t i
        cdef double square = 0
        for i in range(g.n):
            square += g.value[i] * g.value[i]
        return sqrt(square)

    cdef void add(self, const ScoreGradient* g, double change) noexcept nogil:
        cdef Py_ssize_t i
        self.push[:] = 0
        for i in range(g.n):
            self.push[i if g.at == NULL else g.at[i]] = change * g.value[i]
        if self.by_feature:
            DualWeights.add(self, g, change)
            return
        for i in range(self.d):
            self.lines_owed[i] = self.take_first(i)
        self.move_all(self.n, self.input, self.feature)
        self.moved += self.d

    cdef void move_all(self, Py_ssize_t n, const double* x, double root) noexcept nogil:
        self.mass += dual_step_classes(
            n, x, self.last_line, root, self.d, self.stride, &self.push[0], (self.q - 2) / 2, &self.lines_owed[0], &self.theta[0],
            &self.u[0], self.first_total(0), &self.part[0])

    cdef void move(self, const Py_ssize_t* at, const double* value, Py_ssize_t n, const ScoreGradient* g,
                   double change) noexcept nogil:
        cdef double pending[BUFFER]
        cdef Py_ssize_t k, begin, m
        for begin in range(0, n, 256):
            m = min(BUFFER, n - begin)
            for k in range(m):
                pending[k] = self.take_first(at[begin + k])
            self.move_columns(m, at + begin, value + begin, pending)

    cdef void move_columns(self, Py_ssize_t n, const Py_ssize_t* at, const double* value, const double* pending) noexcept nogil:
        self.mass += dual_step_columns(n, at, value, self.stride, &self.push[0], (self.q - 2) / 2, pending, &self.theta[0],
                                       &self.u[0], self.first_total(0), &self.part[0])
        self.moved += n * self.d

    def inverse_link(self, W):
        return inverse_link(W, np.linalg.norm(W, axis=0), self.q)

    cdef double sum_of_powers(self) noexcept nogil:
        cdef Py_ssize_t j
        cdef double total = 0
        for j in range(self.last_line + 1):
            total += self.part[j]
        return total

    cdef double length_of_column(self, Py_ssize_t j) noexcept nogil:
        cdef Py_ssize_t c
        cdef double square = 0
        for c in range(self.d):
            square += self.theta[self.entry(c, j)] * self.theta[self.entry(c, j)]
        return sqrt(square)

    cdef double length_of_theta(self) noexcept nogil:
        cdef Py_ssize_t j
        cdef double largest = 0, total = 0
        for j in range(self.last_line + 1):
            largest = max(largest, self.length_of_column(j))
        if not 0 < largest < INFINITY:
            return largest
        for j in range(self.last_line + 1):
            total += libm_pow(self.length_of_column(j) / largest, self.q)
        return largest * libm_pow(total, 1 / self.q)

    cdef void raise_all(self) noexcept nogil:
        cdef Py_ssize_t j
        cdef double nothing = 0
        self.mass = 0
        erase(self.u)
        erase(self.part)
        self.push[:] = 0
        if not self.by_feature:
            self.value[:] = 0
            self.lines_owed[:] = 0
            self.move_all(self.p, &self.value[0], 0)
            return
        for j in range(self.last_line + 1):
            if not blank(&self.theta[j * self.stride], self.d):
                self.move_columns(1, &j, &nothing, &nothing)

    def length(self):
        """Return |W|_(2, r) of the predicting weights, intercept included."""
        return primal_length(np.linalg.norm(whole(self), axis=0), self.q)


def whole(DualWeights weights):
    """Return W with the column of the intercept's feature."""
    W, b = weights.mean()
    r2 = weights.intercept.r2()
    return np.column_stack([W, b / r2 ** 0.5]) if r2 > 0 else W


def primal_length(sizes, double q):
    """Return the r-norm, 1/r + 1/q = 1."""
    r = q / (q - 1)
    largest = sizes.max(initial=0)
    return 0.0 if largest == 0 else float(largest * ((sizes / largest) ** r).sum() ** (1 / r))


def inverse_link(W, sizes, double q):
    """Return Theta of W, or W of Theta with r for q.

    W = sign(Theta) |Theta|^(q - 1) / |Theta|_q^(q - 2), of entries or of columns of these sizes.
    """
    length = primal_length(sizes, q)
    share = np.divide(sizes, length, out=np.ones_like(sizes), where=sizes > 0)
    return W * share ** (q / (q - 1) - 2)
