"""Binary and multiclass classifiers: labels, costs, class weights, predictions."""

import re

import numpy as np
import pandas as pd
import pytest
import sklearn
from cases import make_data
from numpy.testing import assert_array_equal
from sklearn.datasets import make_classification
from sklearn.linear_model import Perceptron
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from sklearn_predtron import Patience, PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier
from sklearn_predtron import PredtronBipartiteClassifier as Bipartite
from sklearn_predtron import PredtronMultilabelClassifier as Multilabel
from sklearn_predtron.losses import CostMatrix, ZeroOne
from sklearn_predtron.representations import Code, Simplex
from sklearn_predtron.updates import PerceptronUpdate

KINDS = [PredtronBinaryClassifier, PredtronClassifier]

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


@pytest.mark.parametrize(
    ("kind", "labels", "message"),
    [
        (PredtronClassifier, np.ones(90), "greater than one; got 1 class"),
        (PredtronClassifier, np.array([1, "a", None] * 30, dtype=object), "contains NaN"),
        *((kind, np.arange(90) % 3, "Only binary classification is supported") for kind in (PredtronBinaryClassifier, Bipartite)),
        (Bipartite, np.zeros(90), "greater than one; got 1 class"),
        *(
            (Multilabel, labels, "Only binary classification is supported.* 3 class")
            for labels in (np.arange(90) % 3, ["a", "b", "c"] * 30)
        ),
        (Multilabel, np.zeros(90), "Only binary classification is supported.* a single class"),
        (Multilabel, np.arange(90) / 7, "Unknown label type: continuous"),
        (Multilabel, np.where(np.arange(90) % 3, np.nan, 0), "NaN"),
    ],
)
def test_labels_that_are_not_classes(kind, labels, message):
    X, _ = make_data()
    with pytest.raises(ValueError, match=message):
        kind().fit(X, labels)
    with pytest.raises(ValueError, match="classes must be passed on the first call to partial_fit"):
        kind().partial_fit(X, labels)
    if kind is Multilabel:
        with pytest.raises(ValueError, match="Only binary classification is supported"):
            kind().partial_fit(X, labels, classes=[0, 1, 2])


def test_classes_of_later_calls():
    X, y = make_data()
    with pytest.raises(ValueError, match=r"y contains labels that are not in classes_: \[2\]; accepted are \[0, 1\]"):
        PredtronClassifier().partial_fit(X, y, classes=[0, 1])
    model = PredtronClassifier().partial_fit(X, y, classes=[2, 1, 0]).partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"classes=\[0, 1\] is not the same as on the first call: \[0, 1, 2\]"):
        model.partial_fit(X, y, classes=[0, 1])


@pytest.mark.parametrize("classes", [[[0, 1], [2]], [[0, 1, 2]], 3, "012", [], {0, 1, 2}], ids=str)
@pytest.mark.parametrize("kind", [PredtronClassifier, PredtronOrdinalClassifier])
def test_classes_that_are_no_list_of_labels(kind, classes):
    """The message names `classes`, in the first call and later."""
    X, y = make_data()
    for model in (kind(), kind().partial_fit(X, y, classes=[0, 1, 2])):
        rounds = getattr(model, "t_", None)
        with pytest.raises(ValueError, match=r"classes=.* must be a list of all labels that will occur"):
            model.partial_fit(X, y, classes=classes)
        assert getattr(model, "t_", None) == rounds
    model = kind().partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"classes contains NaN: None at place 1 is a missing label"):
        model.partial_fit(X, y, classes=[0, None, 2])


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
    model = PredtronClassifier(loss=costs, random_state=0, cv=0).fit(X, names[codes])
    pairs = {(names[i], names[j]): costs[i, j] for i in range(3) for j in range(3) if i != j}
    by_pairs = PredtronClassifier(loss=pairs, random_state=0, cv=0).fit(X, names[codes])
    part = PredtronClassifier(loss=CostMatrix(costs.tolist()), random_state=0, cv=0).fit(X, names[codes])
    for other in [by_pairs, part]:
        np.testing.assert_array_equal(other.coef_, model.coef_)
    order = [2, 0, 1]
    renamed = np.array(["b", "c", "a"])  # a -> b, b -> c, c -> a: the rows of the matrix go with the names
    turned = PredtronClassifier(loss=costs[np.ix_(order, order)], random_state=0, cv=0).fit(X, renamed[codes])
    assert (turned.predict(X) == np.roll(names, -1)[np.searchsorted(names, model.predict(X))]).mean() > 0.98  # folds differ
    learned = [PredtronClassifier(loss=loss, decision="learned", random_state=0) for loss in (costs, costs[np.ix_(order, order)])]
    one, other = learned[0].fit(X, names[codes]), learned[1].fit(X, renamed[codes])
    np.testing.assert_allclose(other.coef_, one.coef_[order], rtol=1e-9, atol=1e-12)
    predicted = np.searchsorted(names, model.predict(X))
    np.testing.assert_array_equal(model.sample_loss(X, names[codes]), costs[codes, predicted])
    assert model.score(X, names[codes]) == np.mean(predicted == codes)
    weight = np.random.default_rng(0).random(len(X))
    assert model.score(X, names[codes], sample_weight=weight) == pytest.approx(np.average(predicted == codes, weights=weight))


