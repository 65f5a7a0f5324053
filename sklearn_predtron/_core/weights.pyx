from libc.float cimport DBL_EPSILON, DBL_MAX
from libc.math cimport INFINITY, exp2, fabs, frexp, log2, sqrt

import numpy as np

from sklearn_predtron._core.kernels cimport BY_CLASS, BY_FEATURE, ONE_CLASS, Direction, Matrix, Row
from sklearn_predtron._core.problem cimport Round
from sklearn_predtron._core.rows cimport Rows, View, largest_norm, row_of, squared_norm

from sklearn_predtron._core.rows import LARGEST_LENGTH, LEAST_LENGTH
from sklearn_predtron._core.state import MOST, between, count, flag, real, reals, restored, whole

cdef enum:
    BREATH = 4096   # rounds between two looks at pending interrupts

# Below them the running scales are multiplied out.  The first bounds what weight * data and total cancel in their sum.
cdef double LEAST_SCALE = 1e-4, LEAST_TOTAL_SCALE = 1e-100


def aligned_zeros(Py_ssize_t n):
    """n zeros that start a cache line: the kernels read them faster (and get the same sums anywhere)."""
    spare = np.zeros(n + 8)
    start = -spare.ctypes.data % 64 // 8
    return spare[start:start + n]


def euclidean_length(values):
    """The Euclidean length of all values, of which no square over- or underflows."""
    values = np.asarray(values)
    largest = float(np.abs(values).max(initial=0))
    return largest * float(np.sqrt(((values / largest) ** 2).sum())) if 0 < largest < INFINITY else largest


def check_sizes(Py_ssize_t d, Py_ssize_t p, bint block=False):
    """Raise ValueError where weights of d scores and p features make no sense."""
    if d < 1 or p < 1 or (block and d > 1) or d > MOST // 64 // (p + 16):
        raise ValueError(f"weights cannot have {d} scores and {p} features.")


cdef class Weights:
    """W (d x p) and the intercept b (d), under some norm; every mean is over W, b after each round."""

    def __cinit__(self):
        self.inverse_convexity = 1
        self.ready = True

    def admit(self, Rows rows):
        """Raise, before anything is changed, where new rows cannot be learned from."""

    def first_refused(self, Rows rows not None):
        """The first row of which no round can be made, whatever the weights; -1 if there is none."""
        return rows.first_outside()

    def complaint(self):
        """What was wrong with the round refused last, if it is known better here than elsewhere."""
        return None

    cdef begin(self, Rows rows, bint fresh):
        """Rows are going to be learned from; they are those of the call before unless they are fresh."""

    cdef Py_ssize_t foresee(self, Rows rows, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last,
                            bint shown) except -1:
        """Get ready for rounds from the first on, and return where they end: what comes after needs another look ahead.

        Where they are `shown`, their mean scores are asked for too.
        """
        return min(first + BREATH, last)

    cdef conclude(self, bint learned):
        """The rows are no longer there; whether any round of theirs was learned."""

    cdef bint unfinished(self) noexcept:
        """Return whether an interrupt has left undone what `complete` does."""
        return False

    def complete(self):
        """Do what an interrupt has left undone of the last call."""

    def watch_radius(self, bint needed, bint of_rows=False):
        """Whether to follow the largest |x| of the rounds to come; of their single rows, where they have several."""

    def leave(self):
        """The rows do not come again."""

    cdef bint meet(self, View* x) noexcept nogil:
        """Statistics that a round's own scores take into account; called where self.meeting.  False refuses the round."""
        return True

    cdef void forget(self) noexcept nogil:
        """The round that `meet` began was called off; where self.careful it has not been."""

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        """t = W x + b, for each row of the view."""

    cdef void mean_scores(self, const View* x, double* t) noexcept nogil:
        """The same with the average of the iterates (the last iterate where none is kept), and without a trace."""

    cdef void fetch(self, const View* x) noexcept nogil:
        """Start to fetch what the scores of a round to come will read; called where they are sparse and the weights large."""

    cdef void observe(self, View* x) noexcept nogil:
        """Running statistics of the inputs; called where self.observing."""

    cdef double length2(self, View* x) noexcept nogil:
        """The norm's own squared length of the round at hand, to which the intercept's feature is compared."""
        return squared_norm(x)

    cdef void measure(self, View* x, const Direction* g, Round* r) noexcept nogil:
        """Fill r.g2 and r.radius2."""

    cdef void step(self, View* x, const Direction* g, double size) noexcept nogil:
        """W <- W - size g x^T."""

    cdef void shrink(self, double factor) noexcept nogil:
        """W <- factor W."""

    cdef void close(self, double weight, double keep) noexcept nogil:
        """End of a round: the sum of the iterates becomes keep times itself plus weight times W; called where self.averaging."""

    def effective_radius(self, double radius):
        """A bound R on |g x^T| / |g|, given one on the lengths of the inputs with their intercept's feature."""
        return radius

    @property
    def unproven(self):
        """What the theorems do not cover, if they do not."""
        return None

    def freeze(self, bint frozen):
        """Whether statistics of the inputs that are for new rows alone stay as they are."""

    def plain(self, bint mean=True):
        """Weights whose scores predict, by several threads at a time."""
        return self

    @property
    def expansion(self):
        """The weights that are sums over rows that were kept, if they are."""
        return None

    def primal(self, W):
        """What `last` or `mean` return for W, as weights of the features."""
        return W

    def length(self):
        """The norm of the weights that predict, the intercept's among them; here the Frobenius norm."""
        coef, b = self.mean()
        r2 = self.intercept.squared_length
        return float(np.hypot(euclidean_length(coef), euclidean_length(b) / r2 ** 0.5 if r2 > 0 else 0.0))


