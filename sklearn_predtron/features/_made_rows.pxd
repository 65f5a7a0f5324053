from libc.stdint cimport int32_t

from sklearn_predtron._core.rows cimport Rows, View
from sklearn_predtron.features._row_map cimport RowMap


cdef class MadeRows(Rows):
    cdef RowMap map
    cdef object table
    cdef const char* data
    cdef Py_ssize_t row_size
    cdef bint single
    cdef Py_ssize_t singles             # slots of a row
    cdef readonly Py_ssize_t together   # rows that are made one behind the other, at most
    cdef const double[:, ::1] kept      # the first rows, if they are dense and kept
    cdef Py_ssize_t n_kept
    cdef char* buffers                  # all that follow in one
    cdef double* value
    cdef int32_t* index
    cdef Py_ssize_t* start
    cdef Py_ssize_t* first
    cdef Py_ssize_t* end                # offsets within a slot, and which rows it holds
    cdef char* scratch
    cdef Py_ssize_t next_single, next_block
    cdef int attach(self, RowMap map, table, Py_ssize_t together) except -1
    cdef int take_room(self, Py_ssize_t values, Py_ssize_t starts, Py_ssize_t slots) except -1
    cdef MadeRows with_room(self, Py_ssize_t together)
    cdef void fill(self, Py_ssize_t slot, Py_ssize_t first, Py_ssize_t end) noexcept nogil
    cdef void show_kept(self, Py_ssize_t first, Py_ssize_t end, View* x) noexcept nogil
    cdef void show(self, Py_ssize_t slot, View* x) noexcept nogil
    cdef Py_ssize_t make(self, Py_ssize_t i, int32_t* index, double* value) noexcept nogil
