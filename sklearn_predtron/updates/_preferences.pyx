"""An update of each pair of labels by itself."""
from libc.stdlib cimport calloc, free

import numpy as np

from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.problem cimport Problem, Round
from sklearn_predtron.problems._preferences cimport PreferencesProblem
from sklearn_predtron.problems._relevance cimport Relevance
from sklearn_predtron._core.rule cimport Rule

from sklearn_predtron._core.mixable_state import fields, joined, part_of
from sklearn_predtron._core.state import MOST, reals, restored, wholes


cdef class PreferencesRule(Rule):
    """One rule for all pairs.

    Each pair has its own hinge, its own step and its own share of the rule's learned state.

    The steps add up: under every norm the squared length of their sum is at most the sum of their squared lengths.
    """
    cdef readonly Rule rule
    cdef readonly Py_ssize_t d
    cdef Problem pair                       # of two labels
    cdef Round* rounds                      # of the pairs
    cdef Py_ssize_t n_steps                 # pairs that call for a step
    cdef double[::1] sums
    cdef Py_ssize_t[::1] counts

    def __init__(self, Rule rule not None, Problem pair not None, Py_ssize_t d):
        if not 0 < d < MOST or pair.d != 1:
            raise ValueError(f"d={d} must be at least 1, and a pair must have one score, got {pair.d}.")
        rule.check(pair)
        free(self.rounds)
        self.rounds = <Round*> calloc(d, sizeof(Round))
        if self.rounds == NULL:
            raise MemoryError
        self.rule, self.pair, self.d = rule, pair, d
        self.sums, self.counts = np.zeros(d), np.zeros(d, dtype=np.intp)
        self.needs_norm = self.of_each_score = True
        self.radius_needed, self.radius_of_rows, self.shrinking = rule.radius_needed, rule.radius_of_rows, rule.shrinking

    def __dealloc__(self):
        free(self.rounds)

    def __reduce__(self):
        return type(self), (self.rule, self.pair, self.d), self.state()

    def state(self):
        return np.array(self.sums), np.array(self.counts)

    def __setstate__(self, state):
        self.sums, self.counts = restored(self, state, (reals(self.d), wholes(self.d, least=0, most=MOST)))

    def export(self):
        return joined(all=self.rule.export(), each=fields(gain={"sums": np.array(self.sums), "counts": np.array(self.counts)}))

    def adopt(self, state):
        each = part_of(state, "each")["gain"]
        self.rule.adopt(part_of(state, "all"))
        self.__setstate__((each["sums"], np.asarray(each["counts"]).astype(np.intp)))

    @property
    def kind(self):
        return type(self), type(self.rule)

    @property
    def eta(self):
        """The step, where it is a number."""
        return getattr(self.rule, "eta", 0)

    cdef int check(self, Problem problem) except -1:
        if not isinstance(problem, PreferencesProblem) or problem.d != self.d:
            raise ValueError(f"{type(self).__name__} is for {self.d} pairs of labels, got a {type(problem).__name__}.")
        return 0

    cdef bint propose(self, Problem problem, double* t, const void* y, Py_ssize_t m, Round* r, ScoreGradient* g) noexcept nogil:
        r.loss = (<PreferencesProblem> problem).suffered(t, <const Relevance*> y)
        self.ask_pairs(<PreferencesProblem> problem, t, <const Relevance*> y, r, g)
        g.n = 1         # a step of one pair is as long as that of another
        return self.n_steps > 0

    cdef void ask_pairs(self, PreferencesProblem problem, double* t, const Relevance* y, Round* r,
                        ScoreGradient* g) noexcept nogil:
        """Fill in the rounds of the pairs that do not tie; g gets the pairs that call for a step."""
        cdef Py_ssize_t i, j, k = 0, first
        cdef int ahead
        cdef ScoreGradient single
        self.n_steps = 0
        for i in range(problem.n_labels):
            for j in range(i + 1, problem.n_labels):
                ahead = problem.preference(y, i, j)
                if ahead != 0:
                    first = ahead > 0
                    single.at, single.value = &g.at[self.n_steps], &g.value[self.n_steps]
                    self.rounds[k] = r[0]
                    self.rounds[k].score_gap = 0
                    if self.rule.propose(self.pair, &t[k], &first, 1, &self.rounds[k], &single) and single.value[0] != 0:
                        g.at[self.n_steps] = k
                        self.n_steps += 1
                    r.score_gap += self.rounds[k].score_gap
                k += 1

    cdef double size_of(self, ScoreGradient* g, Round* r) noexcept nogil:
        cdef Py_ssize_t step, k
        cdef double size, squares = 0
        g.n = 0
        for step in range(self.n_steps):
            k = g.at[step]
            self.rounds[k].update_norm2, self.rounds[k].radius2 = r.update_norm2, r.radius2
            self.rule.exchange(&self.sums[k], &self.counts[k])
            size = self.rule.size(&self.rounds[k])
            self.rule.exchange(&self.sums[k], &self.counts[k])
            if not size <= 0:
                g.at[g.n] = k
                g.value[g.n] = size * g.value[step]
                g.n += 1
                squares += size * size
        r.update_norm2 *= squares
        return 1 if g.n > 0 else 0

    cdef double shrinkage(self, const Round* r) noexcept nogil:
        return self.rule.shrinkage(r)
