"""The intercept: a virtual feature. It has a fixed length or the length of the rows."""
from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, exp2, floor, frexp, log2, sqrt

from sklearn_predtron._core.rows cimport View, row_of
from sklearn_predtron._core.simd cimport Row

from sklearn_predtron._core.mixable_state import fields
from sklearn_predtron._core.rows import LARGEST_LENGTH, LEAST_LENGTH
from sklearn_predtron._core.state import between, count, restored, whole

cdef enum:
    EXACT = 1 << 9      # rows, from which on r2 is computed at multiples of a power of two that grows with them


cdef inline Py_ssize_t next_computed(Py_ssize_t rows) noexcept nogil:
    """Return the least number of rows at which r2 is computed.

    It exceeds the given number of rows so far; r2 is the squared length of the intercept's feature.
    """
    cdef Py_ssize_t stride = 1
    while stride <= rows // (2 * EXACT):  # no product overflows
        stride *= 2
    return (rows // stride + 1) * stride


cdef class Intercept:
    """The virtual feature behind the intercept b.

    Its squared length r2 is s^2, or the geometric mean of |x|^2 over the non-zero rows so far.

    The mean is computed at each row at first, and from 1024 rows on when at most 1/512 more have come: a power and a logarithm
    take longer than a round.  The running product of |x|^2 is kept with an exponent split off.
    """

    def __init__(self, bint fitted, scaling):
        self.fitted = fitted
        self.automatic = fitted and scaling == "auto"
        self.fixed = 0.0 if not fitted else 1.0 if self.automatic else float(scaling) * float(scaling)
        if fitted and not LEAST_LENGTH ** 2 <= self.fixed <= LARGEST_LENGTH ** 2:
            raise ValueError(f"intercept_scaling={scaling} must be a number from {LEAST_LENGTH:g} to {LARGEST_LENGTH:g}.")
        self.known = self.fixed
        self.mantissa = 1.0
        self.due = 1

    def __reduce__(self):
        cdef int exponent
        cdef double mantissa = frexp(self.mantissa, &exponent)
        scaling = "auto" if self.automatic else sqrt(self.fixed)
        return Intercept, (self.fitted, scaling), (self.known, mantissa, self.exponent + exponent, self.count)

    def __setstate__(self, state):
        pattern = between(0, DBL_MAX), between(1e-300, 1), whole(), count
        self.known, self.mantissa, self.exponent, self.count = restored(self, state, pattern)
        if not self.automatic:
            self.fixed = self.known
        self.due = next_computed(self.count)

    def export(self):
        """Return the contribution of the rows so far to the product."""
        cdef int exponent
        cdef double mantissa = frexp(self.mantissa, &exponent)
        return fields(gain={"octaves": self.exponent + exponent + log2(mantissa), "rows": self.count})

    def adopt(self, state):
        """Continue from the running product of several."""
        octaves, self.count = state["gain"]["octaves"], int(state["gain"]["rows"])
        self.exponent = int(floor(octaves)) + 1
        self.mantissa = exp2(octaves - self.exponent) if self.count > 0 else 1
        self.exponent = self.exponent if self.count > 0 else 0
        self.compute()

    cdef void compute(self) noexcept nogil:
        """Compute r2 from the rows so far; the running product is normalised too, which changes no bit of the mantissa."""
        cdef int exponent
        self.mantissa = frexp(self.mantissa, &exponent)
        self.exponent += exponent
        self.due = next_computed(self.count)
        if self.automatic:
            self.known = exp2((self.exponent + log2(self.mantissa)) / self.count) if self.count > 0 else self.fixed

    cdef void update_exponent(self, double norm2) noexcept nogil:
        """Update the statistics where the product may over- or underflow."""
        cdef int exponent
        if 0 < norm2 < INFINITY:
            self.mantissa = frexp(self.mantissa, &exponent)
            self.exponent += exponent
            self.mantissa = frexp(self.mantissa * norm2, &exponent)
            self.exponent += exponent
            self.count += 1
            if self.count >= self.due:
                self.compute()

    cdef void count_each_row(self, View* x) noexcept nogil:
        """Take the lengths of several rows into account."""
        cdef Py_ssize_t r
        cdef Row spare
        for r in range(x.m):
            self.update_statistics(x.k.norm2(row_of(x, r, &spare)))

    cdef void go_back(self, double mantissa, Py_ssize_t exponent, Py_ssize_t rows, double r2) noexcept nogil:
        """Forget the rows since the product and r2 had these values."""
        self.mantissa, self.exponent, self.count, self.known = mantissa, exponent, rows, r2
        self.due = next_computed(rows)

    @property
    def squared_length(self):
        """The present r2."""
        return self.known
