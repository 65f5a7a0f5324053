"""Rankings of lists of items; they are a query's documents, or the labels of a row."""
from sklearn_predtron.problems.inference._ranking_inference cimport Inference
from sklearn_predtron._core.problem cimport Problem, Round
from sklearn_predtron.problems._relevance cimport Relevance
from sklearn_predtron.problems.inference._sorting cimport Keyed

cdef struct Pair:
    Py_ssize_t high, low          # an item and a less relevant one
    double ahead                  # the score of the second less that of the first


cdef class RankingProblem(Problem):
    cdef readonly Py_ssize_t n_labels      # 0 for the documents of queries
    cdef readonly Py_ssize_t longest       # list so far
    cdef readonly object representation, ranking_loss    # their Python faces
    cdef const Relevance* y                # of the list at hand
    cdef Py_ssize_t n                      # its items
    cdef double Z                          # |f| over so many positions
    cdef double scale                      # of the gains
    cdef double[::1] f, square             # f of the positions, and the sums of f^2 up to each
    cdef double[::1] s, a                  # scores / Z and gains of the items
    cdef Keyed[::1] order, spare
    cdef Py_ssize_t[::1] item              # the ranking: which item is at each position
    cdef Py_ssize_t[::1] competitor, sigma_y      # positions of the items in the competitor, and in sigma_y
    cdef Py_ssize_t[::1] slot
    cdef double[::1] top, bottom           # the best score of each grade, and the worst
    cdef Py_ssize_t[::1] top_at, bottom_at
    cdef Inference inference
    cdef bint bind_label(self, const void* y, Py_ssize_t m) noexcept nogil
    cdef void worst_maximiser_loss(self, const double* t, Round* r, bint again=*) noexcept nogil
    cdef void sort(self, const double* t, bint again) noexcept nogil
    cdef void finish_competitor(self, const double* t, Round* r) noexcept nogil
    cdef void no_competitor(self, Round* r) noexcept nogil
    cdef double gain_of(self, Py_ssize_t grade) noexcept nogil
    cdef double loss(self) noexcept nogil
    cdef double expected_loss(self) noexcept nogil
    cdef Py_ssize_t end_of_tie(self, Py_ssize_t x) noexcept nogil
    cdef Py_ssize_t of_grade(self, Py_ssize_t g, Py_ssize_t x, Py_ssize_t end) noexcept nogil
    cdef double loss_of_scores(self, const double* t) noexcept nogil
    cdef double least_loss(self) noexcept nogil
    cdef double spread(self, Py_ssize_t n) noexcept nogil
    cdef bint infer(self) noexcept nogil
    cdef void follow(self) noexcept nogil
    cdef double objective(self) noexcept nogil
    cdef double slam_weight(self, Py_ssize_t grade) noexcept nogil
    cdef void span(self, const double* t) noexcept nogil
    cdef double slam_surrogate(self, const double* t) noexcept nogil
    cdef void widest(self, const double* t, Pair* pair) noexcept nogil
