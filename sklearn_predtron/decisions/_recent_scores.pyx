"""The scores and the labels of the last rounds; each score was predicted before its row was learned."""
from cpython.exc cimport PyErr_SetInterrupt
from libc.math cimport fabs
from libc.string cimport memcpy

import numpy as np

from sklearn_predtron._core.problem cimport Labels, Problem
from sklearn_predtron.problems._finite cimport FiniteProblem
from sklearn_predtron.problems._relevance cimport Relevance

from sklearn_predtron._core.mixable_state import Recent, fields
from sklearn_predtron._core.state import array, count, length_of, restored, whole
from sklearn_predtron.decisions._base import HeldOut

cdef enum:
    MOST_RECENT = 3000      # rounds that are kept
    RARE = 300              # rows of the rarest class; with fewer among them more rounds are kept,
    LONGER = 10             # up to so many times
    LEAST_RECENT = 50
    MOST_VALUES = 1 << 20   # scores that are kept, of many classes
    UNLEARNED = 4           # of so many first rounds one says nothing of those to come
    FREQUENT = 256          # of so many rounds one more may pass between two that are recorded

cdef double LARGEST = 1e37  # a score in single precision
MOST_ROWS = 1 << 53     # that are numbered exactly in a table of numbers


cdef class RecentScores(Observer):
    """Scores, labels and weights of the last rounds.

    Those as of the last mark are kept as well.  They are the last 3,000, and where these have less than 300 rows of the rarest
    class, twice as many, and so on up to 30,000.

    Marks are after 1, 2, ..., 10 rows, and then after a tenth more each time.  Maps and thresholds are computed from the
    rows up to the last mark: this is seldom, and gives the same however a stream is split.  A round computes nothing of them.

    Parameters
    ----------
    problem : Problem
        Whose scores are recorded.
    kind : {"codes", "sets", "column", "grades"}
        The form of a label: the number of a class, an indicator for each score, or an indicator or a grade for each row of a
        round.
    """
    def __init__(self, Problem problem not None, str kind not None):
        if kind not in ("codes", "sets", "column", "grades"):
            raise ValueError(f"labels of kind {kind!r} are not known.")
        self.kind, self.every = kind, 1
        self.of_codes, self.of_sets, self.of_grades = kind == "codes", kind == "sets", kind == "grades"
        self.watch(problem)
        self.least = self.size = min(MOST_RECENT, max(LEAST_RECENT, MOST_VALUES // problem.d))
        self.most = min(LONGER * self.size, max(self.size, MOST_VALUES // problem.d)) if self.of_codes else self.size
        self.values = problem.d if self.of_sets else 1
        self.allocate(self.size)
        self.next_mark = 1

    cdef allocate(self, Py_ssize_t size):
        """Make room for so many rows, and forget those so far."""
        self.size, self.n = size, 0
        self.scores, self.labels, self.weight, self.number = self.room()
        self.marked_scores, self.marked_labels, self.marked_weight, self.marked_number = self.room()

    def room(self):
        """Return arrays for all rows that are kept."""
        return (np.zeros((self.size, self.problem.d), dtype=np.float32), np.zeros((self.size, self.values), dtype=np.intc),
                np.zeros(self.size), np.zeros(self.size, dtype=np.intp))

    def watch(self, Problem problem not None):
        self.problem = problem
        if self.of_codes:
            self.counts = np.zeros((<FiniteProblem> problem).sigma_y.shape[0], dtype=np.intp)

    cdef int check(self, Problem problem) except -1:
        if problem.d != self.problem.d or not problem.score_map.is_like(self.problem.score_map):
            raise ValueError("the scores are those of another problem.")
        return 0

    def sparingly(self, Py_ssize_t every):
        self.every = every

    # -------------------------------------------------------------------------------------------------------------- recording

    cdef bint wants(self, Py_ssize_t t) noexcept nogil:
        return t % min(self.every, 1 + t // FREQUENT) == 0

    cdef void record(self, double* t, const void* y, Py_ssize_t m, double weight) noexcept nogil:
        cdef Py_ssize_t i, j
        cdef const Relevance* r
        if self.of_codes:
            self.labels[self.head, 0] = <int> (<const Py_ssize_t*> y)[0]
            self.put(t, weight)
        elif self.of_sets:
            for j in range(self.values):
                self.labels[self.head, j] = (<const unsigned char*> y)[j]
            self.put(t, weight)
        else:
            r = <const Relevance*> y
            for i in range(m):
                self.labels[self.head, 0] = r.value[r.grade[i]] > 0 if self.of_grades else (<const unsigned char*> y)[i]
                self.put(t + i, weight)
        if self.recorded >= self.next_mark:
            self.mark()

    cdef void put(self, const double* t, double weight) noexcept nogil:
        """Record a row's scores in place of the oldest; its label is there already."""
        cdef Py_ssize_t j
        for j in range(self.problem.d):
            self.scores[self.head, j] = single(t[j])
        self.weight[self.head] = weight
        self.number[self.head] = self.recorded
        self.recorded += 1
        self.head = (self.head + 1) % self.size
        self.n = min(self.n + 1, self.size)

    cdef void mark(self) noexcept nogil:
        """Keep everything recorded up to now, and set how many rows are kept from here on."""
        self.copy_marked()
        self.next_mark = self.recorded + max(1, self.recorded // 10)
        if self.of_codes:
            self.set_size()

    cdef void copy_marked(self) noexcept nogil:
        """Copy the rows up to now to those of the mark, the oldest first."""
        cdef Py_ssize_t first = (self.head - self.n + self.size) % self.size, ahead = min(self.n, self.size - first)
        self.copy_rows(first, 0, ahead)
        self.copy_rows(0, ahead, self.n - ahead)
        self.n_marked, self.marked_at = self.n, self.recorded

    cdef void copy_rows(self, Py_ssize_t first, Py_ssize_t to, Py_ssize_t n) noexcept nogil:
        """Copy n rows from a place on to those of the mark."""
        if n > 0:
            memcpy(&self.marked_scores[to, 0], &self.scores[first, 0], n * self.problem.d * sizeof(float))
            memcpy(&self.marked_labels[to, 0], &self.labels[first, 0], n * self.values * sizeof(int))
            memcpy(&self.marked_weight[to], &self.weight[first], n * sizeof(double))
            memcpy(&self.marked_number[to], &self.number[first], n * sizeof(Py_ssize_t))

    cdef void set_size(self) noexcept nogil:
        """Keep more rows where a class is rare, and fewer where none is."""
        cdef Py_ssize_t size = self.size
        while self.n >= size and size < self.most and self.rarest(size) < RARE:
            size = min(2 * size, self.most)
        while size > self.least and self.n > size // 2 and self.rarest(size // 2) >= RARE:
            size = max(size // 2, self.least)
        if size != self.size:
            with gil:
                try:
                    self.keep_last(size)
                except KeyboardInterrupt:
                    PyErr_SetInterrupt()        # for the loop, which checks for it after this block of rounds
                except BaseException:           # of memory; as many as before are kept
                    pass

    cdef keep_last(self, Py_ssize_t size):
        """Keep so many of the last rows from here on, as of the mark."""
        rows = tuple([part[-size:] for part in self.marked()])
        self.allocate(size)
        RecentScores.fill(self, rows)
        self.copy_marked()

    cdef Py_ssize_t rarest(self, Py_ssize_t n) noexcept nogil:
        """Return how many of the last n rows up to the mark are of the rarest class; classes that have none do not count."""
        cdef Py_ssize_t i, c, rarest = n
        for c in range(self.counts.shape[0]):
            self.counts[c] = 0
        for i in range(max(0, self.n_marked - n), self.n_marked):
            self.counts[self.marked_labels[i, 0]] += 1
        for c in range(self.counts.shape[0]):
            if 0 < self.counts[c] < rarest:
                rarest = self.counts[c]
        return rarest

    def take(self, const double[:, ::1] scores not None, const int[:, ::1] labels not None, weight=None):
        """Record held-out rows, and set a mark.

        They replace all rows so far.  If they are too many, evenly spaced ones are kept.
        """
        n = scores.shape[0]
        if scores.shape[1] != self.problem.d or labels.shape[0] != n or labels.shape[1] != self.values:
            raise ValueError(f"scores must have shape {(n, self.problem.d)}, and labels {(n, self.values)}.")
        weight = np.ones(n) if weight is None else weight
        size = self.most
        rarest = np.unique(np.asarray(labels), return_counts=True)[1].min() if self.of_codes and n > 0 else n
        while size > self.least and rarest * (size // 2) >= RARE * n:
            size = max(size // 2, self.least)
        self.allocate(size)
        singles = np.clip(np.nan_to_num(scores), -LARGEST, LARGEST).astype(np.float32)
        some = np.arange(n, dtype=np.intp) if n <= self.size else np.arange(self.size, dtype=np.intp) * n // self.size
        self.fill((singles[some], np.asarray(labels)[some], weight[some], some))
        self.recorded = n
        self.mark()

    def fill(self, rows):
        """Keep these rows, from the oldest, and no others."""
        self.n = len(rows[0])
        self.head = self.n % self.size
        for place, values in zip(self.kept_rows(), rows, strict=True):
            place[:self.n] = values
        self.kept = None

    def kept_rows(self):
        """Return the arrays of rows, as they lie."""
        return np.asarray(self.scores), np.asarray(self.labels), np.asarray(self.weight), np.asarray(self.number)

    def marked_rows(self):
        """Return the same as of the last mark."""
        return (np.asarray(self.marked_scores), np.asarray(self.marked_labels), np.asarray(self.marked_weight),
                np.asarray(self.marked_number))

    # ---------------------------------------------------------------------------------------------------------------- reading

    def rows(self):
        """Return scores, labels, weights and numbers by age; the oldest row is the first."""
        order = (self.head - self.n + np.arange(self.n)) % self.size
        return tuple(part[order] for part in self.kept_rows())

    def marked(self):
        """Return the same as of the last mark."""
        return tuple(part[:self.n_marked] for part in self.marked_rows())

    def held_out(self):
        """Return the rows up to the last mark, which were unseen when they were scored.

        A first quarter of all rounds is left out, in which little was known.
        """
        scores, labels, weight, number = self.marked()
        first = max(0, self.marked_at // UNLEARNED - (self.marked_at - len(scores)))
        return HeldOut(scores[first:].astype(np.float64), labels[first:], weight[first:], number[first:], streamed=True)

    def once(self, purpose, make):
        """Return make(), a result of the rows up to the last mark, computed once for each mark and purpose."""
        moment, results = self.kept or (0, {})
        if moment != self.marked_at:
            results = {}
        if purpose not in results:
            results = {**results, purpose: make()}
            self.kept = self.marked_at, results
        return results[purpose]

    # ------------------------------------------------------------------------------------------------------------------ state

    def __reduce__(self):
        at_mark = self.marked_at == self.recorded
        marked = tuple([np.array(part) for part in self.marked()])
        state = self.every, self.size, self.recorded, self.marked_at, self.next_mark, marked, () if at_mark else self.rows()
        return type(self), (self.problem, self.kind), state

    def __setstate__(self, state):
        cdef bint several, at_mark
        since = state[6] if isinstance(state, (tuple, list)) and len(state) == 7 else None
        several = not isinstance(since, (tuple, list)) or len(since) > 0
        pattern = (whole(1), whole(self.least, self.most), count, count, count, self.pattern(length_of(state, 5, 2)),
                   self.pattern(length_of(state, 6, 2)) if several else ())
        every, size, recorded, marked_at, next_mark, marked, rows = restored(self, state, pattern)
        at_mark = recorded == marked_at
        if several == at_mark or not marked_at <= recorded < next_mark or max(map(len, (marked[2], *rows[2:3]))) > size:
            raise ValueError(f"The saved state of a {type(self).__name__} is damaged: it lacks rows, or has too many.")
        self.allocate(size)
        self.fill(marked)
        self.recorded = marked_at
        self.copy_marked()
        self.every, self.recorded, self.next_mark = every, recorded, next_mark
        if rows:
            self.fill(rows)

    def pattern(self, n):
        """Return the pattern that n recorded rows must match."""
        n = min(n, self.most)
        most = (<FiniteProblem> self.problem).sigma_y.shape[0] - 1 if self.of_codes else 1
        return (bounded(np.float32, (n, self.problem.d), -np.inf, np.inf), bounded(np.intc, (n, self.values), 0, most),
                bounded(np.float64, (n,), 0, np.inf), bounded(np.intp, (n,), 0, MOST_ROWS))

    def export(self):
        rows = (part[-self.least:] for part in self.rows())
        return fields(recent={"rows": Recent(self.least, *rows)}, sum={"recorded": self.recorded})

    def adopt(self, state, bint with_sums):
        _size, *rows = state["recent"]["rows"] if with_sums else Recent(self.least, *(part[:0] for part in self.rows()))
        self.fill(tuple(rows))
        self.recorded = state["sum"]["recorded"] if with_sums else 0
        self.mark()

    def resized(self, Problem problem not None, places):
        """Return the record for a problem with more scores; these have been 0 so far; class or label c becomes places[c]."""
        cdef RecentScores wide = type(self)(problem, self.kind)
        wide.sparingly(self.every)
        places = np.asarray(places, dtype=np.intp)
        wide.allocate(min(max(self.size, wide.least), wide.most))
        wide.fill(self.widened(self.rows(), wide.size, wide.values, problem.d, places))
        wide.recount(self.recorded)
        return wide

    def recount(self, Py_ssize_t recorded):
        """Set the number of recorded rows, and a mark."""
        self.recorded = recorded
        self.mark()

    def widened(self, rows, size, values, d, places):
        """Return at most so many of the last rows; they become rows of a problem of d scores."""
        scores, labels, weight, number = (part[-size:] for part in rows)
        wide_scores = np.zeros((len(scores), d), dtype=np.float32)
        wide_scores[:, places] = scores
        if not self.of_sets:
            return wide_scores, places[labels].astype(np.intc), weight, number
        wide_labels = np.zeros((len(labels), values), dtype=np.intc)
        wide_labels[:, places] = labels
        return wide_scores, wide_labels, weight, number


cdef inline float single(double score) noexcept nogil:
    """Return a score in single precision; where it overflows it is the largest number, and 0 where it is nan."""
    if fabs(score) <= LARGEST:
        return <float> score
    return 0 if score != score else <float> (LARGEST if score > 0 else -LARGEST)


def bounded(dtype, shape, least, most):
    """Accept an array of bounded, finite numbers; it is of a given type, with values from least to most."""
    def field(value):
        found = array(value, np.dtype(dtype), shape)
        if not (np.isfinite(found).all() and (found >= least).all() and (found <= most).all()):
            raise ValueError(f"an array of shape {shape} holds numbers that are not finite, or not between {least} and {most}")
        return found
    return field


def label_values(Labels labels not None, const Py_ssize_t[::1] rows not None, Py_ssize_t m):
    """Return the labels of some rounds; they are of shape (n, m): m indicators each, or the number of a class if m is 0."""
    cdef int[:, ::1] found = np.empty((rows.shape[0], max(m, 1)), dtype=np.intc)
    cdef const void* y
    cdef Py_ssize_t i, j
    for i in range(rows.shape[0]):
        if not 0 <= rows[i] < labels.n:
            raise ValueError(f"rows must hold numbers from 0 to {labels.n - 1}, got {rows[i]}.")
        y = labels.at(rows[i])
        if m == 0:
            found[i, 0] = <int> (<const Py_ssize_t*> y)[0]
        for j in range(m):
            found[i, j] = (<const unsigned char*> y)[j]
    return np.asarray(found)
