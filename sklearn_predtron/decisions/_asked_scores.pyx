"""A record of the last rounds that tracks which of them have an abstention, to keep their share."""
from cpython.exc cimport PyErr_SetInterrupt
from libc.math cimport ceil

import numpy as np

from sklearn_predtron._core.problem cimport Problem
from sklearn_predtron.decisions._recent_scores cimport RecentScores

from sklearn_predtron._core.state import count, real, restored, whole

cdef enum:
    FOLLOWED = 100      # rounds that are followed at a time, at most

cdef double STEP = 0.005    # by which the level moves where all rounds are asked about


cdef class AskedScores(RecentScores):
    """The last rounds, and the level of what is asked about: the share of the rows on record that are above the threshold.

    After each round the level moves by STEP (rate - whether the round was asked about), by a rule of Gibbs and Candes (2021): it
    stays between -STEP and 1 + STEP, for at 0 none is asked about and at 1 all are, so that the share of T rounds
    that are asked about differs from the rate by at most (1 + STEP) / (STEP T), whatever the rows are.

    Parameters
    ----------
    problem : Problem
        Whose scores are recorded.
    kind : {"codes"}
        What a label is.
    """
    cdef readonly double correction     # the level less the rate
    cdef readonly Py_ssize_t followed   # rounds, and how many of them were asked about
    cdef readonly Py_ssize_t asked
    cdef Py_ssize_t since               # rounds that were not followed yet
    cdef Py_ssize_t of_fit              # rows of the mark that a fit has set, by whose map no round is followed
    cdef public object rule             # the decision, which measures rounds

    def sparingly(self, Py_ssize_t every):
        """Record all rounds: their share is what counts."""

    cdef void put(self, const double* t, double weight) noexcept nogil:
        RecentScores.put(self, t, weight)
        self.since += 1
        if self.since >= min(FOLLOWED, self.size):
            self.follow()

    cdef void mark(self) noexcept nogil:
        self.follow()
        RecentScores.mark(self)

    cdef void follow(self) noexcept nogil:
        """Follow the rounds since the last time, by the map of the last mark; again later, if that is interrupted."""
        if self.since > 0:
            with gil:
                try:
                    self.correction, self.followed, self.asked = self.up_to_now(self.rule)
                    self.since = 0
                except KeyboardInterrupt:
                    PyErr_SetInterrupt()        # for the loop, which looks for it after this block of rounds
                except BaseException:           # of memory; what is not followed keeps the level
                    pass

    def up_to_now(self, rule):
        """Return the correction, and the numbers of rounds that were followed and asked about, as of the last round."""
        cdef double level, correction = self.correction, rate
        cdef Py_ssize_t i, place, n, asked = 0, since = min(self.since, self.n)
        cdef const double[::1] least, known
        if since == 0 or rule is None or self.marked_at in (0, self.of_fit):
            return self.correction, self.followed, self.asked
        rate = rule.rate
        known = rule.on_record(self)
        least = rule.least_costs(self.problem, rule.map_of_record(self), self.last_scores(since))
        n = known.shape[0]
        for i in range(since):
            level = rate + correction
            place = place_of(level, n)
            if place < 0 or (place < n and least[i] > known[place]):
                asked += 1
                correction -= STEP * (1 - rate)
            else:
                correction += STEP * rate
        return correction, self.followed + since, self.asked + asked

    def last_scores(self, Py_ssize_t n):
        """Return the scores of the last n rounds."""
        return np.asarray(self.scores)[(self.head - n + np.arange(n)) % self.size]

    def go_on_from(self, RecentScores other not None):
        """Take over the record of another, of which no round was followed."""
        self.divide_by(other.class_weight)
        self.fill(other.rows())
        self.recount(other.recorded)

    def take(self, scores, labels, weight=None):
        """Record rows that were held out, and begin anew at the rate."""
        RecentScores.take(self, scores, labels, weight)
        self.of_fit = self.recorded

    def fill(self, rows):
        RecentScores.fill(self, rows)
        self.since = self.followed = self.asked = 0
        self.correction = 0

    def __reduce__(self):
        kind, arguments, state = RecentScores.__reduce__(self)
        return kind, arguments, (state, self.correction, self.followed, self.asked, self.since, self.of_fit)

    def __setstate__(self, state):
        of_rows, *numbers = restored(self, state, (tuple, real, count, count, whole(0, self.size), count))
        RecentScores.__setstate__(self, of_rows)
        self.correction, self.followed, self.asked, self.since, self.of_fit = numbers

    def resized(self, Problem problem not None, places):
        cdef AskedScores wide = RecentScores.resized(self, problem, places)
        wide.correction, wide.followed, wide.asked = self.up_to_now(self.rule)
        wide.of_fit = wide.marked_at        # the map of which was another
        return wide


cdef Py_ssize_t place_of(double level, Py_ssize_t n) noexcept nogil:
    """The place among n ascending numbers of the threshold that a share of them exceeds; -1 below all, n above all."""
    cdef double place = ceil((1 - level) * (n + 1)) - 1
    return -1 if level >= 1 or place < 0 else n if level <= 0 or place >= n else <Py_ssize_t> place


def threshold_of(const double[::1] known not None, double level, double above):
    """Return the threshold that a share of the ascending numbers exceeds; -1 below all of them, `above` above all."""
    cdef Py_ssize_t place = place_of(level, known.shape[0])
    return -1.0 if place < 0 else above if place >= known.shape[0] else known[place]
