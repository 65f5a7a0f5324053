"""Linear predictors under the trace norm.

It is a Schatten norm of the weights, computed by the eigenvectors of a d x d matrix.
"""
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.math cimport INFINITY, NAN, isfinite, sqrt
from libc.string cimport memcpy

import numpy as np
from scipy.linalg.cython_blas cimport dgemm, dsyrk
from scipy.linalg.cython_lapack cimport dsyevd

from sklearn_predtron._core.simd cimport BY_CLASS, BY_FEATURE, ScoreGradient, Matrix, Row
from sklearn_predtron._core.problem cimport Round
from sklearn_predtron._core.rows cimport Rows, View, of_doubles, row_of, squared_norm
from sklearn_predtron._core.intercept cimport Intercept
from sklearn_predtron.norms._l2 cimport IterateSum, L2Weights

from sklearn_predtron._core.weights import euclidean_length
from sklearn_predtron._core.memory import aligned_zeros

# K is computed from scratch after so many steps for each score (and no fewer than the second): a step adds to K's error a
# rounding of its largest eigenvalue, and that work is then a small part of the steps'.
cdef Py_ssize_t STEPS_PER_SCORE = 16, LEAST_STEPS = 64
# And once its trace has fallen to this part of the largest since: the rounding errors are of that size.
cdef double FALL = 1e-2
# The remaining error, some 1e-15 of the largest eigenvalue, shows for q near 2 alone: by 2e-9 of the largest weight at q = 2.05,
# where singular values of theta are a 1e-8th of the largest.
cdef double NEGLIGIBLE = 1e-20    # eigenvalues of M, of which the largest is between 1 / d and 1

cdef double ROUNDED = 1e-13      # of the largest singular value

cdef enum:
    NEAR = 64   # scores for which a prediction finds room on the stack: several threads may predict with the same weights
    LINES = 32  # that are linked together; the step of a loop too, where Cython wants a literal


