"""The kernelised learner; W is a sum over stored rows, each with a coefficient for every score."""
from libc.math cimport NAN, fabs, isnan

from functools import partial

import numpy as np

from sklearn_predtron._core.score_map cimport ScoreMap
from sklearn_predtron._core.simd cimport BY_CLASS, Matrix, ScoreGradient
from sklearn_predtron._core.problem cimport Round
from sklearn_predtron._core.rows cimport Rows, View, of_doubles
from sklearn_predtron._core.weights cimport ScoreFunction
from sklearn_predtron._core.intercept cimport Intercept
from sklearn_predtron.norms._l2 cimport IterateSum, L2Weights

from sklearn_predtron._core.rows import issparse
from sklearn_predtron._core.state import MOST, length_of
from sklearn_predtron._core.weights import euclidean_length
from sklearn_predtron._core.memory import aligned_zeros

cdef extern from "gaussian.h" nogil:
    void gaussian_of_products(Py_ssize_t n, double scale, double shift, const double* offset, double* v)

UNMIXED = ("norm='rkhs' cannot be mixed: its support grows with every shard; approximate the kernel "
           "(sklearn.kernel_approximation) and use norm='l2'.")

# Kernels of a row with itself, as squared lengths of rows are under other norms.
cdef double LEAST_OWN = 1e-280, LARGEST_OWN = 1e280

cdef enum:
    BLOCK = 256         # rows scored ahead, at most
    LEAST_BLOCK = 16    # and at least: kernels with rows of the block itself are in vain where few are kept
    TILE = 1024         # rows kept whose kernels with a block are computed at a time


