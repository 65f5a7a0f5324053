"""
A bounded loss
==============

On separable data the online loss is bounded, for any order and number of rows.  The bound uses the margin of any
weights; `largest_margin` finds the best ones.
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
# Ten epochs over the flowers, row by row, each in another order.

model = PredtronClassifier(norm="l2", update="loss_driven", fit_intercept=False, cv=0, random_state=0)
found = largest_margin(model, X, y)
model.set_callbacks(LossHistory()).fit(X, y)
R = radius(model, X)
bound = model.loss_bound(found.margin, R)
print(f"largest margin {found.margin:.3f}, largest length of a row {R:.2f}")
print(f"online loss    {model.cumulative_loss_:.0f}")
print(f"bound          {bound:.1f}")
peer = Perceptron(fit_intercept=False, max_iter=10, tol=None, random_state=0).fit(X, y)
print(
    f"accuracy after ten epochs: Perceptron {peer.score(X, y):.3f}, sklearn_predtron {model.score(X, y):.3f}"
)

display = OnlineLossDisplay.from_estimator(model, margin=found.margin, radius=R)
display.ax_.set(yscale="log", title="Online loss, and its bound")
plt.show()

# %%
# The bound is for the worst order of the worst rows; the measured loss is far below.  For data that are not
# separable, use :doc:`bounds with a comparator </user_guide/guarantees>`.
