"""
Who sits where: train a matching
================================

A prediction may be anything that a search can find.  Here guests are matched with seats.  The features say how well a
guest and a seat fit, and the Hungarian method finds the best matching.  The weights of the features are trained.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.linear_model import LogisticRegression

from sklearn_predtron import JointProblem, Predtron


class Matching(JointProblem):
    """Match m rows with m columns; x has a vector of features for each pair."""

    def __init__(self, n_features=10):
        self.n_features = n_features

    def features(self, x, match):
        return x[np.arange(len(x)), match].sum(axis=0)

    def decode(self, w, x):
        return linear_sum_assignment(x @ w, maximize=True)[1]

    def augmented_decode(self, w, x, y):
        wrong = np.arange(len(x)) != y[:, None]
        return linear_sum_assignment(x @ w + wrong / len(x), maximize=True)[1]

    def loss(self, match, y):
        return np.mean(match != y)


rng = np.random.default_rng(0)
truth = rng.standard_normal(10)
X = [rng.standard_normal((m, m, 10)) for m in rng.integers(3, 9, size=400)]
y = [linear_sum_assignment(x @ truth + 0.5 * rng.standard_normal(x.shape[:2]), maximize=True)[1] for x in X]

# %%
# The peer classifies each pair alone as matched or not, and passes its scores to the same search.


def pairs(tables, matches):
    rows = np.concatenate([x.reshape(-1, 10) for x in tables])
    return rows, np.concatenate(
        [(np.arange(len(x)) == match[:, None]).ravel() for x, match in zip(tables, matches, strict=True)]
    )


sizes, problem = [5, 10, 25, 50, 100, 200], Matching()
curves = {"Predtron(Matching())": [], "LogisticRegression of pairs": []}
for n in sizes:
    weights = (
        Predtron(problem, random_state=0).fit(X[:n], y[:n]).coef_,
        LogisticRegression().fit(*pairs(X[:n], y[:n])).coef_[0],
    )
    for curve, w in zip(curves.values(), weights, strict=True):
        curve.append(
            np.mean(
                [problem.loss(problem.decode(w, x), match) for x, match in zip(X[200:], y[200:], strict=True)]
            )
        )
chance = np.mean([1 / len(x) for x in X[200:]])
figure, ax = plt.subplots(layout="constrained")
for name, curve in curves.items():
    print(f"{name:28}", *(f"{n}: {loss:.3f} " for n, loss in zip(sizes, curve, strict=True)))
    ax.plot(sizes, curve, "o-", label=name)
print(f"a random matching            {1 - chance:.3f}")
ax.set(
    xscale="log", xlabel="training tables", ylabel="guests in the wrong seat", title="Two hundred new tables"
)
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend()
plt.show()
