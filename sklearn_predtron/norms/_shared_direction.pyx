"""One direction for all scores, with ordered thresholds.

The direction is under any norm.  CuSum's projection keeps the thresholds in order.
"""
import numpy as np

from sklearn_predtron._core.score_map cimport ScoreMap, sum_of
from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.problem cimport Round
from sklearn_predtron._core.rows cimport Rows, View
from sklearn_predtron._core.weights cimport ScoreFunction, Weights
from sklearn_predtron.norms._wrapped cimport WrappedWeights
from sklearn_predtron._core.intercept cimport Intercept

from sklearn_predtron._core.mixable_state import fields, joined, part_of
from sklearn_predtron._core.state import flag, real, reals, restored, whole
from sklearn_predtron._core.weights import euclidean_length
from sklearn_predtron._core.predictors import frozen, passing


cdef class SharedMap(ScoreMap):
    """The map u x + b_k: a round is a row. Its d scores have one direction and an offset each."""

    def __init__(self, Py_ssize_t d):
        ScoreMap.__init__(self, d)
        self.n_directions = 1
        self.offsets_apart = True

    def build(self, norm, Py_ssize_t p, intercept, **how):
        """Return zero weights of p features, and thresholds.

        The weights are under a norm.  Raise ValueError if the thresholds are not to be learned.
        """
        if not intercept.fitted:
            raise ValueError("fit_intercept=False leaves representation='shared' without its thresholds; accepted is True.")
        return SharedDirection(norm.build(ScoreMap(1), p, intercept=Intercept(False, 1.0), **how), self.d, intercept)


cdef inline void spread(Py_ssize_t m, Py_ssize_t d, double* t, const double* offset, double scale) noexcept nogil:
    """Expand one score a row to d of them; the last row is first, since both share their place."""
    cdef Py_ssize_t r, k
    cdef double s
    for r in range(m - 1, -1, -1):
        s = t[r]
        for k in range(d):
            t[r * d + k] = s + scale * offset[k]


cdef class SharedScores(ScoreFunction):
    """Predictor with scores t_k = s + b_k; a row has one score s."""
    cdef ScoreFunction inner
    cdef double[::1] b

    def __init__(self, ScoreFunction inner not None, b):
        self.map_scores(len(b), inner.p, SharedMap(len(b)))
        self.n_features = inner.n_features
        self.inner, self.b = inner, b

    cdef Py_ssize_t open_block(self, Rows rows, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last,
                               bint means_wanted) except -1:
        return self.inner.open_block(rows, order, first, last, means_wanted)

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        self.inner.scores(x, t)
        spread(x.m, self.d, t, &self.b[0], 1)


