"""Dicts as rows: one pass over names and values."""

import numpy as np

from sklearn_predtron._support.numbers import real_number

PLAIN = (float, int, np.floating, np.integer, np.bool_)


def fill_row(dict x not None, dict numbers not None, int[::1] index, double[::1] value):
    """Write a dict's columns and values; return their number.

    There is room for all names that have one.  None and NaN are left out; a value that is no number is a TypeError.
    """
    cdef Py_ssize_t n = 0
    cdef double found
    for name, number in x.items():
        if number is None:
            continue
        column = numbers.get(name)
        if column is None or n == index.shape[0]:
            return -1
        if not isinstance(number, float) and not isinstance(number, PLAIN):
            number = real_number(number)  # None for complex numbers and times, which float() accepts
        found = number
        if found == found:
            index[n] = column
            value[n] = found
            n += 1
    return n
