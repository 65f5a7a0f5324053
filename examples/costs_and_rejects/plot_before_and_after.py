"""
What a row costs, before and after
==================================

Costs may be learned as margins, as the theory has it, or what is expected to cost least may be predicted, which is the
default.  Where classes can be told apart it comes to the same; where they overlap, margins cost a multiple.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronBinaryClassifier

digits, number = load_digits(return_X_y=True)
patients, progress = load_diabetes(return_X_y=True)
data = {
    "tumours": load_breast_cancer(return_X_y=True),
    "an eight": (digits, (number == 8).astype(int)),
    "diabetes": (patients, (progress > np.median(progress)).astype(int)),
    "noisy": make_classification(4000, n_informative=8, flip_y=0.15, random_state=0),
    "rare": make_classification(4000, n_informative=10, weights=[0.9], class_sep=0.6, random_state=0),
}

# %%
# A miss costs twenty false alarms, and the other way round.  Beside ours stand the two lines that are usual in
# scikit-learn: probabilities, and the class of least expected cost.

peer = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
folds = StratifiedKFold(5, shuffle=True, random_state=0)


def paid(X, y, costs):
    """Return the mean cost of a row that was not learned, by each way to decide."""
    ours = {
        f"decision={decision!r}": cross_val_predict(
            PredtronBinaryClassifier(loss=costs, decision=decision, random_state=0), X, y, cv=folds
        )
        for decision in ("learned", None)
    }
    likely = cross_val_predict(peer, X, y, cv=folds, method="predict_proba")
    predictions = {**ours, "LogisticRegression": (likely @ costs).argmin(axis=1)}
    return {name: costs[y, predicted].mean() for name, predicted in predictions.items()}


kinds = {
    "a miss costs 20": np.array([[0, 1], [20, 0]]),
    "a false alarm costs 20": np.array([[0, 20], [1, 0]]),
}
figure, axes = plt.subplots(2, 1, figsize=(8, 6.5), sharex=True, layout="constrained")
for ax, (kind, costs) in zip(axes, kinds.items(), strict=True):
    found = {name: paid(X, y, costs) for name, (X, y) in data.items()}
    for i, way in enumerate(found["tumours"]):
        means = [found[name][way] for name in data]
        print(
            f"{kind:22} {way:19} {'  '.join(f'{name} {mean:.2f}' for name, mean in zip(data, means, strict=True))}"
        )
        ax.bar(np.arange(len(data)) + 0.27 * i - 0.27, means, width=0.25, label=way)
    ax.set_xticks(range(len(data)), data)
    ax.set(ylabel="mean cost of a row", title=kind)
axes[0].legend()
plt.show()

# %%
# On the tumours a handful of mistakes decides, and each way has its luck.  On rows that overlap the boundary belongs
# where the dear class has a probability of 1 / 21, and margins do not bring it there.
