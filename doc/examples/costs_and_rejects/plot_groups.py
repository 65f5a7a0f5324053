"""
The balanced error of each day
==============================

Some measures have no value for a single row.  The balanced error is the mean of the miss rate and the false alarm
rate.  ``PredtronBipartiteClassifier`` is trained for such measures on batches of rows, or on groups, such as the rows
of a day.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score

from sklearn_predtron import PredtronBinaryClassifier, PredtronBipartiteClassifier

X, y = make_classification(12_000, n_informative=10, weights=[0.94], class_sep=0.8, random_state=0)
day = np.repeat(np.arange(60), 200)
train, test = day < 30, day >= 30

# %%
# A classifier that minimises the number of mistakes hardly ever predicts the rare class.  Class weights or a threshold
# correct that.  The bipartite classifier is trained for the measure itself.

by_day = PredtronBipartiteClassifier(loss="balanced", random_state=0)
by_day.fit(X[train], y[train], groups=day[train])
learners = {
    "LogisticRegression": LogisticRegression().fit(X[train], y[train]),
    "class_weight": LogisticRegression(class_weight="balanced").fit(X[train], y[train]),
    "decision": PredtronBinaryClassifier(decision="balanced", random_state=0).fit(X[train], y[train]),
    "groups": by_day,
}
errors = {}
for name, learner in learners.items():
    predicted = learner.predict(X[test])
    days = np.unique(day[test])
    errors[name] = [1 - balanced_accuracy_score(y[day == d], predicted[day[test] == d]) for d in days]
    print(f"{name:19} mean balanced error per day {np.mean(errors[name]):.3f}")

figure, ax = plt.subplots(layout="constrained")
ax.boxplot(list(errors.values()))
ax.set_xticks(range(1, 5), errors)
ax.set(ylabel="balanced error", title="Balanced error of thirty held-out days")
plt.show()
