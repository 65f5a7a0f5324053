"""Classifiers that may reject."""

import numpy as np
import pandas as pd
import pytest
from cases import make_data
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron.losses import CostMatrix, Reject

RULES = ["online", "margin", "code"]


@pytest.mark.parametrize("rule", ["online", "margin"])
@pytest.mark.parametrize(("kind", "k"), [(PredtronBinaryClassifier, 2), (PredtronClassifier, 2), (PredtronClassifier, 4)])
def test_coverage_grows_with_the_cost_of_rejection(kind, k, rule):
    X, y = make_data(k, n=300, noise=1.5)
    model = kind(random_state=0, cv=0).fit(X, y)
    coverage = []
    for beta in [0.02, 0.1, 0.2, 0.3, 0.4, 0.5]:
        triage = kind(reject=Reject(beta, -1, rule=rule), random_state=0).fit(X, y)
        np.testing.assert_array_equal(triage.coef_, model.coef_)
        predicted, kept = triage.predict(X), triage.predict(X) != -1
        np.testing.assert_array_equal(predicted[kept], model.predict(X)[kept])
        coverage.append(kept.mean())
        loss = np.where(kept, predicted != y, beta)
        np.testing.assert_array_equal(triage.sample_loss(X, y), loss)
        assert triage.score(X, y) == np.mean(predicted == y)
    assert coverage == sorted(coverage)
    assert coverage[0] < coverage[-1]
    if rule == "margin":
        assert coverage[-1] == 1


def test_margin_rule():
    X, y = make_data(3, n=300, noise=1.5)
    costs = np.array([[0, 1, 2], [1, 0, 4], [3, 1, 0]])
    for loss, beta in [("zero_one", 0.2), ("zero_one", [0.1, 0.25, 0.4]), (costs, 0.5), (costs, [0.2, 0.5, 1.5])]:
        model = PredtronClassifier(loss=loss, reject=Reject(beta, -1, rule="margin"), random_state=0).fit(X, y)
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
        assert model.score(X, y) == np.mean(model.predict(X) == y)


def test_code_rule_is_the_code_of_the_paper():
    X, y = make_data(3)
    model = PredtronClassifier(reject=Reject(0.3, -1, rule="code"), random_state=0).fit(X, y)
    assert model.coef_.shape == (3, X.shape[1])
    assert model.decision_function(X).shape == (len(X), 3)
    assert set(model.predict(X)) <= {-1, 0, 1, 2}
    code = np.vstack([np.eye(3), np.full(3, 3**-0.5)])
    decoded = (X @ model.coef_.T + model.intercept_) @ code.T
    np.testing.assert_array_equal(model.predict(X), np.array([0, 1, 2, -1])[decoded.argmax(axis=1)])


@pytest.mark.parametrize(
    ("labels", "label", "good"),
    [
        ([0, 1, 2], -1, True),
        ([0, 1, 2], np.int8(7), True),
        ([0, 1, 2], 1, False),
        ([0, 1, 2], None, True),
        ([0, 1, 2], "reject", False),
        ([0, 1, 2], 1.5, False),
        ([0, 1, 2], True, False),
        ([-1, 0, 1], None, False),
        (["a", "b", "c"], None, True),
        (["a", "reject", "b"], None, False),
        (["a", "b", "c"], "do not know", True),
        (["a", "b", "c"], "b", False),
        (["a", "b", "c"], 0, False),
        ([0.0, 1.0, 2.0], -1.0, True),
        ([0.0, 1.0, 2.0], "a", False),
        ([0, 1, 2], [-1], False),
        ([0, 1, 2], np.array([-1, -2]), False),
    ],
)
def test_reject_label_is_of_the_type_of_the_classes(labels, label, good):
    X, codes = make_data(noise=3.0)
    y = np.array(labels)[codes]
    model = PredtronClassifier(reject=Reject(0.05, label, rule="margin"), random_state=0)
    if good:
        predicted = model.fit(X, y).predict(X)
        assert predicted.dtype.kind == y.dtype.kind
        assert ({"i": -1, "U": "reject"}[y.dtype.kind] if label is None else label) in predicted
    else:
        with pytest.raises(ValueError, match=r"reject\.label=.* accepted is an? \w+ other than the classes \[.*\], such as "):
            model.fit(X, y)


