"""Rows that a feature map makes on request.

Nothing of the number of rows times the number of features is stored, but for the first dense rows of a fit.
"""
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc

import numpy as np

from sklearn_predtron._core.rows cimport Rows, View, of_doubles
from sklearn_predtron._core.simd cimport RowOps, prefetch_bytes
from sklearn_predtron.features._row_map cimport RowMap

from sklearn_predtron._core.rows import sparse_rows

cdef enum:
    SINGLES = 4             # slots of a row, and of a block: a view, the next one, and those that may yet be asked for again
    DENSE_SINGLES = 68      # norms hold up to 64 dense rows, which they score or count together
    BLOCKS = 3
    MOST_TOGETHER = 64
    BLOCK_BYTES = 1 << 17   # a block stays in a cache near the core
    KEPT_BYTES = 1 << 26    # of dense rows that a fit keeps, at most: to compute a row takes longer than to read it
    ENTRY = sizeof(int32_t) + sizeof(double)

# The kernels of CSR rows of doubles with indices of 32 bits.
cdef const RowOps* of_made = (<Rows?> sparse_rows(np.zeros(0), np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.intp), 1)).k


cdef class MadeRows(Rows):
    """Rows of a float table under a map.

    The table is float32 or float64 and C-contiguous; views are valid in one thread.

    A view of a row lasts while three others are asked for, or 67 of dense rows; that of a block while two others are.
    """

    def __init__(self, RowMap map not None, table not None):
        if table.ndim != 2 or table.shape[1] != map.p or table.dtype not in (np.float32, np.float64):
            raise ValueError(f"table must be a matrix of {map.p} columns of float32 or float64.")
        if not (table.flags.c_contiguous and table.flags.aligned):
            raise ValueError("table must be aligned and C-contiguous.")
        self.attach(map, table, max(1, min(MOST_TOGETHER, BLOCK_BYTES // (map.most * ENTRY), len(table))))

    cdef int attach(self, RowMap map, table, Py_ssize_t together) except -1:
        """Attach a table, with buffers for some rows."""
        cdef const float[:, ::1] floats
        cdef const double[:, ::1] doubles
        self.map, self.table, self.together = map, table, together
        self.singles = SINGLES if map.sparse else DENSE_SINGLES
        self.n = self.given = len(table)
        self.p, self.sparse, self.made = map.width, map.sparse, True
        self.single = table.dtype == np.float32
        self.row_size = map.p * (sizeof(float) if self.single else sizeof(double))
        if self.n > 0 and self.single:
            floats = table
            self.data = <const char*> &floats[0, 0]
        elif self.n > 0:
            doubles = table
            self.data = <const char*> &doubles[0, 0]
        self.k = of_made if self.sparse else of_doubles(False)
        self.take_room((self.singles + BLOCKS * together) * map.most, 2 * self.singles + BLOCKS * (together + 1),
                       self.singles + BLOCKS)
        return 0

    cdef int take_room(self, Py_ssize_t values, Py_ssize_t starts, Py_ssize_t slots) except -1:
        """Allocate buffers for some values, offsets and slots.

        They are one piece of memory, as rows of streams come one by one.
        """
        cdef Py_ssize_t i, words = values + starts + 2 * slots + self.map.scratch_size // <Py_ssize_t> sizeof(double) + 1
        self.buffers = <char*> malloc(words * sizeof(double) + (values if self.sparse else 0) * sizeof(int32_t))
        if self.buffers == NULL:
            raise MemoryError
        self.value = <double*> self.buffers
        self.start = <Py_ssize_t*> (self.value + values)
        self.first, self.end = self.start + starts, self.start + starts + slots
        self.scratch = <char*> (self.end + slots)
        self.index = <int32_t*> (self.value + words)
        for i in range(starts):
            self.start[i] = 0
        for i in range(2 * slots):
            self.first[i] = -1
        return 0

    def __dealloc__(self):
        free(self.buffers)

    cdef MadeRows with_room(self, Py_ssize_t together):
        """Return the same rows with other buffers."""
        cdef MadeRows rows = MadeRows.__new__(MadeRows)
        rows.attach(self.map, self.table, together)
        rows.kept, rows.n_kept = self.kept, self.n_kept
        return rows

    cdef Rows apart(self):
        return self.with_room(self.together)

    @property
    def orders(self):
        return self.map.orders

    def keep(self):
        if not self.sparse and self.n_kept == 0:
            self.kept = self.first_rows(min(self.n, KEPT_BYTES // (self.p * <Py_ssize_t> sizeof(double))))
            self.n_kept = self.kept.shape[0]

    def remade(self, make):
        return make(self.table)

    def another(self, table):
        return MadeRows(self.map, table)

    cdef Rows consecutive(self, Py_ssize_t most):
        return self if most <= self.together else self.with_room(most)

    cdef void view(self, Py_ssize_t i, View* x) noexcept nogil:
        cdef Py_ssize_t slot
        if i < self.n_kept:
            self.show_kept(i, i + 1, x)
            return
        for slot in range(self.singles):
            if self.first[slot] == i:
                self.show(slot, x)
                return
        slot = self.next_single
        self.next_single = (slot + 1) % self.singles
        self.fill(slot, i, i + 1)
        self.show(slot, x)

    cdef Py_ssize_t view_together(self, Py_ssize_t first, Py_ssize_t last, View* x) noexcept nogil:
        cdef Py_ssize_t slot, end = min(last, first + self.together)
        if end <= self.n_kept:
            self.show_kept(first, end, x)
            return end
        for slot in range(self.singles, self.singles + BLOCKS):
            if self.first[slot] == first and self.end[slot] == end:
                self.show(slot, x)
                return end
        slot = self.singles + self.next_block
        self.next_block = (self.next_block + 1) % BLOCKS
        self.fill(slot, first, end)
        self.show(slot, x)
        return end

    cdef void fill(self, Py_ssize_t slot, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
        """Make consecutive rows."""
        cdef Py_ssize_t i, before = slot if slot < self.singles else self.singles + (slot - self.singles) * self.together
        cdef double* value = &self.value[before * self.map.most]
        cdef int32_t* index = &self.index[before * self.map.most if self.sparse else 0]
        cdef Py_ssize_t* start = &self.start[before + slot]
        self.first[slot], self.end[slot] = first, end
        for i in range(end - first):
            start[i + 1] = start[i] + self.make(first + i, index + start[i] if self.sparse else index, value + start[i])

    cdef void show(self, Py_ssize_t slot, View* x) noexcept nogil:
        """Return the rows of a slot."""
        cdef Py_ssize_t before = slot if slot < self.singles else self.singles + (slot - self.singles) * self.together
        x.m = self.end[slot] - self.first[slot]
        x.p, x.k, x.norm2 = self.p, self.k, -1
        x.first.value = &self.value[before * self.map.most]
        x.first.index, x.start, x.first.n = NULL, NULL, self.p
        if self.sparse:
            x.first.index = &self.index[before * self.map.most]
            x.start = &self.start[before + slot]
            x.first.n = x.start[1] - x.start[0]

    cdef void show_kept(self, Py_ssize_t first, Py_ssize_t end, View* x) noexcept nogil:
        """Return rows that are kept."""
        x.m = end - first
        x.p, x.k, x.norm2 = self.p, self.k, -1
        x.first.value = &self.kept[first, 0]
        x.first.index, x.start, x.first.n = NULL, NULL, self.p

    cdef Py_ssize_t make(self, Py_ssize_t i, int32_t* index, double* value) noexcept nogil:
        """Make row i; return its number of values."""
        return self.map.make(self.data + i * self.row_size, self.single, self.scratch, index, value)

    cdef Py_ssize_t n_values(self) noexcept nogil:
        return self.n * self.map.most

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        if i < self.n_kept:
            prefetch_bytes(<const char*> &self.kept[i, 0], min(self.p * <Py_ssize_t> sizeof(double), 4096))
        else:
            prefetch_bytes(self.data + i * self.row_size, min(self.row_size, 4096))

    cdef bint ordinary(self) noexcept nogil:
        return True     # values are finite and at most 6, and one of each column that is there at least 1/2, if it is sparse

    def sizes(self, Py_ssize_t last):
        """Return the sizes of all rows but the last."""
        cdef Py_ssize_t[::1] n = np.empty(last, dtype=np.intp)
        cdef Py_ssize_t i
        with nogil:
            for i in range(last):
                n[i] = self.make(i, &self.index[0], &self.value[0])
        return np.asarray(n)

    def matrix(self):
        """Return all rows."""
        return self.first_rows(self.n)

    def first_rows(self, Py_ssize_t n):
        """Return the first rows, as CSR or array."""
        cdef MadeRows rows = self.apart()   # its buffers are of this call
        start = np.zeros(n + 1, dtype=np.intp)
        np.cumsum(rows.sizes(n) if self.sparse else np.full(n, self.p), out=start[1:])
        cdef double[::1] value = np.empty(start[n] + 1)      # the last row may be empty
        cdef int32_t[::1] index = np.empty(start[n] + 1 if self.sparse else 1, dtype=np.int32)
        cdef const Py_ssize_t[::1] at = start
        cdef Py_ssize_t i
        with nogil:
            for i in range(n):
                rows.make(i, &index[at[i] if rows.sparse else 0], &value[at[i]])
        values = np.asarray(value)[:start[n]]
        if not self.sparse:
            return values.reshape(n, self.p)
        from scipy.sparse import csr_matrix  # a predictor reads rows without SciPy

        return csr_matrix((values, np.asarray(index)[:start[n]], start), shape=(n, self.p))

    def first_indices(self, Py_ssize_t most):
        return self.first_rows(min(self.n, most // max(1, self.map.most // 2) + 1)).indices[:most]
