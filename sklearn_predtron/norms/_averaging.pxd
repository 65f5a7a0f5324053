"""Weights that keep averages of their iterates."""
from sklearn_predtron._core.weights cimport Weights
from sklearn_predtron._core.intercept cimport Intercept

cdef enum:
    AVERAGES = 2        # that are kept at most


cdef class AveragedWeights(Weights):
    cdef readonly Intercept intercept
    cdef readonly bint radius_needed, radius_of_rows
    cdef readonly double radius2
    cdef list totals                  # the arrays of the sums
    cdef begin_sum(self, int i, arrays)
    cdef void exchange_sums(self, int i, int j) noexcept
