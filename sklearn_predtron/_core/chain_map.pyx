"""From the tokens of a sequence to the scores of its labels and of their transitions."""
from libc.float cimport DBL_EPSILON
from libc.math cimport fabs, sqrt

import numpy as np

from sklearn_predtron._core.rows cimport View, row_of, take_row
from sklearn_predtron._core.score_map cimport ScoreMap
from sklearn_predtron._core.simd cimport Matrix, Row, ScoreGradient


cdef class ChainMap(ScoreMap):
    """X W^T and a table: a round is a sequence of rows, its tokens, with d scores each; behind these are those of the table.

    The table has a score for each pair of neighbouring labels (of label j before label k at k * d + j), for the first label and
    for the last one.  A gradient g of them changes W by the sum of g_t x_t^T over the tokens, and the table by its own entries.
    Each of its indicators is a feature of squared length `transition_scaling` times that of the intercept's.
    """
    round_name = "sequence"

    def __init__(self, Py_ssize_t d, double transition_scaling, Py_ssize_t p=0):
        ScoreMap.__init__(self, d)
        self.extra = d * d + 2 * d
        self.transition_scaling = transition_scaling
        self.pulled_back = np.zeros(p)
        self.first, self.label = np.full(d, -1, dtype=np.intp), np.empty(d, dtype=np.intp)
        self.following, self.offset = np.empty(0, dtype=np.intp), np.zeros(d)

    def __reduce__(self):
        return type(self), (self.d, self.transition_scaling, self.pulled_back.shape[0])

    def of_features(self, Py_ssize_t p):
        return ChainMap(self.d, self.transition_scaling, p)

    def build(self, norm, Py_ssize_t p, intercept, **how):
        """Return zero weights of p features under a norm, and a zero table."""
        from sklearn_predtron.norms._chained import ChainedWeights
        self.check_norm(norm)
        return ChainedWeights(norm.build(ScoreMap(self.d), p, intercept=intercept, **how), self)

    def check_norm(self, norm):
        """Raise ValueError unless the weights of tokens can have a norm, beside the transitions'."""
        if not norm.of_sequences:
            from sklearn_predtron._parts import kinds
            from sklearn_predtron.norms import Norm
            accepted = " and ".join([repr(kind.alias) for kind in kinds(Norm) if kind.of_sequences])
            raise ValueError(f"norm={norm!r} is not for sequences; accepted are {accepted}.")

    def check_rounds(self, longest):
        """A sequence has any number of tokens."""

    def reserve(self, Py_ssize_t longest):
        """Get ready for rounds of up to so many tokens."""
        if self.following.shape[0] < longest * self.d:
            self.following = np.empty(longest * self.d, dtype=np.intp)

    cdef Py_ssize_t of_token(self, const ScoreGradient* g, Py_ssize_t i, Py_ssize_t m, ScoreGradient* of_row) noexcept nogil:
        """The entries of g from the i-th on that are of its token, into of_row; where the next token's begin."""
        cdef Py_ssize_t row = g.at[i] // self.d
        of_row.n, of_row.at, of_row.value = 0, &self.label[0], g.value + i
        while i < g.n and g.at[i] < m * self.d and g.at[i] // self.d == row:
            self.label[of_row.n] = g.at[i] - row * self.d
            of_row.n += 1
            i += 1
        return i

    cdef void add(self, View* x, Matrix* M, const ScoreGradient* g, double scale) noexcept nogil:
        cdef Py_ssize_t i = 0
        cdef Row spare
        cdef const Row* row
        cdef ScoreGradient of_row
        while i < g.n and g.at[i] < x.m * self.d:
            row = row_of(x, g.at[i] // self.d, &spare)
            i = self.of_token(g, i, x.m, &of_row)
            x.k.add[M.layout](row, M, &of_row, scale)

    cdef double norm2(self, View* x, const ScoreGradient* g, double r2) noexcept nogil:
        return self.rows_norm2(x, g, r2) + self.table_norm2(x, g, r2)

    cdef double table_norm2(self, View* x, const ScoreGradient* g, double r2) noexcept nogil:
        """The squared length of the change of the table, in the units of the weights."""
        cdef Py_ssize_t i
        cdef double square = 0
        for i in range(g.n):
            if g.at[i] >= x.m * self.d:
                square += g.value[i] * g.value[i]
        return square * self.transition_scaling * r2

    cdef double rows_norm2(self, View* x, const ScoreGradient* g, double r2) noexcept nogil:
        """That of the change of W and b, class by class: tokens that share features may cancel, or add up."""
        cdef Py_ssize_t i, k, n = 0
        cdef double square = 0
        while n < g.n and g.at[n] < x.m * self.d:
            k = g.at[n] % self.d
            self.following[n] = self.first[k]
            self.first[k] = n
            self.offset[k] += g.value[n]
            n += 1
        for i in range(n):
            k = g.at[i] % self.d
            if self.first[k] >= 0:
                square += self.class_norm2(x, g, self.first[k]) + r2 * self.offset[k] * self.offset[k]
                self.first[k], self.offset[k] = -1, 0
        return square

    cdef double class_norm2(self, View* x, const ScoreGradient* g, Py_ssize_t last) noexcept nogil:
        """The squared length of a sum of tokens, that of the entries of g which lead back from the last one."""
        cdef Py_ssize_t i = last, touched = 0
        cdef double size = 0, square = 0
        cdef View token
        if self.following[i] < 0:
            take_row(x, g.at[i] // self.d, &token)
            return g.value[i] * g.value[i] * x.k.norm2(&token.first)
        while i >= 0:
            take_row(x, g.at[i] // self.d, &token)
            x.k.combine(1, &token.first, token.start, 1, &g.value[i], &self.pulled_back[0])
            size += fabs(g.value[i]) * sqrt(x.k.norm2(&token.first))
            touched += 1
            i = self.following[i]
        i = last
        while i >= 0 and (x.start != NULL or i == last):
            take_row(x, g.at[i] // self.d, &token)
            square += x.k.take_norm2(1, &token.first, token.start, &g.value[i], &self.pulled_back[0])
            i = self.following[i]
        if x.start == NULL:
            self.pulled_back[:] = 0
        return square if square > (touched * DBL_EPSILON * size) ** 2 else 0
