"""
The value of neighbours
=======================

A token alone may be ambiguous, and its neighbours often decide.  The fewer labels may follow a label, the more the
sequence helps.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression

from sklearn_predtron import PredtronClassifier, PredtronSequenceTagger
from sklearn_predtron.datasets import make_sequences

strictness = [0.05, 0.1, 0.2, 0.5, 1.0, 3.0]
accuracy = {"PredtronSequenceTagger": [], "PredtronClassifier": [], "LogisticRegression": []}
print("concentration", *(f"{name:>23}" for name in accuracy))
for concentration in strictness:
    X, y, sid = make_sequences(400, n_labels=5, concentration=concentration, random_state=0)
    train, test = sid < 300, sid >= 300
    tagger = PredtronSequenceTagger(random_state=0).fit(X[train], y[train], sid=sid[train])
    alone = (PredtronClassifier(random_state=0), LogisticRegression())
    row = [tagger.score(X[test], y[test], sid=sid[test])]
    row += [learner.fit(X[train], y[train]).score(X[test], y[test]) for learner in alone]
    for values, value in zip(accuracy.values(), row, strict=True):
        values.append(value)
    print(f"{concentration:13}", *(f"{value:23.3f}" for value in row))

figure, ax = plt.subplots(layout="constrained")
for name, values in accuracy.items():
    ax.plot(strictness, values, "o-", label=name)
ax.set(xscale="log", xlabel="concentration: few labels follow a label (left), or any (right)")
ax.set(ylabel="accuracy on new tokens", title="Five labels in sequence")
ax.set_xticks(strictness, strictness)
ax.minorticks_off()
ax.legend()
plt.show()
