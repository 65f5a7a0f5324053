"""Rows of svmlight text, without the GIL."""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t

import numpy as np

MOST_FEATURES = 2**31 - 1  # whose numbers have 32 bits

cdef extern from "svmlight.h" nogil:
    const Py_ssize_t SVMLIGHT_PADDING
    ctypedef struct svmlight_format:
        int base
        int several
        int relevance
        int64_t width
        const double* classes
        Py_ssize_t n_classes
        double (*odd_number)(const char* text, Py_ssize_t n) noexcept nogil
        int64_t (*odd_index)(const char* text, Py_ssize_t n) noexcept nogil
    ctypedef struct svmlight_rows:
        Py_ssize_t lines, rows, labels, entries
        int64_t width
        double* label
        Py_ssize_t* label_end
        Py_ssize_t* end
        int32_t* index
        double* value
        float* value_of_float
    Py_ssize_t svmlight_count(const char* text, Py_ssize_t n, char byte)
    const char* svmlight_read(const char* text, Py_ssize_t n, const svmlight_format* format, svmlight_rows* rows)

PADDING = SVMLIGHT_PADDING


cdef double odd_number(const char* text, Py_ssize_t n) noexcept with gil:
    """Parse any number of Python; nan if invalid."""
    try:
        return float(PyBytes_FromStringAndSize(text, n))
    except Exception:
        return NAN


cdef int64_t odd_index(const char* text, Py_ssize_t n) noexcept with gil:
    """Parse any index of Python; -1 if invalid."""
    try:
        index = int(PyBytes_FromStringAndSize(text, n))
    except Exception:
        return -1
    return index if 0 <= index <= MOST_FEATURES else -1


cdef class LineParser:
    """Line parser with the settings of a pass."""
    cdef svmlight_format format
    cdef const double[::1] classes
    cdef bint as_float

    def __init__(self, n_features, bint zero_based, const double[::1] classes, *, bint multilabel, bint relevance, dtype):
        self.format.base = not zero_based
        self.format.several = multilabel
        self.format.relevance = relevance
        self.format.width = MOST_FEATURES if n_features is None else n_features
        self.classes = classes
        self.format.n_classes = -1 if classes is None else len(classes)
        if self.format.n_classes > 0:
            self.format.classes = &classes[0]
        self.format.odd_number = odd_number
        self.format.odd_index = odd_index
        self.as_float = np.dtype(dtype) == np.float32

    def parse(self, bytes padded not None):
        """Parse a text followed by PADDING zero bytes.

        Return data, indices, indptr, the width, labels, where each row's end (None with one label a row), how many lines are
        read, and how many bytes: all, or those before the first line that cannot be read.
        """
        cdef const char* text = PyBytes_AS_STRING(padded)
        cdef Py_ssize_t n = len(padded) - SVMLIGHT_PADDING, most_rows, most_entries, most_labels, done
        cdef svmlight_rows rows
        cdef double[::1] value
        cdef float[::1] value_of_float
        if n < 0:
            raise ValueError(f"a text of {len(padded)} bytes has no padding")
        with nogil:
            most_rows = svmlight_count(text, n, b"\n") + 1
            most_entries = svmlight_count(text, n, b":")
            most_labels = most_rows + (svmlight_count(text, n, b",") if self.format.several else 0)
        data = np.empty(most_entries + 1, dtype=np.float32 if self.as_float else np.float64)
        indices, indptr = np.empty(most_entries + 1, dtype=np.int32), np.zeros(most_rows + 1, dtype=np.intp)
        labels, label_end = np.empty(most_labels, dtype=np.float64), np.empty(most_rows if self.format.several else 1, np.intp)
        cdef int32_t[::1] index = indices
        cdef Py_ssize_t[::1] end = indptr, ends = label_end
        cdef double[::1] label = labels
        rows.lines = rows.rows = rows.labels = rows.entries = 0
        rows.width = 1
        rows.label, rows.label_end, rows.end, rows.index = &label[0], &ends[0], &end[1], &index[0]
        rows.value, rows.value_of_float = NULL, NULL
        if self.as_float:
            value_of_float = data
            rows.value_of_float = &value_of_float[0]
        else:
            value = data
            rows.value = &value[0]
        with nogil:
            done = svmlight_read(text, n, &self.format, &rows) - text
        return (data[:rows.entries], indices[:rows.entries], indptr[:rows.rows + 1], rows.width, labels[:rows.labels],
                label_end[:rows.rows] if self.format.several else None, rows.lines, done)
