"""Predictors: weights of one moment.

Each weight is rounded once, so that a row's scores are the same in every block of rows.

They are kept while nothing is learned.
"""
from libc.float cimport DBL_MAX
from libc.math cimport fabs
from libc.string cimport memcpy, memset

cimport cython

import numpy as np

from sklearn_predtron._core.rows cimport Rows, View, of_doubles, row_of
from sklearn_predtron._core.simd cimport BY_CLASS, BY_FEATURE, ONE_CLASS, Row
from sklearn_predtron._core.weights cimport ScoreFunction, Weights
from sklearn_predtron._core.memory cimport blank

from sklearn_predtron._core.memory import aligned_zeros

cdef enum:
    PAGE = 512      # doubles that are read at a time; lines of zeros are not written
    NARROW = 8      # doubles of a line that is not worth a look of its own
    CLASSES = 8     # whose weights are read at a time, as many as the kernels take at a time
    FEW_WEIGHTS = 1 << 12   # that are always written down


def frozen(Weights weights not None, bint mean):
    """Return a predictor for several threads; it predicts by the average of the weights, or by their last iterate."""
    own = weights.own_predictor(mean)
    return FrozenWeights(weights, mean) if own is None else own


def passing(Weights weights not None, bint mean, Rows rows not None):
    """Return a predictor for few rows without writing all weights; return None if that is not possible."""
    if weights.offsets_of_lines:
        return None
    if not weights.read_lines(mean, NULL, 0, 0, 1, NULL):
        return weights.own_passing(mean, rows)
    if rows.sparse and (weights.by_feature or weights.d == 1):
        return PassingFeatures(weights, mean, rows)
    return None if rows.sparse or weights.by_feature or weights.d == 1 else PassingClasses(weights, mean)


