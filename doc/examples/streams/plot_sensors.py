"""
Sensors that age, and an overhaul
=================================

Twelve sensors with different units announce faults, and one reading in twenty fails.  They age all the time, and
after an overhaul faults have other signs.  Which model follows, and how can you detect one that does not?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronBinaryClassifier

rng = np.random.default_rng(0)
n, p = 12_000, 12
time = np.arange(n) / n
state = rng.standard_normal((n, p))
before, after = rng.standard_normal((2, p))
turned = np.clip((time - 0.42) * 6, 0, 1)[:, np.newaxis]
strain = (state * ((1 - turned) * before + turned * after)).sum(axis=1) + 1.5 * np.abs(state[:, 3]) - 2
fault = (rng.random(n) < 1 / (1 + np.exp(-2.5 * strain))).astype(int)
drifted = state * (1 + np.outer(time, rng.random(p))) + 5 + np.outer(time, 3 * rng.standard_normal(p))
X = 10.0 ** rng.integers(-2, 4, p) * drifted
X[rng.random((n, p)) < 0.05] = np.nan

# %%
# The sixty rows of an hour are predicted before they are used for training.  ``features="piecewise"`` needs no
# scaling and accepts missing values.  `SGDClassifier` gets a scaler that is also updated, and means in place of
# missing values.


class Scaled:
    """SGDClassifier of what was scaled by the rows so far."""

    def __init__(self):
        self.scaler, self.model = StandardScaler(), SGDClassifier(loss="log_loss", random_state=0)

    def predict_proba(self, rows):
        return self.model.predict_proba(np.nan_to_num(self.scaler.transform(rows)))

    def partial_fit(self, rows, labels, classes):
        rows = np.nan_to_num(self.scaler.partial_fit(rows).transform(rows))
        self.model.partial_fit(rows, labels, classes=classes)


learners = {
    "sklearn_predtron": (PredtronBinaryClassifier(features="piecewise"), n),
    "the same, frozen": (PredtronBinaryClassifier(features="piecewise"), 4800),
    "SGDClassifier": (Scaled(), n),
}
likely = {}
for name, (model, learn_until) in learners.items():
    found = np.full(n, 0.5)
    for i in range(0, n, 60):
        rows, labels = X[i : i + 60], fault[i : i + 60]
        if i > 0:
            found[i : i + 60] = model.predict_proba(rows)[:, 1]
        if i < learn_until:
            model.partial_fit(rows, labels, classes=[0, 1])
    likely[name] = found

# %%
# With labels, monitor mistakes and the number of faults predicted too many.  The mean prediction needs no labels at
# all.


def rolling(values):
    return np.convolve(values, np.full(600, 1 / 600), mode="valid")


figure, axes = plt.subplots(2, sharex=True, layout="constrained")
for name, found in likely.items():
    wrong = (found > 0.5) != fault
    parts = " ".join(f"{part.mean():.3f}" for part in np.array_split(wrong, 5))
    excess = " ".join(f"{part.mean():5.2f}" for part in np.array_split(found - fault, 5))
    print(f"{name:16} mistakes {parts}, faults predicted too many {excess}")
    axes[0].plot(rolling(wrong), label=name)
    axes[1].plot(rolling(found - fault), label=name)
for ax in axes:
    ax.axvspan(5040, 7040, color="gray", alpha=0.2)
axes[0].set(ylabel="mistakes", title="Means of ten hours; gray is the overhaul")
axes[1].set(xlabel="rows", ylabel="faults predicted,\nless those that came")
axes[0].legend()
plt.show()

# %%
# The recipe :doc:`/user_guide/recipes/sensors` has the same stream with restarts, other scalers, and times.
