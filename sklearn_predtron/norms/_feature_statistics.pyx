"""Running statistics of features; they are one array, arranged for dense rows or for sparse ones."""
from libc.string cimport memcpy

import numpy as np

from sklearn_predtron.norms.scaling cimport (
    Found,
    Scaling,
    scaling_apply_dense,
    scaling_apply_sparse,
    scaling_fetch,
    scaling_meet_block,
    scaling_meet_dense,
    scaling_meet_listed,
    scaling_meet_sparse,
    scaling_meet_uniform,
    scaling_refresh,
    scaling_score_dense,
    scaling_write_counts,
)

from sklearn_predtron._core.mixable_state import Moments
from sklearn_predtron._core.memory import aligned_zeros, use_large_pages

cdef enum:
    PAIR = 2        # of the fields are wanted for every row, the others for new rows
    REST = 4        # room for those


cdef class FeatureStatistics:
    """Statistics of p features, as documented in `scaling.h`.

    They are means, inverse variances, squared deviations, counts and last refreshes.

    For sparse rows those that every row wants lie in pairs, feature by feature; for dense rows each field lies by itself.

    While all rows are dense, counts and last refreshes are the rows so far: they are unwritten, and written before they are read.
    """

    def __init__(self, Py_ssize_t p, bint sparse, bint small_pages):
        self.room = (p + 7) // 8 * 8
        self.sparse = sparse
        self.values = aligned_zeros(self.room * (PAIR + REST if sparse else FIELDS), small_pages)
        self.before, self.waiting = np.empty(0), np.empty(0, dtype=np.intp)
        self.nbytes = self.values.nbytes
        self.S = self.laid(&self.values[0])
        self.unwritten.uniform = not sparse

    cdef Scaling laid(self, double* values) noexcept nogil:
        """Set the place of each field in the values; the values may be a copy."""
        cdef Scaling S
        cdef Py_ssize_t between = 1 if self.sparse else self.room
        S.mean = values
        S.inverse = S.mean + between
        S.squares = S.mean + PAIR * self.room
        S.count, S.last = S.squares + between, S.squares + 2 * between
        S.step = PAIR if self.sparse else 1
        S.rest = REST if self.sparse else 1
        return S

    # ----------------------------------------------------------------------------------------------------------- as rows come

    cdef void meet_dense(self, Py_ssize_t n, const double* x, Py_ssize_t t, double* z, Found* found) noexcept nogil:
        """Take a dense row, number t; see `scaling.h`."""
        if self.unwritten.uniform:
            scaling_meet_uniform(n, x, t, &self.S, z, found)
            self.unwritten.n, self.unwritten.rows = n, t
        else:
            scaling_meet_dense(n, x, t, &self.S, z, found)

    cdef void meet_sparse(self, Py_ssize_t n, const double* x, const Py_ssize_t* at, Py_ssize_t t, double* z, double* change,
                          Found* found) noexcept nogil:
        """Take a sparse row."""
        self.write_counts()
        self.unwritten.uniform = False
        scaling_meet_sparse(n, x, at, t, &self.S, z, change, found)

    def make_room_for_blocks(self):
        """Get ready for `meet_block`."""
        if self.waiting.shape[0] == 0:
            self.waiting = np.empty(self.room, dtype=np.intp)

    cdef Py_ssize_t meet_block(self, Py_ssize_t n, Py_ssize_t m, const void* const* rows, bint single,
                               Py_ssize_t t) noexcept nogil:
        """Add m dense rows after row t. All rows so far were dense. Return how many features wait for their values."""
        self.unwritten.n, self.unwritten.rows = n, t + m
        return scaling_meet_block(n, m, rows, single, t, &self.S, &self.waiting[0])

    cdef void meet_listed(self, Py_ssize_t n_listed, const double* x, Py_ssize_t t) noexcept nogil:
        """Add dense row t to the waiting features' statistics."""
        scaling_meet_listed(n_listed, &self.waiting[0], x, t, &self.S)

    cdef void refresh(self, Py_ssize_t t, bint dense) noexcept nogil:
        """Include the zeros of rows up to number t."""
        self.write_counts()
        scaling_refresh(self.room, t, dense, &self.S)

    cdef void apply_dense(self, Py_ssize_t n, const double* x, double* z, Found* found) noexcept nogil:
        """Take nothing of a dense row: scale it."""
        scaling_apply_dense(n, x, &self.S, z, found)

    cdef double score_dense(self, Py_ssize_t n, const double* x, const double* w, double* z, Found* found) noexcept nogil:
        """Scale a dense row, and return its product with w, in one pass."""
        return scaling_score_dense(n, x, &self.S, w, z, found)

    cdef void apply_sparse(self, Py_ssize_t n, const double* x, const Py_ssize_t* at, double* z, Found* found) noexcept nogil:
        """Scale a sparse row."""
        scaling_apply_sparse(n, x, at, &self.S, z, found)

    cdef void fetch(self, Py_ssize_t j, bint all) noexcept nogil:
        """Start to fetch the statistics of a feature; it fetches all of them, or those that every row needs."""
        scaling_fetch(&self.S, j, all)

    # ------------------------------------------------------------------------------------------- counts that are unwritten

    cdef void write_counts(self) noexcept nogil:
        """Write the counts and last refreshes that are unwritten."""
        if self.unwritten.n > 0:
            scaling_write_counts(self.unwritten.n, self.unwritten.rows, &self.S)
            self.unwritten.n = 0

    def look(self, Py_ssize_t n, Py_ssize_t rows):
        """Check counts and last refreshes from elsewhere; those of n features must fit the number of rows so far."""
        self.write_counts()
        mean, counts, last = self.field(MEAN, n), self.field(COUNT, n), self.field(LAST, n)
        # Zeros that wait for a refresh leave a mean of 0 as it is.
        self.unwritten.uniform = not self.sparse and bool((counts == rows).all() and ((last == rows) | (mean == 0)).all())

    # ---------------------------------------------------------------------------------------------------- as they are kept

    def field(self, Py_ssize_t which, Py_ssize_t n):
        """Return a statistic of the first n features, in place."""
        return self.field_of(np.asarray(self.values), which, n)

    def field_of(self, values, Py_ssize_t which, Py_ssize_t n):
        """Return the same of other values, which lie alike."""
        after = PAIR * self.room
        if not self.sparse:
            return values[which * self.room:][:n]
        return values[:after][which::PAIR][:n] if which < PAIR else values[after:][which - PAIR::REST][:n]

    def use_large_pages(self):
        """Take huge pages."""
        use_large_pages(self.values)

    def moments(self, rows, Py_ssize_t n):
        """Return the moments of n features in so many rows, zeros included.

        They are for pooling with those of other rows.  The statistics stay as they are.
        """
        self.write_counts()
        values = np.array(self.values)
        cdef double[::1] flat = values
        cdef Scaling S = self.laid(&flat[0])
        if rows > 0:
            scaling_refresh(self.room, rows, not self.sparse, &S)
        return Moments(rows, *[np.array(self.field_of(values, which, n)) for which in (MEAN, SQUARES, COUNT)])

    def adopt(self, moments):
        """Continue from pooled statistics; the next refresh computes their inverse variances."""
        rows, *found = moments
        n = len(found[0])
        self.write_counts()
        for which, values in zip((MEAN, SQUARES, COUNT), found, strict=True):
            self.field(which, n)[...] = values
        self.field(INVERSE, n)[...] = 0
        self.field(LAST, n)[...] = rows
        self.look(n, rows)

    def arrays(self, Py_ssize_t n):
        """Return all statistics of the first n features, in place, each array after its axes."""
        self.write_counts()
        values, after = np.asarray(self.values), PAIR * self.room
        if not self.sparse:
            return [("np", values.reshape(FIELDS, self.room)[:, :n])]
        return [("pn", values[:after].reshape(-1, PAIR)[:n]), ("pn", values[after:].reshape(-1, REST)[:n])]

    def count_zeros(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t dense_rows, Py_ssize_t rows):
        """Set the counts of features that were always zero; they become the number of dense rows."""
        cdef Py_ssize_t j
        self.write_counts()
        for j in range(first, last):
            self.S.count[j * self.S.rest] = dense_rows
        self.look(last, rows)

    def make_room_to_keep(self):
        """Get ready for `keep`."""
        if self.before.shape[0] == 0:
            self.before = np.empty(self.values.shape[0])

    cdef void keep(self) noexcept nogil:
        """Save the statistics that a round is about to change; the round may yet be abandoned."""
        memcpy(&self.before[0], &self.values[0], self.nbytes)
        self.unwritten_before = self.unwritten

    cdef void go_back(self) noexcept nogil:
        """Undo the changes since `before`."""
        memcpy(&self.values[0], &self.before[0], self.nbytes)
        self.unwritten = self.unwritten_before
