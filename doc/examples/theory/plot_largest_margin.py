"""
The largest margin
==================

A mistake-driven model stops updating when it makes no mistakes with some margin, which is not the largest one.
`largest_margin` finds the largest margin, with a certificate.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import LinearSVC

from sklearn_predtron import PredtronBinaryClassifier
from sklearn_predtron.theory import largest_margin

rng = np.random.default_rng(1)
X = rng.uniform(-1, 1, (300, 2))
w = np.array([0.6, 0.8])
X = X[np.abs(X @ w) > 0.12]
y = (X @ w > 0).astype(int)

# %%
# The margin is that of weights of length 1.  A support vector machine with a large `C` also finds the largest one.

common = {"features": None, "norm": "l2", "fit_intercept": False, "random_state": 0}
learners = {
    'update="perceptron"': PredtronBinaryClassifier(update="perceptron", **common),
    'update="adaptive"': PredtronBinaryClassifier(**common),
    "LinearSVC(C=1e4)": LinearSVC(C=1e4, fit_intercept=False, random_state=0, max_iter=100_000),
}
found = largest_margin(learners['update="adaptive"'], X, y)
directions = {"largest_margin": found.coef.ravel()}
for name, learner in learners.items():
    directions[name] = (
        learner.fit(X, y).coef_[-1] if name.startswith("update") else learner.fit(X, y).coef_[0]
    )
figure, ax = plt.subplots(layout="constrained")
ax.scatter(*X.T, c=np.array(["C0", "C1"])[y], s=10)
for i, (name, direction) in enumerate(directions.items()):
    unit = direction / np.linalg.norm(direction)
    margin = ((2 * y - 1) * (X @ unit)).min()
    print(f"{name:20} has margin {margin:.4f}")
    style = {"color": f"C{i + 2}", "linestyle": ["-", "--", "-.", ":"][i]}
    ax.axline((0, 0), (-unit[1], unit[0]), label=f"{name}: {margin:.3f}", **style)
ax.set(xlim=(-1, 1), ylim=(-1, 1), aspect="equal", title="Boundaries and margins")
ax.legend(loc="lower left")
plt.show()
