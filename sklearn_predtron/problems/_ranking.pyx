"""Rankings of lists of items: a query's documents, or the labels of a row."""
from libc.math cimport INFINITY, sqrt

from copy import copy

import numpy as np

from sklearn_predtron.problems.inference._loss_augmented cimport Inference
from sklearn_predtron._core.score_map cimport QueryMap, ScoreMap
from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.problem cimport Labels, Problem, Round
from sklearn_predtron.problems._relevance cimport Relevance, Relevances
from sklearn_predtron._core.rows cimport Rows
from sklearn_predtron.problems.inference._sorting cimport sort_descending

from sklearn_predtron.problems.inference._sorting import KEYED
from sklearn_predtron._core.state import MOST, restored, whole
from sklearn_predtron._support.parts import RANKED_LABELS, RANKINGS
from sklearn_predtron.problems._leads import leads_of_pairs


cdef class RankingProblem(Problem):
    """All rankings of a list, rep(sigma)_i = f(position of i) / |f| for a decreasing f (Jain et al. 2015, sections 4 and 6).

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
        """Raise ValueError where labels are no lists for the problem, or scores are not those of their items."""
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
        """Find the gains of the labels, and as many positions as the longest list has."""
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
        """Tabulate what the loss needs to know of m positions; f is of them."""

    # ---------------------------------------------------------------------------------------------- what a loss defines

    cdef double gain_of(self, Py_ssize_t grade) noexcept nogil:
        """The gain of an item of the grade, in units of 1 / scale."""
        return self.y.gain[grade]

    cdef double loss(self) noexcept nogil:
        """L of the ranking self.item, 0 only where it is in the order of relevance as far as the loss looks."""
        return 0

    cdef double least_loss(self) noexcept nogil:
        """The least positive loss of a ranking of the list: c_L."""
        return 0

    cdef double spread(self, Py_ssize_t n) noexcept nogil:
        """D^2 of lists of n items: no two rankings are further apart than one and its reverse."""
        cdef double product = 0
        cdef Py_ssize_t x
        for x in range(n):
            product += self.f[x] * self.f[n - 1 - x]
        return 2 - 2 * product / self.square[n - 1]

    cdef bint infer(self) noexcept nogil:
        """Find the ranking self.item that maximises L + <rep, t>; False where there is no memory."""
        return False

    cdef double slam_weight(self, Py_ssize_t grade) noexcept nogil:
        """The weight of an item of the grade in SLAM (Chaudhuri and Tewari 2015, eq. 10 and 11, averaged within the grade)."""
        return 0

    # ------------------------------------------------------------------------------------------------------- the rounds

    cdef bint bind_label(self, const void* y, Py_ssize_t m) noexcept nogil:
        """Turn to a list; whether any ranking of it is wrong."""
        self.y = <const Relevance*> y
        self.n = m * self.d
        self.Z = sqrt(self.square[self.n - 1])
        return self.y.n_grades > 1

    cdef void worst_maximiser_loss(self, const double* t, Round* r, bint again=False) noexcept nogil:
        """The loss of the worst maximiser of the score, which becomes the ranking."""
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
        """Sort the items; the list sorted last `again` from the order it is in, which other scores change little."""
        cdef Py_ssize_t i
        for i in range(self.n):
            if not again:
                self.order[i].at = i
            self.order[i].key = t[self.order[i].at]
        sort_descending(&self.order[0], &self.spare[0], self.n)

    cdef void finish_competitor(self, const double* t, Round* r) noexcept nogil:
        """Find sigma_y and the gap to the competitor, the ranking self.item; or take sigma_y where that is no worse."""
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
        """The competitor is sigma_y."""
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
        """The ranking with the positions self.competitor."""
        cdef Py_ssize_t i
        for i in range(self.n):
            self.item[self.competitor[i]] = i

    cdef void span(self, const double* t) noexcept nogil:
        """The best and the worst score of each grade."""
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
        """The pair of different grades that is furthest from the right order."""
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
        """L of the rankings that sort the lists by their scores, those of equal scores in the order they are in."""
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
        """The scores by which the labels are ranked."""
        return scores

    def least_losses(self, Relevances labels not None):
        """The least positive loss of a ranking of each list, infinite where there is none."""
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
        self.sort(t, False)
        for x in range(self.n):
            self.item[x] = self.order[x].at
        return self.loss()

    def margins(self, scores, Relevances labels not None, bint pairwise=False):
        """The least lead of a more relevant item over a less relevant one in each list, infinite where there are none.

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
        """sum_i v_i max(0, 1 + t_k(i) - t_i) of each list (Chaudhuri and Tewari 2015, eq. 9)."""
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
        """|x_i - x_j|^2 / R^2 at most: of documents of length R, and of labels, |e_i - e_j|^2."""
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


