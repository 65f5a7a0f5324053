"""Inputs, one round each, read where they lie."""
from libc.math cimport INFINITY, fabs, pow
from libc.stdint cimport int32_t, int64_t, uint64_t

import sys

import numpy as np

from sklearn_predtron._core.simd cimport RowOps, Row, row_ops_for, prefetch_bytes

# Limits on the length of a row: its square, the remainder in differences of rows, the inverses of both, and the product of
# two rows are floating-point numbers with room to spare.
LEAST_LENGTH, LARGEST_LENGTH = 1e-140, 1e140
OVERFLOW = "X holds values so large that the scores overflow; scale the features down."
cdef double LEAST2 = 1e-280, LARGEST2 = 1e280

cdef enum:
    SPARE = 16          # places of a hash table for each of its entries
    IN_CACHE = 1 << 17  # places of a table that stays in a cache of the processor's
    BUFFER = 256        # entries that are taken at once; the step of loops too, where Cython wants a literal

ctypedef fused real:
    float
    double

ctypedef fused integer:
    int32_t
    int64_t


def issparse(X):
    """Return whether X is a sparse matrix or array of SciPy; there is none as long as nobody has imported scipy.sparse."""
    known = getattr(sys.modules.get("scipy.sparse"), "issparse", None)
    return known is not None and bool(known(X))


cdef const RowOps* of_doubles(bint indexed) noexcept nogil:
    """Return the kernels for rows of doubles; Rows are dense, or have indices of the width of Py_ssize_t."""
    return row_ops_for(sizeof(double), sizeof(Py_ssize_t) if indexed else 0)


cdef double q_norm(const Row* row, const RowOps* k, double q) noexcept nogil:
    """Return the q-norm of a row; it is computed relative to the largest entry where that overflows."""
    cdef double total = k.sum_of_powers(row, q), largest = 0, inverse
    cdef Py_ssize_t at[BUFFER]
    cdef double value[BUFFER]
    cdef Py_ssize_t i, begin, n
    cdef Row part
    if 1e-200 < total < INFINITY:
        return pow(total, 1 / q)
    for begin in range(0, row.n, 256):
        n = min(BUFFER, row.n - begin)
        k.unpack(row, begin, n, at, value)
        for i in range(n):
            largest = max(largest, fabs(value[i]))
    if not 1e-300 < largest < INFINITY:
        return largest
    inverse = 1 / largest
    total = 0
    for begin in range(0, row.n, 256):
        n = min(BUFFER, row.n - begin)
        k.unpack(row, begin, n, at, value)
        for i in range(n):
            value[i] *= inverse
        part.n, part.value, part.index = n, value, NULL
        total += of_doubles(False).sum_of_powers(&part, q)
    return largest * pow(total, 1 / q)


cdef double q_norm_of(const double* value, Py_ssize_t n, double q) noexcept nogil:
    """Return the same q-norm of some numbers."""
    cdef Row row
    row.n, row.value, row.index = n, value, NULL
    return q_norm(&row, of_doubles(False), q)


cdef inline bint within(double norm2, const Row* row, const RowOps* k) noexcept nogil:
    """Return whether a row of this squared length is valid; a valid row consists of zeros, or its length is in the range."""
    return LEAST2 <= norm2 <= LARGEST2 or (norm2 == 0 and k.sum_of_powers(row, 1) == 0)


cdef bint takes(View* x) noexcept nogil:
    """Return whether each row of a view is valid."""
    cdef Py_ssize_t r
    cdef const Row* row
    cdef Row spare
    if x.m == 1:
        return within(squared_norm(x), &x.first, x.k)
    for r in range(x.m):
        row = row_of(x, r, &spare)
        if not within(x.k.norm2(row), row, x.k):
            return False
    return True