def test_pairs_left_out_cost_one():
    X, y = make_data()
    matrix = [[0, 1, 6], [1, 0, 1], [1, 1, 0]]
    by_pairs = PredtronClassifier(loss={(0, 2): 6, (1, 1): 0}, random_state=0).fit(X, y)
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


CHURN = np.array(["churn", "stay"])


@pytest.mark.parametrize(
    ("labels", "pairs", "unknown"),
    [
        (CHURN, {("Churn", "stay"): 10}, "'Churn'"),
        (CHURN, {("stay", "churn"): 2, ("churn", "stays"): 10}, "'stays'"),
        (CHURN, {(0, 1): 10}, "0"),
        (CHURN, {(b"churn", b"stay"): 10}, "b'churn'"),
        (CHURN, {(None, "stay"): 10}, "None"),
        (np.array([0, 1]), {("0", "1"): 10}, "'0'"),
        (np.array([0, 1]), {(0, 2): 10}, "2"),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [*KINDS, PredtronOrdinalClassifier])
def test_pairs_of_unknown_labels_are_an_error(kind, labels, pairs, unknown):
    X, codes = make_data(2)
    y = labels[codes]
    message = (
        rf"loss names the label {unknown}, .* classes {re.escape(str(labels.tolist()))}; .* CostMatrix\(costs, labels=\[...\]\)"
    )
    settings = {"categories": labels} if kind is PredtronOrdinalClassifier else {}
    for loss in (pairs, CostMatrix(pairs)):
        with pytest.raises(ValueError, match=message):
            kind(loss=loss, **settings).fit(X, y)
        with pytest.raises(ValueError, match=message):
            kind(loss=loss, **settings).partial_fit(X, y, classes=labels)
        model = kind(**settings).fit(X, y).set_params(loss=loss)
        before = model.t_
        for call in (model.partial_fit, model.sample_loss, model.fit):
            with pytest.raises(ValueError, match=message):
                call(X, y)
        assert model.t_ == before


def test_labels_of_pairs_are_equal_whatever_their_type():
    X, y = make_data(2)
    model = PredtronBinaryClassifier(loss={(0, 1): 5}, random_state=0).fit(X, y)
    pairs = [(np.int8(0), np.uint64(1)), (0.0, 1.0), (False, True), (np.float32(0), np.bool_(True))]
    for pair in pairs:
        for labels in (y, y > 0, y.astype(float), y.astype(np.uint8)):
            other = PredtronBinaryClassifier(loss={pair: 5}, random_state=0).fit(X, labels)
            np.testing.assert_array_equal(other.coef_, model.coef_)
    for labels in (CHURN, CHURN.astype(object)):
        other = PredtronBinaryClassifier(loss={(np.str_("churn"), "stay"): 5}, random_state=0).fit(X, labels[y])
        np.testing.assert_array_equal(other.coef_, model.coef_)


COSTS = np.array([[0, 2, 7], [1, 0, 3], [4, 5, 0]])


@pytest.mark.parametrize(
    "form", [list, tuple, np.array, pd.Index, pd.Series, pd.Categorical, lambda c: np.array(c, dtype=object)]
)
def test_declared_labels_are_the_rows_and_columns_of_costs(form):
    X, codes = make_data()
    names = np.array(["a", "b", "c"])
    order = [2, 0, 1]  # of the declared labels, with one that never occurs
    declared = form([*names[order].tolist(), "d"])
    matrix = np.full((4, 4), 9.0)
    matrix[:3, :3] = COSTS[np.ix_(order, order)]
    matrix[3, 3] = 0
    pairs = {(names[i], names[j]): COSTS[i, j] for i in range(3) for j in range(3) if i != j} | {("a", "d"): 100}
    for there in ([0, 1, 2], [0, 2], [1, 2]):
        rows = np.isin(codes, there)
        expected = PredtronClassifier(loss=COSTS[np.ix_(there, there)], random_state=0).fit(X[rows], names[codes[rows]])
        for costs in (matrix, matrix.tolist(), pairs):
            loss = CostMatrix(costs, labels=declared)
            np.testing.assert_array_equal(loss.matrix(names[there]), COSTS[np.ix_(there, there)])
            model = PredtronClassifier(loss=loss, random_state=0).fit(X[rows], names[codes[rows]])
            np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert CostMatrix({("c", "b"): 6}, labels=declared).matrix(np.array(["b", "c", "d"])).tolist() == [
        [0, 1, 1],
        [6, 0, 1],
        [1, 1, 0],
    ]


def test_costs_of_folds_that_lack_a_class():
    X, y = make_data(3)
    rare = np.flatnonzero(y == 2)[2:]  # two rows of class 2: one of four folds has none to learn from
    X, y = np.delete(X, rare, axis=0), np.delete(y, rare)
    order = np.argsort(y == 2, kind="stable")
    X, y = X[order], y[order]
    for costs in (COSTS, {(2, 0): 8, (0, 2): 3}):
        search = GridSearchCV(
            PredtronClassifier(loss=CostMatrix(costs, labels=[0, 1, 2]), random_state=0),
            {"loss__costs": [costs], "max_iter": [1, 3]},
            cv=KFold(4),
            scoring="accuracy",
            error_score="raise",
        )
        assert search.fit(X, y).best_estimator_.classes_.tolist() == [0, 1, 2]
        with pytest.raises(ValueError, match=r"the (label 2|2 classes).* CostMatrix\(costs, labels=\[...\]\)"):
            cross_val_score(PredtronClassifier(loss=costs), X, y, cv=KFold(4), error_score="raise")
    for labels in ([0, 1, 2], None):
        stream = PredtronClassifier(loss=CostMatrix(COSTS, labels=labels)).partial_fit(X[:20], y[:20], classes=[0, 1, 2])
        assert stream.coef_.shape[0] == 3
    ranks = PredtronOrdinalClassifier(loss={(0, 2): 3}, categories=[0, 1, 2]).fit(X[:20], y[:20])
    assert ranks.classes_.tolist() == [0, 1, 2]


# --------------------------------------------------------------------------------------------------------- representations


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


@pytest.mark.parametrize(("tol", "epochs"), [(None, 9), (0, 6), (1e-9, 6), (Patience(0, 2), 3), (Patience(0, 9), 9)])
def test_tol_is_what_the_loss_must_fall_by(tol, epochs):
    """Contradictory rows lose the same in every epoch."""
    model = PredtronBinaryClassifier(
        norm="l2", update="perceptron", fit_intercept=False, shuffle=False, max_iter=9, tol=tol, cv=0
    )
    assert model.fit([[1.0], [1.0]], [0, 1]).n_iter_ == epochs
    assert model.loss_curve_ == [1.0] * epochs


@pytest.mark.parametrize("kind", KINDS)
def test_balanced_classes(kind):
    X, y = make_data(2)
    y[20:] &= np.random.default_rng(0).random(len(y) - 20) < 0.4
    balance = len(y) / (2 * np.bincount(y))
    model = kind(class_weight="balanced", random_state=0, cv=0).fit(X, y)
    weighted = kind(random_state=0, cv=0).fit(X, y, sample_weight=balance[y])
    np.testing.assert_allclose(model.coef_, weighted.coef_, rtol=1e-9, atol=1e-12)
    weight = np.where(np.arange(len(y)) % 3 == 0, 0, 1.0)
    there = weight > 0
    absent = kind(class_weight="balanced", random_state=0, cv=0).fit(X[there], y[there])
    model.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.coef_, absent.coef_)
    with pytest.raises(ValueError, match=r"class_weight 'balanced' is not supported for partial_fit.*pass a dict"):
        model.partial_fit(X, y)


