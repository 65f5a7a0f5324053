"""Linear chains in their simplest form: all sequences of labels are listed, and all features written down."""

from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np

from reference.learner import Reference


class ChainReference(Reference):
    """A learner of sequences over their explicit joint features Psi(x, y), under the Euclidean norm.

    cost : (K, K) array of what a token costs, rows = true, or None for the 0-1 loss of sequences.
    allowed : (K + 1, K) array, which label may follow which and, in the last row, be first; None if all may.
    """

    def __init__(self, K, p, rule, parameters, *, cost, scaling=0.1, intercept="auto", allowed=None):
        self.K, self.p, self.cost, self.scaling, self.intercept = K, p, cost, scaling, intercept
        self.allowed = np.ones((K + 1, K), dtype=bool) if allowed is None else allowed
        self.rule, self.parameters, self.kappa = rule, SimpleNamespace(**parameters), 1.0
        self.theta = np.zeros(K * p + K + K * K + 2 * K)
        self.iterates, self.log_norms, self.log_cap, self.n_cap = [], [], 0.0, 0
        self.t = self.n_mistakes = self.n_updates = self.cumulative_loss = self.R2 = self.mean_weight = 0
        self.c_L = 1.0 if cost is None else cost[cost > 0].min()
        self.C_L = 1.0 if cost is None else cost.max()  # of a token: how long sequences are is not known beforehand
        self.D2 = 4.0

    def features(self, X, y):
        """Psi(x, y): the sums of tokens and the numbers of tokens by label, then of pairs, first and last labels."""
        W, b, A = np.zeros((self.K, self.p)), np.zeros(self.K), np.zeros((self.K, self.K))
        ends = np.zeros((2, self.K))
        for x, label in zip(X, y, strict=True):
            W[label] += x
            b[label] += 1
        for before, label in pairwise(y):
            A[before, label] += 1
        ends[0, y[0]] = ends[1, y[-1]] = 1
        return np.concatenate([W.ravel(), b, A.ravel(), ends.ravel()])

    def lengths2(self, r2):
        """The squared length of each feature's unit."""
        return np.repeat([1.0, r2, self.scaling * r2], [self.K * self.p, self.K, self.K * self.K + 2 * self.K])

    def sequences(self, T):
        """All sequences that are allowed, in lexicographic order."""
        walls, first = self.allowed[:-1], self.allowed[-1]
        return [s for s in product(range(self.K), repeat=T) if first[s[0]] and all(walls[a, b] for a, b in pairwise(s))]

    def loss(self, s, y):
        return float(tuple(s) != tuple(y)) if self.cost is None else sum(self.cost[a, b] for a, b in zip(y, s, strict=True))

    def look(self, X, y, weight):
        """What the present weights make of a sequence."""
        for x in X:
            if x.any():
                self.log_norms.append(np.log(x @ x))
        r2, every = self.squared_intercept_feature(), self.sequences(len(y))
        right = every.index(tuple(y))
        features = np.array([self.features(X, s) for s in every])
        score, loss = features @ self.theta, np.array([self.loss(s, y) for s in every])
        best = score >= score.max() - 1e-12 * np.abs(score).max(initial=1)
        suffered = loss[best].max()
        predicted = int(np.flatnonzero(best & (loss == suffered))[0])
        total = score + loss
        augmented = right if total[right] == total.max() else int(total.argmax())
        longest = max(x @ x for x in X)
        self.R2 = max(self.R2, len(y) ** 2 * (longest + r2 + 4 * self.scaling * r2) / 2)
        found = {"score": score, "loss": loss, "right": right, "suffered": suffered, "predicted": predicted}
        return SimpleNamespace(**found, augmented=augmented, features=features, r2=r2, weight=weight)

    def gap_and_g2(self, r, competitor):
        change = r.features[competitor] - r.features[r.right]
        return r.score[competitor] - r.score[r.right], (self.lengths2(r.r2) * change**2).sum()

    def learn_one(self, X, y, weight=1.0):
        self.t += 1
        weight = self.relative(weight)
        r = self.look(X, y, weight)
        competitor, size = getattr(self, "_" + self.rule)(r)
        change = r.features[r.right] - r.features[competitor]
        size = size if change.any() else 0.0
        self.theta = self.shrinkage() * self.theta + size * self.lengths2(r.r2) * change
        self.n_updates += size > 0
        self.n_mistakes += r.suffered > 0
        self.cumulative_loss += r.suffered
        self.iterates.append((weight, self.theta))

    def mean(self, average):
        """W, b, A, start and end of an average of the iterates, or of the last one."""
        if average is False:
            return self.parts(self.theta)
        return self.parts(np.tensordot(self.shares(average), [theta for _, theta in self.iterates], axes=1))

    def parts(self, theta):
        W, b, A, start, end = np.split(theta, np.cumsum([self.K * self.p, self.K, self.K**2, self.K]))
        return W.reshape(self.K, self.p), b, A.reshape(self.K, self.K), start, end
