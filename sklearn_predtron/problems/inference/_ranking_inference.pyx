"""Exact loss-augmented inference for rankings.

It takes little longer than a sort.

The ranking that maximises sum_i f(pos_i) s_i - D(pos_i) a_i.  Summed by parts over the gaps between neighbouring positions, an
item that stands before gap x earns val_x = df[x] s - dD[x] a.  Items fall into chains, within which the order is known (items of
one grade: by score); how many of each chain stand before each gap is then a flow with concave gains, one lane for each chain.
"""
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

import numpy as np

from sklearn_predtron.problems.inference._residual cimport ResidualNetwork, cancel_cycles, start_sweeps, relax_sweep
from sklearn_predtron.problems.inference._sorting cimport Keyed, sort_descending

cdef enum:
    SWEEPS = 1000               # that the search takes at most, over all positions and chains
    MOST_WORK = 30000000        # steps of a search at most: below a tenth of a second
    SHORT = 256                 # items that are assigned in cubic time, within as many steps

cdef double FAR = 1e100     # stands for infinity, so that 0 * FAR is 0


cdef inline size_t rounded(size_t size) noexcept nogil:
    return (size + 63) // 64 * 64


cdef class Inference:
    """Solver for one ranking after the other; its memory grows with the longest."""

    def __dealloc__(self):
        free(self.memory)
        free(self.lanes_memory)

    cdef bint reserve(self, Py_ssize_t m) noexcept nogil:
        """Allocate the arrays for m items; return False where there is no memory."""
        cdef size_t line = rounded((m + 1) * sizeof(double)), pair = rounded((m + 1) * sizeof(Keyed))
        cdef size_t needed = 12 * line + 2 * pair
        cdef char* slot
        self.m = m
        self.failed = self.cut_short = False
        if needed > self.size:
            free(self.memory)
            self.memory = <char*> malloc(needed)
            self.size = 0 if self.memory == NULL else needed
            if self.memory == NULL:
                self.failed = True
                return False
        slot = self.memory
        self.df = <double*> slot
        self.dD = <double*> (slot + line)
        self.curve = <double*> (slot + 2 * line)
        self.s = <double*> (slot + 3 * line)
        self.a = <double*> (slot + 4 * line)
        self.tail = <double*> (slot + 5 * line)
        self.item = <Py_ssize_t*> (slot + 6 * line)
        self.chain = <Py_ssize_t*> (slot + 7 * line)
        self.start = <Py_ssize_t*> (slot + 8 * line)
        self.label = <Py_ssize_t*> (slot + 9 * line)
        self.low = <Py_ssize_t*> (slot + 10 * line)
        self.high = <Py_ssize_t*> (slot + 11 * line)
        self.first = <Keyed*> (slot + 12 * line)
        self.spare = <Keyed*> (slot + 12 * line + pair)
        return True

    cdef char* lanes_room(self, size_t size) noexcept nogil:
        """Allocate memory for a part of the search; it is NULL where there is none."""
        if size > self.lanes_size:
            free(self.lanes_memory)
            self.lanes_memory = <char*> malloc(size)
            self.lanes_size = 0 if self.lanes_memory == NULL else size
            self.failed |= self.lanes_memory == NULL
        return self.lanes_memory

    # ---------------------------------------------------------------------------------------------------------- chains

    cdef bint solve(self, const double* s, const double* a, const double* f, const double* D, Py_ssize_t m,
                    Py_ssize_t* position) noexcept nogil:
        """Find the position of each item, from 0.

        Return False where there is no memory.

        The work is bounded: where the search would take longer, `cut_short` says that the best ranking so far is returned.
        f must not increase, and where it is flat D must not either; s, a, f and D are finite.
        """
        cdef Py_ssize_t x
        cdef double least_s = s[0], most_s = s[0], least_a = a[0], most_a = a[0], least_D = D[0], most_D = D[0]
        if not self.reserve(m):
            return False
        self.f = f
        self.D = D
        for x in range(m):
            least_s, most_s = min(least_s, s[x]), max(most_s, s[x])
            least_a, most_a = min(least_a, a[x]), max(most_a, a[x])
            least_D, most_D = min(least_D, D[x]), max(most_D, D[x])
            self.curve[x] = 0
            if x + 1 < m:
                self.df[x] = f[x] - f[x + 1]
                self.dD[x] = D[x] - D[x + 1]
        self.eps = 1e-12 * ((most_s - least_s) * (f[0] - f[m - 1]) + (most_a - least_a) * (most_D - least_D))
        self.find_chains(s, a)
        self.lay_chains(s, a)
        if self.n_chains == 1:
            for x in range(m):
                self.label[x] = 0
        elif self.n_chains == 2:
            if not self.two_chains():
                return False
        elif not self.lanes():
            if self.failed or m <= SHORT:
                return not self.failed and self.dense(s, a, position)
            self.cut_short = True
        self.slot(position)
        return True

    cdef bint find_chains(self, const double* s, const double* a) noexcept nogil:
        """Cover the items by the fewest chains.

        i comes before j in a chain if val_x(i) >= val_x(j) at the two extreme gaps.

        (df, dD) lies in a cone, so the extreme gaps speak for all.
        """
        cdef Py_ssize_t x, i, j, g, lo = -1, hi = -1, low, high
        cdef double scale_lo = 1, scale_hi = 1, key
        cdef bint level = True
        cdef Keyed one
        for x in range(self.m - 1):
            if self.df[x] == 0 and self.dD[x] == 0:
                continue
            if lo < 0:
                lo = hi = x
            if self.dD[x] * self.df[lo] < self.dD[lo] * self.df[x]:
                lo = x
            if self.dD[x] * self.df[hi] > self.dD[hi] * self.df[x]:
                hi = x
        for i in range(self.m):
            level &= a[i] == a[0]
            self.chain[i] = 0
            self.first[i].at = i
            self.first[i].key = 0
        self.n_chains = 1
        if lo < 0:
            return True
        scale_lo = fabs(self.df[lo]) + fabs(self.dD[lo])
        scale_hi = fabs(self.df[hi]) + fabs(self.dD[hi])
        for i in range(self.m):
            self.first[i].key = (self.df[lo] * s[i] - self.dD[lo] * a[i]) / scale_lo
        sort_descending(self.first, self.spare, self.m)
        if level or (fabs(self.df[lo] * self.dD[hi] - self.dD[lo] * self.df[hi]) <= 1e-15 * scale_lo * scale_hi
                     and self.df[lo] * self.df[hi] + self.dD[lo] * self.dD[hi] > 0):
            return True
        i = 0
        while i < self.m:      # items of the same key by the other one
            j = i + 1
            while j < self.m and self.first[j].key == self.first[i].key:
                j += 1
            if j > i + 1:
                key = self.first[i].key
                for x in range(i, j):
                    self.first[x].key = self.df[hi] * s[self.first[x].at] - self.dD[hi] * a[self.first[x].at]
                sort_descending(self.first + i, self.spare, j - i)
                for x in range(i, j):
                    self.first[x].key = key
            i = j
        self.n_chains = 0
        for x in range(self.m):
            one = self.first[x]
            key = (self.df[hi] * s[one.at] - self.dD[hi] * a[one.at]) / scale_hi
            low, high = 0, self.n_chains
            while low < high:
                g = (low + high) // 2
                if self.tail[g] < key:
                    low = g + 1
                else:
                    high = g
            self.tail[low] = key
            self.chain[x] = low
            self.n_chains += low == self.n_chains
        return True

    cdef void lay_chains(self, const double* s, const double* a) noexcept nogil:
        """Arrange the items chain after chain, each in its order."""
        cdef Py_ssize_t x, g, at
        for g in range(self.n_chains + 1):
            self.start[g] = 0
        for x in range(self.m):
            self.start[self.chain[x] + 1] += 1
        for g in range(self.n_chains):
            self.start[g + 1] += self.start[g]
            self.low[g] = self.start[g]
        for x in range(self.m):
            at = self.low[self.chain[x]]
            self.low[self.chain[x]] += 1
            self.item[at] = self.first[x].at
            self.s[at] = s[self.first[x].at]
            self.a[at] = a[self.first[x].at]

    cdef void slot(self, Py_ssize_t* position) noexcept nogil:
        """Assign positions to the next items of their chains."""
        cdef Py_ssize_t x, g
        for g in range(self.n_chains):
            self.low[g] = self.start[g]
        for x in range(self.m):
            g = self.label[x]
            position[self.item[self.low[g]]] = x
            self.low[g] += 1

    # ------------------------------------------------------------------------------------------- two chains, and precision

    cdef bint solve_precision(self, const double* s, const unsigned char* y, const double* f, Py_ssize_t m, double weight,
                              Py_ssize_t* position) noexcept nogil:
        """Maximise sum_i f(pos_i) s_i - weight AP; the items of y, and the others, are two chains by score."""
        cdef Py_ssize_t x, P = 0
        if not self.reserve(m):
            return False
        for x in range(m):
            P += y[x]
            self.first[x].key = s[x]
            self.first[x].at = x
        sort_descending(self.first, self.spare, m)
        for x in range(m):
            self.chain[x] = 1 - y[self.first[x].at] if 0 < P < m else 0
            self.curve[x] = weight / (P * (x + 1) * <double> (x + 2)) if P > 0 else 0
            self.dD[x] = 0
            if x + 1 < m:
                self.df[x] = f[x] - f[x + 1]
        self.n_chains = 2 if 0 < P < m else 1
        self.lay_chains(s, s)
        if self.n_chains == 2:
            if not self.two_chains():
                return False
        else:
            for x in range(m):
                self.label[x] = 0
        self.slot(position)
        return True

    cdef inline double gain(self, Py_ssize_t x, Py_ssize_t n) noexcept nogil:
        """Return the gain of n + 1 over n items; the items are of the first chain among the first x; the gain falls with n."""
        cdef Py_ssize_t other = self.start[1] + x - n - 1
        return (self.df[x - 1] * (self.s[n] - self.s[other]) - self.dD[x - 1] * (self.a[n] - self.a[other])
                - self.curve[x - 1] * (n + 1))

    cdef bint two_chains(self) noexcept nogil:
        """Find the best path for two chains.

        The best numbers n(x) of the first chain before each gap lie between the least and the largest feasible path around each
        gap's own best: a search within that band is exact.
        """
        cdef Py_ssize_t x, n = 0, P = self.start[1], N = self.m - self.start[1], least, most, begin
        self.work = 0
        self.low[0] = 0
        self.low[self.m] = P
        for x in range(1, self.m):
            least, most = max(0, x - N), min(x, P)
            n = max(n, least)
            if n < most and self.gain(x, n) > 0:
                n = self.climb(x, n, most)
            elif n > least and self.gain(x, n - 1) < 0:
                n = self.descend(x, n - 1, least)
            self.low[x] = n
        for x in range(self.m + 1):
            self.high[x] = self.low[x]
        for x in range(1, self.m + 1):
            self.high[x] = max(self.high[x], self.high[x - 1])
        for x in range(self.m - 1, -1, -1):
            self.high[x] = max(self.high[x], self.high[x + 1] - 1)
            self.low[x] = min(self.low[x], self.low[x + 1])
        for x in range(1, self.m + 1):
            self.low[x] = min(self.low[x], self.low[x - 1] + 1)
        for x in range(self.m):
            self.label[x] = 0 if self.low[x + 1] > self.low[x] else 1
        begin = 0
        for x in range(1, self.m + 1):
            if self.high[x] == self.low[x]:
                if x - begin > 1 and not self.band(begin, x):
                    return False
                begin = x
        return True

    cdef Py_ssize_t climb(self, Py_ssize_t x, Py_ssize_t n, Py_ssize_t most) noexcept nogil:
        """Return the first number above n without a gain; n has a gain; return `most` if all have."""
        cdef Py_ssize_t step = 1, high = min(most, n + 1), middle
        while high < most and self.gain(x, high) > 0:
            n = high
            step *= 2
            high = min(most, n + step)
        while high - n > 1:
            middle = (n + high) // 2
            if self.gain(x, middle) > 0:
                n = middle
            else:
                high = middle
        return high

    cdef Py_ssize_t descend(self, Py_ssize_t x, Py_ssize_t n, Py_ssize_t least) noexcept nogil:
        """Return the first number with a loss; n is one with a loss."""
        cdef Py_ssize_t step = 1, low = max(least, n - 1), middle
        while n > least and self.gain(x, low) < 0:
            n = low
            step *= 2
            low = max(least, n - step)
        while n - low > 1:
            middle = (low + n) // 2
            if self.gain(x, middle) < 0:
                n = middle
            else:
                low = middle
        return n

    cdef bint band(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """Find the best path between two known prefixes."""
        cdef Py_ssize_t x, n, cells = 0, width = 1, offset
        cdef double total, best, stay, take
        cdef double *before
        cdef double *now
        cdef char *taken
        for x in range(begin + 1, end + 1):
            cells += self.high[x] - self.low[x] + 1
            width = max(width, self.high[x] - self.low[x] + 1)
        self.work += cells
        if self.work > MOST_WORK:
            self.cut_short = True       # the least path stays
            return True
        before = <double*> self.lanes_room(2 * (width + 1) * sizeof(double) + cells)
        if before == NULL:
            return False
        now = before + width + 1
        taken = <char*> (now + width + 1)
        before[0] = 0
        offset = 0
        for x in range(begin + 1, end + 1):
            total = 0
            for n in range(self.low[x], self.high[x] + 1):
                stay = before[n - self.low[x - 1]] if self.low[x - 1] <= n <= self.high[x - 1] else -FAR
                take = before[n - 1 - self.low[x - 1]] if self.low[x - 1] <= n - 1 <= self.high[x - 1] else -FAR
                best = take if take > stay else stay
                taken[offset + n - self.low[x]] = take > stay
                now[n - self.low[x]] = best + total
                if n < self.high[x]:
                    total += self.gain(x, n)
            offset += self.high[x] - self.low[x] + 1
            before, now = now, before
        n = self.low[end]
        for x in range(end, begin, -1):
            offset -= self.high[x] - self.low[x] + 1
            self.label[x - 1] = 1
            if taken[offset + n - self.low[x]]:
                self.label[x - 1] = 0
                n -= 1
        return True

    # ----------------------------------------------------------------------------------------------------- three and more

    cdef void greedy(self) noexcept nogil:
        """Find a start near the best; each position goes to the chain whose next item earns most at the gap behind it."""
        cdef Py_ssize_t x, y, g, best
        cdef double value, most
        for g in range(self.n_chains):
            self.low[g] = self.start[g]
        for x in range(self.m):
            y = min(x, self.m - 2)
            best = -1
            most = -INFINITY
            for g in range(self.n_chains):
                if self.low[g] < self.start[g + 1]:
                    value = self.df[y] * self.s[self.low[g]] - self.dD[y] * self.a[self.low[g]]
                    if value > most:
                        best, most = g, value
            self.label[x] = best
            self.low[best] += 1

    cdef bint lanes(self) noexcept nogil:
        """Cancel cycles of positive gain in the residual network.

        Return False where it takes too long to cancel all of them.

        Each cycle that is cancelled makes the ranking better, so that it is the best so far at any time.
        """
        cdef ResidualNetwork lanes
        cdef Py_ssize_t m = self.m, G = self.n_chains, cells = m * G, sweep, x, budget = min(SWEEPS * cells, MOST_WORK)
        cdef bint begun = False
        cdef size_t doubles = 4 * cells + 2 * m + 6 * G
        cdef size_t numbers = 2 * m
        cdef char* slot = self.lanes_room(
            doubles * sizeof(double) + cells * sizeof(int64_t) + numbers * sizeof(Py_ssize_t) + 2 * m)
        if slot == NULL:
            return False
        lanes.m, lanes.G, lanes.eps, lanes.label = m, G, self.eps, self.label
        lanes.last = <double*> slot
        lanes.next = lanes.last + cells
        lanes.reach = lanes.next + cells
        lanes.origin = lanes.reach + cells
        lanes.height = lanes.origin + cells
        lanes.middle = lanes.height + m
        lanes.heads = lanes.middle + m
        lanes.colour = <int64_t*> (lanes.heads + 6 * G)
        lanes.hub = <Py_ssize_t*> (lanes.colour + cells)
        lanes.move = lanes.hub + m
        lanes.from_left = <char*> (lanes.move + m)
        lanes.from_right = lanes.from_left + m
        memset(lanes.colour, 0, cells * sizeof(int64_t))
        lanes.walk = lanes.work = 0
        self.greedy()
        while lanes.work <= budget:
            if not self.price(&lanes):
                return True                     # the best sets before each gap are nested
            if not begun:
                lanes.height[0] = 0
                for x in range(1, m):
                    lanes.height[x] = lanes.height[x - 1] - lanes.middle[x - 1]
            begun = True
            start_sweeps(&lanes)
            lanes.work += 2 * cells
            sweep = 0
            while lanes.work <= budget:
                if not relax_sweep(&lanes, sweep % 2 == 0) and sweep > 0:
                    return True                 # the reaches are dual prices
                if sweep > 0 and cancel_cycles(&lanes):
                    break
                sweep += 1
        return False

    cdef bint price(self, ResidualNetwork* lanes) noexcept nogil:
        """Fill in the values of items beside the gaps.

        There are values for each lane.  Return whether any pair should change places.
        """
        cdef Py_ssize_t x, g, G = lanes.G
        cdef double df, dD, most, least
        cdef bint wanting = False
        cdef double *last_s = lanes.heads
        cdef double *last_a = lanes.heads + G
        cdef double *last_far = lanes.heads + 2 * G
        cdef double *next_s = lanes.heads + 3 * G
        cdef double *next_a = lanes.heads + 4 * G
        cdef double *next_far = lanes.heads + 5 * G
        cdef double *last
        cdef double *following
        for g in range(G):
            self.low[g] = self.start[g]
            last_s[g] = last_a[g] = next_far[g] = 0
            last_far[g] = FAR
            next_s[g] = self.s[self.start[g]]
            next_a[g] = self.a[self.start[g]]
        for x in range(lanes.m - 1):
            g = lanes.label[x]
            last_s[g], last_a[g], last_far[g] = next_s[g], next_a[g], 0
            self.low[g] += 1
            if self.low[g] < self.start[g + 1]:
                next_s[g], next_a[g] = self.s[self.low[g]], self.a[self.low[g]]
            else:
                next_s[g], next_a[g], next_far[g] = 0, 0, -FAR
            df, dD = self.df[x], self.dD[x]
            last, following = lanes.last + x * G, lanes.next + x * G
            for g in range(G):
                last[g] = df * last_s[g] - dD * last_a[g] + last_far[g]
                following[g] = df * next_s[g] - dD * next_a[g] + next_far[g]
            least, most = last[0], following[0]
            for g in range(1, G):
                least = last[g] if last[g] < least else least
                most = following[g] if following[g] > most else most
            wanting |= most > least + lanes.eps
            lanes.middle[x] = least if most < -FAR / 2 else most if least > FAR / 2 else (least + most) / 2
        return wanting

    # ------------------------------------------------------------------------------------------------------- safety net

    cdef bint dense(self, const double* s, const double* a, Py_ssize_t* position) noexcept nogil:
        """Solve the assignment problem in O(m^3) by shortest augmenting paths."""
        cdef Py_ssize_t m = self.m, i, j, row, column, best
        cdef double cost, delta
        cdef double *u = <double*> self.lanes_room((3 * (m + 1)) * sizeof(double) + 2 * (m + 1) * sizeof(Py_ssize_t) + m + 1)
        cdef double *v
        cdef double *least
        cdef Py_ssize_t *owner
        cdef Py_ssize_t *way
        cdef char *used
        if u == NULL:
            return False
        v, least = u + m + 1, u + 2 * (m + 1)
        owner = <Py_ssize_t*> (least + m + 1)
        way = owner + m + 1
        used = <char*> (way + m + 1)
        for j in range(m + 1):
            u[j] = v[j] = 0
            owner[j] = 0
        for i in range(1, m + 1):
            owner[0] = i
            column = 0
            for j in range(m + 1):
                least[j] = INFINITY
                used[j] = False
            while True:
                used[column] = True
                row = owner[column]
                delta = INFINITY
                best = 0
                for j in range(1, m + 1):
                    if used[j]:
                        continue
                    cost = self.D[j - 1] * a[row - 1] - self.f[j - 1] * s[row - 1] - u[row] - v[j]
                    if cost < least[j]:
                        least[j] = cost
                        way[j] = column
                    if least[j] < delta:
                        delta = least[j]
                        best = j
                for j in range(m + 1):
                    if used[j]:
                        u[owner[j]] += delta
                        v[j] -= delta
                    else:
                        least[j] -= delta
                column = best
                if owner[column] == 0:
                    break
            while column != 0:
                owner[column] = owner[way[column]]
                column = way[column]
        for j in range(1, m + 1):
            position[owner[j] - 1] = j - 1
        return True

    # ---------------------------------------------------------------------------------------------------------- from Python

    def positions(self, const double[::1] s, const double[::1] a, const double[::1] f, const double[::1] D, bint dense=False):
        """Return the best position of each item, from 0."""
        cdef Py_ssize_t[::1] position = np.empty(s.shape[0], dtype=np.intp)
        cdef bint done
        if s.shape[0] == 0:
            return np.asarray(position)
        done = self.solve(&s[0], &a[0], &f[0], &D[0], s.shape[0], &position[0])
        if done and dense:
            done = self.dense(&s[0], &a[0], &position[0])
        if not done:
            raise MemoryError
        return np.asarray(position)

    @property
    def was_cut_short(self):
        """Whether the last search ended early; the positions that it returned were not known to be the best."""
        return self.cut_short

    def positions_for_precision(self, const double[::1] s, const unsigned char[::1] y, const double[::1] f, double weight=1.0):
        """Return the best positions for 1 - average precision."""
        cdef Py_ssize_t[::1] position = np.empty(s.shape[0], dtype=np.intp)
        if s.shape[0] > 0 and not self.solve_precision(&s[0], &y[0], &f[0], s.shape[0], weight, &position[0]):
            raise MemoryError
        return np.asarray(position)
