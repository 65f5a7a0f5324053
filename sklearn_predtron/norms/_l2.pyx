"""Weights under the Frobenius norm."""
import numpy as np

from sklearn_predtron._core.rows cimport Rows, View, largest_norm, squared_norm
from sklearn_predtron._core.score_map cimport ScoreMap
from sklearn_predtron._core.simd cimport BY_CLASS, BY_FEATURE, ONE_CLASS, ScoreGradient, Matrix
from sklearn_predtron.norms._ahead cimport Ahead
from sklearn_predtron.norms._base cimport Weights
from sklearn_predtron.norms._intercept cimport Intercept
from sklearn_predtron.norms._pages cimport BLOCK, blank, erase, restore
from sklearn_predtron.problems._base cimport Round

from sklearn_predtron._core.state import flag, real, reals, restored
from sklearn_predtron.norms._pages import THIN, aligned_zeros, thicken, touches_most

cdef enum:
    MANY_WEIGHTS = 1 << 13    # that rows are scored ahead for: they do not stay in the nearest cache

# Below them the running scales are multiplied out.  The first bounds what weight * data and total cancel in their sum.
cdef double LEAST_SCALE = 1e-4, LEAST_TOTAL_SCALE = 1e-100


cdef class L2Weights(Weights):
    """W = scale * data under the Frobenius norm.

    The sum of the iterates, sum_u w_u W_{u+1}, is kept lazily as weight * data + total_scale * total: a step that changes
    data changes total by what leaves the sum as it was, so a round without a step touches nothing.
    """

    def __init__(self, Py_ssize_t d, Py_ssize_t p, Intercept intercept not None, bint by_feature=False, bint averaging=True,
                 ScoreMap score_map=None):
        self.map_scores(d, p, score_map)
        self.intercept = intercept
        self.by_feature = by_feature and d > 1
        self.watch_radius(False)
        self.empty = True
        self.scale = 1
        self.stride = (d + 3) // 4 * 4 if self.by_feature else (p + 7) // 8 * 8
        size = self.stride * (p if self.by_feature else d)
        self.thin = by_feature and 8 * size >= THIN
        self.data = aligned_zeros(size, self.thin)
        self.large = self.data.nbytes > 1 << 20
        self.b = np.zeros(d)
        self.lay(&self.W, self.data, self.b)
        self.stop_average()
        if averaging:
            self.start_average()

    def __reduce__(self):
        arguments = (self.d, self.p, self.intercept, self.by_feature or self.thin, self.averaging, self.score_map)
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
        restore(self.data, data)
        self.b[:] = b
        restore(self.total, total)
        self.b_total[:] = b_total

    def expect(self, Rows rows not None):
        """Take huge pages after all where rows touch most of the weights."""
        if self.thin and touches_most(rows, 1 if self.d == 1 else self.stride):
            self.thin = False
            thicken(self.data, self.total)

    cdef lay(self, Matrix* M, double[::1] data, double[::1] offset):
        M.data = &data[0]
        M.offset = &offset[0]
        M.d = self.d
        M.stride = self.stride
        M.layout = ONE_CLASS if self.d == 1 else BY_FEATURE if self.by_feature else BY_CLASS

    def start_average(self):
        """Average the iterates from here on."""
        if not self.averaging:
            self.total = aligned_zeros(self.data.shape[0], self.thin)
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

    cdef Py_ssize_t open_block(self, Rows rows, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last,
                               bint means_wanted) except -1:
        last = Weights.open_block(self, rows, order, first, last, means_wanted)
        if self.ahead is None and rows.n > 1 and self.looks_ahead(rows):
            self.ahead = Ahead(self.d, self.p, self.stride, self.data)
        if self.ahead is not None:
            self.ahead.start(rows, order, first, last)
        return last

    cdef bint looks_ahead(self, Rows rows) noexcept:
        """Return whether rows are many scores' and dense, and their scores change with single steps alone."""
        return self.W.layout == BY_CLASS and not rows.sparse and self.d * self.p >= MANY_WEIGHTS

    cdef close_call(self, bint learned):
        self.ahead = None

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        self.score_map.is_pulled_back = False
        if self.ahead is None or not self.ahead.take(self.scale, self.W.offset, t):
            self.iterate_scores(x, t)

    cdef void iterate_scores(self, const View* x, double* t) noexcept nogil:
        """The scores of the last iterate, without a trace."""
        x.k.scores[self.W.layout](x.m, &x.first, x.start, &self.W, self.scale, False, t)

    cdef void mean_scores(self, const View* x, double* t) noexcept nogil:
        if not self.averaging or self.mass == 0:
            self.iterate_scores(x, t)
            return
        x.k.scores[self.W.layout](x.m, &x.first, x.start, &self.W, self.weight / self.mass, False, t)
        x.k.scores[self.W.layout](x.m, &x.first, x.start, &self.U, self.total_scale / self.mass, True, t)

    cdef bint read_lines(self, bint mean, const Py_ssize_t* at, Py_ssize_t first, Py_ssize_t n, Py_ssize_t stride,
                         double* line) noexcept nogil:
        cdef Py_ssize_t i, j, own = 1 if self.d == 1 else self.stride
        cdef Py_ssize_t width = self.d if self.by_feature or self.d == 1 else self.p
        cdef bint averaged = mean and self.averaging and self.mass != 0
        cdef double share = self.weight / self.mass if averaged else self.scale
        cdef double of_total = self.total_scale / self.mass if averaged else 0
        cdef const double* data
        cdef const double* total
        if at == NULL and stride == own:
            n, width = min(n, 1), n * own       # all in one
        for i in range(n):
            j = (first + i if at == NULL else at[i]) * own
            data, total = &self.data[j], &self.total[j] if averaged else NULL
            for j in range(width):
                line[j] = share * data[j] + of_total * total[j] if averaged else share * data[j]
            line += stride
        return True

    cdef void read_offsets(self, bint mean, double* b) noexcept nogil:
        cdef Py_ssize_t c
        cdef bint averaged = mean and self.averaging and self.mass != 0
        for c in range(self.d):
            if averaged:
                b[c] = self.weight / self.mass * self.b[c] + self.total_scale / self.mass * self.b_total[c]
            else:
                b[c] = self.scale * self.b[c]

    cdef void prefetch(self, const View* x) noexcept nogil:
        x.k.fetch(&x.first, &self.W)

    cdef void update_statistics(self, View* x) noexcept nogil:
        if self.intercept.automatic:
            self.intercept.update_statistics(squared_norm(x))
        if self.radius_needed:
            self.radius2 = max(self.radius2, (largest_norm(x) if self.radius_of_rows else squared_norm(x)) + self.intercept.r2())

    cdef void update_norm(self, View* x, const ScoreGradient* g, Round* r) noexcept nogil:
        r.radius2 = self.radius2
        r.update_norm2 = self.score_map.norm2(x, g, self.intercept.r2())

    cdef void step(self, View* x, const ScoreGradient* g, double size) noexcept nogil:
        cdef double change = -size / self.scale
        cdef double pending = -change * self.weight / self.total_scale if self.averaging else 0
        self.empty = False
        if pending != 0:
            x.k.fetch(&x.first, &self.U)
        self.score_map.add(x, &self.W, g, change)
        if pending != 0:
            self.score_map.add(x, &self.U, g, pending)
        if self.intercept.fitted:
            self.step_offsets(g, change, pending)
        if self.ahead is not None:
            self.ahead.sum_again(g)

    cdef void step_offsets(self, const ScoreGradient* g, double change, double pending) noexcept nogil:
        """The same along the intercept's feature."""
        cdef double r2 = self.intercept.r2()
        cdef Py_ssize_t i, c
        for i in range(g.n):
            c = i if g.at == NULL else g.at[i]
            self.b[c] += change * r2 * g.value[i]
            if pending != 0:
                self.b_total[c] += pending * r2 * g.value[i]

    cdef void shrink(self, double factor) noexcept nogil:
        if self.empty:
            return
        if factor <= 0:
            self.clear()
            return
        self.scale *= factor
        if self.scale < LEAST_SCALE:
            self.renormalise()

    cdef void close_round(self, double weight, double keep) noexcept nogil:
        self.mass = keep * self.mass + weight
        self.weight = keep * self.weight + weight * self.scale
        if keep < 1:
            self.total_scale *= keep
            if self.total_scale < LEAST_TOTAL_SCALE:
                self.renormalise()

    cdef void renormalise(self) noexcept nogil:
        """Multiply the running scales out, and settle the sum of the iterates so far."""
        self.flush_average(self.data, self.total)
        self.flush_average(self.b, self.b_total)
        self.weight = 0
        self.scale = self.total_scale = 1
        if self.ahead is not None:
            self.ahead.sum_again(NULL)

    cdef void flush_average(self, double[::1] data, double[::1] total) noexcept nogil:
        cdef Py_ssize_t j, first, end
        for first in range(0, data.shape[0], 512):
            end = min(first + BLOCK, data.shape[0])
            if blank(&data[first], end - first) and (not self.averaging or blank(&total[first], end - first)):
                continue
            if self.averaging:
                for j in range(first, end):
                    total[j] = self.total_scale * total[j] + self.weight * data[j]
            for j in range(first, end):
                data[j] *= self.scale

    cdef void clear(self) noexcept nogil:
        """W <- 0; the sum of the iterates stays."""
        self.renormalise()
        erase(self.data)
        self.b[:] = 0
        if self.ahead is not None:
            self.ahead.sum_again(NULL)

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
