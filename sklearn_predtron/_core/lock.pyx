"""The lock of a model; one call at a time trains; others read between two of its rounds."""
from libc.stdlib cimport free, malloc

import os
import threading

cdef extern from "shared_lock.h" nogil:
    SharedLock* lock_new()
    void lock_free(SharedLock* lock)
    const LockWord* lock_word(const SharedLock* lock)
    bint lock_take(SharedLock* lock)
    void lock_release(SharedLock* lock)
    bint lock_is_taken(const SharedLock* lock)
    bint lock_is_taken_here(const SharedLock* lock)
    SharedLock* lock_pin_next(SharedLock* lock)
    void lock_unpin(SharedLock* lock)
    void lock_after_fork(SharedLock* lock)
    enum:
        LOCK_TAKEN
        LOCK_IS_BUSY
        LOCK_IS_READ
    int lock_enter_call(SharedLock* lock)
    bint lock_read(SharedLock* lock, Section* section, bint wait)
    bint lock_end_read(SharedLock* lock, Section* section)
    bint lock_change(SharedLock* lock, bint wait)
    void lock_end_change(SharedLock* lock)
    bint lock_is_changed_here(const SharedLock* lock)
    size_t lock_moment(const SharedLock* lock)
    void lock_give_way(SharedLock* lock)

BUSY = ("This model is being trained in another call; wait until that call has ended (threads that train one model need your "
        "own lock).")
READ = "This model is being read by the call that trains it; train it after that call."


cdef class Lock:
    """Lock that one call at a time holds, in any thread.

    Another call does not wait but raises RuntimeError.

    Within the call the model changes in blocks of rounds, between which others read it.  A reader waits for the block at hand at
    most, and the next block for those who came before it.  A thread that is in one of these sections already reads without
    waiting: within a block, the state after the last complete round.
    """

    def __cinit__(self):
        self.state = lock_new()
        if self.state == NULL:
            raise MemoryError
        self.word = lock_word(self.state)

    def __dealloc__(self):
        if self.state != NULL:
            lock_free(self.state)

    def __reduce__(self):
        """Copy and pickle as a free lock."""
        return Lock, ()

    # ---------------------------------------------------------------------------------------------------------- the call

    def __enter__(self):
        """Start a call; raise RuntimeError if another call is running."""
        self.take()

    def __exit__(self, *error):
        self.release()

    def check_free(self):
        """Raise RuntimeError while a call trains."""
        if lock_is_taken(self.state):
            raise RuntimeError(BUSY)

    cdef int take(self) except -1:
        if not lock_take(self.state):
            raise RuntimeError(BUSY)
        return 0

    cdef void release(self) noexcept:
        lock_release(self.state)

    cdef bint enter_call(self) except -1:
        """Continue in this thread's call, or start one.

        It continues outside the sections of the call.  Return True if a call was started.
        """
        cdef int how = lock_enter_call(self.state)
        if how == LOCK_IS_BUSY or how == LOCK_IS_READ:
            raise RuntimeError(BUSY if how == LOCK_IS_BUSY else READ)
        return how == LOCK_TAKEN

    # ------------------------------------------------------------------------------------------------------ the sections

    def reading(self):
        """Return a context for consistent reads without training; it is for this thread alone."""
        return Reading(self)

    def changing(self):
        """Return a context without other readers; it is within this thread's call or a call of its own."""
        return Changing(self)

    cdef void read(self, Section* section) noexcept:
        if not lock_read(self.state, section, False):
            with nogil:     # which whoever is to leave may need
                lock_read(self.state, section, True)

    cdef void end_read(self, Section* section) noexcept:
        lock_end_read(self.state, section)

    cdef void change(self) noexcept:
        """Keep readers out, in this thread's call."""
        if not lock_change(self.state, False):
            with nogil:
                lock_change(self.state, True)

    cdef void end_change(self) noexcept:
        lock_end_change(self.state)

    cdef void yield_to_readers(self) noexcept nogil:
        """Admit waiting readers between two rounds; see `lock_is_wanted`."""
        lock_give_way(self.state)

    cdef bint is_changed_here(self) noexcept:
        """Return whether this thread keeps readers out."""
        return lock_is_changed_here(self.state)

    cdef size_t moment(self) noexcept:
        """Return a number that differs after each change; it tells reads apart, and is 0 during a change."""
        return lock_moment(self.state)


cdef class Reading:
    """A section of a thread that reads."""
    cdef Lock lock
    cdef Section* section

    def __init__(self, Lock lock not None):
        self.lock = lock

    def __enter__(self):
        cdef Section* section
        if self.section != NULL:
            raise RuntimeError("A section for reading is entered once.")
        section = <Section*> malloc(sizeof(Section))
        if section == NULL:
            raise MemoryError
        self.lock.read(section)
        self.section = section

    def __exit__(self, *error):
        if not lock_end_read(self.lock.state, self.section):
            raise RuntimeError("A section for reading ends in the thread in which it began.")
        free(self.section)
        self.section = NULL


cdef class Changing:
    """A section in which a thread changes the model."""
    cdef Lock lock
    cdef bint taken

    def __init__(self, Lock lock not None):
        self.lock = lock

    def __enter__(self):
        self.taken = self.lock.enter_call()
        self.lock.change()

    def __exit__(self, *error):
        self.lock.end_change()
        if self.taken:
            self.lock.release()


cdef class Pinned:
    """A lock held during a fork.

    It comes with the section in which the forking thread reads.

    No container of Python's lists all locks: without the interpreter's lock, one that other threads fill may be locked for ever
    in a child.
    """
    cdef SharedLock* lock
    cdef Section section


forking = threading.local()


def before_fork():
    """Read all models before a fork; a child then finds each model between two rounds, and not halfway through one."""
    cdef Pinned pinned
    cdef SharedLock* lock = lock_pin_next(NULL)
    forking.pinned = []
    while lock != NULL:
        pinned = Pinned()
        pinned.lock = lock
        with nogil:
            lock_read(lock, &pinned.section, True)
        forking.pinned.append(pinned)
        lock = lock_pin_next(lock)


def after_fork_in_parent():
    """Read no more."""
    cdef Pinned pinned
    while forking.pinned:
        pinned = forking.pinned.pop()
        lock_end_read(pinned.lock, &pinned.section)
        lock_unpin(pinned.lock)


def after_fork_in_child():
    """Continue without the other threads; their calls and sections have ended."""
    cdef SharedLock* following
    cdef SharedLock* lock = lock_pin_next(NULL)
    while lock != NULL:
        lock_after_fork(lock)
        following = lock_pin_next(lock)
        lock_unpin(lock)
        lock = following
    after_fork_in_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=before_fork, after_in_parent=after_fork_in_parent, after_in_child=after_fork_in_child)
