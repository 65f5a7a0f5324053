"""The base of what predicts by scores t = W x + b, and that of weights that learn under some norm."""
from libc.math cimport INFINITY

import numpy as np

from sklearn_predtron._core.score_map cimport ScoreMap
from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.rows cimport Rows, View, squared_norm
from sklearn_predtron._core.problem cimport Round

from sklearn_predtron._core.state import MOST

cdef enum:
    BREATH = 4096   # rounds between two looks at pending interrupts


def euclidean_length(values):
    """The Euclidean length of all values, of which no square over- or underflows."""
    values = np.asarray(values)
    largest = float(np.abs(values).max(initial=0))
    if not 0 < largest < INFINITY:
        return largest
    with np.errstate(under="ignore"):
        return largest * float(np.sqrt(((values / largest) ** 2).sum()))


def check_sizes(Py_ssize_t d, Py_ssize_t p):
    """Raise ValueError if weights of d scores and p features make no sense."""
    if d < 1 or p < 1 or d > MOST // 64 // (p + 16):
        raise ValueError(f"weights cannot have {d} scores and {p} features.")


cdef class ScoreFunction:
    """The scores t of rows, of d numbers each: W x + b, or a sum over rows that were kept.

    For rows from the first on, `open_block` says where those end that can be scored next, and `scores` are asked for these alone.
    """

    cdef int map_scores(self, Py_ssize_t d, Py_ssize_t p, ScoreMap score_map) except -1:
        """Take over the sizes and the map from inputs to scores, W x unless another is given."""
        check_sizes(d, p)
        if score_map is not None and score_map.d != d:
            raise ValueError(f"a map to {score_map.d} scores does not go with weights for {d}.")
        self.d, self.p = d, p
        self.n_features = p
        self.score_map = (ScoreMap(d) if score_map is None else score_map).of_features(p)
        return 0

    cdef Py_ssize_t open_block(self, Rows rows, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last,
                               bint means_wanted) except -1:
        """Get ready for rounds from the first on, and return where they end: what comes after needs another look ahead.

        If `means_wanted`, weights that learn are asked for the mean scores of their rows too.
        """
        return min(first + BREATH, last)

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        """t = W x + b, for each row of the view."""


