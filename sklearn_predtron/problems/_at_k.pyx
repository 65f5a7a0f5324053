"""Sets with a prescribed size; they have exactly k labels, at least k or at most k."""
from libc.math cimport INFINITY, rint

from sklearn_predtron._core.problem cimport Labels, Round
from sklearn_predtron.problems.inference._sorting cimport Keyed, sort_descending
from sklearn_predtron.problems._label_sets cimport IndicatorBlocks, LabelSets


cdef class AtKProblem(LabelSets):
    """Sets of exactly k labels.

    L = the share of them that is wrong; or, for `recall`, the share of y's labels that is missing.

    If `loose`, those of at least k labels, or for `recall` of at most k.  k below 1 is a share of the labels, rounded, 1 at
    least, and k = 0 as many as y has.  sigma_y is the best-scored of the sets that lose least; losses are counted from theirs,
    which is reported as r.unavoidable_loss.
    """
    cdef readonly double k
    cdef readonly bint recall, loose
    cdef public double share            # of labels that are on: the prediction of k = 0

    def __init__(self, Py_ssize_t m, double k, bint recall, bint loose=False):
        LabelSets.__init__(self, m)
        if not (0 <= k < 1 or (k == rint(k) and (m == 0 or k <= m))):
            raise ValueError(f"k={k:g} must be at least 1 and at most {m}, or a share below 1.")
        self.k = k
        self.recall = recall
        self.loose = loose
        size = self.size(self.d)
        least = 1 / <double> (self.d if recall or loose else max(size, 1))
        if loose and not recall and 1 < size < m:      # all of y's few labels, among k or among k + 1
            least = min(least, 1 / <double> (size * (size + 1)))
        self.state_constants(least, 1)

    def parameters(self):
        return self.k, self.recall, self.loose

    def prepare(self, Labels labels not None):
        """Allocate memory for the longest batch; raise ValueError for a batch of fewer than k rows."""
        cdef Py_ssize_t i, size
        LabelSets.prepare(self, labels)
        if self.n_labels > 0 or self.k < 1 or (self.recall and self.loose):
            return
        for i in range(labels.n):
            size = (<IndicatorBlocks> labels).size(i)
            if size < self.k:
                raise ValueError(
                    f"{'Recall' if self.recall else 'Precision'}AtK(k={self.k:g}) predicts {self.k:g} rows of each group or "
                    f"batch; number {i} has {size}.")

    @property
    def no_theorem_because(self):
        return "losses at k, whose sigma_y depends on the scores"

    cdef inline Py_ssize_t size(self, Py_ssize_t n) noexcept nogil:
        """Return k of n labels."""
        if self.k >= 1:
            return <Py_ssize_t> self.k
        return max(1, <Py_ssize_t> rint(self.k * n)) if self.k > 0 else <Py_ssize_t> rint(self.share * n)

    cdef inline Py_ssize_t k_now(self) noexcept nogil:
        """Return k of the current round."""
        return self.size(self.n) if self.k > 0 else self.P

    cdef inline Py_ssize_t limited(self, Py_ssize_t wanted, Py_ssize_t k, Py_ssize_t n) noexcept nogil:
        """Return the permitted number nearest to the one wanted."""
        if not self.loose:
            return k
        return min(wanted, k) if self.recall else max(wanted, k)

    cdef inline double gain_of(self) noexcept nogil:
        """Return the decrease of the loss per hit."""
        cdef Py_ssize_t below = self.P if self.recall else self.k_now()
        return 1 / <double> below if below > 0 else 0

    cdef inline Py_ssize_t most(self) noexcept nogil:
        """Return the most hits that k labels can have."""
        return min(self.k_now(), self.P)

    cdef double unavoidable(self) noexcept nogil:
        """Return the least loss of any set."""
        cdef Py_ssize_t below = self.P if self.recall else self.k_now()
        return (below - self.most()) / <double> below if below > 0 else 0

    cdef double excess(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        """Return the loss above the least one.

        The set has a hits and b others.  It is 0 to the last bit where the loss is the least one.
        """
        if self.recall or not self.loose:
            return (self.most() - min(a, self.most())) * self.gain_of()
        if b == 0 or self.P == 0 or (a == self.P and a + b == self.k_now()):
            return 0
        return b / <double> (a + b) - self.unavoidable()

    cdef Py_ssize_t hits(self, Py_ssize_t size, double less) noexcept nogil:
        """Return how many of the best labels are positive.

        The set has `size` labels.  The keys of positive labels are reduced by `less`; at ties the others go first.
        """
        cdef Py_ssize_t a = 0, b = 0
        while a + b < size:
            if a == self.P or (b < self.N and self.positive[a].key - less <= self.negative[b].key):
                b += 1
            else:
                a += 1
        return a

    cdef Py_ssize_t above(self, const Keyed[::1] items, Py_ssize_t n, bint ties) noexcept nogil:
        """Return how many of the sorted keys are above 0; keys equal to 0 count if `ties` is true."""
        cdef Py_ssize_t i = 0
        while i < n and (items[i].key > 0 or (ties and items[i].key == 0)):
            i += 1
        return i

    cdef void find_sigma_y(self, Py_ssize_t* a, Py_ssize_t* b) noexcept nogil:
        """Find the hits and others of sigma_y; it is the best-scored one of the sets with the least loss."""
        cdef Py_ssize_t k = self.k_now()
        a[0] = self.most()
        b[0] = k - a[0]
        if self.loose and self.recall:
            b[0] = min(b[0], self.above(self.negative, self.N, False))
        elif self.loose and self.P == 0:
            b[0] = max(k, self.above(self.negative, self.N, False))
        elif self.loose and self.P >= k:
            a[0] = max(k, self.above(self.positive, self.P, False))

    cdef void worst_maximiser(self, Py_ssize_t* a, Py_ssize_t* b) noexcept nogil:
        """Find the worst maximiser's hits and others; it is the maximiser of the score with the largest loss."""
        cdef Py_ssize_t wanted = self.above(self.positive, self.P, False)
        wanted += self.above(self.negative, self.N, not self.recall)
        wanted = self.limited(wanted, self.k_now(), self.n)
        a[0] = self.hits(wanted, 0)
        b[0] = wanted - a[0]

    cdef void search(self, Py_ssize_t* b, Py_ssize_t* c) noexcept nogil:
        """Maximise L + keys; the keys are those of b others and of the hits, all but c."""
        cdef Py_ssize_t a
        if not self.loose:
            a = self.hits(self.k_now(), self.gain_of())
            b[0], c[0] = self.k_now() - a, self.P - a
        elif self.recall:
            self.search_at_most(b, c)
        else:
            self.search_at_least(b, c)

    cdef void search_at_most(self, Py_ssize_t* b, Py_ssize_t* c) noexcept nogil:
        """Search the sizes up to k; the best set of each size has one more of the best labels."""
        cdef double gain = self.gain_of(), value = 0, best = 0
        cdef Py_ssize_t a = 0, more = 0
        b[0], c[0] = 0, self.P
        while a + more < min(self.k_now(), self.n):
            if more == self.N or (a < self.P and self.positive[a].key - gain > self.negative[more].key):
                value += self.positive[a].key - gain
                a += 1
            else:
                value += self.negative[more].key
                more += 1
            if value > best:
                best, b[0], c[0] = value, more, self.P - a

    cdef void search_at_least(self, Py_ssize_t* b, Py_ssize_t* c) noexcept nogil:
        """Search the sizes 1, 2, ..; the best number of hits grows with the size."""
        cdef double best = -INFINITY, value, gap = 0
        cdef Py_ssize_t a = 0, more = 0, size
        for size in range(1, self.n + 1):
            if more < self.N:
                gap += self.negative[more].key
                more += 1
            else:
                gap += self.positive[a].key
                a += 1
            while a < self.P and more > 0 and self.positive[a].key - self.negative[more - 1].key > 1 / <double> size:
                gap += self.positive[a].key - self.negative[more - 1].key
                a += 1
                more -= 1
            value = gap + more / <double> size
            if size >= self.k_now() and value > best:
                best, b[0], c[0] = value, more, self.P - a

    cdef void choose(self, unsigned char[::1] sigma, Py_ssize_t hits, Py_ssize_t others) noexcept nogil:
        """Set sigma to the best-scored set with given counts."""
        cdef Py_ssize_t i
        for i in range(self.n):
            sigma[i] = 0
        for i in range(hits):
            sigma[self.positive[i].at] = 1
        for i in range(others):
            sigma[self.negative[i].at] = 1

    cdef void compare(self, double* t, const unsigned char* y, Py_ssize_t m, bint augmented, Round* r) noexcept nogil:
        cdef Py_ssize_t a = 0, b = 0, c = 0
        self.bind_label(y, m)
        self.sort(t, y)
        self.find_sigma_y(&a, &b)
        self.choose(self.sigma_y, a, b)
        self.worst_maximiser(&a, &b)
        r.unavoidable_loss = self.unavoidable()
        r.loss = self.excess(a, b)
        if augmented:
            self.search(&b, &c)
            a = self.P - c
        self.choose(self.competitor, a, b)
        self.finish_competitor(t, y, self.excess(a, b), r)

    cdef void decode_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        self.compare(t, <const unsigned char*> y, m, False, r)

    cdef void loss_augmented_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        self.compare(t, <const unsigned char*> y, m, True, r)

    cdef void decode(self, const double* t, Py_ssize_t n, unsigned char* sigma, Keyed* room) noexcept nogil:
        """Return the labels with the largest scores.

        At ties the first are taken: k of them, or as many as have positive ones within the limit.
        """
        cdef Py_ssize_t i, wanted = 0
        for i in range(n):
            room[i].key = t[i]
            room[i].at = i
            sigma[i] = 0
            wanted += t[i] > 0
        sort_descending(room, room + n, n)
        for i in range(min(n, self.limited(wanted, self.size(n), n))):
            sigma[room[i].at] = 1

    cdef double losing(self, double* lossless) noexcept nogil:
        cdef Py_ssize_t a, b
        cdef double best = -INFINITY, kept = 0, score
        lossless[0] = -INFINITY
        for a in range(self.P + 1):
            score = kept
            for b in range(self.N + 1):
                if a + b == self.limited(a + b, self.k_now(), self.n):
                    if self.excess(a, b) > 0:
                        best = max(best, score)
                    else:
                        lossless[0] = max(lossless[0], score)
                if b < self.N:
                    score += self.negative[b].key
            if a < self.P:
                kept += self.positive[a].key
        return best