cdef class Rows:
    """n rows of p features; the loop takes one view a round."""

    def __cinit__(self):
        self.longest = 1

    cdef void view(self, Py_ssize_t i, View* x) noexcept nogil:
        """View the input of round i; nothing is copied."""

    cdef Py_ssize_t view_together(self, Py_ssize_t first, Py_ssize_t last, View* x) noexcept nogil:
        """View single rows from the first on; return the end.

        The view goes up to the last row, or as far as rows lie one after the other.
        """
        self.view(first, x)
        x.m = last - first
        return last

    cdef Py_ssize_t n_values(self) noexcept nogil:
        """Return the number of values that are stored."""
        return self.n * self.p

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        """Start to fetch the memory that round i reads."""

    cdef Py_ssize_t size(self, Py_ssize_t i) noexcept:
        """Return the number of rows of round i."""
        return 1

    cdef Py_ssize_t rounds_of(self, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last, Py_ssize_t most):
        """Return where rounds from the first on end; they have at most `most` rows, or a round more."""
        return min(first + most, last)

    cdef inputs(self, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last):
        """Return the rows of `matrix` in the rounds first to last; rounds come in the given order."""
        return np.arange(first, last) if order is None else np.array(order[first:last])

    def matrix(self):
        """Return all rows as they are stored, not copied.

        They are in an array or a CSR matrix, in any order, and features may occur twice.
        """
        return None

    cdef Rows consecutive(self, Py_ssize_t most):
        """Return the rows in the order in which they are viewed.

        Those that are viewed together, up to `most`, lie one behind the other.
        """
        return self

    def n_stored(self):
        """Return the number of values to train on."""
        return self.n_values()

    def remade(self, make):
        """Return the rows that a function makes of the table."""
        return make(self.matrix())

    @property
    def orders(self):
        """Return the features of which the weights are kept in order, as `MonotoneWeights` has them; None if there are none."""
        return None

    def keep(self):
        """Keep computed rows for later epochs, if that saves time."""

    def another(self, X):
        """Return rows of another matrix, made like these."""
        return csr_rows(X) if issparse(X) else dense_rows(X)

    cdef Rows apart(self):
        """Return the same rows, for one thread."""
        return self

    def first_indices(self, Py_ssize_t most):
        """Return the indices of the first stored values of rows.

        The rows are sparse; so many indices are returned, or a few more.
        """
        return self.matrix().indices[:most]

    cpdef bint finite(self):
        """Whether no stored value is NaN or infinite."""
        return True

    cdef bint ordinary(self) noexcept nogil:
        """Return whether a quick test finds all values valid.

        A value is valid if a row of values like it, or of zeros, is valid.
        """
        return False

    cpdef Py_ssize_t first_outside(self):
        """Return the first invalid row, -1 if there is none; Rows with NaN or infinite values are invalid, for example."""
        cdef Py_ssize_t i
        cdef View x
        with nogil:
            if self.ordinary():
                return -1
            for i in range(self.n):
                self.view(i, &x)
                if not takes(&x):
                    return i
        return -1


cdef class DenseRows(Rows):
    """A C-contiguous float32 or float64 matrix, read in place."""
    cdef object owner
    cdef const char* data
    cdef Py_ssize_t row_size

    cdef void view(self, Py_ssize_t i, View* x) noexcept nogil:
        x.m = 1
        x.p = self.p
        x.k = self.k
        x.first.n = self.p
        x.first.value = self.data + i * self.row_size
        x.first.index = NULL
        x.start = NULL
        x.norm2 = -1

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        prefetch_bytes(self.data + i * self.row_size, min(self.row_size, 2048))

    def matrix(self):
        return np.asarray(self.owner)

    cpdef bint finite(self):
        cdef bint all_finite
        with nogil:
            all_finite = self.k.finite(self.n * self.p, self.data)
        return all_finite

    cdef bint ordinary(self) noexcept nogil:
        return self.k.ordinary(self.n * self.p, self.data, LEAST2, LARGEST2 / self.p)


