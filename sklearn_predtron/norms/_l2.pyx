"""Weights under the Frobenius norm."""
from libc.string cimport memset

import numpy as np

from sklearn_predtron._core.rows cimport Rows, View, largest_norm, squared_norm, take_row
from sklearn_predtron._core.score_map cimport ScoreMap, cancelled
from sklearn_predtron._core.simd cimport BY_CLASS, BY_FEATURE, ONE_CLASS, ScoreGradient, Matrix
from sklearn_predtron.norms._block_scores cimport BlockScores
from sklearn_predtron.norms._averaging cimport AveragedWeights
from sklearn_predtron._core.weights cimport Weights
from sklearn_predtron._core.intercept cimport Intercept
from sklearn_predtron._core.memory cimport BLOCK, blank, erase
from sklearn_predtron._core.problem cimport Round

from sklearn_predtron._core.mixable_state import fields, joined, part_of
from sklearn_predtron._core.memory import SMALL_PAGES, aligned_zeros, use_large_pages, touches_most

cdef enum:
    MANY_WEIGHTS = 1 << 13    # that rows are scored ahead for: they do not stay in the nearest cache

# Below them the running scales are multiplied out.  The first bounds the cancellation of weight * data and total in their sum.
cdef double LEAST_SCALE = 1e-4, LEAST_TOTAL_SCALE = 1e-100


