"""Sequences of labels: linear chains and their losses. See Shalev-Shwartz and Ben-David (2014), section 17.3."""
from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, fabs
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

import numpy as np

from sklearn_predtron.norms._chained cimport ChainMap
from sklearn_predtron._core.rows cimport Rows
from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.problem cimport Labels, Problem, Round
from sklearn_predtron.problems.inference._chain_inference cimport (
    FORBIDDEN,
    Suffix,
    Trellis,
    Ways,
    find_marginals,
    find_probabilities,
    find_suffixes,
    find_ways,
    follow,
    follow_best,
    follow_other,
    follow_worst,
    padded,
    path_score,
)

from sklearn_predtron._core.rows import OVERFLOW
from sklearn_predtron._core.state import MOST

cdef double LARGE = 1e50    # beside which scores do not count
NEVER = -1e100              # the max-marginal of labels that are never predicted, or less: finite, as scikit-learn expects scores


cdef class TokenCodes(Labels):
    """Sequences one after the other; the labels of sequence i, numbered 0, 1, ..., are codes[start[i]:start[i + 1]]."""
    cdef const Py_ssize_t[::1] codes, start
    cdef readonly Py_ssize_t most          # the largest code
    cdef readonly Py_ssize_t longest       # sequence

    def __init__(self, const Py_ssize_t[::1] codes, const Py_ssize_t[::1] start):
        cdef Py_ssize_t i, least = 0, shortest = 1
        self.n = start.shape[0] - 1
        for i in range(self.n):
            shortest = min(shortest, start[i + 1] - start[i])
            self.longest = max(self.longest, start[i + 1] - start[i])
        if self.n < 0 or start[0] != 0 or start[self.n] != codes.shape[0] or shortest < 1:
            raise ValueError(f"start must rise from 0 to {codes.shape[0]}, the number of tokens.")
        self.most = -1
        for i in range(codes.shape[0]):
            least, self.most = min(least, codes[i]), max(self.most, codes[i])
        if least < 0:
            raise ValueError(f"codes must not be negative, got {least}.")
        self.codes, self.start = codes, start

    cdef const void* at(self, Py_ssize_t i) noexcept nogil:
        return &self.codes[self.start[i]]

    @property
    def array(self):
        """The numbers of all tokens' labels."""
        return np.asarray(self.codes)

    @property
    def starts(self):
        """Starts of the sequences, and the end of the last."""
        return np.asarray(self.start)


cdef double magnitude(const double[:, ::1] scores) noexcept nogil:
    """Return the largest of their absolute values."""
    cdef Py_ssize_t i, k
    cdef double largest = 0
    for i in range(scores.shape[0]):
        for k in range(scores.shape[1]):
            largest = max(largest, fabs(scores[i, k]))
    return largest


