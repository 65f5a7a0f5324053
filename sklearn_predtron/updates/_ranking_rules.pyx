"""Updates whose direction follows from pairs of items; there is no competitor."""
from libc.math cimport INFINITY, exp, sqrt
from libc.stdint cimport uint64_t

from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.problem cimport Problem, Round
from sklearn_predtron.problems._ranking cimport Pair, RankingProblem
from sklearn_predtron._core.rule cimport Rule

from sklearn_predtron._core.mixable_state import fields
from sklearn_predtron._core.state import between, restored, whole


cdef class ScheduledRule(Rule):
    """Updates with a step eta, or eta / sqrt(t) where `fading`."""
    cdef readonly double eta
    cdef readonly bint fading

    def __init__(self, double eta, bint fading=False):
        self.eta = eta
        self.fading = fading

    def __reduce__(self):
        return type(self), (self.eta, self.fading)

    cdef int check(self, Problem problem) except -1:
        return of_rankings(self, problem)

    cdef bint propose(self, Problem problem, double* t, const void* y, Py_ssize_t m, Round* r, ScoreGradient* g) noexcept nogil:
        r.loss = 0
        if not (<RankingProblem> problem).bind_label(y, m):
            return False
        (<RankingProblem> problem).worst_maximiser_loss(t, r)
        return self.fill_gradient(<RankingProblem> problem, t, r, g)

    cdef bint fill_gradient(self, RankingProblem ranking, const double* t, Round* r, ScoreGradient* g) noexcept nogil:
        """Fill g for a ranked list that calls for a step."""
        return False

    cdef double size(self, Round* r) noexcept nogil:
        return r.weight * (self.eta / sqrt(<double> r.t) if self.fading else self.eta)


cdef int of_rankings(Rule update, Problem problem) except -1:
    if not isinstance(problem, RankingProblem):
        raise ValueError(f"{type(update).__name__} is for rankings, got a {type(problem).__name__}.")
    return 0


