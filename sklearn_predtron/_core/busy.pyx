"""The flag of a model that learns."""
from cpython.pythread cimport (
    NOWAIT_LOCK,
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_free_lock,
    PyThread_release_lock,
)

BUSY = ("This model is learning in another call, or being copied; wait until that call has ended (where several threads share a "
        "model, by a lock of your own).")


cdef class Busy:
    """A flag that one call at a time holds, in any thread, with or without a global lock; nobody waits for it."""

    def __cinit__(self):
        self.lock = PyThread_allocate_lock()
        if self.lock == NULL:
            raise MemoryError

    def __dealloc__(self):
        if self.lock != NULL:
            PyThread_free_lock(self.lock)

    cdef int take(self) except -1:
        """Take the flag; raise RuntimeError where another call holds it."""
        if not PyThread_acquire_lock(self.lock, NOWAIT_LOCK):
            raise RuntimeError(BUSY)
        self.held = True
        return 0

    cdef void release(self) noexcept:
        self.held = False
        PyThread_release_lock(self.lock)

    cdef int refuse(self) except -1:
        """Raise RuntimeError while a call holds the flag."""
        if self.held:
            raise RuntimeError(BUSY)
        return 0

    def check_free(self):
        """Raise RuntimeError while a call holds the flag."""
        self.refuse()

    def __enter__(self):
        self.take()

    def __exit__(self, *error):
        self.release()
