"""
New words and new classes
=========================

Messages arrive one by one with words that no message had before, and later there is a new kind of message.  `widen`
adds both to the model during the stream, and keeps all weights.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.feature_extraction import FeatureHasher
from sklearn.linear_model import SGDClassifier

from sklearn_predtron import PredtronClassifier

rng = np.random.default_rng(0)
kinds, n = ["ham", "spam", "phishing"], 1600


def message(i):
    """Ten words; later messages have words that earlier ones had not, and the third kind begins in the middle."""
    kind = rng.integers(2 + (i >= n // 2))
    words = rng.geometric(0.02, 10) + i // 10
    own = rng.random(10) < 0.3
    return [
        f"{kinds[kind]}{word}" if mine else f"word{word}" for word, mine in zip(words, own, strict=True)
    ], kinds[kind]


# %%
# The vocabulary grows with the messages.  scikit-learn's models need a fixed width, by hashing, and all classes from
# the start.

vocabulary, model = {}, PredtronClassifier()
hasher, peer = FeatureHasher(2**10, input_type="string"), SGDClassifier(random_state=0)
wrong = np.zeros((2, n))
for i in range(n):
    words, kind = message(i)
    columns = [vocabulary.setdefault(word, len(vocabulary)) for word in words]
    x = sparse.csr_array((np.ones(10), columns, [0, 10]), shape=(1, len(vocabulary)))
    hashed = hasher.transform([words])
    if i == 0:
        model.partial_fit(x, [kind], classes=kinds[:2])
        peer.partial_fit(hashed, [kind], classes=kinds)
        continue
    model.widen(n_features=len(vocabulary))
    wrong[:, i] = model.predict(x)[0] != kind, peer.predict(hashed)[0] != kind
    if kind not in model.classes_:
        model.widen(classes=[kind])
        print(f"message {i}: {kind} is new")
    model.partial_fit(x, [kind])
    peer.partial_fit(hashed, [kind])
print(f"words: {len(vocabulary)}, weights: {model.coef_.shape}")
for name, mistakes in zip(["widen", "hashed to 1024 columns"], wrong, strict=True):
    print(f"{name:23} {mistakes.mean():.3f} wrong, of the last 500 {mistakes[-500:].mean():.3f}")

figure, ax = plt.subplots(layout="constrained")
for name, mistakes in zip(["PredtronClassifier, widened", "SGDClassifier, hashed"], wrong, strict=True):
    ax.plot(np.convolve(mistakes, np.full(200, 1 / 200), mode="valid"), label=name)
ax.axvline(n / 2, color="gray", linestyle=":", label="a new kind of message")
ax.set(xlabel="messages", ylabel="error of 200 messages", title="Messages with new words")
ax.legend()
plt.show()
