"""
A missed tumour costs ten false alarms
======================================

The fewest mistakes are not the cheapest ones.  Here each tumour that is taken for benign costs ten times as much as a
false alarm.  A classifier that is told so learns other weights, and pays less.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import ConfusionMatrixDisplay, confusion_matrix
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronBinaryClassifier

X, y = load_breast_cancer(return_X_y=True)  # 0 is malignant
costs = np.array([[0, 10], [1, 0]])  # rows are true, columns predicted

# %%
# `loss` takes the costs.  Logistic regression has class weights, which for two classes come to the same thing in
# another way: it counts each malignant row ten times.  It also wants standardised features, which ours do on the way.

learners = {
    "no costs": PredtronBinaryClassifier(random_state=0),
    "loss={(0, 1): 10}": PredtronBinaryClassifier(loss={(0, 1): 10}, random_state=0),
    "LogisticRegression": make_pipeline(StandardScaler(), LogisticRegression()),
    "class_weight={0: 10}": make_pipeline(StandardScaler(), LogisticRegression(class_weight={0: 10})),
}
folds = StratifiedKFold(10, shuffle=True, random_state=0)
figure, axes = plt.subplots(2, 2, figsize=(8, 6.8), layout="constrained")
for ax, (name, learner) in zip(axes.flat, learners.items(), strict=True):
    counts = confusion_matrix(y, cross_val_predict(learner, X, y, cv=folds))
    paid = (counts * costs).sum()
    print(f"{name:21} {counts[0, 1]:2} tumours missed, {counts[1, 0]:2} false alarms, cost {paid}")
    display = ConfusionMatrixDisplay(counts, display_labels=["malignant", "benign"])
    display.plot(ax=ax, colorbar=False, cmap="Blues")
    ax.set_title(f"{name}: cost {paid}", fontsize=11)

# %%
# Both learners trade tumours missed for false alarms once they know the costs.  What differs is where costs enter:
# class weights say how often a row counts, while a matrix of costs also says what each *confusion* costs, for any
# number of classes.
