"""What weights under p-norms share: W = link(Theta), the steps being Theta's (Jain et al. 2015, supplement, B.2)."""
from libc.math cimport INFINITY, fabs, sqrt
from libc.math cimport pow as libm_pow

import numpy as np

from sklearn_predtron._core.score_map cimport ScoreMap, cancelled
from sklearn_predtron._core.simd cimport BY_CLASS, BY_FEATURE, ONE_CLASS, ScoreGradient, RowOps, Matrix, Row, prefetch_bytes
from sklearn_predtron.problems._base cimport Round
from sklearn_predtron._core.rows cimport Rows, View, of_doubles, row_of
from sklearn_predtron.norms._base cimport Weights
from sklearn_predtron.norms._intercept cimport Intercept
from sklearn_predtron.norms._pages cimport blank, erase, restore

from sklearn_predtron._core.state import count, flag, real, reals, restored, whole, wholes
from sklearn_predtron.norms._pages import THIN, aligned_zeros, thicken, touches_most

cdef enum:
    STRETCHES = 64

# Where sum |theta|^q leaves these bounds, theta is measured in another unit; a step must not take it beyond the last.
cdef double SMALL = 1e-60, LARGE = 1e60, LARGEST = 1e200


cdef class DualWeights(Weights):
    """W = c u, with u a power of the dual weights Theta = unit * theta and c common to all of them.

    Weights lie feature by feature or class by class, a line each. A step changes c, and u only where it changes theta. The
    sum of the iterates is total + u owed, line by line: owed is what c has summed to since the line's last change. Over a
    long stretch c may fall by many orders, so that a difference of two running sums would be lost to rounding: c is summed
    afresh over each stretch in which it has changed little, and owed is the rest of one stretch and all later ones.
    The intercept is feature p, of length sqrt(r2): b = sqrt(r2) W_p.
    """
    def __init__(self, Py_ssize_t d, Py_ssize_t p, Intercept intercept not None, double q, bint by_feature=True,
                 bint averaging=True, ScoreMap score_map=None, curvature=None):
        self.map_scores(d, p, score_map)
        if not 2 <= q < INFINITY:
            raise ValueError(f"q={q} must be a number of at least 2.")
        self.q = q
        self.curvature = q - 1 if curvature is None else curvature
        if not 0 < self.curvature <= q - 1:
            raise ValueError(f"curvature={curvature} must be positive and at most q - 1 = {q - 1:g}.")
        self.has_longer_steps = self.curvature < q - 1
        self.room = (LARGEST ** (1 / q) - LARGE ** (1 / q)) / (p + 1) ** (1 / q)
        self.inverse_convexity = q - 1
        self.intercept = intercept
        self.by_feature = by_feature
        self.lines, self.width = (p + 1, d) if by_feature else (d, p + 1)
        pad = 1 if self.width == 1 else 4 if by_feature else 16
        self.stride = (self.width + pad - 1) // pad * pad
        size = self.stride * self.lines
        self.thin = by_feature and 8 * size >= THIN
        self.theta, self.u = aligned_zeros(size, self.thin), aligned_zeros(size, self.thin)
        self.offset = np.zeros(d)
        self.large = self.u.nbytes > 1 << 20
        self.U.data, self.U.offset = &self.u[0], &self.offset[0]
        self.U.d, self.U.stride = d, self.stride
        self.U.layout = ONE_CLASS if d == 1 else BY_FEATURE if by_feature else BY_CLASS
        self.none = np.zeros(d)
        self.U_alone = self.U
        self.U_alone.offset = &self.none[0]
        self.unit = 1
        self.at, self.value = aligned_zeros(p + 1, self.thin).view(np.intp), aligned_zeros(p + 1, self.thin)
        self.watch_radius(False)
        self.stop_average()
        if averaging:
            self.start_average()

    def __reduce__(self):
        arguments = self.d, self.p, self.intercept, self.q, self.by_feature, self.averaging, self.score_map, self.curvature
        arrays = (np.array(self.theta), np.array(self.u), np.array(self.total), np.array(self.stretch), np.array(self.since),
                  np.array(self.had))
        numbers = (self.unit, self.c, self.mass, self.most, self.moved, self.rounds_mass, self.inflation, self.now,
                   self.c_at_start, self.radius2, self.radius_needed, self.radius_of_rows)
        return type(self), arguments, (arrays, numbers)

    def __setstate__(self, state):
        cdef const double[::1] theta, u, total
        cdef Py_ssize_t lines = self.lines if self.averaging else 0
        arrays = (reals(self.theta.shape[0]), reals(self.u.shape[0]), reals(self.total.shape[0]),
                  reals(STRETCHES if self.averaging else 0), wholes(lines, least=0, most=STRETCHES - 1), reals(lines))
        numbers = *[real] * 4, count, real, real, whole(0, STRETCHES - 1), real, real, flag, flag
        (theta, u, total, self.stretch, self.since, self.had), numbers = restored(self, state, (arrays, numbers))
        (self.unit, self.c, self.mass, self.most, self.moved, self.rounds_mass, self.inflation, self.now,
         self.c_at_start, self.radius2, needed, of_rows) = numbers
        restore(self.theta, theta)
        restore(self.u, u)
        restore(self.total, total)
        self.watch_radius(needed, of_rows)

    def expect(self, Rows rows not None):
        """Take huge pages after all where rows touch most of the weights."""
        if self.thin and touches_most(rows, self.stride):
            self.thin = False
            thicken(self.theta, self.u, self.total)

    def start_average(self):
        """Average the iterates from here on."""
        if not self.averaging:
            self.total = aligned_zeros(self.u.shape[0], self.thin)
            self.had = aligned_zeros(self.lines, self.thin)
            self.since = aligned_zeros(self.lines, self.thin).view(np.intp)
            self.stretch = np.zeros(STRETCHES)
            self.averaging = True
            self.rounds_mass = 0
            self.inflation = 1
            self.now = 0
            self.c_at_start = self.c

    def stop_average(self):
        """Forget the average: the last iterate predicts."""
        self.averaging = False
        self.total = self.had = self.stretch = np.zeros(0)
        self.since = np.zeros(0, dtype=np.intp)

    def watch_radius(self, bint needed, bint of_rows=False):
        """Whether to follow the largest |x| of the rounds to come; of their single rows, where they have several."""
        self.radius_needed = needed
        self.radius_of_rows = of_rows
        self.observing = needed or self.intercept.automatic

    def effective_radius(self, double radius):
        """sqrt(q - 1) R: the norm's square is strongly convex to 1 / (q - 1)."""
        return radius * self.inverse_convexity ** 0.5

    # ------------------------------------------------------------------------------------------------------------ scores

    cdef Py_ssize_t entry(self, Py_ssize_t c, Py_ssize_t j) noexcept nogil:
        """Where the weight of feature j for class c lies."""
        return j * self.stride + c if self.by_feature else c * self.stride + j

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        cdef Py_ssize_t c
        cdef double root
        self.gathered = False
        self.input_length = -1
        if self.intercept.fitted:
            root = sqrt(self.intercept.r2())
            for c in range(self.d):
                self.offset[c] = root * self.u[self.entry(c, self.p)]
        x.k.scores[self.U.layout](x.m, &x.first, x.start, &self.U, self.c, False, t)

    cdef void mean_scores(self, const View* x, double* t) noexcept nogil:
        cdef Py_ssize_t r, c
        cdef const Row* row
        cdef Row spare
        if not self.averaging or self.rounds_mass == 0:
            self.last_scores(x, t)
            return
        for r in range(x.m):
            row = row_of(x, r, &spare)
            if self.by_feature:
                self.mean_of_features(x, row, t)
            else:
                for c in range(self.d):
                    t[c] = self.mean_of_class(x, row, c)
            for c in range(self.d):
                t[c] /= self.rounds_mass
            t += self.d

    cdef void mean_of_features(self, const View* x, const Row* row, double* t) noexcept nogil:
        """The scores by the sum of the iterates, where lines are features."""
        cdef Py_ssize_t c, j, k, begin, n
        cdef Py_ssize_t at[BUFFER]
        cdef double value[BUFFER]
        cdef double root = sqrt(self.intercept.r2_read()) if self.intercept.fitted else 0, pending = self.pending_average(self.p)
        for c in range(self.d):
            t[c] = root * (self.total[self.p * self.stride + c] + pending * self.u[self.p * self.stride + c])
        for begin in range(0, row.n, 256):
            n = min(BUFFER, row.n - begin)
            x.k.unpack(row, begin, n, at, value)
            for k in range(n):
                j = at[k] * self.stride
                pending = self.pending_average(at[k])
                for c in range(self.d):
                    t[c] += value[k] * (self.total[j + c] + pending * self.u[j + c])

    cdef double mean_of_class(self, const View* x, const Row* row, Py_ssize_t c) noexcept nogil:
        """A class's score by the sum of the iterates, where lines are classes."""
        cdef double root = sqrt(self.intercept.r2_read()) if self.intercept.fitted else 0, offset, score
        cdef Matrix line = self.U
        line.offset, line.d, line.layout = &offset, 1, ONE_CLASS
        line.data = &self.u[c * self.stride]
        offset = root * line.data[self.p]
        x.k.scores[ONE_CLASS](1, row, NULL, &line, self.pending_average(c), False, &score)
        line.data = &self.total[c * self.stride]
        offset = root * line.data[self.p]
        x.k.scores[ONE_CLASS](1, row, NULL, &line, 1, True, &score)
        return score

    cdef void last_scores(self, const View* x, double* t) noexcept nogil:
        """The scores of the last iterate, without a trace in what others may be reading."""
        cdef Py_ssize_t r, c
        cdef double root = sqrt(self.intercept.r2_read()) if self.intercept.fitted else 0
        x.k.scores[self.U.layout](x.m, &x.first, x.start, &self.U_alone, self.c, False, t)
        for r in range(x.m):
            for c in range(self.d):
                t[r * self.d + c] += self.c * root * self.u[self.entry(c, self.p)]

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
                self.read_weights(mean, number, number * self.stride, self.d if self.by_feature else self.p, line)
            line += stride
        return True

    cdef void read_weights(self, bint mean, Py_ssize_t line, Py_ssize_t number, Py_ssize_t n, double* w) noexcept nogil:
        """n weights of a line, from a number on."""
        cdef Py_ssize_t i
        cdef double share = self.c, of_total = 0
        cdef const double* u = &self.u[number]
        cdef const double* total
        if not mean or not self.averaging or self.rounds_mass == 0:
            for i in range(n):
                w[i] = share * u[i]
            return
        total, of_total = &self.total[number], 1 / self.rounds_mass
        share = self.pending_average(line) * of_total
        for i in range(n):
            w[i] = share * u[i] + of_total * total[i]

    cdef void read_offsets(self, bint mean, double* b) noexcept nogil:
        cdef Py_ssize_t c
        cdef double root = sqrt(self.intercept.r2_read()) if self.intercept.fitted else 0
        for c in range(self.d):
            self.read_weights(mean, self.p if self.by_feature else c, self.entry(c, self.p), 1, &b[c])
            b[c] *= root

    cdef void prefetch(self, const View* x) noexcept nogil:
        x.k.fetch(&x.first, &self.U)

    # --------------------------------------------------------------------------------------------------------- the input

    cdef void gather(self, View* x, const ScoreGradient* g) noexcept nogil:
        """How much of each feature the round has: of a row, or of the rows of a query times their entries of g."""
        if self.gathered:
            return
        self.gathered = True
        self.input = &self.value[0]
        if self.by_feature:
            self.n = self.score_map.gather(x, g, &self.at[0], &self.value[0])
            return
        self.n = self.p
        if self.score_map.whole_input(x) != NULL and x.k == of_doubles(False):
            self.input = <const double*> x.first.value
            return
        self.value[:] = 0
        x.k.combine(x.m, &x.first, x.start, 1, self.score_map.row_weights(g), &self.value[0])

    cdef double q_norm(self, const Row* row, const RowOps* k) noexcept nogil:
        """The q-norm; relative to the largest entry where that overflows."""
        cdef double total = k.sum_of_powers(row, self.q), largest = 0, inverse
        cdef Py_ssize_t at[BUFFER]
        cdef double value[BUFFER]
        cdef Py_ssize_t i, begin, n
        cdef Row part
        if 1e-200 < total < INFINITY:
            return libm_pow(total, 1 / self.q)
        for begin in range(0, row.n, 256):
            n = min(BUFFER, row.n - begin)
            k.unpack(row, begin, n, at, value)
            for i in range(n):
                largest = max(largest, fabs(value[i]))
        if not 1e-300 < largest < INFINITY:
            return largest
        inverse = 1 / largest
        total = 0
        for begin in range(0, row.n, 256):
            n = min(BUFFER, row.n - begin)
            k.unpack(row, begin, n, at, value)
            for i in range(n):
                value[i] *= inverse
            part.n, part.value, part.index = n, value, NULL
            total += of_doubles(False).sum_of_powers(&part, self.q)
        return largest * libm_pow(total, 1 / self.q)

    cdef double q_norm_of(self, const double* value, Py_ssize_t n) noexcept nogil:
        cdef Row row
        row.n, row.value, row.index = n, value, NULL
        return self.q_norm(&row, of_doubles(False))

    cdef double norm_of_input(self, View* x, const ScoreGradient* g) noexcept nogil:
        cdef const Row* row = self.score_map.whole_input(x)
        if self.input_length < 0:
            if row == NULL:
                self.gather(x, g)
                self.input_length = self.q_norm_of(self.input, self.n)
            else:
                self.input_length = self.q_norm(row, x.k)
        return self.input_length

    cdef double with_intercept(self, double length) noexcept nogil:
        """The squared q-norm of an input of that length together with the intercept's feature."""
        cdef double r2 = self.intercept.r2(), largest = max(length, sqrt(r2))
        if r2 == 0 or largest == 0:
            return length * length
        return largest * largest * libm_pow(
            libm_pow(length / largest, self.q) + libm_pow(sqrt(r2) / largest, self.q), 2 / self.q)

    cdef double length2(self, View* x) noexcept nogil:
        cdef double length = self.norm_of_input(x, NULL)
        return length * length

    cdef void update_statistics(self, View* x) noexcept nogil:
        cdef double length
        if self.score_map.whole_input(x) != NULL:
            length = self.norm_of_input(x, NULL)
        elif self.radius_of_rows:
            length = self.largest_row_norm(x)
        else:                               # the q-norm of the columns' lengths bounds |X^T g|_q / |g|_2
            self.score_map.column_lengths(x, &self.at[0], &self.value[0])
            length = self.q_norm_of(&self.value[0], self.p)
        if self.intercept.automatic:
            self.intercept.update_statistics(length * length)
        if self.radius_needed:
            self.radius2 = max(self.radius2, self.inverse_convexity * self.with_intercept(length))

    cdef double largest_row_norm(self, View* x) noexcept nogil:
        """The largest q-norm of a row."""
        cdef Py_ssize_t r
        cdef double largest = 0
        cdef Row spare
        for r in range(x.m):
            largest = max(largest, self.q_norm(row_of(x, r, &spare), x.k))
        return largest

    cdef void update_norm(self, View* x, const ScoreGradient* g, Round* r) noexcept nogil:
        cdef double length, curvature = self.curvature if r.bounded else self.inverse_convexity
        r.radius2 = self.radius2
        if self.score_map.whole_input(x) == NULL:
            length = self.norm_of_input(x, g)
            if length * length <= cancelled(x, g):      # the q-norm is at most the Euclidean one
                length = 0
            r.update_norm2 = curvature * length * length
            return
        length = self.direction_norm(g)
        r.update_norm2 = curvature * length * length * self.with_intercept(self.norm_of_input(x, g))

    cdef double direction_norm(self, const ScoreGradient* g) noexcept nogil:
        """The norm of g in |g x^T| = |g| |x|_q."""
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
        self.add(self.score_map.of_input(g, &single), -size / self.unit)
        self.relink()

    cdef double largest_change(self, View* x, const ScoreGradient* g) noexcept nogil:
        """A bound on the entries of the input, of the intercept's feature too, times |g|."""
        cdef double largest = max(self.norm_of_input(x, g), sqrt(self.intercept.r2())), square = 0
        cdef Py_ssize_t k
        cdef ScoreGradient single
        g = self.score_map.of_input(g, &single)
        for k in range(g.n):
            square += g.value[k] * g.value[k]
        return largest * sqrt(square)

    cdef void add(self, const ScoreGradient* g, double change) noexcept nogil:
        """theta += change g x^T, with u and the mass."""
        cdef double root
        cdef Py_ssize_t last = self.p
        if self.large:
            self.fetch_all()
        self.move(&self.at[0], self.input, self.n, g, change)
        if self.intercept.fitted:
            root = sqrt(self.intercept.r2())
            self.move(&last, &root, 1, g, change)

    cdef void fetch_all(self) noexcept nogil:
        """Start to fetch what a step will change: nothing hides the wait for it when its turn comes."""
        cdef Py_ssize_t k, slot
        cdef size_t size = self.stride * sizeof(double)
        for k in range(self.n):
            slot = self.at[k] * self.stride
            prefetch_bytes(&self.theta[slot], size)
            prefetch_bytes(&self.u[slot], size)
            if self.averaging:
                prefetch_bytes(&self.total[slot], size)
                prefetch_bytes(&self.had[self.at[k]], 1)
                prefetch_bytes(&self.since[self.at[k]], 1)

    cdef void move(self, const Py_ssize_t* at, const double* value, Py_ssize_t n, const ScoreGradient* g,
                   double change) noexcept nogil:
        """The same of the given features alone, where lines are features."""

    cdef double sum_of_powers(self) noexcept nogil:
        """The mass, from theta and u."""
        return 0

    cdef double length_of_theta(self) noexcept nogil:
        """The norm of theta, where the mass may be no floating-point number."""
        return 0

    cdef void raise_all(self) noexcept nogil:
        """u and the mass of theta, anew."""

    cdef void relink(self) noexcept nogil:
        """Find c after a change of the mass."""
        cdef double length
        self.most = max(self.most, self.mass)
        if self.mass < 1e-4 * self.most or self.moved > 16 * self.u.shape[0]:
            self.mass = self.most = self.sum_of_powers()      # what is left of large terms is rounding
            self.moved = 0
        if not SMALL < self.mass < LARGE:
            length = self.length_of_theta()
            if 0 < length < INFINITY:
                self.change_unit(length)
        self.c = self.unit * libm_pow(self.mass, 2 / self.q - 1) if self.mass > 0 else 0
        if self.averaging and not 0.5 * self.c_at_start <= self.c <= 2 * self.c_at_start:
            self.begin_stretch()

    cdef void change_unit(self, double length) noexcept nogil:
        """Measure theta in units in which its norm is 1."""
        cdef Py_ssize_t i
        self.flush_all()
        for i in range(self.u.shape[0]):
            if self.theta[i] != 0:      # a page that was never touched stays so
                self.theta[i] /= length
        self.unit *= length
        self.raise_all()        # what was too small for u may be so no more
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
        if self.averaging and self.c < 0.5 * self.c_at_start:
            self.begin_stretch()

    cdef void clear(self) noexcept nogil:
        """W <- 0; the sum of the iterates stays."""
        self.flush_all()
        erase(self.theta)
        self.raise_all()
        self.most = self.c = 0
        self.unit = 1

    # ------------------------------------------------------------------------------------------------------- the average

    cdef double pending_average(self, Py_ssize_t line) noexcept nogil:
        """What c has summed to since the line changed last."""
        cdef Py_ssize_t k, since = self.since[line]
        cdef double total = self.stretch[since] - self.had[line]
        for k in range(since + 1, self.now + 1):
            total += self.stretch[k]
        return total

    cdef double take_pending(self, Py_ssize_t line) noexcept nogil:
        """The same, of a line that is about to change; 0 where no average is kept."""
        cdef double pending
        if not self.averaging:
            return 0
        pending = self.pending_average(line)
        self.since[line] = self.now
        self.had[line] = self.stretch[self.now]
        return pending

    cdef void flush_average(self, Py_ssize_t line) noexcept nogil:
        cdef Py_ssize_t i
        cdef double pending = self.take_pending(line)
        cdef double *total
        cdef const double *u
        if pending == 0:
            return
        total, u = &self.total[line * self.stride], &self.u[line * self.stride]
        for i in range(self.width):
            total[i] += pending * u[i]

    cdef void flush_all(self) noexcept nogil:
        """Settle every line, and count the stretches from 0."""
        cdef Py_ssize_t line
        if not self.averaging:
            return
        for line in range(self.lines):
            if not blank(&self.u[line * self.stride], self.width):
                self.flush_average(line)
        for line in range(self.lines):
            if self.since[line] != 0:
                self.since[line] = 0
        erase(self.had)
        self.now = 0
        self.stretch[0] = 0

    cdef void begin_stretch(self) noexcept nogil:
        if self.now + 1 == STRETCHES:
            self.flush_all()
        else:
            self.now += 1
            self.stretch[self.now] = 0
        self.c_at_start = self.c

    cdef void close_round(self, double weight, double keep) noexcept nogil:
        cdef Py_ssize_t i
        if keep < 1:
            self.inflation /= keep
            if self.inflation > 1e100:
                self.flush_all()
                for i in range(self.total.shape[0]):
                    if self.total[i] != 0:
                        self.total[i] /= self.inflation
                self.rounds_mass /= self.inflation
                self.inflation = 1
        self.rounds_mass += weight * self.inflation
        self.stretch[self.now] += weight * self.inflation * self.c

    # -------------------------------------------------------------------------------------------------------- for Python

    def _matrix(self, flat):
        """(d, p + 1): the intercept's feature is the last."""
        lines = np.asarray(flat).reshape(self.lines, self.stride)[:, :self.width]
        return lines.T if self.by_feature else lines

    def _shaped(self, flat):
        """(d, p) and (d,): features, and the intercept."""
        matrix = self._matrix(flat)
        return matrix[:, :self.p], self.intercept.r2_read() ** 0.5 * matrix[:, self.p]

    def last(self):
        """W (d, p) and b (d,) of the last iterate, copied."""
        return self._shaped(self.c * np.asarray(self.u))

    def mean(self):
        """W (d, p) and b (d,) of the average; of the last iterate where none is kept."""
        if not self.averaging or self.rounds_mass == 0:
            return self.last()
        pending = np.array([self.pending_average(line) for line in range(self.lines)])
        return self._shaped((np.asarray(self.total) + np.asarray(self.u) * np.repeat(pending, self.stride)) / self.rounds_mass)

    def dual(self):
        """Theta (d, p), and its part for the intercept's feature (d,), copied."""
        matrix = self.unit * self._matrix(self.theta)
        return matrix[:, :self.p], matrix[:, self.p]
