"""Rankings of lists of items; they are a query's documents, or the labels of a row."""
from libc.math cimport INFINITY, sqrt

from copy import copy

import numpy as np

from sklearn_predtron.problems.inference._ranking_inference cimport Inference
from sklearn_predtron._core.score_map cimport QueryMap, ScoreMap
from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.problem cimport Labels, Problem, Round
from sklearn_predtron.problems._relevance cimport Relevance, Relevances
from sklearn_predtron._core.rows cimport Rows
from sklearn_predtron.problems.inference._sorting cimport sort_descending

from sklearn_predtron.problems.inference._sorting import KEYED
from sklearn_predtron._core.state import MOST, restored, whole
from sklearn_predtron._support.capabilities import RANKED_LABELS, RANKINGS
from sklearn_predtron.problems._score_gaps import leads_of_pairs


cdef class RankingProblem(Problem):
    """All rankings of a list.

    rep(sigma)_i = f(position of i) / |f| for a decreasing f (Jain et al. 2015, sections 4 and 6).

    n_labels = 0 stands for queries, whose documents are the rows of a round.  sigma_y is the competitor's order, sorted again
    by relevance: an arbitrary right ranking does not learn.  A list of one grade has no wrong ranking: no loss and no step.
    """

    def __init__(self, Py_ssize_t n_labels, representation, ranking_loss):
        if not 0 <= n_labels < MOST:
            raise ValueError(f"n_labels={n_labels} must not be negative.")
        self.d = max(n_labels, 1)
        self.n_labels = n_labels
        self.score_map = QueryMap() if n_labels == 0 else ScoreMap(n_labels)
        self.representation = representation
        self.ranking_loss = ranking_loss
        self.check_all_scores = True
        self.C_L = 1
        self.c_L = float("nan")
        self.inference = Inference()
        self.longest = 1
        self.reserve(1)

    def __reduce__(self):
        made = type(self), (self.n_labels, self.representation, self.ranking_loss)
        return made if self.n_labels > 0 or self.longest == 1 else (*made, self.longest)

    def __setstate__(self, longest):
        self.longest = restored(self, (longest,), (whole(1),))[0]

    def go_on_from(self, Problem other not None):
        self.longest = max(self.longest, getattr(other, "longest", 1))

    cdef Py_ssize_t rounds_of_block(self, Rows rows) noexcept:
        return max(1, Problem.rounds_of_block(self, rows) // self.d)

    cdef int check(self, Rows rows, Labels labels) except -1:
        cdef Py_ssize_t i
        Problem.check(self, rows, labels)
        if not isinstance(labels, Relevances):
            raise ValueError(f"labels must be lists of relevances, got {type(labels).__name__}.")
        for i in range(rows.n):
            if (<Relevances> labels).start[i + 1] - (<Relevances> labels).start[i] != rows.size(i) * self.d:
                raise ValueError(f"list {i} must have {rows.size(i) * self.d} relevances.")
        return 0

    def check_lists(self, labels, scores=None):
        """Raise ValueError if labels do not fit the problem.

        They must be lists for the problem, and scores those of their items.
        """
        cdef Relevances lists
        cdef Py_ssize_t i
        if not isinstance(labels, Relevances):
            raise ValueError(f"labels must be lists of relevances, got {type(labels).__name__}.")
        lists = labels
        for i in range(lists.n):
            if self.n_labels > 0 and lists.start[i + 1] - lists.start[i] != self.d:
                raise ValueError(f"every list must have {self.d} relevances.")
        if scores is not None and len(scores) != lists.y.shape[0]:
            raise ValueError(f"there are {len(scores)} scores for {lists.y.shape[0]} items.")

    def prepare(self, Relevances labels not None):
        """Prepare the gains and the positions of the labels; there are as many positions as the longest list has."""
        cdef Py_ssize_t m = labels.longest
        if labels.gain_of is not self:
            gain = self.ranking_loss.gain_table(labels)
            if len(gain) != labels.value.shape[0]:
                raise ValueError(f"{self.ranking_loss!r} must give {labels.value.shape[0]} gains, got {len(gain)}.")
            if m > self.f.shape[0]:
                self.reserve(m)
            self.longest = max(self.longest, m)
            labels.gain = gain
            labels.gain_of = self

    def reserve(self, Py_ssize_t m):
        """Make room for lists of m items."""
        f = self.representation.table(m)
        if len(f) != m:
            raise ValueError(f"{self.representation!r} must give {m} values, got {len(f)}.")
        self.lay_positions(m, f)
        self.square = np.cumsum(np.square(f))
        self.s, self.a = np.empty(m), np.empty(m)
        self.order, self.spare = np.empty(m, dtype=KEYED), np.empty(m, dtype=KEYED)
        self.top, self.bottom = np.empty(m), np.empty(m)
        self.item, self.competitor, self.sigma_y, self.slot = (np.empty(m, dtype=np.intp) for _ in range(4))
        self.top_at, self.bottom_at = np.zeros(m, dtype=np.intp), np.zeros(m, dtype=np.intp)
        self.f = f      # at last: its length says that all others are as long

    def lay_positions(self, Py_ssize_t m, f):
        """Tabulate the loss's values for m positions; f is their decreasing function."""

    # ---------------------------------------------------------------------------------------- parts that a loss defines

    cdef double gain_of(self, Py_ssize_t grade) noexcept nogil:
        """Return the gain of an item of the grade; it is in units of 1 / scale."""
        return self.y.gain[grade]

    cdef double loss(self) noexcept nogil:
        """Return L of the ranking self.item; it is 0 only where the loss finds the ranking in the order of relevance."""
        return 0

    cdef double expected_loss(self) noexcept nogil:
        """Return the expected L over the orders of ties.

        Ties are items of equal scores, given the ranking self.item by self.order.
        """
        return 0

    cdef double least_loss(self) noexcept nogil:
        """Return the least positive loss of the list's rankings: c_L."""
        return 0

    cdef double spread(self, Py_ssize_t n) noexcept nogil:
        """Return D^2 of lists of n items; no two rankings are further apart than one and its reverse."""
        cdef double product = 0
        cdef Py_ssize_t x
        for x in range(n):
            product += self.f[x] * self.f[n - 1 - x]
        return 2 - 2 * product / self.square[n - 1]

    cdef bint infer(self) noexcept nogil:
        """Find the ranking self.item that maximises L + <rep, t>; return False where there is no memory."""
        return False

    cdef double slam_weight(self, Py_ssize_t grade) noexcept nogil:
        """Return the SLAM weight of an item of the grade.

        See Chaudhuri and Tewari (2015), eq. 10 and 11; it is averaged within the grade.
        """
        return 0

    # ------------------------------------------------------------------------------------------------------- the rounds

    cdef bint bind_label(self, const void* y, Py_ssize_t m) noexcept nogil:
        """Set the current list; return whether any ranking of it is wrong."""
        self.y = <const Relevance*> y
        self.n = m * self.d
        self.Z = sqrt(self.square[self.n - 1])
        return self.y.n_grades > 1

    cdef void worst_maximiser_loss(self, const double* t, Round* r, bint again=False) noexcept nogil:
        """Find the worst maximiser of the score as the ranking; fill in its loss."""
        cdef Py_ssize_t x, end, i
        cdef bint tied = False
        self.sort(t, again)
        for x in range(1, self.n):
            tied |= self.order[x].key == self.order[x - 1].key
        x = 0
        while tied and x < self.n:
            end = x + 1
            while end < self.n and self.order[end].key == self.order[x].key:
                end += 1
            if end > x + 1:
                for i in range(x, end):
                    self.order[i].key = self.y.grade[self.order[i].at]
                sort_descending(&self.order[x], &self.spare[0], end - x)
            x = end
        for x in range(self.n):
            self.item[x] = self.order[x].at
        r.loss = self.loss()

    cdef void sort(self, const double* t, bint again) noexcept nogil:
        """Sort the items; the list sorted last is sorted `again` from its present order, which other scores change little."""
        cdef Py_ssize_t i
        for i in range(self.n):
            if not again:
                self.order[i].at = i
            self.order[i].key = t[self.order[i].at]
        sort_descending(&self.order[0], &self.spare[0], self.n)

    cdef void finish_competitor(self, const double* t, Round* r) noexcept nogil:
        """Find sigma_y and the gap to the competitor.

        The competitor is the ranking self.item, or sigma_y where that is no worse.
        """
        cdef Py_ssize_t x, i, g
        cdef double gap = 0
        r.competitor_loss = self.loss()
        for g in range(self.y.n_grades):
            self.slot[g] = self.y.first[g]
        for x in range(self.n):
            i = self.item[x]
            g = self.y.grade[i]
            self.competitor[i] = x
            self.sigma_y[i] = self.slot[g]
            self.slot[g] += 1
            gap += (self.f[x] - self.f[self.sigma_y[i]]) * t[i]
        r.score_gap = gap / self.Z
        if not r.competitor_loss + r.score_gap > 0:
            self.no_competitor(r)

    cdef void no_competitor(self, Round* r) noexcept nogil:
        """Take sigma_y as the competitor."""
        cdef Py_ssize_t i
        r.competitor_loss = r.score_gap = 0
        for i in range(self.n):
            self.competitor[i] = self.sigma_y[i] = 0

    cdef void decode_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        r.loss = r.competitor_loss = 0
        if self.bind_label(y, m):
            self.worst_maximiser_loss(t, r)
            if r.loss > 0:
                self.finish_competitor(t, r)

    cdef void decode_loss(self, double* t, const void* y, Py_ssize_t m, bint again, Round* r) noexcept nogil:
        r.loss = 0
        if self.y.n_grades > 1 if again else self.bind_label(y, m):
            self.worst_maximiser_loss(t, r, again)

    cdef void loss_augmented_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        cdef Py_ssize_t i
        r.loss = r.competitor_loss = 0
        if not self.bind_label(y, m):
            self.no_competitor(r)
            return
        self.worst_maximiser_loss(t, r)
        for i in range(self.n):
            self.s[i] = t[i] / self.Z
            self.a[i] = self.scale * self.gain_of(self.y.grade[i])
        if not self.infer():
            self.failed = True
            return
        self.finish_competitor(t, r)

    cdef void gradient(self, const void* y, Py_ssize_t m, const Round* r, ScoreGradient* g) noexcept nogil:
        cdef Py_ssize_t i
        g.n = self.n
        g.at = NULL
        for i in range(self.n):
            g.value[i] = (self.f[self.competitor[i]] - self.f[self.sigma_y[i]]) / self.Z

    cdef void follow(self) noexcept nogil:
        """Set the ranking to the positions self.competitor.

        That by score stays where the search was cut short and it is better.
        """
        cdef Py_ssize_t i
        cdef double by_score = self.objective() if self.inference.cut_short else -INFINITY
        for i in range(self.n if self.inference.cut_short else 0):
            self.slot[i] = self.item[i]
        for i in range(self.n):
            self.item[self.competitor[i]] = i
        if self.inference.cut_short and by_score > self.objective():
            for i in range(self.n):
                self.item[i] = self.slot[i]

    cdef double objective(self) noexcept nogil:
        """Return L + <rep, t> of the ranking self.item."""
        cdef Py_ssize_t x
        cdef double value = self.loss()
        for x in range(self.n):
            value += self.f[x] * self.s[self.item[x]]
        return value

    cdef void span(self, const double* t) noexcept nogil:
        """Find the best and the worst score of each grade."""
        cdef Py_ssize_t i, g
        for g in range(self.y.n_grades):
            self.top[g], self.bottom[g] = -INFINITY, INFINITY
        for i in range(self.n):
            g = self.y.grade[i]
            if t[i] > self.top[g]:
                self.top[g], self.top_at[g] = t[i], i
            if t[i] < self.bottom[g]:
                self.bottom[g], self.bottom_at[g] = t[i], i

    cdef void widest(self, const double* t, Pair* pair) noexcept nogil:
        """Find the pair furthest from the right order; its items have different grades."""
        cdef Py_ssize_t g, top
        self.span(t)
        top = self.y.n_grades - 1
        pair.ahead = -INFINITY
        pair.high = pair.low = 0
        for g in range(self.y.n_grades - 2, -1, -1):
            if self.top[g + 1] > self.top[top]:
                top = g + 1
            if self.top[top] - self.bottom[g] > pair.ahead:
                pair.high, pair.low = self.bottom_at[g], self.top_at[top]
                pair.ahead = self.top[top] - self.bottom[g]

    def reraise(self):
        self.failed = False
        raise MemoryError("There is no memory for the inference.")

    # ------------------------------------------------------------------------------------------------------ for the faces

    def losses(self, const double[::1] scores, Relevances labels not None):
        """Return the expected L of rankings that sort by scores; items of equal scores are in random order."""
        cdef double[::1] out = np.zeros(labels.n)
        cdef Py_ssize_t i, begin
        self.check_lists(labels, scores)
        self.prepare(labels)
        with nogil:
            for i in range(labels.n):
                begin = labels.start[i]
                if self.bind_label(labels.at(i), (labels.start[i + 1] - begin) // self.d):
                    out[i] = self.loss_of_scores(&scores[begin])
        return np.asarray(out)

    def label_scores(self, scores):
        """Return the scores by which the labels are ranked."""
        return scores

    def least_losses(self, Relevances labels not None):
        """Return the least positive loss for each list; it is infinite where no ranking has one."""
        cdef double[::1] out = np.full(labels.n, np.inf)
        cdef Py_ssize_t i
        self.check_lists(labels)
        self.prepare(labels)
        with nogil:
            for i in range(labels.n):
                if self.bind_label(labels.at(i), (labels.start[i + 1] - labels.start[i]) // self.d):
                    out[i] = self.least_loss()
        return np.asarray(out)

    cdef double loss_of_scores(self, const double* t) noexcept nogil:
        cdef Py_ssize_t x
        cdef bint tied = False
        self.sort(t, False)
        for x in range(self.n):
            self.item[x] = self.order[x].at
            tied |= x > 0 and self.order[x].key == self.order[x - 1].key
        return self.expected_loss() if tied else self.loss()

    cdef Py_ssize_t end_of_tie(self, Py_ssize_t x) noexcept nogil:
        """Return the end of a tie; its items have the same score as that in place x of the order."""
        cdef Py_ssize_t end = x + 1
        while end < self.n and self.order[end].key == self.order[x].key:
            end += 1
        return end

    cdef Py_ssize_t of_grade(self, Py_ssize_t g, Py_ssize_t x, Py_ssize_t end) noexcept nogil:
        """Return how many items x to end have a grade."""
        cdef Py_ssize_t i, count = 0
        for i in range(x, end):
            count += self.y.grade[self.item[i]] == g
        return count

    def margins(self, scores, Relevances labels not None, bint pairwise=False):
        """Return each list's least lead of relevance.

        It is that of a more relevant item over a less relevant one, infinite where there are none.

        Unless `pairwise`, times the least difference of f over neighbouring positions / |f|.
        """
        cdef double[::1] out = np.full(labels.n, np.inf)
        cdef const double[::1] step, t = np.ravel(scores)
        cdef Py_ssize_t i, begin
        cdef Pair pair
        self.check_lists(labels, t)
        self.prepare(labels)
        step = np.minimum.accumulate(np.append(np.inf, -np.diff(self.f)))
        with nogil:
            for i in range(labels.n):
                begin = labels.start[i]
                if self.bind_label(labels.at(i), (labels.start[i + 1] - begin) // self.d):
                    self.widest(&t[begin], &pair)
                    out[i] = -pair.ahead if pairwise else -pair.ahead * step[self.n - 1] / self.Z
        return np.asarray(out)

    def slam_surrogates(self, const double[::1] scores, Relevances labels not None):
        """Return each list's SLAM loss; it is sum_i v_i max(0, 1 + t_k(i) - t_i) (Chaudhuri and Tewari 2015, eq. 9)."""
        cdef double[::1] out = np.zeros(labels.n)
        cdef Py_ssize_t i, begin
        self.check_lists(labels, scores)
        self.prepare(labels)
        with nogil:
            for i in range(labels.n):
                begin = labels.start[i]
                if self.bind_label(labels.at(i), (labels.start[i + 1] - begin) // self.d):
                    out[i] = self.slam_surrogate(&scores[begin])
        return np.asarray(out)

    cdef double slam_surrogate(self, const double* t) noexcept nogil:
        cdef Py_ssize_t i, grade, lowest = self.y.n_grades - 1
        cdef double total = 0
        self.span(t)
        for grade in range(lowest - 1, -1, -1):        # from here on top[grade] is of the grade and all below it
            self.bottom[grade] = self.top[grade + 1]
            self.top[grade] = max(self.top[grade], self.top[grade + 1])
        for i in range(self.n):
            grade = self.y.grade[i]
            if grade < lowest:
                total += self.slam_weight(grade) * max(0.0, 1 + self.bottom[grade] - t[i])
        return total

    @property
    def D2(self):
        """D^2 of lists as long as those so far."""
        cdef RankingProblem own = copy(self)    # with tables of its own: others may be learning, and a saved problem has none
        own.reserve(max(own.longest, own.d))
        lengths = range(2, own.longest + 1) if own.n_labels == 0 else [own.d]
        return max([own.spread(n) for n in lengths if n > 1], default=0.0)

    @property
    def D2_of_pairs(self):
        """Largest |x_i - x_j|^2 / R^2; it is that of documents of length R; of labels, it is |e_i - e_j|^2."""
        return 4.0 if self.n_labels == 0 else 2.0

    @property
    def offers(self):
        of_labels = (RANKED_LABELS,) if self.n_labels > 0 else ()
        return (RANKINGS, *of_labels, *getattr(self.ranking_loss, "offers", ()))

    @property
    def predictions_known(self):
        return True

    @property
    def constants_vary(self):
        return True

    @property
    def sigma_y_varies(self):
        return True

    @property
    def margin_of_pairs(self):
        return True

    def leads(self, Relevances labels not None, bint pairwise, double width):
        self.check_lists(labels)
        return leads_of_pairs(labels, self.n_labels, None if pairwise else self.representation.table, width)

    @property
    def kappa(self):
        return 0.3 if self.score_map.offsets_cancel else 1.0

    @property
    def constants_source(self):
        return "a loss of rankings"
