"""Weights of two opposite scores.

One score gains the amount that the other loses, so only the weights of one of them are trained.
"""
import numpy as np

from sklearn_predtron._core.score_map cimport ScoreMap
from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.problem cimport Round
from sklearn_predtron._core.rows cimport Rows, View
from sklearn_predtron._core.weights cimport ScoreFunction, Weights
from sklearn_predtron.norms._wrapped cimport WrappedWeights

from sklearn_predtron._core.predictors import frozen, passing
from sklearn_predtron._core.state import restored, whole


cdef class OppositeMap(ScoreMap):
    """The map W x with two scores.

    Their gradients are (v, -v).

    Steps along them keep weights that begin at 0 opposite to one another: those of W = 0 are, and a step adds -v x to one where
    it adds v x to the other; so do averages, and whatever multiplies both.  Under an entrywise norm other than l2 the size of a
    step or the link has the number of rows in it, so there both are kept.
    """
    relation = " that are opposite"

    def __init__(self):
        ScoreMap.__init__(self, 2)

    def __reduce__(self):
        return OppositeMap, ()

    def is_of(self, ScoreMap other not None):
        return type(other) in (ScoreMap, OppositeMap) and other.d == 2

    def learnable(self, W, b):
        """Return W and b minus their means over the two scores; the means have no effect on predictions."""
        return W - W.mean(axis=0), b - b.mean()

    def build(self, norm, Py_ssize_t p, intercept, *, sparse, **how):
        if not norm.scores_apart:
            return norm.build(ScoreMap(2), p, intercept=intercept, sparse=sparse, **how)
        return OppositeWeights(norm.build(ScoreMap(1), p, intercept=intercept, sparse=sparse, **how), sparse)


def are_opposite(code):
    """Return whether the scores' differences are exactly opposite.

    They are those of the rows of a table (k, d): the two entries of each are opposite, to the bit.
    """
    if code.shape[1] != 2 or len(code) > 256 or np.ptp(code.sum(axis=1)) > 1e-9:
        return False
    first, second = (np.subtract.outer(column, column) for column in code.T)
    return bool((first == -second).all())


cdef inline void oppose(Py_ssize_t m, double* t) noexcept nogil:
    """Expand one score a row to two; the last row is first, since both share their place."""
    cdef Py_ssize_t r
    cdef double s
    for r in range(m - 1, -1, -1):
        s = t[r]
        t[2 * r] = s
        t[2 * r + 1] = -s


cdef class OppositeScores(ScoreFunction):
    """Predictor with scores (s, -s) of one score s a row."""
    cdef ScoreFunction inner

    def __init__(self, ScoreFunction inner not None):
        self.map_scores(2, inner.p, None)
        self.n_features = inner.n_features
        self.inner = inner

    cdef Py_ssize_t open_block(self, Rows rows, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last,
                               bint means_wanted) except -1:
        return self.inner.open_block(rows, order, first, last, means_wanted)

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        self.inner.scores(x, t)
        oppose(x.m, t)


cdef class OppositeWeights(WrappedWeights):
    """Weights W = (u, -u) and b = (c, -c); the inner weights are u and c."""
    cdef readonly object intercept

    def __init__(self, Weights inner not None, bint by_feature):
        if inner.d != 1 or inner.score_map.of_blocks:
            raise ValueError(f"the inner weights must be of one score, got {inner.d}.")
        self.map_scores(2, inner.p, OppositeMap())
        self.inner, self.intercept, self.by_feature = inner, inner.intercept, by_feature
        self.small_pages, self.large, self.whole_in_blocks = inner.small_pages, inner.large, inner.whole_in_blocks
        self.inverse_convexity, self.has_longer_steps = inner.inverse_convexity, inner.has_longer_steps
        self.counts_rows_once, self.most_averages = inner.counts_rows_once, inner.most_averages
        self.follow()

    cdef void follow(self) noexcept:
        """Copy the inner weights' settings; they may change outside rounds."""
        self.n_features, self.averaging, self.leader = self.inner.n_features, self.inner.averaging, self.inner.leader
        self.observing, self.is_trainable = self.inner.observing, self.inner.is_trainable

    def __reduce__(self):
        return OppositeWeights, (self.inner, bool(self.by_feature)), (self.leader,)

    def __setstate__(self, state):
        (leader,) = restored(self, state, (whole(0, self.most_averages),))
        self.select_average(leader)

    def export(self):
        return self.inner.export()

    def adopt(self, state, bint with_sums):
        self.inner.adopt(state, with_sums)
        self.follow()

    def begin_at(self, W, b):
        self.inner.begin_at(W[:1], b[:1])
        self.follow()

    def resized(self, Py_ssize_t p, Py_ssize_t d, places):
        if d > 2:
            return self.inner.with_opposite(p, d, list(places), self.by_feature)
        return OppositeWeights(self.inner.resized(p, 1, range(1)), self.by_feature)

    def watch_radius(self, bint needed, bint of_rows=False):
        self.inner.watch_radius(needed, of_rows)
        self.follow()

    @property
    def radius_needed(self):
        """Whether the largest |x| is followed."""
        return self.inner.radius_needed

    @property
    def radius2(self):
        """Its square."""
        return self.inner.radius2

    def effective_radius(self, double radius):
        return self.inner.effective_radius(radius)

    def length(self):
        """Return the norm of both scores' weights."""
        return 2 ** 0.5 * self.inner.length()

    def own_predictor(self, bint mean):
        return OppositeScores(frozen(self.inner, mean))

    def own_passing(self, bint mean, Rows rows):
        one = passing(self.inner, mean, rows)
        return None if one is None else OppositeScores(one)

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        self.inner.scores(x, t)
        oppose(x.m, t)

    cdef void mean_scores(self, const View* x, int which, double* t) noexcept nogil:
        self.inner.mean_scores(x, which, t)
        oppose(x.m, t)

    cdef void average_scores(self, const View* x, int which, const double* last, double* t) noexcept nogil:
        self.inner.average_scores(x, which, last, t)    # of a single row, whose first score is the inner one
        oppose(x.m, t)

    cdef void update_statistics(self, View* x) noexcept nogil:
        self.inner.update_statistics(x)

    cdef double length2(self, View* x) noexcept nogil:
        return self.inner.length2(x)

    cdef void update_norm(self, View* x, const ScoreGradient* g, Round* r) noexcept nogil:
        cdef double first
        cdef ScoreGradient one
        aim(&one, g, &first)
        self.inner.update_norm(x, &one, r)
        r.update_norm2 *= 2

    cdef void step(self, View* x, const ScoreGradient* g, double size) noexcept nogil:
        cdef double first
        cdef ScoreGradient one
        aim(&one, g, &first)
        self.inner.step(x, &one, size)

    def last(self):
        """Return copies of the last iterate's W (2, p), b (2,)."""
        return both(*self.inner.last())

    def mean(self):
        """Return the predicting W (2, p) and b (2,); they are an average, or the last iterate where none is kept."""
        return both(*self.inner.mean())


cdef inline void aim(ScoreGradient* one, const ScoreGradient* g, double* first) noexcept nogil:
    """Compute the gradient of the first score."""
    first[0] = 0 if g.n == 0 else g.value[0] if g.at == NULL or g.at[0] == 0 else -g.value[0]
    one.n = 1
    one.at = NULL
    one.value = first


def both(u, c):
    """Return the weights and intercepts of both scores; no zero has a sign."""
    return np.vstack([u, 0 - u]), np.concatenate([c, 0 - c])
