"""Losses on sets of labels beyond the closed forms: any function of the counts, and sets of exactly k labels."""
from libc.math cimport INFINITY

import numpy as np

from sklearn_predtron.problems._base cimport Round
from sklearn_predtron.problems.inference._sorting cimport Keyed, sort_descending
from sklearn_predtron.problems._label_sets cimport LabelSets

from sklearn_predtron._parts import LARGEST_LOSS as LARGEST
from sklearn_predtron._parts import real_number, shortened

cdef double LARGEST_LOSS = LARGEST


cdef class TabulatedSetLoss(LabelSets):
    """L = function(a, b, c, d), tabulated for each P when it is first met; what the function raises stops the loop."""
    cdef object function, error
    cdef list tables
    cdef const double[:, ::1] table     # L of the present P at [b, c]
    cdef Py_ssize_t tabulated           # its P

    def __init__(self, Py_ssize_t m, function, c_L, C_L):
        LabelSets.__init__(self, m)
        self.function = function
        self.c_L, self.C_L = c_L, C_L
        self.monotone = False
        self.tables = [None] * (m + 1)
        self.tabulated = -1

    def __reduce__(self):
        return type(self), (self.d, self.function, self.c_L, self.C_L)

    @property
    def constants_source(self):
        return f"CountLoss({self.function!r})"

    cdef double loss(self, Py_ssize_t b, Py_ssize_t c) noexcept nogil:
        return self.table[b, c]

    cdef void bind_label(self, const unsigned char* y) noexcept nogil:
        LabelSets.bind_label(self, y)
        if self.P != self.tabulated:
            with gil:
                self.tabulate()

    cdef tabulate(self):
        try:
            if self.tables[self.P] is None:
                self.tables[self.P] = self.losses(self.P, self.N)
        except BaseException as error:
            self.error = error
            self.failed = True
            self.table = np.zeros((self.N + 1, self.P + 1))
            self.tabulated = -1
            return
        self.table = self.tables[self.P]
        self.tabulated = self.P

    cdef losses(self, Py_ssize_t P, Py_ssize_t N):
        """L at [b, c] for a y with P labels that are on and N that are off, checked."""
        return table_of(self.function, P, N, self.c_L, self.C_L)

    def reraise(self):
        error, self.error = self.error, None
        self.failed = False
        raise error

    cdef void search(self, Py_ssize_t* b, Py_ssize_t* c) noexcept nogil:
        """All b and c."""
        cdef double best = -INFINITY, value, without = 0, gap
        cdef Py_ssize_t more, missing
        for missing in range(self.P + 1):
            if missing > 0:
                without -= self.positive[self.P - missing].key
            gap = without
            for more in range(self.N + 1):
                if more > 0:
                    gap += self.negative[more - 1].key
                value = gap + self.table[more, missing]
                if value > best:
                    best, b[0], c[0] = value, more, missing


cdef class EvaluatedSetLoss(TabulatedSetLoss):
    """L as a loss evaluates it, tabulated for each P when it is first met; `function` is the loss."""

    @property
    def constants_source(self):
        return f"loss={self.function!r}"

    cdef losses(self, Py_ssize_t P, Py_ssize_t N):
        b, c = (part.ravel() for part in np.indices((N + 1, P + 1)))
        return self.function.evaluate(P - c, b, c, N - b).reshape(N + 1, P + 1)


def table_of(function, Py_ssize_t P, Py_ssize_t N, double c_L, double C_L):
    """L at [b, c] for a y with P labels that are on and N that are off, checked."""
    table = np.empty((N + 1, P + 1))
    for b in range(N + 1):
        for c in range(P + 1):
            table[b, c] = checked_loss(function, P - c, b, c, N - b, c_L, C_L)
    return table


