"""The ordinal classifier among its users: labels and their order, errors, scores, weights, searches, a real data set."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from cases import assert_close, cost_table, name, random_code, random_costs, state, updates
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.preprocessing import scale

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier
from sklearn_predtron.losses import Absolute, CostMatrix
from sklearn_predtron.representations import Thermometer
from sklearn_predtron.updates import PRank
from tests.inside import problem_of

NAMES = np.array(["low", "medium", "high", "extreme"])  # alphabetically extreme, high, low, medium


def make_data(r=4, n=120, p=5, noise=0.5, seed=0):
    """Rows and noisy ranks, all of which occur."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    score = X @ rng.standard_normal(p) + noise * rng.standard_normal(n)
    return X, np.searchsorted(np.quantile(score, np.arange(1, r) / r), score)


def fitted(**settings):
    X, y = make_data()
    return PredtronOrdinalClassifier(random_state=0, **settings).fit(X, y)


def bits(model):
    """Everything the model is."""
    return pickle.dumps(model)


# -------------------------------------------------------------------------------------------------------- labels, their order


def test_default_is_the_absolute_loss_of_thermometers():
    X, y = make_data()
    parts = PredtronOrdinalClassifier(loss=Absolute(), representation=Thermometer(), random_state=0).fit(X, y)
    distance = np.abs(np.subtract.outer(range(4), range(4)))
    tables = PredtronOrdinalClassifier(loss=distance, representation=Thermometer().code(4), random_state=0).fit(X, y)
    given = fitted(representation="thermometer")
    assert state(parts) == state(given)
    assert_close(given.coef_, tables.coef_)
    assert given.coef_.shape == (3, 5)
    others = [
        fitted(**{"representation": "thermometer", **other})
        for other in ({"loss": "zero_one", "decision": "learned"}, {"representation": "shared"}, {"representation": "onehot"})
    ]
    assert all(state(other) != state(given) for other in others)


@pytest.mark.parametrize(("noise", "n"), [(0.1, 150), (2.0, 100)])
def test_folds_choose_between_thresholds_of_their_own_and_one_direction(noise, n):
    """The choice is one of the two fits, the one with the lower held-out losses; streams and ``cv=0`` compare nothing."""
    X, y = make_data(n=n, noise=noise)
    model, *fits = (
        PredtronOrdinalClassifier(representation=representation, random_state=0).fit(X, y)
        for representation in ("auto", "thermometer", "shared")
    )
    same = [state(model) == state(fit) for fit in fits]
    assert sum(same) == 1
    losses = [fit.held_out_loss_[fit.n_iter_] for fit in fits]
    assert losses[same.index(True)] == min(losses)
    streamed = PredtronOrdinalClassifier().partial_fit(X, y, classes=range(4))
    thermometer = PredtronOrdinalClassifier(representation="thermometer").partial_fit(X, y, classes=range(4))
    assert state(streamed) == state(thermometer)
    assert PredtronOrdinalClassifier(cv=0, random_state=0).fit(X, y).coef_.shape == (3, 5)
    with pytest.raises(ValueError, match="representation='shared' has 3 scores of one direction and the weights so far have 3"):
        streamed.set_params(representation="shared").partial_fit(X, y)


@pytest.mark.parametrize("labels", [[3, 5, 7, 8], [-9, -7, -1, 0], [0.0, 1.0, 2.0, 10.0], [2, 4, 2**62, 2**62 + 1]], ids=str)
def test_labels_are_numbered_in_their_order(labels):
    """Distances are those of the ranks, whatever the labels are."""
    X, y = make_data()
    labels = np.array(labels)
    model = PredtronOrdinalClassifier(cv=0, random_state=0).fit(X, labels[y])
    assert state(model) == state(fitted(cv=0))
    np.testing.assert_array_equal(model.classes_, labels)
    np.testing.assert_array_equal(model.predict(X), labels[fitted(cv=0).predict(X)])
    assert model.predict(X).dtype == labels.dtype
    assert model.score(X, labels[y]) == fitted(cv=0).score(X, y)
    np.testing.assert_array_equal(model.sample_loss(X, labels[y]), np.abs(fitted(cv=0).predict(X) - y))


