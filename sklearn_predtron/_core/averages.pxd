from sklearn_predtron._core.problem cimport Round

cdef enum:
    CANDIDATES = 3      # the last iterate, the linear average, and one that forgets


cdef class Average:
    cdef readonly double keep
    cdef readonly int kept            # how many sums of the iterates it needs
    cdef readonly int leader          # which of them predicts, from 1; 0 is the last iterate
    cdef readonly Py_ssize_t every    # so many rounds its candidates are charged for what they predict; 0 where there are none
    cdef readonly Py_ssize_t charged  # rounds in which they were
    cdef readonly Py_ssize_t followed  # rounds in which they might have been
    cdef readonly double last_loss    # what the last iterate has lost in these
    cdef readonly double difference   # what the leader has lost in the rounds charged, less what the last iterate has
    cdef double weight(self, int which, const Round* r) noexcept nogil
    cdef double keep_of(self, int which) noexcept nogil
    cdef double keep_seen(self) noexcept nogil
    cdef void follow(self, double loss) noexcept nogil
    cdef int charge(self, const double* losses, int n, double weight) noexcept nogil


cdef class LinearAverage(Average):
    pass


cdef class ChoosingAverage(LinearAverage):
    cdef double lately[CANDIDATES]
    cdef double fade
