"""Scores of a sequence's labels and transitions, and their weights; the scores are computed from the tokens of the sequence."""
import numpy as np

from sklearn_predtron._core.rows cimport Rows, View, of_doubles, take_row
from sklearn_predtron._core.score_map cimport ScoreMap, sum_of
from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.weights cimport Weights
from sklearn_predtron._core.intercept cimport Intercept
from sklearn_predtron.norms._l2 cimport IterateSum, L2Weights
from sklearn_predtron.norms._rkhs cimport RKHSWeights
from sklearn_predtron.norms._wrapped cimport WrappedWeights
from sklearn_predtron._core.problem cimport Round

from sklearn_predtron._core.mixable_state import fields, joined, part_of
from sklearn_predtron._core.state import count, flag, real, restored, whole
from sklearn_predtron._core.weights import euclidean_length
from sklearn_predtron._support.names import series
from sklearn_predtron.norms._scaled import ScaledWeights

cdef double ONE = 1


cdef class ChainMap(ScoreMap):
    """The map X W^T and a table: a round is a sequence.

    The rows of the sequence are its tokens, with d scores each; behind these are the scores of the table.

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
        """Return zero weights under a norm, and a zero table; the weights have p features."""
        self.check_norm(norm)
        return ChainedWeights(norm.build(ScoreMap(self.d), p, intercept=intercept, **how), self)

    def check_norm(self, norm):
        """Raise ValueError unless the tokens' weights can have a norm; the table of the transitions is beside them."""
        if not norm.of_sequences:
            from sklearn_predtron._support.parts import kinds  # needs scikit-learn, which a predictor does without
            from sklearn_predtron.norms import Norm

            accepted = series([repr(kind.alias) for kind in kinds(Norm) if kind.of_sequences])
            raise ValueError(f"norm={norm!r} is not for sequences; accepted are {accepted}.")

    def check_rounds(self, longest):
        """Accept sequences with any number of tokens."""

    def reserve(self, Py_ssize_t longest):
        """Allocate memory for rounds of up to so many tokens."""
        if self.token.shape[0] < longest:
            self.following = np.empty(longest * self.d, dtype=np.intp)
            self.token, self.share = np.empty(longest, dtype=np.intp), np.empty(longest)

    cdef Py_ssize_t of_token(self, const ScoreGradient* g, Py_ssize_t i, Py_ssize_t m, ScoreGradient* of_row) noexcept nogil:
        """Collect a token's entries of g into of_row. They start at the i-th entry. Return where the next token's begin."""
        cdef Py_ssize_t row = g.at[i] // self.d
        of_row.n, of_row.at, of_row.value = 0, &self.label[0], g.value + i
        while i < g.n and g.at[i] < m * self.d and g.at[i] // self.d == row:
            self.label[of_row.n] = g.at[i] - row * self.d
            of_row.n += 1
            i += 1
        return i

    cdef double table_norm2(self, View* x, const ScoreGradient* g, double r2) noexcept nogil:
        """Return the squared length of the change of the table; it is in the units of the weights."""
        cdef Py_ssize_t i
        cdef double square = 0
        for i in range(g.n):
            if g.at[i] >= x.m * self.d:
                square += g.value[i] * g.value[i]
        return square * self.transition_scaling * r2

    cdef Py_ssize_t link_classes(self, const ScoreGradient* g, Py_ssize_t m) noexcept nogil:
        """Link the entries of g that are of the same class.

        `take_class` uses the links.  Return how many entries are of tokens.
        """
        cdef Py_ssize_t k, n = 0
        while n < g.n and g.at[n] < m * self.d:
            k = g.at[n] % self.d
            self.following[n] = self.first[k]
            self.first[k] = n
            n += 1
        return n

    cdef bint take_class(self, const ScoreGradient* g, Py_ssize_t i, ScoreGradient* of_class) noexcept nogil:
        """Fill in the tokens of entry i's class and their factors; return False if they were taken before."""
        cdef Py_ssize_t k = g.at[i] % self.d, entry = self.first[k]
        self.first[k] = -1
        of_class.n, of_class.at, of_class.value = 0, &self.token[0], &self.share[0]
        while entry >= 0:
            self.token[of_class.n], self.share[of_class.n] = g.at[entry] // self.d, g.value[entry]
            of_class.n += 1
            entry = self.following[entry]
        return of_class.n > 0