@pytest.mark.parametrize("kind", [str, object], ids=str)
def test_text_without_categories_is_in_the_order_of_the_alphabet_with_a_warning(kind):
    X, y = make_data()
    y = NAMES[y].astype(kind)
    with pytest.warns(UserWarning, match=r"order is that of the alphabet: \['extreme', 'high', 'low', 'medium'\]; categories="):
        model = PredtronOrdinalClassifier().fit(X, y)
    assert model.classes_.tolist() == ["extreme", "high", "low", "medium"]
    with pytest.warns(UserWarning, match="alphabet") as caught:
        stream = PredtronOrdinalClassifier().partial_fit(X[:9], y[:9], classes=NAMES)
        stream.partial_fit(X[9:30], y[9:30]).partial_fit(X[30:31], y[30:31]).partial_fit(X[31:], y[31:], classes=NAMES)
    assert len(caught) == 1


@pytest.mark.parametrize("kind", [str, object], ids=str)
@pytest.mark.parametrize("form", [list, tuple, np.array, lambda c: np.array(c, dtype=object), pd.Index, pd.Series], ids=range(6))
def test_categories_give_the_order(form, kind):
    X, y = make_data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = PredtronOrdinalClassifier(categories=form(NAMES.tolist()), cv=0, random_state=0).fit(X, NAMES[y].astype(kind))
        stream = PredtronOrdinalClassifier(categories=form(NAMES.tolist()), random_state=0)
        stream.partial_fit(X[:2], NAMES[y[:2]].astype(kind)).partial_fit(X[2:], NAMES[y[2:]].astype(kind))
    assert model.classes_.tolist() == stream.classes_.tolist() == NAMES.tolist()
    assert state(model) == state(fitted(cv=0))
    np.testing.assert_array_equal(model.predict(X), NAMES[fitted(cv=0).predict(X)])
    assert state(stream) == state(PredtronOrdinalClassifier().partial_fit(X, y, classes=range(4)))


def test_categories_of_numbers_turn_the_order_round():
    X, y = make_data()
    model = PredtronOrdinalClassifier(categories=[3, 2, 1, 0], cv=0, random_state=0).fit(X, y)
    assert state(model) == state(PredtronOrdinalClassifier(cv=0, random_state=0).fit(X, 3 - y))
    assert model.classes_.tolist() == [3, 2, 1, 0]
    np.testing.assert_array_equal(3 - model.predict(X), PredtronOrdinalClassifier(cv=0, random_state=0).fit(X, 3 - y).predict(X))


def test_ranks_that_never_occur_are_kept():
    X, y = make_data()
    there = y != 2
    column = pd.Categorical(NAMES[y[there]], categories=[*NAMES, "beyond"], ordered=True)
    for model in (
        PredtronOrdinalClassifier(categories=[*NAMES, "beyond"], cv=0).fit(X[there], NAMES[y[there]]),
        PredtronOrdinalClassifier(categories=[*NAMES, "beyond"], representation="shared", cv=0).fit(X[there], NAMES[y[there]]),
        PredtronOrdinalClassifier(cv=0).fit(X[there], column),
    ):
        assert model.classes_.tolist() == [*NAMES, "beyond"]
        assert model.intercept_.shape == (4,)
        assert model.decision_function(X).shape == (len(X), 5)
        assert {"low", "medium", "extreme"} <= set(model.predict(X)) <= set(NAMES)
        mean = np.abs(pd.Index(model.classes_).get_indexer(model.predict(X)) - y).mean()
        np.testing.assert_allclose(model.score(X, NAMES[y]), 1 - mean / 4)
        model.partial_fit(X[:1], ["beyond"])


def test_partial_fit_with_categories_needs_no_classes():
    X, y = make_data()
    given = PredtronOrdinalClassifier(categories=NAMES).partial_fit(X, NAMES[y], classes=sorted(NAMES))
    assert state(PredtronOrdinalClassifier(categories=NAMES).partial_fit(X, NAMES[y])) == state(given)
    with pytest.raises(ValueError, match="classes must be passed on the first call to partial_fit"):
        PredtronOrdinalClassifier().partial_fit(X, NAMES[y])


# -------------------------------------------------------------------------------------------------------------------- errors

MISTAKES = [
    (["low", "low", "high"], r"categories=\['low', 'low', 'high'\] must be a list of at least two different labels"),
    (["low", "high"], r"y .*not in .*: \[.*'medium'.*\]; accepted are \['low', 'high'\]"),
    ([0, 1, 2, 3], r"y .*not in .*: \[.*'medium'.*\]; accepted are \[0, 1, 2, 3\]"),
    ("low", r"The 'categories' parameter of PredtronOrdinalClassifier must be an array-like or None. Got 'low'"),
    (["low"], r"categories=\['low'\]"),
    ([], r"categories=\[\]"),
    ([["low", "high"]] * 2, "categories"),
    (["low", None], "categories"),
]


