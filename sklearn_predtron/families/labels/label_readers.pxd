from sklearn_predtron._core.problem cimport Labels
from sklearn_predtron._core.rows cimport Rows


cdef class LabelReader:
    cdef Labels read(self, y, Py_ssize_t n)
    cdef const double[::1] weight(self, Labels labels)
    cdef Rows rounds(self, Rows rows)
