"""Weights under p-norms: W = link(Theta), the p-norm link. The steps change Theta (Jain et al. 2015, supplement, B.2)."""
from libc.math cimport INFINITY, fabs, sqrt
from libc.math cimport pow as libm_pow

import numpy as np

from sklearn_predtron._core.score_map cimport ScoreMap, cancelled
from sklearn_predtron._core.simd cimport BY_CLASS, BY_FEATURE, ONE_CLASS, ScoreGradient, Matrix, Row, prefetch_bytes
from sklearn_predtron._core.problem cimport Round
from sklearn_predtron._core.rows cimport Rows, View, of_doubles, q_norm, q_norm_of, row_of
from sklearn_predtron.norms._averaging cimport AveragedWeights
from sklearn_predtron._core.intercept cimport Intercept
from sklearn_predtron._core.memory cimport blank, erase

from sklearn_predtron._core.mixable_state import fields, joined, part_of
from sklearn_predtron._core.memory import SMALL_PAGES, aligned_zeros, padded, touches_most, use_large_pages

# Where sum |theta|^q leaves these bounds, theta is measured in another unit; a step must not take it beyond the last.
cdef double SMALL = 1e-60, LARGE = 1e60, LARGEST = 1e200, MOST_FEATURES = 1e18


cdef class DualWeights(AveragedWeights):
    """Weights W = c u, with u a power of the dual weights.

    These are Theta = unit * theta, and c is common to all of them.

    Weights lie feature by feature or class by class, a line each. A step changes c, and u only where it changes theta. A
    sum of the iterates is total + u deferred, line by line: deferred is the sum of c since the line's last change. Over a
    long segment c may fall by many orders, so that a difference of two running sums would be lost to rounding: c is summed
    afresh over each segment in which it has changed little, and deferred is the rest of one segment and all later ones.
    The intercept is feature p, of length sqrt(r2): b = sqrt(r2) W_p.
    """
    def __init__(self, Py_ssize_t d, Py_ssize_t p, Intercept intercept not None, double q, bint by_feature=True,
                 int averaging=True, ScoreMap score_map=None, curvature=None):
        self.map_scores(d, p, score_map)
        if not 2 <= q < INFINITY:
            raise ValueError(f"q={q} must be a number of at least 2.")
        self.q = q
        self.curvature = q - 1 if curvature is None else curvature
        if not 0 < self.curvature <= q - 1:
            raise ValueError(f"curvature={curvature} must be positive and at most q - 1 = {q - 1:g}.")
        self.has_longer_steps = self.curvature < q - 1
        self.room = (LARGEST ** (1 / q) - LARGE ** (1 / q)) / MOST_FEATURES ** (1 / q)
        self.inverse_convexity = q - 1
        self.intercept = intercept
        self.by_feature = by_feature
        self.last_line = (p + 15) // 16 * 16
        self.lines, self.width = (self.last_line + 1, d) if by_feature else (d, self.last_line + 1)
        self.stride = padded(self.width, by_feature)
        size = self.stride * self.lines
        self.small_pages = by_feature and 8 * size >= SMALL_PAGES
        self.theta, self.u = aligned_zeros(size, self.small_pages), aligned_zeros(size, self.small_pages)
        self.offset = np.zeros(d)
        self.large = self.u.nbytes > 1 << 20
        self.U.data, self.U.offset = &self.u[0], &self.offset[0]
        self.U.d, self.U.stride = d, self.stride
        self.U.layout = ONE_CLASS if d == 1 else BY_FEATURE if by_feature else BY_CLASS
        self.none = np.zeros(d)
        self.U_alone = self.U
        self.U_alone.offset = &self.none[0]
        self.unit = 1
        self.at, self.value = aligned_zeros(p + 1, self.small_pages).view(np.intp), aligned_zeros(p + 1, self.small_pages)
        self.watch_radius(False)
        self.keep_averages(averaging)

    def arguments(self, Py_ssize_t d, Py_ssize_t p):
        return (d, p, self.intercept, self.q, self.by_feature, self.averaging, self.score_map.of_scores(d), self.curvature)

    def arrays(self):
        cdef int i
        cdef LineSum* s
        found = [*self.arrays_of(self.theta), *self.arrays_of(self.u)]
        for i in range(self.averaging):
            s = &self.sums[i]
            total, since, had = self.totals[i]
            found += [*self.arrays_of(total), *self.arrays_of_lines(since, 0, SEGMENTS - 1), *self.arrays_of_lines(had),
                      ("n", np.asarray(<double[:SEGMENTS]> s.segment)),
                      ("n", np.asarray(<double[:3]> &s.mass)),      # inflation and c_at_start lie behind it
                      ("n", np.asarray(<Py_ssize_t[:1]> &s.now), 0, SEGMENTS - 1)]
        return found

    def arrays_of(self, flat):
        """Return weights in place, after their axes: those of features, and those of the intercept."""
        lines = np.asarray(flat).reshape(self.lines, self.stride)
        if self.by_feature:
            return [("pd", lines[:self.n_features]), ("d", lines[self.last_line])]
        return [("dp", lines[:, :self.n_features]), ("d", lines[:, self.last_line])]

    def arrays_of_lines(self, values, *bounds):
        """Return each line's values in place, after their axes."""
        if not self.by_feature:
            return [("d", values, *bounds)]
        return [("p", values[:self.n_features], *bounds), ("n", values[self.last_line:], *bounds)]

    def numbers(self):
        return self.unit, self.c, self.mass, self.most, self.moved, self.top

    def set_numbers(self, numbers):
        self.unit, self.c, self.mass, self.most, self.moved, self.top = numbers

    def export(self):
        cdef const LineSum* s = &self.sums[0]
        theta = self._used(self.theta)
        theta *= self.unit          # in place, for it is large
        own = fields(mean={"theta": theta}, most={"radius2": self.radius2})
        if self.averaging and s.mass > 0:
            total = self._used(self.flushed(0))
            total /= s.inflation
            own["sum"] = {"total": total, "mass": s.mass / s.inflation}
        return joined(weights=own, intercept=self.intercept.export())

    def adopt(self, state, bint with_sums):
        cdef double length
        cdef double[::1] flat = self.theta
        own = part_of(state, "weights")
        theta = own["mean"]["theta"]
        if theta.shape != (self.d, self.n_features + 1):
            raise ValueError(f"weights of shape {theta.shape} are not those of {self.d} scores and {self.n_features} features.")
        with nogil:                 # other shards learn meanwhile
            erase(flat)
        self._use(self.theta, theta)
        self.unit, self.c = 1, 0
        self.begin_sums()
        with nogil:
            self.raise_all()
            length = self.length_of_theta()
            if 0 < length < INFINITY:
                self.change_unit(length)
            self.relink()
        if with_sums and own["sum"]:
            self._use(self.totals[0][0], own["sum"]["total"])
            self.sums[0].mass = own["sum"]["mass"]
        self.radius2 = own["most"]["radius2"]
        self.intercept.adopt(part_of(state, "intercept"))

    def begin_at(self, W, b):
        r2 = self.intercept.r2()
        if self.intercept.automatic and self.intercept.count == 0 and np.any(b):
            raise ValueError(
                "intercept_scaling='auto' is the length of rows, in whose unit the norm measures intercepts, and none was seen; "
                "accepted are numbers, and models without an intercept.")
        state = self.export()
        state["mean"]["weights.theta"] = self.inverse_link(np.column_stack([W, b / r2 ** 0.5 if r2 > 0 else b]))
        self.adopt(state, False)

    def reserve(self, Rows rows not None):
        """Allow huge pages after all; Rows touch most of the weights."""
        if self.small_pages and touches_most(rows, self.stride):
            self.small_pages = False
            use_large_pages(self.theta, self.u, *[total for total, *_ in self.totals])

    def new_total(self):
        """Return the arrays of a new sum: total, since, had."""
        size, lines = self.u.shape[0], self.lines
        total, since, had = (aligned_zeros(n, self.small_pages) for n in (size, lines, lines))
        return total, since.view(np.intp), had

    cdef begin_sum(self, int i, arrays):
        cdef LineSum* s = &self.sums[i]
        cdef double[::1] total = arrays[0], had = arrays[2]
        cdef Py_ssize_t[::1] since = arrays[1]
        s.total, s.since, s.had = &total[0], &since[0], &had[0]
        s.mass = s.now = 0
        s.segment[0] = 0
        (<double[:SEGMENTS]> s.segment)[:] = 0
        s.inflation = 1
        s.c_at_start = self.c

    cdef void exchange_sums(self, int i, int j) noexcept:
        cdef LineSum first = self.sums[i]
        self.sums[i] = self.sums[j]
        self.sums[j] = first

    cdef const LineSum* sum_of(self, int which) noexcept nogil:
        """Return a sum of the iterates; it is NULL for the last iterate, and where no round has counted yet."""
        return NULL if which == 0 or which > self.averaging or self.sums[which - 1].mass == 0 else &self.sums[which - 1]

    def effective_radius(self, double radius):
        """Return sqrt(q - 1) R; the norm's square is strongly convex to 1 / (q - 1)."""
        return radius * self.inverse_convexity ** 0.5

    # ------------------------------------------------------------------------------------------------------------ scores

    cdef Py_ssize_t entry(self, Py_ssize_t c, Py_ssize_t j) noexcept nogil:
        """Return the place of feature j's weight for class c."""
        return j * self.stride + c if self.by_feature else c * self.stride + j

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        cdef Py_ssize_t c
        cdef double root
        self.gathered = False
        self.input_length = -1
        if self.intercept.fitted:
            root = sqrt(self.intercept.r2())
            for c in range(self.d):
                self.offset[c] = root * self.u[self.entry(c, self.last_line)]
        x.k.scores[self.U.layout](x.m, &x.first, x.start, &self.U, self.c, False, t)

    cdef void mean_scores(self, const View* x, int which, double* t) noexcept nogil:
        cdef Py_ssize_t r, c
        cdef const Row* row
        cdef Row spare
        cdef const LineSum* s = self.sum_of(which)
        if s == NULL:
            self.last_scores(x, t)
            return
        for r in range(x.m):
            row = row_of(x, r, &spare)
            if self.by_feature:
                self.mean_of_features(x, row, s, t)
            else:
                for c in range(self.d):
                    t[c] = self.mean_of_class(x, row, s, c)
            for c in range(self.d):
                t[c] /= s.mass
            t += self.d

    cdef void mean_of_features(self, const View* x, const Row* row, const LineSum* s, double* t) noexcept nogil:
        """Write the scores by a sum of the iterates; lines are features."""
        cdef Py_ssize_t c, j, k, begin, n
        cdef Py_ssize_t at[BUFFER]
        cdef double value[BUFFER]
        cdef double root = sqrt(self.intercept.r2()) if self.intercept.fitted else 0, deferred = pending(s, self.last_line)
        j = self.last_line * self.stride
        for c in range(self.d):
            t[c] = root * (s.total[j + c] + deferred * self.u[j + c])
        for begin in range(0, row.n, 256):
            n = min(BUFFER, row.n - begin)
            x.k.unpack(row, begin, n, at, value)
            for k in range(n):
                j = at[k] * self.stride
                deferred = pending(s, at[k])
                for c in range(self.d):
                    t[c] += value[k] * (s.total[j + c] + deferred * self.u[j + c])

    cdef double mean_of_class(self, const View* x, const Row* row, const LineSum* s, Py_ssize_t c) noexcept nogil:
        """Return a class's score by a sum of the iterates; lines are classes."""
        cdef double root = sqrt(self.intercept.r2()) if self.intercept.fitted else 0, offset, score
        cdef Matrix line = self.U
        line.offset, line.d, line.layout = &offset, 1, ONE_CLASS
        line.data = &self.u[c * self.stride]
        offset = root * line.data[self.last_line]
        x.k.scores[ONE_CLASS](1, row, NULL, &line, pending(s, c), False, &score)
        line.data = s.total + c * self.stride
        offset = root * line.data[self.last_line]
        x.k.scores[ONE_CLASS](1, row, NULL, &line, 1, True, &score)
        return score

    cdef void last_scores(self, const View* x, double* t) noexcept nogil:
        """Write the scores of the last iterate, without a trace; nothing that others may be reading changes."""
        cdef Py_ssize_t r, c
        cdef double root = sqrt(self.intercept.r2()) if self.intercept.fitted else 0
        x.k.scores[self.U.layout](x.m, &x.first, x.start, &self.U_alone, self.c, False, t)
        for r in range(x.m):
            for c in range(self.d):
                t[r * self.d + c] += self.c * root * self.u[self.entry(c, self.last_line)]

    cdef bint read_lines(self, bint mean, const Py_ssize_t* at, Py_ssize_t first, Py_ssize_t n, Py_ssize_t stride,
                         double* line) noexcept nogil:
        cdef Py_ssize_t i, number
        cdef bint single = self.d == 1
        if single and at == NULL and stride == 1 and not self.by_feature:
            self.read_weights(mean, 0, first, n, line)      # a class's
            return True
        for i in range(n):
            number = first + i if at == NULL else at[i]
            if single:
                self.read_weights(mean, number if self.by_feature else 0, number, 1, line)
            else:
                self.read_weights(mean, number, number * self.stride, self.d if self.by_feature else min(self.p, stride), line)
            line += stride
        return True

    cdef void read_weights(self, bint mean, Py_ssize_t line, Py_ssize_t number, Py_ssize_t n, double* w) noexcept nogil:
        """Read n weights of a line, from a number on."""
        cdef Py_ssize_t i
        cdef double share = self.c, of_total = 0
        cdef const double* u = &self.u[number]
        cdef const double* total
        cdef const LineSum* s = self.sum_of(self.predicting(mean))
        if s == NULL:
            for i in range(n):
                w[i] = share * u[i]
            return
        total, of_total = s.total + number, 1 / s.mass
        share = pending(s, line) * of_total
        for i in range(n):
            w[i] = share * u[i] + of_total * total[i]

    cdef void read_offsets(self, bint mean, double* b) noexcept nogil:
        cdef Py_ssize_t c
        cdef double root = sqrt(self.intercept.r2()) if self.intercept.fitted else 0
        for c in range(self.d):
            self.read_weights(mean, self.last_line if self.by_feature else c, self.entry(c, self.last_line), 1, &b[c])
            b[c] *= root

    cdef void prefetch(self, const View* x) noexcept nogil:
        x.k.fetch(&x.first, &self.U)

    # --------------------------------------------------------------------------------------------------------- the input

    cdef void gather(self, View* x, const ScoreGradient* g) noexcept nogil:
        """Compute the round's amount of each feature; it is that of a row, or of the rows of a query times their entries of g."""
        if self.gathered:
            return
        self.gathered = True
        self.input = &self.value[0]
        if self.by_feature:
            self.n = self.score_map.gather(x, g, &self.at[0], &self.value[0])
            return
        self.n = x.p
        if self.score_map.whole_input(x) != NULL and x.k == of_doubles(False):
            self.input = <const double*> x.first.value
            return
        self.value[:] = 0
        x.k.combine(x.m, &x.first, x.start, 1, self.score_map.row_weights(g), &self.value[0])

    cdef double norm_of_input(self, View* x, const ScoreGradient* g) noexcept nogil:
        cdef const Row* row = self.score_map.whole_input(x)
        if self.input_length < 0:
            if row == NULL:
                self.gather(x, g)
                self.input_length = q_norm_of(self.input, self.n, self.q)
            else:
                self.input_length = q_norm(row, x.k, self.q)
        return self.input_length

    cdef double with_intercept(self, double length, double times) noexcept nogil:
        """Return the squared q-norm of an input with the intercept.

        The input has that length; the intercept's feature is in it so many times.
        """
        cdef double feature = sqrt(self.intercept.r2()) * fabs(times), largest = max(length, feature)
        if feature == 0 or largest == 0:
            return length * length
        return largest * largest * libm_pow(
            libm_pow(length / largest, self.q) + libm_pow(feature / largest, self.q), 2 / self.q)

    cdef double length2(self, View* x) noexcept nogil:
        cdef double length = self.norm_of_input(x, NULL)
        return length * length

    cdef void update_statistics(self, View* x) noexcept nogil:
        cdef double length, times = 1
        cdef Py_ssize_t r
        cdef Row spare
        if self.score_map.whole_input(x) != NULL:
            length = self.norm_of_input(x, NULL)
        elif self.radius_of_rows:
            length = self.largest_row_norm(x)
        else:                               # the q-norm of the columns' lengths bounds |X^T g|_q / |g|_2
            self.score_map.column_lengths(x, &self.at[0], &self.value[0])
            length = q_norm_of(&self.value[0], x.p, self.q)
            times = sqrt(x.m)
        if self.intercept.automatic and self.score_map.of_blocks:
            for r in range(x.m):
                self.intercept.update_statistics(q_norm(row_of(x, r, &spare), x.k, self.q) ** 2)
        elif self.intercept.automatic:
            self.intercept.update_statistics(length * length)
        if self.radius_needed:
            self.radius2 = max(self.radius2, self.inverse_convexity * self.with_intercept(length, times))

    cdef double largest_row_norm(self, View* x) noexcept nogil:
        """Return the largest q-norm of a row."""
        cdef Py_ssize_t r
        cdef double largest = 0
        cdef Row spare
        for r in range(x.m):
            largest = max(largest, q_norm(row_of(x, r, &spare), x.k, self.q))
        return largest

    cdef void update_norm(self, View* x, const ScoreGradient* g, Round* r) noexcept nogil:
        cdef double length, curvature = self.curvature if r.bounded else self.inverse_convexity
        r.radius2 = self.radius2
        if self.score_map.whole_input(x) == NULL:
            length = self.norm_of_input(x, g)
            if length * length <= cancelled(x, g):      # the q-norm is at most the Euclidean one
                length = 0
            r.update_norm2 = curvature * self.with_intercept(length, self.score_map.intercept_weight(g))
            return
        length = self.direction_norm(g)
        r.update_norm2 = curvature * length * length * self.with_intercept(self.norm_of_input(x, g), 1)

    cdef double direction_norm(self, const ScoreGradient* g) noexcept nogil:
        """Return the norm of g in |g x^T| = |g| |x|_q."""
        return 0

    # ------------------------------------------------------------------------------------------------------------- steps

    cdef void step(self, View* x, const ScoreGradient* g, double size) noexcept nogil:
        cdef double reach = size * self.largest_change(x, g)
        cdef ScoreGradient single
        if self.mass == 0:
            if reach == 0:
                return
            self.unit = max(reach, 1e-300)
        elif reach > self.room * self.unit:
            self.change_unit(libm_pow(self.mass, 1 / self.q) + reach / self.unit)
        self.gather(x, g)
        self.feature = sqrt(self.intercept.r2()) * self.score_map.intercept_weight(g)
        self.add(self.score_map.of_input(g, &single), -size / self.unit)
        self.relink()

    cdef double largest_change(self, View* x, const ScoreGradient* g) noexcept nogil:
        """Return a bound on the input's entries, times |g|; the intercept's feature is among them."""
        cdef double feature = sqrt(self.intercept.r2()) * fabs(self.score_map.intercept_weight(g))
        cdef double largest = max(self.norm_of_input(x, g), feature), square = 0
        cdef Py_ssize_t k
        cdef ScoreGradient single
        g = self.score_map.of_input(g, &single)
        for k in range(g.n):
            square += g.value[k] * g.value[k]
        return largest * sqrt(square)

    cdef void add(self, const ScoreGradient* g, double change) noexcept nogil:
        """Add change g x^T to theta, and update u and the mass."""
        cdef Py_ssize_t last = self.last_line, k
        if self.large:
            self.fetch_all()
        for k in range(self.n):
            self.top = max(self.top, self.at[k] + 1)
        self.move(&self.at[0], self.input, self.n, g, change)
        if self.intercept.fitted:
            self.move(&last, &self.feature, 1, g, change)

    cdef void fetch_all(self) noexcept nogil:
        """Prefetch the memory that a step will change; without it, nothing hides the wait for the memory at the step."""
        cdef Py_ssize_t k, slot
        cdef int i
        cdef size_t size = self.stride * sizeof(double)
        for k in range(self.n):
            slot = self.at[k] * self.stride
            prefetch_bytes(&self.theta[slot], size)
            prefetch_bytes(&self.u[slot], size)
            for i in range(self.averaging):
                prefetch_bytes(self.sums[i].total + slot, size)
                prefetch_bytes(self.sums[i].had + self.at[k], 1)
                prefetch_bytes(self.sums[i].since + self.at[k], 1)

    cdef void move(self, const Py_ssize_t* at, const double* value, Py_ssize_t n, const ScoreGradient* g,
                   double change) noexcept nogil:
        """Compute the weights of the given features alone; lines are features."""

    cdef double sum_of_powers(self) noexcept nogil:
        """Return the mass, computed from theta and u."""
        return 0

    cdef double length_of_theta(self) noexcept nogil:
        """Return the norm of theta; the mass may be no floating-point number."""
        return 0

    cdef void raise_all(self) noexcept nogil:
        """Compute u and the mass of theta from scratch."""

    cdef bint is_worn(self) noexcept nogil:
        """Return whether to sum the mass again from scratch.

        This is due after so many entries changed, in the same round at any width.
        """
        return self.moved > 16 * (self.stride * (self.top + 1) if self.by_feature else self.d)

    cdef void relink(self) noexcept nogil:
        """Find c after a change of the mass."""
        cdef double length
        self.most = max(self.most, self.mass)
        if self.mass < 1e-4 * self.most or self.is_worn():
            self.mass = self.most = self.sum_of_powers()      # the remainder of large terms is rounding
            self.moved = 0
        if not SMALL < self.mass < LARGE:
            length = self.length_of_theta()
            if 0 < length < INFINITY:
                self.change_unit(length)
        self.c = self.unit * libm_pow(self.mass, 2 / self.q - 1) if self.mass > 0 else 0
        self.follow_c()

    cdef void change_unit(self, double length) noexcept nogil:
        """Measure theta in units in which its norm is 1."""
        cdef Py_ssize_t i
        self.flush_all()
        for i in range(self.u.shape[0]):
            if self.theta[i] != 0:      # a page that was never touched stays so
                self.theta[i] /= length
        self.unit *= length
        self.raise_all()        # terms too small for u before may be large enough now
        self.most = self.mass
        self.moved = 0

    cdef void shrink(self, double factor) noexcept nogil:
        if self.mass == 0:
            return
        self.unit *= max(factor, 0)
        if self.unit < 1e-290:
            self.clear()
            return
        self.c *= factor
        self.follow_c()

    cdef void clear(self) noexcept nogil:
        """Set W <- 0; the sum of the iterates stays."""
        self.flush_all()
        erase(self.theta)
        self.raise_all()
        self.most = self.c = 0
        self.unit = 1

    # ------------------------------------------------------------------------------------------------------- the average

    cdef double* first_total(self, Py_ssize_t place) noexcept nogil:
        """Return the total of the first sum from a place on; it is NULL where no average is kept."""
        return self.sums[0].total + place if self.averaging else NULL

    cdef double take_first(self, Py_ssize_t line) noexcept nogil:
        """Return the deferred part of a line's first sum; its other sums are flushed, since the line is about to change."""
        cdef int i
        for i in range(1, self.averaging):
            self.flush_sum(&self.sums[i], line)
        return take_pending(&self.sums[0], line) if self.averaging else 0

    cdef void flush_line(self, Py_ssize_t line) noexcept nogil:
        """Flush a line of every sum."""
        cdef int i
        for i in range(self.averaging):
            self.flush_sum(&self.sums[i], line)

    cdef void flush_sum(self, LineSum* s, Py_ssize_t line) noexcept nogil:
        self.add_deferred(take_pending(s, line), line, s.total)

    cdef void add_deferred(self, double deferred, Py_ssize_t line, double* total) noexcept nogil:
        """Add a line's deferred part to a total."""
        cdef Py_ssize_t i
        cdef const double* u = &self.u[line * self.stride]
        if deferred == 0:
            return
        total += line * self.stride
        for i in range(self.d if self.by_feature else self.n_features):
            total[i] += deferred * u[i]
        if not self.by_feature:     # the lines in between are room for more features
            total[self.last_line] += deferred * u[self.last_line]

    cdef void flush_all(self) noexcept nogil:
        """Flush every line of every sum."""
        cdef int i
        for i in range(self.averaging):
            self.flush_lines(&self.sums[i])

    cdef void flush_lines(self, LineSum* s) noexcept nogil:
        """Flush every line, and count the segments from 0."""
        cdef Py_ssize_t line
        for line in range(self.lines):
            if not blank(&self.u[line * self.stride], self.width):
                self.flush_sum(s, line)
        for line in range(self.lines):
            if s.since[line] != 0:
                s.since[line] = 0
        for line in range(self.lines):
            if s.had[line] != 0:
                s.had[line] = 0
        s.now = 0
        s.segment[0] = 0

    def flushed(self, int i):
        """Return the total of a sum with the deferred part of every line.

        It is a copy: flushing the sum itself would change how later updates are rounded.
        """
        cdef const LineSum* s = &self.sums[i]
        cdef double[::1] total = np.array(self.totals[i][0])
        cdef Py_ssize_t line
        with nogil:                 # other shards learn meanwhile
            for line in range(self.lines):
                if not blank(&self.u[line * self.stride], self.width):
                    self.add_deferred(pending(s, line), line, &total[0])
        return np.asarray(total)

    cdef void follow_c(self) noexcept nogil:
        """Begin a new segment; c is no longer near its value at the start of the present one."""
        cdef int i
        cdef LineSum* s
        for i in range(self.averaging):
            s = &self.sums[i]
            if 0.5 * s.c_at_start <= self.c <= 2 * s.c_at_start:
                continue
            if s.now + 1 == SEGMENTS:
                self.flush_lines(s)
            else:
                s.now += 1
                s.segment[s.now] = 0
            s.c_at_start = self.c

    cdef void add_to_average(self, int which, double weight, double keep) noexcept nogil:
        cdef Py_ssize_t i
        cdef LineSum* s = &self.sums[which - 1]
        if keep < 1:
            s.inflation /= keep
            if s.inflation > 1e100:
                self.flush_lines(s)
                for i in range(self.u.shape[0]):
                    if s.total[i] != 0:
                        s.total[i] /= s.inflation
                s.mass /= s.inflation
                s.inflation = 1
        s.mass += weight * s.inflation
        s.segment[s.now] += weight * s.inflation * self.c

    # -------------------------------------------------------------------------------------------------------- for Python

    def _matrix(self, flat):
        """Return an array (d, last_line + 1); the intercept's feature is the last."""
        lines = np.asarray(flat).reshape(self.lines, self.stride)[:, :self.width]
        return lines.T if self.by_feature else lines

    def _used(self, flat):
        """Return a copied array (d, p + 1) of the features.

        Features that there is only room for are left out, and the intercept's is the last.
        """
        matrix = self._matrix(flat)
        return np.concatenate([matrix[:, :self.n_features], matrix[:, self.last_line:self.last_line + 1]], axis=1)

    def _use(self, flat, values):
        """Write such an array."""
        matrix = self._matrix(flat)
        matrix[:, :self.n_features], matrix[:, self.last_line] = values[:, :-1], values[:, -1]

    def _shaped(self, flat):
        """Return the features (d, p) and the intercept (d,)."""
        matrix = self._matrix(flat)
        return matrix[:, :self.n_features], self.intercept.r2() ** 0.5 * matrix[:, self.last_line]

    def last(self):
        """Return copies of the last iterate's W (d, p), b (d,)."""
        return self._shaped(self.c * np.asarray(self.u))

    def mean(self):
        """Return copies of the predicting W (d, p), b (d,); they are an average, or the last iterate where none is kept."""
        cdef int which = self.predicting(True)
        cdef const LineSum* s = self.sum_of(which)
        return self.last() if s == NULL else self._shaped(self.flushed(which - 1) / s.mass)

    def dual(self):
        """Return copies of Theta (d, p) and of its intercept (d,)."""
        matrix = self.unit * self._matrix(self.theta)
        return matrix[:, :self.n_features], matrix[:, self.last_line]


cdef inline double pending(const LineSum* s, Py_ssize_t line) noexcept nogil:
    """Return the sum of c since the line's last change."""
    cdef Py_ssize_t k, since = s.since[line]
    cdef double total = s.segment[since] - s.had[line]
    for k in range(since + 1, s.now + 1):
        total += s.segment[k]
    return total


cdef inline double take_pending(LineSum* s, Py_ssize_t line) noexcept nogil:
    """Return the sum of c for a line about to change."""
    cdef double deferred = pending(s, line)
    s.since[line] = s.now
    s.had[line] = s.segment[s.now]
    return deferred