def places_in_table(places, Py_ssize_t d):
    """Return the places of a table's entries among d labels; label c of the table is number places[c] of the d labels."""
    new = np.array(places, dtype=np.intp)
    return np.concatenate([(new[:, None] * d + new).ravel(), d * d + new, d * d + d + new])


cdef class ChainedWeights(WrappedWeights):
    """Inner weights for tokens and a table for transitions.

    The inner weights score each token by W x + b.  The table scores the transitions, the first label and the last.

    A step moves the inner weights along each token whose label was wrong, and the table, whose norm is the Euclidean one, as a
    row of indicators would.  Under a kernel the inner weights are a sum over tokens: the kernel of two sequences is the sum of
    their tokens' kernels, and the supports are tokens (Collins and Duffy 2002).
    """
    cdef readonly Intercept intercept
    cdef RKHSWeights kernel           # the inner weights if they are a sum over tokens, else None
    cdef L2Weights table
    cdef ChainMap chain               # the score map
    cdef readonly bint radius_needed
    cdef readonly double radius2
    cdef readonly Py_ssize_t longest  # sequence that took a step

    def __init__(self, Weights inner not None, ChainMap score_map not None):
        self.kernel = inner if isinstance(inner, RKHSWeights) else None
        if self.kernel is None and type(inner) is not L2Weights and type(inner) is not ScaledWeights:
            raise ValueError("sequences need the norms 'l2', 'scaled' or 'rkhs'; got the weights of another norm.")
        self.map_scores(inner.d, inner.p, score_map)
        self.chain = self.score_map
        self.n_features = inner.n_features
        self.inner = inner
        self.intercept = inner.intercept
        self.table = L2Weights(1, score_map.extra, Intercept(False, 1.0), averaging=inner.averaging)
        self.large, self.by_feature, self.small_pages = inner.large, inner.by_feature, inner.small_pages
        self.offsets_of_lines = inner.offsets_of_lines
        self.whole_in_blocks = inner.whole_in_blocks
        self.counts_rows_once = inner.counts_rows_once
        self.averaging, self.most_averages = inner.averaging, inner.most_averages
        self.is_trainable = inner.is_trainable
        self.watch_radius(False)

    def __reduce__(self):
        numbers = self.radius2, self.longest, self.radius_needed, self.leader
        return ChainedWeights, (self.inner, self.score_map), (self.table, numbers)

    def __setstate__(self, state):
        numbers = real, count, flag, whole(0, self.most_averages)
        self.table, (self.radius2, self.longest, needed, self.leader) = restored(self, state, (self.own_table, numbers))
        self.watch_radius(needed)

    def export(self):
        own = fields(most={"radius2": self.radius2, "longest": self.longest})
        return joined(tokens=self.inner.export(), table=self.table.export(), chain=own)

    def adopt(self, state, bint with_sums):
        own = part_of(state, "chain")["most"]
        self.inner.adopt(part_of(state, "tokens"), with_sums)
        self.table.adopt(part_of(state, "table"), with_sums)
        self.radius2, self.longest = own["radius2"], own["longest"]
        self.is_trainable = self.inner.is_trainable

    def begin_at(self, W, b):
        self.inner.begin_at(W, b)

    def resized(self, Py_ssize_t p, Py_ssize_t d, places):
        cdef ChainMap score_map = ChainMap(d, self.chain.transition_scaling)
        _, _, (table, numbers) = self.__reduce__()
        wide = ChainedWeights(self.inner.resized(p, d, places), score_map)
        wide.__setstate__((table.rearranged(score_map.extra, places_in_table(places, d)), numbers))
        return wide

    def own_table(self, table):
        """Accept a table like the present one."""
        if type(table) is not L2Weights or (table.d, table.p, table.averaging) != (1, self.table.p, self.averaging):
            raise ValueError("its table of transitions has another form")
        return table

    def keep_averages(self, int n):
        """Keep n averages of the iterates from here on; present averages continue, and new ones start."""
        WrappedWeights.keep_averages(self, n)
        self.table.keep_averages(n)

    def swap_average(self, int which):
        """Swap average number `which` with number 1; `keep_averages` comes next."""
        self.inner.swap_average(which)
        self.table.swap_average(which)

    cdef void select_average(self, int which) noexcept nogil:
        WrappedWeights.select_average(self, which)
        self.table.select_average(which)

    # ------------------------------------------------------------------------------------------------------- the theory

    def watch_radius(self, bint needed, bint of_rows=False):
        """Set whether to follow R^2 of the rounds to come; D^2 R^2 >= |update|^2; see `effective_radius`."""
        self.inner.watch_radius(needed and type(self.inner) is not L2Weights)    # then it applies each token
        self.radius_needed = needed
        self.observing = needed or self.inner.observing

    def effective_radius(self, double radius):
        """Return half of T (2 radius^2 + 8 rho r2)^0.5.

        T is the longest sequence that took a step: its update is at most twice that.
        """
        return self.longest * (2 * radius ** 2 + 8 * self.table_length2(self.intercept.r2())) ** 0.5 / 2

    cdef inline double table_length2(self, double r2) noexcept nogil:
        """Return the squared length of the feature of a transition."""
        return self.chain.transition_scaling * r2

    def length(self):
        """Return the norm of W, of b and of the table."""
        scale = self.table_length2(self.intercept.r2()) ** 0.5
        return float(np.hypot(self.inner.length(), euclidean_length(self.table.mean()[0]) / scale))

    # ------------------------------------------------------------------------------------------------------- prediction

    cdef bint read_lines(self, bint mean, const Py_ssize_t* at, Py_ssize_t first, Py_ssize_t n, Py_ssize_t stride,
                         double* line) noexcept nogil:
        return self.inner.read_lines(mean, at, first, n, stride, line)

    cdef void read_offsets(self, bint mean, double* b) noexcept nogil:
        self.inner.read_offsets(mean, b)

    def own_predictor(self, bint mean):
        return self.inner.own_predictor(mean)

    @property
    def expansion(self):
        return self.inner.expansion

    def primal(self, W):
        return self.inner.primal(W)

    def last(self):
        """Return copies of the last iterate's W (d, p), b (d,)."""
        return self.inner.last()

    def mean(self):
        """Return copies of the predicting W (d, p), b (d,)."""
        return self.inner.mean()

    def transitions(self, bint mean):
        """Return copies of the scores of the table.

        They are those of pairs (d, d), rows = the label before, of first labels (d,) and of last ones (d,).
        """
        table = (self.table.mean() if mean else self.table.last())[0][0]
        d = self.d
        return np.ascontiguousarray(table[:d * d].reshape(d, d).T), table[d * d:d * d + d].copy(), table[d * d + d:].copy()

    # ------------------------------------------------------------------------------------------------------- the rounds

    cdef Py_ssize_t open_block(self, Rows rows, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last,
                               bint means_wanted) except -1:
        if self.kernel is not None:     # which computes the kernels of a block's tokens at a time
            return self.inner.open_block(rows, order, first, last, means_wanted)
        return Weights.open_block(self, rows, order, first, last, means_wanted)    # rounds are not rows of the inner weights

    cdef void request_lengths(self, bint wanted) noexcept:
        pass    # the radius needs those of tokens

    cdef open_call(self, Rows rows, bint fresh, bint undo_needed):
        self.score_map.reserve(rows.longest)
        self.inner.open_call(rows, fresh, undo_needed)

    cdef void scores(self, const View* x, double* t) noexcept nogil:
        self.inner.scores(x, t)
        self.read_table(0, t + x.m * self.d)

    cdef void mean_scores(self, const View* x, int which, double* t) noexcept nogil:
        self.inner.mean_scores(x, which, t)
        self.read_table(which, t + x.m * self.d)

    cdef void average_scores(self, const View* x, int which, const double* last, double* t) noexcept nogil:
        self.inner.average_scores(x, which, last, t)
        self.read_table(which, t + x.m * self.d)

    cdef void read_table(self, int which, double* t) noexcept nogil:
        """Return the table of an average or the last iterate."""
        cdef Py_ssize_t j
        cdef const IterateSum* s = self.table.sum_of(which)
        cdef const double* data = &self.table.data[0]
        cdef double share, of_total
        self.table.shares(which, &share, &of_total)
        for j in range(self.table.p):
            t[j] = share * data[j]
        if s != NULL:
            for j in range(self.table.p):
                t[j] += of_total * s.total.data[j]

    cdef void update_statistics(self, View* x) noexcept nogil:
        cdef Py_ssize_t r
        cdef View token
        cdef double largest = 0, r2
        for r in range(x.m):
            self.take_token(x, r, &token)
            if self.inner.observing:
                self.inner.update_statistics(&token)
            if self.radius_needed:
                largest = max(largest, self.inner.length2(&token))
        self.to_first_token(x)
        if self.radius_needed:
            r2 = self.intercept.r2()
            self.radius2 = max(self.radius2, x.m ** 2 * (largest + r2 + 4 * self.table_length2(r2)) / 2)

    cdef void take_token(self, View* x, Py_ssize_t r, View* token) noexcept nogil:
        """Make `token` row r of the sequence; a kernel, which has scored the sequence, finds that row in its block."""
        take_row(x, r, token)
        if self.kernel is not None:
            self.kernel.here = self.kernel.next - x.m + r

    cdef void to_first_token(self, const View* x) noexcept nogil:
        """Make a kernel find the sequence in its block again."""
        if self.kernel is not None:
            self.kernel.here = self.kernel.next - x.m

    cdef void update_norm(self, View* x, const ScoreGradient* g, Round* r) noexcept nogil:
        cdef double r2 = self.intercept.r2()
        r.update_norm2 = self.rows_norm2(x, g, r2) + self.chain.table_norm2(x, g, r2)
        r.radius2 = self.radius2

    cdef double rows_norm2(self, View* x, const ScoreGradient* g, double r2) noexcept nogil:
        """Return the squared norm of the change of W and b.

        It is summed class by class: tokens that share features may cancel, or add up.
        """
        cdef ScoreGradient of_class
        cdef Py_ssize_t i
        cdef double square = 0, offset
        for i in range(self.chain.link_classes(g, x.m)):
            if self.chain.take_class(g, i, &of_class):
                offset = sum_of(&of_class)
                square += (<L2Weights> self.inner).length2_of_sum(x, &of_class, &self.chain.pulled_back[0]) + r2 * offset * offset
        return square

    cdef void step(self, View* x, const ScoreGradient* g, double size) noexcept nogil:
        cdef Py_ssize_t i = 0
        cdef View token
        cdef ScoreGradient of_row
        self.longest = max(self.longest, x.m)
        while i < g.n and g.at[i] < x.m * self.d:
            self.take_token(x, g.at[i] // self.d, &token)
            i = self.chain.of_token(g, i, x.m, &of_row)
            self.inner.step(&token, &of_row, size)
        self.to_first_token(x)
        if i < g.n:
            self.step_table(g, i, x.m, size * self.table_length2(self.intercept.r2()))

    cdef void step_table(self, const ScoreGradient* g, Py_ssize_t first, Py_ssize_t m, double size) noexcept nogil:
        """Take the step of the entries of g from the first on; it is taken as along a row that holds them."""
        cdef Py_ssize_t i
        cdef Py_ssize_t ends[2]
        cdef View row
        cdef ScoreGradient one
        ends[0], ends[1] = 0, g.n - first
        for i in range(first, g.n):
            g.at[i] -= m * self.d
        row.m, row.p, row.k, row.start, row.norm2 = 1, self.table.p, of_doubles(True), ends, -1
        row.first.n, row.first.value, row.first.index = ends[1], g.value + first, g.at + first
        one.n, one.at, one.value = 1, NULL, &ONE
        self.table.step(&row, &one, size)
        for i in range(first, g.n):
            g.at[i] += m * self.d

    cdef void shrink(self, double factor) noexcept nogil:
        self.inner.shrink(factor)
        self.table.shrink(factor)

    cdef void add_to_average(self, int which, double weight, double keep) noexcept nogil:
        self.inner.add_to_average(which, weight, keep)
        self.table.add_to_average(which, weight, keep)
