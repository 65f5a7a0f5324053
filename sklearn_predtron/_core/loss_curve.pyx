"""The cumulative loss against rounds, in bounded memory."""
import numpy as np

from sklearn_predtron._core.state import MOST, count, length_of, real, reals, restored, whole, wholes


cdef class LossCurve:
    """The cumulative loss at multiples of a stride of rounds.

    The stride doubles when `size` is reached.

    The first point, from which on it was recorded, and the latest are always there.
    """

    def __init__(self, Py_ssize_t size, Py_ssize_t t=0, double loss=0):
        if size < 4:
            raise ValueError(f"size={size} must be at least 4.")
        self.size = size
        self.stride = 1
        self.rounds = np.empty(size - 1, dtype=np.intp)
        self.losses = np.empty(size - 1)
        self.rounds[0] = self.t = t
        self.losses[0] = self.loss = loss
        self.n = 1

    def __reduce__(self):
        state = self.stride, self.t, self.loss, np.array(self.rounds[:self.n]), np.array(self.losses[:self.n])
        return type(self), (self.size,), state

    def __setstate__(self, state):
        n = max(1, min(length_of(state, 3), self.size - 1))
        pattern = whole(1), count, real, wholes(n, least=0, most=MOST), reals(n)
        stride, self.t, self.loss, rounds, losses = restored(self, state, pattern)
        if stride & (stride - 1):
            raise ValueError(f"The saved state of a LossCurve is damaged: {stride} is no power of two.")
        self.stride = stride
        self.n = n
        np.asarray(self.rounds)[:self.n] = rounds
        np.asarray(self.losses)[:self.n] = losses

    cdef void record(self, Py_ssize_t t, double loss) noexcept nogil:
        """Record the loss after round t, for rounds in turn."""
        self.t = t
        self.loss = loss
        if t & (self.stride - 1):
            return
        if self.n == self.rounds.shape[0]:
            self.thin()
            if t & (self.stride - 1):
                return
        self.rounds[self.n] = t
        self.losses[self.n] = loss
        self.n += 1

    def note(self, Py_ssize_t t, double loss):
        """Record the loss after round t, with gaps before it.

        The earlier rounds were not recorded one by one; later records are dropped.
        """
        while self.n > 1 and self.rounds[self.n - 1] >= t:
            self.n -= 1
        self.t, self.loss = t, loss
        if self.n == self.rounds.shape[0]:
            self.thin()
        if self.n < self.rounds.shape[0]:
            self.rounds[self.n], self.losses[self.n] = t, loss
            self.n += 1

    cdef void thin(self) noexcept nogil:
        """Drop every other point, but not the first."""
        cdef Py_ssize_t i, kept = 1
        self.stride *= 2
        for i in range(1, self.n):
            if self.rounds[i] & (self.stride - 1) == 0:
                self.rounds[kept] = self.rounds[i]
                self.losses[kept] = self.losses[i]
                kept += 1
        self.n = kept

    def curve(self):
        """Return the rounds and the cumulative loss after each; both have shape (n,), n <= size."""
        rounds, losses = np.array(self.rounds[:self.n]), np.array(self.losses[:self.n])
        if rounds[self.n - 1] == self.t:
            return rounds, losses
        return np.append(rounds, self.t), np.append(losses, self.loss)