@pytest.mark.parametrize("label", [None, True, False, -1, "reject"], ids=str)
@pytest.mark.parametrize("form", [np.asarray, list, pd.Series], ids=["array", "list", "series"])
def test_boolean_classes_leave_no_label_to_reject_with(form, label):
    """The message says what to do, and that works."""
    X, codes = make_data(2, n=300, noise=1.5)
    for kind in (PredtronBinaryClassifier, PredtronClassifier):
        model = kind(reject=Reject(0.05, label, rule="margin"), random_state=0)
        message = rf"reject\.label={label!r} .* True and False, .* y\.astype\(int\) with reject\.label=-1, or strings"
        with pytest.raises(ValueError, match=message):
            model.fit(X, form(codes > 0))
        with pytest.raises(ValueError, match=message):
            model.partial_fit(X, form(codes > 0), classes=[False, True])
        assert not model.__sklearn_is_fitted__()
        predicted = model.set_params(reject__label=-1).fit(X, (codes > 0).astype(int)).predict(X)
        assert set(predicted) == {-1, 0, 1}


@pytest.mark.parametrize("rule", RULES)
def test_costs_that_name_the_reject_label(rule):
    """What a rejected row costs is reject.cost; a cost given to it elsewhere would do nothing."""
    X, y = make_data(2)
    losses = [{(0, -1): 5}, {(-1, 0): 5, (0, 1): 2}, CostMatrix({(0, 1): 5}, labels=[0, 1, -1]), CostMatrix({(0, -1): 5})]
    for loss in [*losses, CostMatrix(1 - np.eye(3), labels=[-1, 0, 1])]:
        for kind in (PredtronBinaryClassifier, PredtronClassifier):
            model = kind(loss=loss, reject=Reject(0.2, -1, rule=rule))
            with pytest.raises(ValueError, match=r"loss names reject\.label=-1; .* reject\.cost"):
                model.fit(X, y)
    declared = CostMatrix({(0, 1): 5}, labels=[0, 1, 7])
    assert PredtronClassifier(loss=declared, reject=Reject(0.2, -1, rule=rule)).fit(X, y).t_ > 0


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("beta", [0.0, -0.1, 1.01, [0.1, 0.2], [0.1, 0.2, 0.0], [[0.1, 0.2, 0.3]], np.nan, ["a", "b", "c"]])
def test_reject_costs_that_are_none(beta, rule):
    X, y = make_data()
    with pytest.raises(ValueError, match=r"reject\.cost=.*(above 0 and at most|does not hold numbers)"):
        PredtronClassifier(reject=Reject(beta, -1, rule=rule)).fit(X, y)


def test_reject_cost_is_at_most_half_the_largest_loss():
    X, y = make_data()
    for rule in ["online", "margin"]:
        with pytest.raises(ValueError, match=r"reject\.cost=0.6 must be .* above 0 and at most 0.5 \(reject\.rule='" + rule):
            PredtronClassifier(reject=Reject(0.6, -1, rule=rule)).fit(X, y)
        PredtronClassifier(reject=Reject(0.6, -1, rule=rule), loss={(0, 1): 2}).fit(X, y)


def test_reject_parameters_may_change_after_fit():
    X, y = make_data(3, n=300, noise=1.5)
    for rule in RULES:
        model = PredtronClassifier(reject=Reject(0.3, -1, rule=rule), random_state=0).fit(X, y)
        model.set_params(reject__rule="margin", reject__cost=0.1)
        other = PredtronClassifier(reject=Reject(0.1, -1, rule="margin"), random_state=0).fit(X, y)
        if rule != "code":
            np.testing.assert_array_equal(model.predict(X), other.predict(X))
        assert {-1} < set(model.predict(X)) <= {-1, 0, 1, 2}
        model.set_params(reject=None)
        assert set(model.predict(X)) <= {0, 1, 2}
    model = PredtronClassifier(random_state=0).fit(X, y).set_params(reject=Reject(0.3, -1, rule="online"))
    with pytest.raises(ValueError, match=r"reject\.rule='online' chooses its threshold while it learns; call fit or partial_fit"):
        model.predict(X)
    assert -1 in model.partial_fit(X, y).predict(X)


@pytest.mark.parametrize("scale", [1e-138, 1e-30, 1.0, 1e30, 1e138])
@pytest.mark.parametrize("weight", [1e-300, 1.0, 1e300])
def test_margins_of_any_size_have_a_place(scale, weight):
    """Also of averages that overflow: an infinite margin, or none, has no bin of its own."""
    random = np.random.default_rng(0)
    X, y = scale * random.standard_normal((60, 4)), random.integers(0, 3, 60)
    model = PredtronClassifier(reject=Reject(0.2, 9, rule="online"), random_state=0)
    for rows in (slice(0, 30), slice(30, 60)):
        model.partial_fit(X[rows], y[rows], classes=[0, 1, 2], sample_weight=np.full(30, weight))
    assert 0 <= model._model.learner.observer.threshold(np.full(3, 0.2)) <= np.inf


