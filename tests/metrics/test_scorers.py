"""`score` is one yardstick whatever the estimator's loss, and scorers of costs, rejects and sets say the rest."""

import copy
import pickle
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from cases import Hours
from scipy import sparse
from sklearn import config_context
from sklearn.datasets import load_digits, make_classification, make_multilabel_classification
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, fbeta_score, jaccard_score
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklearn_predtron import (
    Predtron,
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
)
from sklearn_predtron.losses import CostMatrix, FBeta, Reject, SubsetLoss, subset_loss
from sklearn_predtron.metrics import cost_scorer, reject_scorer, subset_scorer


def noisy_digits():
    """Digits of which a fifth have the label of another."""
    X, y = load_digits(return_X_y=True)
    random = np.random.default_rng(0)
    return X, np.where(random.random(len(y)) < 0.2, random.integers(0, 10, len(y)), y)


def test_a_search_over_costs_picks_what_is_most_accurate():
    X, y = noisy_digits()
    grid = {"loss": ["zero_one", {(0, 1): 1000}, {(0, 1): 3, (3, 8): 2}]}
    search = GridSearchCV(PredtronClassifier(cv=0, random_state=0), grid, scoring=["accuracy"], refit="accuracy", cv=3).fit(X, y)
    own = GridSearchCV(PredtronClassifier(cv=0, random_state=0), grid, cv=3).fit(X, y)
    np.testing.assert_array_equal(own.cv_results_["mean_test_score"], search.cv_results_["mean_test_accuracy"])
    assert own.best_params_ == search.best_params_ != {"loss": {(0, 1): 1000}}


@pytest.mark.parametrize("loss", ["zero_one", {(1, 0): 50}, [[0, 2, 3], [1, 0, 9], [4, 4, 0]]], ids=str)
@pytest.mark.parametrize("reject", [{}, {"reject": Reject(0.3, -7)}], ids=["", "reject"])
def test_score_is_accuracy(loss, reject):
    X, y = make_classification(400, n_informative=4, n_classes=3, flip_y=0.2, random_state=0)
    model = PredtronClassifier(loss=loss, **reject, random_state=0).fit(X, y)
    weight = np.random.default_rng(0).random(len(y))
    predicted = model.predict(X)
    assert (-7 in predicted) == bool(reject)
    assert model.score(X, y) == np.mean(predicted == y)
    assert model.score(X, y, sample_weight=weight) == accuracy_score(y, predicted, sample_weight=weight)


def test_score_of_a_problem_is_one_less_its_mean_loss():
    X = np.random.default_rng(0).standard_normal((200, 2))
    y = np.floor(np.arctan2(X[:, 1], X[:, 0]) * 6 / np.pi).astype(int) % 12
    model = Predtron(Hours(), max_iter=2, random_state=0).fit(X, y)
    assert model.score(X, y) == 1 - model.sample_loss(X, y).mean()


COSTS = np.array([[0, 2, 3.0], [1, 0, 9], [4, 4, 0]])


def three_classes():
    X, y = make_classification(300, n_informative=4, n_classes=3, flip_y=0.2, random_state=0)
    return X, np.array(["a", "b", "c"])[y], y


@pytest.mark.parametrize("form", [COSTS, COSTS.tolist(), dict(zip(product("abc", repeat=2), COSTS.flat, strict=True))])
def test_cost_scorer_is_minus_the_mean_cost(form):
    X, names, y = three_classes()
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, names)
    predicted = np.searchsorted(model.classes_, model.predict(X))
    weight = np.random.default_rng(0).random(len(y))
    scorer = cost_scorer(form)
    for other in [scorer, copy.deepcopy(scorer), pickle.loads(pickle.dumps(scorer))]:
        assert other(model, X, names) == pytest.approx(-COSTS[y, predicted].mean())
        assert other(model, X, names, sample_weight=weight) == pytest.approx(-np.average(COSTS[y, predicted], weights=weight))


def test_cost_scorer_is_the_loss_of_the_estimator():
    X, names, _ = three_classes()
    for reject in [{}, {"reject": Reject([0.5, 1, 0.2], "?")}]:
        model = PredtronClassifier(loss=COSTS, **reject, random_state=0).fit(X, names)
        scorer = cost_scorer(COSTS, reject_cost=reject["reject"].cost if reject else None)
        assert scorer(model, X, names) == pytest.approx(-model.sample_loss(X, names).mean())
    ranks = PredtronOrdinalClassifier(loss="squared", categories=["c", "a", "b"], random_state=0).fit(X, names)
    assert cost_scorer("squared")(ranks, X, names) == pytest.approx(-ranks.sample_loss(X, names).mean())


