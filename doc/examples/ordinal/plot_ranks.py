"""
How large are errors of ordinal classes?
========================================

The progression of diabetes in five grades.  A classifier treats grades as unrelated names, a regression as equidistant
numbers.  An ordinal classifier is trained to minimise the distance between ranks.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronOrdinalClassifier

X, target = load_diabetes(return_X_y=True)
y = np.digitize(target, np.quantile(target, [0.2, 0.4, 0.6, 0.8]))
learners = {
    "Predtron, thermometer": PredtronOrdinalClassifier(representation="thermometer", random_state=0),
    "Predtron, shared": PredtronOrdinalClassifier(representation="shared", random_state=0),
    "LogisticRegression": make_pipeline(StandardScaler(), LogisticRegression()),
    "Ridge, rounded": make_pipeline(StandardScaler(), Ridge()),
}
folds = KFold(10, shuffle=True, random_state=0)
figure, ax = plt.subplots(layout="constrained")
for i, (name, learner) in enumerate(learners.items()):
    predicted = cross_val_predict(learner, X, y, cv=folds)
    predicted = np.clip(np.rint(predicted), 0, 4).astype(int)
    far = np.abs(predicted - y)
    print(f"{name:22} mean distance {mean_absolute_error(y, predicted):.3f}, exact {(far == 0).mean():.3f}")
    ax.bar(np.arange(5) + 0.2 * i - 0.3, np.bincount(far, minlength=5), width=0.2, label=name)
ax.set(xlabel="distance of the predicted rank from the true one", ylabel="rows")
ax.set(title="Distance of the predicted grade")
ax.legend()
plt.show()

# %%
# Logistic regression is exact as often as the others, but makes larger errors.
