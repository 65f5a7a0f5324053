"""What the loop asks of linear predictors t = W x + b under some norm."""
from libc.math cimport INFINITY

import numpy as np

from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.rows cimport Rows, View, squared_norm
from sklearn_predtron.problems._base cimport Round

from sklearn_predtron._core.state import MOST

cdef enum:
    BREATH = 4096   # rounds between two looks at pending interrupts


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
        self.may_step = True

    def admit(self, Rows rows):
        """Raise, before anything is changed, where new rows cannot be learned from."""

    def first_refused(self, Rows rows not None):
        """The first row of which no round can be made, whatever the weights; -1 if there is none."""
        return rows.first_outside()

    def complaint(self):
        """What was wrong with the round refused last, if it is known better here than elsewhere."""
        return None

    cdef open_call(self, Rows rows, bint fresh):
        """Rows are going to be learned from; they are those of the call before unless they are fresh."""

    cdef Py_ssize_t open_block(self, Rows rows, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last,
                               bint shown) except -1:
        """Get ready for rounds from the first on, and return where they end: what comes after needs another look ahead.

        Where they are `shown`, their mean scores are asked for too.
        """
        return min(first + BREATH, last)

    cdef close_call(self, bint learned):
        """The rows are no longer there; whether any round of theirs was learned."""

    cdef bint unfinished(self) noexcept:
        """Return whether an interrupt has left undone what `complete` does."""
        return False

    def complete(self):
        """Do what an interrupt has left undone of the last call."""

    def watch_radius(self, bint needed, bint of_rows=False):
        """Whether to follow the largest |x| of the rounds to come; of their single rows, where they have several."""

    def close_fit(self):
        """The rows do not come again."""

    cdef bint open_round(self, View* x) noexcept nogil:
        """Statistics that a round's own scores take into account; called where self.meeting.  False refuses the round."""
        return True

    cdef void abandon_round(self) noexcept nogil:
        """The round that `meet` began was called off; where self.careful it has not been."""

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        """t = W x + b, for each row of the view."""

    cdef void mean_scores(self, const View* x, double* t) noexcept nogil:
        """The same with the average of the iterates (the last iterate where none is kept), and without a trace."""

    cdef void fetch(self, const View* x) noexcept nogil:
        """Start to fetch what the scores of a round to come will read; called where they are sparse and the weights large."""

    cdef void update_statistics(self, View* x) noexcept nogil:
        """Running statistics of the inputs; called where self.observing."""

    cdef double length2(self, View* x) noexcept nogil:
        """The norm's own squared length of the round at hand, to which the intercept's feature is compared."""
        return squared_norm(x)

    cdef void update_norm(self, View* x, const ScoreGradient* g, Round* r) noexcept nogil:
        """Fill r.g2 and r.radius2."""

    cdef void step(self, View* x, const ScoreGradient* g, double size) noexcept nogil:
        """W <- W - size g x^T."""

    cdef void shrink(self, double factor) noexcept nogil:
        """W <- factor W."""

    cdef void close_round(self, double weight, double keep) noexcept nogil:
        """End of a round: the sum of the iterates becomes keep times itself plus weight times W; called where self.averaging."""

    def effective_radius(self, double radius):
        """A bound R on |g x^T| / |g|, given one on the lengths of the inputs with their intercept's feature."""
        return radius

    @property
    def no_theorem_because(self):
        """What the theorems do not cover, if they do not."""
        return None

    def freeze(self, bint frozen):
        """Whether statistics of the inputs that are for new rows alone stay as they are."""

    def frozen_predictor(self, bint mean=True):
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