cdef class ChainProblem(Problem):
    """All sequences of K labels.

    Scores belong to tokens, pairs of neighbours, the first label and the last.

    rep(sigma) counts the parts of these scores: <rep(sigma), t> = sum_t u_t(sigma_t) + A(sigma_{t-1}, sigma_t), and the scores
    of the ends.  Its length varies, so that the decoder is the maximiser of the score, and no nearest representation.  C_L is
    that of one token, for how long sequences are is not known beforehand.
    """
    cdef Trellis c
    cdef const double[:, ::1] walls        # the penalty of a transition, or in the last row of a first label; or None
    cdef double[::1] table, first, best
    cdef Py_ssize_t[::1] competitor
    cdef Py_ssize_t[::1] slot              # where g has an entry of the table
    cdef Py_ssize_t room                   # tokens of a sequence that there is room for
    cdef readonly Py_ssize_t parts         # that the loss adds up over, each of which costs c_L or more where it is wrong

    def __init__(self, Py_ssize_t K, double transition_scaling, allowed=None):
        if not 0 < K < MOST // 64 // (K + 16):
            raise ValueError(f"K={K} must be at least 1, and not so large that the table of transitions has no room.")
        self.d = K
        self.score_map = ChainMap(K, transition_scaling)
        self.check_all_scores = True
        self.parts = 1
        self.c.K, self.c.stride = K, padded(K)
        self.walls = None
        if allowed is not None:
            if np.shape(allowed) != (K + 1, K):
                raise ValueError(f"allowed must have shape {(K + 1, K)}, got {np.shape(allowed)}.")
            self.walls = np.where(allowed, 0.0, FORBIDDEN)
        self.table, self.first = np.zeros(K * self.c.stride), np.zeros(K)
        self.c.table, self.c.initial = &self.table[0], &self.first[0]
        self.slot = np.full(self.score_map.extra, -1, dtype=np.intp)
        self.reserve(1)

    def __reduce__(self):
        return type(self), (self.d, self.score_map.transition_scaling, self.allowed)

    def of_length(self, Py_ssize_t T):
        """Return the same problem for at most T tokens; its largest loss is that of a sequence of T tokens."""
        make, arguments = self.__reduce__()
        cdef ChainProblem own = make(*arguments)
        own.C_L = own.largest_loss(T)
        own.parts = own.parts_of(T)
        return own

    cdef double largest_loss(self, Py_ssize_t T) except -1:
        return 1

    def parts_of(self, T):
        """Return the number of parts of a T-token loss.

        The loss adds up over the parts, each of which costs c_L or more where it is wrong.
        """
        return 1

    @property
    def allowed(self):
        """Return which label may follow which; the last row says which may be first; None if all may."""
        return None if self.walls is None else np.asarray(self.walls) == 0

    cdef int check(self, Rows rows, Labels labels) except -1:
        """Raise ValueError if labels are not the rows' sequences."""
        cdef TokenCodes tags
        cdef Py_ssize_t i
        Problem.check(self, rows, labels)
        if not isinstance(labels, TokenCodes):
            raise ValueError(f"labels must be TokenCodes, got {type(labels).__name__}.")
        tags = labels
        if tags.most >= self.d:
            raise ValueError(f"labels must be numbered from 0 to {self.d - 1}, got {tags.most}.")
        for i in range(rows.n):
            if rows.size(i) != tags.start[i + 1] - tags.start[i]:
                raise ValueError(f"sequence {i} has {rows.size(i)} rows and {tags.start[i + 1] - tags.start[i]} labels.")
        return 0

    def prepare(self, Labels labels):
        cdef TokenCodes tags = labels
        self.reserve(tags.longest)

    cdef int reserve(self, Py_ssize_t longest) except -1:
        """Prepare for sequences of up to so many tokens."""
        if longest <= self.room:
            return 0
        self.best = np.empty(longest * self.c.stride)
        self.competitor = np.empty(longest, dtype=np.intp)
        self.c.best = &self.best[0]
        self.room = longest
        return 0

    cdef void bind(self, const double* t, Py_ssize_t m) noexcept nogil:
        """Arrange the scores of a round for the recursions."""
        cdef Py_ssize_t j, k, K = self.d
        cdef const double* pairs = t + m * K
        self.c.T, self.c.u = m, t
        self.c.final = <double*> pairs + K * K + K
        for j in range(K):
            memcpy(self.c.table + j * self.c.stride, pairs + j * K, K * sizeof(double))
        memcpy(self.c.initial, pairs + K * K, K * sizeof(double))
        if self.walls is None:
            return
        for j in range(K):
            self.c.initial[j] += self.walls[K, j]
            for k in range(K):
                self.c.table[j * self.c.stride + k] += self.walls[k, j]

    cdef void no_competitor(self, const Py_ssize_t* y, Round* r) noexcept nogil:
        """Make y its own competitor."""
        memcpy(&self.competitor[0], y, self.c.T * sizeof(Py_ssize_t))
        r.competitor_loss = r.score_gap = 0

    cdef double lead_of_competitor(self, const Py_ssize_t* y) noexcept nogil:
        """Return the competitor's score minus that of y; it is summed over the parts that they do not share."""
        cdef Py_ssize_t t, T = self.c.T, stride = self.c.stride
        cdef const Py_ssize_t* s = &self.competitor[0]
        cdef double lead = self.c.initial[s[0]] - self.c.initial[y[0]] + (self.c.final[s[T - 1]] - self.c.final[y[T - 1]])
        for t in range(T):
            if s[t] != y[t]:
                lead += self.c.u[t * self.d + s[t]] - self.c.u[t * self.d + y[t]]
            if t > 0 and (s[t] != y[t] or s[t - 1] != y[t - 1]):
                lead += self.c.table[s[t] * stride + s[t - 1]] - self.c.table[y[t] * stride + y[t - 1]]
        return lead

    cdef void gradient(self, const void* y, Py_ssize_t m, const Round* r, ScoreGradient* g) noexcept nogil:
        cdef Py_ssize_t t, K = self.d, n
        cdef const Py_ssize_t* right = <const Py_ssize_t*> y
        cdef const Py_ssize_t* s = &self.competitor[0]
        g.n = 0
        for t in range(m):
            if s[t] != right[t]:
                g.at[g.n], g.value[g.n] = t * K + right[t], -1
                g.at[g.n + 1], g.value[g.n + 1] = t * K + s[t], 1
                g.n += 2
        n = g.n
        for t in range(1, m):
            if s[t] != right[t] or s[t - 1] != right[t - 1]:
                self.count(g, m, right[t] * K + right[t - 1], -1)
                self.count(g, m, s[t] * K + s[t - 1], 1)
        if s[0] != right[0]:
            self.count(g, m, K * K + right[0], -1)
            self.count(g, m, K * K + s[0], 1)
        if s[m - 1] != right[m - 1]:
            self.count(g, m, K * K + K + right[m - 1], -1)
            self.count(g, m, K * K + K + s[m - 1], 1)
        self.drop_zeros(g, m, n)

    cdef inline void count(self, ScoreGradient* g, Py_ssize_t m, Py_ssize_t entry, double value) noexcept nogil:
        """Count an entry of the table; it may have been met before."""
        if self.slot[entry] < 0:
            self.slot[entry] = g.n
            g.at[g.n], g.value[g.n] = m * self.d + entry, 0
            g.n += 1
        g.value[self.slot[entry]] += value

    cdef inline void drop_zeros(self, ScoreGradient* g, Py_ssize_t m, Py_ssize_t first) noexcept nogil:
        """Drop the table entries whose counts agree; they begin at the first."""
        cdef Py_ssize_t i, n = first
        for i in range(first, g.n):
            self.slot[g.at[i] - m * self.d] = -1
            if g.value[i] != 0:
                g.at[n], g.value[n] = g.at[i], g.value[i]
                n += 1
        g.n = n

    # -------------------------------------------------------------------------------------------------- many sequences

    cdef int check_scores(self, const double[:, ::1] scores, const Py_ssize_t[::1] start, const double[:, ::1] A,
                          const double[::1] begin, const double[::1] end) except -1:
        """Raise ValueError if arrays have wrong sizes or overflow; later code trusts the sizes; sums of scores may overflow."""
        cdef Py_ssize_t i, k, K = self.d, longest = 0
        cdef double largest = 0
        if scores.shape[1] != K or A.shape[0] != K or A.shape[1] != K or begin.shape[0] != K or end.shape[0] != K:
            raise ValueError(f"scores and transitions must be of {K} labels.")
        if start.shape[0] < 1 or start[0] != 0 or start[start.shape[0] - 1] != scores.shape[0]:
            raise ValueError(f"start must rise from 0 to {scores.shape[0]}.")
        for i in range(start.shape[0] - 1):
            longest = max(longest, start[i + 1] - start[i])
            if start[i + 1] <= start[i]:
                raise ValueError(f"start must rise from 0 to {scores.shape[0]}.")
        largest = magnitude(scores) + magnitude(A)
        for k in range(K):
            largest += fabs(begin[k]) + fabs(end[k])
        if not largest < DBL_MAX / 4 / (longest + 1):
            raise ValueError(OVERFLOW)
        return 0

    cdef ChainProblem with_scores(self, const Py_ssize_t[::1] start, const double[:, ::1] A, const double[::1] begin,
                                  const double[::1] end):
        """Return a copy with separate memory and these transitions; others may be training."""
        cdef Py_ssize_t K = self.d
        make, arguments = self.__reduce__()
        cdef ChainProblem own = make(*arguments)
        own.reserve(int(np.diff(start).max(initial=1)))
        walls = np.zeros((K + 1, K)) if self.walls is None else np.asarray(self.walls)
        shaped = np.asarray(own.table).reshape(K, own.c.stride)
        shaped[:, :K] = (np.asarray(A) + walls[:K]).T
        np.asarray(own.first)[:] = np.asarray(begin) + walls[K]
        return own

    def predict(self, const double[:, ::1] scores, const Py_ssize_t[::1] start, const double[:, ::1] A,
                const double[::1] begin, const double[::1] end):
        """Return the best sequences, and whether any is allowed.

        They consist of the labels' numbers (n_tokens,), and are best under the scores of tokens and transitions.
        """
        cdef Py_ssize_t i
        cdef ChainProblem own
        cdef Py_ssize_t[::1] sigma = np.empty(scores.shape[0], dtype=np.intp)
        cdef bint allowed = True
        self.check_scores(scores, start, A, begin, end)
        own = self.with_scores(start, A, begin, end)
        with nogil:
            own.c.final = <double*> &end[0]
            for i in range(start.shape[0] - 1):
                own.c.T, own.c.u = start[i + 1] - start[i], &scores[start[i], 0]
                find_suffixes(&own.c, NULL, NULL)
                follow(&own.c, &sigma[start[i]])
                allowed &= own.is_allowed(&sigma[start[i]])
        return np.asarray(sigma), bool(allowed)

    cdef bint is_allowed(self, const Py_ssize_t* sigma) noexcept nogil:
        """Return whether a sequence has no forbidden transition."""
        cdef Py_ssize_t t
        if self.walls is None:
            return True
        if self.walls[self.d, sigma[0]] != 0:
            return False
        for t in range(1, self.c.T):
            if self.walls[sigma[t - 1], sigma[t]] != 0:
                return False
        return True

    def marginals(self, const double[:, ::1] scores, const Py_ssize_t[::1] start, const double[:, ::1] A,
                  const double[::1] begin, const double[::1] end):
        """Return the relative max-marginals (n_tokens, K).

        It is the best score of a sequence with each label at each token, minus that of the best sequence.

        And if any sequence is allowed: each one, if not, has NEVER for all labels.
        """
        cdef Py_ssize_t i, K = self.d
        cdef ChainProblem own
        cdef double[:, ::1] m = np.empty((scores.shape[0], K))
        cdef double[::1] backward = np.zeros(K * self.c.stride)
        cdef double[::1] forward = np.empty(2 * self.c.stride)
        self.check_scores(scores, start, A, begin, end)
        own = self.with_scores(start, A, begin, end)
        np.asarray(backward).reshape(K, -1)[:, :K] = np.asarray(own.table).reshape(K, -1)[:, :K].T
        with nogil:
            own.c.final = <double*> &end[0]
            for i in range(start.shape[0] - 1):
                own.c.T, own.c.u = start[i + 1] - start[i], &scores[start[i], 0]
                find_marginals(&own.c, &backward[0], &forward[0], &m[start[i], 0])
        values = np.asarray(m)
        best = values.max(axis=1, keepdims=True)    # of each token: as it was rounded there, so that the best label has 0
        allowed = bool((best > FORBIDDEN).all())
        best[best == FORBIDDEN] = 0
        values -= best
        never = values == FORBIDDEN
        if never.any():
            values[never] = 0
            values = np.where(never, np.minimum(NEVER, 2 * values.min(axis=1, keepdims=True)), values)
        return values, allowed

    def probabilities(self, const double[:, ::1] scores, const Py_ssize_t[::1] start, const double[:, ::1] A,
                      const double[::1] begin, const double[::1] end):
        """Return each label's probability at each token, (n_tokens, K).

        The probability of a sequence is proportional to exp(its score).

        And the log of the sum of exp(score) over the sequences of labels, for each of `start`; -inf where none is allowed.
        """
        cdef Py_ssize_t i, K = self.d
        cdef ChainProblem own
        cdef Ways into, out_of
        cdef double[:, ::1] m = np.empty((scores.shape[0], K))
        cdef double[::1] whole = np.empty(start.shape[0] - 1)
        self.check_scores(scores, start, A, begin, end)
        own = self.with_scores(start, A, begin, end)
        cdef double[::1] after = np.zeros(K * own.c.stride), scratch = np.empty(3 * own.c.stride)
        cdef double[:, ::1] exponential = np.empty((2, K * own.c.stride)), most = np.empty((2, K))
        np.asarray(after).reshape(K, -1)[:, :K] = np.asarray(own.table).reshape(K, -1)[:, :K].T
        into.table, into.exponential, into.most = &own.table[0], &exponential[0, 0], &most[0, 0]
        out_of.table, out_of.exponential, out_of.most = &after[0], &exponential[1, 0], &most[1, 0]
        with nogil:
            own.c.final = <double*> &end[0]
            find_ways(&into, K, own.c.stride)
            find_ways(&out_of, K, own.c.stride)
            for i in range(start.shape[0] - 1):
                own.c.T, own.c.u = start[i + 1] - start[i], &scores[start[i], 0]
                whole[i] = find_probabilities(&own.c, &into, &out_of, &scratch[0], &m[start[i], 0])
        return np.asarray(m), np.asarray(whole)

    def best_paths(self, Py_ssize_t n, const double[:, ::1] scores, const Py_ssize_t[::1] start, const double[:, ::1] A,
                   const double[::1] begin, const double[::1] end):
        """Return the n best sequences, and their scores.

        They are labels' numbers (n, n_tokens) and scores (n, n_sequences).

        Beyond the sequences that are allowed there are -1, and -inf.
        """
        cdef Py_ssize_t i, r
        cdef ChainProblem own
        cdef Suffix* suffixes
        cdef Py_ssize_t[:, ::1] sigma = np.empty((n, scores.shape[0]), dtype=np.intp)
        cdef double[:, ::1] found = np.empty((n, start.shape[0] - 1))
        cdef double[::1] score = np.empty(n)
        if not 1 <= n <= MOST // max(1, scores.size):
            raise ValueError(f"n={n} must be at least 1, and not so large that there is no room.")
        self.check_scores(scores, start, A, begin, end)
        own = self.with_scores(start, A, begin, end)
        suffixes = <Suffix*> malloc((own.room * self.d + 1) * n * sizeof(Suffix))
        if suffixes == NULL:
            raise MemoryError
        with nogil:
            own.c.final = <double*> &end[0]
            for i in range(start.shape[0] - 1):
                own.c.T, own.c.u = start[i + 1] - start[i], &scores[start[i], 0]
                follow_best(&own.c, n, suffixes, &score[0], &sigma[0, start[i]], sigma.shape[1])
                for r in range(n):
                    found[r, i] = score[r]
            free(suffixes)
        return np.asarray(sigma), np.asarray(found)

    def scores_of_paths(self, const double[:, ::1] scores, TokenCodes labels not None, const double[:, ::1] A,
                        const double[::1] begin, const double[::1] end):
        """Return the score of each sequence of labels; it is -inf where the sequence is forbidden."""
        cdef Py_ssize_t i
        cdef ChainProblem own
        cdef double[::1] found = np.empty(labels.n)
        self.check_scores(scores, labels.start, A, begin, end)
        if labels.most >= self.d:
            raise ValueError(f"labels must be numbered from 0 to {self.d - 1}, got {labels.most}.")
        own = self.with_scores(labels.start, A, begin, end)
        with nogil:
            own.c.final = <double*> &end[0]
            for i in range(labels.n):
                own.c.T, own.c.u = labels.start[i + 1] - labels.start[i], &scores[labels.start[i], 0]
                found[i] = path_score(&own.c, &labels.codes[labels.start[i]])
        return np.asarray(found)

    @property
    def predictions_known(self):
        return True

    def leads_of_sequences(self, const double[:, ::1] scores, TokenCodes labels not None, const double[:, ::1] A,
                           const double[::1] begin, const double[::1] end):
        """Return each sequence's lead over the best other one.

        It is the difference of the scores, and infinite where there is no other.
        """
        cdef Py_ssize_t i
        cdef ChainProblem own
        cdef double other
        cdef double[::1] leads = np.empty(labels.n)
        cdef Py_ssize_t[::1] leave
        self.check_scores(scores, labels.start, A, begin, end)
        if labels.most >= self.d:
            raise ValueError(f"labels must be numbered from 0 to {self.d - 1}, got {labels.most}.")
        own = self.with_scores(labels.start, A, begin, end)
        leave = np.empty(own.room, dtype=np.intp)
        with nogil:
            own.c.final = <double*> &end[0]
            for i in range(labels.n):
                own.c.T, own.c.u = labels.start[i + 1] - labels.start[i], &scores[labels.start[i], 0]
                find_suffixes(&own.c, NULL, NULL)
                other = follow_other(&own.c, &labels.codes[labels.start[i]], &leave[0], &own.competitor[0])
                leads[i] = path_score(&own.c, &labels.codes[labels.start[i]]) - other if other > FORBIDDEN else INFINITY
        return np.asarray(leads)