cdef class SparseRows(Rows):
    """A CSR matrix read in place; it has float32 or float64 values and 32- or 64-bit indices, in any order within a row."""
    cdef object owner
    cdef const char* value
    cdef const char* index
    cdef const Py_ssize_t[::1] start
    cdef bint rising        # whether the indices of each row rise

    cdef void view(self, Py_ssize_t i, View* x) noexcept nogil:
        x.m = 1
        x.p = self.p
        x.k = self.k
        x.start = &self.start[i]
        x.first.n = self.start[i + 1] - self.start[i]
        x.first.value = self.value + self.start[i] * <Py_ssize_t> self.k.value_size
        x.first.index = self.index + self.start[i] * <Py_ssize_t> self.k.index_size
        x.norm2 = -1

    cdef Py_ssize_t n_values(self) noexcept nogil:
        return self.start[self.n]

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t first = self.start[i], n = self.start[i + 1] - self.start[i]
        prefetch_bytes(self.value + first * <Py_ssize_t> self.k.value_size, min(n * <Py_ssize_t> self.k.value_size, 1024))
        prefetch_bytes(self.index + first * <Py_ssize_t> self.k.index_size, min(n * <Py_ssize_t> self.k.index_size, 1024))

    def matrix(self):
        from scipy.sparse import csr_matrix  # a predictor reads rows without SciPy

        value, index = self.owner
        return csr_matrix((np.asarray(value), np.asarray(index), np.asarray(self.start)), shape=(self.n, self.p))

    cpdef bint finite(self):
        cdef bint all_finite
        with nogil:
            all_finite = self.k.finite(self.start[self.n], self.value)
        return all_finite

    cdef bint ordinary(self) noexcept nogil:
        return self.k.ordinary(self.start[self.n], self.value, LEAST2, LARGEST2 / self.p)

    def repeating(self):
        """Return the rows in which a feature occurs twice; the sums of its values are to be read in their place."""
        cdef Py_ssize_t i, longest = 0, places = 2
        cdef int bits = 1
        if self.rising:
            return np.zeros(0, dtype=np.intp)
        for i in range(self.n):
            longest = max(longest, self.start[i + 1] - self.start[i])
        while places < SPARE * longest:
            places *= 2
            bits += 1
        if self.p <= max(places, min(self.start[self.n], IN_CACHE)):
            places, bits = self.p, 0
        cdef Py_ssize_t[::1] met = np.full(places, -1, dtype=np.intp)
        cdef unsigned char[::1] repeats = np.zeros(self.n, dtype=np.uint8)
        with nogil:
            if self.k.index_size == sizeof(int32_t):
                find_repeats(<const int32_t*> self.index, &self.start[0], self.n, bits, &met[0], &repeats[0])
            else:
                find_repeats(<const int64_t*> self.index, &self.start[0], self.n, bits, &met[0], &repeats[0])
        return np.flatnonzero(repeats)


cdef class SummedRows(Rows):
    """A CSR matrix with duplicate features in some rows.

    These rows are read from `sums`, row by row; the others are read in place.
    """
    cdef SparseRows stored, sums
    cdef Py_ssize_t[::1] summed      # number of a row in sums; -1 where it is read in place

    def __init__(self, SparseRows stored not None, numbers, SparseRows sums not None):
        summed = np.full(stored.n, -1, dtype=np.intp)
        summed[numbers] = np.arange(sums.n)
        self.stored, self.sums, self.summed = stored, sums, summed
        self.sparse = True
        self.n = self.given = stored.n
        self.p = stored.p

    cdef void view(self, Py_ssize_t i, View* x) noexcept nogil:
        cdef Py_ssize_t summed = self.summed[i]
        if summed < 0:
            SparseRows.view(self.stored, i, x)
        else:
            SparseRows.view(self.sums, summed, x)

    cdef Py_ssize_t view_together(self, Py_ssize_t first, Py_ssize_t last, View* x) noexcept nogil:
        cdef Py_ssize_t end = first + 1
        while self.summed[first] < 0 and end < last and self.summed[end] < 0:
            end += 1
        self.view(first, x)
        x.m = end - first
        return end

    cdef Py_ssize_t n_values(self) noexcept nogil:
        return self.stored.n_values()

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        if self.summed[i] < 0:
            self.stored.prefetch(i)
        else:
            self.sums.prefetch(self.summed[i])

    def matrix(self):
        return self.stored.matrix()

    cdef Rows consecutive(self, Py_ssize_t most):
        X = self.matrix().copy()
        X.sum_duplicates()
        return sparse_rows(X.data, X.indices, X.indptr.astype(np.intp), self.p)

    cpdef bint finite(self):
        return self.stored.finite()

    cdef bint ordinary(self) noexcept nogil:
        return self.stored.ordinary() and self.sums.ordinary()