@pytest.mark.parametrize(("categories", "message"), MISTAKES, ids=range(8))
def test_categories_that_are_none(categories, message):
    """Nothing changes, neither in a new estimator nor in a fitted one."""
    X, y = make_data()
    y = np.full(len(y), "low") if categories == ["low"] else NAMES[y]
    fitted = PredtronOrdinalClassifier(categories=NAMES, cv=0).fit(X, NAMES[make_data()[1]])
    for model in (PredtronOrdinalClassifier(categories=categories), fitted.set_params(categories=categories)):
        before = bits(model)
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)
        assert bits(model) == before
    for first in (1, len(y)):
        model = PredtronOrdinalClassifier(categories=categories)
        with pytest.raises(ValueError, match=message):
            model.partial_fit(X[-first:], y[-first:])
        assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("classes", [NAMES[:3].tolist(), [*NAMES.tolist(), "vast"], [0, 1, 2, 3]], ids=str)
def test_classes_that_are_not_the_categories(classes):
    X, y = make_data()
    model = PredtronOrdinalClassifier(categories=NAMES)
    named = ", ".join(map(repr, classes))
    with pytest.raises(ValueError, match=rf"classes=\[{named}\].* categories: \['low', 'medium', 'high', 'extreme'\]"):
        model.partial_fit(X, NAMES[y], classes=classes)
    assert not hasattr(model, "classes_")
    before = bits(model.partial_fit(X, NAMES[y], classes=NAMES))
    with pytest.raises(ValueError, match=rf"classes=\[{named}\].*: \['low', 'medium', 'high', 'extreme'\]"):
        model.partial_fit(X, NAMES[y], classes=classes)
    assert bits(model) == before


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        (NAMES[::-1], r"categories=\['extreme', .*\] are not in the order in which learning began: \['low', .*\]"),
        ([*NAMES, "beyond"], r"categories .*\['beyond'\]; accepted are \['low', .*'extreme'\]"),
        ([0, 1, 2, 3], r"categories .*\[0, 1, 2, 3\]; accepted are \['low', .*'extreme'\]"),
        (NAMES[:3], r"categories=\['low', .*\] cannot change from \['low', .*'extreme'\]"),
    ],
    ids=range(4),
)
def test_categories_cannot_change_in_mid_stream(categories, message):
    X, y = make_data()
    there = y < 3
    model = PredtronOrdinalClassifier(categories=NAMES).partial_fit(X, NAMES[y])
    model.set_params(categories=categories)
    before = bits(model)
    for rows in (slice(None), slice(0, 1)):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(X[there][rows], NAMES[y][there][rows])
        assert bits(model) == before
    twin = PredtronOrdinalClassifier(categories=NAMES).partial_fit(X, NAMES[y]).partial_fit(X, NAMES[y])
    assert state(model.set_params(categories=NAMES).partial_fit(X, NAMES[y])) == state(twin)


# ---------------------------------------------------------------------------------------------------------- scores and losses


@pytest.mark.parametrize("representation", ["thermometer", "shared", "onehot", random_code(4, 3)], ids=name)
@pytest.mark.parametrize("loss", ["absolute", "squared", "zero_one", random_costs(4), CostMatrix(random_costs(4))], ids=name)
def test_score_and_sample_loss(loss, representation):
    X, y = make_data(noise=3.0)
    model = PredtronOrdinalClassifier(loss=loss, representation=representation, categories=NAMES, random_state=0).fit(X, NAMES[y])
    predicted = np.array([NAMES.tolist().index(label) for label in model.predict(X)])
    distance, weight = np.abs(predicted - y), np.random.default_rng(0).uniform(0, 2, len(y))
    costs = {"absolute": distance, "squared": distance**2, "zero_one": distance > 0}
    cost = costs[loss] if isinstance(loss, str) else random_costs(4)[y, predicted]
    np.testing.assert_array_equal(model.sample_loss(X, NAMES[y]), cost)
    np.testing.assert_allclose(model.score(X, NAMES[y]), 1 - distance.mean() / 3)
    np.testing.assert_allclose(model.score(X, NAMES[y], weight), 1 - np.average(distance, weights=weight) / 3)
    assert 0 < model.score(X, NAMES[y]) < 1
    assert model.score(X, model.predict(X)) == 1


