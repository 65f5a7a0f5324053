"""
Curved boundaries, within a budget
==================================

With a kernel the weights are a sum over training rows, and boundaries are curved.  A budget limits the number of rows
that are kept, and so time and memory.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from sklearn_predtron import PredtronBinaryClassifier
from sklearn_predtron.norms import RKHS

X, y = make_moons(1200, noise=0.25, random_state=0)
train, test = slice(0, 600), slice(600, None)
learners = {
    "linear": PredtronBinaryClassifier(random_state=0),
    "RKHS": PredtronBinaryClassifier(norm=RKHS("rbf", gamma=2.0), random_state=0),
    "RKHS, budget of 30": PredtronBinaryClassifier(norm=RKHS("rbf", gamma=2.0, budget=30), random_state=0),
    "SVC": SVC(gamma=2.0),
}
grid = np.meshgrid(np.linspace(-1.8, 2.8, 150), np.linspace(-1.4, 1.9, 110))
points = np.column_stack([axis.ravel() for axis in grid])
figure, axes = plt.subplots(2, 2, figsize=(8, 6), layout="constrained")
for ax, (name, learner) in zip(axes.flat, learners.items(), strict=True):
    accuracy = learner.fit(X[train], y[train]).score(X[test], y[test])
    support = learner.support_ if name != "linear" else []
    print(f"{name:19} accuracy {accuracy:.3f}, rows kept {len(support)}")
    scores = learner.decision_function(points).reshape(grid[0].shape)
    ax.contourf(*grid, scores > 0, levels=[-0.5, 0.5, 1.5], colors=["C0", "C1"], alpha=0.25)
    ax.scatter(*X[train].T, c=np.array(["C0", "C1"])[y[train]], s=6)
    ax.scatter(*X[train][support].T, s=24, facecolors="none", edgecolors="black", linewidths=0.7)
    ax.set_title(f"{name}: {accuracy:.3f}")
figure.suptitle("Kept rows have a ring")
plt.show()
