"""Problems over an explicit table of predictions; they have any loss matrix and any code matrix."""
from libc.math cimport INFINITY

import numpy as np

from sklearn_predtron._core.score_map cimport ScoreMap
from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.problem cimport Codes, Labels, Problem, Round
from sklearn_predtron._core.rows cimport Rows

from sklearn_predtron.norms._opposite import OppositeMap, are_opposite
from sklearn_predtron.problems._score_gaps import check_room, leads_of_all

cdef enum:
    BLOCK = 256     # predictions at a time

# The searches below take no branch on a score until a competitor is found: on most rounds there is none, and the processor
# can go on to the next row while this one's scores are still being summed.  A score that overflowed may not be found again:
# the gap is then not finite either, which stops the loop.


cdef inline double larger(double a, double b) noexcept nogil:
    return a if a > b else b


cdef inline double largest(const double* s, Py_ssize_t k) noexcept nogil:
    """Return the largest score; four comparisons at a time do not wait for each other."""
    cdef double a = s[0], b = s[0], c = s[0], d = s[0]
    cdef Py_ssize_t sigma = 1
    while sigma + 4 <= k:
        a = larger(s[sigma], a)
        b = larger(s[sigma + 1], b)
        c = larger(s[sigma + 2], c)
        d = larger(s[sigma + 3], d)
        sigma += 4
    while sigma < k:
        a = larger(s[sigma], a)
        sigma += 1
    return larger(larger(a, b), larger(c, d))


cdef inline Py_ssize_t first_at(const double* s, Py_ssize_t k, double top) noexcept nogil:
    """Return the first place of a value.

    Argmax scores that overflow in both directions are not a number, which is found nowhere; the last place is then returned.
    """
    cdef Py_ssize_t sigma = 0
    while sigma + 1 < k and s[sigma] != top:
        sigma += 1
    return sigma


cdef inline double largest_other(double* s, Py_ssize_t k, Py_ssize_t label) noexcept nogil:
    """Return the largest score except the label's; the label's is -inf meanwhile: a test in the loop takes longer."""
    cdef double own = s[label], top
    s[label] = -INFINITY
    top = largest(s, k)
    s[label] = own
    return top


cdef inline double largest_sum(const double* s, const double* cost, Py_ssize_t k) noexcept nogil:
    cdef double best = s[0] + cost[0]
    cdef Py_ssize_t sigma
    for sigma in range(1, k):
        best = larger(s[sigma] + cost[sigma], best)
    return best


cdef inline double worst_loss(const double* s, const double* cost, Py_ssize_t k, double top) noexcept nogil:
    """Return the largest loss of a maximiser of the score."""
    cdef double worst = 0
    cdef Py_ssize_t sigma
    for sigma in range(k):
        worst = larger(cost[sigma] if s[sigma] == top else 0, worst)
    return worst