cdef class Weights(ScoreFunction):
    """W (d x p) and the intercept b (d), under some norm; every mean is over W, b after each round.

    Of averages there may be none, one, or two that forget differently; `leader` says which predicts, as `mean` does.

    The learner calls the hooks of a round in this order, and no others::

        open_call(rows, fresh, undo_needed), want_lengths(wanted)
            end = open_block(rows, order, first, last, means_wanted)
                open_round(x); scores(x, t); update_statistics(x); update_norm(x, g, r); shrink(factor); step(x, g, size);
                close_round(which, weight, keep) for each average, or abandon_round() where the round does not end
            close_block()
        close_call(learned)
        close_fit()

    Beside them `mean_scores` and `prefetch` read, without a trace.  Others read in between two rounds, or two blocks where the
    weights are `whole_in_blocks`; the learner's own thread, in a round, after `make_readable`.
    """

    def __cinit__(self):
        self.inverse_convexity = 1
        self.may_step = True
        self.most_averages = 1
        self.leader = 1

    cdef void lead(self, int which) noexcept nogil:
        """Set the average that predicts from here on; 0 is the last iterate."""
        self.leader = which

    def keep_averages(self, int n):
        """Keep n averages of the iterates from here on, at most `most_averages`: present ones continue, new ones start."""

    def export(self):
        """Return the state that weights which learned from other rows are mixed with; see `_core.mixable_state`."""
        raise ValueError(f"{type(self).__name__} cannot be mixed.")

    def adopt(self, state, bint with_sums):
        """Continue from the state of mixed weights; without sums, the sums of the iterates restart."""
        raise ValueError(f"{type(self).__name__} cannot be mixed.")

    def begin_at(self, W, b):
        """Set the iterate to W (d, p) and b (d,) before training starts."""
        raise ValueError(f"{type(self).__name__} cannot begin at given weights.")

    def put_first(self, int which):
        """Swap average number `which` with number 1; `keep_averages` must be called next."""

    def resized(self, Py_ssize_t p, Py_ssize_t d, places):
        """Return weights of d scores that hold the same, with room for p features, of which the rows have as many as now.

        Score c becomes places[c]; the others' weights are zeros.  What others may be reading stays as it is.
        """
        raise ValueError(f"the features of {type(self).__name__} are as many as there are.")

    def widen(self, Py_ssize_t n_features):
        """Set the number of features of the rows to come, from the present number to `p`."""
        if not self.n_features <= n_features <= self.p:
            raise ValueError(f"n_features={n_features} must be from {self.n_features} to {self.p}.")
        self.n_features = n_features

    def room_for(self, Py_ssize_t n_features):
        """Return the number of features to allocate for `n_features`, with slack so that few widenings copy."""
        return n_features if n_features <= self.p else max(n_features, self.p + self.p // 2)

    def expect(self, Rows rows not None):
        """Rows like these are going to be learned from, and none were yet: memory may be laid for them."""

    cdef open_call(self, Rows rows, bint fresh, bint undo_needed):
        """Rows are going to be learned from: new ones if they are `fresh`, else those of the call before.

        It raises, before anything is changed, if they cannot be.  If `undo_needed`, rounds may be abandoned in midst.
        """

    cdef close_call(self, bint learned):
        """The rows are no longer there; `learned` says whether any round of theirs was learned."""

    def close_fit(self):
        """The rows do not come again."""

    cdef void want_lengths(self, bint wanted) noexcept:
        """Say whether the lengths of all rows to come, single ones, are wanted: `measures` says if their scores bring them."""

    cdef close_block(self):
        """The rounds of the block are over, and others may read."""

    def make_readable(self):
        """Make the weights readable in the middle of a block, without changing its results."""

    cdef Py_ssize_t meet_all(self, Rows rows, const Py_ssize_t[::1] order) except -2:
        """Rounds of the call, as often as they are in the order, are known: statistics that take them before the first one.

        It returns the round of a row that cannot be learned from, or -1.
        """
        return -1

    cdef bint open_round(self, View* x) noexcept nogil:
        """A round begins: statistics that its own scores take into account.  False refuses it."""
        return True

    cdef void abandon_round(self) noexcept nogil:
        """The round was called off: what `open_round` has changed goes back, if it could have."""

    cdef void close_round(self, int which, double weight, double keep) noexcept nogil:
        """A sum of the iterates becomes keep times itself plus weight times W; called of 1, ..., self.averaging."""

    cdef void update_statistics(self, View* x) noexcept nogil:
        """Running statistics of the inputs that the round's own scores do not need; called if self.observing."""

    cdef void update_norm(self, View* x, const ScoreGradient* g, Round* r) noexcept nogil:
        """Fill r.update_norm2 and r.radius2."""

    cdef void step(self, View* x, const ScoreGradient* g, double size) noexcept nogil:
        """W <- W - size g x^T."""

    cdef void shrink(self, double factor) noexcept nogil:
        """W <- factor W."""

    cdef void mean_scores(self, const View* x, int which, double* t) noexcept nogil:
        """The scores of an average of the iterates (of the last iterate if it is not kept), after `scores`, without a trace."""

    cdef void average_scores(self, const View* x, int which, const double* last, double* t) noexcept nogil:
        """The same but for rounding, given the scores of the last iterate."""
        self.mean_scores(x, which, t)

    cdef int predicting(self, bint mean) noexcept nogil:
        """Which average predicts, if the last iterate is not asked for; 0 for that."""
        return self.leader if mean and self.leader <= self.averaging else 0

    cdef void prefetch(self, const View* x) noexcept nogil:
        """Start to fetch what the scores of a round to come will read; called if they are sparse and the weights large."""

    cdef double length2(self, View* x) noexcept nogil:
        """The norm's own squared length of the round at hand, to which the intercept's feature is compared."""
        return squared_norm(x)

    def first_refused(self, Rows rows not None):
        """The first row of which no round can be made, whatever the weights; -1 if there is none."""
        return rows.first_outside()

    def complaint(self):
        """Describe the fault of the last rejected round, if it is known best here."""
        return None

    cdef bint unfinished(self) noexcept:
        """Return whether an interrupt left the work of `complete` unfinished."""
        return False

    def complete(self):
        """Complete the work that an interrupt left unfinished in the last call."""

    def watch_radius(self, bint needed, bint of_rows=False):
        """Follow the largest |x| of the rounds to come if it is `needed`; of their single rows if they have several."""

    def effective_radius(self, double radius):
        """A bound R on |g x^T| / |g|, given one on the lengths of the inputs with their intercept's feature."""
        return radius

    @property
    def no_theorem_because(self):
        """Name what the theorems do not cover, if they do not."""
        return None

    cdef bint read_lines(self, bint mean, const Py_ssize_t* at, Py_ssize_t first, Py_ssize_t n, Py_ssize_t stride,
                         double* line) noexcept nogil:
        """Copy n lines of the average or the last iterate: of features at[i], or of lines from the first on where `at` is NULL.

        A line holds a feature's weights where there is one score or weights lie by feature, else a class's, or as many of
        them as its stride holds.  False, and nothing is copied, where the weights are not kept in lines.
        """
        return False

    cdef void read_offsets(self, bint mean, double* b) noexcept nogil:
        """Copy the offsets of the average or the last iterate, where lines are to be had."""

    def own_predictor(self, bint mean):
        """Return a predictor of these weights for several threads; None if a copy of W and b is enough."""
        return None

    def own_passing(self, bint mean, Rows rows):
        """Return the same for few rows, made without a look at all weights, where they are not kept in lines; None for none."""
        return None

    @property
    def expansion(self):
        """The weights that are sums over rows that were kept, if they are."""
        return None

    def primal(self, W):
        """Return the W of `last` or `mean` as weights of the features."""
        return W

    def length(self):
        """The norm of the weights that predict, the intercept's among them; here the Frobenius norm."""
        coef, b = self.mean()
        r2 = self.intercept.squared_length
        return float(np.hypot(euclidean_length(coef), euclidean_length(b) / r2 ** 0.5 if r2 > 0 else 0.0))
