"""Blocks of text: whole lines, or whole queries (sequences)."""
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE, PyByteArray_Resize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t
from libc.string cimport memchr, memcmp, memcpy, memmove, memset

import re
import sys
import zlib
from array import array

import numpy as np

from sklearn_predtron.datasets._broken_lines import at_field
from sklearn_predtron.datasets._svmlight import PADDING

MOST_BYTES = sys.maxsize // 2  # whose number, and somewhat more, fits an index
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # which some editors put before UTF-8
cdef Py_ssize_t AT_ONCE = 2**18    # bytes that are read of a plain file; more of them leave the processor's cache


cdef inline bint is_space(char byte) noexcept:
    return byte == b" " or b"\t" <= byte <= b"\r"


def query_id(field):
    """Return the id in a row's second field, or None."""
    digits = re.fullmatch(rb"qid:([+-]?\d{1,20})", field)
    number = 2**63 if digits is None else int(digits[1])
    return number if -(2**63) <= number < 2**63 else None


def rows_of(file, size):
    """Yield the fields of lines with a row; a line that cannot be read yields no field and is the last."""
    for block in BlockCutter(file, 1, size, longest=size):
        fields = block.text[:-PADDING].partition(b"#")[0].split()
        if fields or block.error is not None:
            yield fields


cdef class Block:
    """Lines that are parsed together.

    With ids a block has rows only, no comments, and `whole` is how many of them, at its start, are of queries (or sequences)
    known to be whole: a line of another id follows, or the end of the file.
    """
    cdef readonly bytes text        # followed by the padding that the parser wants
    cdef readonly int64_t first     # the number of the first line
    cdef readonly Py_ssize_t whole
    cdef readonly object line_numbers  # of the rows, with ids; else None
    cdef readonly object qid        # of the rows; or None
    cdef readonly object error      # the number of the line after the block, and why it cannot be read; or None
    cdef readonly Py_ssize_t unread  # bytes of the file that are read already and not in a block


