"""Relevances of lists of items; they are a query's documents, or the labels of a row."""
import numpy as np

from sklearn_predtron._core.problem cimport Labels
from sklearn_predtron.problems.inference._sorting cimport Keyed, sort_descending

from sklearn_predtron.problems.inference._sorting import KEYED

cdef enum:
    FEW = 64    # whole relevances below are numbered by counting


cdef class Relevances(Labels):
    """Lists of relevances, one after the other.

    List i is y[start[i]:start[i + 1]], finite and not negative; none is empty.

    The data on the grades of list i, of which there are at most as many as items, lie from start[i] + i on.
    """

    def __init__(self, const double[::1] y, const Py_ssize_t[::1] start):
        cdef Py_ssize_t i, g, m, place, n = start.shape[0] - 1
        cdef Py_ssize_t *grade
        cdef Py_ssize_t *first
        cdef double *value
        lengths = np.diff(start)
        if n < 0 or start[0] != 0 or start[n] != y.shape[0] or (n > 0 and lengths.min() < 1):
            raise ValueError(f"start must rise from 0 to {y.shape[0]}, the number of items.")
        self.n = n
        self.y = y
        self.start = start
        self.longest = lengths.max() if n > 0 else 0
        self.grade = np.empty(y.shape[0], dtype=np.intp)
        self.first = np.zeros(y.shape[0] + n, dtype=np.intp)
        self.value = np.zeros(y.shape[0] + n)
        self.gain = self.value
        self.n_grades, self.pairs = np.empty(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
        cdef Keyed[::1] items = np.empty(self.longest, dtype=KEYED)
        cdef Keyed[::1] spare = np.empty(self.longest, dtype=KEYED)
        with nogil:
            for i in range(n):
                m, place = start[i + 1] - start[i], start[i] + i
                grade, first, value = &self.grade[start[i]], &self.first[place], &self.value[place]
                if few(&y[start[i]], m):
                    self.n_grades[i] = count(&y[start[i]], m, grade, first, value)
                else:
                    self.n_grades[i] = order(&y[start[i]], m, grade, first, value, &items[0], &spare[0])
                for g in range(self.n_grades[i], m + 1):
                    value[g] = value[0]
                for g in range(self.n_grades[i]):
                    self.pairs[i] += (first[g + 1] - first[g]) * (m - first[g + 1])

    def shared(self):
        cdef Relevances other = Relevances.__new__(Relevances)
        other.n, other.longest, other.gain_of = self.n, self.longest, self.gain_of
        other.y, other.start = self.y, self.start
        other.grade, other.first = self.grade, self.first
        other.n_grades, other.pairs = self.n_grades, self.pairs
        other.value = self.value
        other.gain = self.gain
        return other

    cdef const void* at(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t place = self.start[i] + i
        self.now.n_grades = self.n_grades[i]
        self.now.pairs = self.pairs[i]
        self.now.grade = &self.grade[self.start[i]]
        self.now.first = &self.first[place]
        self.now.value = &self.value[place]
        self.now.gain = &self.gain[place]
        return &self.now

    @property
    def relevances(self):
        """The relevances of all items."""
        return np.asarray(self.y)

    @property
    def starts(self):
        """Starts of the lists, and the end of the last."""
        return np.asarray(self.start)

    @property
    def values(self):
        """Relevance of every grade of every list; it is the highest of the list where the list has fewer grades than items."""
        return np.asarray(self.value)

    @property
    def grades(self):
        """Number of grades of each list."""
        return np.asarray(self.n_grades)

    @property
    def top_grades(self):
        """Whether `values` are of their list's highest grade."""
        top = np.zeros(self.value.shape[0], dtype=bool)
        top[np.asarray(self.start)[:self.n] + np.arange(self.n)] = True
        return top


cdef inline bint few(const double* y, Py_ssize_t m) noexcept nogil:
    """Return whether all relevances are whole numbers below FEW."""
    cdef Py_ssize_t i
    for i in range(m):
        if not y[i] < FEW or y[i] != <double> <Py_ssize_t> y[i]:
            return False
    return True


cdef Py_ssize_t count(const double* y, Py_ssize_t m, Py_ssize_t* grade, Py_ssize_t* first, double* value) noexcept nogil:
    """Number the grades by counting the items of each."""
    cdef Py_ssize_t number[FEW]
    cdef Py_ssize_t i, v, n = 0, before = 0, here
    for v in range(FEW):
        number[v] = 0
    for i in range(m):
        grade[i] = <Py_ssize_t> y[i]
        number[grade[i]] += 1
    for v in range(FEW - 1, -1, -1):
        here = number[v]
        if here > 0:
            value[n] = v
            first[n] = before
            number[v] = n
            before += here
            n += 1
    first[n] = m
    for i in range(m):
        grade[i] = number[grade[i]]
    return n


cdef Py_ssize_t order(const double* y, Py_ssize_t m, Py_ssize_t* grade, Py_ssize_t* first, double* value,
                      Keyed* items, Keyed* spare) noexcept nogil:
    """Number the grades by sorting."""
    cdef Py_ssize_t x, n = 0
    for x in range(m):
        items[x].key = y[x]
        items[x].at = x
    sort_descending(items, spare, m)
    for x in range(m):
        if x == 0 or items[x].key < items[x - 1].key:
            first[n] = x
            value[n] = items[x].key
            n += 1
        grade[items[x].at] = n - 1
    first[n] = m
    return n
