"""What the margins predicted so far were worth: the threshold of the online reject rule."""
from libc.math cimport frexp

import numpy as np

from sklearn_predtron._core.learner cimport Observer
from sklearn_predtron.problems._base cimport Problem
from sklearn_predtron.problems._finite cimport FiniteProblem

from sklearn_predtron._core.state import between, reals, restored

cdef enum:
    PER_OCTAVE = 16     # bins between a margin and its double
    LOWEST = -20        # margins below 2^LOWEST share the first bin, those from 2^HIGHEST the last
    HIGHEST = 20
    N_BINS = (HIGHEST - LOWEST) * PER_OCTAVE


cdef double LEAST = 2.0 ** LOWEST, MOST = 2.0 ** HIGHEST

# The least margin of each bin, and infinity.
EDGES = np.append(np.ldexp(1 + np.arange(PER_OCTAVE) / PER_OCTAVE, np.arange(LOWEST, HIGHEST)[:, None]), np.inf)
EDGES[0] = 0


cdef inline Py_ssize_t bin_of(double margin) noexcept nogil:
    cdef int exponent
    cdef double mantissa
    if not margin >= LEAST:         # nor where the scores of the average overflow
        return 0
    if margin >= MOST:
        return N_BINS - 1
    mantissa = frexp(margin, &exponent)
    return (exponent - 1 - LOWEST) * PER_OCTAVE + <Py_ssize_t> ((2 * mantissa - 1) * PER_OCTAVE)


cdef class MarginHistogram(Observer):
    """A histogram of the margins between the two best predictions, each predicted before its row was learned."""
    cdef readonly FiniteProblem problem
    cdef double[:, ::1] seen       # weight of the rounds of each true class in each bin
    cdef double[::1] losses        # weighted loss of the best prediction in each bin
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
        state = np.array(self.seen), np.array(self.losses), self.unit
        return type(self), (self.problem, self.seen.shape[1]), state

    def __setstate__(self, state):
        pattern = reals(N_BINS, self.seen.shape[1], least=0), reals(N_BINS, least=0), between(1e-300, 1e300)
        self.seen, self.losses, self.unit = restored(self, state, pattern)

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
        self.seen[slot, label] += weight * self.unit
        self.losses[slot] += weight * self.unit * self.problem.loss_at(best, label)
        if self.unit > 1e100:
            self.renormalise()

    cdef void renormalise(self) noexcept nogil:
        cdef Py_ssize_t i, c
        for i in range(N_BINS):
            self.losses[i] /= self.unit
            for c in range(self.seen.shape[1]):
                self.seen[i, c] /= self.unit
        self.unit = 1

    def threshold(self, beta):
        """The margin below which rejecting, at cost beta[y], would have cost least; 0 before anything was seen."""
        rejected = np.append(0, np.cumsum(np.asarray(self.seen) @ beta))
        kept = np.append(np.cumsum(self.losses[::-1])[::-1], 0)
        return EDGES[np.argmin(rejected + kept)]
