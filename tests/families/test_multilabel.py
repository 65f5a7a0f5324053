"""Multilabel classifier: the learner against the reference, its peers and its bounds; streams and settings."""

import copy

import joblib
import numpy as np
import pytest
from cases import assert_close, intercept_settings, name, row_weights, state, updates
from reference.sets import FORMULAS, all_sets, counts_of, wavy
from scipy import sparse
from sklearn.linear_model import Perceptron
from sklearn.metrics import hamming_loss
from sklearn.multioutput import MultiOutputClassifier

from sklearn_predtron import PredtronBinaryClassifier, PredtronMultilabelClassifier
from sklearn_predtron.losses import AtK, CountLoss, ErrorSetSize, FBeta, Hamming, PrecisionAtK
from sklearn_predtron.norms import L2
from sklearn_predtron.representations import SignVector
from sklearn_predtron.updates import LossAugmented, PerceptronUpdate
from tests.problems.test_label_sets import each_loss, enumerate_sets, margins_of


def make(update="adaptive", loss="hamming", norm="l2", **settings):
    return PredtronMultilabelClassifier(norm=norm, update=update, loss=loss, decision="learned", **settings)


def make_data(n=60, p=9, m=4, seed=0, noise=1.0):
    """Rows that float32 holds exactly, one of them empty, and sets of labels, among them none and all."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.6) * rng.lognormal(0, 1, (n, 1))
    X[n // 2] = 0
    y = (X @ rng.standard_normal((p, m)) + noise * rng.standard_normal((n, m)) > 0.2).astype(int)
    y[1], y[2] = 0, 1
    return X.astype(np.float32).astype(np.float64), y


# ------------------------------------------------------------------------------------------- the learner, by its reference


@each_loss
def test_first_round_loses_the_most_it_can(loss, formula):
    """At zero weights all sets tie, and the competitor of an update on predictions is one that loses most."""
    m = 5
    labels = all_sets(m)
    for y in labels[:: 1 if isinstance(loss, ErrorSetSize) else 3]:
        costs = formula(*counts_of(all_sets(m, loss), y[None]))
        model = make(PerceptronUpdate(eta=np.sqrt(m) / 2), loss, average=False, fit_intercept=False).partial_fit([[1.0]], y[None])
        np.testing.assert_allclose(model.cumulative_loss_, costs.max())
        assert model.n_mistakes_ == model.n_updates_ == (costs.max() > costs.min() + 1e-12)
        change = np.rint(model.coef_[:, 0]).astype(int)
        if not isinstance(loss, AtK):
            np.testing.assert_allclose(formula(*counts_of(np.where(change != 0, 1 - y, y), y)), costs.max())


# ------------------------------------------------------------------------------------------------------------- the theory


@each_loss
@pytest.mark.parametrize("intercept", [None, 0.5])
def test_margin_of_the_weights(loss, formula, intercept):
    m = 6
    X, y = make_data(m=m)
    model = make(loss=loss, random_state=0, **intercept_settings(intercept)).fit(X, y)
    length2 = (model.coef_**2).sum() + (0 if intercept is None else ((model.intercept_ / intercept) ** 2).sum())
    for true in (y, model.predict(X)):
        costs, scores = enumerate_sets(loss, formula, X @ model.coef_.T + model.intercept_, true)
        margin = margins_of(costs, scores).min()
        np.testing.assert_allclose(model.margin(X, true), margin / np.sqrt(length2), rtol=1e-9, atol=1e-12)
    assert model.margin(sparse.csr_matrix(X), sparse.csr_matrix(true)) == pytest.approx(model.margin(X, true))


def test_margin_of_zero_weights_is_nan():
    assert np.isnan(make(fit_intercept=False).partial_fit([[0.0]], [[0, 1]]).margin([[1.0]], [[0, 1]]))


def test_no_bound_for_a_function_without_constants():
    model = make(loss=CountLoss(wavy, c_L=0.25, C_L=1.0), fit_intercept=False).partial_fit([[1.0]], [[0, 1]])
    assert model.loss_bound(0.5, 1.0) == 4 / (0.25 * 0.25)


@pytest.mark.parametrize("beta", [0.3, 1.1, 1.7, 3.0])
def test_right_predictions_cost_nothing(beta):
    """To the last bit, or updates on mistakes would never end."""
    for m in range(2, 40):
        X, y = np.eye(m), np.tril(np.ones((m, m), dtype=int))
        model = make(PerceptronUpdate(), FBeta(beta), average=False, max_iter=200, shuffle=False).fit(X, y)
        assert model.n_iter_ < 200
        assert (model.sample_loss(X, y) == 0).all()
        assert model.margin(X, y) > 0


def test_margins_in_threads():
    """Each on room of its own, also where a function is tabulated meanwhile."""
    X, y = make_data(n=400, m=6)
    model = make(loss=CountLoss(wavy)).partial_fit(X[:50], y[:50])
    expected = [model.margin(X[i : i + 40], y[i : i + 40]) for i in range(0, 400, 40)]
    for _ in range(5):
        twin = copy.deepcopy(model)
        calls = (joblib.delayed(twin.margin)(X[i : i + 40], y[i : i + 40]) for i in range(0, 400, 40))
        assert joblib.Parallel(n_jobs=8, backend="threading")(calls) == expected


# ------------------------------------------------------------------------------------------------------------------ peers


@pytest.mark.parametrize("intercept", [None, 1.0])
@pytest.mark.parametrize("epochs", [1, 3])
def test_perceptron_of_scikit_learn_label_by_label(epochs, intercept):
    X, y = make_data(n=200)
    theirs = Perceptron(shuffle=False, tol=None, max_iter=epochs, fit_intercept=intercept is not None)
    theirs = MultiOutputClassifier(theirs).fit(X, y)
    settings = {"average": False, "shuffle": False, "max_iter": epochs, **intercept_settings(intercept)}
    ours = make(PerceptronUpdate(eta=1.0), **settings).fit(X, y)  # a step of 2 / sqrt(m) for each wrong label
    assert ours.n_updates_ > 50
    assert_close(ours.coef_ * np.sqrt(4) / 2, np.vstack([label.coef_ for label in theirs.estimators_]))
    np.testing.assert_allclose(ours.intercept_, np.ravel([label.intercept_ for label in theirs.estimators_]), atol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


OF_ONE_LABEL = ["hamming", "subset_zero_one", "f1", "jaccard", FBeta(beta=2), CountLoss(lambda a, b, c, d: b + c)]


@pytest.mark.parametrize("number", range(2 * len(updates())), ids=lambda i: name(updates()[i // 2]))
def test_one_label_is_the_binary_classifier(number):
    """Every update with two of the losses, the losses in turn."""
    update, loss = updates()[number // 2], OF_ONE_LABEL[number % len(OF_ONE_LABEL)]
    X, y = make_data(n=60)
    given = {"update": update}
    theirs = PredtronBinaryClassifier(**given).partial_fit(X, y[:, 0], classes=[0, 1])
    loss = CountLoss(loss.function, c_L=1.0, C_L=1.0) if isinstance(loss, CountLoss) else loss
    ours = PredtronMultilabelClassifier(loss=loss, decision="learned", **given).partial_fit(X, y[:, 0], classes=[0, 1])
    assert_close(ours.coef_, theirs.coef_)
    assert_close(ours.intercept_, theirs.intercept_)
    assert_close(ours.decision_function(X), theirs.decision_function(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert (ours.n_mistakes_, ours.n_updates_) == (theirs.n_mistakes_, theirs.n_updates_)


def test_function_of_the_counts_learns_what_the_loss_by_name_learns():
    """The search over all counts finds what the special ones find."""
    X, y = make_data(n=100, m=6)
    for loss, formula in FORMULAS[:7]:
        models = [make(LossAugmented(eta="theory"), average="linear").partial_fit(X[:12], y[:12]) for _ in range(2)]
        for model, given in zip(models, (loss, formula), strict=True):
            model.set_params(loss=given, update="adaptive").partial_fit(X[12:], y[12:])
        assert_close(models[1].coef_, models[0].coef_)
        np.testing.assert_allclose(models[1].cumulative_loss_, models[0].cumulative_loss_)
        np.testing.assert_allclose(models[1].sample_loss(X, y), models[0].sample_loss(X, y), atol=1e-15)


# --------------------------------------------------------------------------------------------- streams, pickles, settings

LOSSES = [loss for loss, _ in FORMULAS]


def test_loss_set_in_mid_stream():
    X, y = make_data()
    model, same = (make(loss="f1").partial_fit(X[:30], y[:30]) for _ in range(2))
    same.set_params(loss=FBeta()).partial_fit(X[30:], y[30:])
    assert state(same) == state(model.partial_fit(X[30:], y[30:]))
    other = make(loss="f1").partial_fit(X[:30], y[:30]).set_params(loss=PrecisionAtK(k=2))
    assert (other.partial_fit(X[30:], y[30:]).predict(X).sum(axis=1) == 2).all()
    assert state(other) != state(model)
    assert (other.set_params(loss__k=3).partial_fit(X, y).predict(X).sum(axis=1) == 3).all()


@each_loss
def test_score_and_sample_loss(loss, formula):
    X, y = make_data()
    model = make(loss=loss, random_state=0, max_iter=2).fit(X, y)
    predicted, weight = model.predict(X), row_weights(len(y))
    np.testing.assert_allclose(model.sample_loss(X, y), formula(*counts_of(predicted, y)), atol=1e-15)
    assert model.score(X, y) == pytest.approx(1 - hamming_loss(y, predicted))
    expected = 1 - hamming_loss(y, predicted, sample_weight=weight)
    assert model.score(X, sparse.csr_matrix(y), sample_weight=weight) == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"60.*59"):
        model.score(X, y[:-1])


def test_aliases_are_their_losses():
    X, y = make_data()
    aliases = {"hamming", "subset_zero_one", "error_set_size", "f1", "jaccard", "precision_at_k", "recall_at_k"}
    aliases |= {"balanced", "g_mean"}
    assert aliases == {loss.alias for loss in LOSSES} - {None}
    for alias in aliases:
        part = next(type(loss)() for loss in LOSSES if loss.alias == alias)
        assert state(make(loss=alias).partial_fit(X, y)) == state(make(loss=part).partial_fit(X, y))
    plain, given = (
        make(random_state=0, **settings).fit(X, y) for settings in ({}, {"representation": SignVector(), "norm": L2()})
    )
    assert state(plain) == state(given)
    function = [make(loss=loss, random_state=0).fit(X, y) for loss in (wavy, CountLoss(wavy))]
    assert state(function[0]) == state(function[1])


def test_loss_that_is_learned_is_the_loss_that_falls():
    """Each measure is better served by its own loss than by one that does not know it."""
    X, y = make_data(n=2000, m=8, noise=4.0)
    rare = y * (np.random.default_rng(0).random(y.shape) < 0.4)
    lost = {loss: make(loss=loss, norm="auto", random_state=0).fit(X, rare) for loss in ("hamming", "f1")}
    f1 = {loss: FBeta().of_counts(*counts_of(model.predict(X), rare)).mean() for loss, model in lost.items()}
    share = {loss: Hamming().of_counts(*counts_of(model.predict(X), rare)).mean() for loss, model in lost.items()}
    assert f1["f1"] < f1["hamming"]
    assert share["hamming"] < share["f1"]
