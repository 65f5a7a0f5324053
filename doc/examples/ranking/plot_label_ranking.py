"""
The same labels, ranked for each row
====================================

Which of eight dishes will a guest order most often, and which comes next?  The counts are heavy-tailed: a few
favourites are ordered dozens of times and dominate a regression.  A label ranker uses only the order of the labels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge

from sklearn_predtron import PredtronLabelRanker
from sklearn_predtron.metrics import kendall_tau, ndcg

rng = np.random.default_rng(0)
X = rng.standard_normal((1200, 10))
liking = X @ rng.standard_normal((10, 8)) / 3 + rng.standard_normal((1200, 8)) / 2
orders = rng.poisson(np.exp(1.5 * liking + 1))
train, test = slice(0, 400), slice(400, None)
ranks = orders.argsort(axis=1).argsort(axis=1)

# %%
# The peer is ridge regression of the counts, or of their ranks.  Kendall's tau compares the order of all pairs of
# dishes.

ranker = PredtronLabelRanker(loss="kendall_tau", random_state=0).fit(X[train], orders[train])
predictions = {
    "PredtronLabelRanker": ranker.decision_function(X[test]),
    "Ridge of counts": Ridge().fit(X[train], orders[train]).predict(X[test]),
    "Ridge of ranks": Ridge().fit(X[train], ranks[train]).predict(X[test]),
}
taus = {name: kendall_tau(orders[test], scores) for name, scores in predictions.items()}
for name, scores in predictions.items():
    top = ndcg(ranks[test], scores, k=3).mean()
    print(f"{name:20} tau {taus[name].mean():.3f}, NDCG@3 of ranks {top:.3f}")

figure, ax = plt.subplots(layout="constrained")
ax.boxplot(list(taus.values()))
ax.set_xticks(range(1, 4), taus)
ax.set(ylabel="Kendall's tau per guest", title="Order of eight dishes for 800 new guests")
plt.show()
