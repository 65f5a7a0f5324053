"""The learners of rankings in their simplest form: every ranking of a short list is looked at, every iterate kept.

Rankings are arrays `place`: place[..., i] is the position of item i, from 0.
"""

import functools
import itertools
from types import SimpleNamespace

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import softmax

from reference.learner import Reference

MOST = 6  # items of a list whose rankings are all looked at


@functools.cache
def rankings(m):
    return np.array(list(itertools.permutations(range(m))))


def better(y):
    """Of each pair of items, whether the first is the more relevant one."""
    return y[:, None] > y[None, :]


def average_within_grades(v, y):
    return np.array([v[y == grade].mean() for grade in y])


def exponential(y):
    return 2.0**y - 1


def logarithmic(j):
    return 1 / np.log2(1 + j)


class NDCG:
    def __init__(self, k=None, gain=exponential, discount=logarithmic):
        self.k, self.gain, self.discount = k, gain, discount

    def tables(self, y):
        """Gains of the items over the greatest DCG, and discounts of the positions."""
        D = np.where(np.arange(len(y)) < (self.k or len(y)), self.discount(np.arange(1, len(y) + 1)), 0)
        G = self.gain(y)
        return G / (np.sort(G)[::-1] @ D), D

    def of(self, place, y):
        G, D = self.tables(y)
        return 1 - (G * D[place]).sum(axis=-1)

    def costs(self, y):
        """The loss as a sum over items of [item, position], up to a constant."""
        return -np.multiply.outer(*self.tables(y))

    def weights(self, y):
        """Equation 11 of Chaudhuri and Tewari (2015), at cut-off k, averaged within the grades."""
        G, D = self.tables(y)
        v = np.zeros(len(y))
        order = np.argsort(-y, kind="stable")
        v[order] = G[order] * D
        return average_within_grades(v, y)


class AveragePrecision:
    def of(self, place, y):
        place = place[..., y > 0]
        above = (place[..., None, :] <= place[..., :, None]).sum(axis=-1)
        return 1 - (above / (place + 1)).mean(axis=-1)

    def weights(self, y):
        """Equation 10 of Chaudhuri and Tewari (2015)."""
        return y / y.sum()


class SwappedPairs:
    def of(self, place, y):
        return (place[..., :, None] > place[..., None, :])[..., better(y)].mean(axis=-1)

    def costs(self, y):
        return np.multiply.outer((y == y.max()) / better(y).sum(), np.arange(len(y)))


class ZeroOne:
    """Whether any item is below a less relevant one."""

    def of(self, place, y):
        return (place[..., :, None] > place[..., None, :])[..., better(y)].any(axis=-1).astype(float)


class KendallTau:
    """By pairs, without a representation."""

    def of_scores(self, t, y):
        return (t[:, None] <= t[None, :])[better(y)].mean()

    def hinges(self, t, y):
        return np.maximum(0, 1 - np.subtract.outer(t, t))[better(y)].mean()

    def push(self, active, y):
        """The loss of the competitor and the direction, of the pairs that are active."""
        active = (active & better(y)) / better(y).sum()
        return active.sum(), active.sum(axis=1) - active.sum(axis=0)


def worst_order(t, y):
    """By score; of equal scores the less relevant item first, then the lower index."""
    return np.lexsort((np.arange(len(t)), y, -t))


def places(order):
    place = np.empty(len(order), dtype=int)
    place[order] = np.arange(len(order))
    return place


def right_place(place, y):
    """The ranking sorted again by relevance."""
    order = places(place)
    return places(order[np.argsort(-y[order], kind="stable")])


def unit(f, m):
    value = f(np.arange(1.0, m + 1))
    return value / np.sqrt((value**2).sum())


def diameter2(f, longest, shortest=2):
    """The largest squared distance of two rankings of a list, over lists of these lengths, by trying them all."""
    reps = [unit(f, m) for m in range(shortest, longest + 1)]
    return max(((rep - rep[list(order)]) ** 2).sum() for rep in reps for order in itertools.permutations(range(len(rep))))


def best_interleaving(loss, rep, t, y):
    """The best ranking of two grades: each by score, and how they mix by dynamic programming; for average precision."""
    grades = [sorted(np.flatnonzero(y == grade), key=lambda i: -t[i]) for grade in (y.max(), y.min())]
    P, N = map(len, grades)
    best = {(0, 0): (0.0, ())}
    for n, p in itertools.product(range(N + 1), range(P + 1)):
        x = n + p - 1
        ways = []
        if p > 0:
            value, order = best[n, p - 1]
            ways.append((value + rep[x] * t[grades[0][p - 1]] - p / (P * (x + 1)), (*order, grades[0][p - 1])))
        if n > 0:
            value, order = best[n - 1, p]
            ways.append((value + rep[x] * t[grades[1][n - 1]], (*order, grades[1][n - 1])))
        if ways:
            best[n, p] = max(ways)
    return places(np.array(best[N, P][1]))


