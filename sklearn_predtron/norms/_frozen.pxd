"""Weights that only predict."""
from sklearn_predtron._core.simd cimport Matrix
from sklearn_predtron.norms._base cimport Weights


cdef class FrozenWeights(Weights):
    cdef double[::1] data, b
    cdef Matrix W
    cdef void copy(self, Weights source, bint mean) noexcept nogil


cdef class PassingFeatures(Weights):
    cdef Weights source
    cdef bint mean
    cdef Matrix W                     # of the features of a row
    cdef double[::1] part, b, value
    cdef Py_ssize_t[::1] at, number   # the features, and their places in the copy


cdef class PassingClasses(Weights):
    cdef Weights source
    cdef bint mean
    cdef Matrix W                     # of some classes
    cdef double[::1] part, b
