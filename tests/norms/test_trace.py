"""norm="trace": a reference that decomposes theta each round, the averages, the scores after many rounds, the bounds."""

import copy

import numpy as np
import pytest
from cases import AVERAGES, assert_close, cost_table, data, losses, name, random_code, state
from reference.norms import power_link
from sklearn.base import clone

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
)
from sklearn_predtron._core.averages import Average, LinearAverage
from sklearn_predtron._core.intercept import Intercept
from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.problem import Codes
from sklearn_predtron._core.rows import dense_rows
from sklearn_predtron.norms import Trace
from sklearn_predtron.norms._l2 import L2Weights
from sklearn_predtron.norms._trace import TraceWeights, schatten
from sklearn_predtron.representations import Code, OneHot
from sklearn_predtron.updates import Adaptive, LossAugmented, LossDriven, PassiveAggressive, PerceptronUpdate
from sklearn_predtron.updates import _rules as core


def q_of(d, p):
    return max(2, 2 * np.log(min(d, p)))


def make(update, average="linear", representation="onehot", loss="zero_one", q=None, **settings):
    parts = {"update": update, "average": average, "representation": representation, "loss": loss}
    return PredtronClassifier(norm=Trace(q=q), decision="learned", **parts, **settings)


@pytest.mark.parametrize("average", AVERAGES)
def test_the_norm_is_that_of_l2_for_one_score_one_feature_and_q_2(average):
    X, y = data(k=4)
    settings = {"average": average, "random_state": 0, "max_iter": 2}
    for kind, rows, labels, q in (
        (PredtronBinaryClassifier, X, y > 1, 5.0),
        (PredtronClassifier, X[:, :1], y, 5.0),
        (PredtronClassifier, X, y, 2),
        (PredtronClassifier, X[:, :2], y, None),
    ):
        models = [kind(norm=norm, **settings).fit(rows, labels) for norm in ("l2", Trace(q=q))]
        assert type(models[1]._model.learner.weights) is L2Weights
        assert state(models[0]) == state(models[1])


def test_a_shared_direction_is_one_score():
    X, y = data(k=4)
    models = [PredtronOrdinalClassifier(norm=norm, representation="shared", random_state=0).fit(X, y) for norm in ("l2", "trace")]
    assert state(models[0]) == state(models[1])


# ------------------------------------------------------------------------------------------ many rounds, extreme numbers


def stream(n, d=4, p=12, noise=3.0, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, p))
    y = (X @ random.standard_normal((p, d)) + noise * random.standard_normal((n, d))).argmax(axis=1)
    return X, y


def learner(d, p, update, average, q=None, **how):
    weights = TraceWeights(d, p, q_of(d, p) if q is None else q, Intercept(True, "auto"), **how)
    return Learner(weights, OneHot().compiled(d, None), update, average)


def errors(X, y, update, average, q=None):
    """How far the last weights are from the link of theta, and the average from the sum of all of them, at worst."""
    d, p = int(y.max()) + 1, X.shape[1]
    one = learner(d, p, update, average, q)
    weights, total, mass, worst, worst_mean = one.weights, np.zeros((d, p)), 0.0, 0.0, 0.0
    for i in range(len(X)):
        one.learn(dense_rows(X[i : i + 1]), Codes(y[i : i + 1].astype(np.intp)))
        W = power_link(weights.dual(), weights.q)
        weight = i + 1 if isinstance(average, LinearAverage) else 1.0
        total, mass = average.keep * total + weight * W, average.keep * mass + weight
        worst = max(worst, np.abs(weights.last()[0] - W).max() / max(np.abs(W).max(), 1e-300))
        mean = total / mass
        worst_mean = max(worst_mean, np.abs(weights.mean()[0] - mean).max() / max(np.abs(mean).max(), 1e-300))
    return worst, worst_mean


SCALES = {
    "ones": lambda n, p, random: np.ones(n),
    "outliers": lambda n, p, random: np.exp(random.normal(0, 3, n)),
    "rising": lambda n, p, random: np.exp(np.linspace(-15, 15, n)),
    "falling": lambda n, p, random: np.exp(np.linspace(15, -15, n)),
    "tiny at first": lambda n, p, random: np.where(np.arange(n) < 5, 1e-8, 1.0),
    "spikes": lambda n, p, random: np.where(np.arange(n) % 50 == 20, 1e-6, 1.0),
}


