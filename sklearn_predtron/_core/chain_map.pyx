"""From the tokens of a sequence to the scores of its labels and of their transitions."""
import numpy as np

from sklearn_predtron._core.rows cimport View
from sklearn_predtron._core.score_map cimport ScoreMap
from sklearn_predtron._core.simd cimport ScoreGradient


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
        self.following, self.token, self.share = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0)

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
            from sklearn_predtron._names import series
            from sklearn_predtron._parts import kinds
            from sklearn_predtron.norms import Norm
            accepted = series([repr(kind.alias) for kind in kinds(Norm) if kind.of_sequences])
            raise ValueError(f"norm={norm!r} is not for sequences; accepted are {accepted}.")

    def check_rounds(self, longest):
        """A sequence has any number of tokens."""

    def reserve(self, Py_ssize_t longest):
        """Get ready for rounds of up to so many tokens."""
        if self.token.shape[0] < longest:
            self.following = np.empty(longest * self.d, dtype=np.intp)
            self.token, self.share = np.empty(longest, dtype=np.intp), np.empty(longest)

    cdef Py_ssize_t of_token(self, const ScoreGradient* g, Py_ssize_t i, Py_ssize_t m, ScoreGradient* of_row) noexcept nogil:
        """The entries of g from the i-th on that are of its token, into of_row; where the next token's begin."""
        cdef Py_ssize_t row = g.at[i] // self.d
        of_row.n, of_row.at, of_row.value = 0, &self.label[0], g.value + i
        while i < g.n and g.at[i] < m * self.d and g.at[i] // self.d == row:
            self.label[of_row.n] = g.at[i] - row * self.d
            of_row.n += 1
            i += 1
        return i

    cdef double table_norm2(self, View* x, const ScoreGradient* g, double r2) noexcept nogil:
        """The squared length of the change of the table, in the units of the weights."""
        cdef Py_ssize_t i
        cdef double square = 0
        for i in range(g.n):
            if g.at[i] >= x.m * self.d:
                square += g.value[i] * g.value[i]
        return square * self.transition_scaling * r2

    cdef Py_ssize_t link_classes(self, const ScoreGradient* g, Py_ssize_t m) noexcept nogil:
        """Link the entries of g that are of the same class, for `take_class`; return how many are of tokens."""
        cdef Py_ssize_t k, n = 0
        while n < g.n and g.at[n] < m * self.d:
            k = g.at[n] % self.d
            self.following[n] = self.first[k]
            self.first[k] = n
            n += 1
        return n

    cdef bint take_class(self, const ScoreGradient* g, Py_ssize_t i, ScoreGradient* of_class) noexcept nogil:
        """Fill in the tokens, and what they are multiplied by, of the class of entry i; False if they were taken before."""
        cdef Py_ssize_t k = g.at[i] % self.d, entry = self.first[k]
        self.first[k] = -1
        of_class.n, of_class.at, of_class.value = 0, &self.token[0], &self.share[0]
        while entry >= 0:
            self.token[of_class.n], self.share[of_class.n] = g.at[entry] // self.d, g.value[entry]
            of_class.n += 1
            entry = self.following[entry]
        return of_class.n > 0
