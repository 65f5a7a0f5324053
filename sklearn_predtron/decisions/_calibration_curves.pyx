"""Likelihoods and probabilities of calibration maps; the bits of a row depend on no other row."""
from libc.math cimport INFINITY, exp, fabs, log, log1p, sqrt
from libc.string cimport memcpy

import numpy as np

# Of a unit of the scores: what scores of any size have beyond their limits.
BEYOND_LIMITS = 1e-3
LEAD = 1e-6     # of what is predicted, where others are as probable
cdef double BEYOND = BEYOND_LIMITS, LEAD_OF_PREDICTED = LEAD

cdef enum:
    NEWTON_STEPS = 50
    HALVINGS = 20
    BLOCK = 64          # scores


cdef inline double logistic(double z) noexcept nogil:
    """1 / (1 + e^-z)."""
    cdef double e
    if z >= 0:
        return 1 / (1 + exp(-z))
    e = exp(z)
    return e / (1 + e)


cdef inline double beyond(double excess) noexcept nogil:
    """Return the share of an excess that counts.

    It is close to nothing, and grows with the excess, so that the order of scores remains.
    """
    return BEYOND * (excess / (1 + excess) if excess < INFINITY else 1)


cdef inline double limited(double s, double least, double most, double unit) noexcept nogil:
    """Return a score within its limits."""
    if s > most:
        return most + unit * beyond((s - most) / unit)
    if s < least:
        return least - unit * beyond((least - s) / unit)
    return s


cdef void limit_row(double* s, Py_ssize_t d, double limit) noexcept nogil:
    """Shrink a row so that no score is farther from 0 than a limit."""
    cdef double farthest = 0, share
    cdef Py_ssize_t c
    for c in range(d):
        farthest = max(farthest, fabs(s[c]))
    if farthest > limit:
        share = (limit + beyond(farthest - limit)) / farthest
        for c in range(d):
            s[c] *= share


cdef inline double curve(const double* b, double s) noexcept nogil:
    """The log-odds at a score."""
    return b[0] + b[1] * s + b[2] * fabs(s)


