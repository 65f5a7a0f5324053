"""
Rows with the smallest margin
=============================

The margin of a row is the score of its class minus the best other score.  Inspect the rows with the smallest margins:
they are written oddly, or labelled wrongly.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from sklearn_predtron import PredtronClassifier
from sklearn_predtron.inspection import MarginDisplay

X, y = load_digits(return_X_y=True)
X = X / 16
learner = PredtronClassifier(norm="l2", random_state=0)  # pixels have one scale
scores = cross_val_predict(learner, X, y, method="decision_function")
peer = cross_val_predict(LogisticRegression(max_iter=300), X, y)
print(f"accuracy on held-out rows: {(scores.argmax(axis=1) == y).mean():.3f}")
print(f"LogisticRegression:        {(peer == y).mean():.3f}")

# %%
# The margin of each held-out row.  Predictions with a negative margin are wrong.

display = MarginDisplay.from_predictions(y, scores, name="PredtronClassifier")
display.ax_.set_title("Score of the true digit minus the best other score")

# %%
# The twelve rows with the smallest margins:

others = scores.copy()
others[np.arange(len(y)), y] = -np.inf
lead = scores[np.arange(len(y)), y] - others.max(axis=1)
figure, axes = plt.subplots(2, 6, figsize=(8, 3.4), layout="constrained")
for ax, row in zip(axes.flat, lead.argsort()[:12], strict=True):
    ax.imshow(X[row].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"{y[row]}, read as {scores[row].argmax()}", fontsize=10)
    ax.set_axis_off()
figure.suptitle("The twelve rows with the smallest margins")
plt.show()
