"""Weights of features standardised as they come; this is dual averaging under a running centre and scale."""
from libc.float cimport DBL_EPSILON
from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset
from cpython.exc cimport PyErr_CheckSignals

from math import gcd

import numpy as np

from sklearn_predtron._core.score_map cimport BatchMap, ScoreMap, row_number, sum_of
from sklearn_predtron._core.simd cimport ScoreGradient, RowOps, Matrix, Row
from sklearn_predtron._core.problem cimport Round
from sklearn_predtron._core.rows cimport Rows, View, of_doubles, row_of, squared_norm, take_row
from sklearn_predtron.norms.scaling cimport Found, Scaling
from sklearn_predtron.norms._feature_statistics cimport INVERSE, MEAN, SQUARES, FeatureStatistics
from sklearn_predtron._core.intercept cimport Intercept
from sklearn_predtron.norms._averaging cimport AVERAGES
from sklearn_predtron.norms._l2 cimport IterateSum, L2Weights

from sklearn_predtron._core.mixable_state import fields, joined, part_of
from sklearn_predtron._core.memory import aligned_zeros

cdef enum:
    BUFFER = 256    # features that are taken at once; the step of a loop too, where Cython wants a literal
    CLASSES = 8     # whose sums run side by side; the step of a loop, too
    FETCHED = 24    # non-zeros of a row whose statistics are fetched before its turn
    TOGETHER = 64   # dense rows that the statistics take at once
    BREATH = 4096   # rounds between two looks at signals; the step of a loop, too

cdef double LARGEST = 1e290     # squared length of a row whose squares can be summed
cdef double CANCELLED = 1e-15   # of the terms of a squared length: the rounding error
cdef double LOST = 1e-6         # a running sum that fell below so much of itself is computed from scratch


def stride_through(n):
    """Return a step that visits 0 to n - 1 in turns.

    Neighbours are far apart: rows may lie in a certain order, for example by class.
    """
    step = max(round(0.618 * n), 1)
    while gcd(step, n) > 1:
        step += 1
    return step


cdef struct Before:
    bint known, following, is_trainable
    Py_ssize_t seen, dense_rows, exponent, rows
    double D, largest, mantissa, r2, scale
    double[AVERAGES] weight_of_sum, scale_of_sum


