"""
Raw features in a stream
========================

The mean and the variance of a stream are known only when it ends.  ``norm="scaled"``, the default for dense rows,
updates them, and trains as if they had been known from the start.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronBinaryClassifier

X, y = load_breast_cancer(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
X, y = X[order], y[order]
print(
    f"the standard deviations of the features lie between {X.std(axis=0).min():.4f} and {X.std(axis=0).max():.0f}"
)


def mistakes(model, X):
    """Predict each row before it is learned, and count."""
    wrong = np.ones(len(y))
    for row in range(len(y)):
        x, label = X[row : row + 1], y[row : row + 1]
        wrong[row] = row == 0 or model.predict(x)[0] != label[0]
        model.partial_fit(x, label, classes=[0, 1])
    return wrong.cumsum()


# %%
# Two of the models get rows that were standardised by the whole stream, which is not possible in practice.

standardised = StandardScaler().fit_transform(X)
curves = {
    'norm="scaled", raw': mistakes(PredtronBinaryClassifier(), X),
    'norm="l2", raw': mistakes(PredtronBinaryClassifier(norm="l2"), X),
    "SGDClassifier, raw": mistakes(SGDClassifier(random_state=0), X),
    'norm="l2", standardised': mistakes(PredtronBinaryClassifier(norm="l2"), standardised),
    "SGDClassifier, standardised": mistakes(SGDClassifier(random_state=0), standardised),
}
figure, ax = plt.subplots(layout="constrained")
for name, curve in curves.items():
    print(f"{name:28} {curve[-1]:3.0f} mistakes in {len(y)} rows")
    ax.plot(curve, label=name, linestyle="--" if "standardised" in name else "-")
ax.set(yscale="log", xlabel="rows", ylabel="mistakes", title="Progressive mistakes on tumours")
ax.legend()
plt.show()
