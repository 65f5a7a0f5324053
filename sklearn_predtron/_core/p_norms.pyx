# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The p-norm of all weights, and that of their columns' lengths (paper 001, B.2)."""
from libc.math cimport INFINITY, copysign, fabs, sqrt
from libc.math cimport pow as libm_pow

import numpy as np

from sklearn_predtron._core.kernels cimport Direction, kernels_power
from sklearn_predtron._core.link cimport BUFFER, Linked
from sklearn_predtron._core.weights cimport Intercept


cdef class PNorm(Linked):
    """|W|_r of all entries, 1/r + 1/q = 1: u = sign(theta) |theta|^(q - 1)."""

    cdef double direction_norm(self, const Direction* g) noexcept nogil:
        return self.q_norm(g.value, g.n)

    cdef void move(self, const Py_ssize_t* at, const double* value, Py_ssize_t n, const Direction* g,
                   double change) noexcept nogil:
        cdef Py_ssize_t place[BUFFER]
        cdef double size[BUFFER]
        cdef Py_ssize_t i, k, spot, used = 0
        cdef double gone = 0
        cdef double *theta = &self.theta[0]
        cdef const double *u = &self.u[0]
        for k in range(n):
            self.settle(at[k])
            for i in range(g.n):
                if g.value[i] == 0 or value[k] == 0:
                    continue
                spot = at[k] * self.stride + (i if g.at == NULL else g.at[i])
                gone += fabs(u[spot] * theta[spot])
                theta[spot] += change * g.value[i] * value[k]
                place[used] = spot
                size[used] = fabs(theta[spot])
                used += 1
                if used == BUFFER:
                    self.raise_to_u(place, size, used)
                    used = 0
        self.raise_to_u(place, size, used)
        self.mass -= gone

    cdef void raise_to_u(self, const Py_ssize_t* place, const double* size, Py_ssize_t n) noexcept nogil:
        cdef double power[BUFFER]
        cdef Py_ssize_t i
        cdef double come = 0
        cdef const double *theta = &self.theta[0]
        cdef double *u = &self.u[0]
        kernels_power(n, size, self.q - 1, power)
        for i in range(n):
            u[place[i]] = copysign(power[i], theta[place[i]])
            come += power[i] * size[i]
        self.mass += come
        self.moved += n

    cdef double sum_of_powers(self) noexcept nogil:
        cdef Py_ssize_t i
        cdef double total = 0
        for i in range(self.u.shape[0]):
            total += fabs(self.u[i] * self.theta[i])
        return total

    cdef double length_of_theta(self) noexcept nogil:
        return self.q_norm(&self.theta[0], self.theta.shape[0])

    cdef void raise_all(self) noexcept nogil:
        cdef Py_ssize_t place[BUFFER]
        cdef double size[BUFFER]
        cdef Py_ssize_t i, begin, n
        self.mass = 0
        for begin in range(0, self.theta.shape[0], 256):
            n = min(BUFFER, self.theta.shape[0] - begin)
            for i in range(n):
                place[i] = begin + i
                size[i] = fabs(self.theta[begin + i])
            self.raise_to_u(place, size, n)

    def length(self):
        """|W|_r of what predicts, the intercept's feature included."""
        return primal_length(np.abs(whole(self)), self.q)


cdef class Group(Linked):
    """|W|_(2, r), the r-norm of the columns' lengths: u_j = theta_j |theta_j|^(q - 2)."""
    cdef double[::1] part             # |theta_j|^q

    def __init__(self, Py_ssize_t d, Py_ssize_t p, Intercept intercept, double q, bint averaging=True, bint block=False):
        self.part = np.zeros(p + 1)
        Linked.__init__(self, d, p, intercept, q, averaging, block)

    def __reduce__(self):
        kind, arguments, state = Linked.__reduce__(self)
        return kind, arguments, (state, np.array(self.part))

    def __setstate__(self, state):
        Linked.__setstate__(self, state[0])
        self.part = np.array(state[1])

    cdef double direction_norm(self, const Direction* g) noexcept nogil:
        cdef Py_ssize_t i
        cdef double square = 0
        for i in range(g.n):
            square += g.value[i] * g.value[i]
        return sqrt(square)

    cdef void move(self, const Py_ssize_t* at, const double* value, Py_ssize_t n, const Direction* g,
                   double change) noexcept nogil:
        cdef double square[BUFFER]
        cdef Py_ssize_t i, k, c, begin, spot
        for begin in range(0, n, 256):
            for k in range(begin, min(begin + BUFFER, n)):
                self.settle(at[k])
                spot = at[k] * self.stride
                for i in range(g.n):
                    self.theta[spot + (i if g.at == NULL else g.at[i])] += change * g.value[i] * value[k]
                square[k - begin] = 0
                for c in range(self.d):
                    square[k - begin] += self.theta[spot + c] * self.theta[spot + c]
            self.raise_to_u(at + begin, square, min(BUFFER, n - begin))

    cdef void raise_to_u(self, const Py_ssize_t* at, const double* square, Py_ssize_t n) noexcept nogil:
        cdef double factor[BUFFER]
        cdef Py_ssize_t k, c, spot
        if self.q == 2:
            for k in range(n):
                factor[k] = 1
        else:
            kernels_power(n, square, (self.q - 2) / 2, factor)
        for k in range(n):
            spot = at[k] * self.stride
            for c in range(self.d):
                self.u[spot + c] = self.theta[spot + c] * factor[k]
            self.mass += square[k] * factor[k] - self.part[at[k]]
            self.part[at[k]] = square[k] * factor[k]
        self.moved += n * self.d

    cdef double sum_of_powers(self) noexcept nogil:
        cdef Py_ssize_t j
        cdef double total = 0
        for j in range(self.p + 1):
            total += self.part[j]
        return total

    cdef double length_of_column(self, Py_ssize_t j) noexcept nogil:
        cdef Py_ssize_t c
        cdef double square = 0
        for c in range(self.d):
            square += self.theta[j * self.stride + c] * self.theta[j * self.stride + c]
        return sqrt(square)

    cdef double length_of_theta(self) noexcept nogil:
        cdef Py_ssize_t j
        cdef double largest = 0, total = 0
        for j in range(self.p + 1):
            largest = max(largest, self.length_of_column(j))
        if not 0 < largest < INFINITY:
            return largest
        for j in range(self.p + 1):
            total += libm_pow(self.length_of_column(j) / largest, self.q)
        return largest * libm_pow(total, 1 / self.q)

    cdef void raise_all(self) noexcept nogil:
        cdef Py_ssize_t at[BUFFER]
        cdef double square[BUFFER]
        cdef Py_ssize_t k, begin, n
        self.mass = 0
        self.part[:] = 0
        for begin in range(0, self.p + 1, 256):
            n = min(BUFFER, self.p + 1 - begin)
            for k in range(n):
                at[k] = begin + k
                square[k] = self.length_of_column(begin + k)
                square[k] *= square[k]
            self.raise_to_u(at, square, n)

    def length(self):
        """|W|_(2, r) of what predicts, the intercept's feature included."""
        return primal_length(np.linalg.norm(whole(self), axis=0), self.q)


def whole(Linked weights):
    """W with the column of the intercept's feature."""
    W, b = weights.mean()
    r2 = weights.intercept.r2()
    return np.column_stack([W, b / r2 ** 0.5]) if r2 > 0 else W


def primal_length(sizes, double q):
    """The r-norm, 1/r + 1/q = 1."""
    r = q / (q - 1)
    largest = sizes.max(initial=0)
    return 0.0 if largest == 0 else float(largest * ((sizes / largest) ** r).sum() ** (1 / r))
