"""The flag of a model that learns."""

from cpython.pythread cimport PyThread_get_thread_ident

BUSY = ("This model is learning in another call; wait until that call has ended (where several threads share a model, by a lock "
        "of your own).")


cdef int refuse() except -1:
    raise RuntimeError(BUSY)


cdef class Busy:
    """A flag that one call at a time holds, in any thread, with or without a global lock; nobody waits for it."""

    def __reduce__(self):
        """A copy is free."""
        return Busy, ()

    @property
    def calls(self):
        """How many calls have held it."""
        return busy_read(&self.held_so_far)

    def check_free(self):
        """Raise RuntimeError while a call holds the flag."""
        if self.held():
            refuse()

    def check_free_elsewhere(self):
        """Raise RuntimeError while a call in another thread holds the flag."""
        if self.held() and busy_read(&self.owner) != <size_t> PyThread_get_thread_ident():
            refuse()

    def __enter__(self):
        self.take()

    def __exit__(self, *error):
        self.release()
