"""A record of recent rounds and of their abstentions; the share of abstentions is kept at a rate."""
from cpython.exc cimport PyErr_SetInterrupt
from libc.math cimport ceil

import numpy as np

from sklearn_predtron._core.problem cimport Problem
from sklearn_predtron.decisions._recent_scores cimport RecentScores

from sklearn_predtron._core.state import count, real, restored, whole

cdef enum:
    FOLLOWED = 100      # rounds that are followed at a time, at most

cdef double STEP = 0.005    # by which the level moves if all rounds have an abstention


cdef class RejectionTracker(RecentScores):
    """The last rounds, and the level of abstention.

    The level is the share of the recorded rows that are above the threshold.

    After each round the level moves by STEP (rate - whether the round has an abstention), by a rule of Gibbs and Candes (2021).
    It stays between -STEP and 1 + STEP, because at 0 no round has an abstention and at 1 all have.  The share of abstentions in T
    rounds therefore differs from the rate by at most (1 + STEP) / (STEP T), whatever the rows are.

    Parameters
    ----------
    problem : Problem
        Whose scores are recorded.
    kind : {"codes"}
        The form of a label.
    """
    cdef readonly double correction     # the level less the rate
    cdef readonly Py_ssize_t followed   # rounds, and how many of them had an abstention
    cdef readonly Py_ssize_t asked
    cdef Py_ssize_t since               # rounds that were not followed yet
    cdef Py_ssize_t of_fit              # rows of the mark that a fit has set, by whose map no round is followed
    cdef public object rule             # the decision, which measures rounds

    def sparingly(self, Py_ssize_t every):
        """Record all rounds, because the share counts each one."""

    cdef void put(self, const double* t, double weight) noexcept nogil:
        RecentScores.put(self, t, weight)
        self.since += 1
        if self.since >= min(FOLLOWED, self.size):
            self.follow()

    cdef void mark(self) noexcept nogil:
        self.follow()
        RecentScores.mark(self)

    cdef void follow(self) noexcept nogil:
        """Follow the rounds since the last time.

        The map is that of the last mark.  If this is interrupted, the same rounds are followed later.
        """
        if self.since > 0:
            with gil:
                try:
                    self.correction, self.followed, self.asked = self.up_to_now(self.rule)
                    self.since = 0
                except KeyboardInterrupt:
                    PyErr_SetInterrupt()        # for the loop, which checks for it after this block of rounds
                except BaseException:           # of memory; a round that is not followed keeps the level
                    pass

    def up_to_now(self, rule):
        """Return the correction and the counts of rounds.

        They are the rounds that were followed and those with an abstention, as of the last round.
        """
        cdef double level, correction = self.correction, rate
        cdef Py_ssize_t i, place, n, asked = 0, since = min(self.since, self.n)
        cdef const double[::1] least, known
        if since == 0 or rule is None or self.marked_at in (0, self.of_fit):
            return self.correction, self.followed, self.asked
        rate = rule.rate
        known, least = rule.costs_since(self, self.last_scores(since))
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
        """Take over a record without followed rounds."""
        self.fill(other.rows())
        self.recount(other.recorded)

    def take(self, scores, labels, weight=None):
        """Record held-out rows, and restart at the rate."""
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
        cdef RejectionTracker wide = RecentScores.resized(self, problem, places)
        wide.correction, wide.followed, wide.asked = self.up_to_now(self.rule)
        wide.of_fit = wide.marked_at        # the map of which was another
        return wide


cdef Py_ssize_t place_of(double level, Py_ssize_t n) noexcept nogil:
    """Return the place of the threshold for a share.

    A share of the n ascending numbers exceeds the threshold; -1 is below all of them, n above all.
    """
    cdef double place = ceil((1 - level) * (n + 1)) - 1
    return -1 if level >= 1 or place < 0 else n if level <= 0 or place >= n else <Py_ssize_t> place


def threshold_of(const double[::1] known not None, double level, double above):
    """Return the threshold that a share of numbers exceeds.

    The numbers are in ascending order; -1 is below all of them, `above` above all.
    """
    cdef Py_ssize_t place = place_of(level, known.shape[0])
    return -1.0 if place < 0 else above if place >= known.shape[0] else known[place]
