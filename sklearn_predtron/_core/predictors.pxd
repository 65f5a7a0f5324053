from sklearn_predtron._core.lock cimport Lock
from sklearn_predtron._core.rows cimport Rows
from sklearn_predtron.norms._base cimport Weights


cdef bint score(Weights weights, Rows rows, double[:, ::1] out, Py_ssize_t first, bint mean) except -1


cdef class Predictors:
    cdef Weights weights
    cdef Lock lock
    cdef Weights kept                 # what predicts, as of `moment`, as the average does or the last iterate
    cdef bint of_mean
    cdef size_t moment
    cdef Py_ssize_t passed            # values scored since then without anything being kept
    cdef void clear(self) noexcept
    cdef Weights whole(self, bint mean)
    cdef Weights recall(self, bint mean)
    cdef Weights in_passing(self, Rows rows, bint mean)


cdef class Predictor:
    cdef readonly Weights weights
    cdef bint mean
