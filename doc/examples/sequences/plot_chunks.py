"""
Predictions that are always valid chunks
========================================

Entities of text are chunks: B-x begins one, and I-x continues it.  A prediction with an I-x after anything else is
invalid and breaks the program that reads it.  ``constraint="bio"`` never predicts one.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import SGDClassifier

from sklearn_predtron import PredtronSequenceTagger
from sklearn_predtron.datasets import make_sequences, unstack
from sklearn_predtron.metrics import chunk_f1_score

X, y, sid = make_sequences(500, n_labels=7, noise=0.7, bio=True, random_state=0)
train, test = sid < 250, sid >= 250


def invalid(labels):
    """Whether an I-x has no B-x or I-x before it."""
    return any(b[0] == "I" and a[1:] != b[1:] for a, b in zip(["O", *labels], labels, strict=False))


# %%
# F1 of whole chunks, and how many of the 250 sequences are invalid:

learners = {
    "tokens alone": SGDClassifier(random_state=0),
    "tagger": PredtronSequenceTagger(random_state=0),
    'constraint="bio"': PredtronSequenceTagger(constraint="bio", random_state=0),
}
f1, broken = [], []
for name, learner in learners.items():
    if name == "tokens alone":
        predicted = learner.fit(X[train], y[train]).predict(X[test])
    else:
        predicted = learner.fit(X[train], y[train], sid=sid[train]).predict(X[test], sid=sid[test])
    f1.append(chunk_f1_score(y[test], predicted, sid[test]))
    broken.append(sum(map(invalid, unstack(predicted, sid[test]))))
    print(f"{name:17} F1 of chunks {f1[-1]:.3f}, {broken[-1]:3} invalid sequences")

figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for ax, values, title in zip(
    axes, [f1, broken], ["F1 of chunks", "sequences that are no chunking"], strict=True
):
    ax.bar_label(ax.bar(list(learners), np.round(values, 2)))
    ax.set(title=title)
    ax.margins(y=0.12)
plt.show()
