"""Sparse sets of labels: what is learned from them predicts, and is scored, without a dense matrix."""

import pickle
import tracemalloc

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV

from sklearn_predtron import PredtronMultilabelClassifier
from sklearn_predtron.metrics import progressive_val_score, subset_scorer

KINDS = [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.coo_array]


def data(n=200):
    return make_multilabel_classification(n, 10, n_classes=6, random_state=0)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("dtype", [np.int64, np.int8, bool, np.float32])
def test_predictions_are_as_sparse_as_the_labels(kind, dtype):
    X, Y = data()
    labels = kind(Y.astype(dtype))
    model = PredtronMultilabelClassifier(random_state=0).fit(X, labels)
    predicted = model.predict(X)
    assert predicted.format == "csr" and predicted.dtype == dtype
    assert isinstance(predicted, sparse.sparray) == isinstance(labels, sparse.sparray)
    dense = PredtronMultilabelClassifier(random_state=0).fit(X, Y)
    assert_array_equal(predicted.toarray(), dense.predict(X))
    assert isinstance(dense.predict(X), np.ndarray)
    assert set(predicted.data.tolist()) == {1}


def test_the_first_call_of_a_stream_says_how():
    X, Y = data()
    first, other = (PredtronMultilabelClassifier().partial_fit(X[:100], labels[:100]) for labels in (sparse.csr_array(Y), Y))
    assert_array_equal(first.partial_fit(X[100:], Y[100:]).predict(X).toarray(), other.partial_fit(X[100:], Y[100:]).predict(X))
    saved = pickle.loads(pickle.dumps(first))
    assert sparse.issparse(saved.predict(X)) and not sparse.issparse(other.predict(X))
    assert not sparse.issparse(first.fit(X, Y).predict(X))


def test_one_label_is_dense():
    X, Y = data()
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model = PredtronMultilabelClassifier(random_state=0).fit(X, sparse.csr_matrix(Y[:, :1]))
    assert_array_equal(model.predict(X), PredtronMultilabelClassifier(random_state=0).fit(X, Y[:, 0]).predict(X))


@pytest.mark.parametrize("loss", ["hamming", "f1", "jaccard", "subset_zero_one"])
def test_measures_are_those_of_dense_labels(loss):
    X, Y = data()
    sets, weight = sparse.csr_matrix(Y), np.random.default_rng(0).random(len(X))
    model, dense = (PredtronMultilabelClassifier(loss=loss, random_state=0).fit(X, labels) for labels in (sets, Y))
    for labels in (sets, Y):
        for scored in (model, dense):
            assert_array_equal(scored.sample_loss(X, labels), dense.sample_loss(X, Y))
            assert scored.score(X, labels, sample_weight=weight) == dense.score(X, Y, sample_weight=weight)
    assert subset_scorer(loss)(model, X, sets) == subset_scorer(loss)(dense, X, Y)
    assert accuracy_score(sets, model.predict(X)) == accuracy_score(Y, dense.predict(X))
    assert f1_score(sets, model.predict(X), average="micro") == f1_score(Y, dense.predict(X), average="micro")
    found = [GridSearchCV(model, {"average": ["linear", False]}, cv=3).fit(X, labels).cv_results_ for labels in (sets, Y)]
    assert_array_equal(found[0]["mean_test_score"], found[1]["mean_test_score"])
    streams = [[(X[i : i + 20], labels[i : i + 20]) for i in range(0, len(X), 20)] for labels in (sets, Y)]
    found = [progressive_val_score(PredtronMultilabelClassifier(loss=loss), stream) for stream in streams]
    assert found[0] == pytest.approx(found[1])


def test_nothing_learned():
    X, Y = data()
    for labels in (Y, sparse.csr_matrix(Y), Y[:, 0]):
        for call in (lambda model: model.predict(X), lambda model, y=labels: model.score(X, y)):
            with pytest.raises(NotFittedError):
                call(PredtronMultilabelClassifier())


def test_labels_that_are_not_of_the_model_are_refused():
    X, Y = data()
    model = PredtronMultilabelClassifier(random_state=0).fit(X, sparse.csr_matrix(Y))
    for measure in (model.score, model.sample_loss):
        with pytest.raises(ValueError, match="X has 200 rows and y has 199"):
            measure(X, sparse.csr_matrix(Y[1:]))
        with pytest.raises(ValueError, match="learning began with 6 label"):
            measure(X, sparse.csr_matrix(Y[:, 1:]))
        with pytest.raises(ValueError, match="y must hold zeros and ones"):
            measure(X, sparse.csr_matrix(2 * Y))


def test_no_dense_matrix_is_made():
    n, m = 3000, 4000
    random = np.random.default_rng(0)
    X = sparse.random(n, 50, 0.1, "csr", random_state=random)
    Y = sparse.random(n, m, 3 / m, "csr", random_state=random, data_rvs=np.ones)
    model = PredtronMultilabelClassifier(max_iter=1, cv=0, random_state=0).fit(X, Y)
    model.predict(X[:10])
    tracemalloc.start()
    with joblib.parallel_config(n_jobs=1):  # each thread has a block of scores
        predicted = model.predict(X)
        model.score(X, Y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert predicted.shape == (n, m) and peak < n * m / 4  # bytes, a quarter of the smallest dense matrix


@pytest.mark.parametrize("frames", ["pandas", "polars", "pyarrow"])
def test_names_of_labels_make_a_frame(frames):
    X, Y = data()
    names = list("abcdef")
    frame = pd.DataFrame(Y, columns=names)
    if frames == "polars":
        frame = pytest.importorskip("polars").DataFrame(Y, schema=names)
    elif frames == "pyarrow":
        frame = pytest.importorskip("pyarrow").table(dict(zip(names, Y.T, strict=True)))
    model = PredtronMultilabelClassifier(random_state=0).fit(X, frame)
    assert model.label_names_.tolist() == names
    predicted = pd.DataFrame(model.predict(X), columns=model.label_names_)
    assert_array_equal(predicted[["f", "a"]], model.predict(X)[:, [5, 0]])
