"""The best sequences of labels of a linear chain."""

cdef extern from "viterbi.h" nogil:
    void viterbi_step(Py_ssize_t K, Py_ssize_t stride, const double* table, const double* following, double* best)
    void viterbi_sweep(Py_ssize_t T, Py_ssize_t K, Py_ssize_t stride, const double* table, double* best)


cdef struct Trellis:               # the scores of a sequence of T tokens with K labels
    Py_ssize_t T, K
    Py_ssize_t stride              # `padded(K)`, a multiple of 4
    const double* u                # of token t with label k at t * K + k
    double* table                  # of label k before label j at j * stride + k
    double* initial                # of the first label
    double* final                  # of the last one
    double* best                   # T rows of suffix scores: the best that label k at token t can begin


cdef struct Ways:                  # a table of scores, with label j at k * stride + j, as exponentials
    const double* table
    double* exponential            # of each score less the largest of its row
    double* most                   # these


cdef struct Suffix:                # one of the best ways to go on
    double score
    Py_ssize_t label, rank         # where it leads to, and which of the ways from there it takes


cdef double FORBIDDEN              # the score of a label that is never predicted

cdef Py_ssize_t padded(Py_ssize_t K) noexcept nogil
cdef void find_suffixes(Trellis* c, const double* cost, const Py_ssize_t* y) noexcept nogil
cdef bint follow(const Trellis* c, Py_ssize_t* sigma) noexcept nogil
cdef double path_score(const Trellis* c, const Py_ssize_t* y) noexcept nogil
cdef double follow_other(const Trellis* c, const Py_ssize_t* y, Py_ssize_t* leave, Py_ssize_t* sigma) noexcept nogil
cdef void follow_worst(const Trellis* c, const double* cost, const Py_ssize_t* y, double* worst,
                       Py_ssize_t* sigma) noexcept nogil
cdef void find_marginals(Trellis* c, double* table, double* forward, double* m) noexcept nogil
cdef void find_ways(Ways* w, Py_ssize_t K, Py_ssize_t stride) noexcept nogil
cdef double find_probabilities(Trellis* c, const Ways* into, const Ways* out_of, double* scratch, double* m) noexcept nogil
cdef void follow_best(const Trellis* c, Py_ssize_t n, Suffix* suffixes, double* score, Py_ssize_t* sigma,
                      Py_ssize_t apart) noexcept nogil
