"""
A rare class and F1
===================

If one row in ten is positive, a classifier makes the fewest mistakes by hardly ever predicting the positive class,
and F1 is low.  ``decision="f1"`` chooses the threshold with the largest F1 on held-out rows.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import TunedThresholdClassifierCV

from sklearn_predtron import PredtronBinaryClassifier

X, y = make_classification(8000, n_informative=10, weights=[0.9], class_sep=0.6, random_state=0)
train, test = slice(0, 4000), slice(4000, None)

# %%
# In scikit-learn, ``TunedThresholdClassifierCV`` does the same for any classifier.

learners = {
    "decision=None": PredtronBinaryClassifier(random_state=0),
    'decision="f1"': PredtronBinaryClassifier(decision="f1", random_state=0),
    "LogisticRegression": LogisticRegression(),
    "TunedThresholdClassifierCV": TunedThresholdClassifierCV(LogisticRegression(), scoring="f1"),
}
for name, learner in learners.items():
    begin = perf_counter()
    learner.fit(X[train], y[train])
    seconds = perf_counter() - begin
    print(f"{name:27} F1 {f1_score(y[test], learner.predict(X[test])):.3f}, {1000 * seconds:5.0f} ms")

# %%
# F1 of the test rows at every threshold, and the threshold that was chosen without them:

scores = learners["decision=None"].decision_function(X[test])
cuts = np.quantile(scores, np.linspace(0.4, 0.999, 200))
chosen = learners['decision="f1"'].threshold_
figure, ax = plt.subplots(layout="constrained")
ax.plot(cuts, [f1_score(y[test], scores > cut) for cut in cuts], label="F1 of the test rows")
ax.axvline(0, color="gray", linestyle=":", label="threshold with the fewest mistakes")
ax.axvline(chosen, color="C1", linestyle="--", label=f"threshold_ = {chosen:.2f}")
ax.set(xlabel="threshold on the score", ylabel="F1", title="F1 by threshold")
ax.legend()
plt.show()
