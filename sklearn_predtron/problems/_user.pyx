"""Problems written in Python: slower, the same loop."""
from libc.math cimport INFINITY, fabs, isnan, sqrt
from libc.stdint cimport uintptr_t

from numbers import Integral

import numpy as np

from sklearn_predtron._core.score_map cimport ScoreMap
from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.rows cimport Rows
from sklearn_predtron._core.problem cimport Labels, Problem, Round

from sklearn_predtron._support.numbers import real_number, real_numbers
from sklearn_predtron._support.queries import shortened

cdef Py_ssize_t MOST_SCORES = 10 ** 8
cdef double LARGEST_LOSS = 1e100
cdef double UNIT = 1e-6         # how far from 1 the length of a representation may be
cdef double ROUNDING = 1e-9     # relative
DOUBLE = np.dtype(np.float64)   # of the native byte order


cdef class Objects(Labels):
    """Labels that are Python objects."""

    def __init__(self, values):
        self.values = list(values)
        self.n = len(self.values)
        self.addresses = np.array([<uintptr_t> <void*> value for value in self.values], dtype=np.uintp)

    cdef const void* at(self, Py_ssize_t i) noexcept nogil:
        return <const void*> self.addresses[i]


cdef class UserProblem(Problem):
    """Adapter of a user-defined problem, with checked answers.

    An error that it raises stops the loop after the last complete round.

    `checked` = False takes the answers as they are.
    """

    def __init__(self, inner, bint checked=True):
        self.inner = inner
        self.checked = checked
        self.in_python = self.may_raise = True
        self.c_L, self.C_L = self.stated("c_L"), self.stated("C_L")
        if self.c_L > self.C_L:
            raise ValueError(f"{self.name}.c_L = {self.c_L} is the least positive loss and must be at most C_L = {self.C_L}.")

    def __reduce__(self):
        return type(self), (self.inner, self.checked)

    cdef int check(self, Rows rows, Labels labels) except -1:
        Problem.check(self, rows, labels)
        if not isinstance(labels, Objects):
            raise ValueError(f"labels must be objects, got {type(labels).__name__}.")
        return 0

    @property
    def constants_source(self):
        return repr(self.inner)

    @property
    def name(self):
        """The class of the problem."""
        return type(self.inner).__name__

    cdef size(self, attribute, what):
        """Return the stated number of scores or features."""
        try:
            d = getattr(self.inner, attribute)
        except AttributeError as error:
            raise ValueError(f"{self.name} does not state {attribute}, {what}; a problem must.") from error
        if not isinstance(d, Integral) or isinstance(d, bool) or not 0 < d <= MOST_SCORES:
            raise ValueError(f"{self.name}.{attribute} is {shortened(d)}; accepted are integers from 1 to {MOST_SCORES}.")
        return d

    cdef stated(self, constant):
        """Return c_L, C_L or D2; NaN where it is not stated."""
        value = getattr(self.inner, constant, None)
        if value is None:
            return float("nan")
        number = real_number(value)
        if number is None or not 0 < number < INFINITY:
            raise ValueError(f"{self.name}.{constant} is {shortened(value)}; accepted are positive finite numbers and None.")
        return number

    cdef void decode_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        with gil:
            self.try_find(t, <object> y, False, r)

    cdef void loss_augmented_competitor(self, double* t, const void* y, Py_ssize_t m, Round* r) noexcept nogil:
        with gil:
            self.try_find(t, <object> y, True, r)

    cdef try_find(self, double* t, y, bint augmented, Round* r):
        r.loss = r.competitor_loss = r.score_gap = 0
        try:
            self.find(t, y, augmented, r)
        except BaseException as error:
            self.error = error
            self.failed = True

    cdef find(self, double* t, y, bint augmented, Round* r):
        """Find the competitor; fill in losses and the score gap."""

    cpdef double loss_of(self, prediction, y) except? -1:
        """Return L(sigma, y), checked."""
        cdef double loss
        value = self.inner.loss(prediction, y)
        if type(value) is float or type(value) is int or type(value) is np.float64 or type(value) is bool:
            loss = value if type(value) is not int else max(-1, min(value, 2 * LARGEST_LOSS))
        else:
            number = real_number(value)
            loss = float("nan") if number is None else number
        if not self.checked:
            return loss
        if not 0 <= loss <= LARGEST_LOSS:
            self.refuse_loss(prediction, y, value, f"accepted are numbers from 0 to {LARGEST_LOSS:g}")
        if loss > 0 and loss < self.c_L * (1 - ROUNDING):
            self.refuse_loss(prediction, y, value, f"accepted are 0 and numbers from c_L = {self.c_L}, the least positive loss")
        if loss > self.C_L * (1 + ROUNDING):
            self.refuse_loss(prediction, y, value, f"accepted are numbers up to C_L = {self.C_L}, the largest loss")
        return loss

    cdef refuse_loss(self, prediction, y, value, accepted):
        raise ValueError(
            f"{self.name}.loss({shortened(prediction)}, {shortened(y)}) returned {shortened(value)}; {accepted}.")

    cdef check_correct(self, right, competitor, y):
        loss = self.loss_of(right, y)
        if loss != 0:
            raise ValueError(
                f"{self.name}.correct({shortened(y)}, {shortened(competitor)}) returned {shortened(right)}, whose loss is "
                f"{loss}; accepted is a prediction of loss 0.")

    def reraise(self):
        error, self.error = self.error, None
        self.failed = False
        raise error

    def margins(self, scores, labels, pairwise=False):
        raise ValueError(
            f"No bound against given weights is known for {self.name} under this update, which needs margins over all "
            "predictions; accepted are LossAugmented with a number for eta and PassiveAggressive with a finite C."
        )


