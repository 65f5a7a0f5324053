"""Weights that keep averages of their iterates.

They hold the number and the order of the averages, and the other parts that l2 and its duals share.
"""
from sklearn_predtron._core.weights cimport Weights


cdef class AveragedWeights(Weights):
    """Weights with sums of the iterates; their arrays are in `totals`."""

    def __cinit__(self):
        self.most_averages = AVERAGES
        self.totals = []

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
