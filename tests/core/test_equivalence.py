"""Where the package and scikit-learn implement the same rule, they learn the same weights."""

import numpy as np
import pytest
from cases import assert_close, needs_scikit_learn
from euclidean import PredtronBinaryClassifier, PredtronClassifier
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.preprocessing import scale

from sklearn_predtron.updates import PassiveAggressive, PerceptronUpdate

FOLLOWED = {"average": False, "shuffle": False}


@pytest.fixture(scope="module")
def cancer():
    """A real binary problem that is not separable after its first features."""
    X, y = load_breast_cancer(return_X_y=True)
    return np.ascontiguousarray(scale(X)[:, :8]), y


def epochs_of(model, X, y, epochs):
    for _ in range(epochs):
        model.partial_fit(X, y, classes=np.unique(y))
    return model


@pytest.mark.parametrize("epochs", [1, 2, 7])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_perceptron_is_that_of_scikit_learn(cancer, epochs, fit_intercept):
    """Steps of 1/2, for rep(+1) - rep(-1) = 2; both step on a score of zero."""
    X, y = cancer
    theirs = Perceptron(shuffle=False, tol=None, max_iter=epochs, fit_intercept=fit_intercept).fit(X, y)
    settings = {"fit_intercept": fit_intercept, "intercept_scaling": 1.0, **FOLLOWED}
    ours = PredtronBinaryClassifier(update=PerceptronUpdate(eta=0.5), max_iter=epochs, **settings, cv=0).fit(X, y)
    assert ours.n_updates_ > 10
    assert_close(ours.coef_, theirs.coef_)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-12)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


def test_perceptron_of_scikit_learn_counts_a_zero_score_as_a_mistake():
    X, y = np.array([[1.0], [-2.0]]), np.array([0, 1])
    theirs = Perceptron(shuffle=False, tol=None, max_iter=1, fit_intercept=False).fit(X, y)
    ours = PredtronBinaryClassifier(update=PerceptronUpdate(eta=0.5), max_iter=1, fit_intercept=False, **FOLLOWED, cv=0).fit(X, y)
    assert theirs.coef_[0, 0] == ours.coef_[0, 0] == -1
    assert ours.n_mistakes_ == 1


@pytest.mark.parametrize("epochs", [1, 4])
def test_perceptron_is_that_of_scikit_learn_on_sparse_rows(epochs):
    rng = np.random.default_rng(0)
    X = sparse.random(200, 50, density=0.1, format="csr", random_state=rng)
    y = np.where(X @ rng.standard_normal(50) + 0.2 * rng.standard_normal(200) > 0, "yes", "no")
    theirs = Perceptron(shuffle=False, tol=None, max_iter=epochs, fit_intercept=False).fit(X, y)
    ours = PredtronBinaryClassifier(update=PerceptronUpdate(eta=0.5), max_iter=epochs, fit_intercept=False, **FOLLOWED, cv=0).fit(
        X, y
    )
    assert_close(ours.coef_, theirs.coef_)


def test_representations_of_two_classes_learn_the_same_perceptron(cancer):
    """rep(1) - rep(0) has length 2 for a sign, sqrt(2) one-hot: the same mistakes, the scores up to a factor."""
    X, y = cancer
    settings = {"update": "perceptron", "fit_intercept": False, **FOLLOWED}
    models = [epochs_of(PredtronClassifier(representation=r, **settings), X, y, 2) for r in ("sign", "simplex", "onehot")]
    assert len({model.n_mistakes_ for model in models}) == 1
    assert_close(np.abs(models[1].coef_), np.abs(models[0].coef_))
    assert_close(models[2].coef_[1] - models[2].coef_[0], models[0].coef_[0])


@needs_scikit_learn("1.8", "eta0 of SGDClassifier is the cap of PA's step")
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("eta0", [0.01, 1.0])
@pytest.mark.parametrize("epochs", [1, 3])
@pytest.mark.parametrize("variant", ["pa1", "pa2"])
def test_passive_aggressive_is_that_of_scikit_learn(cancer, variant, epochs, eta0, form):
    """Their margin y <w, x> >= 1 is ours at twice the weights, and their C four times ours."""
    X, y = form(cancer[0]), cancer[1]
    given = {"loss": "hinge", "learning_rate": variant, "eta0": eta0, "penalty": None, "shuffle": False, "fit_intercept": False}
    theirs = SGDClassifier(**given, tol=None, max_iter=epochs).fit(X, y)
    update = PassiveAggressive(C=eta0 / 4, variant=variant)
    ours = PredtronBinaryClassifier(update=update, max_iter=epochs, fit_intercept=False, **FOLLOWED, cv=0).fit(X, y)
    assert ours.n_updates_ > 50
    assert_close(2 * ours.coef_, theirs.coef_)


def test_zero_one_predtron_is_the_perceptron(cancer):
    """For the 0-1 loss the loss-augmented competitor of a mistake is the best other class."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 6))
    y = (X @ rng.standard_normal((6, 4)) + rng.standard_normal((300, 4))).argmax(axis=1)
    for update in ("predtron", "loss_driven"):
        models = [epochs_of(PredtronClassifier(update=kind, **FOLLOWED), X, y, 2) for kind in (update, "perceptron")]
        assert models[0].n_mistakes_ == models[1].n_mistakes_ > 50
        assert_close(models[0].coef_, models[1].coef_)