def best_exchange(loss, rep, t, y):
    """The best of the order by score and of those with two items exchanged, wherever they are; for the 0-1 loss."""
    found = [worst_order(t, y)]
    for i, j in itertools.combinations(range(len(t)), 2):
        found.append(found[0].copy())
        found[-1][[i, j]] = found[0][[j, i]]
    found = np.array([places(order) for order in found])
    return found[(loss.of(found, y) + rep[found] @ t).argmax()]


def best_ranking(loss, rep, t, y):
    """A ranking of largest L + <rep, t>, and how far ahead of the next it is, if known."""
    if len(t) <= MOST:
        found = rankings(len(t))
        total = loss.of(found, y) + rep[found] @ t
        ahead = np.partition(total, -2)[-2:]
        return found[total.argmax()], ahead[1] - ahead[0]
    if isinstance(loss, ZeroOne):
        return best_exchange(loss, rep, t, y), np.inf
    if not hasattr(loss, "costs"):
        return best_interleaving(loss, rep, t, y), np.inf
    return linear_sum_assignment(np.multiply.outer(t, rep) + loss.costs(y), maximize=True)[1], np.inf


def push(loss, rep, place, t, y):
    """The loss of the competitor and the direction from it to sigma_y; zeros where sigma_y is no worse a competitor."""
    lost, delta = snapped(loss.of(place, y)), rep[right_place(place, y)] - rep[place]
    return (lost, delta) if lost - delta @ t > 0 else (0.0, np.zeros(len(t)))


def snapped(loss):
    return 0.0 if loss < 1e-12 else float(loss)


