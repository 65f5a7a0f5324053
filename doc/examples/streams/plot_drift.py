"""
A stream that drifts
====================

An average of all weights so far is best without drift, and worst with it.  `partial_fit` keeps three candidates, and
leaves this average only for one that is better by more than chance.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import SGDClassifier

from sklearn_predtron import PredtronClassifier

n = 4500
rng = np.random.default_rng(0)
X = rng.standard_normal((n, 2))
angle = np.pi * np.clip((np.arange(n) - 1500) / 1500, 0, 1)  # still, half a turn, still
best = np.column_stack([np.cos(angle), np.sin(angle)])
noise = rng.random(n) < 0.1
y = (((X * best).sum(axis=1) > 0) ^ noise).astype(int)

# %%
# Each row is predicted, and then used for training.  A tenth of the labels is noise, so no error is below 10 %.


def errors(model):
    wrong = np.zeros(n)
    for row in range(n):
        x, label = X[row : row + 1], y[row : row + 1]
        wrong[row] = row > 0 and model.predict(x)[0] != label[0]
        model.partial_fit(x, label, classes=[0, 1])
    return wrong


learners = {
    'average="auto"': PredtronClassifier(average="auto"),
    'average="linear"': PredtronClassifier(average="linear"),
    "average=False": PredtronClassifier(average=False),
    "SGDClassifier": SGDClassifier(loss="log_loss", random_state=0),
}
figure, ax = plt.subplots(layout="constrained")
for name, model in learners.items():
    wrong = errors(model)
    print(f"{name:17} errs in", *(f"{100 * part.mean():5.1f} %" for part in np.split(wrong, 3)))
    ax.plot(np.convolve(wrong, np.full(300, 1 / 300), mode="valid"), label=name)
ax.axvspan(1500, 3000, color="gray", alpha=0.2, label="drift")
ax.set(
    xlabel="rows",
    ylabel="error of 300 rows",
    title="Progressive error in a stream",
)
ax.legend()
plt.show()
