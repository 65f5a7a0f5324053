"""Predictors: the weights of one moment."""
from sklearn_predtron._core.lock cimport Lock
from sklearn_predtron._core.rows cimport Rows
from sklearn_predtron._core.simd cimport Matrix
from sklearn_predtron._core.weights cimport ScoreFunction, Weights


cdef class FrozenWeights(ScoreFunction):
    cdef double[::1] data, b
    cdef Matrix W
    cdef void copy(self, Weights source, bint mean) noexcept nogil


cdef class PassingFeatures(ScoreFunction):
    cdef Weights source
    cdef bint mean
    cdef Matrix W                     # of the features of a row
    cdef double[::1] part, b, value
    cdef Py_ssize_t[::1] at, number   # the features, and their places in the copy


cdef class PassingClasses(ScoreFunction):
    cdef Weights source
    cdef bint mean
    cdef Matrix W                     # of some classes
    cdef double[::1] part, b


cdef bint score(ScoreFunction scoring, Rows rows, double[:, ::1] out, Py_ssize_t first, bint mean) except -1


cdef class Predictors:
    cdef Weights weights
    cdef Lock lock
    cdef ScoreFunction kept                 # the predictor as of `moment`, by the average or the last iterate
    cdef bint of_mean
    cdef size_t moment
    cdef Py_ssize_t passed            # values scored since then without anything being kept
    cdef void clear(self) noexcept
    cdef ScoreFunction whole(self, bint mean)
    cdef void keep(self, ScoreFunction predictor, bint mean) noexcept
    cdef ScoreFunction recall(self, bint mean)
    cdef ScoreFunction in_passing(self, Rows rows, bint mean)
    cdef Py_ssize_t count(self, Py_ssize_t values) noexcept


cdef class Predictor:
    cdef readonly ScoreFunction scoring
    cdef bint mean