@pytest.mark.parametrize("costs", ["absolute", "squared"])
def test_costs_of_ranks_are_in_the_order_that_y_declares(costs):
    X, names, _ = three_classes()
    order = ["c", "a", "b"]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::5], names[::5])
    off = np.array([abs(order.index(i) - order.index(j)) for i, j in zip(model.predict(X), names, strict=True)])
    expected = -(off if costs == "absolute" else off**2).mean()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cost_scorer(costs)(model, X, pd.Categorical(names, order, ordered=True)) == pytest.approx(expected)
        assert cost_scorer(costs, labels=order)(model, X, names) == pytest.approx(expected)
    with pytest.warns(UserWarning, match=r"ranks are numbered in the alphabetical order of classes_, \['a', 'b', 'c'\]"):
        assert cost_scorer(costs)(model, X, names) != pytest.approx(expected)
    declared = PredtronOrdinalClassifier(loss=costs, categories=["a", "b", "c"], random_state=0).fit(X, names)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for same in (names, pd.Categorical(names, order, ordered=True)):  # the estimator's own order counts
            assert cost_scorer(costs)(declared, X, same) == pytest.approx(-declared.sample_loss(X, names).mean())


def test_reject_scorer():
    X, y = make_classification(300, flip_y=0.3, random_state=0)
    model = PredtronBinaryClassifier(reject=Reject(0.2, 5), random_state=0).fit(X, y)
    predicted = model.predict(X)
    rejected, wrong = predicted == 5, (predicted != y) & (predicted != 5)
    assert rejected.any() and reject_scorer(0.2)(model, X, y) == pytest.approx(-(0.2 * rejected.mean() + wrong.mean()))
    by_class = reject_scorer([0.1, 0.4])(model, X, y)
    assert by_class == pytest.approx(-(np.where(y == 0, 0.1, 0.4) * rejected).mean() - wrong.mean())
    assert cost_scorer({(0, 1): 3}, reject_cost=0)(model, X, y) == pytest.approx(-(wrong * np.where(y == 0, 3, 1)).mean())


def test_labels_that_a_fold_lacks():
    X, names, y = three_classes()
    few = y != 2
    model = LogisticRegression().fit(X[few], names[few])
    with pytest.raises(ValueError, match=r"y contains labels that are not in classes_: \['c'\]"):
        cost_scorer(COSTS[:2, :2])(model, X, names)
    predicted = np.searchsorted(["a", "b", "c"], model.predict(X))
    assert cost_scorer(COSTS, labels=["a", "b", "c"])(model, X, names) == pytest.approx(-COSTS[y, predicted].mean())


def test_labels_that_the_costs_declare():
    X, names, y = three_classes()
    few = y != 2
    model = LogisticRegression().fit(X[few], names[few])
    expected = cost_scorer(COSTS, labels=["a", "b", "c"])(model, X, names)
    assert cost_scorer(CostMatrix(COSTS, labels=["a", "b", "c"]))(model, X, names) == expected
    rejecting = PredtronBinaryClassifier(reject=Reject(0.3, "?"), random_state=0).fit(X[few], names[few])
    predicted = rejecting.predict(X)
    assert (predicted[~few] == "?").any()
    by_hand = np.where(predicted == "?", 0.3, predicted != names).mean()
    assert reject_scorer(0.3)(rejecting, X, names) == pytest.approx(-by_hand)


def test_tuned_thresholds():
    """Its scorer knows of the function and its parameters only."""
    X, y = make_classification(400, flip_y=0.2, random_state=0)
    tuned = TunedThresholdClassifierCV(LogisticRegression(), scoring=cost_scorer([[0, 1], [5, 0]])).fit(X, y)
    assert cost_scorer([[0, 1], [5, 0]])(tuned, X, y) > cost_scorer([[0, 1], [5, 0]])(tuned.estimator_, X, y)


def test_scorers_of_costs_by_row_refuse(routing_on):
    X, names, _ = three_classes()
    costs = pd.DataFrame({("a", "b"): np.ones(len(names))})
    score, model = cost_scorer(), PredtronClassifier(random_state=0)
    with pytest.raises(NotFittedError):
        score(model, X, names, costs=costs)
    with pytest.raises(ValueError, match=r"estimator=LinearSVC\(\): costs of rows are weighed by predict_proba; accepted are"):
        score(LinearSVC().fit(X, names), X, names, costs=costs)
    with pytest.raises(ValueError, match=rf"y has {len(names) - 1} rows and predict_proba shape \({len(names)}, 3\)"):
        score(model.fit(X, names), X, names[:-1], costs=costs)
    for given in (costs, {("a", "b"): np.ones(len(names))}, np.ones((len(names), 3, 3))):
        with pytest.raises(ValueError, match="are of rows; accepted here are a matrix, a dict of numbers and a loss"):
            cost_scorer(given)


@pytest.fixture
def routing_on():
    with config_context(enable_metadata_routing=True):
        yield


