cdef extern from "shared_lock.h" nogil:
    ctypedef struct LockWord:
        pass
    ctypedef struct SharedLock:
        pass
    ctypedef struct Section:
        pass
    bint lock_is_wanted(const LockWord* word)


cdef class Lock:
    cdef SharedLock* state
    cdef const LockWord* word
    cdef int take(self) except -1
    cdef void release(self) noexcept
    cdef bint enter_call(self) except -1
    cdef void read(self, Section* section) noexcept
    cdef void end_read(self, Section* section) noexcept
    cdef void change(self) noexcept
    cdef void end_change(self) noexcept
    cdef void yield_to_readers(self) noexcept nogil
    cdef bint is_changed_here(self) noexcept
    cdef size_t moment(self) noexcept