def checked_loss(function, a, b, c, d, double c_L, double C_L):
    """function(a, b, c, d), if that is a loss; c_L and C_L are NaN where they are not stated."""
    value = function(a, b, c, d)
    kind = type(value)
    number = value if kind is float or kind is np.float64 or kind is bool or kind is np.bool_ else real_number(value)
    cdef double loss = float("nan") if number is None else number
    if 0 <= loss <= LARGEST_LOSS and not (b == 0 and c == 0 and loss != 0) and not (
            0 < loss < c_L * (1 - 1e-9)) and not loss > C_L * (1 + 1e-9):
        return loss
    if number is None:
        accepted = "return a number"
    elif not 0 <= loss < INFINITY:
        accepted = "be finite and not negative"
    elif loss > LARGEST_LOSS:
        accepted = f"be at most {LARGEST_LOSS:g}"
    elif b == 0 and c == 0:
        accepted = "be 0 without a mistake"
    elif loss < c_L:
        accepted = f"be 0 or at least c_L = {c_L}, which is stated as the least positive loss"
    else:
        accepted = f"be at most C_L = {C_L}, which is stated as the largest loss"
    raise ValueError(
        f"loss must {accepted}; at (a, b, c, d) = {(a, b, c, d)} it is {shortened(value)}, returned by {shortened(function)}.")


cdef class AtKProblem(LabelSets):
    """Sets of exactly k labels, L = 1 - hits / k, or 1 - hits / P for `recall`.

    sigma_y is the best-scored of the sets with most hits; losses are counted from theirs, which is reported as r.least.
    """
    cdef readonly Py_ssize_t k
    cdef readonly bint recall

    def __init__(self, Py_ssize_t m, Py_ssize_t k, bint recall):
        LabelSets.__init__(self, m)
        if not 0 < k <= m:
            raise ValueError(f"k={k} must be at least 1 and at most {m}.")
        self.k = k
        self.recall = recall
        self.c_L, self.C_L = 1 / <double> (m if recall else k), 1

    def __reduce__(self):
        return type(self), (self.d, self.k, self.recall)

    @property
    def no_theorem_because(self):
        return "losses at k, whose sigma_y depends on the scores"

    cdef inline double gain_of(self) noexcept nogil:
        """What a hit takes off the loss."""
        cdef Py_ssize_t below = self.P if self.recall else self.k
        return 1 / <double> below if below > 0 else 0

    cdef inline Py_ssize_t most(self) noexcept nogil:
        """The most hits that k labels can have."""
        return min(self.k, self.P)

    cdef Py_ssize_t hits(self, double less) noexcept nogil:
        """How many of the k best labels are positive, their keys taken `less` high; at ties the others go first."""
        cdef Py_ssize_t a = 0, b = 0
        while a + b < self.k:
            if a == self.P or (b < self.N and self.positive[a].key - less <= self.negative[b].key):
                b += 1
            else:
                a += 1
        return a

    cdef void choose(self, unsigned char[::1] sigma, Py_ssize_t hits) noexcept nogil:
        """The best-scored set of k labels with so many hits."""
        cdef Py_ssize_t i
        sigma[:] = 0
        for i in range(hits):
            sigma[self.positive[i].at] = 1
        for i in range(self.k - hits):
            sigma[self.negative[i].at] = 1

    cdef void compare(self, double* t, const unsigned char* y, bint augmented, Round* r) noexcept nogil:
        cdef Py_ssize_t a
        self.bind_label(y)
        self.sort(t, y)
        r.unavoidable_loss = 0 if self.recall and self.P == 0 else 1 - self.most() * self.gain_of()
        r.loss = (self.most() - self.hits(0)) * self.gain_of()
        a = self.hits(self.gain_of() if augmented else 0)
        self.choose(self.sigma_y, self.most())
        self.choose(self.competitor, a)
        self.finish_competitor(t, (self.most() - a) * self.gain_of(), r)

    cdef void decode_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        self.compare(t, <const unsigned char*> y, False, r)

    cdef void loss_augmented_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        self.compare(t, <const unsigned char*> y, True, r)

    cdef void decode(self, const double* t, unsigned char* sigma, Keyed* room) noexcept nogil:
        """The k labels with the largest scores, at ties the first."""
        cdef Py_ssize_t i
        for i in range(self.d):
            room[i].key = t[i]
            room[i].at = i
            sigma[i] = 0
        sort_descending(room, room + self.d, self.d)
        for i in range(self.k):
            sigma[room[i].at] = 1

    cdef double losing(self, double* lossless) noexcept nogil:
        cdef Py_ssize_t hits, i
        cdef double best = -INFINITY, score
        for hits in range(max(0, self.k - self.N), self.most() + 1):
            score = 0
            for i in range(hits):
                score += self.positive[i].key
            for i in range(self.k - hits):
                score += self.negative[i].key
            if hits == self.most():
                lossless[0] = score
            elif self.gain_of() > 0:
                best = max(best, score)
        return best