class RankingReference(Reference):
    """A learner of rankings; the rules are those of the reference learner, and four more.

    loss : one of the classes above.
    f : the representation, a function of the positions 1, 2, ...
    n_labels : number of labels ranked; None stands for the documents of queries, whose rows are X[i].
    """

    PREDICTED, AUGMENTED, OTHER = range(3)

    def __init__(self, loss, f, n_features, rule, parameters, *, n_labels=None, intercept="auto", kappa=1.0, norm=None):
        code = np.zeros((2, n_labels or 1))
        intercept = intercept if n_labels else None
        super().__init__(code, [[0.0, 1.0]], n_features, rule, parameters, intercept=intercept, kappa=kappa, norm=norm)
        self.loss, self.f, self.queries = loss, f, n_labels is None
        self.least_weight = self.ahead = np.inf
        self.D2 = 4.0 if self.queries else diameter2(f, len(self.b), len(self.b))

    def change(self, rule, parameters):
        self.ahead = np.inf
        return super().change(rule, parameters)

    def learn(self, X, y, weight=None):
        weight = np.ones(len(X)) if weight is None else weight
        for x, relevance, w in zip(X, y, weight, strict=True):
            if w > 0:
                self.learn_one(np.asarray(x, dtype=float), np.asarray(relevance, dtype=float), w)
        return self

    def learn_one(self, x, y, weight):
        self.t += 1
        weight = self.relative(weight)
        r = self.look(x, y, weight)
        competitor, size = getattr(self, "_" + self.rule)(r) if len(set(y)) > 1 and self.ready else (self.PREDICTED, 0.0)
        shrinkage, delta, joined = self.shrinkage(), r.delta[competitor], self.norm.joined
        self.Theta = shrinkage * self.Theta + size * self.in_weights(r, delta)
        if joined and not self.queries:
            self.theta_b = shrinkage * self.theta_b + size * np.sqrt(r.r2) * delta
        elif not self.queries:
            self.b = shrinkage * self.b + size * self.along_one(r) * delta
        self.link(r.r2)
        self.n_updates += size > 0
        self.n_mistakes += r.suffered > 0
        self.cumulative_loss += r.suffered
        self.iterates.append((weight, self.W, self.Wb if joined else self.b))

    def in_weights(self, r, delta):
        return (delta @ r.x)[None] if self.queries else np.outer(delta, r.x)

    def look(self, x, y, weight):
        norm2, r2 = self.observe(x)
        t = self.scores_of(x)
        r = SimpleNamespace(x=x, y=y, t=t, weight=weight, norm2=norm2, predicted=self.PREDICTED, augmented=self.AUGMENTED)
        r.r2 = r2
        rows2 = [self.norm.length(row) ** 2 for row in np.atleast_2d(x)] if self.rule == "slam" else [norm2]
        self.R2 = max(self.R2, max(self.joint_radius2(length2, r.r2) for length2 in rows2))
        r.suffered, r.loss, r.delta = 0.0, [0.0, 0.0, 0.0], [np.zeros(len(t))] * 3
        if len(set(y)) > 1:
            self.compete(r)
        return r

    def observe(self, x):
        norm2, r2 = super().observe(np.linalg.norm(x, axis=0) if self.queries else x)
        return norm2, 0.0 if self.queries else r2

    def joint_radius2(self, length2, r2):
        """(q - 1) |x|^2, the intercept's feature being one more entry, or apart."""
        together = self.norm.length(np.sqrt([length2, r2])) ** 2 if self.norm.joined else length2
        return (self.norm.q - 1) * together + (0 if self.norm.joined else r2)

    def scores_of(self, x):
        return x @ self.W[0] if self.queries else self.W @ x + self.b

    def compete(self, r):
        """The loss suffered, and for each kind of competitor its loss and the direction to sigma_y."""
        if isinstance(self.loss, KendallTau):
            lead = np.subtract.outer(r.t, r.t)
            r.suffered = self.loss.of_scores(r.t, r.y)
            pushes = [self.loss.push(active, r.y) for active in (r.t[:, None] <= r.t[None, :], lead < 1)]
        else:
            rep = unit(self.f, len(r.t))
            predicted = places(worst_order(r.t, r.y))
            r.suffered = snapped(self.loss.of(predicted, r.y))
            augmented, ahead = best_ranking(self.loss, rep, r.t, r.y)
            if r.norm2 + r.r2 > 0:  # or no step shows which it was
                self.ahead = min(self.ahead, ahead)
            pushes = [push(self.loss, rep, place, r.t, r.y) for place in (predicted, augmented)]
        r.loss[:2], r.delta[:2] = zip(*pushes, strict=True)

    def gap_and_g2(self, r, competitor):
        delta, convexity = r.delta[competitor], self.norm.curvature if self.rule == "adaptive" else self.norm.q - 1
        if self.queries:
            g2 = convexity * self.norm.length(delta @ r.x) ** 2
        elif self.norm.joined:
            g2 = convexity * (self.norm.of_scores(delta) * self.norm.length(np.append(r.x, np.sqrt(r.r2)))) ** 2
        else:
            g2 = (delta**2).sum() * (convexity * r.norm2 + r.r2)
        return -delta @ r.t, g2

    def eta(self):
        return 1 / np.sqrt(self.t) if self.parameters.eta == "invsqrt" else self.parameters.eta

    def _slam(self, r):
        if r.suffered == 0:
            return self.OTHER, 0.0
        v, order, delta = self.loss.weights(r.y), worst_order(r.t, r.y), np.zeros(len(r.t))
        self.least_weight = min(self.least_weight, v[(v > 0) & (r.y > r.y.min())].min())
        for i in range(len(r.t)):
            lower = [j for j in order if r.y[j] < r.y[i]]
            if lower and 1 + r.t[lower[0]] - r.t[i] > 0:
                delta[i] += v[i]
                delta[lower[0]] -= v[i]
        r.delta[self.OTHER] = delta
        return self.OTHER, r.weight * (
            self.least_weight / ((4 if self.queries else 2) * self.R2) if self.parameters.eta == "theory" else self.eta()
        )

    def _max_pair(self, r):
        r.delta[self.OTHER] = furthest(r.t, r.y)
        return self.OTHER, r.weight * self.eta() * (r.suffered if self.parameters.weighted else r.suffered > 0)

    def _listnet(self, r):
        r.delta[self.OTHER] = softmax(r.y) - softmax(r.t)
        return self.OTHER, r.weight * self.eta()

    def _mmp(self, r):
        E = better(r.y) & (r.t[:, None] <= r.t[None, :])
        if not E.any():
            return self.OTHER, 0.0
        c = {"is_error": 1.0, "error_set": E.sum(), "normalised": E.sum() / better(r.y).sum()}[self.parameters.cost]
        if self.parameters.weights == "max":
            r.delta[self.OTHER] = c * furthest(r.t, r.y)
        else:
            r.delta[self.OTHER] = c * (E.sum(axis=1) - E.sum(axis=0)) / E.sum()
        return self.OTHER, r.weight * self.eta()


def furthest(t, y):
    """e_i - e_j of the pair y_i > y_j with the largest t_j - t_i."""
    ahead = np.where(better(y), t[None, :] - t[:, None], -np.inf)
    i, j = np.unravel_index(ahead.argmax(), ahead.shape)
    return np.eye(len(t))[i] - np.eye(len(t))[j]