@pytest.mark.parametrize("scale", list(SCALES))
@pytest.mark.parametrize(
    "update",
    [
        core.AdaptiveRule(1.0),
        core.PassiveAggressiveRule(np.inf, 0, False, False, 1.0),
        core.SubgradientRule(0.1, 0.5),
        core.SubgradientRule(0.01, 0),
    ],
    ids=["adaptive", "pa", "subgradient", "pegasos"],
)
def test_averages_of_weights_that_change_by_orders_of_magnitude(update, scale):
    """Rows of size 1e-6 bring theta to 1e6, and ordinary ones back."""
    X, y = stream(200)
    X = X * SCALES[scale](*X.shape, np.random.default_rng(1))[:, None]
    for number, average in enumerate((LinearAverage(), Average(), Average(7.0))):
        update = copy.copy(update)
        assert max(errors(X, y, update, average, (2.2, 8.0, None)[number])) < 1e-9


@pytest.mark.parametrize("average", [LinearAverage(), Average(), Average(300.0)], ids=["linear", "uniform", "half-life"])
def test_scores_and_averages_after_many_rounds(average):
    """Scores after 100 000 rounds, and the average over 3 000 of them, all but a few with a step."""
    X, y = stream(5000)
    assert max(errors(X[:3000], y[:3000], core.AdaptiveRule(1.0), average)) < 1e-11
    one = learner(4, 12, core.PerceptronRule(1.0), average)
    for _ in range(20):
        one.learn(dense_rows(X), Codes(y.astype(np.intp)))
    assert one.n_updates > 30_000
    scores = np.empty((len(X), 4))
    one.scores(dense_rows(X), scores, mean=False)
    assert_close(scores, X @ power_link(one.weights.dual(), one.weights.q).T + one.weights.last()[1], 1e-11)


# ----------------------------------------------------------------------------------------- theta of any rank, and states


@pytest.mark.parametrize("average", AVERAGES)
def test_theta_of_rank_none_and_one(average):
    model = make(PerceptronUpdate(), average, fit_intercept=False, q=6.0)
    x = np.array([[3.0, -4.0, 0.0, 1.0]])
    model.partial_fit(0 * x, [2], classes=range(4))
    assert not model.coef_.any()
    assert model.decision_function(x).tolist() == [[0, 0, 0, 0]]
    model.partial_fit(x, [2])
    step = np.array([[-1.0], [0], [1], [0]]) * x
    assert_close(model.last_coef_, step, 1e-14)  # rank one: the norms are all the same, and so is W
    assert (model.last_coef_[[1, 3]] == 0).all()
    assert model.decision_function(x)[0, 1] == model.decision_function(x)[0, 3]


# -------------------------------------------------------------------------------------------------- the link, the bounds


def dual_pairs(n=40, seed=2):
    random = np.random.default_rng(seed)
    for _ in range(n):
        d, p = random.integers(2, 9, 2)
        W = random.standard_normal((d, p)) * np.exp(random.normal(0, 2))
        if random.random() < 0.3:
            W = np.outer(W[:, 0], W[0])
        yield W, random.standard_normal((d, p)), q_of(d, p) if random.random() < 0.5 else random.uniform(2, 12)


def test_links_are_inverse_and_keep_the_norm():
    for W, _, q in dual_pairs():
        r, scale = q / (q - 1), np.abs(W).max()
        np.testing.assert_allclose(power_link(power_link(W, r), q), W, rtol=0, atol=1e-12 * scale)
        values = np.linalg.svd(W, compute_uv=False)
        if values[-1] ** (q - 1) > 1e-3 * values[0] ** (q - 1):
            np.testing.assert_allclose(power_link(power_link(W, q), r), W, rtol=0, atol=1e-11 * scale)
        np.testing.assert_allclose(schatten(power_link(W, q), r), schatten(W, q), rtol=1e-12)