cdef class NDCGProblem(RankingProblem):
    """L = 1 - DCG / W, where DCG sums gain times discount D over the positions, and W is that of the best ranking.

    For any decreasing f the competitor is found by chains of items; where f = D by one sort.
    """
    cdef double[::1] D, total     # D of the positions, and the sums of D before each
    cdef unsigned char[::1] falls  # whether D falls behind a position
    cdef double[::1] level        # gains of the grades, relative to the highest
    cdef bint f_is_D              # f = D

    def lay_positions(self, Py_ssize_t m, f):
        D = self.ranking_loss.discount_table(m)
        if len(D) != m:
            raise ValueError(f"{self.ranking_loss!r} must give {m} discounts, got {len(D)}.")
        self.level = np.empty(m)
        self.D = D / D[0]
        self.total = np.append(0.0, np.cumsum(self.D))
        self.falls = (np.diff(self.D, append=0.0) < 0).astype(np.uint8)
        self.f_is_D = np.array_equal(self.D, f)

    cdef bint bind_label(self, const void* y, Py_ssize_t m) noexcept nogil:
        cdef double W = 0
        cdef Py_ssize_t g
        if not RankingProblem.bind_label(self, y, m):
            return False
        for g in range(self.y.n_grades):
            self.level[g] = self.y.gain[g] / self.y.gain[0]
            W += self.level[g] * (self.total[self.y.first[g + 1]] - self.total[self.y.first[g]])
        self.scale = 1 / W
        return True

    cdef double gain_of(self, Py_ssize_t grade) noexcept nogil:
        return self.level[grade]

    cdef double loss(self) noexcept nogil:
        cdef Py_ssize_t g, x, here, behind = 0
        cdef double short = 0
        cdef bint wrong = False
        for g in range(self.y.n_grades):
            for x in range(self.y.first[g], self.y.first[g + 1]):
                here = self.y.grade[self.item[x]]
                short += (self.level[g] - self.level[here]) * self.D[x]
                behind += here - g          # 0 where the best items are in front
                wrong |= self.falls[x] & (behind > 0)
        return max(0, self.scale * short) if wrong else 0

    cdef double least_loss(self) noexcept nogil:
        """That of exchanging two items of neighbouring grades across one fall of D, of which any loss is a sum."""
        cdef Py_ssize_t x, grade = 0, begin = 0, end
        cdef double gain, least = INFINITY
        for x in range(self.n - 1):
            while self.y.first[grade + 1] <= x:
                grade += 1
            if not self.falls[x]:
                continue
            gain, end = INFINITY, x + 2
            while end < self.n and not self.falls[end - 1]:     # D is constant from begin on, and from x + 1
                end += 1
            if self.y.first[grade + 1] < end:
                gain = self.level[grade] - self.level[grade + 1]
            if self.y.first[grade] > begin and self.y.first[grade + 1] > x + 1:
                gain = min(gain, self.level[grade - 1] - self.level[grade])
            least = min(least, gain * (self.D[x] - self.D[x + 1]))
            begin = x + 1
        return self.scale * least

    cdef bint infer(self) noexcept nogil:
        cdef Py_ssize_t x
        if self.f_is_D:
            for x in range(self.n):     # from the order by score: it is sorted in great part
                self.order[x].at = self.item[x]
                self.order[x].key = self.s[self.item[x]] - self.a[self.item[x]]
            sort_descending(&self.order[0], &self.spare[0], self.n)
            for x in range(self.n):
                self.item[x] = self.order[x].at
            return True
        if not self.inference.solve(&self.s[0], &self.a[0], &self.f[0], &self.D[0], self.n, &self.competitor[0]):
            return False
        self.follow()
        return True

    cdef double slam_weight(self, Py_ssize_t grade) noexcept nogil:
        cdef Py_ssize_t first = self.y.first[grade], end = self.y.first[grade + 1]
        return self.scale * self.level[grade] * (self.total[end] - self.total[first]) / (end - first)