@pytest.mark.parametrize("r", [2, 3, 6])
@pytest.mark.parametrize("representation", ["thermometer", "shared", "onehot", "simplex"])
def test_decision_function_is_the_decoded_scores(representation, r):
    """For two ranks the score t of the upper one, or the difference of the two."""
    X, y = make_data(r)
    model = PredtronOrdinalClassifier(representation=representation, random_state=0).fit(X, y)
    t = X @ model.coef_.T + model.intercept_
    code = np.eye(r)
    if representation in ("thermometer", "shared"):
        code = np.array([[1 if k > j else -1 for j in range(r - 1)] for k in range(r)]) / np.sqrt(r - 1)
    elif representation == "simplex":
        code = problem_of(model).decision(np.eye(r - 1)).T
    decoded = t @ code.T
    if r == 2:
        decoded = t[:, 1] - t[:, 0] if representation == "onehot" else t[:, 0] * code[1, 0]
    assert_close(model.decision_function(X), decoded)
    assert_close(model.decision_function(sparse.csr_matrix(X)), decoded)
    assert model.decision_function(X).shape == ((len(X),) if r == 2 else (len(X), r))
    np.testing.assert_array_equal(model.predict(X), decoded > 0 if r == 2 else decoded.argmax(axis=1))


@pytest.mark.parametrize("r", [2, 3, 5])
@pytest.mark.parametrize(("representation", "expected"), [("thermometer", -1), ("shared", -1), ("onehot", 0)])
def test_ties_are_the_highest_rank_on_thermometers(representation, expected, r):
    """Scores of 0 are above their thresholds; one-hot rows tie for the first."""
    X, y = make_data(r)
    settings = {} if representation == "shared" else {"fit_intercept": False}
    model = PredtronOrdinalClassifier(norm="l2", representation=representation, **settings)
    model.partial_fit(X, y, classes=range(r), sample_weight=np.zeros(len(y)))
    assert set(model.predict(X)) == {model.classes_[expected]}
    if representation != "shared":
        model.fit(X, y)
        assert model.predict(np.zeros((1, 5)))[0] == model.classes_[expected]
        assert len(set(model.predict(X))) == r


def test_a_score_on_its_threshold_is_above_it():
    """After one whole-number step t = (2, 2, -2, -2) x + b: every row where a score is exactly 0 goes up."""
    model = PredtronOrdinalClassifier(norm="l2", update="perceptron", average=False, fit_intercept=False)
    model.partial_fit([[1.0, 0]], [0], classes=range(5)).partial_fit([[0, 1.0]], [4])
    np.testing.assert_array_equal(model.coef_, [[-1.0, 1]] * 4)
    assert model.predict([[1.0, 1], [2, 1], [1, 2], [0, 0]]).tolist() == [4, 0, 4, 4]
    shared = PredtronOrdinalClassifier(norm="l2", update="prank", average=False, representation="shared")
    shared.partial_fit([[1.0]], [2], classes=range(5))
    np.testing.assert_array_equal([*shared.coef_[0], *shared.intercept_], [0, 1, 1, -1, -1])
    shared.partial_fit([[1.0]], [4]).partial_fit([[1.0]], [3])
    u, b = shared.coef_[0, 0], shared.intercept_
    on = np.array([[-offset / u] for offset in b])
    assert [int(label) for label in shared.predict(on)] == [int((u * x + b >= 0).sum()) for x in on[:, 0]]
    assert ((u * on + b) == 0).any(axis=1).all()


# ------------------------------------------------------------------------------------------------------------ weights of rows