cdef class HammingChain(ChainProblem):
    """The loss L = the sum of cost(y_t, sigma_t).

    The sum is over the tokens: it is the number of wrong ones, where each costs 1.
    """
    cdef double[:, ::1] cost               # rows = true labels
    cdef double[::1] worst
    cdef Py_ssize_t[::1] prediction

    def __init__(self, Py_ssize_t K, double transition_scaling, allowed=None, cost=None):
        ChainProblem.__init__(self, K, transition_scaling, allowed)
        costs = 1.0 - np.eye(K) if cost is None else np.array(cost, dtype=float)
        if costs.shape != (K, K) or not (np.isfinite(costs).all() and (costs >= 0).all()) or costs.diagonal().any():
            raise ValueError(f"cost must have shape {(K, K)}, finite entries of at least 0, and 0 on the diagonal.")
        self.cost = costs
        self.c_L = costs[costs > 0].min(initial=np.inf)
        self.C_L = self.largest_loss(1)

    def __reduce__(self):
        return type(self), (self.d, self.score_map.transition_scaling, self.allowed, self.cost_matrix)

    cdef double largest_loss(self, Py_ssize_t T) except -1:
        return np.max(self.cost) * T

    def parts_of(self, T):
        wrong = ~np.eye(self.d, dtype=bool)
        return T if np.asarray(self.cost)[wrong].all() else 1

    @property
    def cost_matrix(self):
        """Costs cost(y_t, sigma_t), or None where each costs 1."""
        costs = np.asarray(self.cost)
        return None if (costs == 1 - np.eye(self.d)).all() else costs.copy()

    cdef int reserve(self, Py_ssize_t longest) except -1:
        if longest > self.room:
            self.worst = np.empty(longest * self.c.stride)
            self.prediction = np.empty(longest, dtype=np.intp)
        return ChainProblem.reserve(self, longest)

    cdef double loss(self, const Py_ssize_t* sigma, const Py_ssize_t* y) noexcept nogil:
        cdef Py_ssize_t t
        cdef double loss = 0
        for t in range(self.c.T):
            loss += self.cost[y[t], sigma[t]]
        return loss

    cdef void decode(self, const Py_ssize_t* y, Py_ssize_t* sigma) noexcept nogil:
        """Find the best sequence as the competitor; among several, it is the most costly one."""
        find_suffixes(&self.c, NULL, NULL)
        if follow(&self.c, sigma):
            follow_worst(&self.c, &self.cost[0, 0], y, &self.worst[0], sigma)

    def leads_for_loss(self, const double[:, ::1] scores, TokenCodes labels not None, const double[:, ::1] A,
                       const double[::1] begin, const double[::1] end):
        """Return each sequence's least lead per unit of loss.

        It is the most by which it leads every other for each unit of its loss; infinite if no other has a loss.

        It is -inf where one without a loss scores more, or the labels are forbidden.

        The least ratio of lead to loss is found by a few loss-augmented decodings (Dinkelbach 1967).
        """
        cdef Py_ssize_t i
        cdef HammingChain own
        cdef double[::1] leads = np.empty(labels.n)
        cdef double[:, ::1] cost = np.empty((self.d, self.d))
        self.check_scores(scores, labels.start, A, begin, end)
        if labels.most >= self.d:
            raise ValueError(f"labels must be numbered from 0 to {self.d - 1}, got {labels.most}.")
        own = self.with_scores(labels.start, A, begin, end)
        with nogil:
            own.c.final = <double*> &end[0]
            for i in range(labels.n):
                own.c.T, own.c.u = labels.start[i + 1] - labels.start[i], &scores[labels.start[i], 0]
                leads[i] = own.least_ratio(&labels.codes[labels.start[i]], cost)
        return np.asarray(leads)

    cdef double least_ratio(self, const Py_ssize_t* y, double[:, ::1] cost) noexcept nogil:
        cdef double rate = LARGE, least = INFINITY, loss, lead, ratio
        cdef Py_ssize_t j, k
        while True:
            for j in range(self.d):
                for k in range(self.d):
                    cost[j, k] = rate * self.cost[j, k]
            find_suffixes(&self.c, &cost[0, 0], y)
            follow(&self.c, &self.competitor[0])
            loss, lead = self.loss(&self.competitor[0], y), -self.lead_of_competitor(y)
            if lead == -INFINITY or (loss == 0 and lead < -self.rounding(y)):
                return -INFINITY
            ratio = lead / loss if loss > 0 else INFINITY
            if not ratio < least:
                return least
            rate = least = ratio

    cdef double rounding(self, const Py_ssize_t* y) noexcept nogil:
        """Return the rounding error of y's lead over the competitor.

        They may differ by it where they are tied: labels without a cost often are.
        """
        cdef Py_ssize_t t
        cdef double size = 0
        for t in range(self.c.T):
            size += fabs(self.c.u[t * self.d + y[t]]) + fabs(self.c.u[t * self.d + self.competitor[t]])
        return 1e-12 * size

    cdef void decode_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        cdef const Py_ssize_t* right = <const Py_ssize_t*> y
        self.bind(t, m)
        self.decode(right, &self.competitor[0])
        r.loss = r.competitor_loss = self.loss(&self.competitor[0], right)
        r.score_gap = self.lead_of_competitor(right) if r.loss > 0 else 0

    cdef void loss_augmented_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        cdef const Py_ssize_t* right = <const Py_ssize_t*> y
        cdef bint tied
        self.bind(t, m)
        find_suffixes(&self.c, &self.cost[0, 0], right)
        tied = follow(&self.c, &self.competitor[0])
        r.competitor_loss = self.loss(&self.competitor[0], right)
        r.score_gap = self.lead_of_competitor(right)
        r.loss = 0
        if r.competitor_loss + r.score_gap > 0 or tied:
            self.decode(right, &self.prediction[0])
            r.loss = self.loss(&self.prediction[0], right)
        if not r.competitor_loss + r.score_gap > 0:     # y leads all others by their losses, and so is predicted
            self.no_competitor(right, r)