def test_cost_scorer_refuses():
    X, names, _ = three_classes()
    rejecting = PredtronClassifier(reject=Reject(0.3, "?"), random_state=0).fit(X, names)
    with pytest.raises(ValueError, match=r"none of the labels \['a', 'b', 'c'\]; pass reject_cost"):
        cost_scorer(COSTS)(rejecting, X, names)
    for cost in [-1, np.nan, [[1, 2]], "low"]:
        with pytest.raises(ValueError, match="reject_cost="):
            reject_scorer(cost)
    with pytest.raises(ValueError, match="one for each of the 3 labels"):
        reject_scorer([0.1, 0.2])(rejecting, X, names)
    with pytest.raises(ValueError, match="cost=None"):
        reject_scorer(None)
    with pytest.raises(ValueError, match="loss='no such loss'"):
        cost_scorer("no such loss")
    with pytest.raises(ValueError, match="cost matrix"):
        cost_scorer(COSTS[:2, :2], reject_cost=1)(rejecting, X, names)


@pytest.mark.parametrize("routing", [False, True])
def test_scorers_in_searches(routing):
    X, names, _ = three_classes()
    weight = np.random.default_rng(0).integers(0, 3, len(names)).astype(float)
    scoring = {"cost": cost_scorer(COSTS), "reject": reject_scorer(0.3)}
    with config_context(enable_metadata_routing=routing):
        params = {"params": {"sample_weight": weight}} if routing else {}
        model = PredtronClassifier(random_state=0)
        if routing:
            model.set_fit_request(sample_weight=False)
        found = cross_validate(model, X, names, scoring=scoring, cv=3, return_estimator=True, return_indices=True, **params)
    for i, estimator in enumerate(found["estimator"]):
        test = found["indices"]["test"][i]
        given = {"sample_weight": weight[test]} if routing else {}
        assert found["test_cost"][i] == scoring["cost"](estimator, X[test], names[test], **given)
        assert found["test_reject"][i] == pytest.approx(estimator.score(X[test], names[test], **given) - 1)


def multilabel():
    X, y = make_multilabel_classification(300, n_classes=6, random_state=0)
    return X, y, PredtronMultilabelClassifier(random_state=0).fit(X, y)


@pytest.mark.parametrize(
    "loss, peer",
    [
        ("f1", lambda *rows, **more: f1_score(*rows, average="samples", zero_division=1, **more)),
        (FBeta(beta=2), lambda *rows, **more: fbeta_score(*rows, beta=2, average="samples", zero_division=1, **more)),
        ("jaccard", lambda *rows, **more: jaccard_score(*rows, average="samples", zero_division=1, **more)),
        ("subset_zero_one", accuracy_score),
        (lambda a, b, c, d: (b > 0) | (c > 0), accuracy_score),
    ],
    ids=["f1", "f2", "jaccard", "subset_zero_one", "callable"],
)
def test_subset_scorer(loss, peer):
    X, y, model = multilabel()
    weight = np.random.default_rng(0).random(len(y))
    scorer = subset_scorer(loss)
    expected = peer(y, model.predict(X))
    assert 0 < expected < 1
    assert scorer(model, X, y) == pytest.approx(expected)
    assert scorer(model, X, sparse.csr_matrix(y)) == pytest.approx(expected)
    assert scorer(model, X, y, sample_weight=weight) == pytest.approx(peer(y, model.predict(X), sample_weight=weight))


@pytest.mark.parametrize("loss", ["hamming", "error_set_size", "precision_at_k", "recall_at_k"])
def test_subset_scorer_is_the_loss_of_the_estimator(loss):
    X, y, _ = multilabel()
    model = PredtronMultilabelClassifier(loss=loss, random_state=0).fit(X, y)
    assert subset_scorer(loss)(model, X, y) == pytest.approx(1 - model.sample_loss(X, y).mean())
    assert isinstance(subset_loss(model._model.loss), SubsetLoss)
    assert len(cross_val_score(model, X, y, scoring=subset_scorer(loss), cv=2)) == 2


def test_subset_scorer_refuses():
    X, y, model = multilabel()
    with pytest.raises(ValueError, match="loss='no such loss'"):
        subset_scorer("no such loss")
    with pytest.raises(ValueError, match="is a loss of predictions of exactly 1 labels"):
        subset_scorer("recall_at_k")(model, X, y)
    with pytest.raises(ValueError, match="must hold zeros and ones"):
        subset_scorer("f1")(model, X, 2 * y)
    with pytest.raises(ValueError, match="y has shape"):
        subset_scorer("f1")(model, X, y[:, :5])
    one = DummyClassifier(strategy="uniform", random_state=0).fit(X, y[:, 0])
    assert subset_scorer("hamming")(one, X, y[:, 0]) == pytest.approx(one.score(X, y[:, 0]))
