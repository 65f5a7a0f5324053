"""The intercept: a virtual feature, of fixed length or of the length of the rows."""
from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, exp2, floor, frexp, log2, sqrt

from sklearn_predtron._core.rows cimport View, row_of, squared_norm
from sklearn_predtron._core.simd cimport Row

from sklearn_predtron._core.mixable_state import fields
from sklearn_predtron._core.rows import LARGEST_LENGTH, LEAST_LENGTH
from sklearn_predtron._core.state import between, count, restored, whole


cdef class Intercept:
    """The virtual feature behind b, of squared length r2: s^2, or the geometric mean of |x|^2 over the non-zero rows so far.

    The running product of |x|^2 is kept with its exponent split off, so that a round without a step takes no logarithm.
    """

    def __init__(self, bint fitted, scaling):
        self.fitted = fitted
        self.automatic = fitted and scaling == "auto"
        self.fixed = 0.0 if not fitted else 1.0 if self.automatic else float(scaling) * float(scaling)
        if fitted and not LEAST_LENGTH ** 2 <= self.fixed <= LARGEST_LENGTH ** 2:
            raise ValueError(f"intercept_scaling={scaling} must be a number from {LEAST_LENGTH:g} to {LARGEST_LENGTH:g}.")
        self.mantissa = 1.0

    def __reduce__(self):
        scaling = "auto" if self.automatic else sqrt(self.fixed)
        return Intercept, (self.fitted, scaling), (self.fixed, self.mantissa, self.exponent, self.count)

    def __setstate__(self, state):
        pattern = between(0, DBL_MAX), between(1e-300, 1), whole(), count
        self.fixed, self.mantissa, self.exponent, self.count = restored(self, state, pattern)

    def export(self):
        """Return the contribution of the rows so far to the running product."""
        return fields(gain={"octaves": self.exponent + log2(self.mantissa), "rows": self.count})

    def adopt(self, state):
        """Continue from the running product of several."""
        octaves, self.count = state["gain"]["octaves"], int(state["gain"]["rows"])
        self.exponent = int(floor(octaves)) + 1
        self.mantissa = exp2(octaves - self.exponent) if self.count > 0 else 1
        self.exponent = self.exponent if self.count > 0 else 0
        self.known_at = -1

    cdef void update_statistics(self, double norm2) noexcept nogil:
        cdef int exponent
        if 0 < norm2 < INFINITY:
            self.mantissa = frexp(self.mantissa * norm2, &exponent)
            self.exponent += exponent
            self.count += 1

    cdef void count_rows(self, View* x) noexcept nogil:
        """Take the lengths of the rows of a round into account."""
        cdef Py_ssize_t r
        cdef Row spare
        if x.m == 1:
            self.update_statistics(squared_norm(x))
            return
        for r in range(x.m):
            self.update_statistics(x.k.norm2(row_of(x, r, &spare)))

    cdef void go_back(self, double mantissa, Py_ssize_t exponent, Py_ssize_t rows) noexcept nogil:
        """Forget the rows since the running product was that."""
        self.mantissa, self.exponent, self.count = mantissa, exponent, rows
        self.known_at = -1

    cdef double r2(self) noexcept nogil:
        if not self.automatic or self.count == 0:
            return self.fixed
        if self.count != self.known_at:
            self.known = exp2((self.exponent + log2(self.mantissa)) / self.count)
            self.known_at = self.count
        return self.known

    cdef double r2_read(self) noexcept nogil:
        """The same for those who only read, perhaps beside a thread that learns."""
        cdef Py_ssize_t rows = self.count
        return exp2((self.exponent + log2(self.mantissa)) / rows) if self.automatic and rows > 0 else self.fixed

    @property
    def squared_length(self):
        """r2 as of now."""
        return self.r2_read()
