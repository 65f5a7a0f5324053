"""The decision threshold of a stream.

It follows from a histogram of the scores predicted so far.
"""
import numpy as np

from sklearn_predtron.decisions._bins cimport N_BINS, bin_of
from sklearn_predtron._core.learner cimport Observer
from sklearn_predtron._core.problem cimport Problem
from sklearn_predtron.problems._finite cimport FiniteProblem
from sklearn_predtron.problems._label_sets cimport LabelSets

from sklearn_predtron.decisions._margin_histogram import MIDDLES
from sklearn_predtron._core.mixable_state import fields
from sklearn_predtron._core.state import between, count, reals, restored

# The score that stands for each bin, ascending.
PLACES = np.concatenate([-MIDDLES[::-1], MIDDLES])


cdef class ScoreHistogram(Observer):
    """Histograms of scores, by their right sign.

    Each score has one of the rounds in which it should be negative, and one of those in which it should be positive.
    """
    cdef readonly Problem problem
    cdef double[:, :, ::1] seen         # weight of the rounds of each score in each bin, negative and positive
    cdef double unit                    # of weight, grows as the past is forgotten
    cdef readonly Py_ssize_t rounds     # that were shown or recorded

    def __init__(self, Problem problem not None):
        self.watch(problem)
        self.seen = np.zeros((self.n_scores(), 2 * N_BINS, 2))
        self.unit = 1

    def watch(self, Problem problem not None):
        self.problem = problem

    cdef int check(self, Problem problem) except -1:
        if type(problem) is not type(self.problem) and problem.d != self.problem.d:
            raise ValueError("the scores are those of another problem.")
        return 0

    def n_scores(self):
        """Return the number of scores that are cut."""
        return self.problem.d

    def __reduce__(self):
        return type(self), (self.problem,), (np.array(self.seen), self.unit, self.rounds)

    def __setstate__(self, state):
        pattern = reals(*np.shape(self.seen), least=0), between(1e-300, 1e300), count
        self.seen, self.unit, self.rounds = restored(self, state, pattern)

    def export(self):
        return fields(sum={"seen": np.asarray(self.seen) / self.unit, "rounds": self.rounds})

    def adopt(self, state, bint with_sums):
        sums = state["sum"] if with_sums else {"seen": 0, "rounds": 0}
        self.unit, self.rounds, self.kept = 1, sums["rounds"], None
        np.asarray(self.seen)[...] = sums["seen"]

    cdef void open_round(self, double keep) noexcept nogil:
        """Begin a round: past rounds are weighted by `keep`."""
        cdef Py_ssize_t j, i, side
        self.rounds += 1
        self.unit /= keep
        if self.unit > 1e100:
            for j in range(self.seen.shape[0]):
                for i in range(2 * N_BINS):
                    for side in range(2):
                        self.seen[j, i, side] /= self.unit
            self.unit = 1

    cdef void add(self, Py_ssize_t j, double score, bint positive, double weight) noexcept nogil:
        """Score j of the round at hand."""
        cdef Py_ssize_t place = N_BINS + bin_of(score) if score >= 0 else N_BINS - 1 - bin_of(-score)
        self.seen[j, place, positive] += weight * self.unit

    def scale_to(self, weight):
        """Rescale the observations to the rounds' total weight."""
        total = np.asarray(self.seen[0]).sum()
        if total > 0:
            self.seen = np.asarray(self.seen) * (weight / total * self.unit)

    def resized(self, Problem problem not None, places):
        wide = type(self)(problem)
        seen = np.zeros((wide.n_scores(), 2 * N_BINS, 2))
        seen[places] = self.seen
        wide.__setstate__((seen, self.unit, self.rounds))
        return wide

    def weights(self):
        """Return the weights by score, bin and side.

        All rounds together have a weight equal to their number.
        """
        seen = np.asarray(self.seen)
        total = seen[0].sum()
        return seen * (self.rounds / total) if total > 0 else seen


cdef class ClassScores(ScoreHistogram):
    """A histogram for the second of two classes."""
    cdef FiniteProblem table

    def watch(self, Problem problem not None):
        if (<FiniteProblem?> problem).k != 2:
            raise ValueError("there are other than two classes.")
        self.problem = self.table = problem

    def n_scores(self):
        return 1

    cdef void record(self, double* t, const void* y, Py_ssize_t m, double weight, double keep) noexcept nogil:
        cdef double* s = self.table.decoded(t, &self.table.scratch[0])
        self.open_round(keep)
        self.add(0, (s[1] - s[0]) / (2 if self.table.d == 1 else 1), (<const Py_ssize_t*> y)[0] == 1, weight)


cdef class LabelScores(ScoreHistogram):
    """Histograms for all labels of a set."""

    def watch(self, Problem problem not None):
        self.problem = <LabelSets?> problem

    cdef void record(self, double* t, const void* y, Py_ssize_t m, double weight, double keep) noexcept nogil:
        cdef Py_ssize_t j
        self.open_round(keep)
        for j in range(self.problem.d):
            self.add(j, t[j], (<const unsigned char*> y)[j], weight)
