"""
All classes at once, or one against the rest
============================================

Seven classes lie in a row.  No line separates a middle class from all others, so one-against-the-rest fails with any
linear classifier (Shalev-Shwartz and Ben-David 2014, Example 17.1).  Scored together, all classes are found.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsRestClassifier

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier

rng = np.random.default_rng(0)
centre = np.column_stack([np.arange(-12.0, 13, 4), np.zeros(7)])
y = rng.integers(7, size=600)
inside = rng.standard_normal((600, 2))
inside *= (rng.random(600) ** 0.5 / np.linalg.norm(inside, axis=1))[:, None]
X = centre[y] + inside

learners = {
    "PredtronClassifier": PredtronClassifier(random_state=0),
    "OneVsRest(PredtronBinaryClassifier)": OneVsRestClassifier(PredtronBinaryClassifier(random_state=0)),
    "SGDClassifier, one against the rest": SGDClassifier(random_state=0),
}
grid = np.meshgrid(np.linspace(-14, 14, 281), np.linspace(-2, 2, 81))
points = np.column_stack([axis.ravel() for axis in grid])
colours = {"cmap": "tab10", "vmin": 0, "vmax": 9}
figure, axes = plt.subplots(3, figsize=(7, 6), sharex=True, layout="constrained")
for ax, (name, learner) in zip(axes, learners.items(), strict=True):
    accuracy = learner.fit(X, y).score(X, y)
    print(f"{name:36} accuracy {accuracy:.3f}")
    ax.pcolormesh(*grid, learner.predict(points).reshape(grid[0].shape), alpha=0.3, **colours)
    ax.scatter(*X.T, c=y, s=6, **colours)
    ax.set_title(f"{name}: accuracy {accuracy:.2f}")
plt.show()
