"""Plain labels of rows, read at once."""
from libc.math cimport INFINITY

import numpy as np

from sklearn_predtron._core.problem cimport Codes, Labels
from sklearn_predtron._core.rows cimport Rows
from sklearn_predtron.problems._label_sets cimport Indicators
from sklearn_predtron.problems._relevance cimport Relevances

from sklearn_predtron._core.rows import QueryRows
from sklearn_predtron._support.encoding import distinct_in_range
from sklearn_predtron.problems._chain import TokenCodes

cdef enum:
    MANY = 1000     # labels: to find the distinct ones takes as long as to look up 800


cdef class LabelReader:
    """Reads the labels of a batch; plain labels are read at once, any others by `read_any`, which a family adds."""

    def labels(self, y):
        """Return the labels; raise ValueError if invalid."""
        cdef bint listed = type(y) is list or (type(y) is np.ndarray and y.ndim > 0)
        cdef Labels plain = self.read(y, len(y)) if listed else None
        return self.read_any(y) if plain is None else plain

    cdef Labels read(self, y, Py_ssize_t n):
        """Return n labels of known kind, or None; None if they need the general path."""
        return None

    cdef const double[::1] weight(self, Labels labels):
        """Return the weight of each label; None for ones."""
        return None

    cdef Rows rounds(self, Rows rows):
        """Return the rows as rounds."""
        return rows


cdef class CodeReader(LabelReader):
    """Labels by their numbers, with a weight each."""
    cdef dict codes
    cdef const double[::1] class_weight

    def __init__(self, dict codes not None, const double[::1] class_weight=None):
        self.codes = codes
        self.class_weight = class_weight

    cdef Labels read(self, y, Py_ssize_t n):
        cdef Py_ssize_t i
        cdef Labels known
        if type(y) is np.ndarray and y.ndim == 1:
            narrow = distinct_in_range(y) if n >= MANY and y.dtype == np.intp else None
            if narrow is not None:
                found, places = narrow
                known = CodeReader.read(self, found.tolist(), len(found)) if len(y) == n else None
                return None if known is None else Codes(known.array[places])
            y = y.tolist()
        elif type(y) is list:
            y = y.copy()        # a copy, so that the labels' own methods cannot change it
        else:
            return None
        if len(y) != n:
            return None
        codes = np.empty(n, dtype=np.intp)
        cdef Py_ssize_t[::1] code = codes
        try:
            for i in range(n):
                code[i] = self.codes[y[i]]
                if self.class_weight is not None and self.class_weight[code[i]] == 0:
                    return None
        except (KeyError, TypeError):
            return None
        return Codes(codes)

    cdef const double[::1] weight(self, Labels labels):
        cdef double[::1] found
        cdef const Py_ssize_t[::1] code
        cdef Py_ssize_t i
        if self.class_weight is None:
            return None
        code = (<Codes> labels).codes
        found = np.empty(code.shape[0])
        for i in range(code.shape[0]):
            found[i] = self.class_weight[code[i]]
        return found


ctypedef unsigned char uchar
ctypedef long long longlong

ctypedef fused number:
    uchar
    int
    long
    longlong
    float
    double


cdef bint narrow(const number[:, :] y, unsigned char[:, ::1] rows) noexcept nogil:
    """Copy zeros and ones; whether there was nothing else."""
    cdef Py_ssize_t i, j
    cdef bint other = False
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            rows[i, j] = y[i, j] == 1
            other |= (y[i, j] != 0) & (y[i, j] != 1)
    return not other


