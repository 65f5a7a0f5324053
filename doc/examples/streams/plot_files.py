"""
Shards in parallel
==================

Several files can be read one after the other, as a stream, or in parallel: one model per file, whose weights are
averaged after each round.  A round of mixing improves less than a pass of the stream.  Use it for files that one
thread cannot read in time.
"""

import os
import tempfile

import matplotlib.pyplot as plt
from sklearn.datasets import dump_svmlight_file, make_classification

from sklearn_predtron import PredtronClassifier
from sklearn_predtron.datasets import SvmlightReader
from sklearn_predtron.mixing import ParameterMixing

X, y = make_classification(
    12_000, n_features=30, n_informative=15, n_classes=5, n_clusters_per_class=1, random_state=0
)
X_test, y_test = X[8000:], y[8000:]
rounds = [1, 2, 5, 10]
accuracy = {}
with tempfile.TemporaryDirectory() as folder:
    files = [os.path.join(folder, f"part-{i}.svm") for i in range(8)]
    for i, path in enumerate(files):
        dump_svmlight_file(X[i:8000:8], y[i:8000:8], path)

    # All files as one stream, one pass:
    stream = PredtronClassifier()
    for path in files:
        for rows, labels, _ in SvmlightReader(path, n_features=30, zero_based=True):
            stream.partial_fit(rows, labels, classes=range(5))
    print(f"a stream, one pass   {stream.score(X_test, y_test):.3f}")

    # One shard per file, for some rounds:
    for n in rounds:
        mixed = ParameterMixing(PredtronClassifier(), rounds=n, random_state=0)
        mixed.fit(files, n_features=30, zero_based=True, classes=range(5))
        accuracy[n] = mixed.score(X_test, y_test)
        print(f"eight shards, {n:2} rounds {accuracy[n]:.3f}")
fitted = PredtronClassifier(random_state=0).fit(X[:8000], y[:8000]).score(X_test, y_test)
print(f"fit in memory        {fitted:.3f}")

figure, ax = plt.subplots(layout="constrained")
ax.plot(rounds, [accuracy[n] for n in rounds], "o-", label="eight shards, mixed after each round")
ax.axhline(stream.score(X_test, y_test), color="C1", linestyle="--", label="the files as a stream, one pass")
ax.axhline(fitted, color="C2", linestyle=":", label="fit, all rows in memory")
ax.set(xlabel="rounds", ylabel="accuracy on held-out rows", title="Eight files of 1,000 rows")
ax.legend()
plt.show()
