"""Running statistics of features, where the kernels want them."""
from sklearn_predtron.norms.scaling cimport Scaling

cdef enum:
    MEAN            # the statistics of a feature
    INVERSE         # of its variance
    SQUARES
    COUNT
    LAST
    FIELDS          # so many values


cdef class FeatureStatistics:
    cdef Scaling S
    cdef readonly Py_ssize_t room       # features that there is room for
    cdef readonly Py_ssize_t nbytes
    cdef bint sparse                    # how they lie
    cdef double[::1] values
    cdef double[::1] before             # what they were before the round, where it may be called off
    cdef void keep(self) noexcept nogil
    cdef void go_back(self) noexcept nogil