cdef class TraceWeights(L2Weights):
    """Weights W = M Theta under a Schatten norm.

    M = (Theta Theta^T)^((q - 2) / 2) / |Theta|_S(q)^(q - 2) (Jain et al. 2015): the inverse of the gradient of psi = |W|_S(r)^2 /
    2, where 1 / r + 1 / q = 1 and q > 2.

    Theta = scale * data is kept as L2 keeps W, and so is the intercept, which no link changes.  M does not depend on the scale:
    it is made of K = data data^T, which follows data by a change of rank two a step.

    A sum of the iterates is kept lazily as (scale * C + weight * M) data + scale * total: a step adds the weight on M
    to C (d x d), and changes total such that the sum stays the same; a round without a step touches nothing.
    """
    cdef readonly double q
    cdef double[::1] K, M, vectors, values, work         # d x d by rows; of the eigendecomposition
    cdef int[::1] iwork
    cdef double[::1] product, turned, zeros              # data x of the row scored last, C g
    cdef Matrix bare                                     # data without the intercept
    cdef bint known                                      # whether product is of the present round and data
    cdef Py_ssize_t steps
    cdef double peak                                     # steps and largest trace since K was computed from data

    def __init__(self, Py_ssize_t d, Py_ssize_t p, double q, Intercept intercept, bint by_feature=False, int averaging=True):
        L2Weights.__init__(self, d, p, intercept, by_feature, averaging)
        if not 2 <= q < INFINITY or d < 2:
            raise ValueError(f"q={q} must be a number of at least 2, and there must be two scores or more, got {d}.")
        self.q = q
        self.K, self.M, self.vectors = aligned_zeros(d * d), square_of_zeros(d), aligned_zeros(d * d)
        self.values, self.work = aligned_zeros(d), aligned_zeros(1 + 6 * d + 2 * d * d)
        self.iwork = np.empty(3 + 5 * d, dtype=np.intc)
        self.product, self.turned, self.zeros = np.zeros(d), aligned_zeros(d), np.zeros(d)
        self.lay(&self.bare, self.data, self.zeros)

    def arguments(self, Py_ssize_t d, Py_ssize_t p, by_feature=None):
        return d, p, self.q, self.intercept, bool(self.by_feature), self.averaging

    def arrays(self):
        return [*L2Weights.arrays(self), ("dd", self._square(self.K)), ("dd", self._square(self.M))]

    def numbers(self):
        return *L2Weights.numbers(self), self.steps, self.peak

    def set_numbers(self, numbers):
        *inherited, self.steps, self.peak = numbers
        L2Weights.set_numbers(self, inherited)

    def adopt(self, state, bint with_sums):
        L2Weights.adopt(self, state, with_sums)
        self.find_K()
        self.steps, self.peak, self.known = 0, self.trace(), False
        self.find_M()

    def inverse_link(self, W):
        left, values, right = np.linalg.svd(W, full_matrices=False)
        r, top = self.q / (self.q - 1), values.max(initial=0)
        there = values > ROUNDED * top      # others, which rounding leaves, would be raised to a power near 0
        length = schatten(W, r)
        return (left[:, there] * values[there] * (values[there] / length) ** (r - 2)) @ right[there] if top > 0 else W

    def new_total(self):
        return *L2Weights.new_total(self), self._square(square_of_zeros(self.d))

    def effective_radius(self, double radius):
        """Return R^2 = (q - 1) |x|^2 + r2.

        W is measured by S(r), whose square / 2 is 1 / (q - 1)-strongly convex, and b by its length.
        """
        r2 = self.intercept.r2()
        if radius ** 2 < r2:
            raise ValueError(f"radius={radius} must be at least the length of the intercept's feature, {r2 ** 0.5:g}.")
        return ((self.q - 1) * (radius ** 2 - r2) + r2) ** 0.5

    def length(self):
        """Return sqrt(|W|_S(r)^2 + |b|^2 / r2) of the predicting weights; here 1 / r + 1 / q = 1."""
        coef, b = self.mean()
        r, r2 = self.q / (self.q - 1), self.intercept.r2()
        return float(np.hypot(schatten(coef, r), euclidean_length(b) / r2 ** 0.5 if r2 > 0 else 0.0))

    # ------------------------------------------------------------------------------------------------------- the rounds

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        cdef Py_ssize_t r
        cdef Row spare
        for r in range(x.m):
            x.k.scores[self.W.layout](1, row_of(x, r, &spare), NULL, &self.bare, 1, False, &self.product[0])
            self.link(self.scale, &self.M[0], &self.b[0], &self.product[0], False, t + r * self.d)
        self.known = x.m == 1

    cdef void mean_scores(self, const View* x, int which, double* t) noexcept nogil:
        cdef double near[NEAR]
        cdef double* product
        cdef double* s
        cdef Py_ssize_t r
        cdef const Row* row
        cdef Row spare
        cdef const IterateSum* sum = self.sum_of(which)
        product = room(near, self.d)
        if product == NULL:
            self.fail(x, t)
            return
        for r in range(x.m):
            row = row_of(x, r, &spare)
            s = t + r * self.d
            x.k.scores[self.W.layout](1, row, NULL, &self.bare, 1, False, product)
            if sum == NULL:
                self.link(self.scale, &self.M[0], &self.b[0], product, False, s)
                continue
            self.link(sum.weight / sum.mass, &self.M[0], &self.b[0], product, False, s)
            self.link(sum.scale / sum.mass, sum.C, &self.zeros[0], product, True, s)
            x.k.scores[self.W.layout](1, row, NULL, &sum.total, sum.scale / sum.mass, True, s)
        release(product, near)

    cdef void average_scores(self, const View* x, int which, const double* last, double* t) noexcept nogil:
        self.mean_scores(x, which, t)

    cdef void fail(self, const View* x, double* t) noexcept nogil:
        """Write invalid scores; they are used where there is no memory for d numbers."""
        cdef Py_ssize_t i
        for i in range(x.m * self.d):
            t[i] = NAN

    cdef void link(self, double scale, const double* A, const double* offset, const double* product, bint more,
                   double* t) noexcept nogil:
        """Set t = scale * (A product + offset) + (t, if more); a is symmetric, and its rows are added up."""
        cdef Py_ssize_t c, j
        cdef const double* row
        cdef double weight
        for c in range(self.d):
            t[c] = scale * offset[c] + (t[c] if more else 0)
        for j in range(self.d):
            row = A + j * self.d
            weight = scale * product[j]
            for c in range(self.d):
                t[c] += weight * row[c]

    cdef void update_statistics(self, View* x) noexcept nogil:
        if self.intercept.automatic:
            self.intercept.update_statistics(squared_norm(x))
        if self.radius_needed:
            self.radius2 = max(self.radius2, self.squared_radius(x))

    cdef inline double squared_radius(self, View* x) noexcept nogil:
        """Return the relative squared dual norm of g x^T.

        The step of the intercept is included; the norm is divided by (|g|^2 strong convexity).
        """
        return (self.q - 1) * squared_norm(x) + self.intercept.r2()

    cdef void update_norm(self, View* x, const ScoreGradient* g, Round* r) noexcept nogil:
        cdef Py_ssize_t i
        cdef double g2 = 0
        for i in range(g.n):
            g2 += g.value[i] * g.value[i]
        r.update_norm2 = g2 * self.squared_radius(x)
        r.radius2 = self.radius2

    cdef void step(self, View* x, const ScoreGradient* g, double size) noexcept nogil:
        cdef Py_ssize_t i
        cdef double change = -size / self.scale, r2
        cdef int which
        self.empty = False
        if not self.known:
            x.k.scores[self.W.layout](1, &x.first, NULL, &self.bare, 1, False, &self.product[0])
        for which in range(self.averaging):
            self.credit(which)
            self.compensate(which, x, g, change)
        x.k.add[self.W.layout](&x.first, &self.W, g, change)
        if self.intercept.fitted:
            r2 = self.intercept.r2()
            for i in range(g.n):
                self.b[slot(g, i)] += change * r2 * g.value[i]
        self.change_K(g, change, change * squared_norm(x))
        self.known = False
        self.steps += 1
        self.find_M()

    cdef void credit(self, int which) noexcept nogil:
        """Add the iterates since the last step to a sum; they had one M."""
        cdef Py_ssize_t i
        cdef IterateSum* s = &self.sums[which]
        cdef double weight = s.weight / s.scale
        if weight != 0:
            for i in range(self.d * self.d):
                self.sums[which].C[i] += weight * self.M[i]
            for i in range(self.d):
                s.total.offset[i] += weight * self.b[i]
            s.weight = 0

    cdef void compensate(self, int which, View* x, const ScoreGradient* g, double change) noexcept nogil:
        """Subtract from total the next gain of C data."""
        cdef Py_ssize_t i, c
        cdef const double* row
        cdef ScoreGradient all_scores
        if self.sums[which].mass == 0:
            return
        x.k.fetch(&x.first, &self.sums[which].total)
        self.turned[:] = 0
        for i in range(g.n):
            row = self.sums[which].C + slot(g, i) * self.d
            for c in range(self.d):
                self.turned[c] += g.value[i] * row[c]
        all_scores.n = self.d
        all_scores.at = NULL
        all_scores.value = &self.turned[0]
        x.k.add[self.W.layout](&x.first, &self.sums[which].total, &all_scores, -change)

    cdef void change_K(self, const ScoreGradient* g, double change, double along) noexcept nogil:
        """Update K for data + change g x^T; it becomes K + g h^T + h g^T, where along = change |x|^2 and data x is known."""
        cdef Py_ssize_t i, c, j
        cdef double* h = &self.turned[0]
        for j in range(self.d):
            h[j] = change * self.product[j]
        for i in range(g.n):
            h[slot(g, i)] += 0.5 * change * (along * g.value[i])
        for i in range(g.n):
            c = slot(g, i)
            for j in range(self.d):
                self.K[c * self.d + j] += g.value[i] * h[j]
                self.K[j * self.d + c] += g.value[i] * h[j]

    cdef void find_K(self) noexcept nogil:
        """Compute K = data data^T, its upper half by rows."""
        cdef int d = <int> self.d, p = <int> self.p, stride = <int> self.stride
        cdef double one = 1, zero = 0
        dsyrk(b"L", b"N" if self.W.layout == BY_FEATURE else b"T", &d, &p, &one, &self.data[0], &stride, &zero, &self.K[0], &d)
        mirror(&self.K[0], self.d)

    cdef double trace(self) noexcept nogil:
        cdef Py_ssize_t c
        cdef double sum = 0
        for c in range(self.d):
            sum += self.K[c * (self.d + 1)]
        return sum

    cdef void find_M(self) noexcept nogil:
        """Compute M of the present data; it uses powers of the eigenvalues of K, each first divided by the largest."""
        cdef int d = <int> self.d, lwork = <int> self.work.shape[0], liwork = <int> self.iwork.shape[0], info = 0
        cdef double trace = self.trace()
        if trace < FALL * self.peak or self.steps >= max(STEPS_PER_SCORE * self.d, LEAST_STEPS):
            self.find_K()
            self.steps = 0
            self.peak = trace = self.trace()
        self.peak = max(self.peak, trace)
        if isfinite(trace):
            memcpy(&self.vectors[0], &self.K[0], self.K.shape[0] * sizeof(double))
            dsyevd(b"V", b"L", &d, &self.vectors[0], &d, &self.values[0], &self.work[0], &lwork, &self.iwork[0], &liwork, &info)
        if not isfinite(trace) or info != 0:
            self.M[:] = NAN         # the next score says so
        elif self.values[d - 1] > 0:
            self.compose_M()
        else:
            self.M[:] = 0           # Theta = 0

    cdef void compose_M(self) noexcept nogil:
        """Compute M from the eigenvectors of K; their eigenvalues rise."""
        cdef int d = <int> self.d, first = 0, rank
        cdef double one = 1, zero = 0, ratio, power, sum = 0, factor
        cdef Py_ssize_t i, c
        for i in range(d):
            ratio = max(self.values[i], 0) / self.values[d - 1]
            power = ratio ** (0.5 * self.q - 1)
            sum += power * ratio
            self.values[i] = power
            if power < NEGLIGIBLE and i == first:
                first += 1
        factor = sum ** (2 / self.q - 1)
        for i in range(first, d):
            power = sqrt(factor * self.values[i])
            for c in range(d):
                self.vectors[i * d + c] *= power
        rank = d - first
        dsyrk(b"L", b"N", &d, &rank, &one, &self.vectors[first * d], &d, &zero, &self.M[0], &d)
        mirror(&self.M[0], d)
        for c in range(d):
            if self.K[c * (d + 1)] == 0:      # no step has touched the score: exactly 0, as it ties with others
                for i in range(d):
                    self.M[c * d + i] = self.M[i * d + c] = 0

    # ------------------------------------------------------------------------------------------------ scales and averages

    cdef void renormalise(self) noexcept nogil:
        """Multiply the running scales out; the sums of the iterates so far are computed."""
        cdef Py_ssize_t i
        cdef int which
        cdef double square = self.scale * self.scale
        for which in range(self.averaging):
            self.add_iterates(which)
        for i in range(self.data.shape[0]):
            self.data[i] *= self.scale
        for i in range(self.d * self.d):
            self.K[i] *= square
        self.peak *= square
        self.known = False
        self.multiply_out(self.b, True)
        self.reset_scales()

    cdef void add_iterates(self, int which) noexcept nogil:
        """Add (scale * C + weight * M) data to the total; total <- scale * total + (scale * C + weight * M) data, and C <- 0."""
        cdef int d = <int> self.d, p = <int> self.p, stride = <int> self.stride
        cdef double one = 1
        cdef Py_ssize_t i
        cdef IterateSum* s = &self.sums[which]
        cdef double* C = self.sums[which].C
        for i in range(self.d * self.d):
            C[i] = s.scale * C[i] + s.weight * self.M[i]
        if self.W.layout == BY_FEATURE:
            dgemm(b"N", b"N", &d, &p, &d, &one, C, &d, &self.data[0], &stride, &s.scale, s.total.data, &stride)
        else:
            dgemm(b"N", b"N", &p, &d, &d, &one, &self.data[0], &stride, C, &d, &s.scale, s.total.data, &stride)
        for i in range(self.d * self.d):
            C[i] = 0

    cdef void clear(self) noexcept nogil:
        """Set W <- 0; the sum of the iterates stays."""
        L2Weights.clear(self)
        self.K[:] = 0
        self.M[:] = 0
        self.peak = 0

    def _square(self, flat):
        return np.asarray(flat).reshape(self.d, self.d)

    cdef bint looks_ahead(self, Rows rows) noexcept:
        return False

    cdef bint read_lines(self, bint mean, const Py_ssize_t* at, Py_ssize_t first, Py_ssize_t n, Py_ssize_t stride,
                         double* line) noexcept nogil:
        """Return lines, linked by a symmetric matrix.

        Lines that are features are rows for the kernels: each is linked in the same order, whichever lie beside it.
        """
        cdef int which = self.predicting(mean)
        cdef const IterateSum* s = self.sum_of(which)
        cdef double share, of_total
        cdef bint unseen
        cdef const void* row[LINES]
        cdef Py_ssize_t i, c, place, begin, end
        if self.W.layout != BY_FEATURE:
            return False
        self.shares(which, &share, &of_total)
        for begin in range(0, n, 32):
            end, unseen = min(begin + LINES, n), True
            for i in range(begin, end):
                place = (first + i if at == NULL else at[i]) * self.stride
                row[i - begin] = &self.data[place]
                for c in range(self.d):
                    line[i * stride + c] = 0 if s == NULL else of_total * s.total.data[place + c]
                    unseen &= self.data[place + c] == 0
            if unseen:
                continue
            self.link_lines(&self.M[0], share, end - begin, row, stride, line + begin * stride)
            if s != NULL:
                self.link_lines(self.sums[which - 1].C, of_total, end - begin, row, stride, line + begin * stride)
        return True

    cdef void link_lines(self, double* A, double scale, Py_ssize_t n, const void** row, Py_ssize_t stride,
                         double* line) noexcept nogil:
        """Add scale * A row to each line, A symmetric."""
        cdef Matrix rows_of_A
        rows_of_A.d = rows_of_A.stride = self.d
        rows_of_A.layout = BY_CLASS
        rows_of_A.data, rows_of_A.offset = A, &self.zeros[0]
        of_doubles(False).scores_at(n, row, self.d, &rows_of_A, scale, True, stride, line)

    def last(self):
        """Return copies of the last iterate's W (d, p), b (d,)."""
        return self.scale * self._square(self.M) @ self._shaped(self.data), self.scale * np.asarray(self.b)

    def mean(self):
        """Return copies of the predicting W (d, p), b (d,); they are an average, or the last iterate where none is kept."""
        cdef double share, of_total
        cdef int which = self.predicting(True)
        if self.sum_of(which) == NULL:
            return self.last()
        self.shares(which, &share, &of_total)
        total, b_total, C = self.totals[which - 1]
        coef = (share * self._square(self.M) + of_total * self._square(C)) @ self._shaped(self.data)
        coef += of_total * self._shaped(total)
        return coef, share * np.asarray(self.b) + of_total * np.asarray(b_total)

    def dual(self):
        """Return a copy of Theta (d, p)."""
        return self.scale * self._shaped(self.data)