cdef class RKHSWeights(L2Weights):
    """Weights W = scale * sum_s data_s phi(x_s).

    This is L2 in the space of a kernel.  Its features are the stored rows x_s.

    Before the rounds of a block their rows' kernels with all rows kept are computed, of which only the scores stay, and the
    kernels among themselves, by which a step changes the scores of the rounds to come.  A row in several epochs is kept once.
    From the second epoch on the scores of all rows follow each block's steps: an epoch costs kernels with the rows that took
    a step, not with all that were kept.
    """

    def __init__(self, Py_ssize_t d, Py_ssize_t p, support not None, Intercept intercept not None, int averaging=True,
                 ScoreMap score_map=None):
        L2Weights.__init__(self, d, 1, intercept, True, 0, score_map)
        self.map_scores(d, p, score_map)
        self.support = support
        self.by_feature = True
        self.stride = d
        self.data = aligned_zeros(d)
        self.number = np.zeros(1, dtype=np.intp)
        self.source = np.full(1, -1, dtype=np.intp)
        self.large = False
        self.whole_in_blocks = True
        self.keep_averages(averaging)
        self.close_fit()
        self.close_call(False)

    def arguments(self, Py_ssize_t d, Py_ssize_t p, by_feature=None):
        support = self.support.lent() if p <= self.p else self.support.resized(p)
        return d, max(p, self.p), support, self.intercept, self.averaging, self.score_map.of_scores(d)

    def accepted(self, saved):
        shape = length_of(saved, 0, 0), length_of(saved, 0, 0, axis=1)
        if shape != (self.support.n, self.d):       # before there is room for them
            raise ValueError(f"coefficients of shape {shape} are not those of {self.support.n} rows and {self.d} scores")
        return L2Weights.accepted(self, saved)

    def arrays(self):
        self.make_room(self.support.n - self.n)     # where the rows are there before their coefficients
        self.n = max(self.n, self.support.n)
        return [*L2Weights.arrays(self), ("p", np.asarray(self.number[:self.n]), 0, MOST)]

    def array_of(self, flat):
        return "pd", np.asarray(flat).reshape(-1, self.d)[:self.n]

    def numbers(self):
        return *L2Weights.numbers(self), self.given, self.truncation_loss

    def set_numbers(self, numbers):
        *inherited, self.given, self.truncation_loss = numbers
        L2Weights.set_numbers(self, inherited)

    def export(self):
        raise ValueError(UNMIXED)

    def adopt(self, state, bint with_sums):
        raise ValueError(UNMIXED)

    def room_for(self, Py_ssize_t n_features):
        """Return n_features, since stored rows have no extra room."""
        return n_features

    cdef make_room(self, Py_ssize_t rows):
        """Allocate memory for the given number of additional rows."""
        cdef Py_ssize_t n = self.n + rows, room = max(n, 2 * self.number.shape[0])
        if n <= self.number.shape[0]:
            return
        source, data = grown(self.source, room), grown(self.data, room * self.d)
        totals = [grown(total, room * self.d) for total, _ in self.totals]
        self.source, self.data = source, data
        for i, total in enumerate(totals):
            self.totals[i] = total, self.totals[i][1]
            self.lay(&self.sums[<int> i].total, total, self.totals[i][1])
        self.number = grown(self.number, room)      # at last: its length says that all others are as long

    # ----------------------------------------------------------------------------------------------------- looking ahead

    def check_precomputed(self, Rows rows):
        """Raise ValueError unless the kernels are complete; given kernels must be those of all rows with all rows."""
        if self.support.kernel is None and (self.given > 0 or rows.given != rows.p):
            raise ValueError(
                f"norm=RKHS(kernel='precomputed') needs the kernels of all rows with all rows, given once; X has "
                f"{rows.given} rows and {rows.p} columns" + (", and the model was trained before." if self.given > 0 else "."))

    def first_refused(self, Rows rows not None):
        if self.support.kernel is None:         # rows of kernels, each of which is checked in its turn
            return -1 if rows.finite() else 0
        return rows.first_outside()

    def complaint(self):
        if isnan(self.strange):
            return None
        return (f"X holds a row whose kernel with itself is {self.strange:g}; accepted are rows of which it is from "
                f"{LEAST_OWN:g} to {LARGEST_OWN:g}, and rows of zeros: scale the features.")

    cdef bint has_length(self, Py_ssize_t row) noexcept nogil:
        """Return whether steps along a block's row can be measured."""
        cdef double own = fabs(self.K[row, row])
        return LEAST_OWN <= own <= LARGEST_OWN or (own == 0 and not self.vanished[row])

    cdef open_call(self, Rows rows, bint fresh, bint undo_needed):
        if fresh:
            self.check_precomputed(rows)
        self.complete()
        self.strange = NAN
        self.matrix = rows.matrix()
        if fresh or self.slot is None or self.slot.shape[0] != self.matrix.shape[0]:
            self.offset = self.given
            self.slot = np.full(self.matrix.shape[0], -1, dtype=np.intp)
            self.F_call = np.zeros(0)
            self.after = self.offset + rows.given
        elif self.F_call.shape[0] == 0:
            self.score_call()
        self.in_call = rows.row_numbers

    cdef Py_ssize_t open_block(self, Rows rows, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last,
                               bint means_wanted) except -1:
        last = rows.rounds_of(order, first, last, min(max(self.n, LEAST_BLOCK), BLOCK))
        self.position = rows.inputs(order, first, last)
        self.block_rows = as_doubles(self.matrix[np.asarray(self.position)])
        self.make_room(self.position.shape[0])
        self.length_of_block = self.position.shape[0]
        self.means_wanted = means_wanted and self.averaging
        self.next = 0
        self.K = sized(self.support.between(self.block_rows, self.block_rows, self.numbers_of(np.asarray(self.position))),
                       self.length_of_block, self.length_of_block)
        self.vanished = self.support.vanished(self.block_rows, np.asarray(self.K).diagonal()).view(np.uint8)
        self.change = np.zeros(self.length_of_block * self.d)
        self.prepare()
        return last

    cdef prepare(self):
        """Compute the block's scores by the rows kept."""
        if self.F_call.shape[0] > 0:
            self.F = np.asarray(self.F_call).reshape(-1, self.d)[np.asarray(self.position)].reshape(-1)
            self.F_total, self.means_wanted = np.zeros(0), False
            return
        coefficients = np.asarray(self.data).reshape(-1, self.d)[:self.n]
        if self.means_wanted:
            coefficients = np.hstack([coefficients, *[total.reshape(-1, self.d)[:self.n] for total, _ in self.totals]])
        F = expanded(self.with_kept, self.length_of_block, coefficients)
        self.F = np.ascontiguousarray(F[:, :self.d]).reshape(-1)
        by_sum = F[:, self.d:].reshape(self.length_of_block, -1, self.d).transpose(1, 0, 2)
        self.F_total = np.ascontiguousarray(by_sum).reshape(-1)

    def with_kept(self, begin, end):
        """Compute kernels of the block's rows and some rows kept."""
        return self.support.against(self.block_rows, begin, end)

    cdef score_call(self):
        """Compute the scores of the call by the rows kept."""
        F = np.empty((self.matrix.shape[0], self.d))
        data = np.asarray(self.data).reshape(-1, self.d)[:self.n]
        for first in range(0, len(F), BLOCK):
            block = as_doubles(self.matrix[first:first + BLOCK])
            F[first:first + BLOCK] = expanded(partial(self.support.against, block), block.shape[0], data)
        self.F_call = F.reshape(-1)

    cdef follow(self):
        """Add the block's changes of data to the call's scores."""
        change = np.asarray(self.change).reshape(-1, self.d)
        which = np.flatnonzero(change.any(axis=1))
        if len(which) == 0:
            return
        F = np.asarray(self.F_call).reshape(-1, self.d)
        self.F_call = np.zeros(0)       # until all is done
        rows, numbers = self.block_rows[which], self.numbers_of(np.asarray(self.position)[which])
        for first in range(0, len(F), TILE):
            block = as_doubles(self.matrix[first:first + TILE])
            add_products(np.ascontiguousarray(self.support.between(block, rows, numbers), dtype=np.float64), change[which],
                         F[first:first + TILE])
        self.F_call = F.reshape(-1)

    def numbers_of(self, position):
        """Return the numbers in X of rows of the call."""
        return position if self.in_call is None else self.in_call[position]

    cdef keep(self):
        """Keep the rows of the block that took a step."""
        if self.block_rows is None:
            return
        self.make_readable()
        if self.F_call.shape[0] > 0:
            self.follow()
        self.change[:] = 0
        self.block_rows = None

    def make_readable(self):
        if self.block_rows is None:
            return
        sources = np.asarray(self.source)[:self.n]
        slots = np.flatnonzero(sources >= 0)
        if len(slots) > 0:
            which = sources[slots]
            numbers = self.numbers_of(np.asarray(self.position)[which])
            self.support.put(slots, self.block_rows, which, numbers)
            np.asarray(self.number)[slots] = self.offset + numbers
            sources[slots] = -1

    cdef close_block(self):
        self.keep()

    cdef close_call(self, bint learned):
        if learned:                     # rows of which none was learned do not count
            self.given = self.after
        self.left_undone = True
        try:
            self.complete()
        except BaseException:
            self.complete()             # after an interrupt, say: rows that took a step must be there
            raise

    cdef bint unfinished(self) noexcept:
        return self.left_undone

    def complete(self):
        if self.left_undone:
            self.keep()
            self.end_call()
            self.left_undone = False

    cdef end_call(self):
        self.matrix = self.in_call = None
        self.position = np.zeros(0, dtype=np.intp)
        self.K = np.zeros((0, 0))
        self.F = self.F_total = self.change = np.zeros(0)
        self.length_of_block = 0

    def close_fit(self):
        self.F_call = np.zeros(0)
        self.slot = None

    # -------------------------------------------------------------------------------------------------------- the rounds

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        self.here = self.next
        self.next += x.m
        self.read(&self.F[self.here * self.d], x.m, self.scale, &self.b[0], t)

    cdef void mean_scores(self, const View* x, int which, double* t) noexcept nogil:
        cdef const IterateSum* s = self.sum_of(which)
        cdef const double* F = &self.F[self.here * self.d]
        cdef const double* F_total
        cdef Py_ssize_t _, c
        if s == NULL or not self.means_wanted:
            self.read(F, x.m, self.scale, &self.b[0], t)
            return
        F_total = self.scores_by(which) + self.here * self.d
        for _ in range(x.m):
            for c in range(self.d):
                t[c] = (s.weight * (F[c] + self.b[c]) + s.scale * (F_total[c] + s.total.offset[c])) / s.mass
            t, F, F_total = t + self.d, F + self.d, F_total + self.d

    cdef void average_scores(self, const View* x, int which, const double* last, double* t) noexcept nogil:
        self.mean_scores(x, which, t)

    cdef double* scores_by(self, int which) noexcept nogil:
        """Compute the block's scores by a total."""
        return &self.F_total[(which - 1) * self.F.shape[0]]

    cdef void read(self, const double* F, Py_ssize_t m, double scale, const double* offset, double* t) noexcept nogil:
        cdef Py_ssize_t i, c
        for i in range(m):
            for c in range(self.d):
                t[i * self.d + c] = scale * (F[i * self.d + c] + offset[c])
        self.look_at_lengths(m, t)

    cdef void look_at_lengths(self, Py_ssize_t m, double* t) noexcept nogil:
        """Reject the round if steps along its rows cannot be measured.

        There are m rows; the round is rejected by its first score.
        """
        cdef Py_ssize_t i
        for i in range(m):
            if not self.has_length(self.here + i):
                self.strange = self.K[self.here + i, self.here + i]
                t[0] = NAN

    cdef void prefetch(self, const View* x) noexcept nogil:
        """Nothing is far away."""

    cdef double length2(self, View* x) noexcept nogil:
        cdef Py_ssize_t i
        cdef double total = 0
        for i in range(x.m):
            total += max(self.K[self.here + i, self.here + i], 0)
        return total

    cdef double length2_of_sum(self, View* x, const ScoreGradient* g, double* z) noexcept nogil:
        cdef Py_ssize_t i, j
        cdef double total = 0
        for i in range(g.n):
            for j in range(g.n):
                total += g.value[i] * g.value[j] * self.K[self.here + g.at[i], self.here + g.at[j]]
        return max(total, 0)

    cdef void update_statistics(self, View* x) noexcept nogil:
        cdef Py_ssize_t i
        cdef double length2 = 0
        if self.intercept.automatic:
            for i in range(x.m):
                self.intercept.update_statistics(max(self.K[self.here + i, self.here + i], 0))
        if self.radius_needed and self.radius_of_rows:
            for i in range(x.m):
                length2 = max(length2, self.K[self.here + i, self.here + i])
            self.radius2 = max(self.radius2, length2 + self.intercept.r2())
        elif self.radius_needed:
            self.radius2 = max(self.radius2, self.length2(x) + x.m * self.intercept.r2())

    cdef void update_norm(self, View* x, const ScoreGradient* g, Round* r) noexcept nogil:
        r.radius2 = self.radius2
        r.update_norm2 = self.score_map.norm2_by(self.K, self.here, x.m, g, self.intercept.r2())

    cdef void step(self, View* x, const ScoreGradient* g, double size) noexcept nogil:
        cdef Py_ssize_t i
        cdef double change = -size / self.scale
        cdef ScoreGradient single
        cdef const ScoreGradient* of_row
        self.empty = False
        for i in range(x.m):
            of_row = self.score_map.of_row(i, g, &single)
            if of_row != NULL:
                self.add_row(self.here + i, of_row, change)
        if self.intercept.fitted:
            self.step_offsets(g, change)

    cdef void add_row(self, Py_ssize_t row, const ScoreGradient* g, double change) noexcept nogil:
        """Add a row of the block to the sum; its coefficients are change g."""
        cdef Py_ssize_t i, c, slot = self.place_for(row)
        cdef int which
        cdef double pending
        for i in range(g.n):
            c = i if g.at == NULL else g.at[i]
            self.data[slot * self.d + c] += change * g.value[i]
            self.change[row * self.d + c] += change * g.value[i]
            self.move_scores(0, row, c, change * g.value[i])
            for which in range(self.averaging):
                pending = self.pending(which, change) * g.value[i]
                if pending != 0:
                    self.sums[which].total.data[slot * self.d + c] += pending
                    if self.means_wanted:
                        self.move_scores(which + 1, row, c, pending)

    cdef Py_ssize_t place_for(self, Py_ssize_t row) noexcept nogil:
        """Return the place of a row of the block; it is kept from now on if it was not."""
        cdef Py_ssize_t slot = self.slot[self.position[row]]
        if slot < 0:
            slot = self.n
            self.n += 1
            self.slot[self.position[row]] = slot
            self.source[slot] = row
        return slot

    cdef void move_scores(self, int which, Py_ssize_t row, Py_ssize_t c, double change) noexcept nogil:
        """Update scores c of the rows to come.

        The last iterate's, or those of a total, change by the rows' kernels with a row of the block.
        """
        cdef Py_ssize_t k
        cdef double* F = &self.F[0] if which == 0 else self.scores_by(which)
        for k in range(self.next, self.length_of_block):
            F[k * self.d + c] += change * self.K[row, k]

    cdef void renormalise(self) noexcept nogil:
        cdef Py_ssize_t i
        cdef int which
        cdef double* F_total
        if self.means_wanted and self.F_total.shape[0] > 0:
            for which in range(self.averaging):
                F_total = self.scores_by(which + 1)
                for i in range(self.F.shape[0]):
                    F_total[i] = self.sums[which].scale * F_total[i] + self.sums[which].weight * self.F[i]
        for i in range(self.F.shape[0]):
            self.F[i] *= self.scale
        for i in range(self.change.shape[0]):
            self.change[i] *= self.scale
        for i in range(self.F_call.shape[0]):
            self.F_call[i] *= self.scale
        L2Weights.renormalise(self)

    cdef void clear(self) noexcept nogil:
        L2Weights.clear(self)
        self.F[:] = 0
        self.F_call[:] = 0
        self.change[:] = 0

    # ------------------------------------------------------------------------------------------------------- for Python

    @property
    def expansion(self):
        return self

    @property
    def row_numbers(self):
        """Return the numbers of the rows kept; they are in the order in which rows were given."""
        return np.array(self.number[:self.n])

    @property
    def no_theorem_because(self):
        return self.support.no_theorem_because

    def primal(self, W):
        return self.support.primal(W)

    cdef bint read_lines(self, bint mean, const Py_ssize_t* at, Py_ssize_t first, Py_ssize_t n, Py_ssize_t stride,
                         double* line) noexcept nogil:
        return False

    def own_predictor(self, bint mean):
        W, b = self.mean() if mean else self.last()
        return Expansion(self.p, np.ascontiguousarray(W.T), b, self.support.lent())

    def length(self):
        """Return the norm of the predicting function and its intercept."""
        cdef Py_ssize_t begin
        W, b = self.mean()
        rows, square, r2 = self.support.rows, 0.0, self.intercept.r2()
        for begin in range(0, self.n, BLOCK):
            part = rows[begin:begin + BLOCK]
            for other in range(0, self.n, TILE):
                end = min(other + TILE, self.n)
                square += ((W[:, begin:begin + BLOCK] @ self.support.against(part, other, end)) * W[:, other:end]).sum()
        return float(np.hypot(max(square, 0) ** 0.5, euclidean_length(b) / r2 ** 0.5 if r2 > 0 else 0.0))


