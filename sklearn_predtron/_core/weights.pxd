"""The bases of score functions and of trainable weights; scores are t = W x + b."""
from sklearn_predtron._core.rows cimport Rows, View
from sklearn_predtron._core.score_map cimport ScoreMap
from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.problem cimport Round


cdef class ScoreFunction:
    cdef readonly Py_ssize_t d, p
    cdef readonly Py_ssize_t n_features  # of the rows: the others up to p are room for features to come
    cdef readonly ScoreMap score_map
    cdef int map_scores(self, Py_ssize_t d, Py_ssize_t p, ScoreMap score_map) except -1
    cdef Py_ssize_t open_block(self, Rows rows, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last,
                               bint means_wanted) except -1
    cdef void scores(self, const View* x, double* t) noexcept nogil


cdef class Weights(ScoreFunction):
    cdef readonly bint observing
    cdef readonly int averaging   # how many averages of the iterates are kept, at most `most_averages`
    cdef readonly int most_averages
    cdef readonly int leader      # which of them predicts, from 1; 0 is the last iterate
    cdef readonly bint by_feature  # whether a feature's weights lie together; else a class's
    cdef readonly bint small_pages       # whether memory is in small pages, of which rows touch few
    cdef readonly bint large      # too large for the caches near the core
    cdef readonly double inverse_convexity    # q - 1, where half the norm's square is strongly convex to 1 / (q - 1)
    cdef readonly bint has_longer_steps   # whether update_norm takes less where steps are bounded: no theorem knows those
    cdef readonly bint offsets_of_lines   # whether the offsets that predict are sums over all lines
    cdef readonly bint is_trainable   # whether there is anything yet to step along
    cdef readonly bint whole_in_blocks     # whether they can be read in between two blocks alone, not rounds
    cdef readonly bint counts_rows_once    # whether rows that are not fresh leave the statistics as they are
    cdef bint replaying           # whether the round is of a row met before, beside the rounds of the block
    cdef readonly bint measures   # whether `scores` of a row measure it, too; `begin_round` then changes nothing
    cdef open_call(self, Rows rows, bint fresh, bint undo_needed)
    cdef close_call(self, bint learned)
    cdef void request_lengths(self, bint wanted) noexcept
    cdef close_block(self)
    cdef Py_ssize_t update_statistics_of_all(self, Rows rows, const Py_ssize_t[::1] order) except -2
    cdef bint begin_round(self, View* x) noexcept nogil
    cdef void abandon_round(self) noexcept nogil
    cdef void add_to_average(self, int which, double weight, double keep) noexcept nogil
    cdef bint unfinished(self) noexcept
    cdef int predicting(self, bint mean) noexcept nogil
    cdef void select_average(self, int which) noexcept nogil
    cdef void mean_scores(self, const View* x, int which, double* t) noexcept nogil
    cdef void average_scores(self, const View* x, int which, const double* last, double* t) noexcept nogil
    cdef bint read_lines(self, bint mean, const Py_ssize_t* at, Py_ssize_t first, Py_ssize_t n, Py_ssize_t stride,
                         double* line) noexcept nogil
    cdef void read_offsets(self, bint mean, double* b) noexcept nogil
    cdef void prefetch(self, const View* x) noexcept nogil
    cdef void update_statistics(self, View* x) noexcept nogil
    cdef double length2(self, View* x) noexcept nogil
    cdef void update_norm(self, View* x, const ScoreGradient* g, Round* r) noexcept nogil
    cdef void step(self, View* x, const ScoreGradient* g, double size) noexcept nogil
    cdef void shrink(self, double factor) noexcept nogil
