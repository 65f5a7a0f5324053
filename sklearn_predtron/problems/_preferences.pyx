"""Rankings of labels by votes of pairs; each pair is a binary problem (Hüllermeier et al. 2008)."""
from libc.math cimport INFINITY, fabs

import numpy as np

from sklearn_predtron._core.rows cimport Rows
from sklearn_predtron._core.score_map cimport ScoreMap
from sklearn_predtron._core.problem cimport Labels, Problem, Round
from sklearn_predtron.problems._relevance cimport Relevance, Relevances

from sklearn_predtron.problems._finite import SignProblem
from sklearn_predtron.problems._score_gaps import Leads, check_room

MOST_LABELS = 1 << 16


cdef class PreferencesProblem(Problem):
    """Rankings of m labels by d = m (m - 1) / 2 scores.

    The score of the labels i < j is positive where i is ahead of j.

    The pairs are in the order (0, 1), (0, 2), ..., (1, 2), ...; a single label has one score, of no pair.  Labels are ranked by
    the pairs that they win, then by the sums of their scores.  L is the share of pairs of different relevance that the ranking
    has not in the right order: it is at most 1, and 0 where no pair is wrong, so that it is at most the number of pairs that
    are.  c_L and C_L are of a single pair.
    """

    def __init__(self, Py_ssize_t n_labels):
        if not 0 < n_labels < MOST_LABELS:
            raise ValueError(f"n_labels={n_labels} must be at least 1, and less than {MOST_LABELS}.")
        self.n_labels = n_labels
        self.d = max(n_labels * (n_labels - 1) // 2, 1)
        self.score_map = ScoreMap(self.d)
        self.check_all_scores = True
        self.c_L = self.C_L = 1
        self.room = np.zeros(2 * n_labels)

    def __reduce__(self):
        return type(self), (self.n_labels,)

    cdef int check(self, Rows rows, Labels labels) except -1:
        Problem.check(self, rows, labels)
        self.check_lists(labels)
        return 0

    def check_lists(self, labels):
        """Raise ValueError where labels are no lists of m relevances."""
        if not isinstance(labels, Relevances):
            raise ValueError(f"labels must be lists of relevances, got {type(labels).__name__}.")
        if (np.diff(labels.starts) != self.n_labels).any():
            raise ValueError(f"every list must have {self.n_labels} relevances.")

    def check_scores(self, scores):
        """Return scores, which may be flat, as rows of d."""
        if scores.size % self.d or (scores.ndim == 2 and scores.shape[1] != self.d):
            raise ValueError(f"scores must have {self.d} columns, got shape {scores.shape}.")
        return np.ascontiguousarray(scores, dtype=np.float64).reshape(-1, self.d)

    @property
    def of_one_score(self):
        return SignProblem()

    cdef int preference(self, const Relevance* y, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        """Return the relation of labels i and j.

        It is 1 where label i is more relevant than j, -1 where it is less, 0 where they tie.
        """
        return (y.grade[i] < y.grade[j]) - (y.grade[j] < y.grade[i])

    cdef void decode(self, const double* t, double* key, double* margin) noexcept nogil:
        """Count the pairs that each label wins; a quarter of its share in the sum of all |scores| is added; margin is scratch."""
        cdef Py_ssize_t i, j, k, m = self.n_labels
        cdef double largest = 0, total = 0, share
        for i in range(m):
            key[i] = margin[i] = 0
        for k in range(self.d):
            largest = max(largest, fabs(t[k]))
        if largest == 0:
            return
        k = 0
        for i in range(m):
            for j in range(i + 1, m):
                key[i] += t[k] > 0
                key[j] += t[k] < 0
                share = t[k] / largest      # so that no sum overflows
                margin[i] += share
                margin[j] -= share
                total += fabs(share)
                k += 1
        for i in range(m):
            key[i] += margin[i] / (4 * total)

    cdef double loss(self, const double* t, const Relevance* y, double* room, double tie) noexcept nogil:
        """Return the share of pairs in the wrong order.

        Pairs have different relevance; each one tied in the ranking counts `tie`.
        """
        cdef Py_ssize_t i, j
        cdef int ahead
        cdef double lead, wrong = 0
        if y.pairs == 0:
            return 0
        self.decode(t, room, room + self.n_labels)
        for i in range(self.n_labels):
            for j in range(i + 1, self.n_labels):
                ahead = self.preference(y, i, j)
                lead = ahead * (room[i] - room[j])
                if ahead != 0 and not lead > 0:
                    wrong += tie if lead == 0 else 1
        return wrong / y.pairs

    cdef double suffered(self, const double* t, const Relevance* y) noexcept nogil:
        """Return L of the ranking in a round; a tie is a mistake."""
        return self.loss(t, y, &self.room[0], 1)

    cdef void decode_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        r.loss = self.suffered(t, <const Relevance*> y)

    # ---------------------------------------------------------------------------------------------------------- many rows

    def label_scores(self, scores):
        """Return the labels' decoded scores, shape (n, m); there is a row for each row of scores."""
        cdef const double[:, ::1] t = self.check_scores(scores)
        cdef double[:, ::1] keys = np.empty((t.shape[0], self.n_labels))
        cdef double[::1] margin = np.empty(self.n_labels)
        cdef Py_ssize_t i
        with nogil:
            for i in range(t.shape[0]):
                self.decode(&t[i, 0], &keys[i, 0], &margin[0])
        return np.asarray(keys)

    def losses(self, scores, Relevances labels not None):
        """Return the expected L of each row's ranking; labels that tie are in random order."""
        cdef const double[:, ::1] t = self.check_scores(scores)
        cdef double[::1] out = np.empty(labels.n)
        cdef double[::1] room = np.empty(2 * self.n_labels)
        cdef Py_ssize_t i
        self.check_rounds(t, labels)
        with nogil:
            for i in range(labels.n):
                out[i] = self.loss(&t[i, 0], <const Relevance*> labels.at(i), &room[0], 0.5)
        return np.asarray(out)

    def check_rounds(self, const double[:, ::1] scores, Relevances labels):
        """Raise ValueError unless labels are m relevances a row; there is a list of them for each row of scores."""
        self.check_lists(labels)
        if labels.n != scores.shape[0]:
            raise ValueError(f"there are {scores.shape[0]} rows of scores and {labels.n} lists.")

    def pair_margins(self, scores, Relevances labels not None):
        """Return twice the right label's lead in each pair; the shape is (n, d); the lead is infinite where the labels tie."""
        cdef const double[:, ::1] t = self.check_scores(scores)
        cdef double[:, ::1] out = np.full((labels.n, self.d), INFINITY)
        cdef const Relevance* y
        cdef Py_ssize_t r, i, j, k
        cdef int ahead
        self.check_rounds(t, labels)
        with nogil:
            for r in range(labels.n):
                y = <const Relevance*> labels.at(r)
                k = 0
                for i in range(self.n_labels):
                    for j in range(i + 1, self.n_labels):
                        ahead = self.preference(y, i, j)
                        if ahead != 0:
                            out[r, k] = 2 * ahead * t[r, k]
                        k += 1
        return np.asarray(out)

    @property
    def predictions_known(self):
        return True

    def margins(self, scores, labels, pairwise=False):
        return self.pair_margins(scores, labels).min(axis=1)

    def shortfalls(self, scores, labels, pairwise=False):
        return np.maximum(0.0, 1.0 - self.pair_margins(scores, labels))

    def leads(self, labels, bint pairwise, double width):
        self.check_lists(labels)
        signs = self.pair_margins(np.ones((labels.n, self.d)), labels)
        row, pair = np.nonzero(np.isfinite(signs))
        check_room(len(row) * width)
        below = signs[row, pair] < 0
        own, other = pair + self.d * below, pair + self.d * ~below
        code = np.vstack([np.eye(self.d), -np.eye(self.d)])
        return Leads(code, own, other, row, row, np.ones(len(row)), np.ones(len(row), dtype=bool))