cdef class Expansion(ScoreFunction):
    """A fixed sum over rows; it predicts block by block."""
    cdef object support, matrix, W
    cdef const double[::1] b
    cdef double[:, ::1] t
    cdef Py_ssize_t next

    def __init__(self, Py_ssize_t p, W, b, support):
        self.map_scores(W.shape[1], p, None)
        self.W = W
        self.b = b
        self.support = support
        if self.b.shape[0] != self.d:
            raise ValueError(f"b must hold {self.d} offsets, got {self.b.shape[0]}.")

    cdef Py_ssize_t open_block(self, Rows rows, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last,
                               bint means_wanted) except -1:
        if self.matrix is None:
            self.matrix = self.support.widened(rows.matrix(), self.n_features)
        last = rows.rounds_of(order, first, last, BLOCK)
        block = as_doubles(self.matrix[rows.inputs(order, first, last)])
        self.t = expanded(partial(self.support.against, block), block.shape[0], self.W) + self.b
        self.next = 0
        return last

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        cdef Py_ssize_t i, c
        for i in range(x.m):
            for c in range(self.d):
                t[i * self.d + c] = self.t[self.next + i, c]
        self.next += x.m

    cdef void mean_scores(self, const View* x, int which, double* t) noexcept nogil:
        self.scores(x, t)


