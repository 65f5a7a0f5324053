"""Relevances of lists of items; they are a query's documents, or the labels of a row."""
from sklearn_predtron._core.problem cimport Labels

cdef struct Relevance:
    Py_ssize_t n_grades
    Py_ssize_t pairs              # of items of different grades
    const Py_ssize_t* grade       # of each item, numbered from the most relevant, 0
    const Py_ssize_t* first       # how many items are of a higher grade, for each grade; and the number of items
    const double* value           # relevance of each grade
    const double* gain            # G of it, as the loss has it


cdef class Relevances(Labels):
    cdef readonly Py_ssize_t longest
    cdef const double[::1] y
    cdef const Py_ssize_t[::1] start
    cdef Py_ssize_t[::1] grade, first, n_grades, pairs
    cdef double[::1] value
    cdef public const double[::1] gain
    cdef public object gain_of
    cdef Relevance now
