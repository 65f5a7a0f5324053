"""Problems written in Python: slower, the same loop."""
from libc.stdint cimport uintptr_t

import numpy as np

from sklearn_predtron._core.kernels cimport Direction
from sklearn_predtron._core.problem cimport Labels, Problem, Round


cdef class Objects(Labels):
    """Labels that are Python objects."""
    cdef list values
    cdef uintptr_t[::1] addresses

    def __init__(self, values):
        self.values = list(values)
        self.n = len(self.values)
        self.addresses = np.array([<uintptr_t> <void*> value for value in self.values], dtype=np.uintp)

    cdef const void* at(self, Py_ssize_t i) noexcept nogil:
        return <const void*> self.addresses[i]


cdef class PythonProblem(Problem):
    """Asks a `sklearn_predtron.Problem`; what it raises stops the loop after the last complete round."""
    cdef readonly object inner
    cdef object error, competitor, correct

    def __init__(self, inner):
        self.inner = inner
        self.d = inner.n_scores
        self.fallible = True
        self.c_L = float("nan") if inner.c_L is None else inner.c_L
        self.C_L = float("nan") if inner.C_L is None else inner.C_L

    def __reduce__(self):
        return type(self), (self.inner,)

    @property
    def stated_by(self):
        return repr(self.inner)

    cdef void predicted(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        with gil:
            self.find(np.array(<double[:self.d]> t), <object> y, False, r)

    cdef void augmented(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        with gil:
            self.find(np.array(<double[:self.d]> t), <object> y, True, r)

    cdef find(self, t, y, bint augmented, Round* r):
        r.loss = r.rival_loss = r.gap = 0
        try:
            prediction = self.inner.decode(t)
            loss = float(self.inner.loss(prediction, y))
            self.competitor = self.inner.augmented_decode(t, y) if augmented else prediction
            self.correct = self.inner.correct(y, self.competitor)
            r.rival_loss = self.inner.loss(self.competitor, y) if augmented else loss
            r.gap = np.dot(self.difference(), t)
            r.loss = loss
        except BaseException as error:
            self.error = error
            self.failed = True

    cdef difference(self):
        rival = np.asarray(self.inner.representation(self.competitor), dtype=np.float64)
        right = np.asarray(self.inner.representation(self.correct), dtype=np.float64)
        if rival.shape != (self.d,) or right.shape != (self.d,):
            raise ValueError(
                f"representation() must return arrays of shape (n_scores,) = ({self.d},), got {rival.shape} and {right.shape}.")
        return rival - right

    cdef void direction(self, const void* y, Py_ssize_t m, const Round* r, Direction* g) noexcept nogil:
        cdef Py_ssize_t c
        with gil:
            g.n = self.d
            g.at = NULL
            try:
                difference = self.difference()
                for c in range(self.d):
                    g.value[c] = difference[c]
            except BaseException as error:
                self.error = error
                self.failed = True

    def reraise(self):
        error, self.error = self.error, None
        self.failed = False
        raise error

    def decode(self, const double[:, ::1] scores):
        """The prediction for each row of scores, as a list."""
        return [self.inner.decode(np.array(t)) for t in scores]
