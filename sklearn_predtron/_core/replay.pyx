"""Recent rows of a stream, from which it learns again.

A stream has its rows once.  In its first rows it learns little from each, and a step closes the gap of a row at once, so that a
row of weight w cannot count as w rows by longer steps.  So it meets some of its rows again: in its first thousands the last
ones, and rows of more than the mean weight, as often as they weigh more.  Which ones depends on the number of the round alone.
"""
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memset

import numpy as np

from sklearn_predtron._core.rows cimport of_doubles

from sklearn_predtron._core.state import array, between, count, length_of, restored, whole, wholes

cdef enum:
    ROWS = 256                  # of a window, a power of two
    LONGEST = 1 << 13           # values of a row that is kept
    BUFFER = 256
    LAST = 6000                 # round after which recent rows are learned again
    AT_ONCE = 100               # rounds of heavy rows after one round, at most

cdef double MOST_AGAIN = 9, AGAIN = 2000    # rounds of recent rows after round t: AGAIN / t, and at most MOST_AGAIN
cdef double LESS = 0.3      # weight of their steps, by which they learn less of the noise of the labels


cdef inline double uniform(Py_ssize_t t, Py_ssize_t number) noexcept nogil:
    """Return a number from [0, 1) that depends on two numbers alone (splitmix64; Steele, Lea and Flood, 2014)."""
    cdef uint64_t z = <uint64_t> t * <uint64_t> 0x9E3779B97F4A7C15 + <uint64_t> number * <uint64_t> 0xD1B54A32D192ED03
    z = (z ^ (z >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t> 0x94D049BB133111EB
    return ((z ^ (z >> 31)) >> 11) * (1.0 / 9007199254740992.0)


cdef class Window:
    """The last rows that were kept, with their labels; they are drawn by their shares.

    Parameters
    ----------
    length : int
        Bytes of a label.
    """

    def __cinit__(self, Py_ssize_t length):
        self.slots = <Slot*> calloc(ROWS, sizeof(Slot))
        if self.slots == NULL:
            raise MemoryError
        self.labels = np.zeros((ROWS, length), dtype=np.uint8)
        self.weight, self.tree = np.zeros(ROWS), np.zeros(2 * ROWS)

    def __dealloc__(self):
        if self.slots != NULL:
            self.clear()
            free(self.slots)

    cdef void clear(self) noexcept nogil:
        """Forget all rows."""
        cdef Py_ssize_t i
        for i in range(ROWS):
            free(self.slots[i].value)
            self.slots[i].value, self.slots[i].size = NULL, 0
        for i in range(2 * ROWS if self.n > 0 else 0):
            self.tree[i] = 0
        self.n = self.head = 0

    cdef bint keep(self, const View* x, const void* y, double weight, double share) noexcept nogil:
        """Keep a row, as doubles, in place of the oldest; return False where it is too long."""
        cdef Slot* slot = &self.slots[self.head]
        cdef Py_ssize_t i, n = x.first.n, width = 2 if x.start != NULL else 1
        cdef Py_ssize_t at[BUFFER]
        cdef double* value = slot.value
        if n > LONGEST:
            return False
        if slot.size < n * width or value == NULL:
            value = <double*> realloc(value, max(n * width, 1) * sizeof(double))
            if value == NULL:
                return False
            slot.value, slot.size = value, n * width
        if x.start != NULL:
            x.k.unpack(&x.first, 0, n, <Py_ssize_t*> (value + n), value)
        else:
            for i in range(0, n, 256):
                x.k.unpack(&x.first, i, min(BUFFER, n - i), at, value + i)
        slot.sparse, slot.edges[1] = x.start != NULL, n
        memcpy(&self.labels[self.head, 0], y, self.labels.shape[1])
        self.weight[self.head] = weight
        self.put_share(share)
        self.head = (self.head + 1) % ROWS
        self.n = min(self.n + 1, ROWS)
        return True

    cdef int widen(self, Py_ssize_t n_features) except -1:
        """Append zeros to dense rows, up to so many features; longer rows are not kept, and stay as they are."""
        cdef Py_ssize_t i, n
        cdef double* value
        cdef Slot* slot
        for i in range(self.n if n_features <= LONGEST else 0):
            slot = &self.slots[i]
            n = slot.edges[1]
            if slot.sparse or n >= n_features:
                continue
            value = <double*> realloc(slot.value, n_features * sizeof(double))
            if value == NULL:
                raise MemoryError
            memset(value + n, 0, (n_features - n) * sizeof(double))
            slot.value, slot.size, slot.edges[1] = value, n_features, n_features
        return 0

    cdef void put_share(self, double share) noexcept nogil:
        """Set the share of the row at the head."""
        cdef Py_ssize_t i = ROWS + self.head
        self.tree[i] = share
        while i > 1:
            i //= 2
            self.tree[i] = self.tree[2 * i] + self.tree[2 * i + 1]

    cdef const void* take(self, Py_ssize_t t, Py_ssize_t number, Py_ssize_t p, View* x, double* weight) noexcept nogil:
        """Fill in a row and its weight, drawn for a round; return its label, or NULL where it has less than p features."""
        cdef Py_ssize_t slot = self.draw(uniform(t, number))
        self.view(slot, p, x)
        weight[0] = self.weight[slot]
        return NULL if x.start == NULL and x.first.n != p else &self.labels[slot, 0]

    cdef Py_ssize_t draw(self, double u) noexcept nogil:
        """Return the place of a row, given a random number from [0, 1)."""
        cdef Py_ssize_t i = 1
        cdef double rest = u * self.tree[1]
        while i < ROWS:
            i *= 2
            if self.tree[i + 1] > 0 and rest >= self.tree[i]:
                rest -= self.tree[i]
                i += 1
        return i - ROWS

    cdef void view(self, Py_ssize_t slot, Py_ssize_t p, View* x) noexcept nogil:
        """Fill in a view of the row at a place; the rows to come have p features."""
        cdef Slot* s = &self.slots[slot]
        x.m, x.p, x.k, x.norm2 = 1, p, of_doubles(s.sparse), -1
        x.first.n, x.first.value, x.first.index = s.edges[1], s.value, s.value + s.edges[1]
        x.start = s.edges if s.sparse else NULL

    # ------------------------------------------------------------------------------------------------------------------ state

    def saved(self):
        """Return the rows as they lie.

        They are whether each is sparse, lengths, values, places of sparse rows, labels, weights and shares, and the head.
        """
        cdef Py_ssize_t i, n = self.n
        lengths = np.array([self.slots[i].edges[1] for i in range(n)], dtype=np.intp)
        sparse = np.array([self.slots[i].sparse for i in range(n)], dtype=np.intp)
        values, places = [np.zeros(0)], [np.zeros(0, dtype=np.intp)]
        for i in range(n):
            row = np.array(<double[:lengths[i] * (1 + sparse[i])]> self.slots[i].value) if lengths[i] else values[0]
            values.append(row[:lengths[i]])
            places.append(row[lengths[i]:].view(np.intp))
        return (sparse, lengths, np.concatenate(values), np.concatenate(places), np.array(self.labels[:n]),
                np.array(self.weight[:n]), np.array(self.tree[ROWS:ROWS + n]), self.head)

    def restore(self, saved, Problem problem, Py_ssize_t n_features):
        """Take over saved rows; raise ValueError unless they suit a problem and the features."""
        cdef View x
        cdef Py_ssize_t i, begin = 0, at = 0, n = length_of(saved, 0)
        cdef const unsigned char[:, ::1] labels
        cdef const double[::1] value
        cdef const Py_ssize_t[::1] index
        of_values, of_places = length_of(saved, 2), length_of(saved, 3)
        pattern = (wholes(n, least=0, most=1), wholes(n, least=0, most=LONGEST), finite(of_values, -np.inf),
                   wholes(of_places, least=0, most=n_features - 1), bytes_of(n, self.labels.shape[1]), finite(n, 0), finite(n, 0),
                   whole(0, ROWS - 1))
        sparse, lengths, values, places, labels, weight, share, head = restored(self, saved, pattern)
        fits = n <= ROWS and head == (n if n < ROWS else head) and lengths.sum() == len(values) and (
            lengths[sparse == 1].sum() == len(places)) and (lengths[sparse == 0] <= n_features).all()
        if not fits or not problem.takes_kept(np.asarray(labels)):
            raise ValueError("The saved state of a Window is damaged: its rows do not fit.")
        value, index = np.append(values, 0.0), np.append(places, 0)     # an end that has an address
        for i in range(n):
            x.k, x.start = of_doubles(sparse[i]), NULL
            x.first.n, x.first.value, x.first.index = lengths[i], &value[begin], &index[at]
            if sparse[i]:
                x.start = &index[at]
                at += lengths[i]
            begin += lengths[i]
            self.keep(&x, &labels[i, 0], weight[i], share[i])
        self.head = head


def finite(Py_ssize_t n, least):
    """Accept an array of n finite numbers that are not below the least."""
    def field(value):
        found = array(value, np.dtype(np.float64), (n,))
        if not (np.isfinite(found).all() and (found >= least).all()):
            raise ValueError(f"an array of shape {(n,)} holds numbers that are not finite, or below {least:g}")
        return found
    return field


def bytes_of(Py_ssize_t n, Py_ssize_t length):
    """Accept an array of bytes of shape (n, length)."""
    return lambda value: array(value, np.dtype(np.uint8), (n, length))


cdef class Replay:
    """The rounds of recent and of heavy rows that follow a round of a stream.

    Round t is followed by min(9, 2000 / t) rounds of the last 256 rows, up to round 6000, while an average predicts that has all
    rounds: where another one does, the stream drifts.  Their steps have the weight 0.3.  A row that weighs w > 1 times the
    mean adds w - 1 rounds, and as many more as there are of recent rows, of the last 256 such rows, drawn by w - 1.  A light
    row has shorter steps.  Rows of more than 8,192 values are learned once.

    Parameters
    ----------
    problem : Problem
        Whose labels are kept.
    n_features : int
        Number of features.
    """

    def __init__(self, Problem problem not None, Py_ssize_t n_features):
        self.problem, self.n_features = problem, n_features
        self.recent, self.heavy = Window(problem.label_size), Window(problem.label_size)

    def __reduce__(self):
        state = self.recent.saved(), self.heavy.saved(), self.rounds, self.due_of_recent, self.due_of_heavy
        return type(self), (self.problem, self.n_features), state

    def __setstate__(self, state):
        pattern = tuple, tuple, count, between(0, 1), between(0, ROWS)
        recent, heavy, self.rounds, self.due_of_recent, self.due_of_heavy = restored(self, state, pattern)
        self.recent.restore(recent, self.problem, self.n_features)
        self.heavy.restore(heavy, self.problem, self.n_features)

    def resized(self, Problem problem not None, Py_ssize_t n_features, places):
        """Return the same for a problem with more classes or labels, and more features; class c becomes places[c]."""
        cdef Replay wide = Replay(problem, n_features)
        recent, heavy, *numbers = self.__reduce__()[2]
        moved = recent, heavy
        if problem.d != self.problem.d:     # else there are only more features, and places are of scores
            moved = [(*rows[:4], problem.renumbered(rows[4], places), *rows[5:]) for rows in moved]
        wide.__setstate__((*moved, *numbers))
        return wide

    def check(self, Problem problem not None, Py_ssize_t n_features):
        """Serve a problem and rows of so many features from here on; raise ValueError if the rows that are kept do not suit."""
        if problem is not self.problem:
            if problem.label_size != self.problem.label_size or not all(
                    problem.takes_kept(np.asarray(window.labels)[:window.n]) for window in (self.recent, self.heavy)):
                raise ValueError("the rows of the stream that are kept have other labels.")
            self.problem = problem
        if n_features < self.n_features:
            raise ValueError("the rows of the stream that are kept have more features.")
        if n_features > self.n_features:
            self.recent.widen(n_features)
            self.heavy.widen(n_features)
        self.n_features = n_features

    cdef Py_ssize_t keep(self, const View* x, const void* y, double weight, Py_ssize_t t, bint drifts) noexcept nogil:
        """Keep the row of round t, of a weight relative to the mean; return how many rounds follow; `next` has their rows.

        Where the stream drifts, recent rows are out of date, and none follows.
        """
        cdef double again = min(MOST_AGAIN, AGAIN / t) if t <= LAST and not drifts else 0
        cdef Py_ssize_t of_heavy = 0
        self.t, self.number = t, 0
        if t <= LAST:
            self.due_of_recent += again if self.recent.keep(x, y, LESS * min(weight, 1), 1) else 0
        elif self.recent.n > 0:
            self.recent.clear()
            self.due_of_recent = 0
        self.of_recent = <Py_ssize_t> self.due_of_recent if self.recent.n > 0 else 0
        self.due_of_recent -= self.of_recent
        if weight > 1 and self.heavy.keep(x, y, 1, weight - 1):
            self.due_of_heavy = min(self.due_of_heavy + (weight - 1) * (1 + again), ROWS)
        if self.heavy.n > 0:
            of_heavy = min(<Py_ssize_t> self.due_of_heavy, AT_ONCE)
            self.due_of_heavy -= of_heavy
        self.rounds += self.of_recent + of_heavy
        return self.of_recent + of_heavy

    cdef const void* next(self, Py_ssize_t p, View* x, double* weight) noexcept nogil:
        """Fill in the row of the next round and the weight of its step; return its label, or NULL where it is too narrow."""
        self.number += 1
        return self.recent.take(self.t, self.number, p, x, weight) if self.number <= self.of_recent else (
            self.heavy.take(self.t, self.number, p, x, weight))
