"""
A missed tumour costs ten false alarms
======================================

The fewest mistakes do not have the lowest cost.  Here each tumour that is predicted as benign costs ten times as much
as a false alarm.  A cost-sensitive classifier predicts the class with the lowest expected cost.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import ConfusionMatrixDisplay, confusion_matrix
from sklearn.model_selection import FixedThresholdClassifier, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronBinaryClassifier

X, y = load_breast_cancer(return_X_y=True)  # 0 is malignant
costs = np.array([[0, 10], [1, 0]])  # rows are true, columns predicted

# %%
# `loss` takes the costs.  Logistic regression takes class weights, which count each malignant row ten times, or a
# threshold on its probabilities.  It also needs a scaler; sklearn_predtron standardises features internally.

learners = {
    "no costs": PredtronBinaryClassifier(random_state=0),
    "loss={(0, 1): 10}": PredtronBinaryClassifier(loss={(0, 1): 10}, random_state=0),
    "LogisticRegression": make_pipeline(StandardScaler(), LogisticRegression()),
    "class_weight={0: 10}": make_pipeline(StandardScaler(), LogisticRegression(class_weight={0: 10})),
    "probabilities @ costs": FixedThresholdClassifier(
        make_pipeline(StandardScaler(), LogisticRegression()), threshold=10 / 11
    ),
}
folds = StratifiedKFold(10, shuffle=True, random_state=0)
figure, axes = plt.subplots(2, 3, figsize=(8.4, 5.6), layout="constrained")
axes[1, 2].remove()
for ax, (name, learner) in zip(axes.flat[:5], learners.items(), strict=True):
    counts = confusion_matrix(y, cross_val_predict(learner, X, y, cv=folds))
    cost = (counts * costs).sum()
    print(f"{name:21} {counts[0, 1]:2} tumours missed, {counts[1, 0]:2} false alarms, cost {cost}")
    display = ConfusionMatrixDisplay(counts, display_labels=["malignant", "benign"])
    display.plot(ax=ax, colorbar=False, cmap="Blues")
    ax.set_title(f"{name}\ncost {cost}", fontsize=11)

# %%
# With costs, all models miss fewer tumours and raise more false alarms.  Class weights say how often a row counts; a
# cost matrix gives each *confusion* its own cost, for any number of classes.
