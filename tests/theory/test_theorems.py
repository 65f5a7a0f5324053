"""The theorems by simulation: the loss suffered online on separable data stays within the bound."""

import numpy as np
import pytest
from cases import assert_close, cost_table, losses, name, representations
from euclidean import PredtronBinaryClassifier, PredtronClassifier, PredtronRanker

from sklearn_predtron import Predtron, Problem
from sklearn_predtron.losses import CostMatrix, ZeroOne
from sklearn_predtron.representations import Simplex
from sklearn_predtron.updates import Adaptive, LossAugmented, LossDriven, PassiveAggressive, PerceptronUpdate, Subgradient

PROVEN = [
    Adaptive(),
    Adaptive(kappa=0.1),
    Adaptive(kappa=20.0),
    LossAugmented(eta="theory"),
    LossDriven(eta="theory"),
    LossDriven(eta=0.01),
    LossDriven(eta=100.0),
    PerceptronUpdate(),
    PerceptronUpdate(eta=1e-3),
    PassiveAggressive(),
    PassiveAggressive(variant="pa"),
    PassiveAggressive(C=0.01),
    PassiveAggressive(C=10.0),
    PassiveAggressive(C=0.01, variant="pa2"),
    PassiveAggressive(C=10.0, variant="pa2"),
    PassiveAggressive(competitor="predicted"),
    PassiveAggressive(C=0.01, competitor="predicted", delta=2.0),
    PassiveAggressive(C=0.1, competitor="predicted", target="constant", delta=0.5),
    PassiveAggressive(C=0.1, variant="pa2", competitor="predicted", target="constant"),
]


def separable(code, cost, n, p, seed, intercept=None):
    """Rows that unit-norm weights decode without loss, their margin and the largest length, the intercept's feature with it."""
    rng = np.random.default_rng(seed)
    u = rng.standard_normal((code.shape[1], p + (intercept is not None)))
    u /= np.linalg.norm(u)
    X = rng.standard_normal((4 * n, p)) * 10 ** rng.uniform(-2, 2)
    extended = X if intercept is None else np.column_stack([X, np.full(len(X), float(intercept))])
    score = extended @ u.T @ code.T
    best = score.argmax(axis=1)
    y = np.minimum(best, len(cost) - 1)
    margin = score[np.arange(len(y)), y] - np.where(cost[y] > 0, score, -np.inf).max(axis=1)
    margin[best != y] = -np.inf
    kept = rng.permutation(np.argsort(-margin)[:n])
    assert margin[kept].min() > 0
    return X[kept], y[kept], margin[kept].min(), np.linalg.norm(extended[kept], axis=1).max()


def suffer(model, X, y, classes, epochs=2, weight=None):
    for _ in range(epochs):
        model.partial_fit(X, y, classes=classes, sample_weight=weight)
    return model


def orthogonal(d, length=1.0):
    """One label, and a new direction each round: every round is a mistake, and the margin is known."""
    X = length * np.eye(d)
    return X, np.ones(d, dtype=int), 2 * length / np.sqrt(d), length


@pytest.mark.parametrize("intercept", [None, 0.5])
@pytest.mark.parametrize("update", PROVEN, ids=name)
def test_loss_suffered_is_within_the_bound(update, intercept):
    settings = {"fit_intercept": False} if intercept is None else {"intercept_scaling": intercept}
    for seed in range(3):
        for k in (2, 4):
            for representation in representations(k, shared=False):
                for loss in losses(k):
                    cost = cost_table(loss, k)
                    X, y, gamma, R = separable(representation.code(k), cost, 60, 2 + seed, seed, intercept)
                    model = PredtronClassifier(
                        update=update, representation=representation, loss=loss, decision="learned", **settings
                    )
                    suffer(model, X, y, np.arange(k))
                    assert 0 < model.cumulative_loss_ <= model.loss_bound(gamma, R) * (1 + 1e-9)


@pytest.mark.parametrize("update", PROVEN, ids=name)
def test_bounds_are_those_of_the_theorems(update):
    """Formulas of the specification, beside the code that is asked for them."""
    loss, gamma, R = CostMatrix([[0, 4.0], [0.5, 0]]), 0.3, 1.7
    c, C = 0.5, 4.0
    model = PredtronBinaryClassifier(update=update, loss=loss, decision="learned", fit_intercept=False).partial_fit(
        [[1.0]], [1], classes=[0, 1]
    )
    theorem_1, theorem_14 = 4 * R**2 * C**2 / (c * gamma**2), 4 * R**2 * C / gamma**2
    q = update.get_params()
    if update.alias == "adaptive":
        expected = theorem_1 / min(1, q["kappa"] or 1)
    elif update.alias == "passive_aggressive":
        goal, most = (1, C) if q["target"] == "constant" else (c, C**2)
        hardest = q["delta"] * goal / (4 * R**2 + (1 / (2 * q["C"]) if q["variant"] == "pa2" else 0))
        expected = q["delta"] * most / (gamma**2 * (hardest if q["variant"] == "pa2" else min(q["C"], hardest)))
    else:
        expected = theorem_1 if update.alias == "predtron" else theorem_14
    np.testing.assert_allclose(model.loss_bound(gamma, R), expected, rtol=1e-12)


