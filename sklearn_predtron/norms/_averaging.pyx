"""Weights that keep averages of their iterates.

They hold the number and the order of the averages, and the other parts that l2 and its duals share.  Each class lists the
arrays and the numbers of its state once; by these lists it is saved, restored, and copied to weights of more features or scores.
"""
import numpy as np

from sklearn_predtron._core.weights cimport Weights

from sklearn_predtron._core.memory import put
from sklearn_predtron._core.state import accept, array_like, flag, numbers_like, real, restored, whole


cdef class AveragedWeights(Weights):
    """Weights with sums of the iterates; their arrays are in `totals`."""

    def __cinit__(self):
        self.most_averages = AVERAGES
        self.totals = []

    # -------------------------------------------------------------------------------------------------------- the state

    def arguments(self, Py_ssize_t d, Py_ssize_t p):
        """Return the arguments of the constructor for weights of the same kind with d scores and p features."""

    def arrays(self):
        """Return the arrays of the state, in place, each after its axes.

        Axes are scores ("d"), features ("p"), or others ("n").  Whole numbers have bounds after the array.
        """

    def numbers(self):
        """Return the numbers of the state; `set_numbers` takes them."""

    def state(self):
        """Return the arrays and all numbers."""
        return self.arrays(), self.numbers(), (self.leader, self.radius2, self.radius_needed, self.radius_of_rows)

    def accepted(self, saved):
        """Return the saved state with the axes of its arrays; raise ValueError unless it is like the present one."""
        present, numbers, _ = self.state()
        pattern = tuple([array_like(*array) for _, *array in present])
        arrays, *others = accept(saved, (pattern, numbers_like(numbers), (whole(0, AVERAGES), real, flag, flag)))
        return [(axes, array) for (axes, *_), array in zip(present, arrays, strict=True)], *others

    def take_over(self, state, places):
        """Set weights that were not trained to the state of others; score c becomes places[c]."""
        arrays, numbers, (self.leader, self.radius2, needed, of_rows) = state
        for (axes, new, *_), (old_axes, old, *_) in zip(self.arrays(), arrays, strict=True):
            put(new, old if axes == old_axes else old.T, axes, places)
        self.set_numbers(numbers)
        self.watch_radius(needed, of_rows)

    def __reduce__(self):
        arrays, *others = self.state()
        return type(self), self.arguments(self.d, self.n_features), (tuple([np.array(array) for _, array, *_ in arrays]), *others)

    def __setstate__(self, state):
        self.take_over(restored(self, state, self.accepted), list(range(self.d)))

    def resized(self, Py_ssize_t p, Py_ssize_t d, places, *how):
        cdef AveragedWeights wide = type(self)(*self.arguments(d, p, *how))
        wide.n_features = min(p, self.n_features)
        wide.take_over(self.state(), list(places))
        return wide

    # ----------------------------------------------------------------------------------------------------- the averages

    def keep_averages(self, int n):
        """Keep n averages of the iterates from here on; present averages continue, and new ones start."""
        if not 0 <= n <= AVERAGES:
            raise ValueError(f"n={n} must be from 0 to {AVERAGES}.")
        self.averaging = min(n, self.averaging)
        del self.totals[n:]
        while self.averaging < n:
            self.totals.append(self.new_total())
            self.begin_sum(self.averaging, self.totals[self.averaging])
            self.averaging += 1

    def new_total(self):
        """Return the arrays of a sum that begins."""

    cdef begin_sum(self, int i, arrays):
        """Start sum i at zero in these arrays."""

    def swap_average(self, int which):
        """Swap average number `which` with number 1; `keep_averages` comes next."""
        cdef int other = which - 1
        if not 0 <= other < self.averaging:
            raise ValueError(f"which={which} must be from 1 to {self.averaging}.")
        self.totals[0], self.totals[other] = self.totals[other], self.totals[0]
        self.exchange_sums(0, other)

    def begin_sums(self):
        """Reset all sums to zero."""
        cdef int i
        self.totals = [self.new_total() for _ in self.totals]
        for i in range(self.averaging):
            self.begin_sum(i, self.totals[i])

    cdef void exchange_sums(self, int i, int j) noexcept:
        """Swap two sums."""

    def watch_radius(self, bint needed, bint of_rows=False):
        """Set whether to follow the largest |x| of future rounds; it is that of their single rows, where they have several."""
        self.radius_needed = needed
        self.radius_of_rows = of_rows
        self.observing = needed or self.intercept.automatic