cdef class AveragePrecisionProblem(RankingProblem):
    """L = 1 - AP, the mean over the relevant items of the share of relevant ones down to each; two grades."""
    cdef unsigned char[::1] relevant

    def lay_positions(self, Py_ssize_t m, f):
        self.relevant = np.empty(m, dtype=np.uint8)

    cdef double loss(self) noexcept nogil:
        cdef Py_ssize_t x, hits = 0, P = self.y.first[1]
        cdef double short = 0
        for x in range(self.n):
            if self.y.grade[self.item[x]] == 0:
                hits += 1
                short += <double> (x + 1 - hits) / (x + 1)
        return short / P

    cdef double least_loss(self) noexcept nogil:
        """That of the last relevant item one position too low."""
        return 1 / (self.y.first[1] * (self.y.first[1] + 1.0))

    cdef bint infer(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.n):
            self.relevant[i] = self.y.grade[i] == 0
        if not self.inference.solve_precision(&self.s[0], &self.relevant[0], &self.f[0], self.n, 1, &self.competitor[0]):
            return False
        self.follow()
        return True

    cdef double slam_weight(self, Py_ssize_t grade) noexcept nogil:
        return 1.0 / self.y.first[1] if grade == 0 else 0


cdef class SwappedPairsProblem(RankingProblem):
    """L = the share of pairs of different relevance that are in the wrong order; two grades."""
    cdef double[::1] D

    def lay_positions(self, Py_ssize_t m, f):
        self.D = -np.arange(m, dtype=np.float64)

    cdef bint bind_label(self, const void* y, Py_ssize_t m) noexcept nogil:
        if not RankingProblem.bind_label(self, y, m):
            return False
        self.scale = 1.0 / self.y.pairs
        return True

    cdef double loss(self) noexcept nogil:
        cdef Py_ssize_t x, ahead = 0, swapped = 0
        for x in range(self.n):
            if self.y.grade[self.item[x]] > 0:
                ahead += 1
            else:
                swapped += ahead
        return self.scale * swapped

    cdef double least_loss(self) noexcept nogil:
        return self.scale

    cdef bint infer(self) noexcept nogil:
        if not self.inference.solve(&self.s[0], &self.a[0], &self.f[0], &self.D[0], self.n, &self.competitor[0]):
            return False
        self.follow()
        return True


cdef class RankingZeroOneProblem(RankingProblem):
    """L = 1 where any item is below a less relevant one."""

    def __init__(self, Py_ssize_t n_labels, representation, ranking_loss):
        RankingProblem.__init__(self, n_labels, representation, ranking_loss)
        self.c_L = 1

    cdef double loss(self) noexcept nogil:
        cdef Py_ssize_t x
        for x in range(1, self.n):
            if self.y.grade[self.item[x]] < self.y.grade[self.item[x - 1]]:
                return 1
        return 0

    cdef double least_loss(self) noexcept nogil:
        return 1

    cdef bint infer(self) noexcept nogil:
        """The order by score, or where it is right the best wrong one: two neighbours of different grades change places.

        A wrong ranking has, above some border of two grades, other items than the best: it scores less by at least what the
        exchange across that border costs.
        """
        cdef Py_ssize_t g, x, border = 0
        cdef double cost, least = INFINITY
        if self.loss() > 0:
            return True
        for g in range(1, self.y.n_grades):
            x = self.y.first[g]
            cost = (self.f[x - 1] - self.f[x]) * (self.s[self.item[x - 1]] - self.s[self.item[x]])
            if cost < least:
                least, border = cost, x
        self.item[border - 1], self.item[border] = self.item[border], self.item[border - 1]
        return True