def test_constant_step_of_algorithm_1():
    """Any eta below 2 c_L / (D R)^2 has a bound, best at half of it; a larger one has none."""
    cost = cost_table(losses(3)[-1], 3)
    for seed in range(20):
        X, y, gamma, R = separable(Simplex().code(3), cost, 60, 5, seed)
        bounds = []
        for share in (0.1, 0.5, 0.9, 1.0, 6.0):
            update = LossAugmented(eta=share * 2 * cost[cost > 0].min() / (3 * R**2))  # D^2 = 3: |rep|^2 = 1, <rep, rep'> = -1/2
            model = PredtronClassifier(
                update=update, representation="simplex", loss=cost, decision="learned", fit_intercept=False
            )
            suffer(model, X, y, [0, 1, 2])
            if share < 1:
                bounds.append(model.loss_bound(gamma, R))
                assert model.cumulative_loss_ <= bounds[-1]
            else:
                with pytest.raises(ValueError, match=r"unless eta < 2 c_L / \(D R\)\^2"):
                    model.loss_bound(gamma, R * (1 + 1e-9))
        assert min(bounds) == bounds[1]


@pytest.mark.parametrize(("representation", "D2"), [("sign", 4), ("onehot", 2)])
@pytest.mark.parametrize("update", [LossAugmented(eta="theory"), LossDriven(), PerceptronUpdate()], ids=name)
def test_orthogonal_rows_attain_the_bound(update, representation, D2):
    """D^2 R^2 / gamma^2 is exact: d orthogonal rows are d mistakes."""
    X, y, gamma, R = orthogonal(25, 3.0)
    gamma *= (D2 / 4) ** 0.5
    model = PredtronBinaryClassifier(update=update, representation=representation, fit_intercept=False)
    suffer(model, X, y, [0, 1], epochs=1)
    assert model.cumulative_loss_ == 25
    np.testing.assert_allclose(model.loss_bound(gamma, R), 25, rtol=1e-12)


def test_corollary_2_holds_with_the_corrected_constant():
    """Costs 10 and 10: the loss of 250 exceeds the printed 4 R^2 a1^2 / (a2^2 gamma^2) = 25, and attains Theorem 1's bound."""
    X, y, gamma, R = orthogonal(25)
    model = PredtronBinaryClassifier(loss=[[0, 10.0], [10, 0]], update=LossAugmented(eta="theory"), fit_intercept=False)
    suffer(model, X, y, [0, 1], epochs=1)
    printed = 4 * R**2 * 10**2 / (10**2 * gamma**2)
    assert model.cumulative_loss_ == 250 > printed
    np.testing.assert_allclose(model.loss_bound(gamma, R), 250, rtol=1e-12)


def test_asymmetric_costs_within_corollary_2():
    rng = np.random.default_rng(5)
    for seed in range(60):
        high, low = np.sort(10 ** rng.uniform(-1, 1, 2))[::-1]
        cost = np.array([[0, high], [low, 0]])
        X, y, gamma, R = separable(np.array([[-1.0], [1.0]]), cost, 80, 4, seed)
        model = PredtronBinaryClassifier(loss=cost, decision="learned", update=LossAugmented(eta="theory"), fit_intercept=False)
        suffer(model, X, y, [0, 1])
        bound = model.loss_bound(gamma)
        np.testing.assert_allclose(bound, 4 * R**2 * high**2 / (low * gamma**2), rtol=1e-9)
        assert 0 < model.cumulative_loss_ <= bound


class RejectCode(Problem):
    """Classes, and a rejection as one more prediction; cost[y, prediction] is the loss."""

    D2 = 2

    def __init__(self, code, cost):
        self.code, self.cost = code, cost

    @property
    def n_scores(self):
        return self.code.shape[1]

    @property
    def c_L(self):
        return self.cost[self.cost > 0].min()

    @property
    def C_L(self):
        return self.cost.max()

    def decode(self, t):
        return int((self.code @ t).argmax())

    def loss(self, prediction, y):
        return self.cost[y, prediction]

    def representation(self, prediction):
        return self.code[prediction]

    def augmented_decode(self, t, y):
        return int((self.cost[y] + self.code @ t).argmax())


