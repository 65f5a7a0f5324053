"""When, in which direction and how far to change the weights."""
from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.problem cimport Problem, Round


cdef class Rule:
    cdef readonly bint needs_norm    # size() needs the values that weights.update_norm() fills
    cdef readonly bint bounds_steps  # by those before, so that none runs away where r.update_norm2 is less than the theorems'
    cdef readonly bint radius_needed   # size() wants r.radius2
    cdef readonly bint radius_of_rows  # r.radius2 is of single rows, also where a round has several
    cdef readonly bint of_each_score   # a step for each score, whose problems are their own
    cdef readonly bint replays     # a stream learns from rows again
    cdef readonly bint shrinking   # shrinkage() differs from 1
    cdef readonly double c_L_seen     # the least positive loss of the lists that lost so far (Slam: weight), where it is kept
    cdef int check(self, Problem problem) except -1
    cdef bint propose(self, Problem problem, double* t, const void* y, Py_ssize_t m, Round* r, ScoreGradient* g) noexcept nogil
    cdef double size(self, Round* r) noexcept nogil
    cdef double size_of(self, ScoreGradient* g, Round* r) noexcept nogil
    cdef void exchange(self, double* total, Py_ssize_t* n) noexcept nogil
    cdef double shrinkage(self, const Round* r) noexcept nogil
