"""Rows of a table as text, by columns."""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_Decode
from libc.math cimport NAN
from libc.string cimport memchr

import numpy as np

cdef extern from "decimal.h" nogil:
    const char* read_decimal(const char* p, double* value)

PADDING = 8  # bytes after a text that are read, too
cdef Py_ssize_t LONGEST = 10_000  # bytes of a cell; the module csv has a limit, too


cdef class TableParser:
    """Parser of plain lines, which have a cell in each column: without quotes, or all of it between quotes.

    `as_text` says of each column whether all its cells are wanted as text.
    """
    cdef char delimiter
    cdef bytes encoding
    cdef const unsigned char[::1] as_text
    cdef Py_ssize_t width

    def __init__(self, str delimiter, str encoding, const unsigned char[::1] as_text):
        self.delimiter, self.encoding = ord(delimiter), encoding.encode()
        self.as_text, self.width = as_text, len(as_text)

    def parse(self, bytes padded not None, Py_ssize_t start, Py_ssize_t most_rows, Py_ssize_t most_bytes, Py_ssize_t longest):
        """Parse a text from `start` on, up to the first line that is not plain; PADDING bytes follow the text.

        `most_bytes` is what the lines may have before the last one, and `longest` what each may have. Return the numbers by
        row and column, which are NaN where a cell is none, and the end. For each column the numbers of these rows and
        their cells follow.
        """
        cdef const char* text = PyBytes_AS_STRING(padded)
        cdef const char* begin = text + start
        cdef const char* end = text + PyBytes_GET_SIZE(padded) - <Py_ssize_t> PADDING
        cdef const char* p = begin
        cdef const char* newline
        cdef Py_ssize_t n = 0
        numbers = np.empty((min(most_rows, (end - begin) // self.width), self.width))
        cells = [([], []) for _ in range(self.width)]
        cdef double[:, ::1] value = numbers
        while n < value.shape[0] and p - begin < most_bytes:
            newline = <const char*> memchr(p, b"\n", end - p) if p < end else NULL
            if newline == NULL or newline - p >= longest:
                break
            if not self.read_row(p, newline, n, &value[n, 0], cells):
                for rows, texts in cells:
                    if rows and rows[len(rows) - 1] == n:
                        rows.pop()
                        texts.pop()
                break
            n += 1
            p = newline + 1
        return numbers[:n], cells, p - text

    cdef bint read_row(self, const char* p, const char* end, Py_ssize_t n, double* value, list cells) except -1:
        """Read the cells of a line; return whether it is plain."""
        cdef const char* stop = NULL
        cdef const char* last
        cdef Py_ssize_t j
        cdef bint doubled
        end -= end > p and (end - 1)[0] == c"\r"
        if end == p or memchr(p, b"\r", end - p) != NULL or memchr(p, 0, end - p) != NULL:
            return False
        for j in range(self.width):
            while p < end and p[0] == c" ":
                p += 1
            stop, doubled = NULL, False
            if not self.as_text[j]:
                stop = read_decimal(p, &value[j])
            while stop != NULL and stop < end and stop[0] == c" ":
                stop += 1
            if stop == NULL or (stop < end and stop[0] != self.delimiter):
                if p < end and p[0] == c'"':
                    p += 1
                    last = <const char*> memchr(p, b'"', end - p)
                    while last != NULL and last + 1 < end and last[1] == c'"':  # a quote within the text is doubled
                        doubled = True
                        last = <const char*> memchr(last + 2, b'"', end - last - 2)
                    if last == NULL:
                        return False
                    stop = last + 1
                else:
                    stop = <const char*> memchr(p, self.delimiter, end - p)
                    if stop == NULL:
                        stop = end
                    last = stop
                    if memchr(p, b'"', last - p) != NULL:
                        return False
                if (stop < end and stop[0] != self.delimiter) or last - p > LONGEST:
                    return False
                value[j] = NAN
                if self.as_text[j] or last == p or read_decimal(p, &value[j]) != last:
                    value[j] = NAN
                    try:
                        text = PyUnicode_Decode(p, last - p, self.encoding, NULL)
                    except UnicodeDecodeError:
                        return False
                    rows, texts = cells[j]
                    rows.append(n)
                    texts.append((text.replace('""', '"') if doubled else text).strip())
            if j + 1 < self.width:
                if stop == end:
                    return False
                p = stop + 1
        return stop == end
