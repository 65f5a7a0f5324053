"""Averages of the iterates; they define the weight of each round and select the iterate that predicts."""
from libc.math cimport INFINITY, log, sqrt

from sklearn_predtron._core.state import between, count, real, restored, whole

cdef double HALF_LIFE = 100     # rounds, of the average that forgets
cdef double LATELY = 500        # half-life of the candidates' charges in rounds; twice as many where they are charged in some
cdef double LEAST_BOUND = 5, ROUNDS_OF_BOUND = 400      # of the bets' results, from which on the leader changes
cdef double LARGEST_DIFFERENCE = 1.9, RICH = 1e9        # in units, of a bet; and what bets are worth at most
cdef double[2] STAKES = [0.5, 0.1]


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

    cdef int charge(self, const double* losses, int n, const Round* r) noexcept nogil:
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
    """The linear average, unless another candidate is better by more than chance.

    The candidates are the last iterate (0), the linear average (1) and an average of half-life 100 (2).  Each is charged every
    `every` rounds for the loss of its prediction before the step.

    Bets of a half and of a tenth on each difference from the linear average, in units of their root mean square so far, make of
    1 what says that the candidate is better; what is lost below 1 is given back.  Under no difference the mean of both passes a
    bound A once in A rounds or less often, on average, however long one looks (Shin, Ramdas and Rinaldo, 2024).  The bound is
    5, or a 400th of the rounds so far.  Bets the other way lead back to the linear average, by a quarter of the bound, where
    its recent charge is lower, too.  Of the other two the one with the lower recent charge leads.  Recent charges are halved
    every 500 rounds, or 1000.
    """

    def __init__(self, Py_ssize_t every=1):
        LinearAverage.__init__(self)
        if every < 1:
            raise ValueError(f"every={every} must be at least 1.")
        self.kept = CANDIDATES - 1
        self.every = every
        self.fade = 0.5 ** (every / LATELY / min(every, 2))
        for i in range(CANDIDATES):
            for k in range(2):
                self.bets[i].for_it[k] = self.bets[i].against_it[k] = 1

    def __reduce__(self):
        lately = tuple([charge for charge in self.lately])
        bets = tuple([(bet.squares, *[bet.for_it[k] for k in range(2)], *[bet.against_it[k] for k in range(2)])
                      for bet in self.bets])
        numbers = self.charged, self.followed, self.last_loss, self.difference
        return type(self), (self.every,), (lately, bets, self.leader, *numbers)

    def __setstate__(self, state):
        wealth = between(0, RICH)
        bets = between(0, INFINITY), wealth, wealth, wealth, wealth
        pattern = (real,) * CANDIDATES, (bets,) * CANDIDATES, whole(0, CANDIDATES - 1), count, count, real, real
        lately, bets, self.leader, self.charged, self.followed, self.last_loss, self.difference = restored(self, state, pattern)
        for i in range(CANDIDATES):
            self.lately[i] = lately[i]
            self.bets[i].squares = bets[i][0]
            for k in range(2):
                self.bets[i].for_it[k], self.bets[i].against_it[k] = bets[i][1 + k], bets[i][3 + k]

    def named(self):
        return (False, "linear", HALF_LIFE)[self.leader]

    def charging(self, every):
        """Return a copy that charges its candidates every `every` rounds."""
        other = ChoosingAverage(every)
        other.__setstate__(self.__reduce__()[2])
        return other

    cdef double weight(self, int which, const Round* r) noexcept nogil:
        return r.weight * r.t if which == 1 else r.weight

    cdef double keep_of(self, int which) noexcept nogil:
        return 1 if which == 1 else 0.5 ** (1 / HALF_LIFE)

    cdef int charge(self, const double* losses, int n, const Round* r) noexcept nogil:
        cdef int i, other = 0
        cdef double bound = max(LEAST_BOUND, r.t / ROUNDS_OF_BOUND)
        self.difference += losses[self.leader] - losses[0]
        for i in range(n):
            self.lately[i] = self.fade * self.lately[i] + r.weight * losses[i]
            self.bet(i, r.weight * (losses[1] - losses[i]))
        self.charged += 1
        if n > 2 and self.lately[2] <= self.lately[0]:
            other = 2
        if self.leader != 1 and self.lately[1] <= self.lately[self.leader] and (
                mean(self.bets[self.leader].against_it) > bound / 4):
            self.leader = 1
            for i in range(n):
                self.bets[i].for_it[0] = self.bets[i].for_it[1] = 1
        elif self.leader != 1:
            self.leader = other
        elif mean(self.bets[other].for_it) > bound or mean(self.bets[2 - other].for_it) > bound:
            self.leader = other if mean(self.bets[other].for_it) > bound else 2 - other
            for i in range(n):
                self.bets[i].against_it[0] = self.bets[i].against_it[1] = 1
        return self.leader

    cdef void bet(self, int which, double difference) noexcept nogil:
        """Bet on a difference of the linear average's loss and a candidate's."""
        cdef Bets* b = &self.bets[which]
        cdef double unit = sqrt(b.squares / max(self.charged, 1))
        cdef int k
        b.squares += difference * difference
        if difference == 0 or not 0 < unit < INFINITY:
            return
        difference = max(-LARGEST_DIFFERENCE, min(difference / unit, LARGEST_DIFFERENCE))
        for k in range(2):
            b.for_it[k] = min(max(b.for_it[k], 1) * (1 + STAKES[k] * difference), RICH)
            b.against_it[k] = min(max(b.against_it[k], 1) * (1 - STAKES[k] * difference), RICH)


cdef inline double mean(const double* two) noexcept nogil:
    """Return the mean of what both stakes have made."""
    return (two[0] + two[1]) / 2
