"""The label ranker by votes in its simplest form: a binary learner for each pair of labels, all with the same rule."""

import itertools
from types import SimpleNamespace

import numpy as np

from reference.learner import Reference


class PreferencesReference(Reference):
    """A learner of rankings of m labels, with a score for each pair; the rules are those of the reference learner."""

    def __init__(self, m, n_features, rule, parameters, *, intercept="auto", norm=None):
        super().__init__([[-1.0], [1.0]], [[0.0, 1.0], [1.0, 0.0]], n_features, rule, parameters, intercept=intercept, norm=norm)
        self.m, self.pairs = m, list(itertools.combinations(range(m), 2))
        self.W, self.b = np.zeros((len(self.pairs), n_features)), np.zeros(len(self.pairs))
        self.Theta, self.theta_b = self.W, self.b
        self.caps = [(0.0, 0)] * len(self.pairs)  # what the rule has learned of each pair

    def change(self, rule, parameters):
        if rule != self.rule:
            self.caps = [(0.0, 0)] * len(self.pairs)
        return super().change(rule, parameters)

    def learn_one(self, x, y, weight):
        self.t += 1
        weight = self.relative(weight)
        norm2, r2 = self.observe(x)
        self.R2 = max(self.R2, self.squared_radius(x, norm2, r2))
        t, change = self.scores_of(x), np.zeros(len(self.pairs))
        for k, (i, j) in enumerate(self.pairs):
            if y[i] != y[j]:
                r = self.round_of_pair(t[k], int(y[i] > y[j]), norm2=norm2, r2=r2, weight=weight, x=x)
                self.log_cap, self.n_cap = self.caps[k]
                competitor, size = getattr(self, "_" + self.rule)(r)
                self.caps[k] = self.log_cap, self.n_cap
                change[k] = size * (self.code[r.right] - self.code[competitor])[0]
        shrinkage = self.shrinkage()
        self.Theta = shrinkage * self.Theta + np.outer(change, x)
        if self.norm.joined:
            self.theta_b = shrinkage * self.theta_b + np.sqrt(r2) * change
        else:
            self.b = shrinkage * self.b + r2 * change
        self.link(r2)
        suffered = self.loss_of(t, y)
        self.n_updates += change.any()
        self.n_mistakes += suffered > 0
        self.cumulative_loss += suffered
        self.iterates.append((weight, self.W, self.Wb if self.norm.joined else self.b))

    def round_of_pair(self, t, right, **row):
        score, loss = np.array([-t, t]), 1.0 - np.eye(2)[right]
        suffered = float(score[right] <= score[1 - right])
        augmented = 1 - right if score[1 - right] + 1 > score[right] else right
        found = {"score": score, "loss": loss, "right": right, "suffered": suffered, "augmented": augmented}
        return SimpleNamespace(**found, predicted=1 - right if suffered else right, **row)

    def loss_of(self, t, y):
        """The share of pairs of different relevance that the votes have not in the right order."""
        votes = votes_of(t, self.m)
        wrong = [votes[i] <= votes[j] for i, j in itertools.permutations(range(self.m), 2) if y[i] > y[j]]
        return np.mean(wrong) if wrong else 0.0


def votes_of(t, m):
    """Of each label the number of pairs that it wins, and the sum of its scores: tuples are compared in this order."""
    wins, total = np.zeros(m, dtype=int), np.zeros(m)
    for score, (i, j) in zip(t, itertools.combinations(range(m), 2), strict=True):
        wins[i] += score > 0
        wins[j] += score < 0
        total[i] += score
        total[j] -= score
    return list(zip(wins.tolist(), total.tolist(), strict=True))
