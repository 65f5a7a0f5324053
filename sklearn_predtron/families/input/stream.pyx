"""The fast path from Python's rounds to the loop."""
import numpy as np
from scipy.sparse import csr_array, csr_matrix

from sklearn_predtron._core.learner cimport Learner
from sklearn_predtron._core.lock cimport Lock
from sklearn_predtron._core.problem cimport Labels
from sklearn_predtron._core.rows cimport Rows
from sklearn_predtron.families.labels.label_readers cimport LabelReader

from sklearn_predtron._core.rows import csr_rows, dense_rows

PLAIN = (str, int, float, np.generic)  # labels that are compared at once


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


cdef class Stream:
    """A learner with a reader of its labels; it takes labelled rows as they come, with few checks."""
    cdef Learner learner
    cdef LabelReader reader
    cdef Lock lock
    cdef bint closed, of_one_format, sparse
    cdef object features, classes

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
        """Take no more rows; the estimator has another learner, or other parameters."""
        self.closed = True

    def know(self, classes):
        """Recognise the classes of a call from here on; they may be an array, or a list or tuple of plain labels."""
        if type(classes) is np.ndarray:
            self.classes = None if classes.dtype.hasobject else classes.copy()
        elif type(classes) is list or type(classes) is tuple:
            self.classes = classes[:] if all(isinstance(label, PLAIN) for label in classes) else None

    cdef bint knows(self, classes) except -1:
        """Return whether classes are those of an earlier call."""
        known = self.classes
        if type(known) is not type(classes):
            return False
        if type(classes) is np.ndarray:
            return known.dtype == classes.dtype and known.shape == classes.shape and known.tobytes() == classes.tobytes()
        try:
            return known == classes
        except (TypeError, ValueError):     # of a value that is no label, as pandas.NA and arrays
            return False

    def take(self, X, y, classes=None):
        """Train on the rows and return True; return False, with no change, if the call needs the general path."""
        if classes is not None and not self.knows(classes):
            return False
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
