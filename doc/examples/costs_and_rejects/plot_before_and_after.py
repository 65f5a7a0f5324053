"""
Costs as margins, or by probabilities
=====================================

Costs can be trained as margins, the setting of the loss bounds.  Or the class with the lowest expected cost is
predicted, which is the default.  Both are equal where classes are separable.  Where classes overlap, margins cost a
multiple.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronBinaryClassifier

digits, number = load_digits(return_X_y=True)
patients, progress = load_diabetes(return_X_y=True)
data = {
    "tumours": load_breast_cancer(return_X_y=True),
    "an eight": (digits, (number == 8).astype(int)),
    "diabetes": (patients, (progress > np.median(progress)).astype(int)),
    "noisy": make_classification(4000, n_informative=8, flip_y=0.15, random_state=0),
    "rare": make_classification(4000, n_informative=10, weights=[0.9], class_sep=0.6, random_state=0),
}

# %%
# A miss costs as much as twenty false alarms, and vice versa.  The peer takes two lines of scikit-learn: probabilities,
# and the class with the lowest expected cost.

peer = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
folds = StratifiedKFold(5, shuffle=True, random_state=0)


def mean_costs(X, y, costs):
    """Return the mean cost per held-out row, for each decision."""
    decisions = {
        f"decision={decision!r}": cross_val_predict(
            PredtronBinaryClassifier(loss=costs, decision=decision, random_state=0), X, y, cv=folds
        )
        for decision in ("learned", None)
    }
    likely = cross_val_predict(peer, X, y, cv=folds, method="predict_proba")
    predictions = {**decisions, "LogisticRegression": (likely @ costs).argmin(axis=1)}
    return {name: costs[y, predicted].mean() for name, predicted in predictions.items()}


kinds = {
    "a miss costs 20": np.array([[0, 1], [20, 0]]),
    "a false alarm costs 20": np.array([[0, 20], [1, 0]]),
}
figure, axes = plt.subplots(2, 1, figsize=(8, 6.5), sharex=True, layout="constrained")
for ax, (kind, costs) in zip(axes, kinds.items(), strict=True):
    found = {name: mean_costs(X, y, costs) for name, (X, y) in data.items()}
    for i, decision in enumerate(found["tumours"]):
        means = [found[name][decision] for name in data]
        print(
            f"{kind:22} {decision:19} {'  '.join(f'{name} {mean:.2f}' for name, mean in zip(data, means, strict=True))}"
        )
        ax.bar(np.arange(len(data)) + 0.27 * i - 0.27, means, width=0.25, label=decision)
    ax.set_xticks(range(len(data)), data)
    ax.set(ylabel="mean cost per row", title=kind)
axes[0].legend()
plt.show()

# %%
# On the tumours a handful of mistakes decides, so differences may be chance.  Where rows overlap, the boundary belongs
# where the costly class has a probability of 1 / 21.  Margins do not reach it.
