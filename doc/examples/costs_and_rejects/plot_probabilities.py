"""
Probabilities from scores
=========================

``predict_proba`` calibrates scores on held-out rows.  Are these probabilities as good as those of logistic regression,
which is trained for them?
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import train_test_split

from sklearn_predtron import PredtronBinaryClassifier

X, y = make_classification(10_000, n_features=20, n_informative=6, class_sep=0.7, flip_y=0.05, random_state=1)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

learners = {
    "predict_proba": PredtronBinaryClassifier(random_state=0),
    "CalibratedClassifierCV": CalibratedClassifierCV(
        PredtronBinaryClassifier(decision="learned", random_state=0)
    ),
    "LogisticRegression": LogisticRegression(),
}
figure, ax = plt.subplots(layout="constrained")
for name, learner in learners.items():
    likely = learner.fit(X_train, y_train).predict_proba(X_test)[:, 1]
    print(
        f"{name:22} log loss {log_loss(y_test, likely):.4f}, Brier score {brier_score_loss(y_test, likely):.4f}, "
        f"accuracy {learner.score(X_test, y_test):.4f}"
    )
    CalibrationDisplay.from_predictions(y_test, likely, n_bins=10, name=name, ax=ax)
ax.set_title("Observed frequency of each predicted probability")
plt.show()

# %%
# Near the diagonal probabilities are calibrated: about 70 % of the rows given probability 0.7 are positive.
