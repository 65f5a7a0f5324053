"""Rankings of labels by votes of pairs."""
from sklearn_predtron._core.problem cimport Problem
from sklearn_predtron.problems._relevance cimport Relevance


cdef class PreferencesProblem(Problem):
    cdef readonly Py_ssize_t n_labels
    cdef double[::1] room                  # of a round: the decoded scores of the labels, and scratch
    cdef int preference(self, const Relevance* y, Py_ssize_t i, Py_ssize_t j) noexcept nogil
    cdef void decode(self, const double* t, double* key, double* margin) noexcept nogil
    cdef double loss(self, const double* t, const Relevance* y, double* room, double tie) noexcept nogil
    cdef double suffered(self, const double* t, const Relevance* y) noexcept nogil
