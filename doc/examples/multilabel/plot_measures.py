"""
Train for the measure that you report
=====================================

Label sets are judged by many measures, and the best model for one is not the best for another.  Here a model is trained
for each of five losses and judged by all five.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.multioutput import MultiOutputClassifier
from sklearn.preprocessing import scale

from sklearn_predtron import PredtronMultilabelClassifier
from sklearn_predtron.metrics import subset_scorer

X, y = make_multilabel_classification(2000, n_classes=10, n_labels=2, length=30, random_state=0)
X = scale(X) + np.random.default_rng(0).standard_normal(X.shape)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

# %%
# The peer is one logistic regression per label.

losses = ["hamming", "f1", "jaccard", "balanced", "subset_zero_one"]
learners = {loss: PredtronMultilabelClassifier(loss=loss, random_state=0) for loss in losses}
learners["LogisticRegression"] = MultiOutputClassifier(LogisticRegression())
table = np.array(
    [
        [subset_scorer(measure)(learner.fit(X_train, y_train), X_test, y_test) for measure in losses]
        for learner in learners.values()
    ]
)
print(f"{'1 - mean':18}", *(f"{loss:>15}" for loss in losses))
for name, row in zip(learners, np.abs(table), strict=True):
    print(f"{name:18}", *(f"{value:15.3f}" for value in row))

# %%
# Colours range from the worst to the best model of each column.

shades = (table - table.min(axis=0)) / np.ptp(table, axis=0)
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.imshow(shades, cmap="Greens", vmax=1.6, aspect="auto")
for (i, j), value in np.ndenumerate(np.abs(table)):
    ax.text(j, i, f"{value:.3f}", ha="center", va="center")
ax.set_xticks(range(5), losses)
ax.set_yticks(range(6), learners)
ax.set(xlabel="judged by", ylabel="trained for", title="Five multilabel measures")
plt.show()
