"""Weights that make scores of those of others."""
from sklearn_predtron._core.weights cimport Weights


cdef class WrappedWeights(Weights):
    cdef readonly Weights inner
