from sklearn_predtron._core.averages cimport Average
from sklearn_predtron._core.lock cimport Lock, LockWord, Section
from sklearn_predtron._core.loss_curve cimport LossCurve
from sklearn_predtron._core.predictors cimport Predictors
from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.problem cimport Labels, Problem, Round
from sklearn_predtron._core.replay cimport Replay
from sklearn_predtron._core.rows cimport Rows, View
from sklearn_predtron._core.rule cimport Rule
from sklearn_predtron._core.weights cimport Weights
from sklearn_predtron._core.intercept cimport Intercept


cdef struct Batch:                    # the rounds of a call that learns
    Py_ssize_t n
    const Py_ssize_t* order           # the row of each round; NULL where they are in order
    const double* weight              # of each row; NULL where all have the usual one
    double usual
    const double* counts              # weight of each round for the observer; NULL where it is that of the row
    bint fresh                        # whether rows count in the statistics
    bint unchecked                    # whether the lengths of rows are still to be checked
    bint observed                     # whether the observer sees rounds
    bint choosing                     # whether the average may charge its candidates
    bint parting                      # whether readers may come in between two rounds, and not two blocks alone


cdef class Observer:
    cdef object made                # a result from the observations, by those who read
    cdef bint wants(self, Py_ssize_t t) noexcept nogil
    cdef int check(self, Problem problem) except -1
    cdef void record(self, double* t, const void* y, Py_ssize_t m, double weight) noexcept nogil


cdef class Totals:
    cdef Py_ssize_t t, n_mistakes, n_updates
    cdef double cumulative_loss
    cdef double mean_weight           # of the rounds so far; the effect of a round depends on its weight relative to it
    cdef bint weighted                # whether any round had another weight
    cdef Py_ssize_t learners          # that were made for the weights, and the number of the one whose parts these know of
    cdef Py_ssize_t instructed
    cdef Totals copied(self)


cdef class Learner:
    cdef readonly Weights weights
    cdef Intercept intercept          # of the weights, while they learn
    cdef readonly Problem problem
    cdef readonly Rule update
    cdef readonly Average average
    cdef readonly Observer observer
    cdef readonly LossCurve history
    cdef readonly Replay replay       # of a stream; None where each row is learned once
    cdef readonly Lock lock
    cdef Predictors predictors        # of the weights, as are the counts
    cdef Totals counts
    cdef Py_ssize_t number            # from 1
    cdef Learner origin               # of whose parts the weights and the observer know until this one has learned
    cdef readonly bint refused        # whether the last call ended because rows were rejected before their rounds
    cdef bint overstepped             # whether because a step was too long
    cdef int check(self) except -1
    cdef int instruct(self) except -1
    cdef int open_section(self, Section* section) except -1
    cdef int finish(self) except -1
    cdef int check_rounds(self, Rows rows, Labels labels, const Py_ssize_t[::1] order, const double[::1] weight,
                          const double[::1] counts) except -1
    cdef Py_ssize_t learn_rounds(self, Rows rows, Labels labels, const Py_ssize_t[::1] order, const Py_ssize_t[::1] counted_first,
                                 Batch* batch) except -2
    cdef Py_ssize_t run(self, Weights weights, Problem problem, Rule update, Average average, Intercept intercept, Totals counts,
                        Rows rows, Labels labels, const Batch* batch, Py_ssize_t first, Py_ssize_t last, double* scratch,
                        ScoreGradient* g) noexcept nogil
    cdef int pause(self) except -1
    cdef int end_rounds(self, bint learned) except -1
    cdef void learn_again(self, Weights weights, Problem problem, Rule update, Replay replay, Py_ssize_t rounds, const View* x,
                          double* t, ScoreGradient* g) noexcept nogil
    cdef void lose(self, const View* x, const double* t, double* of_average, double* of_leader, const void* y, Round r,
                   double* losses) noexcept nogil
    cdef void choose(self, const double* losses, const Round* r) noexcept nogil
    cdef double size_of_step(self, View* x, ScoreGradient* g, Round* r) noexcept nogil
