"""
A loss that cannot grow
=======================

On separable data the loss suffered is bounded, whatever the order of the rows and however many come.  The bound takes
the margin of any weights; the best one is found by `largest_margin`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import Perceptron

from sklearn_predtron import PredtronClassifier
from sklearn_predtron.callbacks import LossHistory
from sklearn_predtron.inspection import OnlineLossDisplay
from sklearn_predtron.theory import largest_margin, radius

X, y = load_iris(return_X_y=True)
X, y = X[:, 2:], (y > 0).astype(int)  # setosa, or not, by its petals
X = np.column_stack([X - X.mean(axis=0), np.ones(len(X))])  # a column of ones is the intercept

# %%
# The flowers are learned ten times over, row by row, in an order of their own each time.

model = PredtronClassifier(norm="l2", update="loss_driven", fit_intercept=False, cv=0, random_state=0)
found = largest_margin(model, X, y)
model.set_callbacks(LossHistory()).fit(X, y)
R = radius(model, X)
bound = model.loss_bound(found.margin, R)
print(f"largest margin {found.margin:.3f}, largest length of a row {R:.2f}")
print(f"loss suffered  {model.cumulative_loss_:.0f}")
print(f"bound          {bound:.1f}")
peer = Perceptron(fit_intercept=False, max_iter=10, tol=None, random_state=0).fit(X, y)
print(
    f"scikit-learn's Perceptron after ten epochs: accuracy {peer.score(X, y):.3f}, ours {model.score(X, y):.3f}"
)

display = OnlineLossDisplay.from_estimator(model, margin=found.margin, radius=R)
display.ax_.set(yscale="log", title="Loss suffered on the way, and its bound")
plt.show()

# %%
# The bound is for the worst order of the worst rows; what is suffered lies far below.  On data that are not separable
# :doc:`bounds by a comparator </user_guide/guarantees>` take its place.