def sized(kernels, Py_ssize_t rows, Py_ssize_t columns):
    """Return kernels, if they are as many as the loop will read."""
    if kernels.shape != (rows, columns):
        raise ValueError(f"kernels of {rows} and {columns} rows have shape {kernels.shape}.")
    return kernels


def expanded(kernels, Py_ssize_t m, coefficients):
    """Return the sums over all rows kept, at m rows.

    The coefficients are given.  The kernels of the m rows with the rows begin to end are computed.
    """
    total = np.zeros((m, coefficients.shape[1]))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):      # of rows without a finite kernel, which are rejected
        for begin in range(0, len(coefficients), TILE):
            end = min(begin + TILE, len(coefficients))
            add_products(np.ascontiguousarray(kernels(begin, end), dtype=np.float64), coefficients[begin:end], total)
    return total


cdef add_products(const double[:, ::1] kernels, coefficients, double[:, ::1] total):
    """Add kernels @ coefficients to total; each column is in the same order, so that scores of equal coefficients are equal."""
    cdef Matrix M
    cdef Py_ssize_t i, d = total.shape[1], n = kernels.shape[1]
    cdef double[:, ::1] lines = np.zeros((d, (n + 7) // 8 * 8))
    cdef double[::1] none = np.zeros(d)
    cdef Py_ssize_t[::1] row = np.zeros(kernels.shape[0], dtype=np.intp)
    if coefficients.shape != (n, d) or total.shape[0] != kernels.shape[0]:
        raise ValueError(f"kernels of shape {np.shape(kernels)} do not fit coefficients of shape {coefficients.shape}.")
    if n == 0 or d == 0 or kernels.shape[0] == 0:
        return
    np.asarray(lines)[:, :n] = coefficients.T
    M.data, M.offset, M.d, M.stride, M.layout = &lines[0, 0], &none[0], d, lines.shape[1], BY_CLASS
    with nogil:
        for i in range(kernels.shape[0]):
            row[i] = <Py_ssize_t> &kernels[i, 0]
        of_doubles(False).scores_at(kernels.shape[0], <const void**> &row[0], n, &M, 1, True, d, &total[0, 0])


def gaussian(double[:, ::1] products, double gamma, const double[::1] left, const double[::1] right):
    """Replace products <x, z> by exp(-gamma |x - z|^2); the squared lengths of all x and all z are given."""
    cdef Py_ssize_t i
    cdef double in_octaves = gamma * 1.4426950408889634
    offset = -in_octaves * np.asarray(right)
    cdef const double[::1] of_right = offset
    if products.shape[0] != left.shape[0] or products.shape[1] != right.shape[0]:
        raise ValueError("products must have a row for each entry of left and a column for each of right.")
    if products.shape[1] > 0:
        with nogil:
            for i in range(products.shape[0]):
                gaussian_of_products(products.shape[1], 2 * in_octaves, -in_octaves * left[i], &of_right[0], &products[i, 0])


def as_doubles(matrix):
    """Return a copy of rows of a matrix.

    It is in double precision, with the entries of sparse rows in order.

    Products of two sparse matrices are summed in the order of either, which depends on their sizes.
    """
    if not issparse(matrix):
        return np.ascontiguousarray(matrix, dtype=np.float64)
    matrix.sum_duplicates()
    return matrix.astype(np.float64, copy=False)


def grown(array, Py_ssize_t room):
    """Return an array with room for more rows; places that no row has taken hold 0, or -1 where they are numbers."""
    old = np.asarray(array)
    new = np.full(room, -1 if old.dtype == np.intp else 0, dtype=old.dtype)
    new[:len(old)] = old
    return new
