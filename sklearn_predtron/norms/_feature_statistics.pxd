"""Running statistics of features, where the kernels want them."""
from sklearn_predtron.norms.scaling cimport Found, Scaling

cdef enum:
    MEAN            # the statistics of a feature
    INVERSE         # of its variance
    SQUARES
    COUNT
    LAST
    FIELDS          # so many values


cdef struct Unwritten:
    bint uniform            # whether COUNT and LAST are the rows so far, of every feature
    Py_ssize_t n, rows      # so many features' are these rows, and not written yet


cdef class FeatureStatistics:
    cdef Scaling S                      # COUNT and LAST are for this class alone: they may be unwritten
    cdef readonly Py_ssize_t room       # features that there is room for
    cdef readonly Py_ssize_t nbytes
    cdef bint sparse                    # how they lie
    cdef double[::1] values
    cdef double[::1] before             # their values before the round, where it may be abandoned
    cdef Unwritten unwritten, unwritten_before
    cdef Py_ssize_t[::1] waiting        # features that take the values of a block one by one
    cdef Scaling laid(self, double* values) noexcept nogil
    cdef void write_counts(self) noexcept nogil
    cdef void meet_dense(self, Py_ssize_t n, const double* x, Py_ssize_t t, double* z, Found* found) noexcept nogil
    cdef void meet_sparse(self, Py_ssize_t n, const double* x, const Py_ssize_t* at, Py_ssize_t t, double* z, double* change,
                          Found* found) noexcept nogil
    cdef Py_ssize_t meet_block(self, Py_ssize_t n, Py_ssize_t m, const void* const* rows, bint single,
                               Py_ssize_t t) noexcept nogil
    cdef void meet_listed(self, Py_ssize_t n_listed, const double* x, Py_ssize_t t) noexcept nogil
    cdef void apply_dense(self, Py_ssize_t n, const double* x, double* z, Found* found) noexcept nogil
    cdef double score_dense(self, Py_ssize_t n, const double* x, const double* w, double* z, Found* found) noexcept nogil
    cdef void apply_sparse(self, Py_ssize_t n, const double* x, const Py_ssize_t* at, double* z, Found* found) noexcept nogil
    cdef void fetch(self, Py_ssize_t j, bint all) noexcept nogil
    cdef void refresh(self, Py_ssize_t t, bint dense) noexcept nogil
    cdef void keep(self) noexcept nogil
    cdef void go_back(self) noexcept nogil