cdef class QueryRows(Rows):
    """Queries, each with one or more documents; the documents start[i] to start[i + 1] are the rows of round i."""
    cdef Rows documents
    cdef const Py_ssize_t[::1] start

    def __init__(self, Rows documents not None, const Py_ssize_t[::1] start, row_numbers=None, given=None):
        cdef Py_ssize_t i, shortest = 1
        self.n = start.shape[0] - 1
        for i in range(self.n):
            shortest = min(shortest, start[i + 1] - start[i])
            self.longest = max(self.longest, start[i + 1] - start[i])
        if self.n < 0 or start[0] != 0 or start[self.n] != documents.n or shortest < 1:
            raise ValueError(f"start must rise from 0 to {documents.n}, the number of documents.")
        self.documents = documents.consecutive(self.longest)
        self.start = start
        self.given = documents.n if given is None else given
        self.row_numbers = row_numbers
        self.p = documents.p
        self.sparse, self.made = documents.sparse, documents.made

    cdef void view(self, Py_ssize_t i, View* x) noexcept nogil:
        self.documents.view_together(self.start[i], self.start[i + 1], x)

    cdef Rows apart(self):
        cdef QueryRows rows
        cdef Rows documents = self.documents.apart()
        if documents is self.documents:
            return self
        rows = QueryRows.__new__(QueryRows)
        rows.documents, rows.start, rows.row_numbers = documents, self.start, self.row_numbers
        rows.n, rows.p, rows.longest, rows.sparse, rows.given = self.n, self.p, self.longest, self.sparse, self.given
        return rows

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        self.documents.prefetch(self.start[i])

    cdef Py_ssize_t n_values(self) noexcept nogil:
        return self.documents.n_values()

    cdef Py_ssize_t size(self, Py_ssize_t i) noexcept:
        return self.start[i + 1] - self.start[i]

    cdef Py_ssize_t rounds_of(self, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last, Py_ssize_t most):
        cdef Py_ssize_t i, end = first, rows = 0
        while end < last and rows < most:
            i = end if order is None else order[end]
            rows += self.start[i + 1] - self.start[i]
            end += 1
        return end

    cdef inputs(self, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last):
        cdef Py_ssize_t i
        cdef const Py_ssize_t[::1] start = self.start
        if order is None:
            return np.arange(start[first], start[last])
        return np.concatenate([np.arange(start[i], start[i + 1]) for i in order[first:last]])

    def matrix(self):
        return self.documents.matrix()

    def remade(self, make):
        return QueryRows(self.documents.remade(make), self.start, self.row_numbers, self.given)

    def keep(self):
        self.documents.keep()

    def another(self, X):
        return self.documents.another(X)

    def first_indices(self, Py_ssize_t most):
        return self.documents.first_indices(most)

    cpdef bint finite(self):
        return self.documents.finite()

    cpdef Py_ssize_t first_outside(self):
        return self.documents.first_outside()


def dense_rows(const real[:, ::1] X):
    """Return rows of a dense matrix; it has at least one row and one feature."""
    cdef DenseRows rows = DenseRows.__new__(DenseRows)
    rows.owner = X
    rows.n = rows.given = X.shape[0]
    rows.p = X.shape[1]
    rows.row_size = rows.p * <Py_ssize_t> sizeof(real)
    rows.k = row_ops_for(sizeof(real), 0)
    rows.data = <const char*> &X[0, 0] if rows.n * rows.p > 0 else NULL
    return rows


cdef bint check_indices(const integer* index, const Py_ssize_t* start, Py_ssize_t n, integer p, bint* sorted_rows) noexcept nogil:
    """Check the indices of CSR rows.

    The indices are in the range if 0 <= index < p throughout; also find whether the indices of each row rise.  This is one pass
    that the compiler vectorises.

    An index out of range sets the sign bit of itself or of p - 1 - index.  Falls are counted everywhere, and those at the
    start of a row taken off.
    """
    cdef integer signs = 0, falls_here
    cdef Py_ssize_t i, block, last, falls = 0
    if start[n] > 0:
        signs = index[0] | (p - 1 - index[0])
    for block in range(1, start[n], 1 << 20):
        last = min(block + (1 << 20), start[n])
        falls_here = 0
        for i in range(block, last):
            signs |= index[i] | (p - 1 - index[i])
            falls_here += index[i] <= index[i - 1]
        falls += falls_here
    for i in range(1, n):
        if 0 < start[i] < start[n] and start[i] > start[i - 1]:
            falls -= index[start[i]] <= index[start[i] - 1]
    sorted_rows[0] = falls == 0
    return signs >= 0