def indicator_rows(y):
    """Return zeros and ones as bytes, or None; the array has two dimensions; None if it holds anything else."""
    y = y.astype(y.dtype.newbyteorder("="), copy=False)
    rows = np.empty(y.shape, dtype=np.uint8)
    kind = y.dtype.char
    if kind == "?" or kind == "B":
        good = narrow[uchar](y.view(np.uint8), rows)
    elif kind == "l":
        good = narrow[long](y, rows)
    elif kind == "d":
        good = narrow[double](y, rows)
    elif kind == "i":
        good = narrow[int](y, rows)
    elif kind == "q":
        good = narrow[longlong](y, rows)
    elif kind == "f":
        good = narrow[float](y, rows)
    else:
        good = False
        if y.dtype.kind in "iufbcO":
            try:
                rows = np.ascontiguousarray(y == 1, dtype=np.uint8)
                good = bool((rows == y).all())
            except TypeError:       # a value that cannot be compared is no indicator
                good = False
    return rows if good else None


cdef class IndicatorReader(LabelReader):
    """Indicator matrices of m labels; with codes it is one label, which is on for the label of code 1."""
    cdef Py_ssize_t m
    cdef CodeReader codes

    def __init__(self, Py_ssize_t m, CodeReader codes=None):
        self.m = m
        self.codes = codes

    cdef Labels read(self, y, Py_ssize_t n):
        cdef Labels labels
        if self.codes is not None:
            labels = self.codes.read(y, n)
            return None if labels is None else Indicators(labels.array.astype(np.uint8)[:, None])
        if type(y) is not np.ndarray or y.ndim != 2 or y.shape[0] != n or y.shape[1] != self.m:
            return None
        rows = indicator_rows(y)
        return None if rows is None else Indicators(rows)


cdef class RelevanceReader(LabelReader):
    """Relevances of m labels, finite and not negative."""
    cdef Py_ssize_t m

    def __init__(self, Py_ssize_t m):
        self.m = m

    cdef Labels read(self, y, Py_ssize_t n):
        if type(y) is not np.ndarray or y.ndim != 2 or y.shape[0] != n or y.shape[1] != self.m:
            return None
        return relevances(y, np.arange(n + 1, dtype=np.intp) * self.m)


cdef class QueryReader(LabelReader):
    """Relevances of the documents of one query."""

    cdef Labels read(self, y, Py_ssize_t n):
        if type(y) is not np.ndarray or y.ndim != 1 or y.shape[0] != n:
            return None
        return relevances(y, one_round(n))

    cdef Rows rounds(self, Rows rows):
        return QueryRows(rows, one_round(rows.n))


cdef class TokenReader(CodeReader):
    """Labels of the tokens of one sequence; their transitions must be allowed, as defined by a `ChainProblem`."""
    cdef const unsigned char[:, ::1] allowed
    cdef Py_ssize_t longest     # sequence that is one round

    def __init__(self, dict codes not None, allowed, Py_ssize_t longest):
        CodeReader.__init__(self, codes)
        self.longest = longest
        self.allowed = None if allowed is None else np.array(allowed, dtype=np.uint8)

    cdef Labels read(self, y, Py_ssize_t n):
        cdef Labels labels = CodeReader.read(self, y, n) if n <= self.longest else None
        if labels is None or not self.allows(labels.array):
            return None
        return TokenCodes(labels.array, one_round(n))

    cdef bint allows(self, const Py_ssize_t[::1] code):
        """Whether the labels may follow one another."""
        cdef Py_ssize_t i
        cdef bint good = True
        if self.allowed is not None:
            for i in range(code.shape[0]):
                good &= self.allowed[code[i - 1] if i > 0 else self.allowed.shape[1], code[i]]
        return good

    cdef Rows rounds(self, Rows rows):
        return QueryRows(rows, one_round(rows.n))


cdef one_round(Py_ssize_t n):
    """Where a round of n rows begins and ends."""
    return np.array([0, n], dtype=np.intp)


cdef Relevances relevances(y, start):
    """Relevances of lists, or None; None if they are not finite numbers of at least 0."""
    cdef const double[::1] flat
    cdef Py_ssize_t i
    cdef bint good = True
    if y.dtype.kind not in "iuf":
        return None
    flat = np.ascontiguousarray(y, dtype=np.float64).ravel()
    for i in range(flat.shape[0]):
        good &= 0 <= flat[i] < INFINITY
    return Relevances(flat, start) if good else None