cdef inline void clear(ScoreGradient* g, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    g.n = n
    g.at = NULL
    for i in range(n):
        g.value[i] = 0


cdef class RankingLossAugmentedRule(Rule):
    """Algorithm 1 of Jain et al. (2015) for lists.

    It has Theorem 1's step: c_L is the least positive loss of the lists with a loss so far.
    """
    cdef double D2       # of the list at hand

    def __init__(self):
        self.needs_norm = self.radius_needed = True

    cdef int check(self, Problem problem) except -1:
        return of_rankings(self, problem)

    def __reduce__(self):
        return type(self), (), self.c_L_seen

    def state(self):
        return self.c_L_seen

    def __setstate__(self, state):
        self.c_L_seen = restored(self, state, between(0, INFINITY))

    def export(self):
        return fields(least={"c_L": self.c_L_seen})

    def adopt(self, state):
        self.__setstate__(state["least"]["c_L"])

    cdef bint propose(self, Problem problem, double* t, const void* y, Py_ssize_t m, Round* r, ScoreGradient* g) noexcept nogil:
        problem.loss_augmented_competitor(t, y, m, r)
        if r.loss == 0:
            return False
        self.c_L_seen = min(self.c_L_seen, (<RankingProblem> problem).least_loss())
        self.D2 = (<RankingProblem> problem).spread((<RankingProblem> problem).n)
        problem.gradient(y, m, r, g)
        return True

    cdef double size(self, Round* r) noexcept nogil:
        return r.weight * self.c_L_seen / (self.D2 * r.radius2) if r.radius2 > 0 else 0


cdef class SlamRule(ScheduledRule):
    """The perceptron of the SLAM surrogates.

    See Chaudhuri and Tewari (2015), eq. 9 and 16.

    With `theory` the step is v / (D^2 R^2), with the least positive weight v and the largest |x| so far.
    """
    cdef readonly bint theory
    cdef double D2       # of pairs

    def __init__(self, double eta, bint fading=False, bint theory=False):
        ScheduledRule.__init__(self, eta, fading)
        self.theory = self.needs_norm = self.radius_needed = self.radius_of_rows = theory

    def __reduce__(self):
        return type(self), (self.eta, self.fading, self.theory), self.c_L_seen

    def state(self):
        return self.c_L_seen

    def __setstate__(self, state):
        self.c_L_seen = restored(self, state, between(0, INFINITY))

    def export(self):
        return fields(least={"c_L": self.c_L_seen})

    def adopt(self, state):
        self.__setstate__(state["least"]["c_L"])

    cdef bint fill_gradient(self, RankingProblem ranking, const double* t, Round* r, ScoreGradient* g) noexcept nogil:
        cdef Py_ssize_t i, grade, top
        cdef double weight
        if r.loss == 0:
            return False
        clear(g, ranking.n)
        ranking.span(t)
        self.D2 = 4 if ranking.score_map.offsets_cancel else 2
        top = ranking.y.n_grades - 1
        for grade in range(ranking.y.n_grades - 1, -1, -1):
            ranking.slot[grade] = ranking.top_at[top]      # the best item of the lower grades
            if ranking.top[grade] > ranking.top[top]:
                top = grade
            weight = ranking.slam_weight(grade)
            ranking.bottom[grade] = weight
            if weight > 0 and grade < ranking.y.n_grades - 1:      # the lowest grade is never behind
                self.c_L_seen = min(self.c_L_seen, weight)
        for i in range(ranking.n):
            grade = ranking.y.grade[i]
            if grade < ranking.y.n_grades - 1:
                top = ranking.slot[grade]
                if 1 + t[top] - t[i] > 0:
                    g.value[top] += ranking.bottom[grade]
                    g.value[i] -= ranking.bottom[grade]
        return True

    cdef double size(self, Round* r) noexcept nogil:
        if self.theory:
            return r.weight * self.c_L_seen / (self.D2 * r.radius2) if r.radius2 > 0 else 0
        return ScheduledRule.size(self, r)


cdef class MaxPairRule(ScheduledRule):
    """The second algorithm of Chaudhuri and Tewari (2015); it steps along the pair that is furthest from the right order."""
    cdef readonly bint weighted

    def __init__(self, double eta, bint weighted):
        ScheduledRule.__init__(self, eta)
        self.weighted = weighted

    def __reduce__(self):
        return type(self), (self.eta, self.weighted)

    cdef bint fill_gradient(self, RankingProblem ranking, const double* t, Round* r, ScoreGradient* g) noexcept nogil:
        cdef Pair pair
        if r.loss == 0:
            return False
        clear(g, ranking.n)
        ranking.widest(t, &pair)
        g.value[pair.low] = 1
        g.value[pair.high] = -1
        return True

    cdef double size(self, Round* r) noexcept nogil:
        return ScheduledRule.size(self, r) * (r.loss if self.weighted else 1)


cdef class ListNetRule(ScheduledRule):
    """Gradient of ListNet's cross entropy.

    It is that between softmax(relevance) and softmax(scores), in every round with two relevances.
    """

    cdef bint fill_gradient(self, RankingProblem ranking, const double* t, Round* r, ScoreGradient* g) noexcept nogil:
        cdef Py_ssize_t i
        cdef double most = -INFINITY, scores = 0, relevances = 0, highest
        highest = ranking.y.value[0]
        for i in range(ranking.n):
            most = max(most, t[i])
        clear(g, ranking.n)
        for i in range(ranking.n):
            g.value[i] = exp(t[i] - most)
            scores += g.value[i]
            relevances += exp(ranking.y.value[ranking.y.grade[i]] - highest)
        for i in range(ranking.n):
            g.value[i] = g.value[i] / scores - exp(ranking.y.value[ranking.y.grade[i]] - highest) / relevances
        return True


cdef enum Cost:
    IS_ERROR
    ERROR_SET
    NORMALISED

cdef enum Spread:
    UNIFORM
    MOST
    RANDOM

COSTS = {"is_error": IS_ERROR, "error_set": ERROR_SET, "normalised": NORMALISED}
SPREADS = {"uniform": UNIFORM, "max": MOST, "random": RANDOM}


cdef class MMPRule(ScheduledRule):
    """Multiclass multilabel perceptron (Crammer and Singer 2003); of a pair in error one label rises, the other falls."""
    cdef readonly str cost, weights
    cdef Cost of
    cdef Spread spread
    cdef uint64_t drawn

    def __init__(self, double eta, str cost, str weights):
        ScheduledRule.__init__(self, eta)
        self.cost, self.weights = cost, weights
        self.of, self.spread = COSTS[cost], SPREADS[weights]

    def __reduce__(self):
        return type(self), (self.eta, self.cost, self.weights), self.drawn

    def state(self):
        return self.drawn

    def __setstate__(self, state):
        self.drawn = restored(self, state, whole(0, 2 ** 64 - 1))

    def restart(self, seed):
        self.drawn = seed

    cdef bint fill_gradient(self, RankingProblem ranking, const double* t, Round* r, ScoreGradient* g) noexcept nogil:
        cdef Py_ssize_t i, errors
        cdef double c = 1, total
        errors = count_errors(ranking, t)
        if errors == 0:
            return False
        if self.of != IS_ERROR:
            c = errors if self.of == ERROR_SET else <double> errors / ranking.y.pairs
        clear(g, ranking.n)
        if self.spread == MOST:
            most_wrong(ranking, t, g, c)
        else:
            total = self.weigh_errors(ranking, t, g)
            for i in range(g.n):
                g.value[i] *= c / total
        return True

    cdef double weigh_errors(self, RankingProblem ranking, const double* t, ScoreGradient* g) noexcept nogil:
        """Weigh each pair in error; return the sum.

        The weight is taken from the more relevant label and given to the other one.
        """
        cdef Py_ssize_t i, j
        cdef double weight = 1, total = 0
        for i in range(ranking.n):
            for j in range(ranking.n):
                if ranking.y.grade[i] < ranking.y.grade[j] and t[i] <= t[j]:
                    if self.spread == RANDOM:
                        weight = self.draw()
                    g.value[i] -= weight
                    g.value[j] += weight
                    total += weight
        return total

    cdef double draw(self) noexcept nogil:
        """Return the next random number of (0, 1) (splitmix64)."""
        cdef uint64_t z
        self.drawn += 0x9E3779B97F4A7C15ULL
        z = self.drawn
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL
        return (<double> ((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0


cdef Py_ssize_t count_errors(RankingProblem ranking, const double* t) noexcept nogil:
    """Return the number of pairs in error; the more relevant label of such a pair does not lead."""
    cdef Py_ssize_t i, j, errors = 0
    for i in range(ranking.n):
        for j in range(ranking.n):
            errors += (ranking.y.grade[i] < ranking.y.grade[j]) & (t[i] <= t[j])
    return errors


cdef void most_wrong(RankingProblem ranking, const double* t, ScoreGradient* g, double c) noexcept nogil:
    """Weigh only the pair furthest from the right order."""
    cdef Pair pair
    ranking.widest(t, &pair)
    g.value[pair.high] = -c
    g.value[pair.low] = c
