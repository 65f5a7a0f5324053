"""When to change the weights, towards what, and how far: the base of the updates' compiled rules."""
from libc.math cimport INFINITY

from sklearn_predtron._core.mixable_state import fields


cdef class Rule:
    """The rule by which a round changes the weights: W <- shrinkage W - size g x^T."""

    def __cinit__(self):
        self.c_L_seen = INFINITY

    def __reduce__(self):
        return type(self), ()

    cdef int check(self, Problem problem) except -1:
        """Raise ValueError if the update cannot train on the problem."""
        return 0

    cdef bint propose(self, Problem problem, double* t, const void* y, Py_ssize_t m, Round* r, ScoreGradient* g) noexcept nogil:
        """Fill r.loss; if the round calls for a step, fill g as well and return True."""

    cdef double size(self, Round* r) noexcept nogil:
        """The step eta for the direction found."""
        return 0

    cdef double size_of(self, ScoreGradient* g, Round* r) noexcept nogil:
        """The step along g; a rule of several steps puts them into g and returns 1."""
        return self.size(r)

    cdef void exchange(self, double* total, Py_ssize_t* n) noexcept nogil:
        """Exchange what the rule has learned for what it has learned of another problem."""

    cdef double shrinkage(self, const Round* r) noexcept nogil:
        """Return the factor of the weights before the step, where self.shrinking."""
        return 1

    def state(self):
        """Return the rule's learned state, which `restore` loads into another instance of the class."""
        return None

    def export(self):
        """Return the state that rules which learned from other rows are mixed with; see `_core.mixable_state`."""
        return fields()

    def adopt(self, state):
        """Continue from the state of mixed rules."""

    def restore(self, state):
        """Continue from the state of another instance of the same type."""

    def restart(self, seed):
        """Draw from here on what belongs to a seed, if anything is drawn."""

    @property
    def kind(self):
        """The kind of the rule: two of one kind may go on from each other's state."""
        return (type(self),)