cdef class FiniteProblem(Problem):
    """k predictions with the rows of `code` as representations.

    cost[y, sigma] is L(sigma, y), or None for the 0-1 loss.  sigma_y is y itself where it is free of loss, else the first
    prediction that is.
    """

    def __init__(self, code, cost=None):
        code = np.ascontiguousarray(code, dtype=np.float64)
        if code.ndim != 2 or not np.isfinite(code).all():
            raise ValueError(f"code must hold finite numbers, a row for each prediction, got shape {code.shape}.")
        self.rep = code
        self.set_loss(self.rep.shape[0], self.rep.shape[1], cost)
        if are_opposite(code):
            self.score_map = OppositeMap()

    cdef set_loss(self, Py_ssize_t k, Py_ssize_t d, cost):
        if k < 2 or d < 1:
            raise ValueError(f"there must be at least two predictions and a score, got {k} and {d}.")
        self.k = k
        self.d = d
        self.label_size = sizeof(Py_ssize_t)
        self.score_map = ScoreMap(d)
        self.scratch = np.empty(k)
        if cost is None:
            self.loss_of = NULL
            self.sigma_y = np.arange(k)
            self.c_L = self.C_L = 1.0
            return
        cost = np.ascontiguousarray(cost, dtype=np.float64)
        if cost.ndim != 2 or not 0 < cost.shape[0] <= k or cost.shape[1] != k:
            raise ValueError(f"cost must have a row for each label and {k} columns, got shape {cost.shape}.")
        if not (np.isfinite(cost).all() and (cost >= 0).all() and cost.any()):
            raise ValueError("cost must hold finite numbers that are not negative, nor all of them 0.")
        self.cost = cost
        self.loss_of = &self.cost[0, 0]
        right = cost.argmin(axis=1)
        own = np.arange(len(cost))[np.diagonal(cost) == 0]
        right[own] = own
        self.sigma_y = right
        self.c_L = cost[cost > 0].min()
        self.C_L = cost.max()

    @property
    def cost_matrix(self):
        """Return L(sigma, y) at [y, sigma]; return None for the 0-1 loss."""
        return None if self.loss_of == NULL else np.asarray(self.cost)

    @property
    def D2(self):
        code = np.asarray(self.rep)
        square = (code ** 2).sum(axis=1)
        return float(max((square[:, None] + square[i:i + BLOCK] - 2 * code @ code[i:i + BLOCK].T).max()
                         for i in range(0, len(code), BLOCK)))

    def __reduce__(self):
        return type(self), (np.asarray(self.rep), self.cost_matrix)

    cdef int check(self, Rows rows, Labels labels) except -1:
        Problem.check(self, rows, labels)
        if not isinstance(labels, Codes) or (<Codes> labels).most >= self.sigma_y.shape[0]:
            raise ValueError(f"labels must be codes below {self.sigma_y.shape[0]}.")
        return 0

    def takes_kept(self, labels):
        codes = labels.view(np.intp)
        return ((codes >= 0) & (codes < self.sigma_y.shape[0])).all()

    def renumbered(self, labels, places):
        return np.asarray(places, dtype=np.intp)[labels.view(np.intp)].view(np.uint8)

    cdef double* decoded(self, double* t, double* room) noexcept nogil:
        """Return the k decoded scores <rep(sigma), t>; they are in the memory for them unless they are t."""
        cdef Py_ssize_t sigma, c
        cdef double s
        for sigma in range(self.k):
            s = 0
            for c in range(self.d):
                s += self.rep[sigma, c] * t[c]
            room[sigma] = s
        return room

    cdef inline const double* loss_row(self, Py_ssize_t label) noexcept nogil:
        """Return L(., label) of the k predictions; it is NULL for the 0-1 loss."""
        if self.loss_of == NULL:
            return NULL
        return self.loss_of + label * self.k

    cdef void decode_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        cdef Py_ssize_t label = (<const Py_ssize_t*> y)[0]
        self.find_best(self.decoded(t, &self.scratch[0]), label, r)

    cdef void loss_augmented_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        cdef Py_ssize_t label = (<const Py_ssize_t*> y)[0]
        self.find_loss_augmented(self.decoded(t, &self.scratch[0]), label, r)

    cdef inline void no_competitor(self, Py_ssize_t label, Round* r) noexcept nogil:
        r.competitor = r.sigma_y = self.sigma_y[label]
        r.competitor_loss = r.score_gap = 0

    cdef void find_best(self, double* s, Py_ssize_t label, Round* r) noexcept nogil:
        cdef const double* cost = self.loss_row(label)
        cdef double top = largest(s, self.k) if cost != NULL else largest_other(s, self.k, label)
        self.no_competitor(label, r)
        r.loss = worst_loss(s, cost, self.k, top) if cost != NULL else top >= s[label]
        if r.loss > 0:
            r.competitor = 0
            while r.competitor < self.k - 1 and (
                    s[r.competitor] != top or (r.competitor == label if cost == NULL else cost[r.competitor] != r.loss)):
                r.competitor += 1
            r.competitor_loss = r.loss
            r.score_gap = top - s[r.sigma_y]

    cdef void find_loss_augmented(self, double* s, Py_ssize_t label, Round* r) noexcept nogil:
        cdef const double* cost = self.loss_row(label)
        cdef double top, best
        self.no_competitor(label, r)
        if cost == NULL:
            top = largest_other(s, self.k, label)
            best = top + 1
            r.loss = top >= s[label]
        else:
            best = largest_sum(s, cost, self.k)
            r.loss = worst_loss(s, cost, self.k, largest(s, self.k))
        if best > s[r.sigma_y]:
            r.competitor = 0
            while r.competitor < self.k - 1 and (
                    (s[r.competitor] != top or r.competitor == label) if cost == NULL
                    else s[r.competitor] + cost[r.competitor] != best):
                r.competitor += 1
            r.competitor_loss = 1 if cost == NULL else cost[r.competitor]
            r.score_gap = s[r.competitor] - s[r.sigma_y]

    cdef void gradient(self, const void* y, Py_ssize_t m, const Round* r, ScoreGradient* g) noexcept nogil:
        cdef Py_ssize_t c
        g.n = self.d
        g.at = NULL
        for c in range(self.d):
            g.value[c] = self.rep[r.competitor, c] - self.rep[r.sigma_y, c]

    def decision(self, const double[:, ::1] scores):
        """Return decoded scores <rep(sigma), t>, (n, k).

        They are those of each row of scores; a row's bits do not depend on the others.
        """
        cdef double[:, ::1] decision = np.empty((scores.shape[0], self.k))
        cdef Py_ssize_t i
        self.check_scores(scores)
        for i in range(scores.shape[0]):
            self.decoded(<double*> &scores[i, 0], &decision[i, 0])
        return np.asarray(decision)

    def check_scores(self, const double[:, ::1] scores):
        """Raise ValueError unless each row has d scores."""
        if scores.shape[1] != self.d:
            raise ValueError(f"scores must have {self.d} columns, got {scores.shape[1]}.")

    def predict(self, const double[:, ::1] scores):
        """Return the prediction of each row, shape (n,); of several, it is the first."""
        cdef Py_ssize_t i, n = scores.shape[0]
        cdef Py_ssize_t[::1] predicted = np.empty(n, dtype=np.intp)
        cdef double[::1] room = np.empty(self.k)
        cdef double* s
        self.check_scores(scores)
        with nogil:
            for i in range(n):
                s = self.decoded(<double*> &scores[i, 0], &room[0])
                predicted[i] = first_at(s, self.k, largest(s, self.k))
        return np.asarray(predicted)

    @property
    def predictions_known(self):
        return True

    def margins(self, const double[:, ::1] scores, Codes labels not None, bint pairwise=False):
        codes, decision = labels.array, self.decision(scores)
        own = np.asarray(self.sigma_y)[codes]
        costs = self.cost_matrix
        loses = np.arange(self.k) != codes[:, None] if costs is None else costs[codes] > 0
        right = decision[np.arange(len(decision)), own]
        wrong = np.where(loses | (decision > right[:, None]), decision, -np.inf).max(axis=1)
        return right - wrong

    def leads(self, Codes labels not None, bint pairwise, double width):
        check_room(labels.n * self.k * width)
        code, costs = self.decision(np.eye(self.d)).T, self.cost_matrix
        costs = 1.0 - np.eye(self.k) if costs is None else costs
        return leads_of_all(code, costs, np.asarray(self.sigma_y), labels.array)