cdef class PythonProblem(UserProblem):
    """Asks a `sklearn_predtron.Problem`."""
    cdef double squared_diameter
    cdef const double[::1] change   # rep(competitor) - rep(sigma_y) of the round

    def __init__(self, inner, bint checked=True):
        UserProblem.__init__(self, inner, checked)
        self.d = self.size("n_scores", "the number of scores")
        self.score_map = ScoreMap(self.d)
        self.squared_diameter = self.stated("D2")

    @property
    def D2(self):
        return 4.0 if isnan(self.squared_diameter) else self.squared_diameter

    cdef find(self, double* scores, y, bint augmented, Round* r):
        cdef double loss, competitor_loss, of_prediction = 0, of_competitor, of_right, allowed
        t = np.array(<double[:self.d]> scores)
        prediction = self.inner.decode(t)
        self.check_scores_kept(t, scores, "decode(t)")
        loss = competitor_loss = self.loss_of(prediction, y)
        competitor = prediction
        if augmented:
            competitor = self.inner.augmented_decode(t, y)
            self.check_scores_kept(t, scores, "augmented_decode(t, y)")
            competitor_loss = self.loss_of(competitor, y)
        right = self.inner.correct(y, competitor)
        competitor_rep = self.representation_of(competitor).copy()       # the next answer may be given in the same array
        right_rep = self.representation_of(right)
        of_competitor, of_right = self.score(competitor_rep, scores), self.score(right_rep, scores)
        self.change = competitor_rep - right_rep
        if self.checked:
            self.check_distance(competitor, right)
            if not (right is prediction and loss == 0) and not (right is competitor and competitor_loss == 0):
                self.check_correct(right, competitor, y)
            if augmented:
                of_prediction = self.score(self.representation_of(prediction), scores)
            else:
                of_prediction = of_competitor
            allowed = ROUNDING * self.length(scores)
            if of_prediction < of_right - allowed or of_prediction < of_competitor - allowed:
                self.refuse_decode(t, prediction, of_prediction, right, of_right, competitor, of_competitor)
            allowed += ROUNDING * max(loss, competitor_loss)
            if competitor_loss + of_competitor < max(of_right, loss + of_prediction) - allowed:
                self.refuse_augmented(
                    t, y, competitor, competitor_loss + of_competitor, prediction, loss + of_prediction, right, of_right)
        r.competitor_loss = competitor_loss
        r.score_gap = self.score(self.change, scores)
        r.loss = loss

    cdef check_distance(self, competitor, right):
        """Raise ValueError where D2 is too small; two representations are then further apart than it states."""
        cdef double square = 0
        cdef Py_ssize_t c
        if isnan(self.squared_diameter):
            return
        for c in range(self.d):
            square += self.change[c] * self.change[c]
        if square > self.squared_diameter * (1 + UNIT):
            raise ValueError(
                f"{self.name}.D2 = {self.squared_diameter:g} is stated as the largest |rep(sigma) - rep(sigma')|^2; that of "
                f"{shortened(competitor)} and {shortened(right)} is {square:.9g}.")

    # ------------------------------------------------------------------------------------------------------- the answers

    cpdef representation_of(self, prediction):
        """Return rep(sigma) as an array of float64, checked."""
        cdef const double[::1] rep
        cdef double square = 0
        cdef Py_ssize_t c
        value = self.inner.representation(prediction)
        array = value
        if type(value) is not np.ndarray or value.dtype != DOUBLE or not value.flags.c_contiguous:
            array = real_numbers(value)
            if array is None:
                self.refuse_representation(prediction, f"{shortened(value)}, which does not hold numbers")
        if array.ndim != 1 or array.shape[0] != self.d:
            self.refuse_representation(prediction, f"an array of shape {array.shape}")
        if self.checked:
            rep = array
            for c in range(self.d):
                square += rep[c] * rep[c]
            if not fabs(sqrt(square) - 1) <= UNIT:
                self.refuse_representation(prediction, f"{shortened(value)}, of length {sqrt(square):.9g}")
        return array

    cdef refuse_representation(self, prediction, found):
        raise ValueError(
            f"{self.name}.representation({shortened(prediction)}) returned {found}; accepted is an array of finite numbers of "
            f"shape (n_scores,) = ({self.d},) and of length 1 (to within {UNIT:g}).")

    cdef double score(self, const double[::1] rep, const double* t) except? -1:
        """Return <rep, t>."""
        cdef double score = 0
        cdef Py_ssize_t c
        for c in range(self.d):
            score += rep[c] * t[c]
        return score

    cdef double length(self, const double* t):
        """Return |t|."""
        cdef double square = 0
        cdef Py_ssize_t c
        for c in range(self.d):
            square += t[c] * t[c]
        return sqrt(square)

    cdef check_scores_kept(self, array, const double* t, method):
        """Return whether the method left its argument unchanged.

        A score of NaN, which is rejected after the round, may be any.
        """
        cdef const double[::1] given = array
        cdef Py_ssize_t c
        if given.shape[0] == self.d:
            for c in range(self.d):
                if given[c] != t[c] and t[c] == t[c]:
                    break
            else:
                return
        raise ValueError(f"{self.name}.{method} changed the scores t; accepted is a method that works on a copy.")

    cdef refuse_decode(self, t, prediction, of_prediction, right, of_right, competitor, of_competitor):
        better, score = (right, of_right) if of_right >= of_competitor else (competitor, of_competitor)
        raise ValueError(
            f"{self.name}.decode({shortened(t)}) returned {shortened(prediction)}, whose score <rep, t> is {of_prediction:.9g}; "
            f"that of {shortened(better)} is {score:.9g}; accepted is a prediction of the largest score.")

    cdef refuse_augmented(self, t, y, competitor, found, prediction, of_prediction, right, of_right):
        better, value = (right, of_right) if of_right >= of_prediction else (prediction, of_prediction)
        raise ValueError(
            f"{self.name}.augmented_decode({shortened(t)}, {shortened(y)}) returned {shortened(competitor)}, where "
            f"loss + <rep, t> is {found:.9g}; with {shortened(better)} it is {value:.9g}; accepted is a prediction of "
            "the largest loss + <rep, t>.")

    # --------------------------------------------------------------------------------------------------------- the round

    cdef void gradient(self, const void* y, Py_ssize_t m, const Round* r, ScoreGradient* g) noexcept nogil:
        cdef Py_ssize_t c
        g.at = NULL
        g.n = 0 if self.failed else self.d      # a round that failed is called off
        for c in range(g.n):
            g.value[c] = self.change[c]

    def decode(self, const double[:, ::1] scores):
        """Return the prediction for each row of scores, as a list."""
        return [self.inner.decode(np.array(t)) for t in scores]
