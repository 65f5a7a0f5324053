"""Python problems whose features depend on the prediction."""
from libc.math cimport fabs, isfinite, sqrt
from libc.string cimport memcpy, memset

import numpy as np

from sklearn_predtron._core.rows cimport View, of_doubles
from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron.norms._joint cimport JointMap, JointWeights
from sklearn_predtron._core.problem cimport Round
from sklearn_predtron.problems._user cimport UserProblem

from sklearn_predtron._core.rows import LARGEST_LENGTH, LEAST_LENGTH
from sklearn_predtron._core.rows import issparse
from sklearn_predtron._support.numbers import real_numbers
from sklearn_predtron._support.queries import shortened

cdef double ROUNDING = 1e-9     # relative
cdef double LEAST2 = LEAST_LENGTH ** 2, LARGEST2 = LARGEST_LENGTH ** 2
cdef Py_ssize_t[2] NOWHERE = [0, 0]
DOUBLE = np.dtype(np.float64)   # of the native byte order


cdef class Features:
    """The features Phi(x, sigma); they are all values, or those at some indices, in any order, of which one may occur twice."""
    cdef const double[::1] value
    cdef const Py_ssize_t[::1] index
    cdef bint is_dense
    cdef double score                   # <w, Phi(x, sigma)> of the round
    cdef double size                    # the sum of the magnitudes in it, by which its rounding is judged

    def __init__(self, value, index=None):
        self.value = value
        self.index = index
        self.is_dense = index is None

    cdef Features copied(self):
        cdef Features copy = Features(np.array(self.value), None if self.is_dense else np.array(self.index))
        copy.score, copy.size = self.score, self.size
        return copy

    cdef bint sum_up(self, const double[::1] w) noexcept nogil:
        """Fill in the score under w; return whether all values are finite."""
        cdef double term
        cdef Py_ssize_t k
        self.score = self.size = 0
        for k in range(self.value.shape[0]):
            term = self.value[k] * (w[k] if self.is_dense else w[self.index[k]])
            self.score += term
            self.size += fabs(term)
        if not isfinite(self.size):
            for k in range(self.value.shape[0]):
                if not isfinite(self.value[k]):
                    return False
        return True


