"""Averages of the iterates; they define the weight of each round and select the iterate that predicts."""
from libc.math cimport log

from sklearn_predtron._core.state import between, count, real, restored, whole

cdef double HALF_LIFE = 100     # rounds, of the average that forgets
cdef double LATELY = 500        # half-life of the candidates' charges in rounds; twice as many where they are charged in some


cdef class Average:
    """Weights of the rounds in the average of iterates; they are uniform, or halved every half_life rounds."""

    def __init__(self, half_life=None):
        self.keep = 1.0 if half_life is None else 0.5 ** (1.0 / half_life)
        self.kept = self.leader = 1

    def __reduce__(self):
        return type(self), (), self.keep

    def __setstate__(self, keep):
        self.keep = restored(self, keep, between(0, 1))

    def named(self):
        """Return the estimator parameter `average` for the average that predicts."""
        return "uniform" if self.keep == 1 else round(-log(2) / log(self.keep), 9)

    cdef double weight(self, int which, const Round* r) noexcept nogil:
        """Return the weight of round r.t in an average; it is relative to the weights of the following rounds."""
        return r.weight

    cdef double keep_of(self, int which) noexcept nogil:
        """Return a round's decay factor for the earlier weights."""
        return self.keep

    def mean_loss(self):
        """Return the mean loss of the predictions.

        It is nan before the first round.

        Where the candidates are charged in some rounds only, it is that of the last iterate in all rounds, and the mean
        difference in those charged.
        """
        return self.last_loss / self.followed + self.difference / self.charged if self.charged else float("nan")

    cdef void follow(self, double loss) noexcept nogil:
        """Record the last iterate's loss in a round."""
        self.followed += 1
        self.last_loss += loss

    cdef int charge(self, const double* losses, int n, double weight) noexcept nogil:
        """Charge the candidates for their losses in a round.

        The candidates are the last iterate and the averages.  Return the one that predicts from here on.
        """
        return 1


cdef class LinearAverage(Average):
    """Round t weighs t."""

    def named(self):
        return "linear"

    cdef double weight(self, int which, const Round* r) noexcept nogil:
        return r.weight * r.t


cdef class ChoosingAverage(LinearAverage):
    """The candidate with the lowest loss in recent rounds.

    The candidates are the last iterate (0), the linear average (1) and an average of half-life 100 (2).

    Each is charged every `every` rounds for the loss of its prediction before the step; charges are halved every 500
    rounds, or 1000.  Among equals the linear average comes first, then the one that forgets.
    """

    def __init__(self, Py_ssize_t every=1):
        LinearAverage.__init__(self)
        if every < 1:
            raise ValueError(f"every={every} must be at least 1.")
        self.kept = CANDIDATES - 1
        self.every = every
        self.fade = 0.5 ** (every / LATELY / min(every, 2))

    def __reduce__(self):
        lately = tuple([charge for charge in self.lately])
        numbers = self.charged, self.followed, self.last_loss, self.difference
        return type(self), (self.every,), (lately, self.leader, *numbers)

    def __setstate__(self, state):
        pattern = (real,) * CANDIDATES, whole(0, CANDIDATES - 1), count, count, real, real
        lately, self.leader, self.charged, self.followed, self.last_loss, self.difference = restored(self, state, pattern)
        for i in range(CANDIDATES):
            self.lately[i] = lately[i]

    def named(self):
        return (False, "linear", HALF_LIFE)[self.leader]

    def recent_losses(self):
        """Return each candidate's mean loss in recent rounds; it decays like the charges, and is nan before the first charge."""
        if self.charged == 0:
            return (float("nan"),) * CANDIDATES
        mass = (1 - self.fade ** self.charged) / (1 - self.fade)
        return tuple([charge / mass for charge in self.lately])

    def charging(self, every):
        """Return a copy that charges its candidates every `every` rounds."""
        other = ChoosingAverage(every)
        other.__setstate__(self.__reduce__()[2])
        return other

    cdef double weight(self, int which, const Round* r) noexcept nogil:
        return r.weight * r.t if which == 1 else r.weight

    cdef double keep_of(self, int which) noexcept nogil:
        return 1 if which == 1 else 0.5 ** (1 / HALF_LIFE)

    cdef int charge(self, const double* losses, int n, double weight) noexcept nogil:
        cdef int i
        self.charged += 1
        self.difference += losses[self.leader] - losses[0]
        for i in range(n):
            self.lately[i] = self.fade * self.lately[i] + weight * losses[i]
        self.leader = 1
        if n > 2 and self.lately[2] < self.lately[1]:
            self.leader = 2
        if self.lately[0] < self.lately[self.leader]:
            self.leader = 0
        return self.leader