cdef class L2Weights(AveragedWeights):
    """Weights W = scale * data under the Frobenius norm.

    A sum of the iterates, sum_u w_u W_{u+1}, is kept lazily as weight * data + scale * total: a step that changes data
    changes total such that the sum stays the same, so a round without a step touches nothing.
    """

    def __init__(self, Py_ssize_t d, Py_ssize_t p, Intercept intercept not None, bint by_feature=False, int averaging=True,
                 ScoreMap score_map=None):
        self.map_scores(d, p, score_map)
        self.intercept = intercept
        self.by_feature = by_feature and d > 1
        self.watch_radius(False)
        self.empty = True
        self.scale = 1
        self.stride = (d + 3) // 4 * 4 if self.by_feature else (p + 7) // 8 * 8
        size = self.stride * (p if self.by_feature else d)
        self.small_pages = by_feature and 8 * size >= SMALL_PAGES
        self.data = aligned_zeros(size, self.small_pages)
        self.large = self.data.nbytes > 1 << 20
        self.b = np.zeros(d)
        self.lay(&self.W, self.data, self.b)
        self.keep_averages(averaging)

    def arguments(self, Py_ssize_t d, Py_ssize_t p, by_feature=None):
        """Return the arguments of the constructor for weights of the same kind and, unless it is given, the same layout."""
        by_feature = self.by_feature or self.small_pages if by_feature is None else by_feature
        return d, p, self.intercept, by_feature, self.averaging, self.score_map.of_scores(d)

    def arrays(self):
        cdef int i
        found = [self.array_of(self.data), ("d", np.asarray(self.b))]
        for i in range(self.averaging):
            total, *more = self.totals[i]
            numbers = np.asarray(<double[:3]> &self.sums[i].scale)      # mass and weight lie behind it
            found += [self.array_of(total), *[("d" * array.ndim, array) for array in more], ("n", numbers)]
        return found

    def array_of(self, flat):
        """Return weights in place, after their axes; lines of features are as long as they lie."""
        lines = np.asarray(flat).reshape(-1, 1 if self.d == 1 else self.stride)
        by_feature = self.by_feature or self.d == 1
        return ("pd", lines[:self.n_features]) if by_feature else ("dp", lines[:, :self.n_features])

    def numbers(self):
        return self.scale, self.empty

    def set_numbers(self, numbers):
        self.scale, self.empty = numbers

    def rearranged(self, Py_ssize_t p, places):
        """Return weights of one score and p features; places[j] is feature j of these weights."""
        cdef L2Weights wide = self.resized(p, 1, [0])
        wide.n_features = p
        for (own, *_), (known, *_) in zip([(wide.data,), *wide.totals], [(self.data,), *self.totals], strict=True):
            values = np.asarray(own)
            values[:] = 0
            values[places] = np.asarray(known)[:len(places)]
        return wide

    def with_opposite(self, Py_ssize_t p, Py_ssize_t d, places, bint by_feature):
        """Return weights of d scores, with two opposite ones.

        Score places[0] is the only one of these weights, and places[1] is its opposite.
        """
        wide = self.resized(p, d, places[:1], by_feature)
        wide.oppose(places)
        return wide

    def oppose(self, places):
        """Negate score places[0] into score places[1]; zeros are not written."""
        first, second = places
        for flat, *more in [(np.asarray(self.data), np.asarray(self.b)), *self.totals]:
            matrix = self._shaped(flat)
            there = np.flatnonzero(matrix[first])
            matrix[second, there] = -matrix[first, there]
            for values in more:
                values[second] = -values[first]

    def export(self):
        theta, b = L2Weights.last(self)     # to which steps are added, whatever weights are made of it
        sums = self.exported_sum() if self.averaging and self.sums[0].mass > 0 else {}
        return joined(weights=fields(mean={"theta": theta, "b": b}, sum=sums, most={"radius2": self.radius2}),
                      intercept=self.intercept.export())

    def exported_sum(self):
        """Return the first sum of the iterates and its mass; those of others may be added to it."""
        cdef double mass = self.sums[0].mass
        total, offsets = self.mean_to_export()
        total *= mass       # in place, for they are large
        offsets *= mass
        return {"total": total, "offsets": offsets, "mass": mass}

    def mean_to_export(self):
        """Return the first average; it has the form in which it may be added to that of others."""
        return self.mean()

    def adopt(self, state, bint with_sums):
        cdef double[::1] data = self.data
        own = part_of(state, "weights")
        theta, b = own["mean"]["theta"], own["mean"]["b"]
        if theta.shape != (self.d, self.n_features) or b.shape != (self.d,):
            raise ValueError(f"weights of shape {theta.shape} are not those of {self.d} scores and {self.n_features} features.")
        with nogil:         # other shards learn meanwhile
            erase(data)
        self._shaped(self.data)[...] = theta
        np.asarray(self.b)[:] = b
        self.begin_sums()
        self.reset_scales()
        if with_sums and own["sum"]:
            self._shaped(self.totals[0][0])[...] = own["sum"]["total"]
            self.totals[0][1][:] = own["sum"]["offsets"]
            self.sums[0].mass = own["sum"]["mass"]
        self.empty = not (theta.any() or b.any())
        self.radius2 = own["most"]["radius2"]
        self.intercept.adopt(part_of(state, "intercept"))

    def begin_at(self, W, b):
        state = self.export()
        state["mean"] = {"weights.theta": self.inverse_link(W), "weights.b": b}
        self.adopt(state, False)

    def inverse_link(self, W):
        """Return the stored form of W; it is the sum of the steps that lead to it."""
        return W

    def reserve(self, Rows rows not None):
        """Allow huge pages after all; Rows touch most of the weights."""
        if self.small_pages and touches_most(rows, 1 if self.d == 1 else self.stride):
            self.small_pages = False
            use_large_pages(self.data, *[total for total, *_ in self.totals])

    cdef lay(self, Matrix* M, double[::1] data, double[::1] offset):
        M.data = &data[0]
        M.offset = &offset[0]
        M.d = self.d
        M.stride = self.stride
        M.layout = ONE_CLASS if self.d == 1 else BY_FEATURE if self.by_feature else BY_CLASS

    cdef begin_sum(self, int i, arrays):
        cdef double[::1] C
        self.lay(&self.sums[i].total, arrays[0], arrays[1])
        if len(arrays) > 2:
            C = arrays[2].reshape(-1)
            self.sums[i].C = &C[0]
        self.sums[i].scale = 1
        self.sums[i].mass = self.sums[i].weight = 0

    def new_total(self):
        """Return a new sum's arrays, like data and like b."""
        return aligned_zeros(self.data.shape[0], self.small_pages), np.zeros(self.d)

    cdef void exchange_sums(self, int i, int j) noexcept:
        cdef IterateSum first = self.sums[i]
        self.sums[i] = self.sums[j]
        self.sums[j] = first

    cdef const IterateSum* sum_of(self, int which) noexcept nogil:
        """Return a sum of the iterates; it is NULL for the last iterate, and where no round has counted yet."""
        return NULL if which == 0 or which > self.averaging or self.sums[which - 1].mass == 0 else &self.sums[which - 1]

    cdef void shares(self, int which, double* share, double* of_total) noexcept nogil:
        """Fill in the factors of data and a total; they are those in an average, or in the last iterate."""
        cdef const IterateSum* s = self.sum_of(which)
        share[0] = self.scale if s == NULL else s.weight / s.mass
        of_total[0] = 0 if s == NULL else s.scale / s.mass

    cdef Py_ssize_t open_block(self, Rows rows, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last,
                               bint means_wanted) except -1:
        last = Weights.open_block(self, rows, order, first, last, means_wanted)
        if self.upcoming is None and rows.n > 1 and self.looks_ahead(rows):
            self.upcoming = BlockScores(self.d, self.p, self.stride, self.data)
        if self.upcoming is not None:
            self.upcoming.start(rows, order, first, last)
        return last

    cdef bint looks_ahead(self, Rows rows) noexcept:
        """Return whether scores of several dense rows can be kept.

        Rows are then dense with many scores, which change with single steps alone.
        """
        return self.W.layout == BY_CLASS and not rows.sparse and self.d * self.p >= MANY_WEIGHTS

    cdef void request_lengths(self, bint wanted) noexcept:
        self.measures = wanted and self.W.layout == ONE_CLASS and type(self) is L2Weights    # others have scores of their own

    cdef close_call(self, bint learned):
        self.upcoming = None

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        self.score_map.is_pulled_back = False
        if self.measures:
            (<View*> x).norm2 = x.k.measured_score(&x.first, &self.W, self.scale, t)
        elif self.upcoming is None or self.replaying or not self.upcoming.take(self.scale, self.W.offset, t):
            self.iterate_scores(x, t)

    cdef void iterate_scores(self, const View* x, double* t) noexcept nogil:
        """Write the scores of the last iterate, without a trace."""
        x.k.scores[self.W.layout](x.m, &x.first, x.start, &self.W, self.scale, False, t)

    cdef void mean_scores(self, const View* x, int which, double* t) noexcept nogil:
        cdef const IterateSum* s = self.sum_of(which)
        if s == NULL:
            self.iterate_scores(x, t)
            return
        x.k.scores[self.W.layout](x.m, &x.first, x.start, &self.W, s.weight / s.mass, False, t)
        x.k.scores[self.W.layout](x.m, &x.first, x.start, &s.total, s.scale / s.mass, True, t)

    cdef void average_scores(self, const View* x, int which, const double* last, double* t) noexcept nogil:
        cdef const IterateSum* s = self.sum_of(which)
        scaled(last, x.m * self.d, 1 if s == NULL else s.weight / (s.mass * self.scale), t)
        if s != NULL:
            x.k.scores[self.W.layout](x.m, &x.first, x.start, &s.total, s.scale / s.mass, True, t)

    cdef bint read_lines(self, bint mean, const Py_ssize_t* at, Py_ssize_t first, Py_ssize_t n, Py_ssize_t stride,
                         double* line) noexcept nogil:
        cdef Py_ssize_t i, j, own = 1 if self.d == 1 else self.stride
        cdef Py_ssize_t width = self.d if self.by_feature or self.d == 1 else min(self.p, stride)
        cdef int which = self.predicting(mean)      # read once: training may change it meanwhile
        cdef const IterateSum* s = self.sum_of(which)
        cdef double share, of_total
        cdef const double* data
        cdef const double* total
        self.shares(which, &share, &of_total)
        if at == NULL and stride == own:
            n, width = min(n, 1), n * own       # all in one
        for i in range(n):
            j = (first + i if at == NULL else at[i]) * own
            data, total = &self.data[j], NULL if s == NULL else s.total.data + j
            for j in range(width):
                line[j] = share * data[j] if total == NULL else share * data[j] + of_total * total[j]
            line += stride
        return True

    cdef void read_offsets(self, bint mean, double* b) noexcept nogil:
        cdef Py_ssize_t c
        cdef int which = self.predicting(mean)      # read once: training may change it meanwhile
        cdef const IterateSum* s = self.sum_of(which)
        cdef double share, of_total
        self.shares(which, &share, &of_total)
        for c in range(self.d):
            b[c] = share * self.b[c] if s == NULL else share * self.b[c] + of_total * s.total.offset[c]

    cdef void prefetch(self, const View* x) noexcept nogil:
        x.k.fetch(&x.first, &self.W)

    cdef void update_statistics(self, View* x) noexcept nogil:
        if self.intercept.automatic:
            self.intercept.count_rows(x)
        if self.radius_needed and self.radius_of_rows:
            self.radius2 = max(self.radius2, largest_norm(x) + self.intercept.r2())
        elif self.radius_needed:
            self.radius2 = max(self.radius2, squared_norm(x) + x.m * self.intercept.r2())

    cdef void update_norm(self, View* x, const ScoreGradient* g, Round* r) noexcept nogil:
        r.radius2 = self.radius2
        r.update_norm2 = self.score_map.norm2(x, g, self.intercept.r2())

    cdef double length2_of_sum(self, View* x, const ScoreGradient* g, double* z) noexcept nogil:
        """Return the squared length of a sum of rows.

        The sum is that of the rows g.at[i] times g.value[i]; z is scratch, zeros before and after.
        """
        cdef Py_ssize_t i
        cdef double square = 0
        cdef View row
        if g.n == 1:
            take_row(x, g.at[0], &row)
            return g.value[0] * g.value[0] * x.k.norm2(&row.first)
        self.sum_rows(x, g, z)
        for i in range(g.n if x.start != NULL else 1):
            take_row(x, g.at[i], &row)
            square += x.k.take_norm2(1, &row.first, row.start, &g.value[i], z)
        if x.start == NULL:
            memset(z, 0, self.p * sizeof(double))
        return square if square > cancelled(x, g) else 0

    cdef void sum_rows(self, View* x, const ScoreGradient* g, double* z) noexcept nogil:
        """Add the rows g.at[i] times g.value[i] to z."""
        cdef Py_ssize_t i
        cdef View row
        for i in range(g.n):
            take_row(x, g.at[i], &row)
            x.k.combine(1, &row.first, row.start, 1, &g.value[i], z)

    cdef void step(self, View* x, const ScoreGradient* g, double size) noexcept nogil:
        cdef double change = -size / self.scale
        self.empty = False
        self.step_sums(x, g, change)
        self.score_map.add(x, &self.W, g, change)
        if self.intercept.fitted:
            self.step_offsets(g, change)
        if self.upcoming is not None:
            self.upcoming.sum_again(g)

    cdef void step_sums(self, View* x, const ScoreGradient* g, double change) noexcept nogil:
        """Keep the sums unchanged by the next change of data; data is about to change along x."""
        cdef int i
        for i in range(self.averaging if x.start != NULL else 0):
            if self.sums[i].weight != 0:
                x.k.fetch(&x.first, &self.sums[i].total)
        for i in range(self.averaging):
            if self.sums[i].weight != 0:
                self.score_map.add(x, &self.sums[i].total, g, self.pending(i, change))

    cdef void step_offsets(self, const ScoreGradient* g, double change) noexcept nogil:
        """Step along the intercept's feature."""
        cdef double r2 = self.intercept.r2() * self.score_map.intercept_weight(g)
        cdef Py_ssize_t i, c
        cdef int which
        cdef ScoreGradient single
        g = self.score_map.of_input(g, &single)
        for i in range(g.n):
            c = i if g.at == NULL else g.at[i]
            self.b[c] += change * r2 * g.value[i]
            for which in range(self.averaging):
                self.sums[which].total.offset[c] += self.pending(which, change) * r2 * g.value[i]

    cdef void shrink(self, double factor) noexcept nogil:
        if self.empty:
            return
        if factor <= 0:
            self.clear()
            return
        self.scale *= factor
        if self.scale < LEAST_SCALE:
            self.renormalise()

    cdef void add_to_average(self, int which, double weight, double keep) noexcept nogil:
        cdef IterateSum* s = &self.sums[which - 1]
        s.mass = keep * s.mass + weight
        s.weight = keep * s.weight + weight * self.scale
        if keep < 1:
            s.scale *= keep
            if s.scale < LEAST_TOTAL_SCALE:
                self.renormalise()

    cdef void renormalise(self) noexcept nogil:
        """Multiply the running scales out; the sums of the iterates so far are computed."""
        self.multiply_out(self.data, False)
        self.multiply_out(self.b, True)
        self.reset_scales()
        if self.upcoming is not None:
            self.upcoming.sum_again(NULL)

    cdef void reset_scales(self) noexcept nogil:
        """Scales are 1 where all is multiplied out."""
        cdef int i
        self.scale = 1
        for i in range(self.averaging):
            self.sums[i].weight, self.sums[i].scale = 0, 1

    cdef void multiply_out(self, double[::1] data, bint offsets) noexcept nogil:
        """Compute the sums of data, or of the intercepts."""
        cdef Py_ssize_t first
        for first in range(0, data.shape[0], 512):
            self.multiply_block(&data[first], first, min(BLOCK, data.shape[0] - first), offsets)

    cdef void multiply_block(self, double* data, Py_ssize_t first, Py_ssize_t n, bint offsets) noexcept nogil:
        """Compute the sums of n entries; entries of zero are not touched."""
        cdef Py_ssize_t j
        cdef int i
        cdef double* total
        cdef bint unseen = blank(data, n)
        for i in range(self.averaging):
            total = (self.sums[i].total.offset if offsets else self.sums[i].total.data) + first
            if unseen and blank(total, n):
                continue
            for j in range(n):
                total[j] = self.sums[i].scale * total[j] + self.sums[i].weight * data[j]
        if not unseen:
            for j in range(n):
                data[j] *= self.scale

    cdef void clear(self) noexcept nogil:
        """Set W <- 0; the sum of the iterates stays."""
        self.renormalise()
        erase(self.data)
        self.b[:] = 0
        if self.upcoming is not None:
            self.upcoming.sum_again(NULL)

    def _shaped(self, flat):
        axes, lines = self.array_of(flat)
        return lines[:, :self.d].T if axes == "pd" else lines

    def last(self):
        """Return copies of the last iterate's W (d, p), b (d,)."""
        return self.scale * self._shaped(self.data), self.scale * np.asarray(self.b)

    def mean(self):
        """Return copies of the predicting W (d, p), b (d,); they are an average, or the last iterate where none is kept."""
        cdef double share, of_total
        cdef int which = self.predicting(True)
        if self.sum_of(which) == NULL:
            return self.last()
        self.shares(which, &share, &of_total)
        total, b_total = self.totals[which - 1][:2]
        coef = share * self._shaped(self.data)
        coef += of_total * self._shaped(total)
        return coef, share * np.asarray(self.b) + of_total * np.asarray(b_total)


cdef inline void scaled(const double* last, Py_ssize_t n, double share, double* t) noexcept nogil:
    """Set t = share * last."""
    cdef Py_ssize_t i
    for i in range(n):
        t[i] = share * last[i]
