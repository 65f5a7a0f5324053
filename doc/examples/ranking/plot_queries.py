"""
Rank the documents of queries
=============================

In a search only the order of the documents within a query counts.  A regression of relevances also models the
differences between queries, which are irrelevant.  A ranker uses only differences within queries.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge

from sklearn_predtron import PredtronRanker
from sklearn_predtron.metrics import mean_over_queries, ndcg

rng = np.random.default_rng(0)
n_queries, n_documents = 600, 10
X = rng.standard_normal((n_queries * n_documents, 20))
qid = np.repeat(np.arange(n_queries), n_documents)
difficulty = 3 * rng.standard_normal(n_queries)[qid]  # some queries have more relevant documents
X[:, 0] += difficulty
score = X @ rng.standard_normal(20) + 2 * rng.standard_normal(len(X)) - 2 * difficulty
y = np.digitize(score, np.quantile(score, [0.5, 0.75, 0.9]))  # grades 0 to 3
test = qid >= 300

# %%
# Mean NDCG of the first five documents, on 300 held-out queries:

learners = {
    "PredtronRanker": lambda: PredtronRanker(random_state=0),
    "Ridge": lambda: Ridge(),
    "LogisticRegression": lambda: LogisticRegression(max_iter=1000),
}
sizes = [10, 30, 100, 300]
figure, ax = plt.subplots(layout="constrained")
for name, make in learners.items():
    curve = []
    for size in sizes:
        rows = qid < size
        if name == "PredtronRanker":
            scores = make().fit(X[rows], y[rows], qid=qid[rows]).predict(X[test])
        elif name == "Ridge":
            scores = make().fit(X[rows], y[rows]).predict(X[test])
        else:  # the expected grade
            scores = make().fit(X[rows], y[rows]).predict_proba(X[test]) @ np.arange(4)
        curve.append(mean_over_queries(ndcg, y[test], scores, qid[test], k=5))
    print(f"{name:19}", *(f"{size} queries: {value:.3f} " for size, value in zip(sizes, curve, strict=True)))
    ax.plot(sizes, curve, "o-", label=name)
ax.set(xscale="log", xlabel="training queries", ylabel="NDCG@5", title="Ranking the documents of new queries")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend()
plt.show()
