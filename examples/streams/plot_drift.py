"""
A truth that turns
==================

An average of all weights so far is best while the truth stays, and worst once it moves.  `partial_fit` keeps three
candidates and predicts by the one that has lately lost least, so that nobody has to know beforehand.
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
# Each row is predicted, and then learned.  A tenth of the labels is noise, so that nobody errs in less.


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
ax.axvspan(1500, 3000, color="gray", alpha=0.2, label="the truth turns")
ax.set(
    xlabel="rows",
    ylabel="mistakes of 300 rows",
    title="Rows of a stream, each predicted before it was learned",
)
ax.legend()
plt.show()
