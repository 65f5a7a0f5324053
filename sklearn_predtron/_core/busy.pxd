from cpython.pythread cimport PyThread_get_thread_ident

cdef extern from "busy.h" nogil:
    ctypedef struct BusyFlag:
        pass
    bint busy_raise(BusyFlag* flag)
    void busy_lower(BusyFlag* flag)
    bint busy_raised(BusyFlag* flag)

    ctypedef struct BusyWord:
        pass
    size_t busy_read(BusyWord* word)
    void busy_write(BusyWord* word, size_t value)


cdef int refuse() except -1


cdef class Busy:
    cdef BusyFlag flag
    cdef BusyWord owner             # the thread that holds it
    cdef BusyWord held_so_far       # calls

    cdef inline int take(self) except -1:
        """Take the flag; raise RuntimeError where another call holds it."""
        if not busy_raise(&self.flag):
            return refuse()
        busy_write(&self.owner, <size_t> PyThread_get_thread_ident())
        busy_write(&self.held_so_far, busy_read(&self.held_so_far) + 1)
        return 0

    cdef inline void release(self) noexcept:
        busy_lower(&self.flag)

    cdef inline bint held(self) noexcept:
        return busy_raised(&self.flag)
