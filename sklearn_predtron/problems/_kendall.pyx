"""Kendall's tau by hinges on pairs (UML 17.4); it is no sum over positions."""
from libc.string cimport memset

import numpy as np

from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.problem cimport Round
from sklearn_predtron.problems._ranking cimport RankingProblem


cdef class KendallTauProblem(RankingProblem):
    """L = the share of pairs in the wrong order.

    Pairs have different relevance; in rounds, scores that tie are wrong.

    The competitor is no ranking: <rep(sigma_y) - rep(competitor), t> is the mean over the pairs of the lead t_i - t_j where it
    is below the target, 1 (or not positive, for the predicted competitor), and 0 elsewhere.
    """
    cdef double[::1] delta
    cdef Py_ssize_t[::1] seen          # counts of grades in a Fenwick tree

    def lay_positions(self, Py_ssize_t m, f):
        self.delta = np.empty(m)
        self.seen = np.empty(m + 1, dtype=np.intp)

    @property
    def no_theorem_because(self):
        return "the pairwise form of loss='kendall_tau'"

    cdef bint bind_label(self, const void* y, Py_ssize_t m) noexcept nogil:
        if not RankingProblem.bind_label(self, y, m):
            return False
        self.scale = 1.0 / self.y.pairs
        return True

    cdef void worst_maximiser_loss(self, const double* t, Round* r, bint again=False) noexcept nogil:
        self.sort(t, again)
        r.loss = self.scale * self.active(0, False)

    cdef double loss_of_scores(self, const double* t) noexcept nogil:
        """Return the loss, with a pair of equal scores half wrong."""
        self.sort(t, False)
        return self.scale * (self.active(0, False) - self.tied_pairs() / 2.0)

    cdef Py_ssize_t tied_pairs(self) noexcept nogil:
        """Return the number of relevant ties; they are the pairs of different relevance and equal scores."""
        cdef Py_ssize_t x = 0, end, i, g, pairs = 0
        for g in range(self.y.n_grades):
            self.slot[g] = 0
        while x < self.n:
            end = self.end_of_tie(x)
            for i in range(x, end):
                g = self.y.grade[self.order[i].at]
                pairs += i - x - self.slot[g]
                self.slot[g] += 1
            for i in range(x, end):
                self.slot[self.y.grade[self.order[i].at]] = 0
            x = end
        return pairs

    cdef double least_loss(self) noexcept nogil:
        return self.scale

    cdef void decode_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        r.loss = r.competitor_loss = 0
        if self.bind_label(y, m):
            self.worst_maximiser_loss(t, r)
            if r.loss > 0:
                self.compare(t, 0, r)

    cdef void loss_augmented_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        r.loss = r.competitor_loss = 0
        if self.bind_label(y, m):
            self.worst_maximiser_loss(t, r)
            self.compare(t, 1, r)
        else:
            memset(&self.delta[0], 0, self.n * sizeof(double))

    cdef void gradient(self, const void* y, Py_ssize_t m, const Round* r, ScoreGradient* g) noexcept nogil:
        cdef Py_ssize_t i
        g.n = self.n
        g.at = NULL
        for i in range(self.n):
            g.value[i] = self.delta[i]

    cdef void compare(self, const double* t, double target, Round* r) noexcept nogil:
        """Compare all pairs, and fill in direction and gap; pairs count if their lead is short of the target."""
        cdef Py_ssize_t i
        memset(&self.delta[0], 0, self.n * sizeof(double))
        r.competitor_loss = self.scale * self.active(target, True)
        self.behind(target)
        r.score_gap = 0
        for i in range(self.n):
            self.delta[i] *= self.scale
            r.score_gap += self.delta[i] * t[i]

    cdef inline bint near(self, Py_ssize_t high, Py_ssize_t low, double target) noexcept nogil:
        """Return whether a lead is below the target.

        It is the lead of one place in the order over another; a lead of 0 is too small where the target is 0.
        """
        if target == 0:
            return self.order[high].key <= self.order[low].key
        return self.order[high].key - self.order[low].key < target

    cdef Py_ssize_t active(self, double target, bint noted) noexcept nogil:
        """Return the number of pairs short of the target.

        If the flag is set, delta of the more relevant items decreases by the number of their pairs.
        """
        cdef Py_ssize_t x, count, passed = 0, total = 0, G = self.y.n_grades
        memset(&self.seen[0], 0, (G + 1) * sizeof(Py_ssize_t))
        for x in range(self.n):         # less relevant items come in as the more relevant one gets worse
            while passed < self.n and self.near(x, passed, target):
                self.add(G - 1 - self.y.grade[self.order[passed].at])
                passed += 1
            count = self.below(G - 1 - self.y.grade[self.order[x].at])
            total += count
            if noted:
                self.delta[self.order[x].at] -= count
        return total

    cdef void behind(self, double target) noexcept nogil:
        """Raise delta of the less relevant items; it rises by the number of their pairs."""
        cdef Py_ssize_t x, passed = self.n - 1
        memset(&self.seen[0], 0, (self.y.n_grades + 1) * sizeof(Py_ssize_t))
        for x in range(self.n - 1, -1, -1):
            while passed >= 0 and self.near(passed, x, target):
                self.add(self.y.grade[self.order[passed].at])
                passed -= 1
            self.delta[self.order[x].at] += self.below(self.y.grade[self.order[x].at])

    cdef inline void add(self, Py_ssize_t grade) noexcept nogil:
        grade += 1
        while grade <= self.y.n_grades:
            self.seen[grade] += 1
            grade += grade & -grade

    cdef inline Py_ssize_t below(self, Py_ssize_t grade) noexcept nogil:
        """Return how many added items have a lower number."""
        cdef Py_ssize_t count = 0
        while grade > 0:
            count += self.seen[grade]
            grade -= grade & -grade
        return count
