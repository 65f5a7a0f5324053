"""
Late labels
===========

In most streams labels arrive late: a loan is repaid, or not, after months.  `progressive_val_score` predicts each row
in time, and trains on it after a given number of later predictions.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import SGDClassifier

from sklearn_predtron import PredtronClassifier
from sklearn_predtron.metrics import progressive_val_score

n = 1200
X = np.random.default_rng(0).standard_normal((n, 2))
angle = 2 * np.pi * np.arange(n) / n  # the best weights turn once around
y = ((X * np.column_stack([np.cos(angle), np.sin(angle)])).sum(axis=1) > 0).astype(int)


def error(model, delay):
    def wrong(truth, predicted):
        return np.mean(truth != predicted)

    return progressive_val_score(model, zip(X, y, strict=True), delay, classes=[0, 1], metric=wrong)


delays = [0, 30, 100, 300]
learners = {"PredtronClassifier": PredtronClassifier, "SGDClassifier": lambda: SGDClassifier(random_state=0)}
figure, ax = plt.subplots(layout="constrained")
for name, make in learners.items():
    curve = [error(make(), delay) for delay in delays]
    print(f"{name:19}", *(f"{delay} late: {value:.3f} " for delay, value in zip(delays, curve, strict=True)))
    ax.plot(delays, curve, "o-", label=name)
ax.set(
    xlabel="rows until the label is known",
    ylabel="progressive error",
    title="Weights that turn once in 1200 rows",
)
ax.legend()
plt.show()

# %%
# A quarter of a turn is 300 rows: with this delay the model is no better than a guess.