def test_class_weights_go_by_label():
    X, y = make_data()
    labels, weight = np.array([7, 3, 5, -1])[y], np.random.default_rng(1).uniform(0.5, 2, len(y))
    settings = {"categories": [7, 3, 5, -1], "max_iter": 3, "random_state": 0}
    of_label = np.where(labels == 3, 4.0, np.where(labels == -1, 0.25, 1))
    for given in (None, weight):
        model = PredtronOrdinalClassifier(class_weight={3: 4.0, -1: 0.25}, **settings).fit(X, labels, given)
        twin = PredtronOrdinalClassifier(**settings).fit(X, labels, of_label if given is None else of_label * given)
        assert state(model) == state(twin)
    stream = PredtronOrdinalClassifier(class_weight={3: 4.0, -1: 0.25}, **settings)
    for i in range(len(y)):
        stream.partial_fit(X[i : i + 1], labels[i : i + 1])
    assert state(stream) == state(PredtronOrdinalClassifier(**settings).partial_fit(X, labels, sample_weight=of_label))
    with pytest.raises(ValueError, match=r"class_weight names \[0\], not in classes_: \[7, 3, 5, -1\]"):
        PredtronOrdinalClassifier(class_weight={0: 1.0}, **settings).fit(X, labels)


# ------------------------------------------------------------------------------------------------------- streams and searches


def test_batches_of_ordered_columns_are_a_stream():
    """Each batch brings its own dtype, in the same order; some have fewer categories."""
    X, y = make_data()
    whole = PredtronOrdinalClassifier(categories=NAMES).partial_fit(X, NAMES[y])
    stream = PredtronOrdinalClassifier()
    for i in range(0, len(y), 10):
        column = pd.Series(pd.Categorical(NAMES[y[i : i + 10]], categories=NAMES, ordered=True))
        stream.partial_fit(X[i : i + 10], column if i == 0 else column.cat.remove_unused_categories())
    assert state(stream) == state(whole)


@pytest.mark.parametrize("representation", ["thermometer", "shared"])
@pytest.mark.parametrize("update", updates(), ids=name)
def test_two_ranks_are_two_classes(update, representation):
    """The thermometer of two is the sign: the same weights, averages and predictions."""
    X, y = make_data(2, noise=1.0)
    how = {"norm": "l2", "update": update, "random_state": 0, "max_iter": 3}
    binary = PredtronBinaryClassifier(**how).fit(X, y)
    model = PredtronOrdinalClassifier(representation=representation, **how).fit(X, y)
    for attribute in ("coef_", "intercept_", "last_coef_", "last_intercept_"):
        assert_close(getattr(model, attribute), getattr(binary, attribute))
    np.testing.assert_array_equal(model.predict(X), binary.predict(X))
    assert_close(model.decision_function(X), binary.decision_function(X))
    assert (model.n_mistakes_, model.cumulative_loss_) == (binary.n_mistakes_, binary.cumulative_loss_)


@pytest.mark.parametrize("representation", ["thermometer", "shared"])
def test_text_labels_of_sparse_rows(representation):
    X, y = make_data(noise=0.1)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = 0
    how = {"norm": "l2", "representation": representation, "random_state": 0}
    dense = PredtronOrdinalClassifier(**how).fit(X, y)
    for kind in (sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix):
        model = PredtronOrdinalClassifier(categories=NAMES, **how).fit(kind(X), NAMES[y])
        assert_close(model.coef_, dense.coef_)
        np.testing.assert_array_equal(model.predict(kind(X)), NAMES[dense.predict(X)])
        assert model.score(kind(X), NAMES[y]) == dense.score(X, y) > 0.7


def test_the_loss_suffered_is_the_estimators_own():
    """`cumulative_loss_` in the units of the loss: one round from zero weights, where the worst rank counts."""
    X, _ = make_data()
    for loss, label, suffered in [("absolute", 1, 2.0), ("squared", 0, 9.0), ("zero_one", 3, 1.0), (random_costs(4), 0, None)]:
        model = PredtronOrdinalClassifier(loss=loss, decision="learned").partial_fit(X[:1], [label], classes=range(4))
        assert model.cumulative_loss_ == (cost_table(CostMatrix(loss), 4)[label].max() if suffered is None else suffered)


# ------------------------------------------------------------------------------------------------------------- a real data set


