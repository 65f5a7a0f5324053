"""norm="l1" and "group": the links, weights and averages after many rounds and under extreme numbers, margins and bounds."""

import copy

import numpy as np
import pytest
from cases import assert_close, cost_table, losses, name, one_learner, pairwise, random_code
from reference import norms as plain_norms

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from sklearn_predtron._core.averages import Average, LinearAverage
from sklearn_predtron._core.intercept import Intercept
from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.problem import Codes
from sklearn_predtron._core.rows import dense_rows
from sklearn_predtron._core.score_map import ScoreMap
from sklearn_predtron.norms import Group, PNorm
from sklearn_predtron.norms import _p_norms as p_norms
from sklearn_predtron.representations import Code, OneHot, Sign
from sklearn_predtron.updates import (
    Adaptive,
    LossAugmented,
    LossDriven,
    MaxPair,
    PassiveAggressive,
    PerceptronUpdate,
)
from sklearn_predtron.updates import _rules as core

KINDS = [(p_norms.PNormWeights, plain_norms.PNorm, PNorm), (p_norms.GroupWeights, plain_norms.Group, Group)]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=["l1", "group"])


def q_of(p):
    return max(2.0, 2.0 * np.floor(np.log(p)))


def learner(kind, d, p, q, update, average=None, fitted=True, sparse=False):
    weights = kind[2](q).build(ScoreMap(d), p, intercept=Intercept(fitted, 1.0), sparse=sparse, average=True)
    return Learner(weights, (Sign() if d == 1 else OneHot()).compiled(max(d, 2), None), update, average or Average())


def learn(one, X, y):
    assert one.learn(dense_rows(np.ascontiguousarray(X, dtype=float)), Codes(np.asarray(y, dtype=np.intp))) < 0
    return one


def whole(pair):
    return np.column_stack(pair)


def of_theta(one, kind):
    """W and b anew from Theta; the intercept's feature has length 1."""
    return kind[1](one.weights.q).link(whole(one.weights.dual()))


# ---------------------------------------------------------------------------------------------------------------- the links


@each_kind
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("p", [1, 2, 3, 4, 5, 6, 7, 8, 100, 100_000])
def test_links_are_inverse_and_keep_the_norm(p, d, kind):
    """One step of the perceptron makes Theta; the gradient of psi at W gives it back."""
    q = q_of(p)
    r = q / (q - 1)
    X = np.random.default_rng(p).standard_normal((1, p))
    one = learner(kind, d, p, q, core.PerceptronRule(1.0), fitted=False)
    assert not one.weights.last()[0].any()  # 0 to 0
    learn(one, 0 * X, [1])
    assert not one.weights.last()[0].any()
    assert one.weights.length() == 0
    learn(one, X, [1])
    Theta, W = one.weights.dual()[0], one.weights.last()[0]
    assert np.abs(Theta).max() > 0
    primal, dual = kind[1](r), kind[1](q)
    assert_close(W, dual.link(Theta), 1e-12)
    assert_close(primal.link(W), Theta, 1e-12)
    assert_close(dual.link(primal.link(Theta)), Theta, 1e-12)
    sizes = [np.linalg.norm(M, axis=0) if kind[0] is p_norms.GroupWeights else M.ravel() for M in (W, Theta)]
    np.testing.assert_allclose(primal.length(sizes[0]), dual.length(sizes[1]), rtol=1e-12)
    one = learner(kind, d, p, q, core.PerceptronRule(1.0), LinearAverage(), fitted=False)
    np.testing.assert_allclose(learn(one, X, [1]).weights.length(), dual.length(sizes[1]), rtol=1e-12)


def length_of(kind, M, r):
    return kind[1](r).length(np.linalg.norm(M, axis=0) if kind[0] is p_norms.GroupWeights else M.ravel())