def test_class_weight_zero_is_absence():
    X, y = make_data(3)
    model = PredtronClassifier(class_weight={1: 0}, random_state=0, cv=0).fit(X, y)
    assert model.t_ == model.n_iter_ * np.sum(y != 1)
    assert not np.any(model.predict(X) == 1)
    stream = PredtronClassifier(class_weight={1: 0.0}, cv=0).partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    for i in range(1, len(X)):
        stream.partial_fit(X[i : i + 1], [y[i]])
    kept = PredtronClassifier(cv=0).partial_fit(X[y != 1], y[y != 1], classes=[0, 1, 2])
    np.testing.assert_array_equal(stream.coef_, kept.coef_)


def test_class_weights_of_folds_that_lack_a_class():
    """As in scikit-learn: more labels may be named where every class has its weight; otherwise one of them may be a typo."""
    X, y = make_data()
    there = y < 2
    weights = {0: 3.0, 1: 1.0, 2: 5.0}
    folds = [kind(class_weight=weights, random_state=0).fit(X[there], y[there]) for kind in (PredtronClassifier, Perceptron)]
    alone = PredtronClassifier(class_weight={0: 3.0}, random_state=0).fit(X[there], y[there])
    np.testing.assert_array_equal(folds[0].coef_, alone.coef_)
    for kind in (PredtronClassifier, Perceptron):
        with pytest.raises(ValueError, match="class_weight"):
            kind(class_weight={0: 3.0, 2: 5.0}).fit(X[there], y[there])


