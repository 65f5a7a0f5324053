"""The theorems of ordinal regression by simulation: Milidiú and Rocha's and Crammer and Singer's, thresholds apart and shared."""

import numpy as np
import pytest
from cases import name
from euclidean import PredtronOrdinalClassifier
from scipy.optimize import linprog

from sklearn_predtron.representations import Thermometer
from sklearn_predtron.updates import Adaptive, LossAugmented, LossDriven, PassiveAggressive, PerceptronUpdate
from tests.theory.test_theorems import PROVEN, separable, suffer


def rank_separable(r, seed, scale=1.0, n=100, p=4):
    """Rows with x_d = -1 times scale, ranks, and the margin delta of eq. 6 under some weights with |w| = 1."""
    rng = np.random.default_rng(seed)
    X, W = rng.standard_normal((20 * n, p)), rng.standard_normal(p) + 0.3 * rng.standard_normal((r - 1, p))
    W[:, -1] = [np.quantile(X[:, :-1] @ w[:-1], (k + 1) / r) for k, w in enumerate(W)]
    X[:, -1] = -1  # as the paper has it
    t = scale * X @ W.T / np.linalg.norm(W)
    consistent = (np.diff((t > 0).astype(int), axis=1) <= 0).all(axis=1)
    X, t = scale * X[consistent], t[consistent]
    kept = widest((t > 0).sum(axis=1), np.abs(t).min(axis=1), n, rng)
    return X[kept], (t[kept] > 0).sum(axis=1), np.abs(t[kept]).min(), np.linalg.norm(X[kept], axis=1).max()