@pytest.mark.slow
def test_diabetes_in_five_ranks():
    """Mean absolute errors of cross-validation: near or below regression that is rounded, well below plain classification."""
    X, target = load_diabetes(return_X_y=True)
    X, y = scale(X), np.searchsorted(np.quantile(target, [0.2, 0.4, 0.6, 0.8]), target)
    models = {
        "default": PredtronOrdinalClassifier(random_state=0),
        "shared": PredtronOrdinalClassifier(representation="shared", random_state=0),
        "prank": PredtronOrdinalClassifier(representation="shared", update="prank", random_state=0),
        "zero_one": PredtronOrdinalClassifier(loss="zero_one", random_state=0),
        "classes": PredtronClassifier(random_state=0),
        "ridge": Ridge(),
    }
    error = dict.fromkeys(models, 0.0)
    for seed in range(3):
        folds = KFold(5, shuffle=True, random_state=seed)
        for key, model in models.items():
            predicted = cross_val_predict(model, X, y.astype(float) if key == "ridge" else y, cv=folds)
            error[key] += np.abs(np.clip(np.round(predicted), 0, 4) - y).mean() / 3
    assert max(error["default"], error["shared"], error["prank"]) < 1.05 * error["ridge"]
    assert error["default"] < error["zero_one"]
    assert error["default"] < 0.95 * error["classes"]


def test_half_stars_are_ranks_once_they_are_declared():
    X, y = np.arange(30.0)[:, None], np.repeat([1, 1.5, 2], 10)
    with pytest.raises(ValueError, match=r"Unknown label type: continuous, .* declare them: categories=\[1, 1.5, 2, ...\]"):
        PredtronOrdinalClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"Unknown label type: continuous, .* declare them: categories=\[1, 1.5, 2, ...\]"):
        PredtronOrdinalClassifier().partial_fit(X, y, classes=[1, 1.5, 2])
    for model in (
        PredtronOrdinalClassifier(categories=[1, 1.5, 2]).fit(X, y),
        PredtronOrdinalClassifier().fit(X, pd.Categorical(y, ordered=True)),
    ):
        assert model.classes_.tolist() == [1, 1.5, 2]


def test_labels_that_a_meta_estimator_has_numbered():
    X, y = load_iris(return_X_y=True)
    names = np.array(["low", "medium", "high"])
    model = PredtronOrdinalClassifier(categories=names)
    with pytest.raises(ValueError, match=r"accepted .* has numbered them .*, number the labels before"):
        BaggingClassifier(model, random_state=0).fit(X, names[y])
    with pytest.raises(ValueError, match=r"\['lo'\]; accepted are \['low', 'medium', 'high'\]\.$"):
        model.fit(X, np.where(y == 0, "lo", names[y]))


# -------------------------------------------------------------------------------------------------- thresholds on one direction


def data(n=300, r=4):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 5)) + 2
    score = X @ random.standard_normal(5) + random.standard_normal(n) / 2
    return X, np.digitize(score, np.quantile(score, np.arange(1, r) / r))


@pytest.mark.parametrize("norm", ["l2", "l1", "scaled"])
@pytest.mark.parametrize("update", ["adaptive", PRank()], ids=str)
@pytest.mark.parametrize("r", [2, 4])
def test_ordered_thresholds_on_the_direction_predict(norm, update, r):
    X, y = data(r=r)
    model = PredtronOrdinalClassifier(representation="shared", norm=norm, update=update, random_state=0).fit(X, y)
    thresholds = model.thresholds_
    assert thresholds.shape == (r - 1,) and (np.diff(thresholds) >= 0).all()
    assert_array_equal((X @ model.coef_[0] >= thresholds[:, None]).sum(axis=0), model.predict(X))
    with pytest.raises(ValueError, match="read-only"):
        thresholds[0] = 0


def test_they_are_those_of_what_predicts():
    X, y = data()
    model = PredtronOrdinalClassifier(representation="shared", random_state=0).fit(X, y)
    assert_array_equal(-model.thresholds_, model.intercept_)
    assert (model.thresholds_ != -model.last_intercept_).any()


@pytest.mark.parametrize("representation", ["thermometer", "onehot"])
def test_several_directions_have_none(representation):
    X, y = data()
    model = PredtronOrdinalClassifier(representation=representation, random_state=0).fit(X, y)
    assert not hasattr(model, "thresholds_")
    with pytest.raises(AttributeError, match="thresholds_ is of representation='shared'"):
        model.thresholds_  # noqa: B018


# ------------------------------------------------------------------------------------------------ columns that declare an order


def codes_of(y, names):
    return np.array([list(names).index(label) for label in y])


def dictionary(y, names=NAMES, *, ordered=True):
    return pa.DictionaryArray.from_arrays(pa.array(codes_of(y, names), pa.int8()), pa.array(list(names)), ordered=ordered)


def chunks(y, names=NAMES):
    return pa.chunked_array([dictionary(y[:7], names), dictionary(y[7:], names)])


