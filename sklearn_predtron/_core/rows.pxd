"""Inputs, one round each, read where they lie."""
from sklearn_predtron._core.simd cimport RowOps, Row

cdef struct View:
    Py_ssize_t m             # rows of the round: 1, or the documents of a query
    Py_ssize_t p             # features
    const RowOps* k
    Row first
    const Py_ssize_t* start  # sparse: row r holds the values start[r] to start[r + 1]; NULL when dense
    double norm2             # sum of squares over the rows, negative until it is asked for


cdef inline const Row* row_of(const View* x, Py_ssize_t r, Row* spare) noexcept nogil:
    """Row r of a view, as the kernels take it."""
    cdef Py_ssize_t skipped
    if r == 0:
        return &x.first
    skipped = r * x.p if x.start == NULL else x.start[r] - x.start[0]
    spare.n = x.p if x.start == NULL else x.start[r + 1] - x.start[r]
    spare.value = <const char*> x.first.value + skipped * <Py_ssize_t> x.k.value_size
    spare.index = <const char*> x.first.index + skipped * <Py_ssize_t> x.k.index_size
    return spare


cdef inline void take_row(const View* x, Py_ssize_t r, View* row) noexcept nogil:
    """Row r of a view, as its own view."""
    cdef Row spare
    row.m, row.p, row.k, row.norm2 = 1, x.p, x.k, -1
    row.first = row_of(x, r, &spare)[0]
    row.start = x.start
    if x.start != NULL:
        row.start += r


cdef inline double squared_norm(View* x) noexcept nogil:
    """Sum of squares of a view, computed once."""
    cdef Row spare
    cdef Py_ssize_t r
    if x.norm2 < 0:
        x.norm2 = 0
        for r in range(x.m):
            x.norm2 += x.k.norm2(row_of(x, r, &spare))
    return x.norm2


cdef inline double largest_norm(View* x) noexcept nogil:
    """Return the largest sum of squares of a view's rows."""
    cdef Row spare
    cdef Py_ssize_t r
    cdef double largest = 0
    for r in range(x.m):
        largest = max(largest, x.k.norm2(row_of(x, r, &spare)))
    return largest


cdef const RowOps* of_doubles(bint indexed) noexcept nogil
cdef double q_norm(const Row* row, const RowOps* k, double q) noexcept nogil
cdef double q_norm_of(const double* value, Py_ssize_t n, double q) noexcept nogil
cdef bint takes(View* x) noexcept nogil


cdef class Rows:
    cdef readonly Py_ssize_t n, p
    cdef readonly Py_ssize_t longest         # rows of a round, at most
    cdef readonly bint sparse
    cdef readonly bint made                  # whether they are made of others as they are asked for
    cdef readonly Py_ssize_t given           # rows of X
    cdef readonly object row_numbers             # of the rows of `matrix` in X; None where they are 0, 1, ...
    cdef const RowOps* k
    cdef void view(self, Py_ssize_t i, View* x) noexcept nogil
    cdef Py_ssize_t view_together(self, Py_ssize_t first, Py_ssize_t last, View* x) noexcept nogil
    cdef Py_ssize_t n_values(self) noexcept nogil
    cdef void prefetch(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t size(self, Py_ssize_t i) noexcept
    cdef Py_ssize_t rounds_of(self, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last, Py_ssize_t most)
    cdef inputs(self, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last)
    cdef Rows consecutive(self, Py_ssize_t most)
    cdef Rows apart(self)
    cpdef bint finite(self)
    cdef bint ordinary(self) noexcept nogil
    cpdef Py_ssize_t first_outside(self)