cdef double derivatives(const double* b, const double[::1] s, const double[::1] on, const double[::1] off,
                        const double[::1] mean, const double[::1] ridge, int side, double* g, double[3][3] H) noexcept nogil:
    """Fill in the slopes and the curvatures of minus the log-likelihood with the ridge, and return it.

    All three need the same exponential of each score.  Those of a block of scores are computed before any sum, because calls of
    other functions would move the sums out of the registers.
    """
    cdef double[BLOCK] z
    cdef double[BLOCK] e
    cdef double[BLOCK] log_of_both
    cdef double s_i, on_i, both, p, residual, curvature, first, second, value = 0
    cdef double g_0, g_1, g_2, H_00, H_10, H_11, H_20, H_21, H_22
    cdef Py_ssize_t i, n, begin, block
    g_0, g_1, g_2 = ridge[0] * (b[0] - mean[0]), ridge[1] * (b[1] - mean[1]), ridge[2] * (b[2] - mean[2])
    H_00, H_11, H_22, H_10, H_20, H_21 = ridge[0] + 1e-9, ridge[1] + 1e-9, ridge[2] + 1e-9, 0, 0, 0
    if side:
        g_1 += side * g_2
        H_11 += ridge[2]
    for block in range((s.shape[0] + BLOCK - 1) // BLOCK):
        begin = block * BLOCK
        n = min(BLOCK, s.shape[0] - begin)
        for i in range(n):
            z[i] = curve(b, s[begin + i])
            e[i] = exp(-fabs(z[i]))
        for i in range(n):
            log_of_both[i] = log1p(e[i])
        for i in range(n):
            s_i, on_i, both = s[begin + i], on[begin + i], on[begin + i] + off[begin + i]
            p = (1 if z[i] >= 0 else e[i]) / (1 + e[i])
            value += both * (max(z[i], 0) + log_of_both[i]) - on_i * z[i]
            residual = both * p - on_i
            curvature = both * p * (1 - p)
            first, second = s_i + side * fabs(s_i), fabs(s_i)
            g_0 += residual
            g_1 += residual * first
            g_2 += residual * second
            H_00 += curvature
            H_10 += curvature * first
            H_11 += curvature * first * first
            H_20 += curvature * second
            H_21 += curvature * second * first
            H_22 += curvature * second * second
    for i in range(3):
        value += ridge[i] * (b[i] - mean[i]) * (b[i] - mean[i]) / 2
    g[0], g[1], g[2] = g_0, g_1, g_2
    H[0][0], H[1][0], H[1][1], H[2][0], H[2][1], H[2][2] = H_00, H_10, H_11, H_20, H_21, H_22
    return value


cdef void solve(double[3][3] H, double* g, int n) noexcept nogil:
    """Solve H x = g by Cholesky decomposition; the solution replaces g; H must be positive definite."""
    cdef int i, j, k
    for i in range(n):
        for j in range(i + 1):
            for k in range(j):
                H[i][j] -= H[i][k] * H[j][k]
            H[i][j] = sqrt(H[i][i]) if i == j else H[i][j] / H[j][j]
    for i in range(n):
        for k in range(i):
            g[i] -= H[i][k] * g[k]
        g[i] /= H[i][i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            g[i] -= H[k][i] * g[k]
        g[i] /= H[i][i]


cdef double newton(double* b, const double[::1] s, const double[::1] on, const double[::1] off, const double[::1] mean,
                   const double[::1] ridge, int n, int side) noexcept nogil:
    """Fit the first n numbers of a curve; return minus the log-likelihood.

    With a side (1 above 0, -1 below) two numbers are free, and the slope of the other side stays.
    """
    cdef double[3] other
    cdef double[3] g
    cdef double[3] g_other
    cdef double[3][3] H
    cdef double[3][3] H_other
    cdef double found, step, value = derivatives(b, s, on, off, mean, ridge, side, g, H)
    cdef int j, _step, _halving
    for _step in range(NEWTON_STEPS):
        solve(H, g, n)
        step = 1
        for _halving in range(HALVINGS):
            for j in range(3):
                other[j] = b[j] - step * g[j] if j < n else b[j]
            if side:
                other[2] -= side * step * g[1]
            found = derivatives(other, s, on, off, mean, ridge, side, g_other, H_other)
            if found <= value:
                break
            step /= 2
        if not found <= value:
            break
        memcpy(b, other, sizeof(other))
        if value - found < 1e-8 * (1 + fabs(value)):
            return found
        memcpy(g, g_other, sizeof(g))
        memcpy(H, H_other, sizeof(H))
        value = found
    return value


def fit_curve(const double[::1] s not None, const double[::1] on not None, const double[::1] off not None,
              const double[::1] mean not None, const double[::1] ridge not None, double least):
    """Fit the log-odds b_0 + b_1 s + b_2 |s|.

    Neither slope, above 0 or below, is less than the least.  Score i stands for on[i] rows of the second class and off[i] of the
    first.  Return the numbers and the objective that they minimise: minus the log-likelihood, with a ridge towards the means.
    """
    cdef double[3] b = [mean[0], mean[1], mean[2]]
    cdef double[3] best
    cdef double value, lowest
    cdef int side, j
    if not (s.shape[0] == on.shape[0] == off.shape[0] and mean.shape[0] == ridge.shape[0] == 3):
        raise ValueError("there must be as many weights as scores, and three means and ridges.")
    with nogil:
        value = newton(b, s, on, off, mean, ridge, 3, 0)
        if b[1] - fabs(b[2]) < least:  # the best one has the least slope on a side, or on both
            best[0], best[1], best[2] = mean[0], least, 0
            lowest = newton(best, s, on, off, mean, ridge, 1, 0)
            for side in range(-1, 2, 2):
                b[0], b[1], b[2] = mean[0], least, 0
                value = newton(b, s, on, off, mean, ridge, 2, side)
                if b[1] >= least and value < lowest:
                    lowest = value
                    for j in range(3):
                        best[j] = b[j]
            for j in range(3):
                b[j] = best[j]
            value = lowest
    return (b[0], b[1], b[2]), value


def probabilities_of_curves(const double[:, ::1] scores not None, const double[:, ::1] curves not None,
                            const double[::1] scale not None, const double[:, ::1] limits not None):
    """Return the probabilities by curves.

    They are 1 / (1 + e^-z), where z are the log-odds by the curve of each column, of scores within limits that are divided by
    their scale.
    """
    cdef double[:, ::1] found = np.empty((scores.shape[0], scores.shape[1]))
    cdef Py_ssize_t i, j
    cdef double s
    if (not curves.shape[0] == scale.shape[0] == limits.shape[0] == scores.shape[1] or curves.shape[1] != 3
            or limits.shape[1] != 2):
        raise ValueError(f"there must be {scores.shape[1]} curves of three numbers, and as many scales and pairs of limits.")
    with nogil:
        for i in range(scores.shape[0]):
            for j in range(scores.shape[1]):
                s = limited(scores[i, j], limits[j, 0], limits[j, 1], scale[j])
                found[i, j] = logistic(curve(&curves[j, 0], s / scale[j]))
    return np.asarray(found)


cdef double softmax(double* z, Py_ssize_t k) noexcept nogil:
    """Replace logarithms by the probabilities; they are known up to a constant, which is returned."""
    cdef double most = z[0], total = 0
    cdef Py_ssize_t j
    for j in range(1, k):
        most = max(most, z[j])
    for j in range(k):
        z[j] = exp(z[j] - most)
        total += z[j]
    for j in range(k):
        z[j] /= total
    return most + log(total)


cdef void logits(const double* p, const double* s, Py_ssize_t d, Py_ssize_t k, bint diagonal, bint matrix,
                 double* z) noexcept nogil:
    """Compute the logits p[0] s + b + s A.

    p[0] is the slope, b are the offsets of k classes, and A is the matrix, if there is one.
    """
    cdef Py_ssize_t j, c
    cdef const double* row
    for j in range(k):
        z[j] = p[1 + j] + (p[0] * s[j] if diagonal else 0)
    if matrix:
        for c in range(d):
            row = p + 1 + k + c * k
            for j in range(k):
                z[j] += s[c] * row[j]


def likelihood(const double[::1] p not None, const double[:, ::1] scores not None, const Py_ssize_t[::1] y not None,
               const double[::1] weight not None, const double[::1] smoothing not None, const double[::1] ridge not None,
               bint diagonal):
    """Return minus the mean log-likelihood, and its gradient.

    The ridge is included.

    The target of a row of class c is 1 - smoothing[c] of c, and the same share of each other class.
    """
    cdef Py_ssize_t n = scores.shape[0], d = scores.shape[1], k = smoothing.shape[0], i, j, c
    cdef bint matrix = p.shape[0] > 1 + k
    cdef double value = 0, constant, of_others, target
    cdef double[::1] gradient = np.zeros(p.shape[0]), z = np.empty(k), g = np.empty(k)
    cdef double* row
    if (p.shape[0] != 1 + k + matrix * d * k or ridge.shape[0] != p.shape[0] or not y.shape[0] == weight.shape[0] == n
            or (diagonal and d != k) or n == 0 or k < 2):
        raise ValueError("the shapes of parameters, scores and labels do not go together.")
    for i in range(n):
        if not 0 <= y[i] < k:
            raise ValueError(f"y must hold numbers from 0 to {k - 1}, got {y[i]}.")
    with nogil:
        for i in range(n):
            logits(&p[0], &scores[i, 0], d, k, diagonal, matrix, &z[0])
            of_others = smoothing[y[i]] / (k - 1)
            for j in range(k):
                target = 1 - smoothing[y[i]] if j == y[i] else of_others
                value -= weight[i] * target * z[j]
                g[j] = -weight[i] * target
            constant = softmax(&z[0], k)
            value += weight[i] * constant
            for j in range(k):
                g[j] += weight[i] * z[j]
                gradient[1 + j] += g[j]
                if diagonal:
                    gradient[0] += g[j] * scores[i, j]
            if matrix:
                for c in range(d):
                    row = &gradient[1 + k + c * k]
                    for j in range(k):
                        row[j] += scores[i, c] * g[j]
        for j in range(p.shape[0]):
            value += ridge[j] * p[j] * p[j] / 2
            gradient[j] = (gradient[j] + ridge[j] * p[j]) / n
    return value / n, np.asarray(gradient)


cdef double total(const double* z, Py_ssize_t n) noexcept nogil:
    """Return the sum of some numbers, added up in the order of NumPy."""
    cdef double[8] r
    cdef double found = 0
    cdef Py_ssize_t i, j, half
    if n < 8:
        for i in range(n):
            found += z[i]
        return found
    if n > 128:
        half = n // 2 - n // 2 % 8
        return total(z, half) + total(z + half, n - half)
    for j in range(8):
        r[j] = z[j]
    for i in range(8, n - n % 8, 8):
        for j in range(8):
            r[j] += z[i + j]
    found = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
    for i in range(n - n % 8, n):
        found += z[i]
    return found


cdef void prefer(double* p, Py_ssize_t k, Py_ssize_t chosen) noexcept nogil:
    """Make no probability larger than that of the chosen class."""
    cdef Py_ssize_t j, best = 0
    cdef double sum_
    for j in range(1, k):
        if p[j] > p[best]:
            best = j
    p[chosen] = p[best] if best == chosen else p[best] * (1 + LEAD_OF_PREDICTED)
    sum_ = total(p, k)
    for j in range(k):
        p[j] /= sum_


def with_largest(double[:, ::1] probabilities not None, const Py_ssize_t[::1] predicted not None):
    """Return probabilities, changed in place, of which none is larger than that of the predicted class."""
    cdef Py_ssize_t i, n = probabilities.shape[0], k = probabilities.shape[1]
    if predicted.shape[0] != n:
        raise ValueError(f"there must be {n} predicted classes, got {predicted.shape[0]}.")
    for i in range(n):
        if not 0 <= predicted[i] < k:
            raise ValueError(f"predicted must hold numbers from 0 to {k - 1}, got {predicted[i]}.")
    with nogil:
        for i in range(n):
            prefer(&probabilities[i, 0], k, predicted[i])
    return np.asarray(probabilities)


cdef class ClassProbabilities:
    """Probabilities of k classes by a map of their scores.

    Parameters
    ----------
    p : ndarray
        The parameters.
    mean : ndarray of shape (d,)
        Offset to subtract from the scores, which are then divided by their scale and kept within a limit.
    scale, limit : float
        Of the scores.
    k : int
        Number of classes.
    diagonal : bool
        Whether each class has a score of its own.
    floor : float
        The least probability.
    """
    cdef const double[::1] p, mean
    cdef double scale, limit, floor
    cdef Py_ssize_t d, k
    cdef bint diagonal, matrix

    def __init__(self, const double[::1] p not None, const double[::1] mean not None, double scale, double limit, Py_ssize_t k,
                 bint diagonal, double floor):
        self.d, self.matrix = mean.shape[0], p.shape[0] > 1 + k
        if p.shape[0] != 1 + k + self.matrix * self.d * k or (diagonal and self.d != k):
            raise ValueError("the shapes of parameters and scores do not go together.")
        self.p, self.mean, self.scale, self.limit, self.k, self.diagonal, self.floor = p, mean, scale, limit, k, diagonal, floor

    def of(self, const double[:, ::1] scores not None):
        """Return the probabilities, of shape (n, k)."""
        cdef Py_ssize_t n = scores.shape[0], i, c
        cdef double[:, ::1] found = np.empty((n, self.k))
        cdef double[::1] s = np.empty(self.d)
        if scores.shape[1] != self.d:
            raise ValueError("the shapes of parameters and scores do not go together.")
        with nogil:
            for i in range(n):
                for c in range(self.d):
                    s[c] = (scores[i, c] - self.mean[c]) / self.scale
                limit_row(&s[0], self.d, self.limit)
                logits(&self.p[0], &s[0], self.d, self.k, self.diagonal, self.matrix, &found[i, 0])
                softmax(&found[i, 0], self.k)
                for c in range(self.k):
                    found[i, c] = self.floor + (1 - self.k * self.floor) * found[i, c]
        return np.asarray(found)


def probabilities_of_ranks(const double[:, ::1] decoded not None, const double[:, ::1] curves not None,
                           const double[::1] scale not None, const double[:, ::1] limits not None,
                           const double[:, ::1] classes not None):
    """Return the probabilities of ranks: the means of those by the curves of the thresholds, and of those of the classes.

    The score of a threshold is the difference of the decoded scores of the next rank and of this one.
    """
    cdef Py_ssize_t n = decoded.shape[0], r = decoded.shape[1], i, j
    cdef double[:, ::1] found = np.empty((n, r))
    cdef double at_least, above
    if (not curves.shape[0] == scale.shape[0] == limits.shape[0] == r - 1 or curves.shape[1] != 3 or limits.shape[1] != 2
            or classes.shape[0] != n or classes.shape[1] != r):
        raise ValueError(f"there must be {r - 1} curves of three numbers, and as many scales and pairs of limits.")
    with nogil:
        for i in range(n):
            at_least = 1
            for j in range(r):
                above = 0
                if j < r - 1:
                    above = limited(decoded[i, j + 1] - decoded[i, j], limits[j, 0], limits[j, 1], scale[j])
                    above = logistic(curve(&curves[j, 0], above / scale[j]))
                    above = min(at_least, above)
                found[i, j] = (at_least - above + classes[i, j]) / 2
                at_least = above
    return np.asarray(found)


cdef class PairProbabilities:
    """Probabilities of two classes by a curve of the score of the second one.

    Parameters
    ----------
    direction : ndarray of shape (d,)
        The score of the second class is the product of the scores with it.
    unit : float
        Divisor of that score.
    curve, limits : ndarrays of shapes (3,) and (2,)
        Of a `CurveMap`.
    scale, floor : float
        The same.
    agrees : bool
        Whether the class with the larger score must be the more probable one.
    """
    cdef const double[::1] direction
    cdef double[3] curve
    cdef double unit, scale, least, most, floor
    cdef bint agrees

    def __init__(self, const double[::1] direction not None, double unit, const double[::1] curve not None,
                 const double[::1] limits not None, double scale, double floor, bint agrees):
        if curve.shape[0] != 3 or limits.shape[0] != 2 or direction.shape[0] == 0:
            raise ValueError("there must be a direction, a curve of three numbers and a pair of limits.")
        self.direction, self.unit, self.scale, self.floor, self.agrees = direction, unit, scale, floor, agrees
        self.curve[0], self.curve[1], self.curve[2] = curve[0], curve[1], curve[2]
        self.least, self.most = limits[0], limits[1]

    def of(self, const double[:, ::1] scores not None):
        """Return the probabilities, of shape (n, 2)."""
        cdef Py_ssize_t n = scores.shape[0], i, j
        cdef double[:, ::1] found = np.empty((n, 2))
        cdef double s, p, lead
        if scores.shape[1] != self.direction.shape[0]:
            raise ValueError(f"scores must have {self.direction.shape[0]} columns, got {scores.shape[1]}.")
        with nogil:
            for i in range(n):
                s = scores[i, 0] * self.direction[0]
                for j in range(1, scores.shape[1]):
                    s = s + scores[i, j] * self.direction[j]
                s = s / self.unit
                p = logistic(curve(self.curve, limited(s, self.least, self.most, self.scale) / self.scale))
                p = self.floor + (1 - 2 * self.floor) * p
                if self.agrees:
                    lead = LEAD_OF_PREDICTED * (1 + fabs(s) / (1 + fabs(s)))
                    p = max(p, 0.5 + lead) if s > 0 else min(p, 0.5 - lead)
                found[i, 0], found[i, 1] = 1 - p, p
        return np.asarray(found)
