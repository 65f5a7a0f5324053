"""Subgradient descent without a penalty, and the steps of UML's Corollaries 17.1 and 17.2."""

import numpy as np
import pytest
from cases import assert_close
from euclidean import PredtronClassifier
from sklearn.svm import LinearSVC

from sklearn_predtron.updates import Subgradient

T, B, COSTS = 300, 3.0, np.array([[0, 1, 2], [0.5, 0, 1], [2, 3, 0]])


def make_data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((T, 4)) * rng.lognormal(0, 0.3, (T, 1))
    return X, (X @ rng.standard_normal((4, 3)) + rng.standard_normal((T, 3))).argmax(axis=1)


def hinge(W, x, y, costs):
    """The generalised hinge, UML (17.3)."""
    t = W @ x
    return (costs[y] + t - t[y]).max()


@pytest.mark.parametrize("seed", range(5))
def test_the_regret_of_corollary_17_2(seed):
    """With eta = B / (2 R sqrt(T + 1)) no weights of norm B have a mean hinge that is less by more than 2 R B / sqrt(T + 1).

    On any sequence of T + 1 examples; the mean of the T + 1 iterates is the uniform average after T rounds, but for its length.
    """
    X, y = make_data(seed)
    R = np.linalg.norm(X, axis=1).max()
    update = Subgradient(alpha=0, eta=B / (2 * R * T**0.5))
    model = PredtronClassifier(update=update, loss=COSTS, decision="learned", average=False, fit_intercept=False)
    uniform = PredtronClassifier(update=update, loss=COSTS, decision="learned", average="uniform", fit_intercept=False)
    iterates = [np.zeros((3, 4))]
    for x, label in zip(X[:-1], y[:-1], strict=True):
        iterates.append(model.partial_fit([x], [label], classes=[0, 1, 2]).coef_)
    uniform.partial_fit(X[:-1], y[:-1], classes=[0, 1, 2])
    assert_close(uniform.coef_ * (T - 1) / T, np.mean(iterates, axis=0))
    ours = np.mean([hinge(W, x, label, COSTS) for W, x, label in zip(iterates, X, y, strict=True)])
    rng = np.random.default_rng(seed)
    competitors = [uniform.coef_, *(uniform.coef_ + rng.standard_normal((20, 3, 4)) * np.abs(uniform.coef_).mean())]
    best = min(
        np.mean([hinge(B * u / np.linalg.norm(u), x, label, COSTS) for x, label in zip(X, y, strict=True)]) for u in competitors
    )
    assert 0 < ours - best <= 2 * R * B / T**0.5


@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")  # so says scikit-learn 1.6 of any number of iterations
def test_the_penalty_of_corollary_17_1_is_that_of_the_multiclass_svm():
    """Alpha = 2 lambda = 4 sqrt(2) R / (B sqrt(m)): the steps "pegasos" come to the minimiser that the corollary is about."""
    X, y = make_data()
    R = np.linalg.norm(X, axis=1).max()
    lam = np.sqrt(2 * (2 * R) ** 2 / (B**2 * T))
    alpha = 4 * 2**0.5 * R / (B * T**0.5)
    assert alpha == pytest.approx(2 * lam)

    def objective(W):
        return lam * (W**2).sum() + np.mean([hinge(W, x, label, 1 - np.eye(3)) for x, label in zip(X, y, strict=True)])

    svm = LinearSVC(multi_class="crammer_singer", C=1 / (2 * lam * T), fit_intercept=False, max_iter=100000, random_state=0)
    least = objective(svm.fit(X, y).coef_)
    model = PredtronClassifier(update=Subgradient(alpha=alpha), fit_intercept=False, max_iter=50, random_state=0).fit(X, y)
    assert least - 1e-6 < objective(model.coef_) < 1.001 * least
