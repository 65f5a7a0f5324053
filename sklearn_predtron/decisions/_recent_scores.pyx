"""The scores and the labels of the last rounds; each score was predicted before its row was learned."""
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
    LEAST_RECENT = 50
    MOST_VALUES = 1 << 20   # scores that are kept, of many classes
    UNLEARNED = 4           # of so many first rounds one says nothing of those to come
    FREQUENT = 256          # of so many rounds one more may pass between two that are recorded

cdef double LARGEST = 1e37  # a score in single precision
MOST_ROWS = 1 << 53     # that are numbered exactly in a table of numbers


cdef class RecentScores(Observer):
    """Scores, labels and weights of the last rounds.

    Those as of the last mark are kept as well.

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
        self.size = min(MOST_RECENT, max(LEAST_RECENT, MOST_VALUES // problem.d))
        self.values = problem.d if self.of_sets else 1
        self.scores, self.labels, self.weight, self.number = self.room()
        self.marked_scores, self.marked_labels, self.marked_weight, self.marked_number = self.room()
        self.next_mark = 1

    def room(self):
        """Return arrays for all rows that are kept."""
        return (np.zeros((self.size, self.problem.d), dtype=np.float32), np.zeros((self.size, self.values), dtype=np.intc),
                np.zeros(self.size), np.zeros(self.size, dtype=np.intp))

    def watch(self, Problem problem not None):
        self.problem = problem

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
        """Keep everything recorded up to now."""
        memcpy(&self.marked_scores[0, 0], &self.scores[0, 0], self.n * self.problem.d * sizeof(float))
        memcpy(&self.marked_labels[0, 0], &self.labels[0, 0], self.n * self.values * sizeof(int))
        memcpy(&self.marked_weight[0], &self.weight[0], self.n * sizeof(double))
        memcpy(&self.marked_number[0], &self.number[0], self.n * sizeof(Py_ssize_t))
        self.n_marked, self.head_marked = self.n, self.head
        self.marked_at = self.recorded
        self.next_mark = self.recorded + max(1, self.recorded // 10)

    def take(self, const double[:, ::1] scores not None, const int[:, ::1] labels not None, weight=None):
        """Record held-out rows, and set a mark.

        They replace all rows so far.  If they are too many, evenly spaced ones are kept.
        """
        n = scores.shape[0]
        if scores.shape[1] != self.problem.d or labels.shape[0] != n or labels.shape[1] != self.values:
            raise ValueError(f"scores must have shape {(n, self.problem.d)}, and labels {(n, self.values)}.")
        weight = np.ones(n) if weight is None else weight
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
        order = (self.head_marked - self.n_marked + np.arange(self.n_marked)) % self.size
        return tuple(part[order] for part in self.marked_rows())

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
        state = self.every, self.recorded, self.marked_at, self.next_mark, self.marked(), () if at_mark else self.rows()
        return type(self), (self.problem, self.kind), state

    def __setstate__(self, state):
        cdef bint several, at_mark
        since = state[5] if isinstance(state, (tuple, list)) and len(state) == 6 else None
        several = not isinstance(since, (tuple, list)) or len(since) > 0
        pattern = (whole(1), count, count, count, self.pattern(length_of(state, 4, 2)),
                   self.pattern(length_of(state, 5, 2)) if several else ())
        every, recorded, marked_at, next_mark, marked, rows = restored(self, state, pattern)
        at_mark = recorded == marked_at
        if several == at_mark or not marked_at <= recorded < next_mark:
            raise ValueError(f"The saved state of a {type(self).__name__} is damaged: it lacks rows, or has too many.")
        self.fill(marked)
        self.recorded = marked_at
        self.mark()
        self.every, self.recorded, self.next_mark = every, recorded, next_mark
        if rows:
            self.fill(rows)

    def pattern(self, n):
        """Return the pattern that n recorded rows must match."""
        n = min(n, self.size)
        most = (<FiniteProblem> self.problem).sigma_y.shape[0] - 1 if self.of_codes else 1
        return (bounded(np.float32, (n, self.problem.d), -np.inf, np.inf), bounded(np.intc, (n, self.values), 0, most),
                bounded(np.float64, (n,), 0, np.inf), bounded(np.intp, (n,), 0, MOST_ROWS))

    def export(self):
        return fields(recent={"rows": Recent(self.size, *self.rows())}, sum={"recorded": self.recorded})

    def adopt(self, state, bint with_sums):
        _size, *rows = state["recent"]["rows"] if with_sums else Recent(self.size, *(part[:0] for part in self.rows()))
        self.fill(tuple(rows))
        self.recorded = state["sum"]["recorded"] if with_sums else 0
        self.mark()

    def resized(self, Problem problem not None, places):
        """Return the record for a problem with more scores; these have been 0 so far; class or label c becomes places[c]."""
        wide = type(self)(problem, self.kind)
        wide.sparingly(self.every)
        places = np.asarray(places, dtype=np.intp)
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
