"""Running statistics of features: one array, laid for dense rows or for sparse ones."""
from libc.string cimport memcpy

import numpy as np

from sklearn_predtron.norms._pages cimport restore

from sklearn_predtron._core.mixed import Moments
from sklearn_predtron._core.state import reals
from sklearn_predtron.norms._pages import aligned_zeros, relay, thicken

cdef enum:
    PAIR = 2        # of the fields are wanted for every row, the others for new rows
    REST = 4        # room for those


cdef class FeatureStatistics:
    """Means, inverse variances, squared deviations, counts and last refreshes of p features, as `scaling.h` says what they are.

    For sparse rows those that every row wants lie in pairs, feature by feature; for dense rows each field lies by itself.
    """

    def __init__(self, Py_ssize_t p, bint sparse, bint thin):
        cdef Py_ssize_t between
        self.room = (p + 7) // 8 * 8
        self.sparse = sparse
        self.values = aligned_zeros(self.room * (PAIR + REST if sparse else FIELDS), thin)
        self.before = np.empty(0)
        self.nbytes = self.values.nbytes
        between = 1 if sparse else self.room
        self.S.mean = &self.values[0]
        self.S.inverse = self.S.mean + between
        self.S.squares = self.S.mean + PAIR * self.room
        self.S.count, self.S.last = self.S.squares + between, self.S.squares + 2 * between
        self.S.step = PAIR if sparse else 1
        self.S.rest = REST if sparse else 1

    def field(self, Py_ssize_t which, Py_ssize_t n):
        """A statistic of the first n features, in place."""
        values, after = np.asarray(self.values), PAIR * self.room
        if not self.sparse:
            return values[which * self.room:][:n]
        return values[:after][which::PAIR][:n] if which < PAIR else values[after:][which - PAIR::REST][:n]

    def thicken(self):
        """Take huge pages."""
        thicken(self.values)

    def moments(self, rows, Py_ssize_t n):
        """Return what statistics of other rows are pooled with, of n features."""
        return Moments(rows, *[np.array(self.field(which, n)) for which in (MEAN, SQUARES, COUNT)])

    def adopt(self, moments):
        """Go on from pooled statistics, whose inverse variances are found at the next refresh."""
        rows, *found = moments
        n = len(found[0])
        for which, values in zip((MEAN, SQUARES, COUNT), found, strict=True):
            self.field(which, n)[...] = values
        self.field(INVERSE, n)[...] = 0
        self.field(LAST, n)[...] = rows

    def take_over(self, FeatureStatistics other not None):
        """Take the statistics of fewer features, which come first here."""
        cdef Py_ssize_t after = PAIR * self.room, other_after = PAIR * other.room
        values, others = np.asarray(self.values), np.asarray(other.values)
        if self.sparse:
            relay(values[:after], PAIR, others[:other_after], PAIR, list(range(PAIR)), True)
            relay(values[after:], REST, others[other_after:], REST, list(range(REST)), True)
        else:
            relay(values, self.room, others, other.room, list(range(FIELDS)), False)

    def count_zeros(self, Py_ssize_t first, Py_ssize_t last, rows):
        """Let some features have had as many zeros as there were rows."""
        cdef Py_ssize_t j
        for j in range(first, last):
            self.S.count[j * self.S.rest] = rows

    @property
    def pattern(self):
        """What a saved state of theirs holds."""
        return reals(self.values.shape[0])

    @property
    def saved(self):
        """The values, copied."""
        return np.array(self.values)

    def restore(self, const double[::1] saved not None):
        """Take over the values of a saved state."""
        restore(self.values, saved)

    def make_room_to_keep(self):
        """Get ready for `keep`."""
        if self.before.shape[0] == 0:
            self.before = np.empty(self.values.shape[0])

    cdef void keep(self) noexcept nogil:
        """Keep what a round is about to change before it is known to end."""
        memcpy(&self.before[0], &self.values[0], self.nbytes)

    cdef void go_back(self) noexcept nogil:
        """Take back what has changed since."""
        memcpy(&self.values[0], &self.before[0], self.nbytes)
