"""
The transitions of a tagger
===========================

A tagger has a weight for each pair of neighbouring labels.  Compared with the frequencies of the pairs, the weights
show which order of labels the model has found, beyond the evidence of single tokens.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_predtron import PredtronSequenceTagger
from sklearn_predtron.datasets import make_sequences

X, y, sid = make_sequences(600, n_labels=8, noise=0.6, concentration=0.15, random_state=2)
train, test = sid < 400, sid >= 400
tagger = PredtronSequenceTagger(random_state=0).fit(X[train], y[train], sid=sid[train])
print(f"accuracy on new tokens: {tagger.score(X[test], y[test], sid=sid[test]):.3f}")

# %%
# How often label j follows label i, and the weight of the pair:

inside = (sid[1:] == sid[:-1]) & train[1:]
follows = np.zeros((8, 8))
np.add.at(follows, (y[:-1][inside], y[1:][inside]), 1)
share = follows / follows.sum(axis=1, keepdims=True)
correlation = np.corrcoef(share.ravel(), tagger.transitions_.ravel())[0, 1]
print(f"correlation of frequencies and weights: {correlation:.2f}")

figure, axes = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
for ax, values, title in zip(axes, [share, tagger.transitions_], ["frequency", "weight"], strict=True):
    image = ax.imshow(values, cmap="viridis")
    ax.set(xlabel="next label", ylabel="label", title=f"{title} of a pair of labels")
    figure.colorbar(image, ax=ax, shrink=0.8)
plt.show()
