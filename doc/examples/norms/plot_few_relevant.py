"""
Few relevant features among many
================================

Three features are relevant, and the number of others grows.  Under the Euclidean norm each of them adds mistakes.
Under ``norm="l1"`` the bound and the measured loss grow only with the logarithm of their number.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression, SGDClassifier

from sklearn_predtron import PredtronBinaryClassifier

rng = np.random.default_rng(0)
sizes = [10, 30, 100, 300, 1000, 3000]
learners = {
    'norm="l1"': PredtronBinaryClassifier(norm="l1", random_state=0),
    'norm="l2"': PredtronBinaryClassifier(norm="l2", random_state=0),
    "SGDClassifier, l1": SGDClassifier(penalty="l1", alpha=0.003, average=True, random_state=0),
    "LogisticRegression": LogisticRegression(),
}
errors = {name: [] for name in learners}
print("features", *(f"{name:>18}" for name in learners))
for size in sizes:
    X = rng.choice([-1.0, 1.0], (2400, size))
    y = (X[:, :3].sum(axis=1) > 0).astype(int)
    for name, learner in learners.items():
        errors[name].append(1 - learner.fit(X[:400], y[:400]).score(X[400:], y[400:]))
    print(f"{size:8}", *(f"{values[-1]:18.3f}" for values in errors.values()))

figure, ax = plt.subplots(layout="constrained")
for name, values in errors.items():
    ax.plot(sizes, values, "o-", label=name)
ax.set(
    xscale="log",
    xlabel="features, three of them relevant",
    ylabel="error on new rows",
    title="400 training rows",
)
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend()
plt.show()
