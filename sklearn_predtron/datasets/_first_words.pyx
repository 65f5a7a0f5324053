"""Replacement of first words without an object per line."""
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE, PyByteArray_Resize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.string cimport memchr, memcpy


cdef class _Text:
    """A growing buffer of bytes."""
    cdef bytearray buffer
    cdef Py_ssize_t n

    def __init__(self, Py_ssize_t size):
        self.buffer, self.n = bytearray(size), 0

    cdef int put(self, const char* text, Py_ssize_t n) except -1:
        if self.n + n > PyByteArray_GET_SIZE(self.buffer):
            PyByteArray_Resize(self.buffer, 2 * (self.n + n))
        memcpy(PyByteArray_AS_STRING(self.buffer) + self.n, text, n)
        self.n += n
        return 0


def replace_first_words(bytes lines not None, dict numbers not None, rewrite):
    """Replace the first words of lines by numbers; `rewrite` is called for all other lines."""
    cdef const char* line = PyBytes_AS_STRING(lines)
    cdef const char* last = line + PyBytes_GET_SIZE(lines)
    cdef const char* end
    cdef const char* space
    cdef bytes new
    cdef _Text text = _Text(PyBytes_GET_SIZE(lines) + 1)
    while True:
        end = <const char*> memchr(line, b"\n", last - line)
        if end == NULL:
            end = last
        space = <const char*> memchr(line, b" ", end - line)
        new = None if space == NULL else numbers.get(PyBytes_FromStringAndSize(line, space - line))
        if new is None:
            new, space = rewrite(PyBytes_FromStringAndSize(line, end - line)), end
        text.put(PyBytes_AS_STRING(new), PyBytes_GET_SIZE(new))
        if end == last:
            text.put(space, end - space)
            return memoryview(text.buffer)[:text.n]
        line = end + 1
        text.put(space, line - space)
