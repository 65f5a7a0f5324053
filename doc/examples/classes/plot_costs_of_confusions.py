"""
A cost for each confusion
=========================

Read digits, when it matters most whether a number is even or odd: confusing the two costs ten, any other mistake one.
A cost matrix expresses this; weights of classes or rows cannot.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from sklearn_predtron import PredtronClassifier

X, y = load_digits(return_X_y=True)
X = X + 6 * np.random.default_rng(0).standard_normal(X.shape)  # harder to read
digit = np.arange(10)
costs = np.where(digit[:, None] % 2 == digit % 2, 1, 10)
np.fill_diagonal(costs, 0)

peer = LogisticRegression(C=0.1)
learners = {  # pixels have one scale, and those that vary little carry little: norm="l2"
    "no costs": PredtronClassifier(norm="l2", random_state=0),
    "loss=costs": PredtronClassifier(loss=costs, norm="l2", random_state=0),
}

# %%
# The peer takes two lines: probabilities of logistic regression, and the class with the lowest expected cost.

folds = StratifiedKFold(5, shuffle=True, random_state=0)
predictions = {name: cross_val_predict(learner, X / 16, y, cv=folds) for name, learner in learners.items()}
likely = cross_val_predict(peer, X / 16, y, cv=folds, method="predict_proba")
predictions["LogisticRegression"] = (likely @ costs).argmin(axis=1)
figure, axes = plt.subplots(1, 3, figsize=(9, 3.6), layout="constrained")
for ax, (name, predicted) in zip(axes, predictions.items(), strict=True):
    counts = confusion_matrix(y, predicted)
    mean_cost = (counts * costs).sum() / len(y)
    parity = counts[costs == 10].sum()
    other = counts[costs == 1].sum()
    print(f"{name:19} {parity} mistakes across parities, {other} within, mean cost {mean_cost:.3f}")
    order = np.argsort(digit % 2, kind="stable")  # 0 2 4 6 8 1 3 5 7 9
    wrong = (counts - np.diag(np.diag(counts)))[np.ix_(order, order)]
    ax.imshow(wrong, cmap="Reds", vmin=0, vmax=25)
    ax.axhline(4.5, color="gray")
    ax.axvline(4.5, color="gray")
    ax.set(xticks=range(10), xticklabels=order, yticks=range(10), yticklabels=order)
    ax.set(xlabel="predicted", ylabel="true", title=f"{name}\nmean cost {mean_cost:.2f}")

# %%
# The expensive mistakes are in the upper right and the lower left quarter.  Their number falls, and a few cheap
# mistakes are added.