@each_kind
def test_duality_and_strong_convexity(kind):
    """<A, W> <= |A|_q |W|_r, with equality for the link; psi = |W|_r^2 / 2 is 1 / (q - 1)-strongly convex."""
    random = np.random.default_rng(2)
    for _ in range(300):
        d, p = random.integers(1, 9, 2)
        q = random.uniform(2, 14) if random.random() < 0.5 else q_of(p)
        r = q / (q - 1)
        W, V = random.standard_normal((2, d, p)) * np.exp(random.normal(0, 2))
        W[random.random((d, p)) < 0.3] = 0
        W[0, 0] = 1.0
        assert (W * V).sum() <= length_of(kind, V, q) * length_of(kind, W, r) * (1 + 1e-12)
        dual = kind[1](q).link(W)
        np.testing.assert_allclose((W * dual).sum(), length_of(kind, W, q) * length_of(kind, dual, r), rtol=1e-9)
        for t in (1.0, 0.1, 1e-2):
            gap = length_of(kind, W + t * V, r) ** 2 / 2 - length_of(kind, W, r) ** 2 / 2 - t * (kind[1](r).link(W) * V).sum()
            assert gap >= (t * length_of(kind, V, r)) ** 2 / (2 * (q - 1)) - 1e-12 * length_of(kind, W, r) ** 2


# ------------------------------------------------------------------------------------------------------------- many rounds


def stream(n, d=4, p=12, noise=3.0, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, p))
    y = (X @ random.standard_normal((p, d)) + noise * random.standard_normal((n, d))).argmax(axis=1)
    return X, y


def errors(kind, X, y, update, average, q, sparse=False):
    """How far the last weights are from the link of Theta, and the average from the sum of all of these, at worst."""
    one = learner(kind, int(y.max()) + 1, X.shape[1], q, update, average, sparse=sparse)
    total, mass, worst, worst_mean = 0.0, 0.0, 0.0, 0.0
    for i in range(len(X)):
        learn(one, X[i : i + 1], y[i : i + 1])
        W, weight = of_theta(one, kind), i + 1 if isinstance(average, LinearAverage) else 1.0
        total, mass = average.keep * total + weight * W, average.keep * mass + weight
        mean = total / mass
        found, found_mean = whole(one.weights.last()), whole(one.weights.mean())
        assert np.isfinite(found).all()
        assert np.isfinite(found_mean).all()
        worst = max(worst, np.abs(found - W).max() / max(np.abs(W).max(), 1e-300))
        worst_mean = max(worst_mean, np.abs(found_mean - mean).max() / max(np.abs(mean).max(), 1e-300))
    assert one.n_updates > 5
    return worst, worst_mean


