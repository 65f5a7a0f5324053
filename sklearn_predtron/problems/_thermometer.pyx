"""Ranks on a scale: the thermometer code."""
from libc.math cimport sqrt

from sklearn_predtron._core.score_map cimport ScoreMap
from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron.problems._base cimport Round
from sklearn_predtron.problems._finite cimport FiniteProblem

from sklearn_predtron._parts import ORDERED_THRESHOLDS


cdef class ThermometerProblem(FiniteProblem):
    """rep(k)_j = +1 up to rank k and -1 beyond it, / sqrt(r - 1): decoded scores are sums (Milidiú and Rocha 2019, eq. 7).

    With a `SharedMap` the r - 1 scores have one direction and a threshold each.
    """

    def __init__(self, Py_ssize_t k, cost=None, ScoreMap score_map=None):
        self.set_loss(k, k - 1, cost)
        self.scale = 1 / sqrt(k - 1)
        if score_map is not None and score_map.d != k - 1:
            raise ValueError(f"a map to {score_map.d} scores does not go with {k - 1}.")
        self.score_map = self.score_map if score_map is None else score_map

    @property
    def offers(self):
        return (ORDERED_THRESHOLDS,) if self.score_map.offsets_apart else ()

    @property
    def D2(self):
        return 4.0

    def __reduce__(self):
        # The weights have a plain map too: whether they have this very one must not show in what is saved.
        return type(self), (self.k, self.cost_matrix, self.score_map if self.score_map.offsets_apart else None)

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
        """The highest of the best ranks: a score of 0 is on the upper side of its threshold."""
        return self.k - 1 - self.decision(scores)[:, ::-1].argmax(axis=1)
