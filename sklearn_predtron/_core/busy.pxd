from cpython.pythread cimport PyThread_get_thread_ident

cdef extern from "busy.h" nogil:
    ctypedef struct BusyFlag:
        pass
    bint busy_raise(BusyFlag* flag)
    void busy_lower(BusyFlag* flag)
    bint busy_raised(BusyFlag* flag)


cdef int refuse() except -1


cdef class Busy:
    cdef BusyFlag flag
    cdef unsigned long owner        # the thread that holds it
    cdef readonly Py_ssize_t calls  # that have held it

    cdef inline int take(self) except -1:
        """Take the flag; raise RuntimeError where another call holds it."""
        if not busy_raise(&self.flag):
            return refuse()
        self.owner = PyThread_get_thread_ident()
        self.calls += 1
        return 0

    cdef inline void release(self) noexcept:
        busy_lower(&self.flag)

    cdef inline bint held(self) noexcept:
        return busy_raised(&self.flag)
