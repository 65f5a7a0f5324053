"""Sets of labels in their simplest form: losses by counts, every set listed, and a learner over the list."""

import numpy as np

from reference.learner import Reference
from sklearn_predtron.losses import (
    AtK,
    BalancedError,
    CountLoss,
    ErrorSetSize,
    FBeta,
    GMean,
    Hamming,
    Jaccard,
    PrecisionAtK,
    RecallAtK,
    SubsetZeroOne,
)


def quotient(part, whole):
    """0 / 0 is 1."""
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), 1.0)


def f_loss(beta):
    return lambda a, b, c, d: 1 - quotient((1 + beta**2) * a, (1 + beta**2) * a + b + beta**2 * c)


def asymmetric(a, b, c, d):
    return (3.0 * b + c) / (1 + a + b + c + d)


def wavy(a, b, c, d):
    """Neither monotone nor positive at every mistake."""
    return ((2 * b + 3 * c) % 5) / 4


FORMULAS = [
    (Hamming(), lambda a, b, c, d: (b + c) / (a + b + c + d)),
    (SubsetZeroOne(), lambda a, b, c, d: 1.0 * (b + c > 0)),
    (ErrorSetSize(), lambda a, b, c, d: np.where((a + c) * (b + d) > 0, b * c / np.maximum((a + c) * (b + d), 1), 0)),
    (FBeta(), f_loss(1)),
    (FBeta(beta=0.5), f_loss(0.5)),
    (FBeta(beta=2), f_loss(2)),
    (Jaccard(), lambda a, b, c, d: 1 - quotient(a, a + b + c)),
    (BalancedError(), lambda a, b, c, d: (2 - quotient(a, a + c) - quotient(d, b + d)) / (1 + ((a + c > 0) & (b + d > 0)))),
    (GMean(), lambda a, b, c, d: 1 - np.sqrt(quotient(a, a + c) * quotient(d, b + d))),
    *((PrecisionAtK(k=k), lambda a, b, c, d: b / (a + b)) for k in (1, 2, 4, 0.6)),
    *((RecallAtK(k=k), lambda a, b, c, d: 1 - quotient(a, a + c)) for k in (1, 3)),
    *((PrecisionAtK(k=k, rule="at_least"), lambda a, b, c, d: b / (a + b)) for k in (1, 2, 4)),
    *((RecallAtK(k=k, rule="at_most"), lambda a, b, c, d: 1 - quotient(a, a + c)) for k in (1, 3, 0.4)),
    (CountLoss(asymmetric), asymmetric),
    (CountLoss(wavy), wavy),
]


def counts_of(sigma, y):
    """a, b, c, d of sets and labels, the last axis being the labels."""
    a, on, true = (rows.sum(axis=-1) for rows in (sigma & y, sigma & np.ones_like(y), np.ones_like(sigma) & y))
    return a, on - a, true - a, sigma.shape[-1] - on - true + a


def all_sets(m, loss=None):
    """Every set that may be predicted, one in a row."""
    sets = (np.arange(2**m)[:, None] >> np.arange(m)) & 1
    return sets[allowed(loss, sets.sum(axis=1), m)] if isinstance(loss, AtK) else sets


def allowed(loss, n_predicted, m):
    """Whether sets of so many of m labels may be predicted, of a loss at k."""
    k = loss.k if loss.k >= 1 else max(1, round(loss.k * m))
    return {"exactly": n_predicted == k, "at_least": n_predicted >= k, "at_most": n_predicted <= k}[loss.rule]


class SetReference(Reference):
    """The reference over all sets of m labels; sigma_y is y, or the best of those that lose least.

    loss, formula : the loss of the package, which says which sets may be predicted, and its formula.
    bounds : c_L and C_L where they are stated, not found by enumeration.
    """

    def __init__(self, m, n_features, rule, parameters, *, loss, formula, **settings):
        self.m = m
        self.tabulate(loss, formula)
        super().__init__(self.code, self.cost, n_features, rule, parameters, **settings)

    def tabulate(self, loss, formula):
        sets, labels = all_sets(self.m, loss), all_sets(self.m)
        costs = formula(*counts_of(sets[None], labels[:, None]))
        self.least = costs.min(axis=1)
        self.code, self.cost = (2 * sets - 1) / np.sqrt(self.m), costs - self.least[:, None]
        self.fixed = not isinstance(loss, AtK)  # whether sigma_y is y

    def set_loss(self, loss, formula, bounds=None):
        """Go on with another loss."""
        self.tabulate(loss, formula)
        self.c_L, self.C_L = bounds or (self.cost[self.cost > 1e-12].min(), self.cost.max())

    def learn(self, X, y, weight=None):
        return super().learn(X, self.numbers(np.asarray(y)), weight)

    def right_of(self, label, score):
        free = np.flatnonzero(self.cost[label] < 1e-12)
        itself = free[self.numbers(self.code[free] > 0) == label]
        self.cumulative_loss += self.least[label]
        return int(itself[0] if self.fixed else free[score[free].argmax()])

    def numbers(self, sets):
        """The number of each set among all."""
        return sets.astype(int) @ (1 << np.arange(self.m))
