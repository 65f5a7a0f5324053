"""A prediction space with its loss, representation and decoder; this is the base of compiled problems, and of their labels."""
from libc.stdint cimport int64_t

import numpy as np

cdef enum:
    ITEMS = 16384       # of rounds between two looks at signals


def presence(const int64_t[::1] values, int64_t lowest, Py_ssize_t span):
    """Return which values of a range of integers occur.

    The range is lowest, lowest + 1, ..., lowest + span - 1; all values lie in it.
    """
    cdef unsigned char[::1] seen = np.zeros(span, dtype=np.uint8)
    cdef Py_ssize_t i
    with nogil:
        for i in range(values.shape[0]):
            seen[values[i] - lowest] = 1
    return np.asarray(seen).view(bool)


cdef class Labels:
    """Labels, one a round, which the loss compares with predictions."""

    cdef const void* at(self, Py_ssize_t i) noexcept nogil:
        """Return the label of round i, in the problem's type."""

    def shared(self):
        """Return the same labels for another thread, without a copy."""
        return self


cdef class Codes(Labels):
    """Labels numbered 0, 1, ..."""

    def __init__(self, const Py_ssize_t[::1] codes):
        cdef Py_ssize_t i, most = -1
        for i in range(codes.shape[0]):
            if codes[i] < 0:
                raise ValueError(f"codes must not be negative, got {codes[i]}.")
            most = max(most, codes[i])
        self.codes = codes
        self.n = codes.shape[0]
        self.most = most

    cdef const void* at(self, Py_ssize_t i) noexcept nogil:
        return &self.codes[i]

    @property
    def array(self):
        """The numbers, as an array."""
        return np.asarray(self.codes)


cdef class Problem:
    """Decoder, loss and representation of a prediction space.

    See Jain et al. (2015), section 2.  Its methods leave the scores t unchanged.
    """

    cdef void decode_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        """Find the maximiser of the score as the competitor.

        Among several, it is the one with the largest loss, then the first.
        """

    cdef void decode_loss(self, double* t, const void* y, Py_ssize_t m, bint again, Round* r) noexcept nogil:
        """Fill in the losses of r as decode_competitor does; `again` says that the round is the one decoded last."""
        self.decode_competitor(t, y, m, r)

    cdef void loss_augmented_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        """Find the maximiser of L(sigma, y) + <rep sigma, t> as the competitor.

        This is equation (2); r.loss is the same as in `predicted`.
        """

    cdef void gradient(self, const void* y, Py_ssize_t m, const Round* r, ScoreGradient* g) noexcept nogil:
        """Fill in g = rep(competitor) - rep(sigma_y); the competitor is the one found last."""

    cdef Py_ssize_t rounds_of_block(self, Rows rows) noexcept:
        """Return the number of rounds between two checks for signals; they take about a tenth of a second."""
        return max(1, ITEMS // max(rows.longest, 1))

    cdef open_call(self, weights):
        """Prepare for training on labels with these weights."""

    cdef void fill_input(self, View* x) noexcept nogil:
        """Fill in the input row of the step; it is called if the row depends on the competitor found last."""

    cdef int check(self, Rows rows, Labels labels) except -1:
        """Raise ValueError if labels do not fit the problem or rows."""
        self.score_map.check_rounds(rows.longest)
        if labels.n != rows.n:
            raise ValueError(f"there are {rows.n} rounds and {labels.n} labels; both must be the same number.")
        return 0

    def prepare(self, Labels labels):
        """Prepare for labels to come; raise an error, before anything is changed, if they cannot be learned from."""

    def takes_kept(self, labels):
        """Return whether labels that were kept, as bytes of shape (n, label_size), are labels of this problem."""
        return False

    def renumbered(self, labels, places):
        """Return kept labels of a problem with fewer classes or labels, of which number c is places[c] here."""

    def go_on_from(self, Problem other not None):
        """Take over another problem's findings on the labels so far; this problem continues in its place."""

    @property
    def D2(self):
        """Return D^2 = max |rep(sigma) - rep(sigma')|^2 over all predictions; it is at most 4 for unit vectors."""
        return 4.0

    @property
    def offers(self):
        """Return all that the problem offers to an update."""
        return ()

    @property
    def predictions_known(self):
        """Whether margins over all predictions can be told."""
        return False

    @property
    def constants_vary(self):
        """Return whether c_L and D^2 depend on the labels; they are then those of the labels with a loss so far."""
        return False

    @property
    def sigma_y_varies(self):
        """Whether sigma_y follows the scores."""
        return False

    @property
    def of_one_score(self):
        """Return the problem of a single score; it exists if each score is a problem of its own, with its own steps."""
        return None

    @property
    def margin_of_pairs(self):
        """Whether the margin is measured by pairs of items."""
        return False

    def scores_under(self, W, b, X):
        """Return the scores of X under given weights, (n, d)."""
        return np.ascontiguousarray(X @ W.T + b, dtype=np.float64)

    def margins(self, scores, labels, pairwise=False):
        """Return the margin of each label, from scores (n, d).

        It is <rep(sigma_y), t> minus the best score of a prediction with a loss, or ahead.
        """
        raise ValueError(f"No margins over all predictions are known for {type(self).__name__}.")

    def shortfalls(self, scores, labels, pairwise=False):
        """Return the hinge max(0, 1 - margin) of each label; where a label consists of several problems, each has its own."""
        return np.maximum(0.0, 1.0 - self.margins(scores, labels, pairwise))

    def leads(self, labels, bint pairwise, double width):
        """Return the `Leads` of sigma_y over all other predictions.

        There is one for each label; its vectors have `width` numbers.
        """
        raise ValueError(f"The predictions of {type(self).__name__} are not known.")

    @property
    def kappa(self):
        """Default factor of the adaptive cap."""
        return 1.0

    @property
    def constants_source(self):
        """Name who has to provide c_L and C_L if unknown."""
        return "the loss"

    @property
    def no_theorem_because(self):
        """Name the parts that the theorems do not cover, if any."""
        return None

    def reraise(self):
        """Raise the error that stopped a user-defined problem."""
