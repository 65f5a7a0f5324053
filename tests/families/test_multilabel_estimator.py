"""Multilabel classifier: labels in every form, and errors."""

import pickle
import tracemalloc

import joblib
import numpy as np
import pandas as pd
import pytest
from cases import state
from numpy.testing import assert_array_equal
from ranking_cases import refuses
from reference.sets import allowed, counts_of
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV

from sklearn_predtron import PredtronMultilabelClassifier
from sklearn_predtron.losses import AtK, ErrorSetSize, PrecisionAtK
from sklearn_predtron.metrics import progressive_val_score, subset_scorer
from tests.families.test_multilabel import make, make_data
from tests.problems.test_label_sets import each_loss

# ------------------------------------------------------------------------------------------------------------- indicators


@pytest.mark.parametrize(
    ("part", "value"),
    [
        *(("indices", [0, 1, 2, place]) for place in (4, -1, 10**4, 10**9)),
        *(("indptr", edges) for edges in ([0, 1, 2, 3, 9], [0, 3, 2, 3, 4], [1, 1, 2, 3, 4])),
    ],
)
def test_broken_sparse_indicators(part, value):
    y = sparse.csr_matrix(np.eye(4, dtype=int))
    setattr(y, part, np.array(value, dtype=y.indices.dtype))
    for model in (make(), make().fit(np.eye(4), np.eye(4, dtype=int))):
        for call in (model.fit, model.partial_fit):
            refuses(model, lambda call=call: call(np.eye(4), y), f"y is not a valid CSR matrix: its {part}")


@pytest.mark.parametrize("labels", [["no", "yes"], [3, 7], [-1.0, 1.0], [False, True], [0, 1]], ids=repr)
def test_one_label_with_two_values(labels):
    X, codes = make_data()
    classes, plain = np.array(labels), make(random_state=0).fit(X, codes[:, 0])
    y = classes[codes[:, 0]]
    model = make(random_state=0).fit(X, y)
    assert state(model) == state(plain) == state(make(random_state=0).fit(X, y.tolist()))
    np.testing.assert_array_equal(model.classes_, classes)
    assert model.predict(X).shape == model.decision_function(X).shape == (len(X),)
    np.testing.assert_array_equal(model.predict(X), classes[(model.decision_function(X) > 0).astype(int)])
    assert model.predict(X).dtype == classes.dtype
    assert model.score(X, y) == np.mean(model.predict(X) == y)
    np.testing.assert_array_equal(model.sample_loss(X, y), model.predict(X) != y)
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        column = make(random_state=0).fit(X, y[:, None])
    assert state(column) == state(model)
    np.testing.assert_array_equal(column.predict(X), model.predict(X))

    stream, whole = make(), make().partial_fit(X, y, classes=classes[::-1])
    for i in range(len(y)):
        stream.partial_fit(X[i : i + 1], y[i : i + 1], classes=classes if i == 0 else None)
    assert state(stream) == state(whole)
    with pytest.raises(ValueError, match=r"y contains labels that are not in classes_: .*accepted are"):
        whole.partial_fit(X[:1], [99])
    with pytest.raises(ValueError, match=r"classes=\[98, 99\] is not the same as on the first call"):
        whole.partial_fit(X[:1], y[:1], classes=[98, 99])


@each_loss
def test_rows_without_a_label_and_with_all(loss, formula):
    X, y = make_data()
    for fixed in (np.zeros_like(y), np.ones_like(y), np.where(np.arange(len(y))[:, None] % 2, 0, np.ones_like(y))):
        model = make(loss=loss, random_state=0, max_iter=2).fit(X, fixed)
        assert np.isfinite(model.coef_).all()
        predicted = model.predict(X)
        np.testing.assert_allclose(model.sample_loss(X, fixed), formula(*counts_of(predicted, fixed)), atol=1e-15)
        if isinstance(loss, AtK):
            assert allowed(loss, predicted.sum(axis=1), y.shape[1]).all()
        elif not isinstance(loss, ErrorSetSize) and not fixed.any():
            assert not predicted.any()


# ----------------------------------------------------------------------------------------------------------------- errors


def negative(a, b, c, d):
    return float(b - c)


def not_a_number(a, b, c, d):
    return np.nan if b > 1 else float(b + c)


def never_free(a, b, c, d):
    return 1.0


def mistakes(a, b, c, d):
    return float(b + c)


def broken(a, b, c, d):
    """Fails for sets of three labels."""
    if a + c == 3:
        raise KeyError("broken")
    return mistakes(a, b, c, d)


Y = make_data()[1]


@pytest.mark.parametrize("m", [2, 3, 4])
def test_classes_of_an_indicator_matrix_in_every_form_that_says_so(m):
    """The labels' numbers, the values of all, or of each as MultiOutputClassifier takes them: nothing depends on which."""
    X, y = make_data()
    y = y[:, :m].copy()
    y[:, 0] = 0  # a label that is always off has one value
    both = np.arange(2)
    values = [[0, 1], [1, 0], both, (0.0, 1.0), [False, True], pd.Series([0, 1])]
    each = [[both] * m, ((0, 1),) * m, np.tile(both, (m, 1)), [np.unique(y[:, i]) for i in range(m)], [[1, 0]] * m]
    for classes in [None, np.arange(m), list(range(m)), range(m), make().fit(X, y).classes_, *values, *each]:
        model = make().partial_fit(X[:20], y[:20], classes=classes).partial_fit(X[20:], y[20:], classes=classes)
        assert state(model) == state(make().partial_fit(X, y))
        assert model.classes_.tolist() == list(range(m))