cdef class SharedDirection(WrappedWeights):
    """Scores t_k = <u, x> + b_k with b_1 >= b_2 >= ...

    The inner weights are u, without an intercept.

    A step g moves u by (sum of g) x and b by r2 g; b is then projected on the ordered vectors, which brings it no further
    from any ordered one.
    """
    cdef readonly Intercept intercept
    cdef readonly bint radius_needed
    cdef bint fresh
    cdef readonly double radius2
    cdef double[::1] b, level
    cdef double[:, ::1] total         # sums of b, a row each
    cdef double[::1] mass             # of them
    cdef Py_ssize_t[::1] pooled

    def __init__(self, Weights inner not None, Py_ssize_t d, Intercept intercept not None):
        if inner.d != 1 or inner.score_map.offsets_cancel:
            raise ValueError(f"the direction must be of one score, got {inner.d}.")
        self.map_scores(d, inner.p, SharedMap(d))
        self.n_features = inner.n_features
        self.inner = inner
        self.large = inner.large
        self.whole_in_blocks = inner.whole_in_blocks
        self.has_longer_steps = inner.has_longer_steps
        self.intercept = intercept
        self.averaging, self.most_averages = inner.averaging, inner.most_averages
        self.is_trainable = inner.is_trainable
        self.b = np.zeros(d)
        self.total, self.mass = np.zeros((self.most_averages, d)), np.zeros(self.most_averages)
        self.level = np.empty(d)
        self.pooled = np.empty(d, dtype=np.intp)
        self.watch_radius(False)

    def __reduce__(self):
        sums = np.array(self.total[:self.averaging]), np.array(self.mass[:self.averaging])
        numbers = self.radius2, self.radius_needed, self.leader
        return SharedDirection, (self.inner, self.d, self.intercept), (np.array(self.b), *sums, *numbers)

    def __setstate__(self, state):
        cdef int n = self.averaging
        pattern = reals(self.d), reals(n, self.d), reals(n, least=0), real, flag, whole(0, self.most_averages)
        self.b, total, mass, self.radius2, radius_needed, self.leader = restored(self, state, pattern)
        np.asarray(self.total)[:n], np.asarray(self.mass)[:n] = total, mass
        self.watch_radius(radius_needed)

    def export(self):
        sums = {"total": np.array(self.total[0]), "mass": self.mass[0]} if self.averaging and self.mass[0] > 0 else {}
        own = fields(mean={"b": np.array(self.b)}, sum=sums, most={"radius2": self.radius2})
        return joined(direction=self.inner.export(), thresholds=own, intercept=self.intercept.export())

    def adopt(self, state, bint with_sums):
        own = part_of(state, "thresholds")
        self.inner.adopt(part_of(state, "direction"), with_sums)
        np.asarray(self.b)[:] = own["mean"]["b"]
        self.project()      # a mean of ordered vectors is one, but for rounding
        np.asarray(self.total)[:], np.asarray(self.mass)[:] = 0, 0
        if with_sums and own["sum"]:
            np.asarray(self.total)[0], np.asarray(self.mass)[0] = own["sum"]["total"], own["sum"]["mass"]
        self.radius2 = own["most"]["radius2"]
        self.intercept.adopt(part_of(state, "intercept"))
        self.is_trainable = self.inner.is_trainable
        self.observing = self.radius_needed or self.intercept.automatic or self.inner.observing

    def begin_at(self, W, b):
        """Set the iterate to a direction and to b; all rows of W hold the direction."""
        self.inner.begin_at(W[:1], np.zeros(1))
        np.asarray(self.b)[:] = b
        self.is_trainable = self.inner.is_trainable

    def resized(self, Py_ssize_t p, Py_ssize_t d, places):
        if d != self.d:
            raise ValueError(f"the thresholds of {self.d} ranks are as many as there are.")
        wide = SharedDirection(self.inner.resized(p, 1, range(1)), self.d, self.intercept)
        wide.__setstate__(self.__reduce__()[2])
        return wide

    def keep_averages(self, int n):
        """Keep n averages of the iterates from here on; present averages continue, and new ones start."""
        self.inner.keep_averages(n)
        self.total[min(n, self.averaging):] = 0
        self.mass[min(n, self.averaging):] = 0
        self.averaging = n

    def swap_average(self, int which):
        """Swap average number `which` with number 1; `keep_averages` comes next."""
        self.inner.swap_average(which)
        for sums in (np.asarray(self.total), np.asarray(self.mass)):
            sums[[0, which - 1]] = sums[[which - 1, 0]]

    def watch_radius(self, bint needed, bint of_rows=False):
        """Set whether to follow the largest d |x|^2 + r2; it is that of the rounds to come, and bounds g2 / |g|^2."""
        self.inner.watch_radius(False)
        self.radius_needed = needed
        self.observing = needed or self.intercept.automatic or self.inner.observing

    def effective_radius(self, double radius):
        """Return R^2 = d |x|^2 + r2; every score's step is along u."""
        r2 = self.intercept.r2()
        if radius ** 2 < r2:
            raise ValueError(f"radius={radius} must be at least the length of the intercept's feature, {r2 ** 0.5:g}.")
        return (self.d * self.inner.inverse_convexity * (radius ** 2 - r2) + r2) ** 0.5

    def length(self):
        """Return the norm of u and of the thresholds."""
        return float(np.hypot(self.inner.length(), euclidean_length(self._thresholds()) / self.intercept.r2() ** 0.5))

    def own_predictor(self, bint mean):
        return self._along(frozen(self.inner, mean), mean)

    def own_passing(self, bint mean, Rows rows):
        direction = passing(self.inner, mean, rows)
        return None if direction is None else self._along(direction, mean)

    def _along(self, ScoreFunction direction, bint mean):
        """Return the score function along a direction; it has the current thresholds."""
        return SharedScores(direction, self._thresholds() if mean else np.array(self.b))

    @property
    def expansion(self):
        return self.inner.expansion

    def primal(self, W):
        return self.inner.primal(W)

    cdef open_call(self, Rows rows, bint fresh, bint undo_needed):
        self.fresh = fresh
        self.inner.open_call(rows, fresh, undo_needed)

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        self.inner.scores(x, t)
        spread(x.m, self.d, t, &self.b[0], 1)

    cdef void mean_scores(self, const View* x, int which, double* t) noexcept nogil:
        self.inner.mean_scores(x, which, t)
        if 0 < which <= self.averaging and self.mass[which - 1] > 0:
            spread(x.m, self.d, t, &self.total[which - 1, 0], 1 / self.mass[which - 1])
        else:
            spread(x.m, self.d, t, &self.b[0], 1)

    cdef void update_statistics(self, View* x) noexcept nogil:
        cdef double along
        if self.inner.observing:
            self.inner.update_statistics(x)
        if self.intercept.automatic and (self.fresh or not self.inner.counts_rows_once):
            self.intercept.update_statistics(self.inner.length2(x))
        if self.radius_needed:
            along = self.inner.inverse_convexity * self.inner.length2(x)
            self.radius2 = max(self.radius2, self.d * along + self.intercept.r2())

    cdef void update_norm(self, View* x, const ScoreGradient* g, Round* r) noexcept nogil:
        cdef double along = sum_of(g), square = 0
        cdef ScoreGradient one
        cdef Py_ssize_t i
        self.aim(&one, &along)
        self.inner.update_norm(x, &one, r)
        for i in range(g.n):
            square += g.value[i] * g.value[i]
        r.update_norm2 += square * self.intercept.r2()
        r.radius2 = self.radius2

    cdef void step(self, View* x, const ScoreGradient* g, double size) noexcept nogil:
        cdef double along = sum_of(g), r2 = self.intercept.r2()
        cdef ScoreGradient one
        cdef Py_ssize_t i
        self.aim(&one, &along)
        self.inner.step(x, &one, size)
        for i in range(g.n):
            self.b[i if g.at == NULL else g.at[i]] -= size * r2 * g.value[i]
        self.project()

    cdef inline void aim(self, ScoreGradient* one, double* along) noexcept nogil:
        one.n = 1
        one.at = NULL
        one.value = along

    cdef void project(self) noexcept nogil:
        """Apply isotonic regression; neighbours out of order are pooled at their mean."""
        cdef Py_ssize_t k, j, pools = 0, pool = 0
        for k in range(self.d):
            self.level[pools] = self.b[k]
            self.pooled[pools] = 1
            while pools > 0 and self.level[pools - 1] < self.level[pools]:
                j = self.pooled[pools - 1] + self.pooled[pools]
                self.level[pools - 1] += (self.level[pools] - self.level[pools - 1]) * self.pooled[pools] / j
                self.pooled[pools - 1] = j
                pools -= 1
            pools += 1
        k = 0
        for pool in range(pools):
            for _ in range(self.pooled[pool]):
                self.b[k] = self.level[pool]
                k += 1

    cdef void shrink(self, double factor) noexcept nogil:
        cdef Py_ssize_t k
        self.inner.shrink(factor)
        for k in range(self.d):
            self.b[k] *= max(factor, 0)

    cdef void add_to_average(self, int which, double weight, double keep) noexcept nogil:
        cdef Py_ssize_t k
        cdef double[:, ::1] total = self.total
        self.inner.add_to_average(which, weight, keep)
        self.mass[which - 1] = keep * self.mass[which - 1] + weight
        for k in range(self.d):
            total[which - 1, k] = keep * total[which - 1, k] + weight * self.b[k]

    def _thresholds(self):
        """Return the predicting b, for the inner weights' rows."""
        cdef int which = self.predicting(True)
        if which == 0 or self.mass[which - 1] == 0:
            return np.array(self.b)
        return np.asarray(self.total)[which - 1] / self.mass[which - 1]

    def last(self):
        """Return copies of the last iterate's u (1, p), b (d,)."""
        u, offset = self.inner.last()
        return u, offset + np.asarray(self.b)

    def mean(self):
        """Return the predicting u (1, p) and b (d,); they are an average, or the last iterate where none is kept."""
        u, offset = self.inner.mean()
        return u, offset + self._thresholds()