def widest(y, gap, n, rng):
    """About n rows, with the widest gaps of each rank."""
    r = y.max() + 1
    ranks = [np.flatnonzero(y == rank) for rank in range(r)]
    return rng.permutation(np.concatenate([rows[np.argsort(-gap[rows])[: n // r]] for rows in ranks]))


@pytest.mark.parametrize("scale", [1.0, 100.0])
@pytest.mark.parametrize("r", [2, 3, 5, 8])
@pytest.mark.parametrize("update", ["perceptron", "passive_aggressive"])
def test_corollary_3(update, r, scale):
    """The sum of |y - yhat| is at most R^2 / delta^2, also for the loss-sensitive figure 2 (in place of corollary 4)."""
    shares = []
    for seed in range(25):
        X, y, delta, R = rank_separable(r, seed, scale)
        rule = PerceptronUpdate()
        if update == "passive_aggressive":
            rule = PassiveAggressive(competitor="predicted", delta=2 * delta / np.sqrt(r - 1))
        model = suffer(PredtronOrdinalClassifier(update=rule, fit_intercept=False), X, y, np.arange(r), epochs=4)
        shares.append(model.cumulative_loss_ * delta**2 / R**2)
    assert 0.01 < max(shares) <= 1
    assert min(shares) > 0


@pytest.mark.parametrize("r", [2, 5])
@pytest.mark.parametrize("update", [PerceptronUpdate(), PassiveAggressive(competitor="predicted")], ids=name)
def test_corollary_3_is_attained(update, r):
    """n orthogonal rows of the lowest and the highest rank: a loss of r - 1 each, and |w_k| = sqrt(n) delta."""
    X, y = 3.0 * np.eye(20), np.arange(20) % 2 * (r - 1)
    model = suffer(PredtronOrdinalClassifier(update=update, fit_intercept=False), X, y, np.arange(r), epochs=1)
    delta2 = 9 / (20 * (r - 1))
    np.testing.assert_allclose(model.cumulative_loss_, 9 / delta2, rtol=1e-12)


def losses_of_rounds(model, X, y, r):
    """What each round loses."""
    losses = []
    for i in range(len(y)):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=np.arange(r))
        losses.append(model.cumulative_loss_ - sum(losses))
    return np.array(losses)


def test_theorem_2_is_false_as_printed():
    """One row: |Phi(x, y) - Phi(x, y')|^2 <= R^2 L and a unit vector with the margin L, R^2 = 2; the square of the loss is 4."""
    x, w = np.sqrt(2), -np.ones(2) / np.sqrt(2)
    for wrong, loss in ((1, 1), (2, 2)):
        difference = -np.repeat([x, 0], [wrong, 2 - wrong])  # the right rank is the lowest
        assert difference @ difference <= 2 * loss + 1e-12 and w @ difference >= loss - 1e-12
    model = PredtronOrdinalClassifier(update=PassiveAggressive(competitor="predicted"), fit_intercept=False)
    losses = losses_of_rounds(model, np.array([[x]]), np.array([0]), 3)
    assert losses.tolist() == [2] and losses @ losses > 2 >= losses.sum()


def test_corollary_2_is_false_as_printed():
    """Of two ranks, one row of length 2, which is a mistake: R^2 / delta^4 is 1 / 4, R^2 / delta^2 is 1."""
    model = PredtronOrdinalClassifier(update=PassiveAggressive(competitor="predicted"), fit_intercept=False)
    assert losses_of_rounds(model, np.array([[2.0]]), np.array([0]), 2).tolist() == [1] and model.n_mistakes_ == 1


@pytest.mark.parametrize("r", [2, 3, 5])
def test_theorem_2_and_corollary_2_as_corrected(r):
    """The sum of the losses is at most R^2, that of their squares the largest loss times it; R^2 / delta^2 mistakes."""
    for seed in range(10):
        X, y, delta, R = rank_separable(r, seed)
        rule = PassiveAggressive(competitor="predicted", delta=2 * delta / np.sqrt(r - 1))
        model = PredtronOrdinalClassifier(update=rule, fit_intercept=False)
        losses = losses_of_rounds(model, X, y, r)
        bound = (R / delta) ** 2  # R of Theorem 2, where rows are divided by delta, so that condition (b) holds
        assert 0 < losses.sum() <= bound and losses @ losses <= losses.max() * bound
        assert 0 < model.n_mistakes_ <= (r - 1) * bound  # of Corollary 2, whose R is that of all thresholds together


def shared_separable(r, seed, s, n=80, p=4):
    """Rows, ranks, and the margin delta of ordered thresholds on one direction with |(u, b / s)| = 1, where s is the feature."""
    rng = np.random.default_rng(seed)
    X, u = 10 ** rng.uniform(-1, 1) * rng.standard_normal((6 * n, p)), rng.standard_normal(p)
    b = -np.quantile(X @ u, np.arange(1, r) / r)
    t = (X @ u)[:, None] + b
    kept = widest((t > 0).sum(axis=1), np.abs(t).min(axis=1), n, rng)
    delta = np.abs(t[kept]).min() / np.sqrt(u @ u + b @ b / s**2)
    return X[kept], (t[kept] > 0).sum(axis=1), delta, np.linalg.norm(X[kept], axis=1).max()


@pytest.mark.parametrize("s", [1.0, 0.3, 5.0])
@pytest.mark.parametrize("r", [2, 3, 6])
def test_bound_of_prank(r, s):
    """Crammer and Singer's (r - 1) (|x|^2 + 1) / delta^2 at s = 1, and `loss_bound`, which is no larger."""
    shares = []
    for seed in range(25):
        X, y, delta, R = shared_separable(r, seed, s)
        model = PredtronOrdinalClassifier(representation="shared", update="prank", intercept_scaling=s)
        suffer(model, X, y, np.arange(r), epochs=3)
        bound = model.loss_bound(2 * delta / np.sqrt(r - 1), np.hypot(R, s))
        np.testing.assert_allclose(bound, ((r - 1) * R**2 + s**2) / delta**2, rtol=1e-9)
        assert s != 1 or bound <= (r - 1) * (R**2 + 1) / delta**2 * (1 + 1e-9)
        shares.append(model.cumulative_loss_ / bound)
    assert 0.01 < max(shares) <= 1


def test_bound_of_prank_is_attained():
    """Orthogonal rows of the lowest and the highest rank in turn lose r - 1 each; the intercept's share is small."""
    r, n = 5, 20
    model = PredtronOrdinalClassifier(representation="shared", update="prank")  # "auto" is 1 here, and does not move
    suffer(model, 100.0 * np.eye(n), np.arange(n) % 2 * (r - 1), np.arange(r), epochs=1)
    bound = model.loss_bound(2 * 100 / np.sqrt(n) / np.sqrt(r - 1), np.hypot(100, 1))
    assert model.cumulative_loss_ == n * (r - 1)
    assert model.cumulative_loss_ <= bound < 1.001 * model.cumulative_loss_


@pytest.mark.parametrize("loss", ["squared", [[0, 2.0, 2], [1, 0, 1], [2, 2, 0]], [[0, 0, 1], [1, 0, 1], [2, 1, 0]]], ids=str)
def test_bound_of_prank_is_for_losses_up_to_the_absolute(loss):
    model = PredtronOrdinalClassifier(representation="shared", update="prank", loss=loss, decision="learned")
    model.partial_fit([[1.0]], [1], classes=[0, 1, 2])
    with pytest.raises(ValueError, match="No loss bound is proven for update="):
        model.loss_bound(1.0, 1.0)


@pytest.mark.always(each="update")
@pytest.mark.parametrize(("shared", "s"), [(False, None), (False, 0.5), (True, 1.0), (True, 4.0)])
@pytest.mark.parametrize("update", PROVEN, ids=name)
def test_loss_suffered_is_within_the_bound(update, shared, s):
    """Of the thermometer and of shared thresholds."""
    settings = {"fit_intercept": False} if s is None else {"intercept_scaling": s}
    for seed in range(8):
        for r in (2, 3, 6):
            if shared:
                X, y, delta, R = shared_separable(r, seed, s)
                gamma, R = 2 * delta / np.sqrt(r - 1), np.hypot(R, s)
            else:
                cost = np.abs(np.subtract.outer(np.arange(r), np.arange(r))).astype(float)
                X, y, gamma, R = separable(Thermometer().code(r), cost, 60, 2 + seed, seed, s)
            representation = "shared" if shared else "thermometer"
            model = PredtronOrdinalClassifier(update=update, representation=representation, **settings)
            suffer(model, X, y, np.arange(r))
            assert 0 < model.cumulative_loss_ <= model.loss_bound(gamma, R) * (1 + 1e-9)


def test_radius_within_the_intercepts_feature():
    model = PredtronOrdinalClassifier(representation="shared", update="perceptron", intercept_scaling=2.0)
    model.partial_fit([[1.0]], [1], classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"radius=0.5 must be at least the length of the intercept's feature, 2"):
        model.loss_bound(1.0, 0.5)


def test_radius_of_rows_of_zeros():
    model = PredtronOrdinalClassifier(update=LossAugmented(eta="theory"), fit_intercept=False)
    model.partial_fit(np.zeros((3, 2)), [0, 1, 2], classes=[0, 1, 2])
    with pytest.raises(ValueError, match="radius=None is 0"):
        model.loss_bound(1.0)


@pytest.mark.parametrize("r", [2, 3, 6])
def test_effective_radius_of_shared_thresholds(r):
    """A step g of the scores is (sum of g) x, so that R^2 = (r - 1) |x|^2 + s^2, in bounds and steps of the theorems."""
    X, y, _, R = shared_separable(r, 0, 0.5)
    effective2 = (r - 1) * R**2 + 0.5**2
    settings = {"representation": "shared", "intercept_scaling": 0.5, "loss": "zero_one", "decision": "learned"}
    for update in (LossDriven(), PerceptronUpdate(), Adaptive(), LossAugmented(eta="theory")):
        model = suffer(PredtronOrdinalClassifier(update=update, **settings), X, y, np.arange(r))
        mistakes = 4 * effective2 / 0.3**2 / (r - 1 if isinstance(update, PerceptronUpdate) else 1)  # that by corollary 3
        np.testing.assert_allclose(model.loss_bound(0.3, np.hypot(R, 0.5)), mistakes, rtol=1e-12)
    np.testing.assert_allclose(model.loss_bound(0.3), 4 * effective2 / 0.3**2, rtol=1e-12)
    first = PredtronOrdinalClassifier(update=LossAugmented(eta="theory"), **settings).partial_fit(
        X[:1], [r - 1], classes=range(r)
    )
    step = 1 / (4 * ((r - 1) * (X[0] @ X[0]) + 0.5**2))  # from 0, the lowest rank: every score asks for more
    np.testing.assert_allclose(first.last_coef_[0], step * 2 * np.sqrt(r - 1) * X[0], rtol=1e-12)


@pytest.mark.parametrize("update", ["adaptive", "prank"])
@pytest.mark.parametrize("r", [2, 3, 6])
def test_margin_of_shared_thresholds(r, update):
    """2 / sqrt(r - 1) times the least distance from a threshold, over |(u, b / s)|; positive where every rank is right."""
    for seed in range(10):
        X, y, _, _ = shared_separable(r, seed, 0.7)
        model = PredtronOrdinalClassifier(update=update, representation="shared", intercept_scaling=0.7, average=False, tol=0)
        for epochs in (1, 300):
            model.set_params(max_iter=epochs).fit(X, y)
            t = (X @ model.coef_[0])[:, None] + model.intercept_
            distance = (np.where(np.arange(r - 1) < y[:, None], 1, -1) * t).min()
            length = np.sqrt((model.coef_**2).sum() + (model.intercept_**2).sum() / 0.7**2)
            right = model.sample_loss(X, y).max() == 0
            assert right == (distance > 0)
            if right:
                np.testing.assert_allclose(model.margin(X, y), 2 / np.sqrt(r - 1) * distance / length, rtol=1e-9)
            else:
                assert model.margin(X, y) <= 0


D_0 = np.array([[0, 0, -1], [0, 1, -1], [1, 1, -1], [1, 0, -1.0]]), np.array([0, 1, 1, 2])


def test_d_0_is_separated_by_thermometers_alone():
    """The claim of section 2 itself: linear programmes for eq. 6 with margin 1, with w_k apart and with one direction."""
    X, y = D_0
    sides = np.where(y[:, None] > [0, 1], 1.0, -1.0)
    apart = [
        np.append(side[0] * x, 0 * x) if k == 0 else np.append(0 * x, side[1] * x)
        for x, side in zip(X, sides, strict=True)
        for k in (0, 1)
    ]
    one = [side[k] * np.append(x[:2], -np.eye(2)[k]) for x, side in zip(X, sides, strict=True) for k in (0, 1)]
    status = [linprog(np.zeros(len(A[0])), A_ub=-np.array(A), b_ub=-np.ones(8), bounds=(None, None)).status for A in (apart, one)]
    assert status == [0, 2]


@pytest.mark.parametrize("update", ["perceptron", "adaptive", "predtron", PassiveAggressive()], ids=name)
def test_d_0_is_learned_by_the_thermometer(update):
    X, y = D_0
    model = PredtronOrdinalClassifier(update=update, fit_intercept=False, average=False, max_iter=200, shuffle=False).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)
    assert model.margin(X, y) > 0


@pytest.mark.parametrize("update", ["perceptron", "adaptive", "prank", "predtron", PassiveAggressive()], ids=name)
def test_d_0_is_not_learned_by_shared_thresholds(update):
    X, y = D_0
    model = PredtronOrdinalClassifier(update=update, representation="shared", average=False)
    for _ in range(300):
        before = model.n_mistakes_ if hasattr(model, "classes_") else 0
        model.partial_fit(X[:, :2], y, classes=[0, 1, 2])
        assert model.n_mistakes_ > before
        assert model.sample_loss(X[:, :2], y).sum() > 0