cdef class FrozenWeights(ScoreFunction):
    """A copy of the weights, by feature or by class."""

    def __init__(self, Weights source not None, bint mean):
        cdef Py_ssize_t d = source.d, p = source.n_features
        cdef bint by_feature = source.by_feature and d > 1
        self.map_scores(d, p, None)
        self.W.d = d
        self.W.stride = 1 if d == 1 else (d + 3) // 4 * 4 if by_feature else (p + 7) // 8 * 8
        self.W.layout = ONE_CLASS if d == 1 else BY_FEATURE if by_feature else BY_CLASS
        self.data = aligned_zeros(self.W.stride * (p if by_feature or d == 1 else d), source.small_pages)
        self.b = np.zeros(d)
        self.W.data, self.W.offset = &self.data[0], &self.b[0]
        if source.read_lines(mean, NULL, 0, 0, 1, NULL):
            with nogil:
                self.copy(source, mean)
        else:
            W, b = source.mean() if mean else source.last()
            shaped = np.asarray(self.data).reshape(-1, 1 if d == 1 else self.W.stride)
            if d == 1:
                shaped[:, 0] = W[0]
            elif by_feature:
                shaped[:, :d] = W.T
            else:
                shaped[:, :p] = W
            np.asarray(self.b)[:] = b

    cdef void copy(self, Weights source, bint mean) noexcept nogil:
        cdef Py_ssize_t line = 0, n, i, stride = self.W.stride, lines = self.data.shape[0] // stride
        cdef double some[PAGE]
        source.read_offsets(mean, &self.b[0])
        if stride > PAGE:
            source.read_lines(mean, NULL, 0, lines, stride, &self.data[0])
            return
        while line < lines:
            n = min(PAGE // stride, lines - line)
            memset(some, 0, n * stride * sizeof(double))
            source.read_lines(mean, NULL, line, n, stride, some)
            if stride <= NARROW:
                if not blank(some, n * stride):
                    memcpy(&self.data[line * stride], some, n * stride * sizeof(double))
            else:
                for i in range(n):
                    if not blank(&some[i * stride], stride):
                        memcpy(&self.data[(line + i) * stride], &some[i * stride], stride * sizeof(double))
            line += n

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        x.k.scores[self.W.layout](x.m, &x.first, x.start, &self.W, 1, False, t)


cdef class PassingFeatures(ScoreFunction):
    """Copies of the weights of each row's own features."""

    def __init__(self, Weights source not None, bint mean, Rows rows not None):
        cdef Py_ssize_t i, most = 1
        cdef View x
        self.map_scores(source.d, source.n_features, None)
        self.source, self.mean = source, mean
        for i in range(rows.n):
            rows.view(i, &x)
            most = max(most, x.first.n)
        self.W.d = self.d
        self.W.stride = 1 if self.d == 1 else (self.d + 3) // 4 * 4
        self.W.layout = ONE_CLASS if self.d == 1 else BY_FEATURE
        self.part, self.b = aligned_zeros(most * self.W.stride), np.zeros(self.d)
        self.at, self.number, self.value = np.empty(most, dtype=np.intp), np.arange(most), np.empty(most)
        self.W.data, self.W.offset = &self.part[0], &self.b[0]

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        cdef Py_ssize_t r
        cdef const Row* row
        cdef Row spare, part
        self.source.read_offsets(self.mean, self.W.offset)
        part.value, part.index = &self.value[0], &self.number[0]
        for r in range(x.m):
            row = row_of(x, r, &spare)
            part.n = row.n
            x.k.unpack(row, 0, row.n, &self.at[0], &self.value[0])
            self.source.read_lines(self.mean, &self.at[0], 0, row.n, self.W.stride, self.W.data)
            of_doubles(True).scores[self.W.layout](1, &part, NULL, &self.W, 1, False, t + r * self.d)


cdef class PassingClasses(ScoreFunction):
    """Copies of the weights of some classes at a time; each copy serves all rows of a view."""

    def __init__(self, Weights source not None, bint mean):
        self.map_scores(source.d, source.n_features, None)
        self.source, self.mean = source, mean
        self.W.stride = (self.p + 7) // 8 * 8
        self.W.layout = BY_CLASS
        self.part, self.b = aligned_zeros(CLASSES * self.W.stride), np.zeros(self.d)
        self.W.data = &self.part[0]

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        cdef Py_ssize_t c, r
        cdef const void* row
        self.source.read_offsets(self.mean, &self.b[0])
        for c in range(0, self.d, 8):
            self.W.d = min(CLASSES, self.d - c)
            self.W.offset = &self.b[c]
            self.source.read_lines(self.mean, NULL, c, self.W.d, self.W.stride, self.W.data)
            for r in range(x.m):
                row = <const char*> x.first.value + r * x.p * <Py_ssize_t> x.k.value_size
                x.k.scores_at(1, &row, x.p, &self.W, 1, False, self.d, t + r * self.d + c)


cdef bint are_small(Py_ssize_t n, const double* t) noexcept nogil:
    """Whether scores are so small that sums of several cannot overflow; NaN is not."""
    cdef Py_ssize_t i
    cdef bint small = True
    for i in range(n):
        small &= fabs(t[i]) <= DBL_MAX / 16
    return small


cdef bint score(ScoreFunction scoring, Rows rows, double[:, ::1] out, Py_ssize_t first, bint mean) except -1:
    """Fill in the scores of rows from the first on; return whether all are finite, and so are their differences."""
    cdef Py_ssize_t done = first, begin, end, last = first + out.shape[0]
    cdef bint small = True
    cdef View x
    rows = rows.apart()
    if rows.p > scoring.n_features or rows.longest != 1:
        raise ValueError(f"rows must be single, and have at most the {scoring.n_features} features of the weights.")
    if not 0 <= first <= last <= rows.n or out.shape[1] != scoring.d:
        raise ValueError(f"out must have shape {(rows.n - first, scoring.d)}, got {(out.shape[0], out.shape[1])}.")
    while done < last:
        end = scoring.open_block(rows, None, done, last, mean)
        with nogil:
            while done < end:
                begin = done
                done = rows.view_together(begin, end, &x)
                scoring.scores(&x, &out[begin - first, 0])
                small &= are_small(x.m * scoring.d, &out[begin - first, 0])
    return small


cpdef bint are_few(Rows rows, Py_ssize_t before) except -1:
    """Return whether rows are scored without writing all weights; the given number of values was scored before them."""
    return before + rows.n_values() < rows.p * (1 if rows.sparse else 2)


cdef class Predictors:
    """Finder of the predictor of some weights.

    It serves threads that are in a section of their lock.

    Threads run side by side, so the predictor that one leaves for the next is taken and left in critical sections.
    """

    def __init__(self, Weights weights not None, Lock lock not None):
        self.weights, self.lock = weights, lock

    cdef void clear(self) noexcept:
        """Keep nothing; the predictor may be as large as the weights."""
        self.kept = None

    cdef ScoreFunction whole(self, bint mean):
        """Return a predictor that later training does not change; it is for several threads unless it is a kernel expansion."""
        cdef ScoreFunction predictor = self.recall(mean)
        if predictor is None:
            predictor = frozen(self.weights, mean)
            if not self.weights.whole_in_blocks:    # a kernel expansion holds the rows of one thread
                self.keep(predictor, mean)
        return predictor

    cdef void keep(self, ScoreFunction predictor, bint mean) noexcept:
        """Keep the predictor of this moment."""
        with cython.critical_section(self):
            self.kept, predictor = predictor, self.kept     # the old one is released after the section
            self.of_mean, self.moment = mean, self.lock.moment()

    cdef ScoreFunction recall(self, bint mean):
        """Return the predictor kept for the present weights; return None if there is none."""
        with cython.critical_section(self):
            if self.kept is None or self.of_mean != mean or self.moment == 0 or self.moment != self.lock.moment():
                return None
            return self.kept

    cdef ScoreFunction in_passing(self, Rows rows, bint mean):
        """Return the kept predictor for few rows.

        It is to be used within the section.  Return None if that means writing large weights.
        """
        cdef Py_ssize_t passed = self.count(rows.n_values())
        if rows.p * self.weights.d <= FEW_WEIGHTS or not are_few(rows, passed - rows.n_values()):
            return None
        return passing(self.weights, mean, rows)

    cdef Py_ssize_t count(self, Py_ssize_t values) noexcept:
        """Count values that are scored at this moment; return the count so far."""
        cdef size_t moment = self.lock.moment()
        cdef ScoreFunction _before = None
        with cython.critical_section(self):
            if self.moment != moment:
                self.moment, self.passed = moment, 0
                _before, self.kept = self.kept, None    # the old one is released after the section
            self.passed += values
            return self.passed


cdef class Predictor:
    """A predictor as of the moment when it was made; several threads can use it at a time unless it is a kernel expansion."""

    def __init__(self, ScoreFunction scoring not None, bint mean):
        self.scoring, self.mean = scoring, mean

    def scores(self, Rows rows not None, double[:, ::1] out not None, Py_ssize_t first=0):
        """Write the scores W x + b of rows into out. Rows are scored from the first on. Return whether all scores are finite."""
        return score(self.scoring, rows, out, first, self.mean)
