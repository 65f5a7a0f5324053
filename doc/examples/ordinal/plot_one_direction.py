"""
One direction for all ordinal classes
=====================================

``representation="shared"`` (PRank) has one direction, and a threshold between neighbouring classes.  ``"thermometer"``
(CuSum Rank) has a direction for each threshold.  If one direction is enough, the shared one needs fewer rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mean_absolute_error

from sklearn_predtron import PredtronOrdinalClassifier

rng = np.random.default_rng(0)
X = rng.standard_normal((6000, 20))
score = X @ rng.standard_normal(20) + 2 * rng.standard_normal(6000)
y = np.digitize(score, np.quantile(score, np.arange(1, 7) / 7))  # seven ranks

# %%
# Mean distance on 4,000 held-out rows:

learners = {
    "shared": lambda: PredtronOrdinalClassifier(representation="shared", random_state=0),
    "thermometer": lambda: PredtronOrdinalClassifier(representation="thermometer", random_state=0),
    "LogisticRegression": lambda: LogisticRegression(max_iter=1000),
}
sizes = [50, 100, 200, 400, 800, 1600]
figure, ax = plt.subplots(layout="constrained")
for name, make in learners.items():
    errors = []
    for n in sizes:
        starts = range(0, 2000 - n + 1, max(n, 400))
        fitted = [make().fit(X[a : a + n], y[a : a + n]) for a in starts]
        errors.append(np.mean([mean_absolute_error(y[2000:], model.predict(X[2000:])) for model in fitted]))
    print(f"{name:19}", *(f"{n} rows: {error:.2f}" for n, error in zip(sizes, errors, strict=True)))
    ax.plot(sizes, errors, "o-", label=name)
ax.set(
    xscale="log",
    xlabel="training rows",
    ylabel="mean distance of ranks",
    title="Ordinal classes that follow one direction",
)
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend()
plt.show()
