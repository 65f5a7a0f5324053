"""python tests/golden/write.py: write the models of this version, which the next ones read."""

import gzip
import pickle
from pathlib import Path

import numpy as np

import sklearn_predtron
from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from sklearn_predtron.norms import RKHS

FAMILIES = {
    "binary": PredtronBinaryClassifier,
    "bipartite": PredtronBipartiteClassifier,
    "multiclass": PredtronClassifier,
    "ordinal": PredtronOrdinalClassifier,
    "multilabel": PredtronMultilabelClassifier,
    "ranking": PredtronRanker,
    "label ranking": PredtronLabelRanker,
}
FILED = "multiclass", "l2"  # one model is also a model file: its state is that of the pickle
NORMS = {"l2": "l2", "l1": "l1", "group": "group", "trace": "trace", "scaled": "scaled", "rkhs": RKHS(gamma=0.5)}


def data(family):
    """Return forty rows, their labels, and what else the calls take; of sines, which every version of NumPy computes."""
    X = 2 * np.sin(np.arange(160.0).reshape(40, 4) * [1.0, 1.7, 2.3, 3.1] + 0.5)
    t = X @ np.array([[1.0, -1, 0.5], [0, 1, -1], [1, 0, 1], [-1, 0.5, 0]])
    if family == "ranking":
        return X, np.digitize(t[:, 0], [-1, 1]).astype(float), {"qid": np.repeat(np.arange(10), 4)}
    if family == "multilabel":
        return X, (t > 0).astype(int), {}
    if family == "label ranking":
        return X, np.digitize(t, [-1, 1]).astype(float), {}
    if family == "bipartite":
        return X, (t[:, 0] > 0) * 1, {"groups": np.repeat(np.arange(10), 4)}
    return X, {"binary": t[:, 0] > 0, "multiclass": t.argmax(axis=1), "ordinal": np.digitize(t[:, 0], [-1, 1])}[family] * 1, {}


def learn(model, X, y, more, rows):
    """Let a model learn some of the rows."""
    first = not model.__sklearn_is_fitted__()
    classes = {"classes": np.unique(y)} if first and y.ndim == 1 and "qid" not in more else {}
    return model.partial_fit(X[rows], y[rows], **{name: value[rows] for name, value in more.items()}, **classes)


def main():
    """Write models in the midst of a stream, with what they predict."""
    saved, path = {}, Path(__file__).with_name(f"{sklearn_predtron.__version__}.pkl.gz")
    for family, kind in FAMILIES.items():
        X, y, more = data(family)
        for norm, value in NORMS.items():
            model = learn(kind(norm=value, random_state=0), X, y, more, slice(0, 24))
            predicted = model.predict(X)
            scores = predicted if family == "ranking" else model.decision_function(X)
            saved[family, norm] = pickle.dumps(model, protocol=4), predicted, scores
            if (family, norm) == FILED:
                model.save(str(path).replace(".pkl.gz", ".predtron"))
    path.write_bytes(gzip.compress(pickle.dumps(saved, protocol=4), mtime=0))


if __name__ == "__main__":
    main()