@pytest.mark.parametrize("update", [LossAugmented(eta="theory"), Adaptive(), LossDriven()], ids=name)
def test_reject_code_within_its_bound(update):
    """c_L = beta_2, the least cost of a rejection, C_L = 1 and D^2 = 2: 2 R^2 / (beta_2 gamma^2)."""
    rng = np.random.default_rng(6)
    code = np.array([[1.0, 0], [0, 1], [0.5**0.5, 0.5**0.5]])
    total = 0.0
    for seed in range(40):
        beta = rng.uniform(0.05, 0.9, 2)
        cost = np.column_stack([1 - np.eye(2), beta])
        X, y, gamma, R = separable(code, cost, 60, 5, seed)
        model = Predtron(RejectCode(code, cost), update=update, norm="l2", fit_intercept=False)
        model.partial_fit(X, y).partial_fit(X, y)
        bound = model.loss_bound(gamma, R)
        expected = 2 * R**2 / gamma**2 if isinstance(update, LossDriven) else 2 * R**2 / (beta.min() * gamma**2)
        np.testing.assert_allclose(bound, expected, rtol=1e-9)
        assert model.cumulative_loss_ <= bound
        total += model.cumulative_loss_
    assert total > 10


def test_sample_weights_divide_the_adaptive_bound_by_the_least():
    code, cost = Simplex().code(3), cost_table(ZeroOne(), 3)
    for seed in range(20):
        X, y, gamma, R = separable(code, cost, 60, 4, seed)
        weight = np.random.default_rng(seed).uniform(0.05, 1, len(y))
        model = PredtronClassifier(representation="simplex", fit_intercept=False)
        suffer(model, X, y, [0, 1, 2], weight=weight)
        given = np.tile(weight, 2)
        relative = given / (np.cumsum(given) / np.arange(1, len(given) + 1))
        assert model.cumulative_loss_ <= 4 * R**2 / gamma**2 / relative.min()
        with pytest.raises(ValueError, match="different weights"):
            model.loss_bound(gamma, R)


@pytest.mark.parametrize("update", [LossAugmented(eta="theory"), LossDriven(), PerceptronUpdate()], ids=name)
def test_sample_weights_that_differ_are_within_the_bound_or_refused(update, n_draws):
    """Weights multiply the steps, for which the theorems take a constant."""
    code, cost = np.array([[-1.0], [1.0]]), cost_table(ZeroOne(), 2)
    for seed in range(n_draws(30, 150)):
        X, y, gamma, R = separable(code, cost, 60, 3, seed)
        weight = 10 ** np.random.default_rng(seed).uniform(-1, 1.5, len(y))
        model = suffer(PredtronBinaryClassifier(update=update, fit_intercept=False), X, y, [0, 1], epochs=20, weight=weight)
        try:
            bound = model.loss_bound(gamma, R)
        except ValueError as error:
            assert "weight" in str(error)
        else:
            assert model.cumulative_loss_ <= bound


def test_radius_seen_by_an_update_that_asks_for_it():
    X, y, gamma, R = separable(np.eye(3), 1 - np.eye(3), 50, 4, 0, intercept=2.0)
    model = suffer(PredtronClassifier(update=LossAugmented(eta="theory"), intercept_scaling=2.0), X, y, [0, 1, 2])
    np.testing.assert_allclose(model.loss_bound(gamma), model.loss_bound(gamma, R), rtol=1e-12)
    driven = suffer(PredtronClassifier(update=LossDriven(), intercept_scaling=2.0), X, y, [0, 1, 2])
    with pytest.raises(ValueError, match="radius=None"):
        driven.loss_bound(gamma)


def test_loss_driven_predictions_do_not_depend_on_eta():
    X, y, _, _ = separable(np.eye(3), 1 - np.eye(3), 50, 4, 3)
    models = [suffer(PredtronClassifier(update=LossDriven(eta=eta)), X, y, [0, 1, 2]) for eta in (1.0, 0.125, "theory")]
    assert_close(models[1].coef_, models[0].coef_ / 8)
    assert models[0].n_mistakes_ == models[1].n_mistakes_


UNPROVEN = [Subgradient(), PassiveAggressive(C=1.0, target="constant"), PassiveAggressive(C=1.0, delta=2.0)]


