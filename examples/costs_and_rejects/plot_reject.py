"""
Which rows to leave to someone else
===================================

A prediction may also be "I do not know", at a tenth of what a mistake costs.  The classifier then keeps the rows that
it is sure of, and the question is how much surer they are.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronBinaryClassifier
from sklearn_predtron.inspection import RiskCoverageDisplay

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

cost = 0.1
model = PredtronBinaryClassifier(reject=cost, random_state=0)
model.fit(X_train, y_train)
peer = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)


def report(name, predicted):
    kept = predicted != -1
    wrong = (predicted != y_test) & kept
    paid = (wrong.sum() + cost * (~kept).sum()) / len(y_test)
    print(f"{name:28} rejects {(~kept).sum():2}, errs in {wrong.sum()} of {kept.sum()}, loss {paid:.4f}")


# %%
# A row is rejected where that costs less than either class is expected to (Chow's rule).  The yardstick is the same for
# logistic regression: reject if the likelier class is less likely than 1 - cost.

sure = peer.predict_proba(X_test).max(axis=1)
report("without rejecting", PredtronBinaryClassifier(random_state=0).fit(X_train, y_train).predict(X_test))
report("reject=0.1", model.predict(X_test))
report("LogisticRegression", peer.predict(X_test))
report("LogisticRegression and Chow", np.where(sure >= 1 - cost, peer.predict(X_test), -1))

# %%
# The curve sweeps a threshold on the margin: the share of mistakes among the accepted rows, the surest first.  The
# point is where the classifier puts itself.

display = RiskCoverageDisplay.from_estimator(model, X_test, y_test)
RiskCoverageDisplay.from_predictions(
    y_test, peer.predict(X_test), sure, name="LogisticRegression", ax=display.ax_
)
display.ax_.set_title("Share of mistakes among the accepted rows")
plt.show()