cdef class PythonJointProblem(UserProblem):
    """Adapter of a user-defined `sklearn_predtron.JointProblem`.

    The label of a round is the pair (x, y).

    The input of a step is the difference of two predictions' features, so that D^2 is 1 and R their largest distance.
    """
    cdef readonly Py_ssize_t n_features
    cdef JointWeights weights
    cdef object given               # weights to be asked in the place of the learner's, if there are any
    # The difference of the features of the round: all values, or n of them.
    cdef bint is_sparse
    cdef Py_ssize_t n
    cdef double norm2, score_gap          # its squared length, and its product with w
    cdef double[::1] value, total   # of all features; `total` is 0 between two differences
    cdef Py_ssize_t[::1] index

    def __init__(self, inner, bint checked=True):
        UserProblem.__init__(self, inner, checked)
        self.n_features = self.size("n_features", "the number of joint features")
        self.d = 1
        self.score_map = JointMap()
        self.value = self.total = None      # until the first difference: a problem may be made for its losses alone

    @property
    def D2(self):
        return 1.0

    cdef open_call(self, weights):
        self.weights = weights

    def scores_under(self, W, b, X):
        """Use these weights from here on; return the array that takes the place of the scores of the rounds."""
        self.given = W[0]
        self.given.setflags(write=False)
        return np.zeros((len(X), 1))

    def decode(self, w, objects):
        """Return the prediction for each object, as a list."""
        return [self.inner.decode(w, x) for x in objects]

    cdef find(self, double* t, pair, bint augmented, Round* r):
        cdef Features of_competitor, of_right
        x, y = pair
        w = self.weights.weights_of(<int> t[0]) if self.given is None else self.given
        prediction = competitor = self.inner.decode(w, x)
        r.loss = r.competitor_loss = self.loss_of(prediction, y)
        self.n = 0
        if augmented:
            competitor = self.inner.augmented_decode(w, x, y)
            r.competitor_loss = self.loss_of(competitor, y)
        elif r.loss == 0:
            return
        right = self.inner.correct(y, competitor)
        if self.checked and not (right is competitor and r.competitor_loss == 0):
            self.check_correct(right, competitor, y)
        of_competitor = self.features_of(x, competitor, w).copied()     # the next answer may be given in the same array
        of_right = self.features_of(x, right, w)
        self.take_difference(of_competitor, of_right, w)
        if self.norm2 != 0 and not LEAST2 <= self.norm2 <= LARGEST2:
            self.refuse_difference(x, competitor, right)
        r.score_gap = self.score_gap
        if self.checked:
            self.check_decoders(w, x, y, prediction, competitor, of_competitor, right, of_right, augmented, r)

    # ------------------------------------------------------------------------------------------------------- the answers

    cdef check_decoders(self, w, x, y, prediction, competitor, Features of_competitor, right, Features of_right, bint augmented,
                        Round* r):
        """Raise ValueError if a decoder's answer is not the best.

        Another prediction of the round has a higher score, beyond rounding.
        """
        cdef Features of_prediction = of_competitor
        cdef double best, allowed
        if augmented and prediction is not competitor:
            of_prediction = self.features_of(x, prediction, w)
        allowed = ROUNDING * max(of_prediction.size, of_competitor.size, of_right.size)
        best = max(of_right.score, of_competitor.score)
        if of_prediction.score < best - allowed:
            better = right if of_right.score == best else competitor
            raise ValueError(
                f"{self.name}.decode(w, {shortened(x)}) returned {shortened(prediction)}, whose score <w, features> is "
                f"{of_prediction.score:.9g}; that of {shortened(better)} is {best:.9g}; accepted is a prediction of the largest "
                "score.")
        allowed += ROUNDING * max(r.loss, r.competitor_loss)
        best = max(of_right.score, r.loss + of_prediction.score)
        if r.competitor_loss + of_competitor.score < best - allowed:
            better = right if of_right.score == best else prediction
            raise ValueError(
                f"{self.name}.augmented_decode(w, {shortened(x)}, {shortened(y)}) returned {shortened(competitor)}, where loss + "
                f"<w, features> is {r.competitor_loss + of_competitor.score:.9g}; with {shortened(better)} it is {best:.9g}; "
                "accepted is a prediction of the largest loss + <w, features>.")

    cdef Features features_of(self, x, prediction, w):
        """Return Phi(x, sigma), checked, with its score under w."""
        cdef Features features
        value = self.inner.features(x, prediction)
        if issparse(value):
            features = self.sparse_features(value, x, prediction)
        else:
            array = value
            if type(value) is not np.ndarray or value.dtype != DOUBLE or not value.flags.c_contiguous:
                array = real_numbers(value)
                if array is None:
                    self.refuse_features(x, prediction, f"{shortened(value)}, which does not hold numbers")
            if array.ndim != 1 or array.shape[0] != self.n_features:
                self.refuse_features(x, prediction, f"an array of shape {array.shape}")
            features = Features(array)
        if not features.sum_up(w):
            self.refuse_features(x, prediction, f"{shortened(value)}, which is not finite")
        return features

    cdef Features sparse_features(self, value, x, prediction):
        """Return the stored values of a sparse row."""
        cdef const Py_ssize_t[::1] index
        cdef Py_ssize_t k
        cdef bint inside = True
        if value.shape != (1, self.n_features) and value.shape != (self.n_features,):
            self.refuse_features(x, prediction, f"a sparse matrix of shape {value.shape}")
        if value.dtype.kind not in "biuf":
            self.refuse_features(x, prediction, f"a sparse matrix of dtype {value.dtype}")
        row = value if value.format == "csr" else value.reshape(1, -1).tocsr()
        first, last = row.indptr.item(0), row.indptr.item(len(row.indptr) - 1)
        if not 0 <= first <= last <= min(len(row.data), len(row.indices)):
            inside = False
        else:
            stored = np.ascontiguousarray(row.data[first:last], dtype=np.float64)
            index = np.ascontiguousarray(row.indices[first:last], dtype=np.intp)
            for k in range(index.shape[0]):
                inside = inside and 0 <= index[k] < self.n_features
        if not inside:
            self.refuse_features(x, prediction, f"a CSR matrix whose indices do not lie in 0..{self.n_features - 1}")
        return Features(stored, index)

    cdef refuse_features(self, x, prediction, found):
        raise ValueError(
            f"{self.name}.features({shortened(x)}, {shortened(prediction)}) returned {found}; accepted are finite numbers, as an "
            f"array of shape (n_features,) = ({self.n_features},) or a sparse matrix of shape (1, {self.n_features}).")

    cdef refuse_difference(self, x, competitor, right):
        raise ValueError(
            f"{self.name}.features({shortened(x)}, sigma) of {shortened(competitor)} and of {shortened(right)} have the distance "
            f"{sqrt(self.norm2):.3g}; accepted are 0 and distances from {LEAST_LENGTH:g} to {LARGEST_LENGTH:g}: scale the "
            "features.")

    def dense_features(self, x, prediction):
        """Return Phi(x, sigma) as an array, checked."""
        cdef Features features = self.features_of(x, prediction, np.zeros(self.n_features))
        if features.is_dense:
            return np.array(features.value)
        return np.bincount(features.index, features.value, self.n_features)

    # --------------------------------------------------------------------------------------------------------- the round

    cdef take_difference(self, Features a, Features b, const double[::1] w):
        """Compute a - b, its squared length and its product with w."""
        if self.value is None:
            self.value, self.total = np.empty(self.n_features), np.zeros(self.n_features)
            self.index = np.empty(self.n_features, dtype=np.intp)
        self.is_sparse = not (a.is_dense or b.is_dense)
        with nogil:
            if a.is_dense and b.is_dense:
                self.subtract(a, b)
            else:
                add(a, 1, self.total)
                add(b, -1, self.total)
                if self.is_sparse:
                    self.gather(a)
                    self.gather(b)
                else:
                    self.gather_all()
            self.sum_up(w)

    cdef void subtract(self, Features a, Features b) noexcept nogil:
        cdef Py_ssize_t k
        self.n = self.n_features
        for k in range(self.n):
            self.value[k] = a.value[k] - b.value[k]

    cdef void gather(self, Features features) noexcept nogil:
        """Gather the differences at these features; differences of 0, and those already gathered, are left out."""
        cdef Py_ssize_t k, j
        for k in range(features.index.shape[0]):
            j = features.index[k]
            if self.total[j] != 0:
                self.value[self.n] = self.total[j]
                self.index[self.n] = j
                self.total[j] = 0
                self.n += 1

    cdef void gather_all(self) noexcept nogil:
        """Move the differences at all features."""
        self.n = self.n_features
        memcpy(&self.value[0], &self.total[0], self.n * sizeof(double))
        memset(&self.total[0], 0, self.n * sizeof(double))

    cdef void sum_up(self, const double[::1] w) noexcept nogil:
        cdef Py_ssize_t k
        self.norm2 = self.score_gap = 0
        for k in range(self.n):
            self.norm2 += self.value[k] * self.value[k]
            self.score_gap += self.value[k] * (w[self.index[k]] if self.is_sparse else w[k])

    cdef void gradient(self, const void* y, Py_ssize_t m, const Round* r, ScoreGradient* g) noexcept nogil:
        g.at = NULL
        g.n = 1
        g.value[0] = 1

    cdef void fill_input(self, View* x) noexcept nogil:
        x.k = of_doubles(self.is_sparse)
        x.first.n = self.n
        x.first.value = &self.value[0]
        x.first.index = &self.index[0] if self.is_sparse else NULL
        x.start = &NOWHERE[0] if self.is_sparse else NULL
        x.norm2 = self.norm2


cdef void add(Features features, double factor, double[::1] total) noexcept nogil:
    """Add multiples of the features to the totals."""
    cdef Py_ssize_t k
    for k in range(features.value.shape[0]):
        total[k if features.is_dense else features.index[k]] += factor * features.value[k]