def arrow_series(y, names=NAMES):
    return pd.Series(pd.arrays.ArrowExtensionArray(chunks(y, names)), index=np.arange(len(y))[::-1])


ORDERED = {
    "polars Enum": lambda y, names=NAMES: pl.Series("grade", y, dtype=pl.Enum(list(names))),
    "Arrow dictionary": dictionary,
    "Arrow chunks": chunks,
    "pandas Series of Arrow": arrow_series,
    "pandas Index of Arrow": lambda y, names=NAMES: pd.Index(arrow_series(y, names)),
    "pandas array of Arrow": lambda y, names=NAMES: arrow_series(y, names).array,
    "pandas Categorical": lambda y, names=NAMES: pd.Categorical(y, categories=names, ordered=True),
    "pandas Series": lambda y, names=NAMES: pd.Series(pd.Categorical(y, categories=names, ordered=True)),
    "pandas CategoricalIndex": lambda y, names=NAMES: pd.CategoricalIndex(y, categories=names, ordered=True),
}
FRAMES = {
    "pandas": lambda y: pd.DataFrame({"grade": pd.Categorical(y, categories=NAMES, ordered=True)}),
    "pandas of Arrow": lambda y: pd.DataFrame({"grade": arrow_series(y)}),
    "polars": lambda y: pl.DataFrame({"grade": ORDERED["polars Enum"](y)}),
    "Arrow": lambda y: pa.table({"grade": chunks(y)}),
}
UNORDERED = {
    "polars Categorical": lambda y: pl.Series(y, dtype=pl.Categorical),
    "polars String": lambda y: pl.Series(y.tolist()),
    "Arrow dictionary": lambda y: dictionary(y, ordered=False),
    "Arrow text": lambda y: pa.array(y.tolist()),
    "pandas Series of Arrow": lambda y: pd.Series(pd.arrays.ArrowExtensionArray(dictionary(y, ordered=False))),
    "pandas Categorical": lambda y: pd.Categorical(y, categories=NAMES),
    "pandas Series": lambda y: pd.Series(pd.Categorical(y, categories=NAMES)),
    "pandas frame": lambda y: pd.DataFrame({"grade": pd.Categorical(y, categories=NAMES)}),
}


@pytest.mark.parametrize("form", ORDERED)
def test_columns_bring_their_order(form):
    X, codes = make_data()
    y, column = NAMES[codes], ORDERED[form]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = PredtronOrdinalClassifier(cv=0, random_state=0).fit(X, column(y))
        stream = PredtronOrdinalClassifier().partial_fit(X[:9], column(y[:9]))
        stream.partial_fit(X[9:10], column(y[9:10])).partial_fit(X[10:], column(y[10:]))
    assert model.classes_.tolist() == stream.classes_.tolist() == NAMES.tolist()
    assert state(model) == state(PredtronOrdinalClassifier(cv=0, random_state=0).fit(X, codes))
    assert state(stream) == state(PredtronOrdinalClassifier().partial_fit(X, codes, classes=range(4)))
    assert model.score(X, column(y)) == model.score(X, y)
    np.testing.assert_array_equal(model.sample_loss(X, column(y)), model.sample_loss(X, y))
    turned = PredtronOrdinalClassifier(cv=0).fit(X, column(y, NAMES[::-1]))
    assert turned.classes_.tolist() == NAMES[::-1].tolist()
    given = PredtronOrdinalClassifier(categories=NAMES, cv=0).fit(X, column(y, NAMES[::-1]))
    assert given.classes_.tolist() == NAMES.tolist()
    with pytest.raises(ValueError, match=r"categories=\['extreme', .*\] are not in the order .* \['low', "):
        stream.partial_fit(X, column(y, NAMES[::-1]))


@pytest.mark.parametrize("form", ORDERED)
def test_ranks_of_columns_that_never_occur_are_kept(form):
    X, codes = make_data()
    there = codes != 2
    column = ORDERED[form](NAMES[codes[there]], [*NAMES, "beyond"])
    model = PredtronOrdinalClassifier(cv=0).fit(X[there], column)
    assert model.classes_.tolist() == [*NAMES, "beyond"] and model.intercept_.shape == (4,)


@pytest.mark.parametrize("form", FRAMES)
def test_frames_of_one_column_bring_its_order(form):
    X, codes = make_data()
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model = PredtronOrdinalClassifier(cv=0, random_state=0).fit(X, FRAMES[form](NAMES[codes]))
    assert model.classes_.tolist() == NAMES.tolist()
    assert state(model) == state(PredtronOrdinalClassifier(cv=0, random_state=0).fit(X, codes))


