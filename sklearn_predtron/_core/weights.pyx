"""The bases of score functions and of trainable weights; scores are t = W x + b, and weights are trained under some norm."""
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
    """Return the Euclidean length of all values; no square over- or underflows."""
    values = np.asarray(values)
    largest = float(np.abs(values).max(initial=0))
    if not 0 < largest < INFINITY:
        return largest
    with np.errstate(under="ignore"):
        return largest * float(np.sqrt(((values / largest) ** 2).sum()))


def check_sizes(Py_ssize_t d, Py_ssize_t p):
    """Raise ValueError if weights of d scores, p features are invalid."""
    if d < 1 or p < 1 or d > MOST // 64 // (p + 16):
        raise ValueError(f"weights cannot have {d} scores and {p} features.")


cdef class ScoreFunction:
    """The scores t of rows, of d numbers each.

    They are W x + b, or a sum over stored rows.

    For rows from the first on, `open_block` says where those end that can be scored next, and `scores` are asked for these alone.
    """

    cdef int map_scores(self, Py_ssize_t d, Py_ssize_t p, ScoreMap score_map) except -1:
        """Take over the sizes and the score map; the map from inputs to scores is W x unless another is given."""
        check_sizes(d, p)
        if score_map is not None and score_map.d != d:
            raise ValueError(f"a map to {score_map.d} scores does not go with weights for {d}.")
        self.d, self.p = d, p
        self.n_features = p
        self.score_map = (ScoreMap(d) if score_map is None else score_map).of_features(p)
        return 0

    cdef Py_ssize_t open_block(self, Rows rows, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last,
                               bint means_wanted) except -1:
        """Prepare for rounds from the first on; return their end.

        The rounds after the end need another call.

        If `means_wanted`, weights that learn are asked for the mean scores of their rows too.
        """
        return min(first + BREATH, last)

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        """Compute t = W x + b, for each row of the view."""


