"""A prediction space with its loss, representation and decoder."""
from sklearn_predtron._core.score_map cimport ScoreMap
from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.rows cimport Rows, View

cdef struct Round:                 # data on a round, shared by problem, update and bookkeeping
    Py_ssize_t t                   # its number, from 1
    double weight                  # of the sample
    double loss                    # suffered by the prediction (the worst maximiser of the score), above `unavoidable_loss`
    double unavoidable_loss        # the least loss of any prediction, where none is free of it
    Py_ssize_t competitor, sigma_y      # competitor and sigma_y, where predictions are numbered
    double competitor_loss              # L(competitor, y), above `unavoidable_loss`
    double hinge                   # decrease of score_gap that the update wants
    double score_gap               # <rep competitor - rep sigma_y, t>
    double update_norm2            # squared dual norm of the update / strong convexity
    bint bounded                   # whether the update bounds its steps, so that norms may make them longer
    double radius2                 # largest |x|^2 so far, with the intercept's virtual feature


cdef class Labels:
    cdef readonly Py_ssize_t n
    cdef const void* at(self, Py_ssize_t i) noexcept nogil


cdef class Codes(Labels):
    cdef const Py_ssize_t[::1] codes
    cdef readonly Py_ssize_t most        # the largest of them


cdef class Problem:
    cdef readonly Py_ssize_t d
    cdef readonly double c_L, C_L
    cdef readonly ScoreMap score_map   # from the rows of a round to its scores
    cdef readonly bint check_all_scores        # every score has to be finite; else the first one tells
    cdef readonly bint in_python        # each round asks functions of the user's
    cdef readonly bint may_raise        # a round may end in an exception
    cdef readonly Py_ssize_t label_size        # bytes of a round's label, where they can be kept; else 0
    cdef bint failed
    cdef int check(self, Rows rows, Labels labels) except -1
    cdef void decode_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil
    cdef void decode_loss(self, double* t, const void* y, Py_ssize_t m, bint again, Round* r) noexcept nogil
    cdef void loss_augmented_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil
    cdef void gradient(self, const void* y, Py_ssize_t m, const Round* r, ScoreGradient* g) noexcept nogil
    cdef open_call(self, weights)
    cdef Py_ssize_t rounds_of_block(self, Rows rows) noexcept
    cdef void fill_input(self, View* x) noexcept nogil
