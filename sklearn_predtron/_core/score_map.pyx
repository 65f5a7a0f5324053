"""Maps from a round's rows to scores, and gradients back; a gradient of the scores is mapped back to the input of a step."""
from libc.float cimport DBL_EPSILON
from libc.math cimport fabs, sqrt

import numpy as np

from sklearn_predtron._core.rows cimport row_of, squared_norm

cdef double ONE = 1

cdef enum:
    BUFFER = 256        # entries that are taken at once; the step of loops too, where Cython wants a literal


cdef class ScoreMap:
    """The map W x: a round is a row, with d scores.

    A gradient g of the scores changes W by g x^T: the input of the step is the row.
    """
    round_name = "row"
    relation = ""       # of the scores to one another

    def __init__(self, Py_ssize_t d):
        if d < 1:
            raise ValueError(f"d={d} must be at least 1.")
        self.d = self.n_directions = d

    def __reduce__(self):
        return type(self), (self.d,)

    def of_features(self, Py_ssize_t p):
        """Return the map for weights of p features."""
        return self

    def of_scores(self, Py_ssize_t d):
        """Return the map to d scores."""
        return self if d == self.d else ScoreMap(d)

    def is_of(self, ScoreMap other not None):
        """Return whether weights for another map have such scores."""
        return type(other) is type(self)

    def is_like(self, ScoreMap other not None):
        """Return whether the scores of both maps are compatible."""
        return self.is_of(other) or other.is_of(self)

    def learnable(self, W, b):
        """Return weights that can train and predict like W, b."""
        return W, b

    def build(self, norm, Py_ssize_t p, intercept, **how):
        """Return zero weights of p features under a norm."""
        return norm.build(self, p, intercept=intercept, **how)

    def check_norm(self, norm):
        """Raise ValueError if the weights cannot have a norm."""

    def written_for_means(self, Py_ssize_t p):
        """Return how many weights an average writes to predict a round."""
        return 0

    def check_rounds(self, longest):
        """Raise ValueError if rounds of so many rows cannot be scored."""
        if longest != 1:
            raise ValueError(f"rounds must be single rows, got up to {longest} rows a round.")

    cdef const Row* whole_input(self, const View* x) noexcept nogil:
        """Return the row that is the input of the step; it is NULL if the input is composed of several rows."""
        return &x.first

    cdef const ScoreGradient* of_input(self, const ScoreGradient* g, ScoreGradient* single) noexcept nogil:
        """Return the factors of the input."""
        return g

    cdef const ScoreGradient* of_row(self, Py_ssize_t r, const ScoreGradient* g, ScoreGradient* single) noexcept nogil:
        """Return the factors of row r; it is NULL if they are 0."""
        return g

    cdef double intercept_weight(self, const ScoreGradient* g) noexcept nogil:
        """Return how often the intercept's feature is in the input."""
        return 1

    cdef const double* row_weights(self, const ScoreGradient* g) noexcept nogil:
        """Return how often each row is in the input."""
        return &ONE

    cdef void column_lengths(self, View* x, Py_ssize_t* at, double* value) noexcept nogil:
        """Write the Euclidean length of each column into value.

        The columns are those of the round's rows; at is scratch.  Both have p entries.
        """

    cdef Py_ssize_t gather(self, View* x, const ScoreGradient* g, Py_ssize_t* at, double* value) noexcept nogil:
        """Return the number of the input's features; their indices and values are written too."""
        x.k.unpack(&x.first, 0, x.first.n, at, value)
        return x.first.n

    cdef double norm2(self, View* x, const ScoreGradient* g, double r2) noexcept nogil:
        """Return the squared Frobenius norm of a step.

        It covers the change of W and that of the intercept, a feature of squared length r2.
        """
        return squared_sum(g) * (squared_norm(x) + r2)

    cdef double norm2_by(self, const double[:, ::1] K, Py_ssize_t first, Py_ssize_t m, const ScoreGradient* g,
                         double r2) noexcept nogil:
        """Return the squared norm of a step in a kernel space.

        K is the kernel matrix, in which the round's m rows begin at `first`.
        """
        return squared_sum(g) * (max(K[first, first], 0) + r2)

    cdef void add(self, View* x, Matrix* M, const ScoreGradient* g, double scale) noexcept nogil:
        """Add scale g x^T to M."""
        x.k.add[M.layout](&x.first, M, g, scale)


