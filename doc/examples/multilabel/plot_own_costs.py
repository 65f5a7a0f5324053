"""
One right label is enough
=========================

A loss may be any function of four counts: true positives, false positives, false negatives and true negatives.  Here
a set of suggestions fails if none of them is right, and each wrong one has a small cost.  Such a cost is no sum over
labels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.multioutput import MultiOutputClassifier
from sklearn.preprocessing import scale

from sklearn_predtron import PredtronMultilabelClassifier

X, y = make_multilabel_classification(
    4000, n_classes=10, n_labels=2, length=30, allow_unlabeled=False, random_state=0
)
X = scale(X) + np.random.default_rng(0).standard_normal(X.shape)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)


def failed(right, wrong, missed, rest):
    """1 if nothing is right, and a fifth for each wrong label."""
    return float(right == 0 and missed > 0) + 0.2 * wrong


def losses(y, predicted):
    right, missed = (predicted * y).sum(axis=1), ((1 - predicted) * y).sum(axis=1)
    return ((right == 0) & (missed > 0)) + 0.2 * (predicted * (1 - y)).sum(axis=1)


# %%
# The peer is one logistic regression per label, with the threshold 1/2 or the one with the lowest loss on the training
# rows.  The same is done with the probabilities of the Hamming loss.

peer = MultiOutputClassifier(LogisticRegression()).fit(X_train, y_train)
hamming = PredtronMultilabelClassifier(random_state=0).fit(X_train, y_train)


def likely(X):
    """Return the peer's probabilities of the labels."""
    return np.column_stack([of_label[:, 1] for of_label in peer.predict_proba(X)])


def best_cut(likely):
    """Return the cut of least loss on the training rows."""
    cuts = np.linspace(0.1, 0.6, 51)
    return cuts[np.argmin([losses(y_train, (likely > each).astype(int)).mean() for each in cuts])]


cut, our_cut = best_cut(likely(X_train)), best_cut(hamming.predict_proba(X_train))
predictions = {
    "loss=failed": PredtronMultilabelClassifier(loss=failed, random_state=0)
    .fit(X_train, y_train)
    .predict(X_test),
    'loss="hamming"': hamming.predict(X_test),
    f"its predict_proba, {our_cut:.2f}": (hamming.predict_proba(X_test) > our_cut).astype(int),
    "LogisticRegression, 0.5": (likely(X_test) > 0.5).astype(int),
    f"LogisticRegression, {cut:.2f}": (likely(X_test) > cut).astype(int),
}
figure, ax = plt.subplots(layout="constrained")
for i, (name, predicted) in enumerate(predictions.items()):
    mean_cost, sizes = losses(y_test, predicted).mean(), predicted.sum(axis=1)
    print(f"{name:24} mean cost {mean_cost:.3f}, labels suggested {sizes.mean():.2f}")
    shares = np.bincount(np.minimum(sizes, 6), minlength=7) / len(sizes)
    ax.bar(np.arange(7) + 0.16 * i - 0.32, shares, width=0.16, label=f"{name}: {mean_cost:.2f}")
ax.set(
    xlabel="labels suggested (6: or more)",
    ylabel="share of rows",
    title="How many labels are suggested, and the mean cost",
)
ax.legend()
plt.show()

# %%
# The model trained for the costs suggests more labels, at a lower cost.  A threshold tuned for the costs is better
# still if the labels are nearly independent given the row.  Try it wherever there are probabilities.