cdef class Weights(ScoreFunction):
    """W (d x p) and the intercept b (d).

    They are trained under some norm; every mean is over W, b after each round.

    Of averages there may be none, one, or two that forget differently; `leader` says which predicts, as `mean` does.

    The learner calls the hooks of a round in this order, and no others::

        open_call(rows, fresh, undo_needed), request_lengths(wanted)
            end = open_block(rows, order, first, last, means_wanted)
                begin_round(x); scores(x, t); update_statistics(x); update_norm(x, g, r); shrink(factor); step(x, g, size);
                add_to_average(which, weight, keep) for each average, or abandon_round() where the round does not end
            close_block()
        close_call(learned)
        close_fit()

    Beside them `mean_scores` and `prefetch` read, without a trace.  Others read in between two rounds, or two blocks where the
    weights are `whole_in_blocks`; the learner's own thread, in a round, after `make_readable`.
    """

    def __cinit__(self):
        self.inverse_convexity = 1
        self.is_trainable = True
        self.most_averages = 1
        self.leader = 1

    cdef void select_average(self, int which) noexcept nogil:
        """Set the average that predicts from here on; 0 is the last iterate."""
        self.leader = which

    def keep_averages(self, int n):
        """Keep n averages of the iterates from here on.

        n is at most `most_averages`; present averages continue, new ones start.
        """

    def export(self):
        """Return the state that weights of other rows are mixed with; see `_core.mixable_state`."""
        raise ValueError(f"{type(self).__name__} cannot be mixed.")

    def adopt(self, state, bint with_sums):
        """Continue from the state of mixed weights; without sums, the sums of the iterates restart."""
        raise ValueError(f"{type(self).__name__} cannot be mixed.")

    def begin_at(self, W, b):
        """Set the iterate to W (d, p) and b (d,) before training starts."""
        raise ValueError(f"{type(self).__name__} cannot begin at given weights.")

    def swap_average(self, int which):
        """Swap average number `which` with number 1; `keep_averages` must be called next."""

    def resized(self, Py_ssize_t p, Py_ssize_t d, places):
        """Return copied weights with d scores, room for p features.

        The rows have as many features as now.

        Score c becomes places[c]; the others' weights are zeros.  Memory that others may be reading stays as it is.
        """
        raise ValueError(f"the features of {type(self).__name__} are as many as there are.")

    def widen(self, Py_ssize_t n_features):
        """Increase the number of features of the rows to come; it becomes `p`."""
        if not self.n_features <= n_features <= self.p:
            raise ValueError(f"n_features={n_features} must be from {self.n_features} to {self.p}.")
        self.n_features = n_features

    def room_for(self, Py_ssize_t n_features):
        """Return the number of features to allocate for `n_features`; it includes slack, so that few widenings copy."""
        return n_features if n_features <= self.p else max(n_features, self.p + self.p // 2)

    def reserve(self, Rows rows not None):
        """Prepare the memory for training on rows like these; it is called before any rows were learned from."""

    cdef open_call(self, Rows rows, bint fresh, bint undo_needed):
        """Start training on rows.

        They are new ones if `fresh`, otherwise those of the call before.

        It raises, before anything is changed, if they cannot be.  If `undo_needed`, rounds may be abandoned in midst.
        """

    cdef close_call(self, bint learned):
        """Forget the rows, which are no longer there; `learned` says whether any of their rounds was trained on."""

    def close_fit(self):
        """Forget the rows, which do not come again."""

    cdef void request_lengths(self, bint wanted) noexcept:
        """Set whether the lengths of all single rows are wanted; `measures` says if their scores bring them."""

    cdef close_block(self):
        """Close the block of rounds; others may read."""

    def make_readable(self):
        """Make the weights readable in the middle of a block; this does not change its results."""

    cdef Py_ssize_t update_statistics_of_all(self, Rows rows, const Py_ssize_t[::1] order) except -2:
        """Update statistics from all rounds of the call.

        It is for statistics that need the rounds, as often as they are in the order, before the first one.

        It returns the round of a row that cannot be learned from, or -1.
        """
        return -1

    cdef bint begin_round(self, View* x) noexcept nogil:
        """Begin a round. Statistics that its own scores take into account are updated. False rejects the round."""
        return True

    cdef void abandon_round(self) noexcept nogil:
        """Abandon the round; the changes of `begin_round` are undone, if it could make any."""

    cdef void add_to_average(self, int which, double weight, double keep) noexcept nogil:
        """Add the iterate to a sum of iterates.

        The sum becomes keep times itself plus weight times W; called for 1, ..., self.averaging.
        """

    cdef void update_statistics(self, View* x) noexcept nogil:
        """Update running statistics of the inputs; the round's own scores do not need them; called if self.observing."""

    cdef void update_norm(self, View* x, const ScoreGradient* g, Round* r) noexcept nogil:
        """Fill r.update_norm2 and r.radius2."""

    cdef void step(self, View* x, const ScoreGradient* g, double size) noexcept nogil:
        """Set W <- W - size g x^T."""

    cdef void shrink(self, double factor) noexcept nogil:
        """Set W <- factor W."""

    cdef void mean_scores(self, const View* x, int which, double* t) noexcept nogil:
        """Write the scores of an average, without a trace.

        It is called after `scores`; where the average is not kept, the last iterate scores.
        """

    cdef void average_scores(self, const View* x, int which, const double* last, double* t) noexcept nogil:
        """Write the average's scores, given the last iterate's; they differ from those of `mean_scores` by rounding only."""
        self.mean_scores(x, which, t)

    cdef int predicting(self, bint mean) noexcept nogil:
        """Return which average predicts; it is 0, the last iterate, if that is asked for."""
        return self.leader if mean and self.leader <= self.averaging else 0

    cdef void prefetch(self, const View* x) noexcept nogil:
        """Prefetch the memory for the scores of a future round; it is called if rows are sparse and the weights large."""

    cdef double length2(self, View* x) noexcept nogil:
        """Return the norm's squared length of the current round; the intercept's feature is compared to it."""
        return squared_norm(x)

    def first_refused(self, Rows rows not None):
        """Return the first row that can make no round; this holds whatever the weights; -1 if there is none."""
        return rows.first_outside()

    def complaint(self):
        """Describe the fault of the last rejected round, if known."""
        return None

    cdef bint unfinished(self) noexcept:
        """Return whether an interrupt left work for `complete`."""
        return False

    def complete(self):
        """Complete the last call's work after an interrupt."""

    def watch_radius(self, bint needed, bint of_rows=False):
        """Follow the largest |x| of the rounds to come if `needed`.

        If rounds have several rows, it is that of their single rows.
        """

    def effective_radius(self, double radius):
        """Return a bound R on |g x^T| / |g|.

        It follows from a bound on the lengths of the inputs with their intercept's feature.
        """
        return radius

    @property
    def no_theorem_because(self):
        """Name the parts that the theorems do not cover, if any."""
        return None

    cdef bint read_lines(self, bint mean, const Py_ssize_t* at, Py_ssize_t first, Py_ssize_t n, Py_ssize_t stride,
                         double* line) noexcept nogil:
        """Copy n lines of the average or the last iterate.

        They are those of features at[i], or lines from the first on where `at` is NULL.

        A line holds a feature's weights where there is one score or weights lie by feature, else a class's, or as many of
        them as its stride holds.  False, and nothing is copied, where the weights are not kept in lines.
        """
        return False

    cdef void read_offsets(self, bint mean, double* b) noexcept nogil:
        """Copy the intercepts of the average or the last iterate; they are there where lines are."""

    def own_predictor(self, bint mean):
        """Return a predictor of these weights for several threads; return None if a copy of W and b is enough."""
        return None

    def own_passing(self, bint mean, Rows rows):
        """Return a predictor for few rows. It does not read all weights. Return None where weights are kept in lines."""
        return None

    @property
    def expansion(self):
        """Return the weights as sums over stored rows, if they are."""
        return None

    def primal(self, W):
        """Return W of `last` or `mean` as feature weights."""
        return W

    def length(self):
        """Return the norm of the weights that predict; it includes the intercept's weights; here it is the Frobenius norm."""
        coef, b = self.mean()
        r2 = self.intercept.squared_length
        return float(np.hypot(euclidean_length(coef), euclidean_length(b) / r2 ** 0.5 if r2 > 0 else 0.0))
