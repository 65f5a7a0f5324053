"""Losses on sets of labels beyond the closed forms; a loss is any function of the counts."""
from libc.math cimport INFINITY

import numpy as np

from sklearn_predtron.problems._label_sets cimport LabelSets

from sklearn_predtron._support.numbers import LARGEST_LOSS as LARGEST
from sklearn_predtron._support.numbers import real_number
from sklearn_predtron._support.queries import shortened

cdef double LARGEST_LOSS = LARGEST
MOST_COUNTS = 2 * 10 ** 7      # entries of a table


cdef class TabulatedSetLoss(LabelSets):
    """The loss L = function(a, b, c, d).

    It is tabulated for each P when that first occurs; an error of the function stops the loop.
    """
    cdef object function, error
    cdef dict tables                    # by P and N
    cdef const double[:, ::1] table     # L of the present P and N at [b, c]
    cdef Py_ssize_t of_P, of_N          # they

    def __init__(self, Py_ssize_t m, function, c_L, C_L):
        LabelSets.__init__(self, m)
        self.function = function
        self.c_L, self.C_L = c_L, C_L
        self.monotone = False
        self.may_raise = True
        self.tables = {}
        self.of_P = -1

    def parameters(self):
        return self.function, self.c_L, self.C_L

    @property
    def constants_source(self):
        return f"CountLoss({self.function!r})"

    cdef double loss(self, Py_ssize_t b, Py_ssize_t c) noexcept nogil:
        return self.table[b, c]

    cdef void bind_label(self, const unsigned char* y, Py_ssize_t m) noexcept nogil:
        LabelSets.bind_label(self, y, m)
        if self.P != self.of_P or self.N != self.of_N:
            with gil:
                self.tabulate()

    cdef tabulate(self):
        try:
            if (self.P, self.N) not in self.tables:
                check_size(self.P, self.N)
                self.tables[self.P, self.N] = self.losses(self.P, self.N)
        except BaseException as error:
            self.error = error
            self.failed = True
            self.table = np.zeros((self.N + 1, self.P + 1))
            self.of_P = -1
            return
        self.table = self.tables[self.P, self.N]
        self.of_P, self.of_N = self.P, self.N

    cdef losses(self, Py_ssize_t P, Py_ssize_t N):
        """Return checked losses at [b, c] for a y; it has P labels that are on and N that are off."""
        return table_of(self.function, P, N, self.c_L, self.C_L)

    def reraise(self):
        error, self.error = self.error, None
        self.failed = False
        raise error

    cdef void search(self, Py_ssize_t* b, Py_ssize_t* c) noexcept nogil:
        """Search all b and c."""
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
    """The loss as evaluated by a user-defined loss object.

    It is tabulated for each P when that first occurs; `function` is the loss.
    """

    @property
    def constants_source(self):
        return f"loss={self.function!r}"

    cdef losses(self, Py_ssize_t P, Py_ssize_t N):
        b, c = (part.ravel() for part in np.indices((N + 1, P + 1)))
        return self.function.evaluate(P - c, b, c, N - b).reshape(N + 1, P + 1)


def check_size(Py_ssize_t P, Py_ssize_t N):
    """Raise ValueError if there are too many counts to tabulate; the loss would be tabulated for all of them."""
    if (P + 1) * (N + 1) > MOST_COUNTS:
        raise ValueError(
            f"a loss that is a function of the counts is tabulated, and a batch of {P} positive rows and {N} others has "
            f"{(P + 1) * (N + 1):.2g} of them; accepted are {MOST_COUNTS:.2g}.  Shorter batches, or another loss, need less."
        )


def table_of(function, Py_ssize_t P, Py_ssize_t N, double c_L, double C_L):
    """Return checked losses at [b, c] for a y; it has P labels that are on and N that are off."""
    table = np.empty((N + 1, P + 1))
    for b in range(N + 1):
        for c in range(P + 1):
            table[b, c] = checked_loss(function, P - c, b, c, N - b, c_L, C_L)
    return table


def checked_loss(function, a, b, c, d, double c_L, double C_L):
    """Return function(a, b, c, d), if it is a loss; c_L and C_L are NaN where they are not stated."""
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