cdef class ScaledWeights(L2Weights):
    """The scores theta . (x - mean) / variance.

    Where there is a centre, theta - mean beta takes the place of theta.

    theta and beta, the sums of the steps along x and 1, are kept as L2 keeps W and b, and so are their averages.  The rows
    of a query have no centre: their directions sum to 0.  For sparse rows C = sum_j theta_j mean_j / variance_j and
    D = sum_j mean_j^2 / variance_j follow every change.
    """
    cdef FeatureStatistics statistics
    cdef Scaling S                      # where they are
    cdef const RowOps* of_doubles[2]    # the kernels for dense rows of doubles, and for indexed ones
    cdef readonly Py_ssize_t seen, dense_rows   # rows, and those of them that were dense
    cdef int followed                   # of the averages before others began, how many have a C
    cdef bint sparse, known, following  # how statistics lie; whether C and D are right; whether the averages have a C too
    cdef double[::1] x, z, change, C, offset
    cdef Py_ssize_t[::1] at
    cdef double D, largest, squared_length      # largest: the maximum of D since it was computed from all features
    cdef Found found
    cdef bint is_applied                # whether z is the row at hand
    cdef Row applied                    # the row that z is
    cdef bint fresh, undo_needed        # whether rows are new, and so enter the statistics; whether rounds may be abandoned
    cdef bint met                       # whether they have entered them all at once, before the first round
    cdef const void* gathered[TOGETHER]     # those that enter them together
    cdef Py_ssize_t n_gathered
    cdef Before before                  # the round, where it may be abandoned
    cdef double[:, ::1] C_before        # C, and that of each sum

    def __init__(self, Py_ssize_t d, Py_ssize_t p, Intercept intercept, bint sparse=False, int averaging=True,
                 ScoreMap score_map=None):
        L2Weights.__init__(self, d, p, intercept, sparse, averaging, score_map)
        self.sparse = sparse
        self.of_doubles[False], self.of_doubles[True] = of_doubles(False), of_doubles(True)
        self.statistics = FeatureStatistics(p, sparse, self.small_pages)
        self.S = self.statistics.S
        self.large |= self.statistics.nbytes > 1 << 20
        self.x, self.z, self.change = [aligned_zeros(self.statistics.room, self.small_pages) for _ in range(3)]
        self.at = aligned_zeros(p, self.small_pages).view(np.intp)
        self.C, self.offset = np.zeros(d), np.zeros(d)
        self.fresh = self.counts_rows_once = self.offsets_of_lines = True
        self.is_trainable = False

    def reserve(self, Rows rows not None):
        """Allow huge pages after all; Rows touch most of the weights."""
        small_pages = self.small_pages
        L2Weights.reserve(self, rows)
        if small_pages and not self.small_pages:
            self.statistics.use_large_pages()

    def arguments(self, Py_ssize_t d, Py_ssize_t p, by_feature=None):
        by_feature = self.sparse if by_feature is None else by_feature
        return d, p, self.intercept, by_feature, self.averaging, self.score_map.of_scores(d)

    def arrays(self):
        return [*L2Weights.arrays(self), ("d", np.asarray(self.C)), *self.statistics.arrays(self.n_features)]

    def numbers(self):
        flags = self.known, self.following, self.is_trainable
        return *L2Weights.numbers(self), *flags, self.seen, self.dense_rows, self.D, self.largest

    def set_numbers(self, numbers):
        *inherited, self.known, self.following, self.is_trainable, self.seen, self.dense_rows, self.D, self.largest = numbers
        L2Weights.set_numbers(self, inherited)
        self.statistics.look(self.n_features, self.seen)

    def oppose(self, places):
        cdef Py_ssize_t first = places[0], second = places[1]
        L2Weights.oppose(self, places)
        self.C[second] = -self.C[first]

    def widen(self, Py_ssize_t n_features):
        """Widen the rows to n_features; earlier dense rows count as zeros in the new features."""
        self.statistics.count_zeros(self.n_features, n_features, self.dense_rows, self.seen)
        L2Weights.widen(self, n_features)

    def export(self):
        own = fields(gain={"dense_rows": self.dense_rows}, moments={"": self.statistics.moments(self.seen, self.n_features)})
        return joined(scaled=L2Weights.export(self), statistics=own)

    def mean_to_export(self):
        return self._sums()

    def adopt(self, state, bint with_sums):
        """Take over sums of steps, and statistics; the sums are read under these statistics from here on."""
        L2Weights.adopt(self, part_of(state, "scaled"), with_sums)
        own = part_of(state, "statistics")
        moments = own["moments"][""]
        self.dense_rows = int(own["gain"]["dense_rows"])
        self.seen = moments.rows
        self.statistics.adopt(moments)
        if self.seen > 0:
            self.statistics.refresh(self.seen, not self.sparse)
        self.is_trainable = (self._field(INVERSE) > 0).any() or self.learns_constants()     # be the rows of several shards
        self.known = self.following = self.is_applied = self.followed = False

    def watch_radius(self, bint needed, bint of_rows=False):
        """Set whether to follow the largest |x| of future rounds; it is in scaled units; the statistics have their own hook."""
        L2Weights.watch_radius(self, needed, of_rows)
        self.observing = needed

    cdef open_call(self, Rows rows, bint fresh, bint undo_needed):
        self.fresh, self.undo_needed, self.met = fresh, undo_needed, False
        if undo_needed:
            self.statistics.make_room_to_keep()
            self.C_before = np.empty((1 + self.averaging, self.d))

    @property
    def no_theorem_because(self):
        return "norm='scaled', whose statistics run; give norm='l2'"

    # ------------------------------------------------------------------------------------------------------- statistics

    cdef Py_ssize_t update_statistics_of_all(self, Rows rows, const Py_ssize_t[::1] order) except -2:
        """Add rows to the statistics before the first round; each counts as often as it is in the order."""
        times = np.bincount(order).astype(np.intp, copy=False)
        cdef const Py_ssize_t[::1] there = np.flatnonzero(times), often = times[there]
        cdef Py_ssize_t first, n = there.shape[0], stride = stride_through(n), bad = -1
        self.statistics.make_room_for_blocks()
        self.n_gathered = 0
        for first in range(0, n, 4096):
            with nogil:
                bad = self.meet_rounds(rows, there, often, stride, first, min(first + BREATH, n))
            if bad >= 0:
                return bad
            PyErr_CheckSignals()
        if not (rows.sparse or (np.isfinite(self._field(MEAN)).all() and np.isfinite(self._field(SQUARES)).all())):
            bad = self.first_endless(rows, there)
        if bad >= 0:
            return bad
        self.statistics.refresh(self.seen, not rows.sparse)
        self.known = self.following = self.is_applied = self.followed = False
        self.met = True
        if not (self._field(INVERSE) > 0).any():
            self.is_trainable |= self.learns_constants()
        return -1

    cdef Py_ssize_t meet_rounds(self, Rows rows, const Py_ssize_t[::1] there, const Py_ssize_t[::1] often, Py_ssize_t stride,
                                Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Add the rows of some rounds to the statistics; return a round without a finite sum of squares, or -1."""
        cdef Py_ssize_t n = there.shape[0], at = first * stride % n, r, _, _turn
        cdef View x
        cdef Row spare
        for _turn in range(first, last):
            rows.view(there[at], &x)
            rows.prefetch(there[at])
            if x.start != NULL and not squared_norm(&x) < LARGEST:
                return there[at]
            for _ in range(often[at]):
                for r in range(x.m):
                    self.enter(row_of(&x, r, &spare), x.k)
            at += stride
            if at >= n:
                at -= n
        self.meet_gathered(x.k)
        return -1

    cdef Py_ssize_t first_endless(self, Rows rows, const Py_ssize_t[::1] there) noexcept:
        """Return the first round with an infinite sum of squares; return -1 if there is none."""
        cdef Py_ssize_t i
        cdef View x
        for i in range(there.shape[0]):
            rows.view(there[i], &x)
            if not squared_norm(&x) < LARGEST:
                return there[i]
        return -1

    cdef void enter(self, const Row* row, const RowOps* k) noexcept nogil:
        """Add a row to the statistics; dense rows are gathered for a block once the features' scale is known."""
        cdef const double* x
        self.seen += 1
        if k.index_size > 0:
            x = self.read(row, k)
            self.statistics.meet_sparse(row.n, x, &self.at[0], self.seen, &self.z[0], &self.change[0], &self.found)
            return
        self.dense_rows += 1
        if self.seen <= TOGETHER or not self.statistics.unwritten.uniform:
            self.statistics.meet_dense(row.n, self.read(row, k), self.seen, &self.z[0], &self.found)
            return
        self.gathered[self.n_gathered] = row.value
        self.n_gathered += 1
        if self.n_gathered == TOGETHER:
            self.meet_gathered(k)

    cdef void meet_gathered(self, const RowOps* k) noexcept nogil:
        """Add the gathered rows to the statistics."""
        cdef Py_ssize_t i, m = self.n_gathered, before = self.seen - m, waiting
        cdef Row row
        if m == 0:
            return
        self.n_gathered = 0
        row.n, row.index = self.n_features, NULL
        waiting = self.statistics.meet_block(row.n, m, self.gathered, k.value_size == sizeof(float), before)
        for i in range(m if waiting > 0 else 0):
            row.value = self.gathered[i]
            self.statistics.meet_listed(waiting, self.read(&row, k), before + i + 1)

    cdef bint begin_round(self, View* x) noexcept nogil:
        cdef Py_ssize_t r
        cdef Row spare
        if not self.fresh:
            return True
        if not squared_norm(x) < LARGEST:
            return False
        if self.undo_needed:
            self.keep()
        for r in range(x.m):
            if not self.met:
                self.meet_row(row_of(x, r, &spare), x.k)
            elif x.m == 1 or not self.is_trainable or self.intercept.automatic:
                self.apply(row_of(x, r, &spare), x.k)
                self.is_applied = True
                self.note_length()
        return True

    cdef void meet_row(self, const Row* row, const RowOps* k) noexcept nogil:
        cdef const double* x = self.read(row, k)
        self.seen += 1
        self.applied = row[0]
        if k.index_size > 0:     # an empty row has no address
            self.meet_sparse(row.n, x)
        else:
            self.statistics.meet_dense(row.n, x, self.seen, &self.z[0], &self.found)
            self.dense_rows += 1
            self.known = False
        self.is_applied = True
        if self.seen & (self.seen - 1) == 0:
            self.statistics.refresh(self.seen, k.index_size == 0)
            self.known = False
            self.apply(row, k)
        self.squared_length = self.row_length2(k.index_size > 0)
        self.note_length()

    cdef void note_length(self) noexcept nogil:
        """Record the length of a new row, under the statistics.

        Where all rows so far are equal, the second one is the first that may step: along the intercept, of the fixed length.
        """
        if self.squared_length > 0:
            self.is_trainable = True
            if self.intercept.automatic:
                if self.intercept.count == 0 and not self.empty:
                    self.rescale(self.intercept.fixed / self.squared_length)
                self.intercept.update_statistics(self.squared_length)
        elif not self.met:
            self.is_trainable |= self.learns_constants()

    cdef bint learns_constants(self) noexcept nogil:
        """Return whether equal rows suffice for an intercept step; all rows so far are equal."""
        return self.seen > 1 and not self.score_map.offsets_cancel

    cdef void rescale(self, double factor) noexcept nogil:
        """Multiply all iterates; the intercept is unchanged when its feature has the length of the rows from here on."""
        cdef int i
        self.scale *= factor
        for i in range(self.averaging):
            self.sums[i].weight *= factor
            self.sums[i].scale *= factor

    cdef void meet_sparse(self, Py_ssize_t n, const double* x) noexcept nogil:
        self.recount()
        self.statistics.meet_sparse(n, x, &self.at[0], self.seen, &self.z[0], &self.change[0], &self.found)
        self.D += self.found.constant
        if not self.score_map.offsets_cancel:
            self.shift_centre(n, &self.change[0], &self.at[0])
        self.largest = max(self.largest, self.D)
        if self.D < LOST * self.largest:
            self.known = False
            self.recount()

    cdef void add_product(self, const Row* row, const Matrix* M, double* C) noexcept nogil:
        """Add M row to C."""
        cdef Matrix bare = M[0]
        self.offset[:] = 0
        bare.offset = &self.offset[0]
        self.of_doubles[row.index != NULL].scores[M.layout](1, row, NULL, &bare, 1, True, C)

    cdef void recount(self) noexcept nogil:
        """Compute C and D from all features that have a mean."""
        cdef Py_ssize_t at[BUFFER]
        cdef double shift[BUFFER]
        cdef Py_ssize_t first, j, n, c
        cdef double mean
        cdef int which
        if self.known:
            return
        self.known = True
        self.D = 0
        self.C[:] = 0
        for which in range(self.averaging):
            for c in range(self.d):
                self.sums[which].C[c] = 0
        for first in range(0, self.p, 256):
            n = 0
            for j in range(first, min(first + BUFFER, self.p)):
                mean = self.S.mean[j * self.S.step]
                if mean != 0:
                    at[n], shift[n] = j, mean * self.S.inverse[j * self.S.step]
                    self.D += mean * shift[n]
                    n += 1
            if n > 0 and not self.score_map.offsets_cancel:
                self.shift_centre(n, shift, at)
        self.largest = self.D

    cdef void shift_centre(self, Py_ssize_t n, const double* shift, const Py_ssize_t* at) noexcept nogil:
        """Update C for changes of mean_j / variance_j."""
        cdef Row change
        cdef int which
        change.n, change.value, change.index = n, shift, at
        self.add_product(&change, &self.W, &self.C[0])
        for which in range(self.averaging if self.following else 0):
            self.add_product(&change, &self.sums[which].total, self.sums[which].C)

    cdef const double* read(self, const Row* row, const RowOps* k) noexcept nogil:
        """Return the values of a row in double precision; their places are in self.at where the row is sparse."""
        cdef Py_ssize_t i
        if k.index_size == sizeof(int32_t):
            for i in range(row.n):
                self.at[i] = (<const int32_t*> row.index)[i]
        elif k.index_size > 0:
            for i in range(row.n):
                self.at[i] = (<const int64_t*> row.index)[i]
        if k.value_size == sizeof(double):
            return <const double*> row.value
        for i in range(row.n):
            self.x[i] = (<const float*> row.value)[i]
        return &self.x[0]

    cdef inline const double* values_of(self, const Row* row, const RowOps* k) noexcept nogil:
        """The same, where a dense row of doubles has nothing to be read."""
        if k.index_size == 0 and k.value_size == sizeof(double):
            return <const double*> row.value
        return self.read(row, k)

    cdef void apply(self, const Row* row, const RowOps* k) noexcept nogil:
        """Compute z and its sums under the present statistics."""
        cdef const double* x = self.values_of(row, k)
        self.applied = row[0]
        if k.index_size == 0:
            self.statistics.apply_dense(row.n, x, &self.z[0], &self.found)
        else:
            self.recount()
            self.statistics.apply_sparse(row.n, x, &self.at[0], &self.z[0], &self.found)
        self.squared_length = self.row_length2(k.index_size > 0)

    cdef double row_length2(self, bint sparse) noexcept nogil:
        """Return |x - mean|^2 of the row just applied; each feature is divided by its variance."""
        cdef double length2 = self.found.length2
        if sparse:
            length2 += self.D
            if length2 < CANCELLED * self.D:
                return 0
        return length2

    cdef double length2(self, View* x) noexcept nogil:
        return self.squared_length

    cdef void update_statistics(self, View* x) noexcept nogil:
        cdef Py_ssize_t r
        cdef Row spare
        cdef double total = 0, largest = 0
        for r in range(x.m):
            self.apply(row_of(x, r, &spare), x.k)
            total += self.squared_length
            largest = max(largest, self.squared_length)
        if self.radius_of_rows:
            self.radius2 = max(self.radius2, largest + self.intercept.r2())
        else:
            self.radius2 = max(self.radius2, total + x.m * self.intercept.r2())

    cdef void keep(self) noexcept nogil:
        """Save the state that the round is about to change; the round may yet be abandoned."""
        cdef Before* b = &self.before
        cdef int which
        if not self.met:
            self.statistics.keep()
        b.known, b.following, b.is_trainable = self.known, self.following, self.is_trainable
        b.seen, b.dense_rows, b.D, b.largest = self.seen, self.dense_rows, self.D, self.largest
        b.mantissa, b.exponent, b.rows = self.intercept.mantissa, self.intercept.exponent, self.intercept.count
        b.r2 = self.intercept.known
        memcpy(&self.C_before[0, 0], &self.C[0], self.d * sizeof(double))
        b.scale = self.scale
        for which in range(self.averaging):
            memcpy(&self.C_before[1 + which, 0], self.sums[which].C, self.d * sizeof(double))
            b.weight_of_sum[which], b.scale_of_sum[which] = self.sums[which].weight, self.sums[which].scale

    cdef void abandon_round(self) noexcept nogil:
        cdef const Before* b = &self.before
        cdef int which
        if not (self.undo_needed and self.fresh):
            return
        if not self.met:
            self.statistics.go_back()
        self.known, self.following, self.is_trainable = b.known, b.following, b.is_trainable
        self.seen, self.dense_rows, self.D, self.largest = b.seen, b.dense_rows, b.D, b.largest
        self.intercept.go_back(b.mantissa, b.exponent, b.rows, b.r2)
        memcpy(&self.C[0], &self.C_before[0, 0], self.d * sizeof(double))
        self.scale = b.scale
        for which in range(self.averaging):
            memcpy(self.sums[which].C, &self.C_before[1 + which, 0], self.d * sizeof(double))
            self.sums[which].weight, self.sums[which].scale = b.weight_of_sum[which], b.scale_of_sum[which]

    # ----------------------------------------------------------------------------------------------------------- scores

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        self.score_map.is_pulled_back = False
        if self.score_map.offsets_cancel:
            self.block_scores(x, t, &self.W, self.scale, False)
            return
        if self.score_map.of_blocks or x.m > 1:
            self.centred_scores(x, t, &self.W, &self.C[0], self.scale, False)
            return
        if not self.is_applied and self.d == 1 and x.start == NULL:
            self.score_dense(x, t)
            return
        if not self.is_applied:
            self.apply(&x.first, x.k)
        self.is_applied = False
        self.row_scores(x, t, &self.W, &self.C[0], self.scale, False)

    cdef inline void score_dense(self, const View* x, double* t) noexcept nogil:
        """Apply a dense row, and compute its only score, in one pass."""
        cdef double product = self.statistics.score_dense(x.first.n, self.values_of(&x.first, x.k), self.W.data, &self.z[0],
                                                          &self.found)
        self.applied = x.first
        self.squared_length = self.found.length2
        t[0] = self.scale * (product + self.W.offset[0] * (self.intercept.r2() - self.found.cross))

    cdef void mean_scores(self, const View* x, int which, double* t) noexcept nogil:
        cdef const IterateSum* s = self.sum_of(which)
        if s == NULL:
            self.is_applied = False
            self.scores(x, t)
        elif self.score_map.offsets_cancel:
            self.block_scores(x, t, &self.W, s.weight / s.mass, False)
            self.block_scores(x, t, &s.total, s.scale / s.mass, True)
        else:
            self.known &= self.following
            self.following = True
            self.centred_scores(x, t, &self.W, &self.C[0], s.weight / s.mass, False)
            self.centred_scores(x, t, &s.total, s.C, s.scale / s.mass, True)

    cdef void average_scores(self, const View* x, int which, const double* last, double* t) noexcept nogil:
        cdef const IterateSum* s = self.sum_of(which)
        cdef Py_ssize_t i
        cdef double share = 1 if s == NULL else s.weight / (s.mass * self.scale)
        for i in range(x.m * self.d):
            t[i] = share * last[i]
        if s == NULL:
            return
        if self.score_map.offsets_cancel:
            self.block_scores(x, t, &s.total, s.scale / s.mass, True)
            return
        if not self.following:
            self.known, self.following = False, True
            self.apply(&x.first, x.k)       # the totals' C is missing
        if self.score_map.of_blocks or x.m > 1:
            self.centred_scores(x, t, &s.total, s.C, s.scale / s.mass, True)
            return
        self.row_scores(x, t, &s.total, s.C, s.scale / s.mass, True)

    cdef inline void be_applied(self, const View* x) noexcept nogil:
        """Apply a row unless it was the last one; that of a sequence may not be the last one."""
        if self.applied.value != x.first.value or self.applied.n != x.first.n:
            self.apply(&x.first, x.k)

    cdef void centred_scores(self, const View* x, double* t, const Matrix* M, const double* C, double scale,
                             bint more) noexcept nogil:
        """Apply each row of a view in turn."""
        cdef Py_ssize_t r
        cdef Row spare
        cdef View one = x[0]
        one.m = 1
        self.is_applied = False
        for r in range(x.m):
            one.first = row_of(x, r, &spare)[0]
            self.apply(&one.first, x.k)
            self.row_scores(&one, t + r * self.d, M, C, scale, more)

    cdef void row_scores(self, const View* x, double* t, const Matrix* M, const double* C, double scale,
                         bint more) noexcept nogil:
        """Return the scores of the row applied last; M is the sums of steps along x, and M.offset of those along 1."""
        cdef Py_ssize_t c
        cdef Matrix moved = M[0]
        cdef Row z
        cdef double along = self.intercept.r2() - self.found.cross
        cdef bint dense = x.start == NULL
        if not dense:
            along += self.D
        for c in range(self.d):
            self.offset[c] = M.offset[c] * along - (0 if dense else C[c])
        moved.offset = &self.offset[0]
        z.n, z.value, z.index = x.first.n, &self.z[0], NULL if dense else &self.at[0]
        self.of_doubles[not dense].scores[M.layout](1, &z, NULL, &moved, scale, more, t)

    cdef void block_scores(self, const View* x, double* t, const Matrix* M, double scale, bint more) noexcept nogil:
        """Return the scores of a block's rows, without a centre; they are computed by M over the variances."""
        cdef Py_ssize_t r, j
        cdef Matrix over = M[0]
        cdef Row spare, z
        cdef const Row* row
        self.offset[:] = 0
        over.offset = &self.offset[0]
        if x.start == NULL:
            for j in range(self.p):
                self.z[j] = M.data[j] * self.S.inverse[j * self.S.step]
            over.data = &self.z[0]
            for r in range(x.m):
                x.k.scores[M.layout](1, row_of(x, r, &spare), NULL, &over, scale, more, t + r)
            return
        for r in range(x.m):
            row = row_of(x, r, &spare)
            self.apply(row, x.k)
            z.n, z.value, z.index = row.n, &self.z[0], &self.at[0]
            self.of_doubles[True].scores[M.layout](1, &z, NULL, &over, scale, more, t + r)

    cdef void prefetch(self, const View* x) noexcept nogil:
        cdef Py_ssize_t i, j
        L2Weights.prefetch(self, x)
        for i in range(min(x.first.n, FETCHED)):
            j = (<const int32_t*> x.first.index)[i] if x.k.index_size == sizeof(int32_t) else (<const int64_t*> x.first.index)[i]
            self.statistics.fetch(j, self.fresh and not self.met)

    # ------------------------------------------------------------------------------------------------------------ steps

    cdef void update_norm(self, View* x, const ScoreGradient* g, Round* r) noexcept nogil:
        cdef Py_ssize_t i
        cdef double g2 = 0
        r.radius2 = self.radius2
        if self.score_map.of_blocks:
            (<BatchMap> self.score_map).pull_back(x, g)
            g2 = self.take_length2(x, g, &(<BatchMap> self.score_map).pulled_back[0])
            r.update_norm2 = g2 if g2 > self.cancelled(x, g) else 0
            if not self.score_map.offsets_cancel:
                r.update_norm2 += self.intercept.r2() * sum_of(g) ** 2
            return
        self.be_applied(x)
        for i in range(g.n):
            g2 += g.value[i] * g.value[i]
        r.update_norm2 = g2 * (self.squared_length + self.intercept.r2())

    cdef double length2_of_sum(self, View* x, const ScoreGradient* g, double* z) noexcept nogil:
        cdef View row
        cdef double square, along = sum_of(g)
        if g.n == 1:
            take_row(x, g.at[0], &row)
            self.be_applied(&row)
            return g.value[0] * g.value[0] * self.squared_length
        self.sum_rows(x, g, z)
        if x.start != NULL:
            self.recount()
        square = self.take_length2(x, g, z)
        if x.start == NULL:
            memset(z, 0, self.p * sizeof(double))
        elif square < CANCELLED * along * along * self.D:
            return 0
        return square if square > self.cancelled(x, g) else 0

    cdef double take_length2(self, const View* x, const ScoreGradient* g, double* pulled_back) noexcept nogil:
        """Return the squared length of the combined, centred rows; the sums are zeros again where the rows are sparse."""
        cdef Py_ssize_t r, i, j
        cdef double length2 = 0, cross = 0, along = 0 if self.score_map.offsets_cancel else sum_of(g)
        cdef Row spare
        cdef const Row* row
        if x.start == NULL:
            for j in range(self.p):
                length2 += (pulled_back[j] - along * self.S.mean[j * self.S.step]) ** 2 * self.S.inverse[j * self.S.step]
            return length2
        for r in range(g.n):
            if g.value[r] != 0:
                row = row_of(x, row_number(g, r), &spare)
                self.read(row, x.k)
                for i in range(row.n):
                    j = self.at[i]
                    length2 += pulled_back[j] * pulled_back[j] * self.S.inverse[j * self.S.step]
                    cross += pulled_back[j] * self.S.mean[j * self.S.step] * self.S.inverse[j * self.S.step]
                    pulled_back[j] = 0
        return length2 if along == 0 else max(0, length2 - along * (2 * cross - along * self.D))

    cdef double cancelled(self, const View* x, const ScoreGradient* g) noexcept nogil:
        """Return a bound on the rounding error of a zero sum; the squared length is that of the sum of the rows times g."""
        cdef Py_ssize_t r, i, j, touched = 0
        cdef double size = 0, square
        cdef const double* value
        cdef const Row* row
        cdef Row spare
        for r in range(g.n):
            if g.value[r] != 0:
                row = row_of(x, row_number(g, r), &spare)
                value = self.read(row, x.k)
                square = 0
                for i in range(row.n):
                    j = i if x.start == NULL else self.at[i]
                    square += value[i] * value[i] * self.S.inverse[j * self.S.step]
                size += fabs(g.value[r]) * sqrt(square)
                touched += 1
        return (touched * DBL_EPSILON * size) ** 2

    cdef double cross_of(self, const View* x, const ScoreGradient* g) noexcept nogil:
        """Return sum_j z_j mean_j / variance_j of sparse rows.

        z is the rows' combination; it is not needed where rows are dense.
        """
        cdef Py_ssize_t r, i, j
        cdef double cross = 0
        cdef const double* value
        cdef const Row* row
        cdef Row spare
        for r in range(x.m if x.start != NULL else 0):
            if g.value[r] != 0:
                row = row_of(x, r, &spare)
                value = self.read(row, x.k)
                for i in range(row.n):
                    j = self.at[i] * self.S.step
                    cross += g.value[r] * value[i] * self.S.mean[j] * self.S.inverse[j]
        return cross

    cdef void step(self, View* x, const ScoreGradient* g, double size) noexcept nogil:
        cdef Py_ssize_t i, c
        cdef double change = -size / self.scale, pending, along, times
        cdef int which
        cdef ScoreGradient single
        self.empty = False
        self.step_sums(x, g, change)
        self.score_map.add(x, &self.W, g, change)
        if self.score_map.offsets_cancel:
            return
        if not self.score_map.of_blocks:
            self.be_applied(x)
        self.known &= x.start != NULL
        along, times = self.cross_of(x, g) if self.score_map.of_blocks else self.found.cross, self.score_map.intercept_weight(g)
        g = self.score_map.of_input(g, &single)
        for i in range(g.n):
            c = i if g.at == NULL else g.at[i]
            self.b[c] += change * times * g.value[i]
            self.C[c] += change * along * g.value[i]
            for which in range(self.averaging):
                pending = self.pending(which, change)
                if pending != 0:
                    self.sums[which].total.offset[c] += pending * times * g.value[i]
                    self.sums[which].C[c] += pending * along * g.value[i]

    cdef void renormalise(self) noexcept nogil:
        L2Weights.renormalise(self)
        self.known = False

    cdef void clear(self) noexcept nogil:
        L2Weights.clear(self)
        self.known = False

    def keep_averages(self, int n):
        """Keep n averages of the iterates from here on; present averages continue, and new ones start."""
        if n > self.averaging:
            self.followed, self.following = self.averaging if self.following else 0, False
        else:
            self.following |= n <= self.followed    # those that began are taken back, before a round
        L2Weights.keep_averages(self, n)

    def new_total(self):
        return *L2Weights.new_total(self), np.zeros(self.d)

    # ---------------------------------------------------------------------------------------------- in units of features

    def _field(self, Py_ssize_t which):
        """Return a statistic of all features, in place."""
        return self.statistics.field(which, self.n_features)

    def _from(self, theta, beta, mean):
        """Return W and b for unscaled rows; they are computed from the sums of the steps."""
        if self.score_map.offsets_cancel:
            return theta * self._field(INVERSE), beta
        return (theta - np.outer(beta, self._field(MEAN))) * self._field(INVERSE), self.offsets(mean)

    def offsets(self, bint mean):
        """Return the predicting b, or that of the last iterate."""
        cdef double[::1] b = np.empty(self.d)
        self.read_offsets(mean, &b[0])
        return np.asarray(b)

    cdef bint looks_ahead(self, Rows rows) noexcept:
        return False

    cdef bint read_lines(self, bint mean, const Py_ssize_t* at, Py_ssize_t first, Py_ssize_t n, Py_ssize_t stride,
                         double* line) noexcept nogil:
        cdef Py_ssize_t i, k, number
        cdef int which = self.predicting(mean)
        L2Weights.read_lines(self, mean, at, first, n, stride, line)
        if self.d == 1 and at == NULL and stride == 1:
            self.weights_of_class(line, self.beta(0, which), first, n)
            return True
        for i in range(n):
            number = first + i if at == NULL else at[i]
            if self.d > 1 and not self.by_feature:
                self.weights_of_class(line, self.beta(number, which), 0, min(self.p, stride))
            else:
                for k in range(self.d):
                    line[k] = self.weight_of(line[k], self.beta(k, which), number)
            line += stride
        return True

    cdef void read_offsets(self, bint mean, double* b) noexcept nogil:
        cdef Py_ssize_t c, j, slot
        cdef int which = self.predicting(mean)
        cdef const IterateSum* s = self.sum_of(which)
        cdef double share, of_total, theta, centre
        self.shares(which, &share, &of_total)
        for c in range(self.d):
            b[c] = self.beta(c, which) * (1 if self.score_map.offsets_cancel else self.intercept.r2())
        if self.score_map.offsets_cancel:
            return
        if not self.by_feature and self.S.step == 1:
            for c in range(0, self.d, 8):
                self.subtract_centres(c, min(CLASSES, self.d - c), which, b + c)
            return
        for j in range(self.p):
            centre = self.S.mean[j * self.S.step]
            for c in range(0 if centre == 0 else self.d):
                slot = j * self.stride + c if self.by_feature else c * self.stride + j
                theta = share * self.data[slot] + (0 if s == NULL else of_total * s.total.data[slot])
                b[c] -= centre * self.weight_of(theta, self.beta(c, which), j)

    cdef void subtract_centres(self, Py_ssize_t first, Py_ssize_t n, int which, double* b) noexcept nogil:
        """Subtract W mean of a few classes from b; their weights lie class by class, and their sums run side by side."""
        cdef Py_ssize_t c, k, begin, m
        cdef double product[CLASSES][BUFFER]
        cdef double rest[CLASSES]
        for c in range(n):
            rest[c] = b[c]
        for begin in range(0, self.p, 256):
            m = min(BUFFER, self.p - begin)
            for c in range(n):
                self.centred_products(first + c, begin, m, which, product[c])
            for k in range(m):
                for c in range(n):
                    rest[c] -= product[c][k]
        for c in range(n):
            b[c] = rest[c]

    cdef void centred_products(self, Py_ssize_t c, Py_ssize_t first, Py_ssize_t n, int which, double* product) noexcept nogil:
        """Compute mean_j W_cj of n features."""
        cdef Py_ssize_t i
        cdef const IterateSum* s = self.sum_of(which)
        cdef double share, of_total, beta = self.beta(c, which)
        cdef const double* mean = self.S.mean + first
        cdef const double* inverse = self.S.inverse + first
        cdef const double* data = &self.data[c * self.stride + first]
        cdef const double* total = data if s == NULL else s.total.data + c * self.stride + first
        self.shares(which, &share, &of_total)
        for i in range(n):
            product[i] = mean[i] * ((share * data[i] + of_total * total[i] - beta * mean[i]) * inverse[i])

    cdef void weights_of_class(self, double* line, double beta, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
        """Turn the sums of a class's steps into its weights; the class has n features."""
        cdef Py_ssize_t j
        cdef const double* mean = self.S.mean + first
        cdef const double* inverse = self.S.inverse + first
        if self.S.step > 1 or self.score_map.offsets_cancel:
            for j in range(n):
                line[j] = self.weight_of(line[j], beta, first + j)
            return
        for j in range(n):
            line[j] = (line[j] - beta * mean[j]) * inverse[j]

    cdef inline double beta(self, Py_ssize_t c, int which) noexcept nogil:
        """Return the sum of the steps along 1."""
        cdef double share, of_total
        cdef const IterateSum* s = self.sum_of(which)
        self.shares(which, &share, &of_total)
        return share * self.b[c] + (0 if s == NULL else of_total * s.total.offset[c])

    cdef inline double weight_of(self, double theta, double beta, Py_ssize_t j) noexcept nogil:
        """Return a weight of feature j for unscaled rows; it is computed from the sums of the steps."""
        if not self.score_map.offsets_cancel:
            theta -= beta * self.S.mean[j * self.S.step]
        return theta * self.S.inverse[j * self.S.step]

    def last(self):
        """Return copies of the last iterate's W (d, p), b (d,)."""
        return self._from(*L2Weights.last(self), False)

    def mean(self):
        """Return copies of the predicting W (d, p), b (d,); they are the average's, or the last iterate's where none is kept."""
        return self._from(*self._sums(), True)

    def _sums(self):
        return L2Weights.last(self) if self.sum_of(self.predicting(True)) == NULL else L2Weights.mean(self)

    def length(self):
        """Return the length of the weights that predict.

        Each is divided by its feature's standard deviation, and the intercept's is included.
        """
        theta, beta = self._sums()
        if not self.score_map.offsets_cancel:
            theta = theta - np.outer(beta, self._field(MEAN))
        return float(np.sqrt((theta ** 2 * self._field(INVERSE)).sum() + self.intercept.r2() * (beta ** 2).sum()))
