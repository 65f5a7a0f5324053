"""The record of the last rounds, which subclasses extend."""
from sklearn_predtron._core.learner cimport Observer
from sklearn_predtron._core.problem cimport Problem


cdef class RecentScores(Observer):
    cdef readonly Problem problem
    cdef readonly str kind
    cdef readonly Py_ssize_t every
    cdef readonly Py_ssize_t size           # rows that are kept at present
    cdef readonly Py_ssize_t least, most    # and at least and at most
    cdef readonly Py_ssize_t recorded       # so far
    cdef readonly Py_ssize_t marked_at      # how many there were at the last mark
    cdef readonly Py_ssize_t values         # of a label
    cdef Py_ssize_t next_mark, n, head, n_marked     # rows kept, and the place of the next one
    cdef bint of_codes, of_sets, of_grades
    cdef float[:, ::1] scores, marked_scores
    cdef int[:, ::1] labels, marked_labels
    cdef double[::1] weight, marked_weight
    cdef Py_ssize_t[::1] number, marked_number     # of the row, from 0
    cdef void put(self, const double* t, double weight) noexcept nogil
    cdef Py_ssize_t[::1] counts             # of rows, by class
    cdef void mark(self) noexcept nogil
    cdef void copy_marked(self) noexcept nogil
    cdef void copy_rows(self, Py_ssize_t first, Py_ssize_t to, Py_ssize_t n) noexcept nogil
    cdef allocate(self, Py_ssize_t size)
    cdef void set_size(self) noexcept nogil
    cdef keep_last(self, Py_ssize_t size)
    cdef Py_ssize_t rarest(self, Py_ssize_t n) noexcept nogil
