cdef extern from "busy.h" nogil:
    ctypedef struct BusyFlag:
        pass
    bint busy_raise(BusyFlag* flag)
    void busy_lower(BusyFlag* flag)
    bint busy_raised(BusyFlag* flag)


cdef int refuse() except -1


cdef class Busy:
    cdef BusyFlag flag

    cdef inline int take(self) except -1:
        """Take the flag; raise RuntimeError where another call holds it."""
        return 0 if busy_raise(&self.flag) else refuse()

    cdef inline void release(self) noexcept:
        busy_lower(&self.flag)

    cdef inline bint held(self) noexcept:
        return busy_raised(&self.flag)
