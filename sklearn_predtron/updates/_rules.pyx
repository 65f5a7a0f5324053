"""Rules of the updates of any problem; they choose the competitor, and the step (self-bounding, passive-aggressive, ...)."""
from libc.math cimport INFINITY, exp, fabs, log

from sklearn_predtron._core.problem cimport Problem, Round
from sklearn_predtron._core.rule cimport Rule
from sklearn_predtron._core.simd cimport ScoreGradient

from sklearn_predtron._core.mixable_state import fields
from sklearn_predtron._core.state import count, real, restored


cdef inline bint positive(const Round* r) noexcept nogil:
    """Return whether the hinge is positive beyond rounding."""
    return r.hinge > 1e-12 * (r.competitor_loss + fabs(r.score_gap))


cdef class SteppedRule(Rule):
    """Updates with a step as a number or theory / R^2; it is the latter if `theory` > 0."""
    cdef readonly double eta, theory

    def __init__(self, double eta, double theory=0.0):
        self.eta = eta
        self.theory = theory
        self.needs_norm = self.radius_needed = theory > 0

    def __reduce__(self):
        return type(self), (self.eta, self.theory)

    cdef double size(self, Round* r) noexcept nogil:
        if self.theory > 0:
            return r.weight * self.theory / r.radius2 if r.radius2 > 0 else 0
        return r.weight * self.eta


cdef class LossAugmentedRule(SteppedRule):
    """Algorithm 1 of Jain et al. (2015)."""

    cdef bint propose(self, Problem problem, double* t, const void* y, Py_ssize_t m, Round* r, ScoreGradient* g) noexcept nogil:
        problem.loss_augmented_competitor(t, y, m, r)
        if r.loss > 0:
            problem.gradient(y, m, r, g)
        return r.loss > 0


cdef class PerceptronRule(SteppedRule):
    """The predicted competitor, a constant step."""

    cdef bint propose(self, Problem problem, double* t, const void* y, Py_ssize_t m, Round* r, ScoreGradient* g) noexcept nogil:
        problem.decode_competitor(t, y, m, r)
        if r.loss > 0:
            problem.gradient(y, m, r, g)
        return r.loss > 0


cdef class LossDrivenRule(PerceptronRule):
    """Algorithm 2 of Jain et al. (2015); on a mistake the best prediction outside Sigma_y is the prediction itself."""

    cdef double size(self, Round* r) noexcept nogil:
        return r.loss * SteppedRule.size(self, r)


cdef class PassiveAggressiveRule(Rule):
    """The least change that meets the target margin; it is softened by C."""
    cdef readonly double C, delta
    cdef readonly bint by_prediction, constant
    cdef readonly int softened            # 0: PA, 1: PA-I, 2: PA-II

    def __init__(self, double C, int softened, bint by_prediction, bint constant, double delta):
        self.C = C
        self.softened = softened
        self.by_prediction = by_prediction
        self.constant = constant
        self.delta = delta
        self.needs_norm = True

    def __reduce__(self):
        return type(self), (self.C, self.softened, self.by_prediction, self.constant, self.delta)

    cdef bint propose(self, Problem problem, double* t, const void* y, Py_ssize_t m, Round* r, ScoreGradient* g) noexcept nogil:
        if self.by_prediction:
            problem.decode_competitor(t, y, m, r)
            if r.loss == 0:
                return False
        else:
            problem.loss_augmented_competitor(t, y, m, r)
        r.hinge = self.delta * (1 if self.constant else r.competitor_loss) + r.score_gap
        if not positive(r):
            return False
        problem.gradient(y, m, r, g)
        return True

    cdef double size(self, Round* r) noexcept nogil:
        if not 0 < r.update_norm2 < INFINITY:
            return 0
        if self.softened == 2:
            return r.hinge / (r.update_norm2 + 1 / (2 * self.C * r.weight))
        if self.softened == 1:
            return min(self.C * r.weight, r.hinge / r.update_norm2)
        return r.hinge / r.update_norm2


cdef class AdaptiveRule(Rule):
    """PA-I whose cap is kappa times the geometric mean of L / g2 over the rounds with a positive hinge."""
    cdef readonly double kappa
    cdef double log_cap
    cdef Py_ssize_t count

    def __init__(self, double kappa, bint replay=False):
        self.kappa, self.replays = kappa, replay
        self.needs_norm = self.bounds_steps = True

    def __reduce__(self):
        return type(self), (self.kappa, self.replays), self.state()

    def state(self):
        return self.log_cap, self.count

    def __setstate__(self, state):
        self.log_cap, self.count = restored(self, state, (real, count))

    def export(self):
        return fields(gain={"log_cap": self.log_cap, "count": self.count})

    def adopt(self, state):
        self.__setstate__((state["gain"]["log_cap"], int(state["gain"]["count"])))

    cdef bint propose(self, Problem problem, double* t, const void* y, Py_ssize_t m, Round* r, ScoreGradient* g) noexcept nogil:
        problem.loss_augmented_competitor(t, y, m, r)
        r.hinge = r.competitor_loss + r.score_gap
        if not positive(r):
            return False
        problem.gradient(y, m, r, g)
        return True

    cdef double size(self, Round* r) noexcept nogil:
        if not 0 < r.update_norm2 < INFINITY:
            return 0
        if r.competitor_loss > 0:
            self.log_cap += log(r.competitor_loss / r.update_norm2)
            self.count += 1
        if self.count == 0:
            return r.hinge / r.update_norm2
        return min(r.weight * self.kappa * exp(self.log_cap / self.count), r.hinge / r.update_norm2)

    cdef void exchange(self, double* total, Py_ssize_t* n) noexcept nogil:
        self.log_cap, total[0] = total[0], self.log_cap
        self.count, n[0] = n[0], self.count


cdef class SubgradientRule(Rule):
    """The generalised hinge with an L2 penalty; eta 0 stands for 1 / (alpha t)."""
    cdef readonly double alpha, eta

    def __init__(self, double alpha, double eta):
        self.alpha = alpha
        self.eta = eta
        self.shrinking = alpha > 0

    def __reduce__(self):
        return type(self), (self.alpha, self.eta)

    cdef inline double rate(self, const Round* r) noexcept nogil:
        return self.eta if self.eta > 0 else 1 / (self.alpha * r.t)

    cdef bint propose(self, Problem problem, double* t, const void* y, Py_ssize_t m, Round* r, ScoreGradient* g) noexcept nogil:
        problem.loss_augmented_competitor(t, y, m, r)
        r.hinge = r.competitor_loss + r.score_gap
        if not positive(r):
            return False
        problem.gradient(y, m, r, g)
        return True

    cdef double size(self, Round* r) noexcept nogil:
        return r.weight * self.rate(r)

    cdef double shrinkage(self, const Round* r) noexcept nogil:
        return 1 - self.alpha * self.rate(r)
