"""The bins of histograms of magnitudes.

Each octave from 2^LOWEST to 2^HIGHEST has the same number of bins.
"""
from libc.math cimport frexp

cdef enum:
    PER_OCTAVE = 16     # bins between a magnitude and its double
    LOWEST = -20        # magnitudes below 2^LOWEST share the first bin, those from 2^HIGHEST the last
    HIGHEST = 20
    N_BINS = (HIGHEST - LOWEST) * PER_OCTAVE


cdef inline Py_ssize_t bin_of(double magnitude) noexcept nogil:
    cdef int exponent
    cdef double mantissa
    if not magnitude >= 2.0 ** LOWEST:          # nor where the scores of the average overflow
        return 0
    if magnitude >= 2.0 ** HIGHEST:
        return N_BINS - 1
    mantissa = frexp(magnitude, &exponent)
    return (exponent - 1 - LOWEST) * PER_OCTAVE + <Py_ssize_t> ((2 * mantissa - 1) * PER_OCTAVE)
