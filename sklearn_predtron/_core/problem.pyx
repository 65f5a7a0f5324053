"""A prediction space with its loss, its representation and its decoder: the base of compiled problems, and of their labels."""
from libc.stdint cimport int64_t

import numpy as np

cdef enum:
    ITEMS = 16384       # of rounds between two looks at signals


def presence(const int64_t[::1] values, int64_t lowest, Py_ssize_t span):
    """Which of lowest, lowest + 1, ..., lowest + span - 1 occur; all values lie there."""
    cdef unsigned char[::1] seen = np.zeros(span, dtype=np.uint8)
    cdef Py_ssize_t i
    with nogil:
        for i in range(values.shape[0]):
            seen[values[i] - lowest] = 1
    return np.asarray(seen).view(bool)


cdef class Labels:
    """Labels, one for each round, which the loss compares with predictions."""

    cdef const void* at(self, Py_ssize_t i) noexcept nogil:
        """The label of round i, of the problem's own type."""

    def shared(self):
        """Return the same labels for another thread, without a copy of them."""
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
    """Decoder, loss and representation of a prediction space (Jain et al. 2015, section 2); leaves the scores t as they were."""

    cdef void decode_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        """Competitor = the maximiser of the score; among several the one that loses most, then the first."""

    cdef void decode_loss(self, double* t, const void* y, Py_ssize_t m, bint again, Round* r) noexcept nogil:
        """The losses of r as decode_competitor fills them in; `again` says that the round is the one decoded last."""
        self.decode_competitor(t, y, m, r)

    cdef void loss_augmented_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        """Competitor = the maximiser of L(sigma, y) + <rep sigma, t>, equation (2); r.loss as in predicted."""

    cdef void gradient(self, const void* y, Py_ssize_t m, const Round* r, ScoreGradient* g) noexcept nogil:
        """g = rep(competitor) - rep(sigma_y) for the competitor found last."""

    cdef Py_ssize_t rounds_of_block(self, Rows rows) noexcept:
        """How many rounds there may be between two looks at signals: those of a tenth of a second, about."""
        return max(1, ITEMS // max(rows.longest, 1))

    cdef open_call(self, weights):
        """Labels are going to be learned from by these weights."""

    cdef void fill_input(self, View* x) noexcept nogil:
        """Fill in the row that the step goes along, if it depends on the competitor found last."""

    cdef int check(self, Rows rows, Labels labels) except -1:
        """Raise ValueError where labels are not of the problem's kind, or do not belong to the rows."""
        self.score_map.check_rounds(rows.longest)
        if labels.n != rows.n:
            raise ValueError(f"there are {rows.n} rounds and {labels.n} labels; both must be the same number.")
        return 0

    def prepare(self, Labels labels):
        """Get ready for labels to come; raise, before anything is changed, where they cannot be learned from."""

    def go_on_from(self, Problem other not None):
        """Take over what another problem, in whose place this one learns on, has found of the labels so far."""

    @property
    def D2(self):
        """D^2 = max |rep(sigma) - rep(sigma')|^2 over all predictions, at most 4 of unit vectors."""
        return 4.0

    @property
    def offers(self):
        """All that the problem offers of what an update may need."""
        return ()

    @property
    def predictions_known(self):
        """Whether margins over all predictions can be told."""
        return False

    @property
    def constants_vary(self):
        """Whether c_L and D^2 are those of the labels that lost so far."""
        return False

    @property
    def sigma_y_varies(self):
        """Whether sigma_y follows the scores."""
        return False

    @property
    def of_one_score(self):
        """The problem of a single score, if each score is a problem of its own, with its own steps."""
        return None

    @property
    def margin_of_pairs(self):
        """Whether the margin is measured by pairs of items."""
        return False

    def scores_under(self, W, b, X):
        """Return the scores of the rows of X under given weights, of shape (n, d)."""
        return np.ascontiguousarray(X @ W.T + b, dtype=np.float64)

    def margins(self, scores, labels, pairwise=False):
        """<rep(sigma_y), t> less the best score of a prediction that loses, or is ahead, for each label; scores: (n, d)."""
        raise ValueError(f"No margins over all predictions are known for {type(self).__name__}.")

    def shortfalls(self, scores, labels, pairwise=False):
        """max(0, 1 - margin) for each label, or for each of the problems that it is made of."""
        return np.maximum(0.0, 1.0 - self.margins(scores, labels, pairwise))

    def leads(self, labels, bint pairwise, double width):
        """Return the `Leads` of sigma_y over all other predictions, for each label; a vector of each has `width` numbers."""
        raise ValueError(f"The predictions of {type(self).__name__} are not known.")

    @property
    def kappa(self):
        """Default factor of the adaptive cap."""
        return 1.0

    @property
    def constants_source(self):
        """Who has to say what c_L and C_L are, where they are not known."""
        return "the loss"

    @property
    def no_theorem_because(self):
        """Name what the theorems do not cover, if they do not."""
        return None

    def reraise(self):
        """Raise what stopped the loop, when the problem is the user's own."""