def test_class_weights_of_labels_that_only_seem_equal():
    """0.1 and its float32 are two numbers: a weight of the one is not that of the other, and not to be dropped in silence."""
    X, codes = make_data(2)
    ranks = np.array([0.1, 0.2], dtype=np.float32)
    with pytest.raises(ValueError, match=r"class_weight names \[0.1\], not in classes_: \[0.10000000"):
        PredtronOrdinalClassifier(categories=ranks, class_weight={0.1: 2.0}).fit(X, ranks[codes])


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
    apart = PredtronClassifier(norm="l2", fit_intercept=False)
    apart.partial_fit([[1.0, 0], [1, 0], [0, 1]], [1, 2, 2], classes=[0, 1, 2])
    assert apart.predict([[0.0, 0]]) == [0] and model.t_ > 0
    tied = PredtronClassifier(norm="l2", fit_intercept=False, average=False, update="perceptron")
    tied.partial_fit([[1.0, 0], [0, 1]], [2, 1], classes=[0, 1, 2])
    scores = tied.decision_function([[1.0, 1]])[0]
    assert tied.predict([[1.0, 1]]) == [np.flatnonzero(scores == scores.max())[0]]
    binary = PredtronBinaryClassifier(norm="l2", fit_intercept=False).partial_fit(X, y > 0, classes=[False, True])
    assert binary.decision_function([[0.0] * 6]) == [0] and binary.predict([[0.0] * 6]) == [False]


def test_margin_and_loss_bound():
    X, y = make_data(3, noise=0.0, n=200)
    how = {"norm": "l2", "fit_intercept": False}
    model = PredtronClassifier(update="loss_driven", average=False, max_iter=1000, random_state=0, **how, cv=0).fit(X, y)
    scores = model.decision_function(X)
    own = scores[np.arange(len(X)), y]
    scores[np.arange(len(X)), y] = -np.inf
    margin = (own - scores.max(axis=1)).min() / np.linalg.norm(model.coef_)
    assert model.margin(X, y) == pytest.approx(margin) and margin > 0
    bound = model.loss_bound(margin, radius=np.linalg.norm(X, axis=1).max())
    assert model.cumulative_loss_ <= bound