@pytest.mark.parametrize("update", ["adaptive", "passive_aggressive", "predtron", "perceptron"])
@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_code_does_not_reject_while_no_step_is_away_from_the_rejection(update, k, fit_intercept):
    """Up to beta = 1 - 1/k, and for any beta where only mistakes are stepped on."""
    rng = np.random.default_rng(k)
    X = 1 + rng.random((200, 4))
    y = ((X - 1.5) @ rng.standard_normal((4, k)) + 0.3 * rng.standard_normal((200, k))).argmax(axis=1)
    assert len(set(y)) == k
    model = PredtronClassifier(update=update, fit_intercept=fit_intercept, average=False, random_state=0)
    for beta in (0.1, 0.3, 1 - 1 / k, 0.95):
        model.set_params(reject=Reject(beta, -1, rule="code")).fit(X, y)
        still = update in ("predtron", "perceptron") or beta <= 1 - 1 / k
        assert np.allclose(model.coef_.sum(axis=0), 0) == still
        assert not still or -1 not in model.predict(np.vstack([X, -X, rng.standard_normal((200, 4))]))


def test_the_code_rejects_what_points_away_from_what_was_learned():
    rng = np.random.default_rng(0)
    X = 1 + rng.random((300, 4))
    y = X[:, 0] + 0.3 * rng.standard_normal(300) > 1.5
    model = PredtronClassifier(norm="l2", reject=Reject(0.9, -1, rule="code"), fit_intercept=False, random_state=0)
    model.fit(X, y.astype(int))
    assert -1 not in model.predict(X) and (model.predict(-X) == -1).mean() > 0.4


def test_a_search_reaches_into_the_option():
    X, y = make_data(3, n=120, noise=1.5)
    model = PredtronClassifier(reject=Reject(0.1, -1), random_state=0)
    search = GridSearchCV(model, {"reject__cost": [0.05, 0.4], "reject__rule": ["online", "margin"]}, cv=2).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    assert clone(model).reject is not model.reject and clone(model).reject.get_params() == model.reject.get_params()
    assert repr(model.reject) == "Reject(cost=0.1, label=-1)"


@pytest.mark.parametrize("wrong", [True, 0.0, -0.2, np.nan, "margin", Reject, (0.2, -1), {"cost": 0.2}], ids=str)
def test_what_is_no_option(wrong):
    X, y = make_data(3)
    model = PredtronClassifier(random_state=0).fit(X, y).set_params(reject=wrong)
    for call in (
        lambda: model.fit(X, y),
        lambda: model.partial_fit(X, y),
        lambda: model.predict(X),
        lambda: model.sample_loss(X, y),
    ):
        with pytest.raises(
            ValueError,
            match=r"^reject(=|\.cost=).*(accepted are None, a cost and|is a class; pass an instance|above 0 and at most)",
        ):
            call()


def test_a_parameter_of_an_option_that_is_not_there():
    with pytest.raises(
        ValueError, match=r"reject__cost=0\.3 cannot be set: reject=None has no parameters; pass an instance of Reject"
    ):
        PredtronClassifier().set_params(reject__cost=0.3)


def test_the_code_is_learned():
    """Setting the rule makes no weights for it, and the message names what was set."""
    X, y = load_breast_cancer(return_X_y=True)
    for model in (PredtronBinaryClassifier(warm_start=True), PredtronClassifier(warm_start=True)):
        model.fit(X[:60], y[:60]).set_params(reject=Reject(0.3, -1, "code"))
        with pytest.raises(ValueError, match=r"^reject.rule='code' is learned; call fit after setting it"):
            model.predict(X)
    model = PredtronBinaryClassifier(warm_start=True).fit(X[:60], y[:60]).set_params(reject=Reject(0.3, -1, "code"))
    with pytest.raises(
        ValueError, match=r"^reject.rule='code' has 2 scores and the weights so far have 1 score; call fit with warm_"
    ):
        model.fit(X, y)


def test_bytes_are_no_label_of_strings():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(ValueError, match=r"^reject.label=b'no' is what a rejected row is predicted as"):
        PredtronBinaryClassifier(reject=Reject(0.3, b"no")).fit(X, np.array(["no", "yes"])[y])