cdef bint repeats_at_own(const integer* index, Py_ssize_t first, Py_ssize_t end, Py_ssize_t* met) noexcept nogil:
    """Return whether an index occurs twice in a row; met[j] is the row where index j was met last."""
    cdef Py_ssize_t k
    cdef bint twice = False
    for k in range(first, end):
        twice |= met[index[k]] >= first
        met[index[k]] = k
    return twice


cdef bint repeats_at_hash(const integer* index, Py_ssize_t first, Py_ssize_t end, int bits, Py_ssize_t* met) noexcept nogil:
    """Return whether an index occurs twice in a row, by hashing.

    met has 2^bits places; an index takes the first, from its hash on, that no other index of its row has.
    """
    cdef uint64_t golden = 0x9E3779B97F4A7C15       # 2^64 over the golden ratio: its multiples are far from each other
    cdef Py_ssize_t k, place
    cdef bint twice = False
    for k in range(first, end):
        place = <Py_ssize_t> ((<uint64_t> index[k] * golden) >> (64 - bits))
        while met[place] >= first and index[met[place]] != index[k]:
            place = (place + 1) & ((<Py_ssize_t> 1 << bits) - 1)
        twice |= met[place] >= first
        met[place] = k
    return twice


cdef void find_repeats(const integer* index, const Py_ssize_t* start, Py_ssize_t n, int bits, Py_ssize_t* met,
                       unsigned char* repeats) noexcept nogil:
    """Mark the rows in which an index occurs twice; met is -1 throughout: a place for each index, or 2^bits if bits is not 0."""
    # An index takes 0.6 ns, or 1.2 by its hash however many features there are; a place for each of 2^24 takes 40, sorting 35.
    cdef Py_ssize_t i
    for i in range(n):
        if bits == 0:
            repeats[i] = repeats_at_own(index, start[i], start[i + 1], met)
        else:
            repeats[i] = repeats_at_hash(index, start[i], start[i + 1], bits, met)


def sparse_rows(const real[::1] value, const integer[::1] index, const Py_ssize_t[::1] start, Py_ssize_t p):
    """Return rows of a CSR matrix with p features.

    No feature may occur twice in a row that is read.

    Its offsets and indices are checked here, once.
    """
    cdef SparseRows rows = SparseRows.__new__(SparseRows)
    cdef Py_ssize_t i, n = start.shape[0] - 1, stored = min(value.shape[0], index.shape[0])
    cdef bint good = n >= 0 and start[0] == 0, sorted_rows = True
    cdef const integer* first = &index[0] if stored > 0 else NULL
    cdef Py_ssize_t widest = 0x7fffffff if sizeof(integer) == 4 else p
    with nogil:
        for i in range(n):
            good = good and start[i] <= start[i + 1]
        good = good and start[n] <= stored and check_indices(first, &start[0], n, <integer> min(p, widest), &sorted_rows)
    if not good:
        raise ValueError(
            f"X is not a valid CSR matrix: its indptr must rise from 0 to at most {stored}, the number of stored values, "
            f"and its indices must lie in 0..{p - 1}."
        )
    rows.rising = sorted_rows
    rows.owner = (value, index)
    rows.sparse = True
    rows.n = rows.given = n
    rows.p = p
    rows.start = start
    rows.k = row_ops_for(sizeof(real), sizeof(integer))
    rows.value = <const char*> &value[0] if value.shape[0] > 0 else NULL
    rows.index = <const char*> &index[0] if index.shape[0] > 0 else NULL
    return rows


def csr_rows(X):
    """Return rows of a CSR matrix, with duplicate features summed; the other rows are read in place."""
    cdef SparseRows rows = stored_rows(X)
    repeating = rows.repeating()
    if len(repeating) == 0:
        return rows
    sums = X[repeating]
    sums.sum_duplicates()
    return SummedRows(rows, repeating, stored_rows(sums))


def stored_rows(X):
    """Return rows of a CSR matrix as it is stored."""
    n, p = X.shape
    if len(X.indptr) != n + 1:
        raise ValueError(f"X is not a valid CSR matrix: its indptr has {len(X.indptr)} entries for {n} rows.")
    start = np.ascontiguousarray(X.indptr, dtype=np.intp)
    return sparse_rows(np.ascontiguousarray(X.data), np.ascontiguousarray(X.indices), start, p)
