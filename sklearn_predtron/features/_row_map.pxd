from libc.stdint cimport int32_t

from sklearn_predtron.features.row_map cimport PiecewiseScratch, PiecewiseTables


cdef class RowMap:
    cdef readonly Py_ssize_t p, width        # columns, and features that are made of them
    cdef readonly Py_ssize_t most            # features of a row that are stored, at most
    cdef readonly bint sparse                # whether a row has indices
    cdef readonly Py_ssize_t scratch_size    # bytes that a thread has to lend
    cdef readonly object orders              # of the weights of monotone curves; None if there are none
    cdef Py_ssize_t make(self, const void* row, bint single, char* scratch, int32_t* index, double* value) noexcept nogil


cdef class PiecewiseMap(RowMap):
    cdef readonly object description
    cdef PiecewiseTables tables
    cdef const double[:, ::1] hats, inverse_hats, factors, inverse_factors
    cdef const double[::1] mean, inverse_sd
    cdef const int32_t[:, ::1] columns, pairs
    cdef void point(self, Py_ssize_t p, Py_ssize_t room, Py_ssize_t r) noexcept


cdef class FourierMap(RowMap):
    cdef const double[:, ::1] turns
    cdef const double[::1] phase, mean, inverse_sd
    cdef double amplitude
    cdef object state
