"""The fast path from Python's rounds to the loop."""
from libc.math cimport INFINITY

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from sklearn_predtron._core.learner cimport Learner
from sklearn_predtron._core.lock cimport Lock
from sklearn_predtron._core.problem cimport Codes, Labels
from sklearn_predtron.problems._relevance cimport Relevances
from sklearn_predtron._core.rows cimport Rows
from sklearn_predtron.problems._label_sets cimport Indicators
from sklearn_predtron._core.rows import QueryRows, csr_rows, dense_rows
from sklearn_predtron.problems._chain import TokenCodes


def plain_rows(X):
    """Return the rows of plain X, or None.

    X is plain if it is a C-contiguous array or a CSR matrix, of float32 or float64, that is not empty.
    """
    kind = type(X)
    if kind is np.ndarray:
        known = X.ndim == 2 and X.size > 0 and X.flags.c_contiguous
    else:
        known = (kind is csr_matrix or kind is csr_array) and X.ndim == 2 and min(X.shape) > 0
    if not known or not (X.dtype == np.float64 or X.dtype == np.float32):
        return None
    return dense_rows(X) if kind is np.ndarray else csr_rows(X)


cdef class LabelReader:
    """Reads the labels of a batch.

    Plain labels are read at once, any others by `read_any`, which a family adds.
    """

    def labels(self, y):
        """Return the labels; raise ValueError if invalid."""
        cdef bint listed = type(y) is list or (type(y) is np.ndarray and y.ndim > 0)
        cdef Labels plain = self.read(y, len(y)) if listed else None
        return self.read_any(y) if plain is None else plain

    cdef Labels read(self, y, Py_ssize_t n):
        """Return n labels of known kind, or None.

        None if they need the general path.
        """
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
        if type(y) is np.ndarray and y.ndim == 1:
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
    """Return zeros and ones as bytes, or None.

    The array has two dimensions; None if it holds anything else.
    """
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
    """Indicator matrices of m labels.

    With codes it is one label, which is on for the label of code 1.
    """
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
    """Labels of the tokens of one sequence.

    Their transitions must be allowed, as defined by a `ChainProblem`.
    """
    cdef const unsigned char[:, ::1] allowed

    def __init__(self, dict codes not None, allowed=None):
        CodeReader.__init__(self, codes)
        self.allowed = None if allowed is None else np.array(allowed, dtype=np.uint8)

    cdef Labels read(self, y, Py_ssize_t n):
        cdef Labels labels = CodeReader.read(self, y, n)
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
    """Relevances of lists, or None.

    None if they are not finite numbers of at least 0.
    """
    cdef const double[::1] flat
    cdef Py_ssize_t i
    cdef bint good = True
    if y.dtype.kind not in "iuf":
        return None
    flat = np.ascontiguousarray(y, dtype=np.float64).ravel()
    for i in range(flat.shape[0]):
        good &= 0 <= flat[i] < INFINITY
    return Relevances(flat, start) if good else None


cdef class Stream:
    """A learner with a reader of its labels.

    It takes labelled rows as they come, with few checks.
    """
    cdef Learner learner
    cdef LabelReader reader
    cdef Lock lock
    cdef bint closed, of_one_format, sparse
    cdef object features

    def __init__(self, Learner learner not None, LabelReader reader not None, Lock lock not None, sparse=None, features=None):
        """Open the fast path for rows.

        A format, `sparse` or dense, is the only one that is taken; None takes both.  A map makes features of the rows.
        """
        self.features = features
        self.of_one_format, self.sparse = sparse is not None, bool(sparse)
        self.learner = learner
        self.reader = reader
        self.lock = lock

    def close(self):
        """Take no more rows.

        The estimator has another learner, or other parameters.
        """
        self.closed = True

    def take(self, X, y):
        """Train on the rows and return True.

        Return False, with no change, if the rows need the general path.
        """
        self.lock.take()
        try:
            return not self.closed and self.learn(X, y)
        finally:
            self.lock.release()

    cdef bint learn(self, X, y) except -1:
        cdef Rows rows = plain_rows(X) if self.features is None else self.features.plain_rows(X)
        cdef Py_ssize_t before, refused
        cdef const double[::1] weight, frequency = None
        cdef Labels labels
        if rows is not None and self.of_one_format and rows.sparse != self.sparse:
            return False
        if rows is None or rows.p != self.learner.weights.n_features or self.learner.weights.first_refused(rows) >= 0:
            return False
        labels = self.reader.read(y, rows.n)
        if labels is None:
            return False
        before = self.learner.counts.t
        weight = self.reader.weight(labels)
        if weight is not None and self.learner.observer is not None:
            frequency = np.ones(weight.shape[0])
        refused = self.learner.learn(self.reader.rounds(rows), labels, None, weight, counts=frequency)
        if refused >= 0:
            raise ValueError(self.learner.why_refused(refused, before))
        return True