cdef class Intercept:
    """The virtual feature behind b, of squared length r2: s^2, or the geometric mean of |x|^2 over the non-zero rows so far.

    The running product of |x|^2 is kept with its exponent split off, so that a round without a step takes no logarithm.
    """

    def __init__(self, bint fitted, scaling):
        self.fitted = fitted
        self.automatic = fitted and scaling == "auto"
        self.fixed = 0.0 if not fitted else 1.0 if self.automatic else float(scaling) * float(scaling)
        if fitted and not LEAST_LENGTH ** 2 <= self.fixed <= LARGEST_LENGTH ** 2:
            raise ValueError(f"intercept_scaling={scaling} must be a number from {LEAST_LENGTH:g} to {LARGEST_LENGTH:g}.")
        self.mantissa = 1.0

    def __reduce__(self):
        scaling = "auto" if self.automatic else sqrt(self.fixed)
        return Intercept, (self.fitted, scaling), (self.fixed, self.mantissa, self.exponent, self.count)

    def __setstate__(self, state):
        pattern = between(0, DBL_MAX), between(1e-300, 1), whole(), count
        self.fixed, self.mantissa, self.exponent, self.count = restored(self, state, pattern)

    cdef void observe(self, double norm2) noexcept nogil:
        cdef int exponent
        if 0 < norm2 < INFINITY:
            self.mantissa = frexp(self.mantissa * norm2, &exponent)
            self.exponent += exponent
            self.count += 1

    cdef void go_back(self, double mantissa, Py_ssize_t exponent, Py_ssize_t rows) noexcept nogil:
        """Forget the rows since the running product was that."""
        self.mantissa, self.exponent, self.count = mantissa, exponent, rows
        self.known_at = -1

    cdef double r2(self) noexcept nogil:
        if not self.automatic or self.count == 0:
            return self.fixed
        if self.count != self.known_at:
            self.known = exp2((self.exponent + log2(self.mantissa)) / self.count)
            self.known_at = self.count
        return self.known

    cdef double r2_read(self) noexcept nogil:
        """The same for those who only read, perhaps beside a thread that learns."""
        cdef Py_ssize_t rows = self.count
        return exp2((self.exponent + log2(self.mantissa)) / rows) if self.automatic and rows > 0 else self.fixed

    @property
    def squared_length(self):
        """r2 as of now."""
        return self.r2_read()