STRANGE_CLASSES = [[-1, 1], ["0", "1"], [0], [], "01", 3, [None, 1], [0, 1, 2, 3, 4], [[0, 1]], [[0, 1]] * 3, [[0, 2]] * 4]
STRANGE_CLASSES += [[[0, 1], [0], [0, 1, 2], [1]], [[], [0], [0], [0]], [["0", "1"]] * 4, [[[0, 1]]] * 4, [0, [0, 1], 1, 2]]


@pytest.mark.parametrize("classes", STRANGE_CLASSES, ids=str)
def test_classes_of_an_indicator_matrix_that_are_none(classes):
    X, y = make_data()
    message = (
        r"classes=.* must be None, the numbers of the 4 labels, 0 to 3, their values, \[0, 1\], or a list of the values of each"
    )
    for model in (make(), make().partial_fit(X, y)):
        refuses(model, lambda model=model: model.partial_fit(X, y, classes=classes), message)


def test_classes_of_one_column():
    """A list of one label's values is that label's values."""
    X, y = make_data()
    alone = make().partial_fit(X, y[:, 0], classes=[0, 1])
    for classes in ([0, 1], [np.arange(2)], [[1, 0]], np.array([[0, 1]]), np.array([[0], [1]])):
        with pytest.warns(DataConversionWarning):
            column = make().partial_fit(X[:20], y[:20, :1], classes=classes).partial_fit(X[20:], y[20:, :1], classes=classes)
        assert state(column) == state(alone)
        assert state(make().partial_fit(X, y[:, 0], classes=classes)) == state(alone)
    for classes in ([[0, 1], [0]], [[0, 1], [0, 1]], 3, "01", [], {0, 1}, [[[0, 1]]]):
        for model in (make(), make().partial_fit(X, y[:, 0], classes=[0, 1])):
            refuses(
                model, lambda c=classes, model=model: model.partial_fit(X, y[:, 0], classes=c), "classes=.* must be a list of"
            )
    refuses(make(), lambda: make().partial_fit(X, y[:, 0], classes=[0]), r"and classes holds 1 class\(es\)")


BAD = [
    (negative, ValueError, r"loss must be finite and not negative; at \(a, b, c, d\) = .* it is -"),
    (not_a_number, ValueError, r"loss must be finite and not negative; at \(a, b, c, d\) = .* it is nan"),
    (never_free, ValueError, r"loss must be 0 without a mistake; at \(a, b, c, d\) = .* it is 1.0"),
    (broken, KeyError, "broken"),
]
each_bad_function = pytest.mark.parametrize(("function", "error", "message"), BAD, ids=[case[0].__name__ for case in BAD])


@each_bad_function
def test_bad_function_at_the_first_round_leaves_the_estimator_as_it_was(function, error, message):
    X, y = make_data(m=5)
    y[:, :3], y[:, 3:] = 1, 0  # what all of them are bad at
    for model in (make(loss=function, shuffle=False), make(shuffle=False).fit(X, y).set_params(loss=function)):
        refuses(model, lambda model=model: model.fit(X, y), message, error)


@each_bad_function
@pytest.mark.parametrize("norm", ["l2", "scaled"])
def test_bad_function_leaves_the_last_complete_round(function, error, message, norm):
    X, y = make_data()
    y[20:25, 2:] = 0  # `broken` bears them
    model, whole = (make(norm=norm, average="uniform").partial_fit(X[:20], y[:20]) for _ in range(2))
    model.set_params(loss=function)
    with pytest.raises(error, match=message):
        model.partial_fit(X[20:], y[20:])
    rounds = model.t_
    assert 20 <= rounds < len(y)
    if function is broken:
        assert rounds == 20 + np.flatnonzero(y[20:].sum(axis=1) == 3)[0] > 24
        assert state(model) == state(whole.set_params(loss=mistakes).partial_fit(X[20:rounds], y[20:rounds]))
    before = pickle.dumps(model)
    with pytest.raises(error, match=message):
        model.partial_fit(X[rounds : rounds + 1], y[rounds : rounds + 1])
    assert state(model) == state(pickle.loads(before))
    twins = [twin.set_params(loss="f1").partial_fit(X[rounds:], y[rounds:]) for twin in (model, pickle.loads(before))]
    assert state(twins[0]) == state(twins[1])
    assert twins[0].t_ == len(y)


def test_loss_and_predictions_are_of_one_problem():
    X, y = make_data()
    model = make().fit(X, y).set_params(loss=PrecisionAtK(k=1))
    assert (model.sample_loss(X, y) >= 0).all()


# ------------------------------------------------------------------------------------------------------------------ sparse sets

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