cdef class BlockCutter:
    """Cuts a file into blocks of whole lines.

    With a `group` (the word for queries in messages), each block ends with a whole query.  No id returns within a block, because
    two queries with the same id would be read as one.  A line, or the rows of a query, may be `longest` bytes long.  Iterating
    yields `Block`; the last one is empty, unless a line is broken.  `before` is the number of lines before the file's position.
    """
    cdef object file, group
    cdef Py_ssize_t most, size, longest, at_once
    cdef bytearray buffer
    # In the buffer: the start and end of the block, the start and end of the present line, the end of the data.
    cdef Py_ssize_t start, kept, line, next, filled
    cdef Py_ssize_t searched        # up to where no line ends
    cdef int64_t number             # of the present line
    cdef int64_t qid                # of the present row
    cdef bint opened, waiting, over  # the file's start is read; the present row is of the next block; no block is left
    cdef object reason              # why the present line cannot be read

    def __init__(self, file, most, Py_ssize_t size, *, Py_ssize_t longest, group=None, at_once=None, before=None):
        self.file, self.group = file, group
        self.most, self.size, self.longest = min(most, sys.maxsize), size, longest
        self.at_once = at_once or max(1, min(AT_ONCE, size))
        self.buffer = bytearray(2 * self.at_once)
        self.opened, self.number = before is not None, before or 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.over:
            raise StopIteration
        if not self.opened:
            self.skip_mark()
        return self.cut_lines() if self.group is None else self.cut_queries()

    cdef skip_mark(self):
        """Skip the byte order mark."""
        self.opened = True
        while self.filled < 3 and BYTE_ORDER_MARK.startswith(self.buffer[:self.filled]) and self.read_more():
            pass
        if self.filled >= 3 and self.buffer.startswith(BYTE_ORDER_MARK):
            self.start = self.kept = self.line = self.next = self.searched = 3

    cdef bint read_more(self) except -1:
        """Read more bytes; return whether that was possible."""
        cdef Py_ssize_t n = 0
        self.make_room()
        try:
            with memoryview(self.buffer) as view, view[self.filled:self.filled + self.at_once] as part:
                n = self.file.readinto1(part)
        except (EOFError, OSError, zlib.error) as error:
            self.reason = str(error)
        self.filled += n
        return n > 0

    cdef make_room(self):
        """Compact the buffer, or enlarge it."""
        cdef char* bytes_ = PyByteArray_AS_STRING(self.buffer)
        cdef Py_ssize_t length = self.kept - self.start, gap = self.line - length, unread = self.filled - self.line
        if self.filled + self.at_once <= PyByteArray_GET_SIZE(self.buffer):
            return
        memmove(bytes_, bytes_ + self.start, length)
        memmove(bytes_ + length, bytes_ + self.line, unread)
        self.start, self.kept, self.line = 0, length, length
        self.next, self.searched, self.filled = self.next - gap, self.searched - gap, self.filled - gap
        if self.filled + self.at_once > PyByteArray_GET_SIZE(self.buffer):
            PyByteArray_Resize(self.buffer, (self.filled + self.at_once) * 3 // 2)

    cdef bint find_line(self) except -1:
        """Find the line's end; false at end or error."""
        cdef const char* bytes_
        cdef const void* newline
        self.line = self.next
        self.searched = max(self.searched, self.line)
        while True:
            bytes_ = PyByteArray_AS_STRING(self.buffer)
            newline = memchr(bytes_ + self.searched, b"\n", self.filled - self.searched)
            if newline != NULL:
                self.next = <const char*> newline - bytes_ + 1
                break
            self.searched = self.filled
            if self.filled - self.line > self.longest or self.reason is not None or not self.read_more():
                self.next = self.filled
                break
        if self.reason is None and self.next - self.line > self.longest:
            self.reason = f"the line is longer than chunk_bytes={self.longest}"
        self.number += 1
        return self.reason is None and self.next > self.line

    cdef Block take(self, int64_t first, Py_ssize_t whole):
        """Return the kept lines as a block, and restart."""
        cdef Block block = Block.__new__(Block)
        cdef Py_ssize_t n = self.kept - self.start
        block.text = PyBytes_FromStringAndSize(NULL, n + <Py_ssize_t> PADDING)
        cdef char* text = PyBytes_AS_STRING(block.text)
        memcpy(text, PyByteArray_AS_STRING(self.buffer) + self.start, n)
        memset(text + n, 0, PADDING)
        block.first, block.whole, block.unread = first, whole, self.filled - self.line
        block.error = None if self.reason is None else (self.number, self.reason)
        self.start = self.kept = self.line
        return block

    cdef Block cut_lines(self):
        """Cut the next lines."""
        cdef int64_t first = self.number + 1
        cdef Py_ssize_t n = 0
        while n < self.most and self.kept - self.start < self.size:
            if not self.find_line():
                self.over = True
                break
            self.kept = self.line = self.next
            n += 1
        return self.take(first, n)

    cdef Block cut_queries(self):
        """Cut the next queries."""
        cdef Py_ssize_t n = 0, last = 0, length = 0  # rows, where their last query begins, and its bytes
        cdef int64_t before = 0
        line_numbers, ids, seen = array("q"), array("q"), set()
        while self.waiting or self.find_row():
            self.waiting = False
            if n == 0 or self.qid != before:
                if n > 0 and (n >= self.most or self.kept - self.start >= self.size or self.qid in seen):
                    self.waiting = True
                    break
                seen.add(self.qid)
                before, last, length = self.qid, n, 0
            length += self.next - self.line
            if length > self.longest:
                self.reason = (f"the {self.group} of qid:{self.qid}, from line {line_numbers[last]} on, is longer than "
                               f"chunk_bytes={self.longest}")
                break
            self.keep()
            line_numbers.append(self.number)
            ids.append(self.qid)
            n += 1
        self.over = not self.waiting
        cdef Block block = self.take(line_numbers[0] if n > 0 else self.number, n if self.reason is None else last)
        block.line_numbers, block.qid = np.array(line_numbers, dtype=np.int64), np.array(ids, dtype=np.int64)
        return block

    cdef keep(self):
        """Add the present line to the block."""
        cdef char* bytes_ = PyByteArray_AS_STRING(self.buffer)
        if self.kept < self.line:
            memmove(bytes_ + self.kept, bytes_ + self.line, self.next - self.line)
        self.kept += self.next - self.line
        self.line = self.next

    cdef bint find_row(self) except -1:
        """Find the next row and its query; False at the end of the file, and if the line cannot be read."""
        while self.find_line():
            if self.find_id():
                return self.reason is None
        return False

    cdef bint find_id(self) except -1:
        """Find the query id of the line, or its error; False if the line has no row."""
        cdef const char* text = PyByteArray_AS_STRING(self.buffer)
        cdef Py_ssize_t begin[2]
        cdef Py_ssize_t end[2]
        cdef Py_ssize_t i, at = self.line
        for i in range(2):
            while at < self.next and is_space(text[at]):
                at += 1
            begin[i] = at
            while at < self.next and not is_space(text[at]) and text[at] != b"#":
                at += 1
            end[i] = at
        if begin[0] == end[0]:
            return False
        i = begin[1] < end[1]
        if i == 0 or not self.read_id(text + begin[1], end[1] - begin[1]):
            field = text[begin[i]:end[i]]
            self.reason = f"{at_field(field)}: expected qid:ID, with an integer of 64 bits, after the label"
        return True

    cdef bint read_id(self, const char* field, Py_ssize_t n) except -1:
        """Read qid:ID; return whether that succeeded."""
        cdef Py_ssize_t i
        cdef int64_t qid = 0
        if 4 < n <= 22 and memcmp(field, b"qid:", 4) == 0:
            for i in range(4, n):
                if not b"0" <= field[i] <= b"9":
                    break
                qid = 10 * qid + (field[i] - c"0")
            else:
                self.qid = qid
                return True
        found = query_id(field[:n])
        if found is not None:
            self.qid = found
        return found is not None