@pytest.mark.parametrize(("d", "p"), [(3, 9), (6, 40), (10, 30), (9, 4)])
def test_theta_is_found_again_from_the_compiled_weights(d, p):
    """The gradient of psi at W, by singular values, where they are not too far apart for float64."""
    X, y = stream(100, d, p, noise=30.0)
    weights = (one := learner(d, p, core.PerceptronRule(1.0), Average())).weights
    found = 0
    for i in range(100):
        one.learn(dense_rows(X[i : i + 1]), Codes(y[i : i + 1].astype(np.intp)))
        theta, W = weights.dual(), weights.last()[0]
        values = np.linalg.svd(theta, compute_uv=False)[: min(d - 1, p)]  # the scores' sum is 0
        if values[-1] ** (weights.q - 1) > 1e-3 * values[0] ** (weights.q - 1):
            # what W is short of 0 along the sum of the scores would be raised to the power r - 1 < 1
            back = power_link(W, weights.q / (weights.q - 1))
            back -= back.mean(axis=0)
            np.testing.assert_allclose(back, theta, rtol=0, atol=1e-11 * np.abs(theta).max())
            found += 1
    assert found > 20


def test_duality_and_strong_convexity():
    """<A, W> <= |A|_S(q) |W|_S(r), with equality for the link; psi = |W|_S(r)^2 / 2 is 1 / (q - 1)-strongly convex."""
    for W, V, q in dual_pairs(200):
        r = q / (q - 1)
        assert (W * V).sum() <= schatten(V, q) * schatten(W, r) * (1 + 1e-12)
        np.testing.assert_allclose((W * power_link(W, q)).sum(), schatten(W, q) * schatten(power_link(W, q), r), rtol=1e-9)
        for t in (1.0, 0.1, 1e-2):
            gap = schatten(W + t * V, r) ** 2 / 2 - schatten(W, r) ** 2 / 2 - t * (power_link(W, r) * V).sum()
            assert gap >= (t * schatten(V, r)) ** 2 / (2 * (q - 1)) - 1e-12 * schatten(W, r) ** 2


def test_schatten_norms():
    W = np.outer([3.0, 4.0], [1.0, 2.0, 2.0])
    assert all(schatten(W, r) == pytest.approx(15) for r in (1, 1.5, 2, 50))
    assert schatten(np.diag([3.0, -4.0]), 1) == pytest.approx(7)
    assert schatten(np.zeros((3, 2)), 1.5) == 0


PROVEN = [
    Adaptive(),
    Adaptive(kappa=0.1),
    LossAugmented(eta="theory"),
    LossDriven(eta="theory"),
    LossDriven(eta=100.0),
    PerceptronUpdate(),
    PassiveAggressive(),
    PassiveAggressive(C=0.01, variant="pa2"),
]


def separable(code, cost, n, p, rank, seed, intercept=None):
    """Rows that weights U of a low rank decode without loss; U and its offsets; margins are theirs, not of unit norm."""
    random = np.random.default_rng(seed)
    d = code.shape[1]
    U = random.standard_normal((d, rank)) @ random.standard_normal((rank, p))
    b = np.zeros(d) if intercept is None else 0.3 * random.standard_normal(d)
    X = random.standard_normal((4 * n, p)) * 10 ** random.uniform(-1, 1)
    score = (X @ U.T + b) @ code.T
    best = score.argmax(axis=1)
    margin = score[np.arange(len(X)), best] - np.where(cost[best] > 0, score, -np.inf).max(axis=1)
    kept = random.permutation(np.argsort(-margin)[:n])
    return X[kept], best[kept], margin[kept].min(), U, b