@pytest.mark.parametrize("form", UNORDERED)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_other_text_is_in_the_order_of_the_alphabet_with_a_warning(form):
    X, codes = make_data()
    with pytest.warns(UserWarning, match="alphabet"):
        model = PredtronOrdinalClassifier(cv=0).fit(X, UNORDERED[form](NAMES[codes]))
    assert model.classes_.tolist() == sorted(NAMES)


def test_dictionaries_of_numbers():
    X, codes = make_data()
    unordered = pd.Categorical(codes, categories=[3, 1, 0, 2])
    assert PredtronOrdinalClassifier(cv=0).fit(X, unordered).classes_.tolist() == [0, 1, 2, 3]
    levels = pa.array([30, 20, 10, 0])
    column = pa.DictionaryArray.from_arrays(pa.array(codes), levels, ordered=True)
    model = PredtronOrdinalClassifier(cv=0, random_state=0).fit(X, column)
    assert model.classes_.tolist() == [30, 20, 10, 0] and model.classes_.dtype == np.int64
    assert state(model) == state(PredtronOrdinalClassifier(cv=0, random_state=0).fit(X, codes))


def test_chunks_with_dictionaries_of_their_own():
    """Each may leave out ranks of the longest; where they contradict each other there is no order to take."""
    X, codes = make_data()
    y = NAMES[codes]
    few = np.flatnonzero(np.isin(y, ["low", "high"]))
    rest = np.setdiff1d(np.arange(len(y)), few)
    order = np.concatenate([few, rest])
    for short, good in [(["low", "high"], True), (["high", "low"], False)]:
        parts = [dictionary(y[few], short), dictionary(y[rest])]
        for column in (pa.chunked_array(parts), pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array(parts)))):
            if good:
                assert PredtronOrdinalClassifier(cv=0).fit(X[order], column).classes_.tolist() == NAMES.tolist()
                continue
            with pytest.raises(ValueError, match=r"y has chunks .* \['high', 'low'\] and \['low', 'medium', .* categories"):
                PredtronOrdinalClassifier(cv=0).fit(X[order], column)
            assert PredtronOrdinalClassifier(categories=NAMES, cv=0).fit(X[order], column).classes_.tolist() == NAMES.tolist()


@pytest.mark.parametrize("form", ["polars Enum", "Arrow dictionary", "pandas Series of Arrow"])
def test_missing_labels_are_an_error(form):
    X, codes = make_data()
    column = ORDERED[form](NAMES[codes])
    if form == "polars Enum":
        missing = pl.Series("grade", [None, *column[1:]], dtype=column.dtype)
    else:
        missing = pa.DictionaryArray.from_arrays(pa.array([None, *codes[1:]], pa.int8()), pa.array(NAMES.tolist()), ordered=True)
        missing = pd.Series(pd.arrays.ArrowExtensionArray(missing)) if form != "Arrow dictionary" else missing
    with pytest.raises(ValueError, match=r"y contains NaN: (None|<NA>) at place 0"):
        PredtronOrdinalClassifier().fit(X, missing)


@pytest.mark.parametrize("form", ["polars Enum", "pandas Series of Arrow"])
def test_searches_keep_the_order(form):
    X, codes = make_data()
    y = NAMES[codes]
    model = PredtronOrdinalClassifier(max_iter=2, cv=0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        found = cross_val_score(model, X, ORDERED[form](y), cv=3, error_score="raise")
        search = GridSearchCV(model, {"max_iter": [1, 2]}, cv=3, error_score="raise").fit(X, ORDERED[form](y))
    assert search.best_estimator_.classes_.tolist() == NAMES.tolist()
    np.testing.assert_array_equal(found, cross_val_score(model.set_params(categories=NAMES), X, y, cv=3))


def test_neither_polars_nor_arrow_nor_pandas_is_needed():
    code = "import sys; sys.modules.update(polars=None, pyarrow=None, pandas=None); from sklearn_predtron import *"
    code += "; del sys.modules['pandas']"  # which scikit-learn before 1.9 takes for the module
    code += "; print(PredtronOrdinalClassifier().fit([[0.0], [1]], [7, 8]).classes_)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[7 8]"
