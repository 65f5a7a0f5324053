"""Ranks on a scale: the thermometer code."""
from libc.math cimport sqrt

from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.problem cimport Round
from sklearn_predtron.problems._finite cimport FiniteProblem

from sklearn_predtron._support.capabilities import ORDERED_THRESHOLDS
from sklearn_predtron.norms._shared_direction import SharedMap


cdef class ThermometerProblem(FiniteProblem):
    """Ranks k with rep(k)_j = +1 up to rank k, else -1.

    rep(k) is divided by sqrt(r - 1): decoded scores are sums (Milidiú and Rocha 2019, eq. 7).

    If one direction is `shared`, each of the r - 1 scores has a threshold of its own alone.
    """

    def __init__(self, Py_ssize_t k, cost=None, bint shared=False):
        self.set_loss(k, k - 1, cost)
        self.scale = 1 / sqrt(k - 1)
        if shared:
            self.score_map = SharedMap(k - 1)

    @property
    def offers(self):
        return (ORDERED_THRESHOLDS,) if self.score_map.offsets_apart else ()

    @property
    def D2(self):
        return 4.0

    def __reduce__(self):
        return type(self), (self.k, self.cost_matrix, self.score_map.offsets_apart)

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

    cdef void gradient(self, const void* y, Py_ssize_t m, const Round* r, ScoreGradient* g) noexcept nogil:
        cdef Py_ssize_t j
        cdef double change = 2 * self.scale if r.competitor > r.sigma_y else -2 * self.scale
        g.n = 0
        for j in range(min(r.competitor, r.sigma_y), max(r.competitor, r.sigma_y)):
            g.at[g.n] = j
            g.value[g.n] = change
            g.n += 1

    def predict(self, const double[:, ::1] scores):
        """Return the highest of the best ranks; a score of 0 is on the upper side of its threshold."""
        return self.k - 1 - self.decision(scores)[:, ::-1].argmax(axis=1)
