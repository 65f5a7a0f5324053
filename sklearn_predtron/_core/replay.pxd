"""Recent rows of a stream, from which it learns again."""
from sklearn_predtron._core.problem cimport Problem
from sklearn_predtron._core.rows cimport View

cdef struct Slot:                   # a row that is kept
    bint sparse
    Py_ssize_t size                 # entries of memory
    Py_ssize_t edges[2]             # 0, and the number of values
    double* value                   # and behind them their places, where the row is sparse


cdef class Window:
    cdef readonly Py_ssize_t n              # rows that are kept
    cdef Py_ssize_t head                    # the place of the next row
    cdef Slot* slots
    cdef readonly unsigned char[:, ::1] labels
    cdef double[::1] weight                 # of each row's steps
    cdef double[::1] tree                   # the rows' shares as leaves, and the sums of two as their parent
    cdef void clear(self) noexcept nogil
    cdef bint keep(self, const View* x, const void* y, double weight, double share) noexcept nogil
    cdef int widen(self, Py_ssize_t n_features) except -1
    cdef void put_share(self, double share) noexcept nogil
    cdef const void* take(self, Py_ssize_t t, Py_ssize_t number, Py_ssize_t p, View* x, double* weight) noexcept nogil
    cdef Py_ssize_t draw(self, double u) noexcept nogil
    cdef void view(self, Py_ssize_t slot, Py_ssize_t p, View* x) noexcept nogil


cdef class Replay:
    cdef readonly Window recent, heavy
    cdef readonly Py_ssize_t rounds         # of rows learned again, so far
    cdef readonly Problem problem
    cdef Py_ssize_t n_features
    cdef Py_ssize_t of_recent, number, t    # rounds after the present one: of recent rows, so far, and its number
    cdef double due_of_recent, due_of_heavy   # rounds that are still to come
    cdef Py_ssize_t keep(self, const View* x, const void* y, double weight, Py_ssize_t t, bint drifts) noexcept nogil
    cdef const void* next(self, Py_ssize_t p, View* x, double* weight) noexcept nogil
