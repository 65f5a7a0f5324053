"""Sets of labels: sign vectors, with losses of counts. The counts are those of hits and misses."""
from libc.math cimport INFINITY, NAN, fabs, pow, sqrt
from libc.string cimport memcpy, memset

from copy import copy

import numpy as np

from sklearn_predtron._core.score_map cimport BatchMap, ScoreMap
from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.problem cimport Labels, Problem, Round
from sklearn_predtron._core.rows cimport Rows
from sklearn_predtron.problems.inference._sorting cimport Keyed, sort_descending

from sklearn_predtron.problems.inference._sorting import KEYED
from sklearn_predtron._core.state import MOST, between, restored
from sklearn_predtron.problems._score_gaps import check_room, leads_of_all

MOST_LISTED = 12       # labels, of which all sets are listed


cdef class Indicators(Labels):
    """A row of zeros and ones for each round."""

    def __init__(self, const unsigned char[:, ::1] rows):
        self.rows = rows
        self.n = rows.shape[0]

    cdef const void* at(self, Py_ssize_t i) noexcept nogil:
        return &self.rows[i, 0]

    def dense(self):
        """Return all rows, as an array of shape (n, m)."""
        return np.asarray(self.rows)


cdef class SparseIndicators(Labels):
    """Return the labels from the places of the ones; they are label[start[i]:start[i + 1]] in row i."""

    def __init__(self, const Py_ssize_t[::1] start, const Py_ssize_t[::1] label, Py_ssize_t m):
        self.n = start.shape[0] - 1
        places, edges = np.asarray(label), np.asarray(start)
        if edges[0] != 0 or edges[self.n] > len(places) or (np.diff(edges) < 0).any():
            raise ValueError("y is not a valid CSR matrix: its indptr does not rise from 0 to at most the number of entries.")
        if len(places) and not 0 <= places.min() <= places.max() < m:
            raise ValueError(f"y is not a valid CSR matrix: its indices must lie between 0 and {m - 1}.")
        self.start = start
        self.label = label
        self.row = np.empty(m, dtype=np.uint8)

    def shared(self):
        cdef SparseIndicators other = SparseIndicators.__new__(SparseIndicators)
        other.n, other.start, other.label = self.n, self.start, self.label
        other.row = np.zeros(self.row.shape[0], dtype=np.uint8)
        return other

    cdef const void* at(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t j
        memset(&self.row[0], 0, self.row.shape[0])
        for j in range(self.start[i], self.start[i + 1]):
            self.row[self.label[j]] = 1
        return &self.row[0]

    def dense(self):
        """Return all rows, as an array of shape (n, m)."""
        rows = np.zeros((self.n, self.row.shape[0]), dtype=np.uint8)
        rows[np.repeat(np.arange(self.n), np.diff(self.start)), self.label] = 1
        return rows


cdef class IndicatorBlocks(Labels):
    """A column of zeros and ones, in successive blocks; y[start[i]:start[i + 1]] is that of round i; none is empty."""

    def __init__(self, const unsigned char[::1] y, const Py_ssize_t[::1] start):
        lengths = np.diff(start)
        self.n = len(lengths)
        if start.shape[0] == 0 or start[0] != 0 or start[self.n] != y.shape[0] or (self.n > 0 and lengths.min() < 1):
            raise ValueError(f"start must rise from 0 to {y.shape[0]}, the number of rows.")
        self.y = y
        self.start = start
        self.longest = lengths.max() if self.n > 0 else 0

    cdef const void* at(self, Py_ssize_t i) noexcept nogil:
        return &self.y[self.start[i]]

    @property
    def column(self):
        """The zeros and ones of all blocks."""
        return np.asarray(self.y)

    @property
    def starts(self):
        """Starts of the blocks, and the end of the last."""
        return np.asarray(self.start)


cdef class LabelSets(Problem):
    """All sets of m labels.

    rep(sigma) = sign vector / sqrt(m) (Jain et al. 2015, section 3 and supplement, C.2).

    The loss depends on y's P labels, the b that are on beside them and the c of them that are off.  The competitor of (2) is
    found by `search` among the sets that hold the best of the P labels and the best of the others: on the sorted scores the
    search over b and c is exact.

    m = 0 stands for the rows of a batch, each on or off, by one score a row.  There the representation may weigh the classes:
    with n rows its coordinates are (n / 2P)^balance / sqrt(n) for the P rows that are on in y, and likewise for the others;
    any positive weights leave the prediction as it is, where all sets may be predicted.
    """

    def __init__(self, Py_ssize_t m):
        if not 0 <= m < MOST:
            raise ValueError(f"m={m} must not be negative.")
        self.n_labels = self.label_size = m
        self.d = max(m, 1)
        self.score_map = ScoreMap(m) if m > 0 else BatchMap()
        self.monotone = True
        self.check_all_scores = m == 0
        self.weight_on = self.weight_off = 2 / sqrt(self.d)
        self.reserve(m)

    def __reduce__(self):
        made = type(self), (self.n_labels, *self.parameters())
        return made if self.balance == 0 else (*made, self.balance)

    def __setstate__(self, balance):
        self.balance = restored(self, (balance,), (between(0, 1),))[0]

    def parameters(self):
        """Return `__init__`'s arguments after the number of labels."""
        return ()

    def reserve(self, Py_ssize_t n):
        """Make room for sets of n labels."""
        self.competitor, self.sigma_y = np.zeros(n, dtype=np.uint8), np.zeros(n, dtype=np.uint8)
        self.positive, self.negative, self.spare = (np.zeros(n, dtype=KEYED) for _ in range(3))

    def prepare(self, Labels labels not None):
        """Make room for the longest batch."""
        if self.n_labels == 0:
            self.check_sets(labels)
            if (<IndicatorBlocks> labels).longest > self.spare.shape[0]:
                self.reserve((<IndicatorBlocks> labels).longest)

    def state_constants(self, double c_L, double C_L):
        """Set the least positive and the largest loss.

        They are those of sets of m labels; of batches the least depends on their lengths.
        """
        self.c_L, self.C_L = c_L if self.n_labels > 0 else NAN, C_L

    cdef int check(self, Rows rows, Labels labels) except -1:
        cdef Py_ssize_t i
        Problem.check(self, rows, labels)
        self.check_sets(labels)
        if self.n_labels == 0:
            for i in range(rows.n):
                if rows.size(i) != (<IndicatorBlocks> labels).size(i):
                    raise ValueError(f"batch {i} must have {rows.size(i)} labels.")
        return 0

    def takes_kept(self, labels):
        return (labels <= 1).all()

    def renumbered(self, labels, places):
        wide = np.zeros((len(labels), self.label_size), dtype=np.uint8)
        wide[:, places] = labels
        return wide

    cdef int check_sets(self, Labels labels) except -1:
        """Raise ValueError where labels are no sets of m labels."""
        cdef Py_ssize_t m = -1
        if self.n_labels == 0:
            if not isinstance(labels, IndicatorBlocks):
                raise ValueError(f"labels must be an indicator column in blocks, got {type(labels).__name__}.")
            return 0
        if isinstance(labels, Indicators):
            m = (<Indicators> labels).rows.shape[1]
        elif isinstance(labels, SparseIndicators):
            m = (<SparseIndicators> labels).row.shape[0]
        if m != self.d:
            raise ValueError(f"labels must be indicators of {self.d} labels.")
        return 0

    # ---------------------------------------------------------------------------------------- parts that a loss defines

    cdef double loss(self, Py_ssize_t b, Py_ssize_t c) noexcept nogil:
        """Return L of b false and c missing labels; the true set is the current y."""
        return 0

    cdef void search(self, Py_ssize_t* b, Py_ssize_t* c) noexcept nogil:
        """Maximise L(b, c) + keys.

        The keys are those of the best b others minus those of the worst c positives; both are sorted.
        """

    # ------------------------------------------------------------------------------------------------------- the rounds

    cdef void bind_label(self, const unsigned char* y, Py_ssize_t m) noexcept nogil:
        """Set the current y: of the labels, or of m rows."""
        cdef Py_ssize_t i, count = 0
        self.n = m * self.d
        memcpy(&self.sigma_y[0], y, self.n)
        for i in range(self.n):
            count += y[i]
        self.P = count
        self.N = self.n - count
        if self.n_labels == 0:
            self.weight_on = self.weight_off = 2 / sqrt(self.n)
        if self.balance > 0 and self.P > 0 and self.N > 0:
            self.weight_on *= pow(self.n / (2.0 * self.P), self.balance)
            self.weight_off *= pow(self.n / (2.0 * self.N), self.balance)

    cdef void worst_maximiser_loss(self, const double* t, const unsigned char* y, Py_ssize_t m, Round* r) noexcept nogil:
        """Find the worst maximiser of the score as the competitor; fill in its loss."""
        cdef Py_ssize_t i, b = 0, c = 0, tied_b = 0, tied_c = 0
        self.bind_label(y, m)
        for i in range(self.n):
            self.competitor[i] = t[i] >= 0 if y[i] == 0 else t[i] > 0
            b += self.competitor[i] & (y[i] ^ 1)
            c += (self.competitor[i] ^ 1) & y[i]
            if t[i] == 0:
                tied_b += y[i] ^ 1
                tied_c += y[i]
        if self.monotone or tied_b + tied_c == 0:
            r.loss = self.loss(b, c)
            return
        b -= tied_b
        c -= tied_c
        r.loss = self.worst(&b, &c, tied_b, tied_c)
        for i in range(self.n):
            if t[i] == 0:
                self.competitor[i] = (c == 0) if y[i] else (b > 0)
                if y[i]:
                    c -= c > 0
                else:
                    b -= b > 0

    cdef double worst(self, Py_ssize_t* b, Py_ssize_t* c, Py_ssize_t tied_b, Py_ssize_t tied_c) noexcept nogil:
        """Return the largest loss with more mistakes.

        There are up to tied_b, tied_c more; b and c become their numbers, as large as possible.
        """
        cdef Py_ssize_t i, j, more_b = 0, more_c = 0
        cdef double largest = -1, loss
        for i in range(tied_b, -1, -1):
            for j in range(tied_c, -1, -1):
                loss = self.loss(b[0] + i, c[0] + j)
                if loss > largest:
                    largest, more_b, more_c = loss, i, j
        b[0], c[0] = more_b, more_c
        return largest

    cdef void finish_competitor(self, const double* t, const unsigned char* y, double competitor_loss, Round* r) noexcept nogil:
        """Complete the competitor with its loss; sigma_y takes its place where that is no worse."""
        cdef Py_ssize_t i
        cdef double gap = 0, ratio = self.weight_on / self.weight_off
        for i in range(self.n):
            gap += (self.competitor[i] - self.sigma_y[i]) * (ratio * t[i] if y[i] else t[i])
        r.score_gap = self.weight_off * gap
        r.competitor_loss = competitor_loss
        if not r.competitor_loss + r.score_gap > 0:
            memcpy(&self.competitor[0], &self.sigma_y[0], self.n)
            r.competitor_loss = r.score_gap = 0

    cdef void decode_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        self.worst_maximiser_loss(t, <const unsigned char*> y, m, r)
        if r.loss > 0:
            self.finish_competitor(t, <const unsigned char*> y, r.loss, r)

    cdef void sort(self, const double* t, const unsigned char* y) noexcept nogil:
        """Sort the labels that are on in y, and the others.

        They are sorted by their keys: a key is the gain in score when the label is on.
        """
        cdef Py_ssize_t i, p = 0, n = 0
        cdef Keyed item
        for i in range(self.n):
            item.at = i
            if y[i]:
                item.key = self.weight_on * t[i]
                self.positive[p] = item
                p += 1
            else:
                item.key = self.weight_off * t[i]
                self.negative[n] = item
                n += 1
        sort_descending(&self.positive[0], &self.spare[0], p)
        sort_descending(&self.negative[0], &self.spare[0], n)

    cdef void loss_augmented_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        cdef Py_ssize_t i, b = 0, c = 0
        self.worst_maximiser_loss(t, <const unsigned char*> y, m, r)
        self.sort(t, <const unsigned char*> y)
        self.search(&b, &c)
        memcpy(&self.competitor[0], &self.sigma_y[0], self.n)
        for i in range(b):
            self.competitor[self.negative[i].at] = 1
        for i in range(self.P - c, self.P):
            self.competitor[self.positive[i].at] = 0
        self.finish_competitor(t, <const unsigned char*> y, self.loss(b, c), r)

    cdef void gradient(self, const void* y, Py_ssize_t m, const Round* r, ScoreGradient* g) noexcept nogil:
        cdef const unsigned char* on = <const unsigned char*> y
        cdef double weight
        cdef Py_ssize_t i
        g.n = 0
        for i in range(self.n):
            weight = self.weight_on if on[i] else self.weight_off
            if self.n_labels == 0:      # an entry a row
                g.value[i] = weight * (self.competitor[i] - self.sigma_y[i])
                continue
            g.at[g.n] = i
            g.value[g.n] = weight if self.competitor[i] else -weight
            g.n += self.competitor[i] != self.sigma_y[i]
        if self.n_labels == 0:
            g.n, g.at = self.n, NULL

    # ------------------------------------------------------------------------------------------------------- many rows

    cdef void decode(self, const double* t, Py_ssize_t n, unsigned char* sigma, Keyed* room) noexcept nogil:
        """Predict the set of n labels with the largest score.

        Where sets tie, it is the smallest; there is memory for 2 n items.
        """
        cdef Py_ssize_t i
        for i in range(n):
            sigma[i] = t[i] > 0

    def predict(self, const double[:, ::1] scores):
        """Return the predicted set of each row; it consists of zeros and ones of shape (n, m)."""
        cdef unsigned char[:, ::1] sigma = np.empty((scores.shape[0], self.d), dtype=np.uint8)
        cdef Keyed[::1] room = np.empty(2 * self.d, dtype=KEYED)
        cdef Py_ssize_t i
        self.check_scores(scores)
        with nogil:
            for i in range(scores.shape[0]):
                self.decode(&scores[i, 0], self.d, &sigma[i, 0], &room[0])
        return np.asarray(sigma)

    def predict_batches(self, const double[::1] scores, const Py_ssize_t[::1] start):
        """Return the predicted rows of each batch.

        They are zeros and ones of shape (n,); batch i has the scores[start[i]:start[i + 1]].
        """
        cdef unsigned char[::1] sigma = np.empty(scores.shape[0], dtype=np.uint8)
        cdef Keyed[::1] room = np.empty(2 * scores.shape[0], dtype=KEYED)
        cdef Py_ssize_t i
        for i in range(start.shape[0] - 1):
            if not 0 <= start[i] < start[i + 1] <= scores.shape[0]:
                raise ValueError(f"start must rise from 0 to {scores.shape[0]}, the number of scores.")
            self.decode(&scores[start[i]], start[i + 1] - start[i], &sigma[start[i]], &room[0])
        return np.asarray(sigma)

    def check_scores(self, const double[:, ::1] scores):
        """Raise ValueError unless each row has d scores."""
        if scores.shape[1] != self.d:
            raise ValueError(f"scores must have {self.d} columns, got {scores.shape[1]}.")

    cdef double losing(self, double* lossless) noexcept nogil:
        """Return the best score of a set with a loss.

        A set ahead of sigma_y counts too.  It is the sum of the set's keys; that of sigma_y is filled in.
        """
        cdef Py_ssize_t i, j
        cdef double best = -INFINITY, kept, more
        lossless[0] = 0
        for i in range(self.P):
            lossless[0] += self.positive[i].key
        kept = lossless[0]
        for i in range(self.P + 1):
            more = 0
            for j in range(self.N + 1):
                if self.loss(j, i) > 0 or kept + more > lossless[0]:
                    best = max(best, kept + more)
                if j < self.N:
                    more += self.negative[j].key
            if i < self.P:
                kept -= self.positive[self.P - 1 - i].key
        return best

    @property
    def predictions_known(self):
        return self.n_labels > 0

    @property
    def constants_source(self):
        return "the loss" if self.n_labels > 0 else "a loss of batches"

    @property
    def no_theorem_because(self):
        return "representations that weigh the classes (balance > 0)" if self.balance > 0 else None

    def margins(self, const double[:, ::1] scores, Labels labels not None, bint pairwise=False):
        cdef Py_ssize_t i, first, m = 1
        cdef Py_ssize_t n = labels.n
        cdef LabelSets own = copy(self)     # with scratch memory of its own: others may be learning, or asking too
        cdef double[::1] margins = np.empty(n)
        cdef double lossless = 0, wrong
        cdef const unsigned char* y
        self.check_scores(scores)
        self.check_sets(labels)
        if self.n_labels == 0:
            n = (<IndicatorBlocks> labels).y.shape[0]
        if n != scores.shape[0]:
            raise ValueError(f"there are {scores.shape[0]} rows of scores and {n} labels.")
        own.prepare(labels)
        with nogil:
            for i in range(labels.n):
                first = i
                if self.n_labels == 0:
                    first, m = (<IndicatorBlocks> labels).start[i], (<IndicatorBlocks> labels).size(i)
                y = <const unsigned char*> labels.at(i)
                own.bind_label(y, m)
                own.sort(&scores[first, 0], y)
                wrong = own.losing(&lossless)
                margins[i] = lossless - wrong
        if own.failed:
            own.reraise()
        return np.asarray(margins)

    def leads(self, Labels labels not None, bint pairwise, double width):
        self.check_sets(labels)
        if self.d > MOST_LISTED:
            raise ValueError(f"y has {self.d} labels, and all sets are listed of at most {MOST_LISTED}.")
        check_room(labels.n * 2.0 ** self.d * width)
        sets = (np.arange(1 << self.d)[:, None] >> np.arange(self.d)) & 1
        y, numbers = np.unique(labels.dense(), axis=0, return_inverse=True)
        right = y.astype(np.intp) @ (1 << np.arange(self.d))
        return leads_of_all((2 * sets - 1) / np.sqrt(self.d), self.costs_of_sets(y, sets), right, numbers.ravel())

    def costs_of_sets(self, const unsigned char[:, ::1] y, sets):
        """Return L(sigma, y) of each y and each set."""
        cdef LabelSets own = copy(self)
        true = np.asarray(y, dtype=np.intp)
        cdef Py_ssize_t[:, ::1] ahead = np.ascontiguousarray((1 - true) @ sets.T)
        cdef Py_ssize_t[:, ::1] behind = np.ascontiguousarray(true @ (1 - sets).T)
        cdef double[:, ::1] costs = np.empty((y.shape[0], len(sets)))
        cdef Py_ssize_t i, j
        for i in range(y.shape[0]):
            own.bind_label(&y[i, 0], 1)
            if own.failed:
                own.reraise()
            for j in range(costs.shape[1]):
                costs[i, j] = own.loss(ahead[i, j], behind[i, j])
        return np.asarray(costs)


cdef class HammingProblem(LabelSets):
    """L = (b + c) / m: each label counts separately."""

    def __init__(self, Py_ssize_t m):
        LabelSets.__init__(self, m)
        self.state_constants(1 / <double> self.d, 1)

    cdef double loss(self, Py_ssize_t b, Py_ssize_t c) noexcept nogil:
        return (b + c) / <double> self.n

    cdef void loss_augmented_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        cdef const unsigned char* on = <const unsigned char*> y
        cdef Py_ssize_t i, flips = 0, wrong = 0
        cdef double share, gap = 0, against, ratio
        cdef unsigned char flip
        self.bind_label(on, m)
        share, ratio = 1 / <double> self.n, self.weight_on / self.weight_off
        for i in range(self.n):
            against = -ratio * t[i] if on[i] else t[i]
            wrong += against >= 0
            flip = self.weight_off * against + share > 0
            flips += flip
            gap += against if flip else 0
            self.competitor[i] = on[i] ^ flip
        r.loss = wrong * share
        r.competitor_loss = flips * share
        r.score_gap = self.weight_off * gap


cdef class BalancedErrorProblem(LabelSets):
    """L = (c / P + b / N) / 2; it is one of the terms alone where the other is 0 / 0."""

    def __init__(self, Py_ssize_t m):
        LabelSets.__init__(self, m)
        self.state_constants(1 / <double> max(self.d, 2 * (self.d - 1)), 1)

    cdef inline double cost(self, Py_ssize_t own, Py_ssize_t others) noexcept nogil:
        """Return the cost of a mistake at one label; it is one of `own` labels, given the number of `others`."""
        return 1 / ((2.0 if others > 0 else 1.0) * own) if own > 0 else 0

    cdef double loss(self, Py_ssize_t b, Py_ssize_t c) noexcept nogil:
        cdef double missed = c / <double> self.P if self.P > 0 else 0, alarms = b / <double> self.N if self.N > 0 else 0
        return (missed + alarms) / 2 if self.P > 0 and self.N > 0 else missed + alarms

    cdef void loss_augmented_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        """Decide on every label separately."""
        cdef const unsigned char* on = <const unsigned char*> y
        cdef double of_on, of_off
        cdef Py_ssize_t i, b = 0, c = 0
        self.worst_maximiser_loss(t, on, m, r)
        of_on, of_off = self.cost(self.P, self.N), self.cost(self.N, self.P)
        for i in range(self.n):
            self.competitor[i] = self.weight_on * t[i] >= of_on if on[i] else self.weight_off * t[i] + of_off > 0
            b += self.competitor[i] & (on[i] ^ 1)
            c += (self.competitor[i] ^ 1) & on[i]
        self.finish_competitor(t, on, self.loss(b, c), r)


cdef class SubsetZeroOneProblem(LabelSets):
    """L = 1 for any set but y."""

    def __init__(self, Py_ssize_t m):
        LabelSets.__init__(self, m)
        self.state_constants(1, 1)

    cdef double loss(self, Py_ssize_t b, Py_ssize_t c) noexcept nogil:
        return b + c > 0

    cdef void loss_augmented_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        """Find the best set but y; it is the prediction, or, where that is y, y except for the label nearest to zero."""
        cdef const unsigned char* on = <const unsigned char*> y
        cdef Py_ssize_t i, least = 0
        cdef double cost, cheapest = INFINITY
        self.worst_maximiser_loss(t, on, m, r)
        if r.loss == 0:
            for i in range(self.n):
                cost = fabs(t[i]) * (self.weight_on if on[i] else self.weight_off)
                if cost < cheapest:
                    cheapest, least = cost, i
            self.competitor[least] ^= 1
        self.finish_competitor(t, on, 1, r)


cdef class ErrorSetSizeProblem(LabelSets):
    """L = b c / (P N), the share of inverted pairs.

    They are pairs of a label of y and another that are both predicted wrongly.
    """

    def __init__(self, Py_ssize_t m):
        LabelSets.__init__(self, m)
        self.state_constants(1 / <double> max(1, (m // 2) * (m - m // 2)), 1)

    cdef double loss(self, Py_ssize_t b, Py_ssize_t c) noexcept nogil:
        return b * c / <double> (self.P * self.N) if self.P > 0 and self.N > 0 else 0

    cdef void search(self, Py_ssize_t* b, Py_ssize_t* c) noexcept nogil:
        """Search c = 0, 1, ..; the best b grows with c."""
        cdef double pair = self.loss(1, 1), best = -INFINITY, value, gap = 0
        cdef Py_ssize_t more = 0, missing
        for missing in range(self.P + 1):
            if missing > 0:
                gap -= self.positive[self.P - missing].key
            while more < self.N and self.negative[more].key + pair * missing > 0:
                gap += self.negative[more].key
                more += 1
            value = gap + pair * missing * more
            if value > best:
                best, b[0], c[0] = value, more, missing


cdef class FBetaProblem(LabelSets):
    """L = 1 - F measure; it is 1 - (1 + beta^2) a / ((1 + beta^2) a + b + beta^2 c), 0 where the denominator is."""
    cdef double beta2

    def __init__(self, Py_ssize_t m, double beta):
        LabelSets.__init__(self, m)
        if not 0 < beta < INFINITY:
            raise ValueError(f"beta={beta} must be a positive number.")
        self.beta2 = beta ** 2
        P = np.arange(1, self.d + 1)
        self.state_constants(min(self.least_losses(P, 0, 1).min(), self.least_losses(P[:self.d - 1], 1, 0).min(initial=1)), 1)

    def least_losses(self, P, b, c):
        hits = (1 + self.beta2) * (P - c)
        return 1 - hits / (hits + b + self.beta2 * c)

    def parameters(self):
        return (sqrt(self.beta2),)

    cdef double loss(self, Py_ssize_t b, Py_ssize_t c) noexcept nogil:
        cdef double hits = (1 + self.beta2) * (self.P - c), below = hits + b + self.beta2 * c
        return 1 - hits / below if below > 0 else 0

    cdef void search(self, Py_ssize_t* b, Py_ssize_t* c) noexcept nogil:
        """Search k = 0, 1, ... labels that are on; the best number of positives among them grows with k."""
        cdef double best = -INFINITY, value, gap = 0, below, gain
        cdef Py_ssize_t a = 0, more = 0, k
        for k in range(self.P):
            gap -= self.positive[k].key
        for k in range(self.n + 1):
            if k > 0 and more < self.N:
                gap += self.negative[more].key
                more += 1
            elif k > 0:
                gap += self.positive[a].key
                a += 1
            below = k + self.beta2 * self.P
            gain = (1 + self.beta2) / below if below > 0 else 0
            while a < self.P and more > 0 and self.positive[a].key - self.negative[more - 1].key > gain:
                gap += self.positive[a].key - self.negative[more - 1].key
                a += 1
                more -= 1
            value = gap + self.loss(more, self.P - a)
            if value > best:
                best, b[0], c[0] = value, more, self.P - a


cdef class JaccardProblem(LabelSets):
    """L = 1 - a / (P + b), 0 where the denominator is 0."""

    def __init__(self, Py_ssize_t m):
        LabelSets.__init__(self, m)
        self.state_constants(1 / <double> self.d, 1)

    cdef double loss(self, Py_ssize_t b, Py_ssize_t c) noexcept nogil:
        return 1 - (self.P - c) / <double> (self.P + b) if self.P + b > 0 else 0

    cdef void search(self, Py_ssize_t* b, Py_ssize_t* c) noexcept nogil:
        """Search b = 0, 1, ..; the best number of positives grows with b."""
        cdef double best = -INFINITY, value, gap = 0
        cdef Py_ssize_t a = 0, more
        for more in range(self.P):
            gap -= self.positive[more].key
        for more in range(self.N + 1):
            if more > 0:
                gap += self.negative[more - 1].key
            while a < self.P and self.positive[a].key > 1 / <double> (self.P + more):
                gap += self.positive[a].key
                a += 1
            value = gap + self.loss(more, self.P - a)
            if value > best:
                best, b[0], c[0] = value, more, self.P - a