@pytest.mark.parametrize("update", UNPROVEN, ids=name)
def test_no_bound_where_none_is_proven(update):
    model = PredtronClassifier(update=update, fit_intercept=False).partial_fit([[1.0]], [0], classes=[0, 1])
    with pytest.raises(ValueError, match=f"No loss bound is proven for update={update.__class__.__name__}"):
        model.loss_bound(1.0, 1.0)


@pytest.mark.parametrize("update", PROVEN[:4], ids=name)
def test_no_bound_for_an_intercept_that_moves(update):
    model = PredtronClassifier(update=update).partial_fit([[1.0]], [0], classes=[0, 1])
    with pytest.raises(ValueError, match="intercept_scaling='auto'"):
        model.loss_bound(1.0, 1.0)
    assert PredtronClassifier(update=update, intercept_scaling=1.0).partial_fit([[1.0]], [0], [0, 1]).loss_bound(1.0, 1.0) > 0


@pytest.mark.always
@pytest.mark.parametrize("value", [0, -1.0, np.nan, "a", [1.0, 2.0], 1j], ids=str)
@pytest.mark.parametrize("which", ["margin", "radius", "c_L"])
def test_what_is_no_positive_number(which, value):
    model = PredtronClassifier(fit_intercept=False).partial_fit([[1.0]], [0], classes=[0, 1])
    with pytest.raises(ValueError, match=f"{which}=.* must be positive"):
        model.loss_bound(**{"margin": 1.0, "radius": 1.0, which: value})


@pytest.mark.parametrize("update", PROVEN, ids=name)
def test_numbers_whose_squares_overflow_have_an_infinite_bound(update):
    """A number for eta is then above what the theorem allows."""
    model = PredtronClassifier(update=update, fit_intercept=False).partial_fit([[1.0]], [0], classes=[0, 1])
    assert model.loss_bound(1e-200, 1.0) == np.inf
    for radius in (1e200, np.inf):
        try:
            assert model.loss_bound(1.0, radius) == np.inf
        except ValueError as error:
            assert "No loss bound is proven for the step eta=" in str(error)
    assert 0 <= model.loss_bound(1.0, 1e-200) < np.inf


@pytest.mark.parametrize("update", [LossAugmented(eta="theory"), PassiveAggressive(), "adaptive", "perceptron"], ids=name)
def test_lists_of_one_item_have_a_bound_of_0(update):
    with pytest.warns(UserWarning, match="every query has one document"):
        model = PredtronRanker(update=update).partial_fit(np.eye(2), [1, 0], qid=[0, 1])
    assert model.loss_bound(1.0, 1.0, 0.5) == model.cumulative_loss_ == 0


# ----------------------------------------------------------------------------------------------------------------- margins


@pytest.mark.parametrize("average", ["linear", False])
@pytest.mark.parametrize("intercept", [None, 0.5])
def test_margin_of_the_weights(intercept, average):
    settings = {"fit_intercept": False} if intercept is None else {"intercept_scaling": intercept}
    for k in (2, 4):
        for representation in representations(k, shared=False):
            for loss in losses(k):
                code, cost = representation.code(k), cost_table(loss, k)
                X, y, _, _ = separable(code, cost, 60, 4, k, intercept)
                model = PredtronClassifier(
                    representation=representation, loss=loss, decision="learned", average=average, **settings
                )
                suffer(model, X, y, np.arange(k))
                extended = model.coef_ if intercept is None else np.column_stack([model.coef_, model.intercept_ / intercept])
                score = (X @ model.coef_.T + model.intercept_) @ code.T
                margins = [row[c] - row[(cost[c] > 0) | (row > row[c])].max() for row, c in zip(score, y, strict=True)]
                np.testing.assert_allclose(model.margin(X, y), min(margins) / np.linalg.norm(extended), rtol=1e-9)
                right = model.sample_loss(X, y).max() == 0
                assert right or model.margin(X, y) <= 0
                assert model.margin(X, y) > 0 or not right or (cost == 0).sum() > k


def test_margin_of_separating_weights_is_within_the_best():
    """No weights have a larger margin on a single pair of rows than the closed form."""
    X, y = np.array([[1.0, 0], [-1.0, 0]]), np.array([1, 0])
    model = PredtronBinaryClassifier(fit_intercept=False, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.margin(X, y), 2, rtol=1e-12)
    assert model.margin(X, 1 - y) == -2


def test_margin_of_zero_weights_is_nan():
    model = PredtronBinaryClassifier(fit_intercept=False).partial_fit([[0.0]], [1], classes=[0, 1])
    assert np.isnan(model.margin([[1.0]], [1]))
