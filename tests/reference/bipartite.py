"""Measures of a batch in plain NumPy: the loss-augmented competitor by all counts, and a learner."""

import numpy as np

from reference.learner import geometric_mean


def ratio(part, whole):
    """0 / 0 is 1."""
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), 1.0)


def losses_of(name, P, N, k=None, beta2=1.0):
    """L as a function of arrays a and b, and which of them are predictions."""
    every = lambda a, b: np.ones(np.broadcast(a, b).shape, bool)  # noqa: E731
    table = {
        "hamming": (lambda a, b: (b + P - a) / (P + N), every),
        "subset_zero_one": (lambda a, b: 1.0 * ((b + P - a) > 0), every),
        "error_set_size": (lambda a, b: b * (P - a) / max(P * N, 1), every),
        "balanced": (lambda a, b: ((1 - ratio(a, P)) + (1 - ratio(N - b, N))) / (int(P > 0) + int(N > 0)), every),
        "f": (lambda a, b: 1 - ratio((1 + beta2) * a, a + b + beta2 * P), every),
        "jaccard": (lambda a, b: 1 - ratio(a, P + b), every),
        "g_mean": (lambda a, b: 1 - np.sqrt(ratio(a, P) * ratio(N - b, N)), every),
        "costs": (lambda a, b: (b + 3 * (P - a)) / (P + N), every),
        "precision_at_k": (lambda a, b: 1 - ratio(a, a + b), lambda a, b: a + b == k),
        "recall_at_k": (lambda a, b: 1 - ratio(a, P), lambda a, b: a + b == k),
        "precision_at_least_k": (lambda a, b: 1 - ratio(a, a + b), lambda a, b: a + b >= k),
        "recall_at_most_k": (lambda a, b: 1 - ratio(a, P), lambda a, b: a + b <= k),
        "break_even": (lambda a, b: 1 - ratio(a, P), lambda a, b: a + b == P),
    }
    return table[name]


def class_weights(y, balance):
    """The coordinates of rep(v), for a positive row and for another."""
    m, P = len(y), int(np.sum(y))
    if balance == 0 or not 0 < P < m:
        return 1 / np.sqrt(m), 1 / np.sqrt(m)
    return (m / (2 * P)) ** balance / np.sqrt(m), (m / (2 * (m - P))) ** balance / np.sqrt(m)


def by_counts(name, t, y, k=None, beta2=1.0, balance=0.0):
    """Of each number of hits and alarms: L above the least, the score above sigma_y's, and whether it is a prediction."""
    s_pos, s_neg = class_weights(y, balance)
    p, n = np.sort(2 * s_pos * t[y == 1])[::-1], np.sort(2 * s_neg * t[y == 0])[::-1]
    P, N = len(p), len(n)
    delta, allowed = losses_of(name, P, N, k, beta2)
    a, b = np.arange(P + 1)[:, None], np.arange(N + 1)[None, :]
    inside = allowed(a, b)
    with np.errstate(all="ignore"):
        cost = np.where(inside, np.broadcast_to(delta(a.astype(float), b.astype(float)), inside.shape), np.nan)
    least = np.nanmin(cost)
    score = np.r_[0, np.cumsum(p)][:, None] + np.r_[0, np.cumsum(n)]
    at_k = name.startswith(("precision", "recall"))
    right = inside & (cost <= least + 1e-12) if at_k else (a == P) & (b == 0)
    return cost - least, score - np.where(right, score, -np.inf).max(), inside, least


def competitor_change(name, t, y, **how):
    """rep(competitor) - rep(sigma_y), L above the least, and their sum with the scores."""
    cost, score, inside, _ = by_counts(name, t, y, **how)
    a, b = np.unravel_index(int(np.where(inside, cost + score, -np.inf).argmax()), cost.shape)
    pos, neg = (np.flatnonzero(y == on) for on in (1, 0))
    pos, neg = pos[np.argsort(-t[pos], kind="stable")], neg[np.argsort(-t[neg], kind="stable")]
    s_pos, s_neg = class_weights(y, how.get("balance", 0.0))
    g = np.zeros(len(t))
    g[pos[a:]] -= 2 * s_pos
    g[neg[:b]] += 2 * s_neg
    return g, cost[a, b], cost[a, b] + score[a, b]


class BatchLearner:
    """A batch a round, where all labelings may be predicted; adaptive update, linear average, an intercept of its own length."""

    def __init__(self, p, loss="f", beta2=1.0, kappa=1.0, balance=0.5):
        self.how = {"beta2": beta2, "balance": balance}
        self.loss, self.kappa = loss, kappa
        self.w, self.b, self.w_sum, self.b_sum, self.mass = np.zeros(p), 0.0, np.zeros(p), 0.0, 0.0
        self.t = self.n_mistakes = self.n_updates = self.capped = 0
        self.log_norms = []
        self.log_cap = self.cumulative_loss = 0.0

    def learn(self, X, y):
        """Take one batch."""
        self.t += 1
        t = X @ self.w + self.b
        norms = (X * X).sum(axis=1)
        self.log_norms.extend(np.log(norms[norms > 0]))
        r2 = geometric_mean(self.log_norms) if self.log_norms else 0.0
        g, L, h = competitor_change(self.loss, t, y, **self.how)
        cost, score, inside, _ = by_counts(self.loss, t, y, **self.how)
        suffered = cost[inside & (score >= score[inside].max() - 1e-12)].max()
        self.cumulative_loss += suffered
        self.n_mistakes += suffered > 0
        z = X.T @ g
        g2 = z @ z + r2 * g.sum() ** 2
        if h > 1e-12 and g2 > 0:
            if L > 0:
                self.log_cap += np.log(L / g2)
                self.capped += 1
            tau = min(self.kappa * np.exp(self.log_cap / self.capped) if self.capped else np.inf, h / g2)
            self.w = self.w - tau * z
            self.b -= tau * r2 * g.sum()
            self.n_updates += 1
        self.w_sum, self.b_sum, self.mass = self.w_sum + self.t * self.w, self.b_sum + self.t * self.b, self.mass + self.t
        return self

    @property
    def W(self):
        return self.w

    def mean(self, average="linear"):
        """The linear average."""
        return self.w_sum / self.mass, self.b_sum / self.mass
