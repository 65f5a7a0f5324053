"""Binary and multiclass classifiers: labels, costs, rejection, and life among scikit-learn's tools."""

import pickle
import warnings

import joblib
import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.callback import FitCallback, ProgressBar, ScoringMonitor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Perceptron
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import Predtron, PredtronBinaryClassifier, PredtronClassifier, Problem
from sklearn_predtron.losses import CostMatrix, ZeroOne
from sklearn_predtron.norms import L2
from sklearn_predtron.representations import Code, Simplex
from sklearn_predtron.updates import (
    Adaptive,
    LossAugmented,
    LossDriven,
    PassiveAggressive,
    PerceptronUpdate,
    Subgradient,
)

KINDS = [PredtronBinaryClassifier, PredtronClassifier]


def make_data(k=3, n=90, p=6, noise=1.0, seed=0):
    """Rows and the numbers of their labels."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, p))
    scores = X @ random.standard_normal((p, k)) + noise * random.standard_normal((n, k))
    y = scores.argmax(axis=1)
    assert len(np.unique(y)) == k
    return X, y


# ------------------------------------------------------------------------------------------------------------------ labels

LABELS = {
    "strings": np.array(["low", "middling", "high"]),
    "objects": np.array(["low", "middling", "high"], dtype=object),
    "negative": np.array([-7, -1, 4]),
    "huge and sparse": np.array([-(2**62), 3, 2**62 + 1]),
    "huge unsigned": np.array([1, 2**63 + 1, 2**64 - 1], dtype=np.uint64),
    "huge unsigned neighbours": np.array([2**63 - 1, 2**63, 2**63 + 1], dtype=np.uint64),
    "floats": np.array([-1.0, 0.0, 2.0]),
    "float32": np.array([-1.0, 0.0, 2.0], dtype=np.float32),
    "huge floats": np.array([-1e18, 0.0, 1e18]),
    "boolean": np.array([False, True]),
    **{
        np.dtype(kind).name: np.array([2, 5, 100], dtype=kind)
        for kind in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
    },
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_of_any_kind(labels):
    X, codes = make_data(len(labels))
    classes = np.sort(labels)
    y = classes[codes]
    plain = PredtronClassifier(random_state=0).fit(X, codes)
    model = PredtronClassifier(random_state=0).fit(X, y)
    assert model.classes_.dtype == y.dtype
    np.testing.assert_array_equal(model.classes_, classes)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert model.predict(X).dtype == y.dtype
    np.testing.assert_array_equal(model.predict(X), classes[plain.predict(X)])
    assert model.score(X, y) == plain.score(X, codes)

    batch = PredtronClassifier().partial_fit(X, y, classes=labels)
    np.testing.assert_array_equal(batch.classes_, classes)
    for label_of in [lambda i: y[i : i + 1], lambda i: [y[i]], lambda i: y[i : i + 1].tolist()]:
        stream = PredtronClassifier().partial_fit(X[:1], y[:1], classes=labels)
        for i in range(1, len(X)):
            stream.partial_fit(X[i : i + 1], label_of(i))
        np.testing.assert_array_equal(stream.coef_, batch.coef_)


def test_labels_in_lists_and_columns():
    X, y = make_data()
    model = PredtronClassifier(random_state=0).fit(X, y)
    np.testing.assert_array_equal(PredtronClassifier(random_state=0).fit(X, y.tolist()).coef_, model.coef_)
    with pytest.warns(sklearn.exceptions.DataConversionWarning, match="column-vector y"):
        column = PredtronClassifier(random_state=0).fit(X, y[:, None])
    np.testing.assert_array_equal(column.coef_, model.coef_)


def test_labels_and_weights_with_strides_and_in_other_byte_orders():
    X, y = make_data()
    weight = np.random.default_rng(0).random(len(X))
    model = PredtronClassifier(random_state=0).fit(X, y, sample_weight=weight)
    stream = PredtronClassifier().partial_fit(X, y, classes=[0, 1, 2], sample_weight=weight)
    for change in [lambda a: np.repeat(a, 2)[::2], lambda a: a.astype(a.dtype.newbyteorder()), lambda a: a[::-1].copy()[::-1]]:
        other = PredtronClassifier(random_state=0).fit(X, change(y), sample_weight=change(weight))
        np.testing.assert_array_equal(other.coef_, model.coef_)
        other = PredtronClassifier().partial_fit(X, change(y), classes=change(np.arange(3)), sample_weight=change(weight))
        np.testing.assert_array_equal(other.coef_, stream.coef_)


def test_a_label_that_is_a_scalar_array():
    X, y = make_data()
    with pytest.raises(ValueError, match=r"y should be a 1d array, got an array of shape \(\)"):
        PredtronClassifier().fit(X, y).partial_fit(X[:1], np.array(1))


def test_labels_that_are_not_classes():
    X, y = make_data()
    with pytest.raises(ValueError, match=r"Unknown label type: continuous"):
        PredtronClassifier().fit(X, y + 0.5)
    with pytest.raises(ValueError, match=r"[Uu]nknown label type"):
        PredtronClassifier().fit(X, np.array([1, "a", None] * 30, dtype=object))
    with pytest.raises(ValueError, match=r"contains NaN"):
        PredtronClassifier().fit(X, np.where(y == 0, np.nan, y))
    with pytest.raises(ValueError, match="greater than one; got 1 class"):
        PredtronClassifier().fit(X, np.ones(len(X)))
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        PredtronBinaryClassifier().fit(X, y)
    with pytest.raises(ValueError, match="classes must be passed on the first call to partial_fit"):
        PredtronClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match=r"y contains labels that are not in classes_: \[2\]; accepted are \[0, 1\]"):
        PredtronClassifier().partial_fit(X, y, classes=[0, 1])
    model = PredtronClassifier().partial_fit(X, y, classes=[2, 1, 0])
    model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"classes=\[0, 1\] is not the same as on the first call: \[0, 1, 2\]"):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match=r"y contains labels that are not in classes_: \['0'\]; accepted are \[0, 1, 2\]"):
        model.sample_loss(X[:1], ["0"])


def test_classes_that_never_occur():
    X, y = make_data(2)
    model = PredtronClassifier().partial_fit(X, y, classes=[0, 1, 5])
    assert model.coef_.shape == (3, X.shape[1])
    assert set(model.predict(X)) == {0, 1}


# ------------------------------------------------------------------------------------------------------------------- costs


def test_costs_are_in_the_order_of_classes():
    X, codes = make_data()
    names = np.array(["a", "b", "c"])
    costs = np.array([[0, 2, 7], [1, 0, 3], [4, 5, 0]])
    model = PredtronClassifier(loss=costs, random_state=0).fit(X, names[codes])
    pairs = {(names[i], names[j]): costs[i, j] for i in range(3) for j in range(3) if i != j}
    by_pairs = PredtronClassifier(loss=pairs, random_state=0).fit(X, names[codes])
    part = PredtronClassifier(loss=CostMatrix(costs.tolist()), random_state=0).fit(X, names[codes])
    for other in [by_pairs, part]:
        np.testing.assert_array_equal(other.coef_, model.coef_)
    order = [2, 0, 1]
    renamed = np.array(["b", "c", "a"])  # a -> b, b -> c, c -> a: the rows of the matrix go with the names
    turned = PredtronClassifier(loss=costs[np.ix_(order, order)], random_state=0).fit(X, renamed[codes])
    np.testing.assert_allclose(turned.coef_, model.coef_[order], rtol=1e-9, atol=1e-12)
    predicted = np.searchsorted(names, model.predict(X))
    np.testing.assert_array_equal(model.sample_loss(X, names[codes]), costs[codes, predicted])
    assert model.score(X, names[codes]) == pytest.approx(1 - costs[codes, predicted].mean() / 7)
    weight = np.random.default_rng(0).random(len(X))
    weighted = 1 - (weight * costs[codes, predicted]).sum() / weight.sum() / 7
    assert model.score(X, names[codes], sample_weight=weight) == pytest.approx(weighted)


def test_pairs_left_out_cost_one():
    X, y = make_data()
    matrix = [[0, 1, 6], [1, 0, 1], [1, 1, 0]]
    by_pairs = PredtronClassifier(loss={(0, 2): 6, ("no", "class"): 9, (1, 1): 0}, random_state=0).fit(X, y)
    np.testing.assert_array_equal(by_pairs.coef_, PredtronClassifier(loss=matrix, random_state=0).fit(X, y).coef_)


def test_costs_of_one_are_the_zero_one_loss():
    X, y = make_data()
    for kind, codes in [(PredtronClassifier, y), (PredtronBinaryClassifier, y > 0)]:
        for loss in [ZeroOne(), {}, 1 - np.eye(len(np.unique(codes)))]:
            model = kind(loss=loss, random_state=0).fit(X, codes)
            np.testing.assert_array_equal(model.coef_, kind(random_state=0).fit(X, codes).coef_)
            np.testing.assert_array_equal(model.sample_loss(X, codes), model.predict(X) != codes)
            assert model.score(X, codes) == pytest.approx(np.mean(model.predict(X) == codes))


def test_costs_move_predictions():
    X, y = make_data(2, noise=3.0, n=400)
    dear = [PredtronBinaryClassifier(loss={(1, 0): cost}, random_state=0).fit(X, y).predict(X).mean() for cost in (0.1, 1, 10)]
    assert dear[0] < dear[1] < dear[2]


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        ([[0, 1], [1, 0]], r"loss must be a \(3, 3\) cost matrix for the 3 classes \[0, 1, 2\], got shape \(2, 2\)"),
        ([0, 1, 1], r"loss must be a \(3, 3\) cost matrix .* got shape \(3,\)"),
        ([[0, 1, -2], [1, 0, 1], [1, 1, 0]], r"loss must hold finite costs that are not negative, got \[-2.0\]"),
        ([[0, 1, np.nan], [1, 0, 1], [1, 1, 0]], r"loss must hold finite costs .* got \[nan\]"),
        ([[0, 1, np.inf], [1, 0, 1], [1, 1, 0]], r"loss must hold finite costs .* got \[inf\]"),
        ([[0, 1, 1], [1, 5, 1], [1, 1, 0]], r"loss must cost nothing on its diagonal, got \[0.0, 5.0, 0.0\]"),
        (np.zeros((3, 3)), "loss must hold at least one positive cost"),
        ([["a", "b", "c"]] * 3, r"loss=\[\['a'.* does not hold numbers; accepted is a cost matrix of shape \(3, 3\)"),
        ([[0, 1, 1], [1, 0], [1, 1, 0]], "loss=.* does not hold numbers; accepted is a cost matrix"),
        ({(0, 1): -1}, r"loss must hold finite costs that are not negative, got \[-1.0\]"),
        ({(0, 1): "dear"}, r"loss\[\(0, 1\)\]='dear' does not hold numbers"),
        ({(0, 0): 1}, r"loss must cost nothing on its diagonal, got \[1.0, 0.0, 0.0\]"),
        ({0: 1}, r"loss must have keys \(true label, predicted label\), got 0"),
        ("hinge", "loss='hinge' is not known; accepted are 'zero_one', 'absolute', 'squared' and instances of TableLoss"),
        (None, "The 'loss' parameter of PredtronClassifier must be .* Got None"),
    ],
)
def test_costs_that_are_none(loss, message):
    X, y = make_data()
    with pytest.raises(ValueError, match=message):
        PredtronClassifier(loss=loss).fit(X, y)


def test_a_class_missing_from_a_fold_is_named():
    X, y = make_data()
    costs = 1 - np.eye(3)
    with pytest.raises(ValueError, match=r"2 classes \[0, 1\].*pass all classes to partial_fit or give a dict of costs"):
        PredtronClassifier(loss=costs).fit(X[y < 2], y[y < 2])
    PredtronClassifier(loss=costs).partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
    PredtronClassifier(loss={(0, 2): 3}).fit(X[y < 2], y[y < 2])


# --------------------------------------------------------------------------------------------------------- representations


@pytest.mark.parametrize(
    ("representation", "message"),
    [
        ("sign", "representation='sign' is for two predictions, there are 3; 'onehot' takes any number"),
        ("binary", "representation='binary' is not known; accepted are 'sign', 'onehot', 'simplex'.* and instances of"),
        (np.eye(2), r"representation must be a code matrix of shape \(3, d\), got shape \(2, 2\)"),
        ([1, 2, 3], r"representation must be a code matrix of shape \(3, d\), got shape \(3,\)"),
        ([[1, 0], [0, 1], [0, 0]], "representation must not hold a row of zeros, as row 2 is"),
        ([[1, 0], [0, 1], [0, 1]], "representation must have rows that point in different directions"),
        ([[1, 0], [0, 1], [0, np.nan]], r"representation must hold finite numbers, got \[nan\]"),
        ([["a"], ["b"], ["c"]], r"representation=\[\['a'\].* does not hold numbers"),
        (None, "The 'representation' parameter of PredtronClassifier must be .* Got None"),
    ],
)
def test_representations_that_are_none(representation, message):
    X, y = make_data()
    with pytest.raises(ValueError, match=message):
        PredtronClassifier(representation=representation).fit(X, y)


def test_code_matrices():
    X, y = make_data()
    simplex = PredtronClassifier(representation="simplex", random_state=0).fit(X, y)
    for representation in [Simplex(), Simplex().code(3), Code(Simplex().code(3).tolist())]:
        model = PredtronClassifier(representation=representation, random_state=0).fit(X, y)
        np.testing.assert_allclose(model.coef_, simplex.coef_, rtol=1e-9, atol=1e-12)
        assert model.coef_.shape == (2, X.shape[1]) and model.decision_function(X).shape == (len(X), 3)
    with pytest.warns(UserWarning, match="rows of representation were brought to length 1"):
        scaled = PredtronClassifier(representation=3 * np.eye(3), random_state=0).fit(X, y)
    np.testing.assert_allclose(scaled.coef_, PredtronClassifier(random_state=0).fit(X, y).coef_, rtol=1e-9, atol=1e-12)


def test_binary_and_multiclass_agree_on_two_classes():
    X, y = make_data(2)
    one_row = PredtronBinaryClassifier(update="perceptron", intercept_scaling=1.0, random_state=0).fit(X, y)
    two_rows = PredtronClassifier(update="perceptron", intercept_scaling=1.0, random_state=0).fit(X, y)
    np.testing.assert_array_equal(one_row.predict(X), two_rows.predict(X))
    simplex = PredtronClassifier(representation="simplex", random_state=0).fit(X, y)  # the simplex of two is +1 and -1
    np.testing.assert_allclose(simplex.coef_, -PredtronBinaryClassifier(random_state=0).fit(X, y).coef_, rtol=1e-9, atol=1e-12)


def test_perceptron_of_scikit_learn():
    X, y = make_data(2)
    theirs = Perceptron(shuffle=False, max_iter=5, tol=None, fit_intercept=False).fit(X, y)
    ours = PredtronBinaryClassifier(
        update=PerceptronUpdate(eta=0.5), shuffle=False, max_iter=5, fit_intercept=False, average=False
    ).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)


# ----------------------------------------------------------------------------------------------------------- class weights


@pytest.mark.parametrize("kind", KINDS)
def test_class_weights_are_sample_weights(kind):
    X, codes = make_data(2)
    y = np.array(["no", "yes"])[codes]
    weight = np.random.default_rng(1).uniform(0.5, 2, len(X))
    by_label = np.where(y == "no", 3.0, 1.0)
    for given, of_row in [({}, by_label), ({"sample_weight": weight}, by_label * weight)]:
        model = kind(class_weight={"no": 3.0}, random_state=0).fit(X, y, **given)
        np.testing.assert_array_equal(model.coef_, kind(random_state=0).fit(X, y, sample_weight=of_row).coef_)
    stream = kind(class_weight={"no": 3.0}).partial_fit(X[:1], y[:1], classes=["no", "yes"])
    for i in range(1, len(X)):
        stream.partial_fit(X[i : i + 1], y[i : i + 1])
    whole = kind().partial_fit(X, y, classes=["no", "yes"], sample_weight=by_label)
    np.testing.assert_array_equal(stream.coef_, whole.coef_)


@pytest.mark.parametrize("kind", KINDS)
def test_balanced_classes(kind):
    X, y = make_data(2)
    y[20:] &= np.random.default_rng(0).random(len(y) - 20) < 0.4
    balance = len(y) / (2 * np.bincount(y))
    model = kind(class_weight="balanced", random_state=0).fit(X, y)
    weighted = kind(random_state=0).fit(X, y, sample_weight=balance[y])
    np.testing.assert_allclose(model.coef_, weighted.coef_, rtol=1e-9, atol=1e-12)
    weight = np.where(np.arange(len(y)) % 3 == 0, 0, 1.0)
    there = weight > 0
    absent = kind(class_weight="balanced", random_state=0).fit(X[there], y[there])
    model.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.coef_, absent.coef_)
    with pytest.raises(ValueError, match=r"class_weight 'balanced' is not supported for partial_fit.*pass a dict"):
        model.partial_fit(X, y)


def test_class_weight_zero_is_absence():
    X, y = make_data(3)
    model = PredtronClassifier(class_weight={1: 0}, random_state=0).fit(X, y)
    assert model.t_ == model.n_iter_ * np.sum(y != 1)
    assert not np.any(model.predict(X) == 1)
    stream = PredtronClassifier(class_weight={1: 0.0}).partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    for i in range(1, len(X)):
        stream.partial_fit(X[i : i + 1], [y[i]])
    kept = PredtronClassifier().partial_fit(X[y != 1], y[y != 1], classes=[0, 1, 2])
    np.testing.assert_array_equal(stream.coef_, kept.coef_)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({7: 2.0}, r"class_weight names \[7\], not in classes_: \[0, 1, 2\]"),
        ({0: -1.0}, r"class_weight=\{0: -1.0\} must hold finite weights that are not negative"),
        ({0: np.nan}, "class_weight=.*must hold finite weights"),
        ({0: "much"}, r"class_weight=\['much', 1.0, 1.0\] does not hold numbers"),
        ("auto", "The 'class_weight' parameter of PredtronClassifier must be .*'balanced'.* Got 'auto'"),
    ],
)
def test_class_weights_that_are_none(class_weight, message):
    X, y = make_data()
    with pytest.raises(ValueError, match=message):
        PredtronClassifier(class_weight=class_weight).fit(X, y)
    with pytest.raises(ValueError, match=message):
        PredtronClassifier(class_weight=class_weight).partial_fit(X, y, classes=[0, 1, 2])


# --------------------------------------------------------------------------------------------------------------- rejection

RULES = ["online", "margin", "code"]


@pytest.mark.parametrize("rule", ["online", "margin"])
@pytest.mark.parametrize(("kind", "k"), [(PredtronBinaryClassifier, 2), (PredtronClassifier, 2), (PredtronClassifier, 4)])
def test_coverage_grows_with_the_cost_of_rejection(kind, k, rule):
    X, y = make_data(k, n=300, noise=1.5)
    model = kind(random_state=0).fit(X, y)
    coverage = []
    for beta in [0.02, 0.1, 0.2, 0.3, 0.4, 0.5]:
        triage = kind(reject_cost=beta, reject_label=-1, reject_rule=rule, random_state=0).fit(X, y)
        np.testing.assert_array_equal(triage.coef_, model.coef_)
        predicted, kept = triage.predict(X), triage.predict(X) != -1
        np.testing.assert_array_equal(predicted[kept], model.predict(X)[kept])
        coverage.append(kept.mean())
        loss = np.where(kept, predicted != y, beta)
        np.testing.assert_array_equal(triage.sample_loss(X, y), loss)
        assert triage.score(X, y) == pytest.approx(1 - loss.mean())
    assert coverage == sorted(coverage)
    assert coverage[0] < coverage[-1]
    if rule == "margin":
        assert coverage[-1] == 1


def test_margin_rule():
    X, y = make_data(3, n=300, noise=1.5)
    costs = np.array([[0, 1, 2], [1, 0, 4], [3, 1, 0]])
    for loss, beta in [("zero_one", 0.2), ("zero_one", [0.1, 0.25, 0.4]), (costs, 0.5), (costs, [0.2, 0.5, 1.5])]:
        model = PredtronClassifier(loss=loss, reject_cost=beta, reject_label=-1, reject_rule="margin", random_state=0).fit(X, y)
        matrix = 1 - np.eye(3) if isinstance(loss, str) else costs
        scores = model.decision_function(X)
        second, best = np.argsort(scores, axis=1)[:, -2:].T
        rows = np.arange(len(X))
        least = matrix[second, best] - 2 * np.broadcast_to(beta, 3)[best]
        rejected = scores[rows, best] - scores[rows, second] < least
        assert 0 < rejected.sum() < len(X)
        np.testing.assert_array_equal(model.predict(X), np.where(rejected, -1, best))
        loss_of = np.where(rejected, np.broadcast_to(beta, 3)[y], matrix[y, best])
        np.testing.assert_array_equal(model.sample_loss(X, y), loss_of)
        assert model.score(X, y) == pytest.approx(1 - loss_of.mean() / matrix.max())


def test_code_rule_is_the_code_of_the_paper():
    X, y = make_data(3)
    model = PredtronClassifier(reject_cost=0.3, reject_label=-1, reject_rule="code", random_state=0).fit(X, y)
    assert model.coef_.shape == (3, X.shape[1])
    assert model.decision_function(X).shape == (len(X), 3)
    assert set(model.predict(X)) <= {-1, 0, 1, 2}
    code = np.vstack([np.eye(3), np.full(3, 3**-0.5)])
    decoded = (X @ model.coef_.T + model.intercept_) @ code.T
    np.testing.assert_array_equal(model.predict(X), np.array([0, 1, 2, -1])[decoded.argmax(axis=1)])


@pytest.mark.parametrize(
    ("labels", "reject_label", "good"),
    [
        ([0, 1, 2], -1, True),
        ([0, 1, 2], np.int8(7), True),
        ([0, 1, 2], 1, False),
        ([0, 1, 2], None, False),
        ([0, 1, 2], "reject", False),
        ([0, 1, 2], 1.5, False),
        ([0, 1, 2], True, False),
        (["a", "b", "c"], "do not know", True),
        (["a", "b", "c"], "b", False),
        (["a", "b", "c"], 0, False),
        ([0.0, 1.0, 2.0], -1.0, True),
        ([0.0, 1.0, 2.0], "a", False),
    ],
)
def test_reject_label_is_of_the_type_of_the_classes(labels, reject_label, good):
    X, codes = make_data(noise=3.0)
    y = np.array(labels)[codes]
    model = PredtronClassifier(reject_cost=0.05, reject_label=reject_label, reject_rule="margin", random_state=0)
    if good:
        predicted = model.fit(X, y).predict(X)
        assert predicted.dtype.kind == y.dtype.kind
        assert reject_label in predicted
    else:
        with pytest.raises(ValueError, match=r"reject_label=.* must be a label of the type of the classes \[.*\] and not one"):
            model.fit(X, y)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("beta", [0.0, -0.1, 1.01, [0.1, 0.2], [0.1, 0.2, 0.0], [[0.1, 0.2, 0.3]], np.nan, ["a", "b", "c"]])
def test_reject_costs_that_are_none(beta, rule):
    X, y = make_data()
    with pytest.raises(ValueError, match=r"reject_cost.*(above 0 and at most|does not hold numbers|in the range|not hold)"):
        PredtronClassifier(reject_cost=beta, reject_label=-1, reject_rule=rule).fit(X, y)


def test_reject_cost_is_at_most_half_the_largest_loss():
    X, y = make_data()
    for rule in ["online", "margin"]:
        with pytest.raises(ValueError, match=r"reject_cost=0.6 must be .* above 0 and at most 0.5 \(reject_rule='" + rule):
            PredtronClassifier(reject_cost=0.6, reject_label=-1, reject_rule=rule).fit(X, y)
        PredtronClassifier(reject_cost=0.6, reject_label=-1, reject_rule=rule, loss={(0, 1): 2}).fit(X, y)


def test_reject_parameters_may_change_after_fit():
    X, y = make_data(3, n=300, noise=1.5)
    for rule in RULES:
        model = PredtronClassifier(reject_cost=0.3, reject_label=-1, reject_rule=rule, random_state=0).fit(X, y)
        model.set_params(reject_rule="margin", reject_cost=0.1)
        other = PredtronClassifier(reject_cost=0.1, reject_label=-1, reject_rule="margin", random_state=0).fit(X, y)
        if rule != "code":
            np.testing.assert_array_equal(model.predict(X), other.predict(X))
        assert {-1} < set(model.predict(X)) <= {-1, 0, 1, 2}
        model.set_params(reject_cost=None)
        assert set(model.predict(X)) <= {0, 1, 2}
    model = PredtronClassifier(random_state=0).fit(X, y).set_params(reject_cost=0.3, reject_label=-1)
    with pytest.raises(ValueError, match="reject_rule='online' chooses its threshold while it learns; call fit or partial_fit"):
        model.predict(X)
    assert -1 in model.partial_fit(X, y).predict(X)


# -------------------------------------------------------------------------------------------------------------- prediction


def test_shapes_of_scores():
    X, y = make_data(3)
    assert PredtronClassifier().fit(X, y).decision_function(X).shape == (90, 3)
    for kind in KINDS:
        for representation in ["onehot", "simplex", "sign"]:
            model = kind(representation=representation, random_state=0).fit(X, y > 0)
            scores = model.decision_function(X)
            assert scores.shape == (90,)
            np.testing.assert_array_equal(model.predict(X), scores > 0)
            assert (
                model.coef_.shape == ({"onehot": 2}.get(representation, 1), 6) and model.intercept_.shape == model.coef_.shape[:1]
            )


def test_ties_take_the_lowest_index():
    X, y = make_data(3)
    model = PredtronClassifier(random_state=0).fit(X, y)
    empty = PredtronClassifier(class_weight=dict.fromkeys(range(3), 0)).partial_fit(X, y, classes=[0, 1, 2])
    np.testing.assert_array_equal(empty.predict(X), np.zeros(len(X)))
    apart = PredtronClassifier(fit_intercept=False).partial_fit([[1.0, 0], [1, 0], [0, 1]], [1, 2, 2], classes=[0, 1, 2])
    assert apart.predict([[0.0, 0]]) == [0] and model.t_ > 0
    tied = PredtronClassifier(fit_intercept=False, average=False, update="perceptron")
    tied.partial_fit([[1.0, 0], [0, 1]], [2, 1], classes=[0, 1, 2])
    scores = tied.decision_function([[1.0, 1]])[0]
    assert tied.predict([[1.0, 1]]) == [np.flatnonzero(scores == scores.max())[0]]
    binary = PredtronBinaryClassifier(fit_intercept=False).partial_fit(X, y > 0, classes=[False, True])
    assert binary.decision_function([[0.0] * 6]) == [0] and binary.predict([[0.0] * 6]) == [False]


def test_margin_and_loss_bound():
    X, y = make_data(3, noise=0.0, n=200)
    model = PredtronClassifier(update="loss_driven", fit_intercept=False, average=False, max_iter=1000, random_state=0).fit(X, y)
    scores = model.decision_function(X)
    own = scores[np.arange(len(X)), y]
    scores[np.arange(len(X)), y] = -np.inf
    margin = (own - scores.max(axis=1)).min() / np.linalg.norm(model.coef_)
    assert model.margin(X, y) == pytest.approx(margin) and margin > 0
    bound = model.loss_bound(margin, radius=np.linalg.norm(X, axis=1).max())
    assert model.cumulative_loss_ <= bound
    with pytest.raises(ValueError, match="margin=0 must be positive"):
        model.loss_bound(0, radius=1)
    with pytest.raises(ValueError, match="radius=-1 must be positive"):
        model.loss_bound(1, radius=-1)
    with pytest.raises(ValueError, match=r"radius=None is known only after an update with eta='theory'"):
        model.loss_bound(1)
    with pytest.raises(ValueError, match="No loss bound is proven for intercept_scaling='auto'"):
        PredtronClassifier().fit(X, y).loss_bound(1, radius=1)
    with pytest.raises(ValueError, match="No loss bound is proven for update=Subgradient"):
        PredtronClassifier(update=Subgradient(), fit_intercept=False).fit(X, y).loss_bound(1, radius=1)
    for call in ["margin", "sample_loss"]:
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(PredtronClassifier(), call)(X, y)


def test_lengths_that_differ():
    X, y = make_data()
    model = PredtronClassifier().fit(X, y)
    with pytest.raises(ValueError, match="X has 90 rows and y has 89; both must have the same number"):
        model.sample_loss(X, y[1:])


def test_scores_that_overflow():
    X, y = make_data(2)
    message = "X holds values so large that the scores overflow; scale the features down"
    model = PredtronBinaryClassifier(update="perceptron").partial_fit(X[:1] * 1e200, y[:1], classes=[0, 1])
    coef = model.coef_
    for rows in [slice(1, 2), slice(1, None)]:
        with pytest.raises(ValueError, match=message):
            model.partial_fit(X[rows] * 1e200, y[rows])
    np.testing.assert_array_equal(model.coef_, coef)
    assert model.t_ == 1
    for weight in [None, np.ones(10)]:
        model, good = (PredtronBinaryClassifier(update="perceptron").partial_fit(X, y, classes=[0, 1]) for _ in range(2))
        good.partial_fit(X[:9], y[:9])
        rows = X[:10].copy()
        rows[9] = np.sign(model.coef_) * 1e308
        with pytest.raises(ValueError, match=message):
            model.partial_fit(rows, y[:10], sample_weight=weight)
        assert model.t_ == good.t_  # the last complete round
        np.testing.assert_array_equal(model.coef_, good.coef_)
    fitted = PredtronBinaryClassifier(random_state=0).fit(X, y)
    coef = fitted.coef_
    with pytest.raises(ValueError, match=message):
        fitted.set_params(update="perceptron").fit(X * 1e200, y)
    np.testing.assert_array_equal(fitted.coef_, coef)


# ------------------------------------------------------------------------------------------------------------------ pandas


@pytest.fixture
def frame():
    pandas = pytest.importorskip("pandas")
    X, y = make_data()
    return pandas.DataFrame(X, columns=list("abcdef")), pandas.Series(np.array(["low", "mid", "top"])[y])


def test_frames(frame):
    X, y = frame
    model = PredtronClassifier(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.feature_names_in_, list("abcdef"))
    plain = PredtronClassifier(random_state=0).fit(X.to_numpy(), y.to_numpy())
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert model.score(X, y) == plain.score(X.to_numpy(), y)
    categories = PredtronClassifier(random_state=0).fit(X, y.astype("category"))
    np.testing.assert_array_equal(categories.coef_, plain.coef_)
    with pytest.warns(UserWarning, match="X does not have valid feature names, but PredtronClassifier was fitted with"):
        model.predict(X.to_numpy())
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.partial_fit(X.to_numpy()[:1], y[:1].to_numpy())
    with pytest.warns(UserWarning, match="X has feature names, but PredtronClassifier was fitted without"):
        plain.predict(X)
    with pytest.raises(ValueError, match="feature names should match those that were passed during fit"):
        model.predict(X[list("fedcba")])
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(X.rename(columns={"a": "z"}), y)
    with pytest.raises(ValueError, match="X has 5 features, but PredtronClassifier is expecting 6"):
        plain.predict(X.to_numpy()[:, 1:])


def test_frames_as_streams(frame):
    X, y = frame
    whole = PredtronClassifier().partial_fit(X, y, classes=y.unique())
    stream = PredtronClassifier().partial_fit(X[:1], y[:1], classes=y.unique())
    for i in range(1, len(X)):
        stream.partial_fit(X[i : i + 1], y[i : i + 1])
    np.testing.assert_array_equal(stream.coef_, whole.coef_)


# ------------------------------------------------------------------------------------------- parameters, search, pipelines


def test_search_over_parts():
    X, y = make_data(n=60)
    grid = {
        "update": [PassiveAggressive(), PassiveAggressive(variant="pa2")],
        "update__C": [0.01, 1.0],
        "representation": ["onehot", "simplex", Code([[1, 0, 0], [0, 1, 0], [0, 0, 1]])],
        "norm": ["l2", L2()],
        "average": ["linear", "uniform", 10.0, False],
    }
    search = GridSearchCV(PredtronClassifier(max_iter=1, random_state=0), grid, cv=2).fit(X, y)
    assert len(search.cv_results_["params"]) == 2 * 2 * 3 * 2 * 4
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert len(set(search.cv_results_["mean_test_score"])) > 3
    assert search.best_estimator_.update.C in (0.01, 1.0)
    assert search.score(X, y) > 0.5


def test_search_over_updates_and_their_aliases():
    X, y = make_data(n=60)
    updates = ["adaptive", "predtron", LossAugmented(eta="theory"), LossDriven(), Adaptive(kappa=0.3)]
    search = GridSearchCV(
        make_pipeline(StandardScaler(), PredtronClassifier(random_state=0)), {"predtronclassifier__update": updates}
    )
    assert np.isfinite(search.fit(X, y).cv_results_["mean_test_score"]).all()


def test_parameters_inside_an_alias():
    X, y = make_data()
    message = r"update__C=3 cannot be set in an alias; pass update=PassiveAggressive\(C=3\) in place of 'passive_aggressive'"
    with pytest.raises(ValueError, match=message):
        PredtronClassifier(update="passive_aggressive").set_params(update__C=3)
    with pytest.raises(ValueError, match=message):
        GridSearchCV(PredtronClassifier(update="passive_aggressive"), {"update__C": [3]}).fit(X, y)
    with pytest.raises(ValueError, match="update__kappa=1 cannot be set in an alias"):
        PredtronClassifier(update=PassiveAggressive()).set_params(update="adaptive", update__kappa=1)
    with pytest.raises(ValueError, match="Invalid parameter 'kappa' for estimator PassiveAggressive"):
        PredtronClassifier(update=PassiveAggressive()).set_params(update__kappa=1)
    model = PredtronClassifier(update="adaptive").set_params(update=PassiveAggressive(), update__C=3)
    assert model.update.C == 3


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"update": "sgd"}, "update='sgd' is not known; accepted are .*'passive_aggressive'.* and instances of Update"),
        ({"update": 1}, "The 'update' parameter of PredtronClassifier must be .* Got 1"),
        ({"update": PassiveAggressive(C=-1)}, r"The 'C' parameter of PassiveAggressive must be .*\(0.0, inf\]?.* Got -1"),
        ({"update": PassiveAggressive(variant="pa3")}, "The 'variant' parameter of PassiveAggressive .* Got 'pa3'"),
        ({"update": PassiveAggressive(C=1, variant="pa")}, "C=1 has no effect with variant='pa'; use 'pa1' or 'pa2'"),
        ({"update": LossAugmented(eta=0)}, "The 'eta' parameter of LossAugmented must be .* Got 0"),
        ({"update": Adaptive(kappa="big")}, "The 'kappa' parameter of Adaptive must be .* Got 'big'"),
        ({"update": Subgradient(alpha=1.0, eta=1.0)}, "eta=1.0 must be below 1 / alpha = 1"),
        ({"norm": "l7"}, "norm='l7' is not known; accepted are 'l2'.* and instances of Norm"),
        ({"average": "median"}, "The 'average' parameter of PredtronClassifier must be .*'linear'.* Got 'median'"),
        ({"average": True}, "average=True is ambiguous; accepted are 'linear', 'uniform', a half-life in rounds and False"),
        ({"average": np.True_}, "average=True is ambiguous"),
        ({"average": -3.0}, "The 'average' parameter of PredtronClassifier must be .* Got -3.0"),
        ({"max_iter": 0}, r"The 'max_iter' parameter of PredtronClassifier must be an int in the range \[1, inf\).* Got 0"),
        ({"tol": -1e-3}, "The 'tol' parameter of PredtronClassifier must be .* Got -0.001"),
        ({"intercept_scaling": -1}, "The 'intercept_scaling' parameter of PredtronClassifier must be .* Got -1"),
        ({"reject_rule": "never"}, "The 'reject_rule' parameter of PredtronClassifier must be .* Got 'never'"),
    ],
)
def test_parameters_that_are_not_accepted(parameters, message):
    X, y = make_data()
    with pytest.raises(ValueError, match=message):
        PredtronClassifier(**parameters).fit(X, y)
    with pytest.raises(ValueError, match=message):
        PredtronClassifier(**parameters).partial_fit(X, y, classes=[0, 1, 2])


def test_booleans_of_numpy():
    X, y = make_data()
    model = PredtronClassifier(average=np.False_, fit_intercept=np.True_, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.coef_, PredtronClassifier(average=False, random_state=0).fit(X, y).coef_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"fit_intercept": False}, "fit_intercept cannot change from True to False once learning has begun; call fit"),
        ({"intercept_scaling": 2.0}, "intercept_scaling cannot change from 'auto' to 2.0 once learning has begun; call fit"),
        ({"representation": "simplex"}, "representation='simplex' has 2 scores and the weights so far have 3 scores; call fit"),
    ],
)
def test_changes_in_mid_stream_that_cannot_take_effect(parameters, message):
    X, y = make_data()
    model = PredtronClassifier().partial_fit(X, y, classes=[0, 1, 2])
    coef = model.coef_
    for row in [X[:1], X]:
        with pytest.raises(ValueError, match=message):
            clone(model).partial_fit(X, y, classes=[0, 1, 2]).set_params(**parameters).partial_fit(row, y[: len(row)])
    with pytest.raises(ValueError, match=message):
        model.set_params(**parameters).partial_fit(X, y)
    np.testing.assert_array_equal(model.coef_, coef)
    with pytest.raises(ValueError, match=message):
        model.set_params(warm_start=True).fit(X, y)
    assert model.set_params(warm_start=False).fit(X, y).t_ > 0


def test_changes_in_mid_stream_that_take_effect():
    X, y = make_data()
    for parameters in [{"loss": {(0, 1): 5.0}}, {"class_weight": {0: 4.0}}, {"update": "loss_driven"}, {"average": 5.0}]:
        for one_by_one in [False, True]:
            model = PredtronClassifier().partial_fit(X[:40], y[:40], classes=[0, 1, 2])
            unchanged = PredtronClassifier().partial_fit(X, y, classes=[0, 1, 2])
            model.set_params(**parameters)
            if one_by_one:
                for i in range(40, len(X)):
                    model.partial_fit(X[i : i + 1], y[i : i + 1])
            else:
                model.partial_fit(X[40:], y[40:])
            assert model.t_ == unchanged.t_ and not np.array_equal(model.coef_, unchanged.coef_), parameters


def test_warm_start():
    X, y = make_data(noise=3.0)
    once = PredtronClassifier(max_iter=6, shuffle=False).fit(X, y)
    twice = PredtronClassifier(max_iter=3, shuffle=False, warm_start=True).fit(X, y).fit(X, y)
    np.testing.assert_array_equal(twice.coef_, once.coef_)
    assert (twice.t_, twice.n_iter_, len(twice.loss_curve_)) == (once.t_, 3, 3)
    assert twice.loss_curve_ == once.loss_curve_[3:]
    anew = twice.set_params(warm_start=False, max_iter=6).fit(X, y)
    np.testing.assert_array_equal(anew.coef_, once.coef_)
    with pytest.raises(ValueError, match="y contains labels that are not in classes_"):
        twice.set_params(warm_start=True).fit(X, y + 1)
    with pytest.raises(ValueError, match="X has 5 features, but PredtronClassifier is expecting 6"):
        twice.fit(X[:, 1:], y)


def test_epochs_and_loss_curve():
    X, y = make_data(noise=3.0)
    model = PredtronClassifier(random_state=0).fit(X, y)
    assert model.n_iter_ == len(model.loss_curve_) == 10
    assert model.t_ == 10 * len(X)
    assert sum(model.loss_curve_) * len(X) == pytest.approx(model.cumulative_loss_)
    assert model.cumulative_loss_ == model.n_mistakes_ <= model.n_updates_ <= model.t_
    assert PredtronClassifier(max_iter=3).fit(X, y).n_iter_ == 3
    X, y = make_data(noise=0.0, n=20)
    done = PredtronClassifier(update="perceptron", max_iter=1000, random_state=0).fit(X, y)
    assert done.n_iter_ < 1000 and done.loss_curve_[-1] == 0 < done.loss_curve_[0]


def test_tol():
    X, y = make_data(noise=3.0, n=300)
    long = PredtronClassifier(max_iter=50, random_state=0).fit(X, y)
    short = PredtronClassifier(max_iter=50, tol=0.02, random_state=0).fit(X, y)
    falls = -np.diff(long.loss_curve_)
    assert short.n_iter_ == np.flatnonzero(falls < 0.02)[0] + 2 < 50
    assert short.loss_curve_ == long.loss_curve_[: short.n_iter_]
    assert PredtronClassifier(max_iter=50, tol=1.0).fit(X, y).n_iter_ == 2


def test_shuffle_and_seeds():
    X, y = make_data(noise=3.0)
    coef = [PredtronClassifier(random_state=seed).fit(X, y).coef_ for seed in (0, 0, 1, np.random.RandomState(0))]
    np.testing.assert_array_equal(coef[0], coef[1])
    np.testing.assert_array_equal(coef[0], coef[3])
    assert not np.array_equal(coef[0], coef[2])
    in_order = PredtronClassifier(shuffle=False, max_iter=1).fit(X, y)
    np.testing.assert_array_equal(in_order.coef_, PredtronClassifier().partial_fit(X, y, classes=[0, 1, 2]).coef_)


def test_pipelines_and_cross_validation():
    X, y = make_data(noise=0.3, n=300)
    pipeline = make_pipeline(StandardScaler(), PredtronClassifier(random_state=0))
    assert pipeline.fit(X, y).score(X, y) > 0.8
    scores = cross_val_score(pipeline, X, y, cv=3)
    assert scores.shape == (3,) and scores.min() > 0.75
    sparsely = make_pipeline(StandardScaler(with_mean=False), PredtronClassifier(random_state=0))
    np.testing.assert_allclose(cross_val_score(sparsely, sparse.csr_array(X), y, cv=3), cross_val_score(sparsely, X, y, cv=3))
    with joblib.parallel_config(backend="threading", n_jobs=2):
        in_parallel = cross_val_score(PredtronClassifier(random_state=0), X, y, cv=3)
    np.testing.assert_array_equal(in_parallel, cross_val_score(PredtronClassifier(random_state=0), X, y, cv=3))


def test_calibrated_probabilities():
    X, y = make_data(n=300)
    for kind, labels in [(PredtronClassifier, y), (PredtronBinaryClassifier, y > 0), (PredtronClassifier, y > 0)]:
        calibrated = CalibratedClassifierCV(kind(random_state=0), cv=3).fit(X, labels)
        probability = calibrated.predict_proba(X)
        assert probability.shape == (len(X), len(np.unique(labels)))
        np.testing.assert_allclose(probability.sum(axis=1), 1)
        assert calibrated.score(X, labels) > 0.6


def test_clone_repr_and_html():
    model = PredtronClassifier(update=PassiveAggressive(C=0.1), loss=np.array([[0, 2], [1, 0]]), reject_cost=0.1, reject_label=-1)
    copy = clone(model)
    assert copy.update is not model.update and copy.update.C == 0.1
    assert repr(model).startswith("PredtronClassifier(loss=array([[0, 2],")
    X, y = make_data(2)
    for estimator in [model, model.fit(X, y), Predtron(Hours()), make_pipeline(StandardScaler(), PredtronClassifier())]:
        html = estimator._repr_html_()
        assert "Predtron" in html and "<div" in html
    assert "PassiveAggressive" in model._repr_html_()
    assert not hasattr(clone(model), "classes_")


def test_metadata_routing():
    X, y = make_data(n=120)
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        model = PredtronClassifier(random_state=0).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        model.set_partial_fit_request(sample_weight=True, classes=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model).fit(X, y, sample_weight=weight)
        scaled = StandardScaler().fit_transform(X)
        alone = PredtronClassifier(random_state=0).fit(scaled, y, sample_weight=weight)
        np.testing.assert_array_equal(pipeline[-1].coef_, alone.coef_)
        assert pipeline.score(X, y, sample_weight=weight) == alone.score(scaled, y, sample_weight=weight)
        search = GridSearchCV(model, {"average": ["linear", False]}, cv=2).fit(X, y, sample_weight=weight)
        assert search.best_estimator_.t_ == search.best_estimator_.n_iter_ * np.sum(weight > 0)


# --------------------------------------------------------------------------------------------------------------- callbacks


class Watcher(FitCallback):
    """Counts epochs; stops or fails at one."""

    def __init__(self, stop_at=None, fail_at=None):
        self.stop_at = stop_at
        self.fail_at = fail_at
        self.seen = []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **data):
        pass

    def on_fit_task_end(self, estimator, context, **data):
        if context.task_name == "epoch":
            self.seen.append((estimator.n_iter_, len(estimator.loss_curve_)))
            if len(self.seen) == self.fail_at:
                raise RuntimeError("enough")
        return context.task_name == "epoch" and len(self.seen) == self.stop_at


def test_callbacks_see_every_epoch():
    X, y = make_data(noise=3.0)
    watcher = Watcher()
    model = PredtronClassifier(random_state=0).set_callbacks(watcher).fit(X, y)
    assert watcher.seen == [(i, i) for i in range(1, 11)]
    np.testing.assert_array_equal(model.coef_, PredtronClassifier(random_state=0).fit(X, y).coef_)


def test_a_callback_may_stop_the_fit():
    X, y = make_data(noise=3.0)
    model = PredtronClassifier(random_state=0).set_callbacks(Watcher(stop_at=3)).fit(X, y)
    short = PredtronClassifier(random_state=0, max_iter=3).fit(X, y)
    assert model.n_iter_ == len(model.loss_curve_) == 3
    np.testing.assert_array_equal(model.coef_, short.coef_)


def test_a_callback_that_fails_leaves_a_usable_model():
    X, y = make_data(noise=3.0)
    model = PredtronClassifier(random_state=0).fit(X + 1, 2 - y)
    model.set_callbacks(Watcher(fail_at=2))
    with pytest.raises(RuntimeError, match="enough"):
        model.fit(X, y)
    short = PredtronClassifier(random_state=0, max_iter=2).fit(X, y)
    np.testing.assert_array_equal(model.coef_, short.coef_)
    for learner in [model, short]:
        for i in range(len(X)):
            learner.partial_fit(X[i : i + 1], y[i : i + 1])
    np.testing.assert_array_equal(model.coef_, short.coef_)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), short.predict(X))
    assert model.set_callbacks(Watcher()).fit(X, y).n_iter_ == 10


def test_progress_bar(capsys):
    pytest.importorskip("rich")
    X, y = make_data()
    model = PredtronClassifier(random_state=0).set_callbacks(ProgressBar()).fit(X, y)
    assert "PredtronClassifier" in capsys.readouterr().out
    np.testing.assert_array_equal(model.coef_, PredtronClassifier(random_state=0).fit(X, y).coef_)


def test_scoring_monitor():
    X, y = make_data(noise=2.0)
    monitor = ScoringMonitor(scoring="accuracy")
    model = PredtronClassifier(random_state=0, max_iter=4).set_callbacks(monitor).fit(X, y)
    scores = [entry["accuracy"] for entry in monitor.get_logs().data if entry["task_name"] == "epoch"]
    by_epochs = [PredtronClassifier(random_state=0, max_iter=n).fit(X, y).score(X, y) for n in (1, 2, 3, 4)]
    assert scores == by_epochs and len(set(by_epochs)) > 1
    assert model.n_iter_ == 4


# ---------------------------------------------------------------------------------------------- problems written in Python


class Hours(Problem):
    n_scores, c_L, C_L = 2, 1.0, 6.0
    code = np.column_stack([np.cos(np.arange(12) * np.pi / 6), np.sin(np.arange(12) * np.pi / 6)])

    def decode(self, t):
        return int((self.code @ t).argmax())

    def loss(self, prediction, y):
        way = abs(prediction - y) % 12
        return float(min(way, 12 - way))

    def representation(self, prediction):
        return self.code[prediction]

    def augmented_decode(self, t, y):
        return int((self.code @ t + [self.loss(hour, y) for hour in range(12)]).argmax())


def make_hours(n=60):
    X = np.random.default_rng(0).standard_normal((n, 2))
    return X, np.floor(np.arctan2(X[:, 1], X[:, 0]) * 6 / np.pi).astype(int) % 12


class Irregular(Problem):
    """Costs and a code without any symmetry, so that no two predictions tie but at the start, where the first costs most."""

    n_scores = 4
    costs = np.random.default_rng(0).uniform(0.5, 2, (5, 5)) * (1 - np.eye(5))
    costs[:, 0] *= 4
    code = Code(np.random.default_rng(1).standard_normal((5, 4)) / 3)
    c_L, C_L = costs[costs > 0].min(), costs.max()

    def decode(self, t):
        return int((self.representation(...) @ t).argmax())

    def loss(self, prediction, y):
        return self.costs[y, prediction]

    def representation(self, prediction):
        rows = np.asarray(self.code.rows)
        return (rows / np.linalg.norm(rows, axis=1)[:, None])[prediction]

    def augmented_decode(self, t, y):
        return int((self.representation(...) @ t + self.costs[y]).argmax())


@pytest.mark.filterwarnings("ignore:The rows of representation")
@pytest.mark.parametrize("update", ["adaptive", LossAugmented(eta="theory"), "loss_driven", PassiveAggressive(C=0.3)], ids=repr)
def test_python_problem_is_the_compiled_one(update):
    X, y = make_data(5)
    X, y = np.roll(X, -np.argmax(y > 0), axis=0), np.roll(y, -np.argmax(y > 0))  # not to start with label 0
    python = Predtron(Irregular(), update=update, shuffle=False, max_iter=3).fit(X, y)
    table = PredtronClassifier(loss=Irregular.costs, representation=Irregular.code, update=update, shuffle=False, max_iter=3).fit(
        X, y
    )
    np.testing.assert_allclose(python.coef_, table.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(python.predict(X), table.predict(X))
    np.testing.assert_array_equal(python.sample_loss(X, y), table.sample_loss(X, y))
    assert python.score(X, y) == pytest.approx(-python.sample_loss(X, y).mean())


class Grumpy(Hours):
    def __init__(self, after=10, error=KeyError):
        self.after = after
        self.error = error
        self.calls_ = 0

    def decode(self, t):
        self.calls_ += 1
        if self.calls_ > self.after:
            raise self.error("grumpy")
        return super().decode(t)


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt, StopIteration])
def test_a_problem_that_fails_leaves_the_last_complete_round(error):
    X, y = make_hours()
    model = Predtron(Grumpy(10, error))
    with pytest.raises(error, match="grumpy"):
        model.partial_fit(X, y)
    assert model.t_ == 10
    whole = Predtron(Hours()).partial_fit(X[:10], y[:10])
    np.testing.assert_array_equal(model.coef_, whole.coef_)
    model.problem.after = np.inf
    np.testing.assert_array_equal(model.partial_fit(X[10:], y[10:]).coef_, whole.partial_fit(X[10:], y[10:]).coef_)


def test_problems_that_are_incomplete():
    X, y = make_hours()
    for method in ["decode", "loss", "representation", "augmented_decode"]:
        kind = type("Half", (Hours,), {method: getattr(Problem, method)})
        with pytest.raises(TypeError, match=rf"Half does not define {method}\("):
            Predtron(kind()).fit(X, y)
    long = type("Long", (Hours,), {"representation": lambda self, prediction: np.ones(3)})
    with pytest.raises(ValueError, match=r"representation\(\) must return arrays of shape \(n_scores,\) = \(2,\), got \(3,\)"):
        Predtron(long()).fit(X, y)
    with pytest.raises(ValueError, match=r"The 'problem' parameter of Predtron must be .*decode.* Got 'hours'"):
        Predtron("hours").fit(X, y)
    theory = type("Unknown", (Hours,), {"c_L": None, "C_L": None})
    with pytest.raises(ValueError, match=r"LossAugmented\(eta='theory'\) needs c_L and C_L, which Unknown\(\) does not state"):
        Predtron(theory(), update=LossAugmented(eta="theory")).fit(X, y)


def test_predictions_of_any_shape():
    X, y = make_hours()

    class Spread(Hours):
        def decode(self, t):
            return (super().decode(t),) * int(1 + super().decode(t) % 2)

        def loss(self, prediction, y):
            return super().loss(prediction[0], y)

        def representation(self, prediction):
            return super().representation(prediction[0] if isinstance(prediction, tuple) else prediction)

        def augmented_decode(self, t, y):
            return (int((self.code @ t + [Hours.loss(self, hour, y) for hour in range(12)]).argmax()),)

    predicted = Predtron(Spread(), random_state=0).fit(X, y).predict(X)
    assert predicted.shape == (len(X),) and predicted.dtype == object
    assert {len(prediction) for prediction in predicted} == {1, 2}
    with pytest.raises(ValueError, match="X has 60 rows and y has 59"):
        Predtron(Hours()).fit(X, y).sample_loss(X, y[1:])


def test_no_warnings_from_ordinary_use():
    X, y = make_data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for form in [X, X.astype(np.float32), sparse.csr_array(X), sparse.csr_matrix(X)]:
            for kind, labels in [(PredtronClassifier, y), (PredtronBinaryClassifier, y > 0)]:
                model = kind(random_state=0).fit(form, labels)
                model.partial_fit(form, labels).predict(form)
                model.score(form, labels)
