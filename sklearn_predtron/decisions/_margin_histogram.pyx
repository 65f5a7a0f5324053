"""The reject threshold of a stream.

It follows from a histogram of the margins predicted so far.
"""
from libc.math cimport exp

import numpy as np

from sklearn_predtron.decisions._bins cimport HIGHEST, LOWEST, N_BINS, PER_OCTAVE, bin_of
from sklearn_predtron._core.learner cimport Observer
from sklearn_predtron._core.problem cimport Problem
from sklearn_predtron.problems._finite cimport FiniteProblem

from sklearn_predtron._core.mixable_state import fields
from sklearn_predtron._core.state import between, reals, restored

cdef enum:
    NEWTON_STEPS = 60


cdef double MOST = 2.0 ** HIGHEST

# The least margin of each bin, and infinity.
EDGES = np.append(np.ldexp(1 + np.arange(PER_OCTAVE) / PER_OCTAVE, np.arange(LOWEST, HIGHEST)[:, None]), np.inf)
EDGES[0] = 0
MIDDLES = np.append(EDGES[:N_BINS - 1] + np.diff(EDGES[:N_BINS]) / 2, MOST)
FEW = 100      # lossy predictions: with fewer, the curve through all of them says more than each of them


cdef class MarginHistogram(Observer):
    """A histogram of margins between the two best predictions.

    Each margin was predicted before its row was learned.
    """
    cdef readonly FiniteProblem problem
    cdef double[:, ::1] seen       # weight of the rounds of each true class in each bin
    cdef double[::1] losses        # weighted loss of the best prediction in each bin
    cdef double squares            # sum of the squared weights
    cdef double unit               # of weight, grows as the past is forgotten

    def __init__(self, FiniteProblem problem not None, Py_ssize_t n_labels):
        self.watch(problem)
        if not 0 < n_labels <= problem.sigma_y.shape[0]:
            raise ValueError(f"n_labels={n_labels} must be at least 1 and at most {problem.sigma_y.shape[0]}.")
        self.seen = np.zeros((N_BINS, n_labels))
        self.losses = np.zeros(N_BINS)
        self.unit = 1

    def watch(self, FiniteProblem problem not None):
        """Observe the predictions of a problem from here on."""
        if problem.k < 2:
            raise ValueError("problem has no predictions.")
        self.problem = problem

    cdef int check(self, Problem problem) except -1:
        if problem.d != self.problem.d or (<FiniteProblem?> problem).sigma_y.shape[0] != self.seen.shape[1]:
            raise ValueError("the margins are those of another problem.")
        return 0

    def __reduce__(self):
        state = np.array(self.seen), np.array(self.losses), self.unit, self.squares
        return type(self), (self.problem, self.seen.shape[1]), state

    def __setstate__(self, state):
        pattern = reals(N_BINS, self.seen.shape[1], least=0), reals(N_BINS, least=0), between(1e-300, 1e300), between(0, 1e308)
        self.seen, self.losses, self.unit, self.squares = restored(self, state, pattern)

    def export(self):
        sums = {"seen": np.asarray(self.seen) / self.unit, "losses": np.asarray(self.losses) / self.unit}
        return fields(sum={**sums, "squares": self.squares / self.unit ** 2})

    def adopt(self, state, bint with_sums):
        sums = state["sum"] if with_sums else {"seen": 0, "losses": 0, "squares": 0}
        self.unit, self.squares = 1, sums["squares"]
        np.asarray(self.seen)[...], np.asarray(self.losses)[...] = sums["seen"], sums["losses"]

    cdef void record(self, double* t, const void* y, Py_ssize_t m, double weight, double keep) noexcept nogil:
        cdef double* s = self.problem.decoded(t, &self.problem.scratch[0])
        cdef Py_ssize_t label = (<const Py_ssize_t*> y)[0], sigma, best = 0, second = 1, slot
        if s[1] > s[0]:
            best, second = 1, 0
        for sigma in range(2, self.problem.k):
            if s[sigma] > s[best]:
                best, second = sigma, best
            elif s[sigma] > s[second]:
                second = sigma
        slot = bin_of(s[best] - s[second])
        self.unit /= keep
        if self.unit > 1e100:
            self.rescale(1 / self.unit)
            self.unit = 1
        weight *= self.unit
        self.seen[slot, label] += weight
        self.losses[slot] += weight * self.problem.loss_at(best, label)
        self.squares += weight * weight

    cdef void rescale(self, double factor) noexcept nogil:
        """Multiply the weights of all rounds so far."""
        cdef Py_ssize_t i, c
        for i in range(N_BINS):
            self.losses[i] *= factor
            for c in range(self.seen.shape[1]):
                self.seen[i, c] *= factor
        self.squares *= factor * factor

    def scale_to(self, double weight):
        """Rescale the observations to the rounds' total weight."""
        total = np.asarray(self.seen).sum()
        if total > 0:
            self.rescale(weight / total * self.unit)

    def resized(self, Problem problem not None, places):
        wide = type(self)(problem, (<FiniteProblem?> problem).sigma_y.shape[0])
        seen = np.zeros((N_BINS, (<FiniteProblem> problem).sigma_y.shape[0]))
        seen[:, places] = self.seen
        wide.__setstate__((seen, np.array(self.losses), self.unit, self.squares))
        return wide

    def threshold(self, beta):
        """Return the margin below which rejecting costs least.

        Rejecting costs beta[y]; the cost is that on past rounds, and the margin is 0 before the first one.

        It is the middle, by bins, between the margins on both sides.  Losses are those observed and, where few were, those of the
        curve C_L / (1 + e^(a m)) that is likeliest: each loss says more about it than about the margins next to its own.
        """
        seen, losses = np.asarray(self.seen), np.asarray(self.losses)
        count, trust = seen.sum(axis=1), self.trust_in_curve()
        if trust > 0:
            with np.errstate(over="ignore", under="ignore"):
                expected = self.problem.C_L * count / (1 + np.exp(self.slope(count) * MIDDLES))
            losses = trust * expected + (1 - trust) * losses
        rejected = np.append(0, np.cumsum(seen @ beta))
        kept = np.append(np.cumsum(losses[::-1])[::-1], 0)
        best = np.argmin(rejected + kept)
        below, above = np.flatnonzero(count[:best]), np.flatnonzero(count[best:])
        first = below.max(initial=-1) + 1
        last = best + (above.min() if len(above) > 0 else 0)
        return EDGES[(first + last) // 2]

    def trust_in_curve(self):
        """Return the share of the curve in the losses.

        It falls from 1 to 0 as the number of lossy rounds (Kish's effective one) grows.
        """
        if self.squares == 0:
            return 0.0
        total, lossy = np.asarray(self.seen).sum(), np.asarray(self.losses).sum() / self.problem.C_L
        return 1 / (1 + (total / self.squares * lossy / FEW) ** 2)

    cdef double slope(self, const double[::1] count) except -1:
        """Return the likeliest a >= 0 of the curve.

        The curve is given half a lossy round more, of any margin.  It is found by Newton's method in a bracket.
        """
        cdef double low = 0, high = 1, a = 0, excess = 0, curvature = 0, step, total = np.sum(count)
        cdef double prior = self.squares / total / total / 2
        if self.excess_loss(count, prior, 0, &curvature) >= 0:
            return 0
        while high < MOST * MOST and self.excess_loss(count, prior, high, &curvature) < 0:
            low, high = high, 2 * high
        a = low
        for _step in range(NEWTON_STEPS):
            excess = self.excess_loss(count, prior, a, &curvature)
            if excess < 0:
                low = a
            else:
                high = a
            step = a - excess / curvature if curvature > 0 else high
            step = step if low < step < high else (low + high) / 2
            if abs(step - a) <= 1e-9 * a:
                break
            a = step
        return a

    cdef double excess_loss(self, const double[::1] count, double prior, double a, double* curvature) except? -1:
        """Return two derivatives of minus the log-likelihood by a."""
        cdef double excess = 0, m, share
        cdef const double[::1] middle = MIDDLES
        cdef Py_ssize_t i
        curvature[0] = 0
        for i in range(N_BINS):
            if count[i] > 0:
                m = middle[i]
                share = 1 / (1 + exp(a * m))
                excess += m * (self.losses[i] / self.problem.C_L + count[i] * (prior - share))
                curvature[0] += m * m * count[i] * share * (1 - share)
        return excess
