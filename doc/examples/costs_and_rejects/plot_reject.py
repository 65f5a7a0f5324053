"""
A reject option
===============

A classifier can abstain, at a tenth of the cost of a mistake.  It then accepts the rows with confident predictions.
How many mistakes remain among them?
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
    loss = (wrong.sum() + cost * (~kept).sum()) / len(y_test)
    print(f"{name:28} rejects {(~kept).sum():2}, errs in {wrong.sum()} of {kept.sum()}, loss {loss:.4f}")


# %%
# A row is rejected if that costs less than the expected cost of either class (Chow's rule).  For logistic regression
# the same rule rejects if the larger probability is below 1 - cost.

sure = peer.predict_proba(X_test).max(axis=1)
report("without rejecting", PredtronBinaryClassifier(random_state=0).fit(X_train, y_train).predict(X_test))
report("reject=0.1", model.predict(X_test))
report("LogisticRegression", peer.predict(X_test))
report("LogisticRegression and Chow", np.where(sure >= 1 - cost, peer.predict(X_test), -1))

# %%
# The curve has the share of mistakes among the accepted rows for each threshold on the margin.  The point is the
# classifier itself.

display = RiskCoverageDisplay.from_estimator(model, X_test, y_test)
RiskCoverageDisplay.from_predictions(
    y_test, peer.predict(X_test), sure, name="LogisticRegression", ax=display.ax_
)
display.ax_.set_title("Share of mistakes among the accepted rows")
plt.show()
