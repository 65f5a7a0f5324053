"""norm=RKHS(budget=...): expansions of bounded size."""

import pickle

import numpy as np
import pytest
from cases import assert_close, make_data
from inside import predicting_scores
from kernel_cases import FAMILIES, X, families_from, scores_of
from reference.kernels import Budgeted
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split

from sklearn_predtron import PredtronClassifier, PredtronLabelRanker
from sklearn_predtron.norms import RKHS
from sklearn_predtron.updates import Subgradient


def within_a_budget(budget):
    """Rows, labels, weights that leave no ties, the reference and the model."""
    X, y = make_data(k=4)
    weight = np.random.default_rng(3).uniform(0.5, 2, len(X))
    reference = Budgeted(lambda a, b: np.exp(-0.3 * ((a - b) ** 2).sum()), 4, budget)
    settings = {"update": "perceptron", "average": "uniform", "fit_intercept": False, "shuffle": False, "max_iter": 3}
    return X, y, weight, reference, PredtronClassifier(norm=RKHS(gamma=0.3, budget=budget), **settings)


def assert_same_expansion(model, reference):
    n = len(reference.rows)
    assert model.support_.tolist() == reference.numbers
    assert_close(model.last_dual_coef_, reference.coefficients[:n].T)
    assert_close(model.dual_coef_, reference.total[:n].T / reference.weight)
    assert model.budget_loss_ == pytest.approx(reference.lost)


@pytest.mark.parametrize("budget", [1, 2, 7, 30])
def test_the_budget_by_its_definition(budget):
    X, y, weight, reference, model = within_a_budget(budget)
    for begin in range(0, 90, 45):
        some = slice(begin, begin + 45)
        model.partial_fit(X[some], y[some], classes=np.arange(4), sample_weight=weight[some])
        reference.learn(X[some], y[some], weight[some], range(begin, begin + 45))
        assert_same_expansion(model, reference)
    assert reference.lost > 0


def test_the_budget_in_epochs():
    X, y, weight, reference, model = within_a_budget(15)
    model.fit(X, y, sample_weight=weight)
    for _ in range(3):
        reference.learn(X, y, weight, range(90))
    assert_same_expansion(model, reference)


def test_the_row_that_goes_while_weights_shrink():
    """The scale of the weights falls by orders, and is multiplied out now and then."""
    X, y = make_data(n=300, k=4)
    update = Subgradient(alpha=0.2, eta=0.5)
    model = PredtronClassifier(norm=RKHS(gamma=0.3, budget=12), update=update, fit_intercept=False)
    model.partial_fit(X[:20], y[:20], classes=np.arange(4))
    cuts = 0
    for i in range(20, 300):
        support, coef, lost = model.support_, model.last_dual_coef_, model.budget_loss_
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        gone = np.flatnonzero(~np.isin(support, model.support_))
        if len(gone) > 0:
            K = rbf_kernel(X[support], gamma=0.3) - 2 * np.eye(12)
            losses = np.sqrt((coef**2).sum(axis=0) * (1 - K.max(axis=1) ** 2))
            assert losses[gone[0]] == pytest.approx(losses.min())
            assert model.budget_loss_ - lost == pytest.approx(0.9 * losses.min(), rel=1e-6)
            cuts += 1
    assert cuts > 100


def test_rounding_does_not_say_which_row_goes():
    """Two rows that are as near to each other, with coefficients of the same length, would cost the same."""
    X, y = make_data(n=200, k=3)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = 0
    whole, rows, single = (PredtronClassifier(norm=RKHS(gamma=1.0, budget=10)) for _ in range(3))
    whole.partial_fit(X, y, classes=np.arange(3))
    rows.partial_fit(sparse.csr_matrix(X), y, classes=np.arange(3))
    for i in range(200):
        single.partial_fit(X[i : i + 1], y[i : i + 1], classes=np.arange(3))
    for other in (rows, single):
        np.testing.assert_array_equal(other.support_, whole.support_)
        assert_close(other.dual_coef_, whole.dual_coef_)


def test_a_budget_takes_no_more_than_the_rows_there_are():
    X, y = make_data(k=4)
    model = PredtronClassifier(norm=RKHS(gamma=0.3, budget=10**6), random_state=0).fit(X, y)
    assert len(pickle.dumps(model)) < 1e6


@families_from(0, 4)
def test_a_budget_that_is_never_reached_changes_nothing(number):
    estimator, y, more = FAMILIES[number]
    models = [
        clone(estimator).set_params(norm=RKHS(gamma=0.3, budget=budget), random_state=0, max_iter=3).fit(X, y, **more)
        for budget in (None, len(X))
    ]
    np.testing.assert_array_equal(models[0].support_, models[1].support_)
    assert_close(models[1].dual_coef_, models[0].dual_coef_)
    assert models[1].budget_loss_ == 0


@families_from(2, 4)
def test_every_family_within_a_budget(number):
    estimator, y, more = FAMILIES[number]
    model = clone(estimator).set_params(norm=RKHS(gamma=0.3, budget=6), random_state=0, max_iter=3).fit(X, y, **more)
    assert len(model.support_) == 6 and model.budget_loss_ > 0
    assert np.isfinite(scores_of(model, X)).all()
    kept = X[model.support_]
    coef = np.atleast_2d(model.dual_coef_)
    expected = rbf_kernel(X, kept, gamma=0.3) @ coef.T + model.intercept_
    assert_close(predicting_scores(model, X), expected)


@pytest.mark.slow
def test_a_budget_of_500_keeps_the_score_on_digits():
    X, y = load_digits(return_X_y=True)
    A, B, a, b = train_test_split(X, y, random_state=0)
    free, bounded = (
        PredtronClassifier(norm=RKHS(gamma=0.001, budget=budget), random_state=0).fit(A, a) for budget in (None, 500)
    )
    assert len(free.support_) > 800 and len(bounded.support_) == 500
    assert bounded.score(B, b) >= 0.98 * free.score(B, b)


def test_of_rows_that_went_nothing_is_left():
    """Far from all rows that are kept, scores are tiny: what is left of others by rounding would decide."""
    random = np.random.default_rng(7)
    X = random.standard_normal((600, 5))
    Y = (X @ random.standard_normal((5, 3)) > 0).astype(int)
    whole, pieces = (PredtronLabelRanker(norm=RKHS(budget=4, gamma=3.0), fit_intercept=False, average="linear") for _ in range(2))
    whole.partial_fit(X, Y)
    for first in range(0, 600, 7):
        pieces.partial_fit(X[first : first + 7], Y[first : first + 7])
    assert (pieces.n_mistakes_, pieces.n_updates_) == (whole.n_mistakes_, whole.n_updates_)
    assert_close(pieces.last_dual_coef_, whole.last_dual_coef_)