cdef class L2(Weights):
    """W = scale * data under the Frobenius norm.

    The sum of the iterates, sum_u w_u W_{u+1}, is kept lazily as weight * data + total_scale * total: a step that changes
    data changes total by what leaves the sum as it was, so a round without a step touches nothing.
    """

    def __init__(self, Py_ssize_t d, Py_ssize_t p, Intercept intercept not None, bint by_feature=False, bint averaging=True,
                 bint block=False):
        check_sizes(d, p, block)
        self.d = d
        self.p = p
        self.intercept = intercept
        self.by_feature = by_feature and d > 1
        self.block = block
        self.combined = aligned_zeros(p if block else 0)
        self.watch_radius(False)
        self.empty = True
        self.scale = 1
        self.stride = (d + 3) // 4 * 4 if self.by_feature else (p + 7) // 8 * 8
        self.data = aligned_zeros(self.stride * (p if self.by_feature else d))
        self.large = self.data.nbytes > 1 << 20
        self.b = np.zeros(d)
        self.lay(&self.W, self.data, self.b)
        self.stop_average()
        if averaging:
            self.start_average()

    def __reduce__(self):
        arguments = (self.d, self.p, self.intercept, self.by_feature, self.averaging, self.block)
        arrays = np.array(self.data), np.array(self.b), np.array(self.total), np.array(self.b_total)
        numbers = self.scale, self.total_scale, self.mass, self.weight, self.radius2, self.empty
        numbers += self.radius_needed, self.radius_of_rows
        return type(self), arguments, (arrays, numbers)

    def __setstate__(self, state):
        cdef const double[::1] data, b, total, b_total
        arrays = (reals(self.data.shape[0]), reals(self.d), reals(self.total.shape[0]), reals(self.b_total.shape[0]))
        pattern = arrays, (*[real] * 5, *[flag] * 3)
        (data, b, total, b_total), numbers = restored(self, state, pattern)
        self.scale, self.total_scale, self.mass, self.weight, self.radius2, self.empty, needed, of_rows = numbers
        self.watch_radius(needed, of_rows)
        self.data[:] = data
        self.b[:] = b
        self.total[:] = total
        self.b_total[:] = b_total

    cdef lay(self, Matrix* M, double[::1] data, double[::1] offset):
        M.data = &data[0]
        M.offset = &offset[0]
        M.d = self.d
        M.stride = self.stride
        M.layout = ONE_CLASS if self.d == 1 else BY_FEATURE if self.by_feature else BY_CLASS

    def start_average(self):
        """Average the iterates from here on."""
        if not self.averaging:
            self.total = aligned_zeros(self.data.shape[0])
            self.b_total = np.zeros(self.d)
            self.lay(&self.U, self.total, self.b_total)
            self.averaging = True
            self.total_scale = 1
            self.mass = self.weight = 0

    def stop_average(self):
        """Forget the average: the last iterate predicts."""
        self.averaging = False
        self.total = self.b_total = np.zeros(0)

    def watch_radius(self, bint needed, bint of_rows=False):
        """Whether to follow the largest |x| of the rounds to come; of their single rows, where they have several."""
        self.radius_needed = needed
        self.radius_of_rows = of_rows
        self.observing = needed or self.intercept.automatic

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        self.is_combined = False
        self.iterate_scores(x, t)

    cdef void iterate_scores(self, const View* x, double* t) noexcept nogil:
        """The scores of the last iterate, without a trace."""
        cdef Py_ssize_t r
        cdef Row spare
        for r in range(x.m):
            x.k.scores[self.W.layout](row_of(x, r, &spare), &self.W, self.scale, False, t + r * self.d)

    cdef void mean_scores(self, const View* x, double* t) noexcept nogil:
        cdef Py_ssize_t r
        cdef const Row* row
        cdef Row spare
        if not self.averaging or self.mass == 0:
            self.iterate_scores(x, t)
            return
        for r in range(x.m):
            row = row_of(x, r, &spare)
            x.k.scores[self.W.layout](row, &self.W, self.weight / self.mass, False, t + r * self.d)
            x.k.scores[self.W.layout](row, &self.U, self.total_scale / self.mass, True, t + r * self.d)

    cdef void fetch(self, const View* x) noexcept nogil:
        x.k.fetch(&x.first, &self.W)

    cdef void observe(self, View* x) noexcept nogil:
        if self.intercept.automatic:
            self.intercept.observe(squared_norm(x))
        if self.radius_needed:
            self.radius2 = max(self.radius2, (largest_norm(x) if self.radius_of_rows else squared_norm(x)) + self.intercept.r2())

    cdef void measure(self, View* x, const Direction* g, Round* r) noexcept nogil:
        cdef Py_ssize_t i
        cdef double g2 = 0
        r.radius2 = self.radius2
        if self.block:
            self.combine(x, g)
            g2 = x.k.take_norm2(x.m, &x.first, x.start, g.value, &self.combined[0])
            r.g2 = g2 if g2 > cancelled(x, g) else 0
            return
        for i in range(g.n):
            g2 += g.value[i] * g.value[i]
        r.g2 = g2 * (squared_norm(x) + self.intercept.r2())

    cdef void combine(self, View* x, const Direction* g) noexcept nogil:
        """The sum of the rows times their entries of g."""
        if x.start == NULL or self.used:
            self.combined[:] = 0
        self.is_combined = self.used = x.start == NULL
        x.k.combine(x.m, &x.first, x.start, 1, g.value, &self.combined[0])

    cdef void step(self, View* x, const Direction* g, double size) noexcept nogil:
        cdef double change = -size / self.scale
        cdef double owed = -change * self.weight / self.total_scale if self.averaging else 0
        self.empty = False
        if self.block:
            self.add_rows(x, g, change, owed)
            return
        if owed != 0:
            x.k.fetch(&x.first, &self.U)
        x.k.add[self.W.layout](&x.first, &self.W, g, change)
        if owed != 0:
            x.k.add[self.W.layout](&x.first, &self.U, g, owed)
        if self.intercept.fitted:
            self.step_offsets(g, change, owed)

    cdef void step_offsets(self, const Direction* g, double change, double owed) noexcept nogil:
        """The same along the intercept's feature."""
        cdef double r2 = self.intercept.r2()
        cdef Py_ssize_t i, c
        for i in range(g.n):
            c = i if g.at == NULL else g.at[i]
            self.b[c] += change * r2 * g.value[i]
            if owed != 0:
                self.b_total[c] += owed * r2 * g.value[i]

    cdef void add_rows(self, View* x, const Direction* g, double change, double owed) noexcept nogil:
        """Add the combined rows: dense ones from where they are put together, sparse ones in place."""
        cdef Py_ssize_t j
        if x.start != NULL:
            x.k.combine(x.m, &x.first, x.start, change, g.value, &self.data[0])
            if owed != 0:
                x.k.combine(x.m, &x.first, x.start, owed, g.value, &self.total[0])
            return
        if not self.is_combined:
            self.combine(x, g)
        for j in range(self.p):
            self.data[j] += change * self.combined[j]
        if owed != 0:
            for j in range(self.p):
                self.total[j] += owed * self.combined[j]

    cdef void shrink(self, double factor) noexcept nogil:
        if self.empty:
            return
        if factor <= 0:
            self.clear()
            return
        self.scale *= factor
        if self.scale < LEAST_SCALE:
            self.renormalise()

    cdef void close(self, double weight, double keep) noexcept nogil:
        self.mass = keep * self.mass + weight
        self.weight = keep * self.weight + weight * self.scale
        if keep < 1:
            self.total_scale *= keep
            if self.total_scale < LEAST_TOTAL_SCALE:
                self.renormalise()

    cdef void renormalise(self) noexcept nogil:
        """Multiply the running scales out, and settle the sum of the iterates so far."""
        self.settle(self.data, self.total)
        self.settle(self.b, self.b_total)
        self.weight = 0
        self.scale = self.total_scale = 1

    cdef void settle(self, double[::1] data, double[::1] total) noexcept nogil:
        cdef Py_ssize_t j
        if self.averaging:
            for j in range(data.shape[0]):
                total[j] = self.total_scale * total[j] + self.weight * data[j]
        for j in range(data.shape[0]):
            data[j] *= self.scale

    cdef void clear(self) noexcept nogil:
        """W <- 0; the sum of the iterates stays."""
        self.renormalise()
        self.data[:] = 0
        self.b[:] = 0

    def _shaped(self, flat):
        matrix = np.asarray(flat).reshape(-1, self.stride)
        return matrix[:, :self.d].T if self.by_feature else matrix[:, :self.p]

    def last(self):
        """W (d, p) and b (d,) of the last iterate, copied."""
        return self.scale * self._shaped(self.data), self.scale * np.asarray(self.b)

    def mean(self):
        """W (d, p) and b (d,) of the average; of the last iterate where none is kept."""
        if not self.averaging or self.mass == 0:
            return self.last()
        coef = self.weight / self.mass * self._shaped(self.data)
        coef += self.total_scale / self.mass * self._shaped(self.total)
        b = self.weight / self.mass * np.asarray(self.b) + self.total_scale / self.mass * np.asarray(self.b_total)
        return coef, b


cdef double cancelled(const View* x, const Direction* g) noexcept nogil:
    """A bound on what rounding leaves of |sum of the rows times g|^2 where the sum is 0: identical documents, say."""
    cdef Py_ssize_t r, touched = 0
    cdef double size = 0
    cdef Row spare
    for r in range(x.m):
        if g.value[r] != 0:
            size += fabs(g.value[r]) * sqrt(x.k.norm2(row_of(x, r, &spare)))
            touched += 1
    return (touched * DBL_EPSILON * size) ** 2