@pytest.mark.parametrize("intercept", [None, 0.5])
@pytest.mark.parametrize("update", PROVEN, ids=name)
def test_loss_suffered_is_within_the_bound(update, intercept):
    settings = {"fit_intercept": False} if intercept is None else {"intercept_scaling": intercept}
    for seed in range(4):
        for representation in (OneHot(), Code(random_code(6, 5))):
            for loss in losses(6):
                code, cost = representation.code(6), cost_table(loss, 6)
                X, y, gap, U, b = separable(code, cost, 60, 12, 1 + seed, seed, intercept)
                model = make(update, False, representation, loss, **settings)
                for _ in range(2):
                    model.partial_fit(X, y, classes=range(6))
                r2 = 0.0 if intercept is None else intercept**2
                q = model._model.learner.weights.q
                R2 = (X**2).sum(axis=1).max()
                beside = (b**2).sum() / r2 if r2 else 0.0
                of_schatten = gap / np.sqrt(schatten(U, q / (q - 1)) ** 2 + beside)
                of_trace = gap / np.sqrt(schatten(U, 1) ** 2 + beside)
                bound = model.loss_bound(of_schatten, np.sqrt(R2 + r2))
                assert 0 < model.cumulative_loss_ <= bound <= model.loss_bound(of_trace, np.sqrt(R2 + r2))


def test_margin_and_bound_are_those_of_theorem_15():
    X, y, *_ = separable(np.eye(6), 1 - np.eye(6), 60, 12, 5, 0)
    R = np.linalg.norm(X, axis=1).max()
    model = make(LossAugmented(eta="theory"), False, fit_intercept=False, max_iter=2000, random_state=0).fit(X, y)
    assert model.loss_curve_[-1] == 0
    q = q_of(6, 12)
    scores = X @ model.coef_.T
    competitors = np.where(np.eye(6)[y] > 0, -np.inf, scores).max(axis=1)
    gamma = (scores[np.arange(60), y] - competitors).min() / schatten(model.coef_, q / (q - 1))
    assert gamma > 0
    assert model.margin(X, y) == pytest.approx(gamma, rel=1e-9)
    assert model.loss_bound(gamma, R) == pytest.approx(2 * (q - 1) * R**2 / gamma**2, rel=1e-12)
    assert model.loss_bound(gamma) == pytest.approx(model.loss_bound(gamma, R), rel=1e-12)
    assert model._model.learner.weights.radius2 == pytest.approx((q - 1) * R**2, rel=1e-12)
    with_intercept = make(Adaptive(), intercept_scaling=2.0).fit(X, y)
    expected = 2 * ((q - 1) * 5.0 + 4.0) / 0.25
    assert with_intercept.loss_bound(0.5, 3.0) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match="must be at least the length of the intercept's feature"):
        with_intercept.loss_bound(0.5, 1.0)


@pytest.mark.parametrize("intercept", [None, 1.5])
@pytest.mark.parametrize(
    "model",
    [
        *(PredtronMultilabelClassifier(update=update, cv=0) for update in PROVEN),
        PredtronMultilabelClassifier(loss="f1", cv=0),
        PredtronLabelRanker(update="max_pair", cv=0),
        PredtronLabelRanker(update="loss_driven", cv=0),
        PredtronLabelRanker(update=LossAugmented(eta=0.01), cv=0),
    ],
    ids=lambda model: f"{type(model).__name__}-{model.loss}-{name(model.update)}",
)
def test_loss_on_sets_and_lists_is_within_the_bound(model, intercept):
    """Bounds by the margin of weights that are learned beforehand."""
    settings = {"fit_intercept": False} if intercept is None else {"intercept_scaling": intercept}
    model = clone(model).set_params(norm=Trace(q=5.0), average=False, **settings)
    for seed in range(4):
        random = np.random.default_rng(seed)
        X = random.standard_normal((150, 9))
        t = X @ random.standard_normal((9, 2)) @ random.standard_normal((2, 5))
        kept = np.argsort(-np.abs(t).min(axis=1))[:40]
        X, y = X[kept], (t[kept] > 0).astype(int)
        learned = clone(model).set_params(update=Adaptive(), max_iter=300, random_state=0).fit(X, y)
        gamma = learned.set_params(update=model.update).margin(X, y)
        assert gamma > 0
        online = clone(model).partial_fit(X, y).partial_fit(X, y)
        assert type(online._model.learner.weights) is TraceWeights
        R = np.sqrt((X**2).sum(axis=1).max() + (0 if intercept is None else intercept**2))
        assert 0 < online.cumulative_loss_ <= online.loss_bound(gamma, R)
