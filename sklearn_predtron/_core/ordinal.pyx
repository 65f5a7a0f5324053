"""Ranks on a scale: the thermometer code and the rule of PRank."""
from libc.math cimport sqrt

from sklearn_predtron._core.kernels cimport Direction
from sklearn_predtron._core.problem cimport Problem, Round
from sklearn_predtron._core.table cimport Table
from sklearn_predtron._core.updates cimport Update


cdef class Thermometer(Table):
    """rep(k)_j = +1 up to rank k and -1 beyond it, / sqrt(r - 1): decoded scores are cumulative sums (paper 003, eq. 7).

    `shared` says that the r - 1 scores have one direction and a threshold each.
    """

    def __init__(self, Py_ssize_t k, cost=None, bint shared=False):
        self.set_loss(k, k - 1, cost)
        self.scale = 1 / sqrt(k - 1)
        self.shared = shared

    @property
    def D2(self):
        return 4.0

    def __reduce__(self):
        return type(self), (self.k, self.cost_matrix, self.shared)

    cdef double* decoded(self, double* t, double* room) noexcept nogil:
        # Scaled at the end: sums of whole numbers are exact, and so are their ties.
        cdef Py_ssize_t j
        cdef double s = 0
        for j in range(self.d):
            s -= t[j]
        room[0] = s
        for j in range(self.d):
            s += 2 * t[j]
            room[j + 1] = s
        for j in range(self.k):
            room[j] *= self.scale
        return room

    cdef void direction(self, const void* y, Py_ssize_t m, const Round* r, Direction* g) noexcept nogil:
        cdef Py_ssize_t j
        cdef double change = 2 * self.scale if r.rival > r.right else -2 * self.scale
        g.n = 0
        for j in range(min(r.rival, r.right), max(r.rival, r.right)):
            g.at[g.n] = j
            g.value[g.n] = change
            g.n += 1

    def predict(self, const double[:, ::1] scores):
        """The highest of the best ranks: a score of 0 is on the upper side of its threshold."""
        return self.k - 1 - self.decision(scores)[:, ::-1].argmax(axis=1)


cdef class PRank(Update):
    """Every threshold on the wrong side of the score, or on it, moves by one (Crammer and Singer 2001)."""

    cdef int check(self, Problem problem) except -1:
        if not isinstance(problem, Thermometer):
            raise ValueError(f"PRank learns ranks on a scale, got a {type(problem).__name__}.")
        return 0

    cdef bint direct(self, Problem problem, double* t, const void* y, Py_ssize_t m, Round* r, Direction* g) noexcept nogil:
        cdef Py_ssize_t label = (<const Py_ssize_t*> y)[0], predicted = 0, j
        while predicted < problem.d and t[predicted] >= 0:
            predicted += 1
        r.loss = (<Table> problem).loss_at(predicted, label)
        if predicted == label:
            return False
        g.n = 0
        for j in range(problem.d):
            if t[j] <= 0 if j < label else t[j] >= 0:
                g.at[g.n] = j
                g.value[g.n] = -1 if j < label else 1
                g.n += 1
        return True

    cdef double size(self, Round* r) noexcept nogil:
        return r.weight
