"""The learner in its simplest form, with which the compiled core must agree: explicit tables, every iterate kept."""

from types import SimpleNamespace

import numpy as np
from sklearn.isotonic import isotonic_regression

from reference.norms import Euclidean


def geometric_mean(logs):
    """The mean of numbers with these logarithms; from 1024 on, of those up to the last multiple of a growing power of two."""
    stride = 2 ** max(0, len(logs).bit_length() - 10)
    return np.exp(np.mean(logs[: len(logs) // stride * stride]))


class Reference:
    """A learner over a table of predictions.

    code : (k, d) array, row sigma is rep(sigma).
    cost : (l, k) array, L(sigma, y) at [y, sigma].
    rule, parameters : the update's alias and its parameters.
    intercept : "auto", the length of the virtual feature, or None.
    shared : whether all rows of W are one direction, with ordered offsets.
    norm : what W is of the dual weights, to which steps are added (reference.norms).
    """

    ready = True  # whether steps may be taken
    since = 0  # rounds before the average began

    def __init__(self, code, cost, n_features, rule, parameters, *, intercept="auto", kappa=1.0, shared=False, norm=None):
        self.code, self.cost = np.asarray(code, dtype=float), np.asarray(cost, dtype=float)
        self.right = [y if y < len(row) and row[y] == 0 else int(row.argmin()) for y, row in enumerate(self.cost)]
        self.c_L, self.C_L = self.cost[self.cost > 0].min(), self.cost.max()
        self.D2 = max(((a - b) ** 2).sum() for a in self.code for b in self.code)
        self.rule, self.parameters, self.intercept, self.kappa = rule, SimpleNamespace(**parameters), intercept, kappa
        self.shared, self.norm = shared, Euclidean() if norm is None else norm
        self.W, self.b = np.zeros((self.code.shape[1], n_features)), np.zeros(self.code.shape[1])
        self.Theta, self.theta_b = self.W, self.b  # dual weights, and those of the intercept's feature
        self.iterates, self.log_norms, self.log_cap, self.n_cap = [], [], 0.0, 0
        self.t = self.n_mistakes = self.n_updates = self.cumulative_loss = self.R2 = self.mean_weight = 0

    def change(self, rule, parameters):
        """Go on with another update; another rule begins without what the one before has learned."""
        if rule != self.rule:
            self.log_cap, self.n_cap = 0.0, 0
        self.rule, self.parameters = rule, SimpleNamespace(**parameters)
        return self

    def learn(self, X, y, weight=None):
        weight = np.ones(len(X)) if weight is None else weight
        for x, label, w in zip(np.asarray(X, dtype=float), y, weight, strict=True):
            if w > 0:
                self.learn_one(x, label, w)
        return self

    def relative(self, weight):
        """The weight of the present round relative to the mean of those so far."""
        self.mean_weight += (weight - self.mean_weight) / self.t
        return weight / self.mean_weight

    def learn_one(self, x, label, weight):
        self.t += 1
        weight = self.relative(weight)
        r = self.look(x, label, weight)
        competitor, size = getattr(self, "_" + self.rule)(r) if self.ready else (r.predicted, 0.0)
        shrinkage = self.shrinkage()
        delta = self.code[r.right] - self.code[competitor]
        self.taken = shrinkage, size * self.along(delta)
        self.Theta = shrinkage * self.Theta + np.outer(self.taken[1], x)
        if self.norm.joined and not self.shared:
            self.theta_b = shrinkage * self.theta_b + size * np.sqrt(r.r2) * delta
        else:
            self.b = shrinkage * self.b + size * self.along_one(r) * delta
        if self.shared:
            self.b = isotonic_regression(self.b, increasing=False)
        self.link(r.r2)
        self.n_updates += size > 0
        self.n_mistakes += r.suffered > 0
        self.cumulative_loss += r.suffered
        self.iterates.append((weight, self.W, self.Wb if self.norm.joined and not self.shared else self.b))

    def link(self, r2):
        """W, b of the dual weights; the intercept's feature has the length sqrt(r2) now."""
        if self.shared:
            self.W = np.repeat(self.norm.link(self.Theta[:1]), len(self.Theta), axis=0)
        elif self.norm.joined:
            whole = self.norm.link(np.column_stack([self.Theta, self.theta_b]))
            self.W, self.Wb = whole[:, :-1], whole[:, -1]
            self.b = np.sqrt(r2) * self.Wb
        else:
            self.W = self.norm.link(self.Theta)

    def look(self, x, label, weight):
        """What the present weights make of a row, and what the row adds to the running statistics."""
        norm2, r2 = self.observe(x)
        loss, score = self.cost[label], self.code @ self.scores_of(x)
        best, right = score == score.max(), self.right_of(label, score)
        suffered = loss[best].max()  # the worst maximiser counts
        predicted = int(np.flatnonzero(best & (loss == suffered))[0])
        total = score + loss
        augmented = right if total[right] == total.max() else int(total.argmax())
        self.R2 = max(self.R2, self.squared_radius(x, norm2, r2))
        found = {"score": score, "loss": loss, "right": right, "suffered": suffered, "predicted": predicted}
        return SimpleNamespace(**found, augmented=augmented, norm2=norm2, r2=r2, weight=weight, x=x)

    def right_of(self, label, score):
        """The number of the right prediction."""
        return self.right[label]

    def squared_radius(self, x, norm2, r2):
        if self.shared:
            return len(self.b) * (self.norm.q - 1) * norm2 + r2
        if self.norm.joined:
            return (self.norm.q - 1) * self.norm.length(np.append(x, np.sqrt(r2))) ** 2
        return (self.norm.q - 1) * norm2 + r2

    def observe(self, x):
        """The squared lengths of a row and of the intercept's feature."""
        norm2 = self.norm.length(x) ** 2
        if norm2 > 0:
            self.log_norms.append(np.log(norm2))
        return norm2, self.squared_intercept_feature()

    def scores_of(self, x):
        return (self.W * x).sum(axis=1) + self.b

    def along_one(self, r):
        """The intercept's share of a step."""
        return r.r2

    def along(self, delta):
        """What a change of the scores by delta asks of each row of W."""
        return np.full(len(delta), delta.sum()) if self.shared else delta

    def squared_intercept_feature(self):
        if self.intercept is None:
            return 0.0
        if self.intercept == "auto":
            return geometric_mean(self.log_norms) if self.log_norms else 1.0
        return self.intercept**2

    def gap_and_g2(self, r, competitor):
        delta = self.code[competitor] - self.code[r.right]
        gap = r.score[competitor] - r.score[r.right]
        convexity = self.norm.curvature if self.rule == "adaptive" else self.norm.q - 1
        if self.shared:
            return gap, convexity * delta.sum() ** 2 * r.norm2 + (delta**2).sum() * r.r2
        if self.norm.joined:
            length2 = self.norm.length(np.append(r.x, np.sqrt(r.r2))) ** 2
            return gap, convexity * self.norm.of_scores(delta) ** 2 * length2
        return gap, (delta**2).sum() * (convexity * r.norm2 + r.r2)

    # Every rule returns the competitor and the step, 0 for none.

    def _adaptive(self, r):
        kappa = self.kappa if self.parameters.kappa is None else self.parameters.kappa
        competitor, loss = r.augmented, r.loss[r.augmented]
        gap, g2 = self.gap_and_g2(r, competitor)
        if not loss + gap > 1e-12 * (loss + abs(gap)) or g2 == 0:
            return competitor, 0.0
        if loss > 0:
            self.log_cap, self.n_cap = self.log_cap + np.log(loss / g2), self.n_cap + 1
        cap = r.weight * kappa * np.exp(self.log_cap / self.n_cap) if self.n_cap else np.inf
        return competitor, min(cap, (loss + gap) / g2)

    def _predtron(self, r):
        eta = self.c_L / (self.D2 * self.R2) if self.parameters.eta == "theory" else self.parameters.eta
        return r.augmented, r.weight * eta * (r.suffered > 0)

    def _loss_driven(self, r):
        eta = 1 / (self.D2 * self.C_L * self.R2) if self.parameters.eta == "theory" else self.parameters.eta
        return r.predicted, r.weight * eta * r.suffered

    def _perceptron(self, r):
        return r.predicted, r.weight * self.parameters.eta * (r.suffered > 0)

    def _passive_aggressive(self, r):
        q = self.parameters
        competitor = r.predicted if q.competitor == "predicted" else r.augmented
        gap, g2 = self.gap_and_g2(r, competitor)
        hinge = q.delta * (1.0 if q.target == "constant" else r.loss[competitor]) + gap
        if hinge <= 1e-12 * (r.loss[competitor] + abs(gap)) or g2 == 0 or (q.competitor == "predicted" and r.suffered == 0):
            return competitor, 0.0
        if q.variant == "pa2":
            return competitor, hinge / (g2 + 1 / (2 * q.C * r.weight))
        return competitor, min(q.C * r.weight if q.variant == "pa1" else np.inf, hinge / g2)

    def _subgradient(self, r):
        gap, _ = self.gap_and_g2(r, r.augmented)
        loss = r.loss[r.augmented]
        return r.augmented, r.weight * self.rate() * (loss + gap > 1e-12 * (loss + abs(gap)))

    def rate(self):
        return 1 / (self.parameters.alpha * self.t) if self.parameters.eta == "pegasos" else self.parameters.eta

    def shrinkage(self):
        return 1 - self.parameters.alpha * self.rate() if self.rule == "subgradient" else 1.0

    def shares(self, average):
        """The weights of the iterates in an average: "linear", "uniform" or a half-life."""
        t = np.arange(1, self.t + 1)
        forms = {"linear": lambda: t, "uniform": lambda: np.ones(self.t)}
        share = forms.get(average, lambda: 0.5 ** ((self.t - t) / average))() * [weight for weight, *_ in self.iterates]
        share = np.where(t > self.since, share, 0)
        return share / share.sum()

    def mean(self, average):
        """Weights and offsets averaged over the iterates after each round, or the last ones if False."""
        if average is False:
            return self.W, self.b
        W, b = (np.tensordot(self.shares(average), [iterate[i] for iterate in self.iterates], axes=1) for i in (1, 2))
        return W, np.sqrt(self.squared_intercept_feature()) * b if self.norm.joined and not self.shared else b