cdef class ZeroOneChain(ChainProblem):
    """L = 1 for any sequence but y."""
    cdef Py_ssize_t[::1] left_to            # where the competitor leaves y

    def __init__(self, Py_ssize_t K, double transition_scaling, allowed=None):
        ChainProblem.__init__(self, K, transition_scaling, allowed)
        self.c_L = self.C_L = 1.0

    cdef int reserve(self, Py_ssize_t longest) except -1:
        if longest > self.room:
            self.left_to = np.empty(longest, dtype=np.intp)
        return ChainProblem.reserve(self, longest)

    cdef double look(self, double* t, const Py_ssize_t* y, Py_ssize_t m, Round* r) noexcept nogil:
        """Find the best sequence but y; return its score. Fill in the loss."""
        cdef double other
        self.bind(t, m)
        find_suffixes(&self.c, NULL, NULL)
        other = follow_other(&self.c, y, &self.left_to[0], &self.competitor[0])
        r.loss = other > FORBIDDEN and other >= path_score(&self.c, y)
        return other

    cdef void decode_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        cdef const Py_ssize_t* right = <const Py_ssize_t*> y
        self.look(t, right, m, r)
        r.competitor_loss = r.loss
        r.score_gap = self.lead_of_competitor(right) if r.loss > 0 else 0

    cdef void loss_augmented_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        cdef const Py_ssize_t* right = <const Py_ssize_t*> y
        if self.look(t, right, m, r) > FORBIDDEN:
            r.competitor_loss = 1
            r.score_gap = self.lead_of_competitor(right)
            if 1 + r.score_gap > 0:
                return
        self.no_competitor(right, r)
