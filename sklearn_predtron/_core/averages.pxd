from sklearn_predtron._core.problem cimport Round

cdef enum:
    CANDIDATES = 3      # the last iterate, the linear average, and one that forgets


cdef class Average:
    cdef readonly double keep
    cdef readonly int kept            # how many sums of the iterates it needs
    cdef readonly int leader          # which of them predicts, from 1; 0 is the last iterate
    cdef readonly Py_ssize_t every    # candidates are charged for predictions every so many rounds; 0 where there are none
    cdef readonly Py_ssize_t charged  # rounds in which they were
    cdef readonly Py_ssize_t followed  # rounds in which they might have been
    cdef readonly double last_loss    # loss of the last iterate in these
    cdef readonly double difference   # loss of the leader in the rounds charged, minus that of the last iterate
    cdef double weight(self, int which, const Round* r) noexcept nogil
    cdef double keep_of(self, int which) noexcept nogil
    cdef void follow(self, double loss) noexcept nogil
    cdef int charge(self, const double* losses, int n, const Round* r) noexcept nogil


cdef class LinearAverage(Average):
    pass


cdef struct Bets:                     # on the differences of a candidate's and the linear average's losses
    double squares                    # sum of their squares
    double[2] for_it, against_it      # what bets on the candidate, and on the linear average, have made of 1


cdef class ChoosingAverage(LinearAverage):
    cdef double lately[CANDIDATES]
    cdef double fade
    cdef Bets bets[CANDIDATES]
    cdef void bet(self, int which, double difference) noexcept nogil
