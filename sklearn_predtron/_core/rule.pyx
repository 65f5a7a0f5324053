"""When, in which direction and how far to change the weights; this is the base of the updates' compiled rules."""
from libc.math cimport INFINITY

from sklearn_predtron._core.mixable_state import fields
from sklearn_predtron._core.state import nothing, restored


cdef class Rule:
    """The rule by which a round changes the weights; W <- shrinkage W - size g x^T."""

    def __cinit__(self):
        self.c_L_seen = INFINITY

    def __reduce__(self):
        return type(self), ()

    cdef int check(self, Problem problem) except -1:
        """Raise ValueError if the update cannot train on the problem."""
        return 0

    cdef bint propose(self, Problem problem, double* t, const void* y, Py_ssize_t m, Round* r, ScoreGradient* g) noexcept nogil:
        """Fill r.loss, and g if the round calls for a step; return True in that case."""

    cdef double size(self, Round* r) noexcept nogil:
        """Return the step eta for the direction found."""
        return 0

    cdef double size_of(self, ScoreGradient* g, Round* r) noexcept nogil:
        """Return the size of the step along g; a rule of several steps puts them into g and returns 1."""
        return self.size(r)

    cdef void exchange(self, double* total, Py_ssize_t* n) noexcept nogil:
        """Exchange the learned state for that of another problem."""

    cdef double shrinkage(self, const Round* r) noexcept nogil:
        """Return the factor of the weights before the step; it is called where self.shrinking."""
        return 1

    def state(self):
        """Return the rule's learned state; `__setstate__` loads it into another instance of the class."""
        return None

    def __setstate__(self, state):
        restored(self, state, nothing)

    def export(self):
        """Return the state that rules of other rows are mixed with; see `_core.mixable_state`."""
        return fields()

    def adopt(self, state):
        """Continue from the state of mixed rules."""

    def restart(self, seed):
        """Seed the random numbers from here on, if any are drawn."""

    @property
    def kind(self):
        """Return the type of the rule; two rules of a single type can continue from each other's state."""
        return (type(self),)