def test_steps_that_overflow():
    """The rounds before are kept in a stream, of which the error tells; a fit keeps nothing."""
    X, y = make_data(2)
    settings = {"norm": "l2", "update": PerceptronUpdate(eta=1e100), "average": False}
    good, *models = (PredtronBinaryClassifier(**settings).partial_fit(X, y, classes=[0, 1]) for _ in range(3))
    good.partial_fit(X[:9], y[:9])
    rows = np.vstack([X[:9], -np.sign(good.last_coef_) * (2 * y[9] - 1) * 1e100])
    for model, weight in zip(models, [None, np.ones(10)], strict=True):  # the fast path and the long way
        message = f"the step overflows; .* The rounds before row 9 were trained on: t_ = {good.t_}"
        with pytest.raises(ValueError, match=message):
            model.partial_fit(rows, y[:10], sample_weight=weight)
        assert model.t_ == good.t_  # the last complete round
        np.testing.assert_array_equal(model.coef_, good.coef_)
        with pytest.raises(ValueError, match=r"the step overflows; scale them towards 1\.$"):
            model.partial_fit(rows[9:], y[9:10], sample_weight=None if weight is None else weight[9:])
        np.testing.assert_array_equal(model.coef_, good.coef_)
    fitted = PredtronBinaryClassifier(random_state=0).fit(X, y)
    coef = fitted.coef_
    with pytest.raises(ValueError, match=r"the step overflows; scale them towards 1\.  The fit is undone\.$"):
        fitted.set_params(**settings).fit(X * 1e100, y)
    np.testing.assert_array_equal(fitted.coef_, coef)
    with pytest.raises(ValueError, match="X holds values so large that the scores overflow; scale the features down"):
        good.predict(np.sign(good.coef_) * 1e308)


@pytest.mark.parametrize("how", [{}, {"decision": "learned", "cv": 0}, {"representation": "simplex"}])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_most_probable_classes(how, n_classes):
    """All classes, sorted by probability or score, cut off; among equals the first."""
    X, y = make_classification(300, n_informative=6, n_classes=n_classes, random_state=0)
    names = np.array(["d", "b", "c", "a"])[:n_classes]
    model = PredtronClassifier(random_state=0, **how).fit(X, names[y])
    if hasattr(model, "predict_proba"):
        values = model.predict_proba(X)
    else:
        scores = model.decision_function(X)
        values = scores if n_classes > 2 else np.c_[-scores, scores]
    found = model.top_k(X, k=n_classes)
    for row, value in zip(found, values, strict=True):
        expected = sorted(range(n_classes), key=lambda j: (-value[j], j))
        assert row.tolist() == model.classes_[expected].tolist()
    for k in range(1, n_classes):
        assert_array_equal(model.top_k(X, k=k), found[:, :k])
    for k in (0, n_classes + 1, 1.0, True, "1"):
        with pytest.raises(ValueError, match=r"^k=.* must be a whole number from 1 to"):
            model.top_k(X, k)


@pytest.mark.parametrize("method", ["decision_function", "predict_proba", "predict"])
def test_scores_whose_difference_overflows_are_refused(method):
    """They are finite each, of opposite signs."""
    X, y = make_data(noise=0.3, n=300)
    model = PredtronBinaryClassifier(norm="l2", random_state=0).fit(X, (y > 0).astype(int))
    direction = np.sign(model.coef_[0] if model.coef_.ndim > 1 else model.coef_)[None, :]
    with pytest.raises(ValueError, match="X holds values so large that the scores overflow"):
        getattr(model, method)(direction * (1.2e308 / np.abs(model.coef_).sum()))
    assert np.isfinite(getattr(model, method)(direction * (1e306 / np.abs(model.coef_).sum())).astype(float)).all()
