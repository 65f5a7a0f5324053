"""
Updates for rankings, compared
==============================

The papers have several updates for rankings, which are values of `update`.  The progressive loss in a single pass
over a stream of queries shows how fast each of them learns.
"""

import matplotlib.pyplot as plt

from sklearn_predtron import PredtronRanker
from sklearn_predtron.callbacks import LossHistory
from sklearn_predtron.datasets import make_ranking_queries
from sklearn_predtron.inspection import OnlineLossDisplay

X, y, qid = make_ranking_queries(1500, n_documents=10, random_state=0)
train, test = qid < 1000, qid >= 1000

figure, ax = plt.subplots(layout="constrained")
for update in ["adaptive", "perceptron", "max_pair", "slam", "listnet"]:
    model = PredtronRanker(update=update, average="linear").set_callbacks(LossHistory())
    model.partial_fit(X[train], y[train], qid=qid[train])
    suffered = model.cumulative_loss_ / model.t_
    score = model.score(X[test], y[test], qid=qid[test])
    print(f"{update:11} mean progressive loss {suffered:.4f}, NDCG on new queries {score:.4f}")
    OnlineLossDisplay.from_estimator(model, name=update, ax=ax)
ax.set(yscale="log", title="Sum of 1 - NDCG, each query ranked before its update")
plt.show()