cdef class OneHotProblem(FiniteProblem):
    """Predictions with rep(sigma) = e_sigma; scores need no decoding, and a step touches two classes."""

    def __init__(self, Py_ssize_t k, cost=None):
        self.set_loss(k, k, cost)
        if k == 2:
            self.score_map = OppositeMap()

    @property
    def D2(self):
        return 2.0

    def __reduce__(self):
        return type(self), (self.k, self.cost_matrix)

    cdef double* decoded(self, double* t, double* room) noexcept nogil:
        return t

    cdef void gradient(self, const void* y, Py_ssize_t m, const Round* r, ScoreGradient* g) noexcept nogil:
        g.n = 0 if r.competitor == r.sigma_y else 2
        g.at[0] = r.competitor
        g.value[0] = 1
        g.at[1] = r.sigma_y
        g.value[1] = -1

    def decision(self, const double[:, ::1] scores):
        self.check_scores(scores)
        return np.asarray(scores)


cdef class SignProblem(FiniteProblem):
    """Two predictions, rep = -1 and +1 (d = 1)."""

    def __init__(self, cost=None):
        FiniteProblem.__init__(self, np.array([[-1.0], [1.0]]), cost)

    def __reduce__(self):
        return type(self), (self.cost_matrix,)

    cdef void decode_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        cdef Py_ssize_t label = (<const Py_ssize_t*> y)[0]
        cdef double right = (2 * label - 1) * t[0], cost = self.other_loss(label)
        self.no_competitor(label, r)
        r.loss = cost if right <= 0 else 0
        if r.loss > 0:
            r.competitor = 1 - label
            r.competitor_loss = cost
            r.score_gap = -2 * right

    cdef void loss_augmented_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        cdef Py_ssize_t label = (<const Py_ssize_t*> y)[0]
        cdef double right = (2 * label - 1) * t[0], cost = self.other_loss(label)
        self.no_competitor(label, r)
        r.loss = cost if right <= 0 else 0
        if cost - right > right:
            r.competitor = 1 - label
            r.competitor_loss = cost
            r.score_gap = -2 * right

    cdef inline double other_loss(self, Py_ssize_t label) noexcept nogil:
        return 1 if self.loss_of == NULL else self.loss_of[label + 1]
