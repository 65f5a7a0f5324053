"""Counts of dense rows, which are written late: all statistics are, to the bit, those of rows that are counted one by one."""

import copy
import pickle

import numpy as np
import pytest
from cases import state
from scipy import sparse

from sklearn_predtron import PredtronClassifier
from sklearn_predtron.families.input.reading import Columns

COUNT, LAST = 3, 4
ROWS = 300


def lesson(p, seed=0):
    """Rows of features with offsets, constants and outliers; the last feature is 0 throughout."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((ROWS, p)) * 10 ** rng.uniform(-2, 2, p) + rng.choice([0, 5, -30], p)
    X[:, ::3] *= rng.random((ROWS, len(range(0, p, 3)))) < 0.5
    X[:150, 1::5] = 0.1
    X[rng.random((ROWS, p)) < 0.01] *= 1e4
    X[:, -1] = 0
    return X, rng.integers(0, 3, ROWS)


def saved(model, p):
    """Statistics of p features as they are saved, a field a row."""
    return model._model.learner.weights.__reduce__()[2][0][-1][:, :p]


def counting(model, p):
    """A copy that writes every count: that of a feature without effect is one more, so that they are not alike."""
    model = copy.deepcopy(model)
    learner = model._model.learner
    kind, arguments, values = learner.weights.__reduce__()
    values[0][-1][COUNT, p - 1] += 1
    weights = kind(*arguments)
    weights.__setstate__(values)
    problem, _, _, observer = learner.parts()
    model._model.learner = learner.with_weights(weights, problem, observer)
    return model


def assert_same(model, other, p, differs=-1):
    """The same to the bit, but for the count that was made to differ."""
    found, expected = saved(model, p), saved(other, p).copy()
    expected[COUNT, differs] -= 1
    assert state(model) == state(other)
    np.testing.assert_array_equal(found, expected)


def widen(model, p):
    """Let rows have p features, with room for some more."""
    learner = model._model.learner
    problem, _, _, observer = learner.parts()
    weights = learner.weights.resized(p + 2, problem.d, range(problem.d))
    weights.widen(p)
    model._model = model._model.replace(learner=learner.with_weights(weights, problem, observer), columns=Columns(p))
    return model


def pickled(model):
    return pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("p", [2, 4, 5, 11, 24, 75])
@pytest.mark.parametrize("first", [1, 9, 127])
def test_dense_rows(first, p, dtype):
    X, y = lesson(p)
    X = X.astype(dtype)
    model = PredtronClassifier(norm="scaled").partial_fit(X[:first], y[:first], classes=range(3))
    models = [model, counting(model, p)]
    ends = [first + 1, first + 2, 130, 200, 201, 256, 257, ROWS]
    for start, stop in zip([first, *ends], ends, strict=False):
        for each in models:
            each.partial_fit(X[start:stop], y[start:stop])
        assert_same(*models, p)
        assert (saved(model, p)[[COUNT, LAST]] == stop).all()
    assert (saved(model, p)[1, :-1] > 0).all()


@pytest.mark.parametrize("between", [copy.copy, copy.deepcopy, pickled])
@pytest.mark.parametrize("forms", ["dsd", "dds", "dssd", "sdd"])
def test_dense_and_sparse_rows(forms, between):
    """Those of CSR rows find the counts of the dense ones before, in a copy too."""
    X, y = lesson(11)
    model = PredtronClassifier(norm="scaled").partial_fit(X[:20], y[:20], classes=range(3))
    models = [model, counting(model, 11)]
    for number, form in enumerate(forms):
        models = [between(each) for each in models]
        rows, labels = X[20 + 47 * number :][:47], y[20 + 47 * number :][:47]
        for each in models:
            each.partial_fit(sparse.csr_matrix(rows) if form == "s" else rows, labels)
        assert_same(*models, 11)


@pytest.mark.parametrize("forms", ["dd", "ds", "sd"])
def test_features_to_come(forms):
    """They had zeros in the dense rows before, which count."""
    X, y = lesson(11)
    narrow = np.delete(X, [6, 7, 8, 9], axis=1)
    wide = np.column_stack([narrow, X[:, 6:10]])
    model = PredtronClassifier(norm="scaled").partial_fit(narrow[:37], y[:37], classes=range(3))
    models = [widen(each, 11) for each in (model, counting(model, 7))]
    for number, form in enumerate(forms):
        rows, labels = wide[37 + 50 * number :][:50], y[37 + 50 * number :][:50]
        for each in models:
            each.partial_fit(sparse.csr_matrix(rows) if form == "s" else rows, labels)
        assert_same(*models, 11, differs=6)


def test_statistics_that_came_from_elsewhere():
    """Those of mixed weights are as good as their own: which counts are the rows is looked at."""
    X, y = lesson(11)
    model = PredtronClassifier(norm="scaled").partial_fit(X[:100], y[:100], classes=range(3))
    other = counting(model, 11)
    for each in (model, other):
        weights = each._model.learner.weights
        weights.adopt(weights.export(), True)
        each.partial_fit(X[100:], y[100:])
    assert_same(model, other, 11)