def square_of_zeros(Py_ssize_t d):
    """Return d x d zeros; behind them is the room that the kernels for dense rows require after the last one."""
    return aligned_zeros(d * d + 8)[:d * d]


def schatten(matrix, r):
    """Return (sum of the singular values to the power r)^(1 / r)."""
    values = np.linalg.svd(matrix, compute_uv=False)
    top = values.max(initial=0.0)
    return top * np.sum((values / top) ** r) ** (1 / r) if top > 0 else 0.0


cdef inline double* room(double* near, Py_ssize_t n) noexcept nogil:
    """Return memory for n numbers: near, or elsewhere, or NULL."""
    return near if n <= NEAR else <double*> PyMem_RawMalloc(n * sizeof(double))


cdef inline void release(double* product, double* near) noexcept nogil:
    if product != near:
        PyMem_RawFree(product)


cdef inline Py_ssize_t slot(const ScoreGradient* g, Py_ssize_t i) noexcept nogil:
    """Return the score of entry i of a direction."""
    return i if g.at == NULL else g.at[i]


cdef inline void mirror(double* A, Py_ssize_t d) noexcept nogil:
    """Copy the upper half by rows to the lower."""
    cdef Py_ssize_t i, j
    for i in range(d):
        for j in range(i):
            A[i * d + j] = A[j * d + i]