SCALES = {
    "ones": lambda n: np.ones(n),
    "outliers": lambda n: np.exp(np.random.default_rng(1).normal(0, 3, n)),
    "rising": lambda n: np.exp(np.linspace(-15, 15, n)),
    "falling": lambda n: np.exp(np.linspace(15, -15, n)),
    "tiny, then large": lambda n: np.where(np.arange(n) < n // 2, 1e-8, 1e8),
    "large, then tiny": lambda n: np.where(np.arange(n) < n // 2, 1e8, 1e-8),
    "spikes": lambda n: np.where(np.arange(n) % 50 == 20, 1e-6, 1.0),
    "flashes": lambda n: np.where(np.arange(n) % 50 == 20, 1e12, 1.0),
}
UPDATES = {
    "adaptive": core.AdaptiveRule(1.0),
    "perceptron": core.PerceptronRule(1.0),
    "pa": core.PassiveAggressiveRule(np.inf, 0, False, False, 1.0),
    "subgradient": core.SubgradientRule(0.1, 0.5),
    "pegasos": core.SubgradientRule(0.01, 0),
}


@pytest.mark.parametrize(("update", "scale", "kind"), pairwise(UPDATES, SCALES, KINDS))
def test_weights_that_change_by_orders_of_magnitude(update, scale, kind):
    X, y = stream(160)
    X = X * SCALES[scale](len(X))[:, None]
    for q, average in zip((2.2, 8.0, 21.5), (LinearAverage(), Average(), Average(7.0)), strict=True):
        for sparse in (False, True):  # how weights lie
            assert max(errors(kind, X, y, copy.copy(UPDATES[update]), average, q, sparse)) < 1e-9


@each_kind
@pytest.mark.parametrize("q", [60.0, 200.0, 1000.0])
def test_exponents_far_from_those_of_the_package(q, kind):
    """3^1000 is no floating-point number, and neither is (1 / 3)^1000."""
    X, y = stream(150)
    for update in ("adaptive", "perceptron", "subgradient"):
        for scale in ("ones", "outliers", "flashes"):
            rows = X * SCALES[scale](len(X))[:, None]
            assert max(errors(kind, rows, y, copy.copy(UPDATES[update]), LinearAverage(), q)) < 1e-9


@each_kind
@pytest.mark.parametrize("average", [LinearAverage(), Average(), Average(300.0)], ids=["linear", "uniform", "half-life"])
def test_weights_and_averages_after_many_rounds(average, kind):
    """Weights and scores after 400 000 rounds, and the average over 3 000 of them, all but a few with a step."""
    X, y = stream(5000)
    assert max(errors(kind, X[:3000], y[:3000], core.AdaptiveRule(1.0), average, q_of(12))) < 1e-10
    for q, update in ((q_of(12), core.PerceptronRule(1.0)), (13.0, core.AdaptiveRule(1.0)), (21.5, core.PerceptronRule(1.0))):
        one = learner(kind, 4, 12, q, update, average)
        for _ in range(80):
            learn(one, X, y)
        assert one.n_updates > 100_000
        W = of_theta(one, kind)
        assert_close(whole(one.weights.last()), W)
        scores = np.empty((len(X), 4))
        one.scores(dense_rows(X), scores, mean=False)
        assert_close(scores, X @ W[:, :-1].T + W[:, -1])


@each_kind
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("q", [2.5, 9.0, 21.5, 30.0])
@pytest.mark.parametrize("height", [40, 1e5, 1e9])
def test_one_coordinate_up_and_back(height, q, d, kind):
    """What is left of the sum of powers of others after one of 40^21.5 is not rounding; the average knows both."""
    p = 50
    one = learner(kind, d, p, q, core.PerceptronRule(1.0), fitted=False)
    X = np.random.default_rng(0).uniform(0.5, 1.5, (3, p)) * (np.arange(p) > 0)
    learn(one, X[:1], [1])
    total = of_theta(one, kind)
    for sign in (1.0, -1.0, 1.0, -1.0):
        spike = np.zeros((1, p))
        spike[0, 0] = height * sign
        y = [1] if one.weights.last()[0][0, 0] * sign <= 0 and sign > 0 else [0]
        learn(one, spike, y)
        total = total + of_theta(one, kind)
        assert_close(whole(one.weights.last()), of_theta(one, kind))
        assert_close(whole(one.weights.mean()), total / one.t)
    assert one.t == 5


@each_kind
@pytest.mark.parametrize("q", [9.0, 21.5, 60.0])
def test_what_is_left_when_the_large_is_gone(q, kind):
    """A feature of size 2^27 comes and goes to the last bit; weights of features of size 1e-8 remain."""
    one = learner(kind, 1, 3, q, core.PerceptronRule(0.5), fitted=False)
    learn(one, [[0, 3e-8, 1e-8]], [1])
    before = whole(one.weights.last())
    learn(one, [[-(2.0**27), 0, 0]], [1])  # the score is 0 there, and that is a mistake
    learn(one, [[-(2.0**27), 0, 0]], [0])
    assert one.n_updates == 3
    assert one.weights.dual()[0][0, 0] == 0
    assert_close(whole(one.weights.last()), of_theta(one, kind))
    assert_close(whole(one.weights.last()), before)
    learn(one, [[0, -3e-8, 2e-8]], [1])
    assert_close(whole(one.weights.last()), of_theta(one, kind))


@each_kind
@pytest.mark.parametrize("q", [9.0, 21.5])
def test_scores_of_the_last_iterate_after_a_change_of_unit(q, kind):
    """They do not depend on what the last round was, nor on a copy."""
    X, y = stream(60, p=5)
    for scale in (1e-5, 1.0, 1e5):
        settings = {"norm": kind[2](q=q), "update": "perceptron", "average": False, "intercept_scaling": 1.0}
        model = PredtronClassifier(**settings).partial_fit(X, y, classes=range(4))
        for i in range(10):
            model.partial_fit(X[i : i + 1] * scale, y[i : i + 1])
            assert_close(model.decision_function(X), X @ model.coef_.T + model.intercept_)
            assert np.array_equal(model.decision_function(X), copy.deepcopy(model).decision_function(X))


# ------------------------------------------------------------------------------------------------------ margins and bounds

PROVEN = [
    Adaptive(),
    Adaptive(kappa=0.1),
    LossAugmented(eta="theory"),
    LossDriven(eta="theory"),
    LossDriven(eta=100.0),
    PerceptronUpdate(),
    PerceptronUpdate(eta=1e-3),
    PassiveAggressive(),
    PassiveAggressive(C=0.01),
    PassiveAggressive(C=0.01, variant="pa2"),
]


def separable(code, cost, n, p, relevant, seed, intercept=None):
    """Rows that weights of few features decode without loss; their gap, and the weights with those of the intercept's feature."""
    random = np.random.default_rng(seed)
    U = np.zeros((code.shape[1], p + (intercept is not None)))
    there = random.choice(U.shape[1], relevant, replace=False)
    U[:, there] = random.standard_normal((len(U), relevant))
    X = random.standard_normal((4 * n, p)) * 10 ** random.uniform(-1, 1)
    extended = X if intercept is None else np.column_stack([X, np.full(len(X), float(intercept))])
    score = extended @ U.T @ code.T
    best = score.argmax(axis=1)
    y = np.minimum(best, len(cost) - 1)
    margin = score[np.arange(len(y)), y] - np.where(cost[y] > 0, score, -np.inf).max(axis=1)
    margin[best != y] = -np.inf
    kept = random.permutation(np.argsort(-margin)[:n])
    assert margin[kept].min() > 0
    return X[kept], y[kept], margin[kept].min(), U, extended[kept]


@each_kind
@pytest.mark.parametrize("intercept", [None, 0.5])
@pytest.mark.parametrize("update", PROVEN, ids=name)
def test_loss_suffered_is_within_the_bound(update, intercept, kind):
    """Theorem 15 by the margin of sparse weights of norm 1; the radius is the largest q-norm."""
    settings = {"fit_intercept": False} if intercept is None else {"intercept_scaling": intercept}
    for seed in range(3):
        for representation in (OneHot(), Code(random_code(4, 5))):
            for loss in losses(4):
                code, cost = representation.code(4), cost_table(loss, 4)
                X, y, gap, U, extended = separable(code, cost, 60, (12, 40, 300)[seed], 4, seed, intercept)
                parts = {"update": update, "representation": representation, "loss": loss, "average": False}
                model = PredtronClassifier(norm=kind[2]("theory"), **parts, **settings)
                for _ in range(2):
                    model.partial_fit(X, y, classes=range(4))
                q = model._model.learner.weights.q
                assert q == pytest.approx(q_of(X.shape[1]))
                R = max(kind[1](q).length(x) for x in extended)
                gamma = gap / length_of(kind, U, q / (q - 1))
                assert 0 < model.cumulative_loss_ <= model.loss_bound(gamma, R) * (1 + 1e-9)
                assert model.loss_bound(gamma, R) <= model.loss_bound(gap / length_of(kind, U, 1 + 1e-9), R) * (1 + 1e-9)


def test_few_relevant_features_have_a_better_bound_than_under_l2():
    """Corollary 6: the logarithm of p in place of p, for one relevant feature of many of size 1."""
    p = 3000
    X = np.random.default_rng(0).choice([-1.0, 1.0], (400, p))
    y = (X[:, 7] > 0).astype(int)
    parts = {"update": LossAugmented(eta="theory"), "fit_intercept": False}
    models = [
        PredtronBinaryClassifier(norm=norm, **parts).partial_fit(X, y, classes=[0, 1])
        for norm in (PNorm("theory"), Group("theory"), "l2")
    ]
    bounds = [model.loss_bound(2.0) for model in models]
    q = q_of(p)
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-12)
    assert bounds[0] == pytest.approx((q - 1) * p ** (2 / q), rel=1e-12)
    assert bounds[2] == pytest.approx(p, rel=1e-12)
    assert all(model.cumulative_loss_ <= bound for model, bound in zip(models, bounds, strict=True))


@each_kind
@pytest.mark.parametrize("average", ["linear", False])
@pytest.mark.parametrize("intercept", [None, 2.0])
def test_margin_and_bound_are_those_of_theorem_15(intercept, average, kind):
    settings = {"fit_intercept": False} if intercept is None else {"intercept_scaling": intercept}
    X, y, _, _, extended = separable(np.eye(3), 1 - np.eye(3), 60, 12, 4, 3, intercept)
    assert len(set(y)) == 3
    parts = {"norm": kind[2]("theory"), "update": LossAugmented(eta="theory"), "representation": "onehot", "average": average}
    model = PredtronClassifier(max_iter=100, random_state=0, **parts, **settings, cv=0).fit(X, y)
    q = q_of(12)
    R = max(kind[1](q).length(x) for x in extended)
    W = model.coef_ if intercept is None else np.column_stack([model.coef_, model.intercept_ / intercept])
    scores = X @ model.coef_.T + model.intercept_
    competitors = np.where(np.eye(3)[y] > 0, -np.inf, scores).max(axis=1)
    length = length_of(kind, W, q / (q - 1))
    assert model._model.learner.weights.length() == pytest.approx(length, rel=1e-9)
    gamma = (scores[np.arange(len(y)), y] - competitors).min() / length
    assert gamma > 0
    assert model.margin(X, y) == pytest.approx(gamma, rel=1e-9)
    assert model._model.learner.weights.radius2 == pytest.approx((q - 1) * R**2, rel=1e-12)
    assert model.loss_bound(gamma, R) == pytest.approx(2 * (q - 1) * R**2 / gamma**2, rel=1e-12)
    assert model.loss_bound(gamma) == pytest.approx(model.loss_bound(gamma, R), rel=1e-12)


@each_kind
@pytest.mark.parametrize("intercept", [None, 1.5])
@pytest.mark.parametrize(
    "model",
    [
        *(PredtronMultilabelClassifier(update=update, cv=0) for update in PROVEN),
        PredtronMultilabelClassifier(loss="f1", cv=0),
        PredtronLabelRanker(update="max_pair", cv=0),
        PredtronLabelRanker(update="loss_driven", cv=0),
        PredtronLabelRanker(update=LossAugmented(eta=0.001), cv=0),
    ],
    ids=lambda model: f"{type(model).__name__}-{model.loss}-{name(model.update)}",
)
def test_loss_on_sets_and_lists_is_within_the_bound(model, intercept, kind):
    """Bounds by the margin of the weights that made the data."""
    settings = {"fit_intercept": False} if intercept is None else {"intercept_scaling": intercept}
    for seed in range(3):
        random = np.random.default_rng(seed)
        X = random.standard_normal((200, 9))
        t = X[:, :2] @ random.standard_normal((2, 5))
        kept = np.argsort(-np.abs(t).min(axis=1))[:40]
        X, y = X[kept], (t[kept] > 0).astype(int)
        made = type(model)(loss=model.loss, norm=kind[2](q=5.0), average=False, **settings)
        learned = (
            one_learner(copy.deepcopy(made)).set_params(max_iter=300, random_state=0).fit(X, y).set_params(update=model.update)
        )
        gamma = learned.margin(X, y)
        assert gamma > 0
        online = made.set_params(update=model.update).partial_fit(X, y).partial_fit(X, y)
        extended = X if intercept is None else np.column_stack([X, np.full(len(X), intercept)])
        R = max(kind[1](5.0).length(x) for x in extended)
        assert 0 < online.cumulative_loss_ <= online.loss_bound(gamma, R)


@each_kind
def test_loss_on_queries_is_within_the_bound(kind):
    """R bounds |X^T g|_q / |g|: the q-norm of the columns' lengths."""
    for seed in range(5):
        random = np.random.default_rng(seed)
        X = random.standard_normal((40, 5, 20))
        y = (X[:, :, 3] > 0).astype(float)
        X[:, :, 3] += np.where(y > 0, 1, -1)
        flat, qid = X.reshape(-1, 20), np.repeat(np.arange(40), 5)
        for update in ("loss_driven", "perceptron", MaxPair(), MaxPair(weighted=False)):
            model = PredtronRanker(norm=kind[2]("theory"), update=update, average=False)
            learned = copy.deepcopy(model).set_params(update="max_pair", max_iter=50, random_state=0)
            learned.fit(flat, y.ravel(), qid=qid)
            gamma = learned.set_params(update=update).margin(flat, y.ravel(), qid=qid)
            assert gamma > 0
            model.partial_fit(flat, y.ravel(), qid=qid)
            R = max(kind[1](q_of(20)).length(np.linalg.norm(x, axis=0)) for x in X)
            assert 0 < model.cumulative_loss_ <= model.loss_bound(gamma, R)


@each_kind
@pytest.mark.parametrize("update", [Adaptive(), LossAugmented(eta="theory"), LossDriven(eta=1.0), PassiveAggressive()], ids=name)
def test_loss_of_a_shared_direction_is_within_the_bound(update, kind):
    """R^2 = d (q - 1) |x|_q^2 + r2, for every score's step is along one direction."""
    for seed in range(4):
        random = np.random.default_rng(seed)
        X = random.standard_normal((300, 12))
        t = X[:, 4] - 0.7 * X[:, 5]
        y = np.digitize(t, [-0.8, 0.8])
        kept = np.argsort(-np.abs(np.subtract.outer(t, [-0.8, 0.8])).min(axis=1))[:60]
        X, y = X[kept], y[kept]
        parts = {"norm": kind[2]("theory"), "representation": "shared", "intercept_scaling": 1.0, "average": False}
        learned = PredtronOrdinalClassifier(**parts, max_iter=300, random_state=0).fit(X, y).set_params(update=update)
        gamma = learned.margin(X, y)
        assert gamma > 0
        q = q_of(12)
        size = kind[1](q / (q - 1)).length(learned.coef_.ravel())
        length = np.sqrt(size**2 + (learned.intercept_**2).sum())
        assert learned._model.learner.weights.length() == pytest.approx(length, rel=1e-9)
        model = PredtronOrdinalClassifier(update=update, **parts).partial_fit(X, y, classes=[0, 1, 2]).partial_fit(X, y)
        R = np.sqrt(max(kind[1](q).length(x) for x in X) ** 2 + 1)
        assert 0 < model.cumulative_loss_ <= model.loss_bound(gamma, R)


@each_kind
def test_margin_of_zero_weights_is_nan(kind):
    model = PredtronBinaryClassifier(norm=kind[2]("theory"), fit_intercept=False).partial_fit([[0.0]], [1], classes=[0, 1])
    assert np.isnan(model.margin([[1.0]], [1]))
