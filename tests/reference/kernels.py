"""Kernels as explicit features, and a kernel expansion within a budget, in plain NumPy."""

import numpy as np


def features(K):
    """Rows whose products are K: with them a learner in the kernel's space is one of vectors."""
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-13 * values.max()
    return vectors[:, kept] * np.sqrt(values[kept])


class Budgeted:
    """A multiclass perceptron without an intercept, with one-hot codes and uniform averages, of at most `budget` rows.

    coefficients (n, d) and total (n, d) hold the iterate and the sum of the iterates; places are reused.
    """

    def __init__(self, kernel, d, budget):
        self.kernel, self.d, self.budget = kernel, d, budget
        self.rows, self.numbers = [], []
        self.coefficients, self.total = np.zeros((budget, d)), np.zeros((budget, d))
        self.weight, self.lost, self.given = 0.0, 0.0, []

    def scores(self, x, coefficients):
        return sum((self.kernel(x, row) * coefficients[s] for s, row in enumerate(self.rows)), np.zeros(self.d))

    def learn(self, X, y, weight, numbers):
        for x, label, w, number in zip(X, y, weight, numbers, strict=True):
            self.given.append(w)
            w /= np.mean(self.given)
            t = self.scores(x, self.coefficients)
            best = np.flatnonzero(t == t.max())
            if set(best) != {label}:
                competitor = best[best != label][0]
                self.coefficients[self.place(x, number)] += w * (np.eye(self.d)[label] - np.eye(self.d)[competitor])
            self.weight += w
            self.total += w * self.coefficients
        return self

    def place(self, x, number):
        if number in self.numbers:
            return self.numbers.index(number)
        if len(self.rows) < self.budget:
            self.rows.append(x)
            self.numbers.append(number)
            return len(self.rows) - 1
        place = self.cut()
        self.rows[place], self.numbers[place] = x, number
        return place

    def cut(self):
        K = np.array([[self.kernel(a, b) for b in self.rows] for a in self.rows])
        along = K**2 / np.diag(K)
        np.fill_diagonal(along, -np.inf)
        left = np.maximum(np.diag(K) - along.max(axis=1, initial=0), 0) * (self.coefficients**2).sum(axis=1)
        place = int(left.argmin())
        other = int(along[place].argmax())
        for sums in (self.coefficients, self.total):
            if len(self.rows) > 1:
                sums[other] += sums[place] * K[place, other] / K[other, other]
            sums[place] = 0
        self.lost += np.sqrt(left[place])
        return place
