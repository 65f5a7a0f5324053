"""norm="scaled" in its simplest form, written from its rule: theta and beta are the sums of all steps along x and 1."""

from math import gcd

import numpy as np

from reference.learner import Reference
from reference.ranking import RankingReference


class Features:
    """The running centre and variance of each feature, per value in dense rows and per non-zero in sparse ones."""

    def __init__(self, p, dense):
        self.t, self.dense, (self.mean, self.squares, self.count, self.last) = 0, dense, np.zeros((4, p))
        self.inverse = np.zeros(p)

    def meet(self, x):
        self.t += 1
        power = self.t & (self.t - 1) == 0
        for j in range(len(x)):
            there = self.dense or x[j] != 0
            if there or (power and self.count[j] > 0):
                self.refresh(j, x[j], there)

    def update_statistics_of_all(self, X):
        """Rows that are there before the first round, as in `fit`, in steps of about the golden section."""
        step = max(round(0.618 * len(X)), 1)
        while gcd(step, len(X)) > 1:
            step += 1
        for i in range(len(X)):
            self.meet(X[i * step % len(X)])
        for j in np.flatnonzero(self.count):
            self.refresh(j, 0.0, False)

    def refresh(self, j, x, there):
        zeros = self.t - there - self.last[j]
        if zeros > 0:
            n = self.last[j] + zeros
            self.squares[j] += self.mean[j] ** 2 * self.last[j] * zeros / n
            self.mean[j] *= self.last[j] / n
        if there:
            deviation = x - self.mean[j]
            if self.count[j] >= 10 and self.inverse[j] > 0:
                size = np.sqrt(self.squares[j])
                deviation = np.copysign(size, deviation) if abs(deviation) > 10 * size else deviation
            self.mean[j] += deviation / self.t
            self.squares[j] += deviation**2 * (self.t - 1) / self.t
            self.count[j] += 1
        self.last[j] = self.t
        varies = self.squares[j] > (1e-24 if self.dense else 1e-13) * self.t * self.mean[j] ** 2
        self.inverse[j] = self.count[j] / self.squares[j] if varies else 0.0


class ScaledLearner:
    """What replaces x, its length and the intercept; W and b are theta and beta."""

    ready = frozen = centred = True
    all_met = False  # whether the features have met the rows of the first epoch before it

    def start(self, p, dense):
        self.features, self.ready, self.frozen, self.all_met = Features(p, dense), False, False, False
        self.centre = np.zeros(len(self.b))  # beta, but for thresholds, which have a sum of their own
        return self

    def observe(self, x):
        f = self.features
        for row in np.atleast_2d(x):
            if not self.frozen:
                if not self.all_met:
                    f.meet(row)
                length2 = ((row - f.mean) ** 2 * f.inverse).sum()
                if length2 > 0:
                    self.ready = True
                    if not self.log_norms and self.intercept == "auto" and not self.shared:
                        self.rescale(1.0 / length2)
                    self.log_norms.append(np.log(length2))
                elif f.t > 1 and self.centred and not f.inverse.any():
                    self.ready = True  # rows that are all equal teach the intercept
        self.r2 = self.squared_intercept_feature() if self.centred else 0.0
        return ((x - f.mean) ** 2 * f.inverse).sum(), self.r2

    def rescale(self, factor):
        """The intercept r2 beta stays as it is when r2 is that of the rows from here on."""
        self.Theta, self.W, self.b = factor * self.Theta, factor * self.W, factor * self.b
        self.iterates = [(weight, factor * W, factor * b) for weight, W, b in self.iterates]

    def scores_of(self, x):
        f = self.features
        if not self.centred:
            return x @ (self.W[0] * f.inverse)
        z = (x - f.mean) * f.inverse
        if self.shared:
            return self.W @ z - self.centre * (f.mean @ z) + self.b
        return self.W @ z + self.b * (self.r2 - f.mean @ z)

    def along_one(self, r):
        return r.r2 if self.shared else 1.0

    def primal(self, theta, beta, centre=None):
        """Ordinary coefficients and intercepts."""
        f = self.features
        if not self.centred:
            return theta * f.inverse, beta
        centre = beta if centre is None else centre
        W = (theta - np.outer(centre, f.mean)) * f.inverse
        return W, (beta if self.shared else self.r2 * beta) - W @ f.mean


class ScaledReference(ScaledLearner, Reference):
    """A learner over a table of predictions."""

    def __init__(self, code, cost, n_features, rule, parameters, dense=True, **settings):
        super().__init__(code, cost, n_features, rule, parameters, **settings)
        self.start(n_features, dense)
        self.centres = []

    def learn_one(self, x, label, weight):
        super().learn_one(x, label, weight)
        shrinkage, along = self.taken
        self.centre = shrinkage * self.centre + along
        self.centres.append(self.centre)

    def averages(self, average):
        """Coefficients and intercepts of the average and of the last iterate."""
        theta, beta = self.mean(average)
        if not self.shared:
            return self.primal(theta, beta), self.primal(self.W, self.b)
        iterates, self.iterates = self.iterates, [(w[0], w[1], c) for w, c in zip(self.iterates, self.centres, strict=True)]
        centre = self.centre if average is False else self.mean(average)[1]
        self.iterates = iterates
        return self.primal(theta, beta, centre), self.primal(self.W, self.b, self.centre)


class ScaledRankingReference(ScaledLearner, RankingReference):
    """A learner of rankings: of labels, or of documents, which have no centre."""

    def __init__(self, loss, f, n_features, rule, parameters, dense=True, **settings):
        super().__init__(loss, f, n_features, rule, parameters, **settings)
        self.start(n_features, dense).centred = not self.queries

    def gap_and_g2(self, r, competitor):
        if not self.queries:
            return -r.delta[competitor] @ r.t, (r.delta[competitor] ** 2).sum() * (r.norm2 + r.r2)
        g2 = (self.in_weights(r, r.delta[competitor]) ** 2 * self.features.inverse).sum()
        return -r.delta[competitor] @ r.t, g2

    def averages(self, average):
        return self.primal(*self.mean(average)), self.primal(self.W, self.b)
