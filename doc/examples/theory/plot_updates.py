"""
Updates, compared
=================

The default update also acts if a row is predicted correctly with too small a margin, and its size depends on the data.
On noisy digits that saves mistakes from the first epoch on.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split

from sklearn_predtron import PredtronClassifier
from sklearn_predtron.callbacks import LossHistory
from sklearn_predtron.inspection import OnlineLossDisplay

X, y = load_digits(return_X_y=True)
X = X / 16 + 0.2 * np.random.default_rng(0).standard_normal(X.shape)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

figure, ax = plt.subplots(layout="constrained")
for update in ["adaptive", "passive_aggressive", "perceptron"]:
    model = PredtronClassifier(update=update, norm="l2", random_state=0)  # pixels have one scale
    model.set_callbacks(LossHistory()).fit(X_train, y_train)
    OnlineLossDisplay.from_estimator(model, name=update, ax=ax)
    print(
        f"{update:19} {model.n_mistakes_:5} mistakes on the way, accuracy {model.score(X_test, y_test):.3f}"
    )
peer = SGDClassifier(average=True, random_state=0).fit(X_train, y_train)
print(f"SGDClassifier, averaged                    accuracy {peer.score(X_test, y_test):.3f}")
ax.set_title("Progressive mistakes on noisy digits")
plt.show()
