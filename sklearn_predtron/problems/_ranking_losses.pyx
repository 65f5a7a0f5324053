"""Rankings by losses over positions, and by any error.

The losses are sums over positions, and the indicator of any misplaced item.
"""
from libc.math cimport INFINITY

import numpy as np

from sklearn_predtron.problems._ranking cimport RankingProblem
from sklearn_predtron.problems.inference._sorting cimport sort_descending


cdef class NDCGProblem(RankingProblem):
    """L = 1 - DCG / W.

    DCG sums gain times discount D over the positions, and W is that of the best ranking.

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

    cdef double expected_loss(self) noexcept nogil:
        """Return the loss with the mean gain within ties."""
        cdef Py_ssize_t g = 0, x = 0, end, i, grades, behind = 0
        cdef double short = 0, mean
        cdef bint wrong = False
        while x < self.n:
            end, mean, grades = self.end_of_tie(x), 0, 0
            for i in range(x, end):
                mean += self.level[self.y.grade[self.item[i]]] / (end - x)
                grades += self.y.grade[self.item[i]]
            behind *= end - x
            for i in range(x, end):
                while self.y.first[g + 1] <= i:
                    g += 1
                short += (self.level[g] - mean) * self.D[i]
                behind += grades - g * (end - x)    # expected, times the size of the tie
                wrong |= self.falls[i] & (behind > 0)
            behind //= end - x
            x = end
        return max(0, self.scale * short) if wrong else 0

    cdef double least_loss(self) noexcept nogil:
        """Return the loss of one exchange of neighbouring grades.

        It is across one fall of D; any loss is a sum of such losses.
        """
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
    """L = 1 - AP, for two grades; AP is the mean over the relevant items of the share of relevant ones down to each."""
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

    cdef double expected_loss(self) noexcept nogil:
        """Return the expected loss over ties.

        Of the items of a tie, P relevant, each is relevant with probability P / size, and then (P - 1) / (size - 1).
        """
        cdef Py_ssize_t x = 0, end, i, P, hits = 0
        cdef double short = 0, before
        while x < self.n:
            end = self.end_of_tie(x)
            P = self.of_grade(0, x, end)
            for i in range(x, end):
                if P > 0:
                    before = hits if P == 1 else hits + (i - x) * (P - 1.0) / (end - x - 1)
                    short += (i - before) / (i + 1) * P / (end - x)
            hits += P
            x = end
        return max(0, short) / self.y.first[1]

    cdef double least_loss(self) noexcept nogil:
        """Return the loss if one item is too low; it is the last relevant item, one position too low."""
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
    """L = the share of wrongly ordered pairs; they are pairs of different relevance, for two grades."""
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

    cdef double expected_loss(self) noexcept nogil:
        """Return the loss, with a pair of equal scores half wrong."""
        cdef Py_ssize_t x = 0, end, P, ahead = 0
        cdef double swapped = 0
        while x < self.n:
            end = self.end_of_tie(x)
            P = self.of_grade(0, x, end)
            swapped += P * (ahead + (end - x - P) / 2.0)
            ahead += end - x - P
            x = end
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

    cdef double expected_loss(self) noexcept nogil:
        """Return 1 - the probability that ties are right.

        A tie is right if each place has one of the most relevant items that are left.
        """
        cdef Py_ssize_t x = 0, end, i, g = 0, left
        cdef double right = 1
        for i in range(self.y.n_grades):
            self.slot[i] = 0
        while x < self.n:
            end = self.end_of_tie(x)
            for i in range(x, end):
                self.slot[self.y.grade[self.item[i]]] += 1
            for i in range(x, end):
                while self.y.first[g + 1] <= i:
                    g += 1
                left = self.slot[g]
                if left == 0:
                    return 1
                right *= <double> left / (end - i)
                self.slot[g] -= 1
            x = end
        return 1 - right

    cdef double least_loss(self) noexcept nogil:
        return 1

    cdef bint infer(self) noexcept nogil:
        """Find the order by score, or the best wrong one.

        Where the order by score is right, two neighbours of different grades change places.

        A wrong ranking has, above some border of two grades, other items than the best: its score is lower by at least the
        cost of the exchange across that border.
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