cdef class BatchMap(ScoreMap):
    """The map X w + b: a round is a block of rows.

    Each row has one score.

    A gradient g changes w by X^T g, the input of the step, and the offset b by the sum of g.
    """
    round_name = "batch"

    def __init__(self, Py_ssize_t p=0):
        ScoreMap.__init__(self, 1)
        self.of_blocks = True
        self.pulled_back = np.zeros(p)

    def __reduce__(self):
        return type(self), (self.pulled_back.shape[0],)

    def of_features(self, Py_ssize_t p):
        return type(self)(p)

    def check_rounds(self, longest):
        """Accept blocks with any number of rows."""

    cdef double intercept_weight(self, const ScoreGradient* g) noexcept nogil:
        return self.total if g.value == &ONE else sum_of(g)      # of the input itself, the sum of its rows' coefficients

    cdef const Row* whole_input(self, const View* x) noexcept nogil:
        return NULL

    cdef const ScoreGradient* of_input(self, const ScoreGradient* g, ScoreGradient* single) noexcept nogil:
        self.total = self.intercept_weight(g)
        single.n, single.at, single.value = 1, NULL, &ONE
        return single

    cdef const ScoreGradient* of_row(self, Py_ssize_t r, const ScoreGradient* g, ScoreGradient* single) noexcept nogil:
        single.n, single.at, single.value = 1, NULL, &g.value[r]
        return single if g.value[r] != 0 else NULL

    cdef const double* row_weights(self, const ScoreGradient* g) noexcept nogil:
        return g.value

    cdef void pull_back(self, View* x, const ScoreGradient* g) noexcept nogil:
        """Return the sum of the rows times their g."""
        if x.start == NULL or self.used:
            self.pulled_back[:] = 0
        self.is_pulled_back = self.used = x.start == NULL
        x.k.combine(x.m, &x.first, x.start, 1, g.value, &self.pulled_back[0])

    cdef Py_ssize_t gather(self, View* x, const ScoreGradient* g, Py_ssize_t* at, double* value) noexcept nogil:
        cdef Py_ssize_t r, k, j, begin, n = 0
        cdef Py_ssize_t where[BUFFER]
        cdef double stored[BUFFER]
        cdef const Row* row
        cdef Row spare
        x.k.combine(x.m, &x.first, x.start, 1, g.value, &self.pulled_back[0])
        for r in range(x.m if x.start != NULL else 1):
            row = row_of(x, r, &spare)
            for begin in range(0, row.n, 256):
                x.k.unpack(row, begin, min(BUFFER, row.n - begin), where, stored)
                for k in range(min(BUFFER, row.n - begin)):
                    j = where[k]
                    if self.pulled_back[j] != 0:      # 0 from the second visit on
                        at[n] = j
                        value[n] = self.pulled_back[j]
                        n += 1
                        self.pulled_back[j] = 0
        return n

    cdef void column_lengths(self, View* x, Py_ssize_t* at, double* value) noexcept nogil:
        cdef Py_ssize_t r, k
        cdef const Row* row
        cdef Row spare
        for r in range(x.m):
            row = row_of(x, r, &spare)
            x.k.unpack(row, 0, row.n, at, value)
            for k in range(row.n):
                self.pulled_back[at[k]] += value[k] * value[k]
        for k in range(x.p):
            value[k] = sqrt(self.pulled_back[k])
            self.pulled_back[k] = 0

    cdef double norm2(self, View* x, const ScoreGradient* g, double r2) noexcept nogil:
        cdef double g2
        self.pull_back(x, g)
        g2 = x.k.take_norm2(x.m, &x.first, x.start, g.value, &self.pulled_back[0])
        g2 = g2 if g2 > cancelled(x, g) else 0
        return g2 + r2 * self.intercept_weight(g) ** 2 if r2 > 0 else g2

    cdef double norm2_by(self, const double[:, ::1] K, Py_ssize_t first, Py_ssize_t m, const ScoreGradient* g,
                         double r2) noexcept nogil:
        """Return g^T K g of the round's rows, and the intercept's part; a value within the rounding error counts as 0."""
        cdef Py_ssize_t i, j, touched = 0
        cdef double total = 0, along, size = 0
        for i in range(m):
            if g.value[i] == 0:
                continue
            along = 0
            for j in range(m):
                along += K[first + i, first + j] * g.value[j]
            total += g.value[i] * along
            size += fabs(g.value[i]) * sqrt(max(K[first + i, first + i], 0))
            touched += 1
        total = total if total > touched * DBL_EPSILON * size * size else 0
        return total + r2 * self.intercept_weight(g) ** 2 if r2 > 0 else total

    cdef void add(self, View* x, Matrix* M, const ScoreGradient* g, double scale) noexcept nogil:
        """Add scale (X^T g)^T to M; dense rows are read from their sum, sparse ones in place."""
        cdef Py_ssize_t j
        if x.start != NULL:
            x.k.combine(x.m, &x.first, x.start, scale, g.value, M.data)
            return
        if not self.is_pulled_back:
            self.pull_back(x, g)
        for j in range(x.p):
            M.data[j] += scale * self.pulled_back[j]


cdef class QueryMap(BatchMap):
    """The map X w: a round is the documents of a query. An offset common to all of them cancels in every difference."""
    round_name = "query"

    def __init__(self, Py_ssize_t p=0):
        BatchMap.__init__(self, p)
        self.offsets_cancel = True


cdef inline double squared_sum(const ScoreGradient* g) noexcept nogil:
    cdef double square = 0
    cdef Py_ssize_t i
    for i in range(g.n):
        square += g.value[i] * g.value[i]
    return square


cdef double sum_of(const ScoreGradient* g) noexcept nogil:
    """Return the sum of the entries."""
    cdef double total = 0
    cdef Py_ssize_t i
    for i in range(g.n):
        total += g.value[i]
    return total


cdef double cancelled(const View* x, const ScoreGradient* g) noexcept nogil:
    """Return a bound on the rounding error of a zero sum.

    The sum is |sum of the rows times g|^2, for example of identical documents.
    """
    cdef Py_ssize_t i, touched = 0
    cdef double size = 0
    cdef Row spare
    for i in range(g.n):
        if g.value[i] != 0:
            size += fabs(g.value[i]) * sqrt(x.k.norm2(row_of(x, row_number(g, i), &spare)))
            touched += 1
    return (touched * DBL_EPSILON * size) ** 2
