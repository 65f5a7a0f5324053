"""norm="l1", "group" and "trace": links, weights and averages after many rounds and under extreme numbers, margins and bounds."""

import copy
from dataclasses import dataclass

import numpy as np
import pytest
from cases import AVERAGES, assert_close, cost_table, data, losses, name, pairwise, random_code, state
from reference import norms as plain_norms
from reference.norms import power_link

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronOrdinalClassifier,
)
from sklearn_predtron._core.averages import Average, LinearAverage
from sklearn_predtron._core.intercept import Intercept
from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.problem import Codes
from sklearn_predtron._core.rows import dense_rows
from sklearn_predtron._core.score_map import ScoreMap
from sklearn_predtron.norms import Group, PNorm, Trace
from sklearn_predtron.norms._l2 import L2Weights
from sklearn_predtron.norms._trace import schatten
from sklearn_predtron.representations import Code, OneHot, Sign
from sklearn_predtron.updates import Adaptive, LossAugmented, LossDriven, PassiveAggressive, PerceptronUpdate
from sklearn_predtron.updates import _rules as core


@dataclass(frozen=True)
class Kind:
    """A norm |W|_r of sizes: of entries, lengths of columns, or singular values; its theory is at q = theory."""

    norm: type
    plain: type
    theory: object = "theory"

    @property
    def is_trace(self):
        return self.norm is Trace

    def sizes(self, M):
        if self.is_trace:
            return np.linalg.svd(M, compute_uv=False)
        return np.linalg.norm(M, axis=0) if self.norm is Group else M.ravel()

    def length(self, M, r):
        return plain_norms.PNorm(r).length(self.sizes(M))

    def q_of(self, d, p):
        """The exponent of the theory."""
        return max(2.0, 2.0 * np.log(min(d, p))) if self.is_trace else max(2.0, 2.0 * np.floor(np.log(p)))

    def of_weights(self, U, r):
        """The length of weights with a column for the intercept, which stands apart under the trace norm."""
        return np.hypot(self.length(U[:, :-1], r), np.linalg.norm(U[:, -1])) if self.is_trace else self.length(U, r)

    def of_rows(self, X, intercept, q):
        """R, and the squared radius of the bound, of rows with the intercept's feature."""
        if self.is_trace:
            largest = (X**2).sum(axis=1).max()
            return np.sqrt(largest + intercept**2), (q - 1) * largest + intercept**2
        R = max(self.plain(q).length(np.append(x, intercept)) for x in X)
        return R, (q - 1) * R**2


L1, GROUP, TRACE = KINDS = [Kind(PNorm, plain_norms.PNorm), Kind(Group, plain_norms.Group), Kind(Trace, plain_norms.Trace, None)]
IDS = ["l1", "group", "trace"]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=IDS)
of_columns = pytest.mark.parametrize("kind", KINDS[:2], ids=IDS[:2])


def learner(kind, d, p, q, update, average=None, fitted=True, sparse=False):
    weights = kind.norm(q).build(ScoreMap(d), p, intercept=Intercept(fitted, 1.0), sparse=sparse, average=True)
    return Learner(weights, (Sign() if d == 1 else OneHot()).compiled(max(d, 2), None), update, average or Average())


def learn(one, X, y):
    assert one.learn(dense_rows(np.ascontiguousarray(X, dtype=float)), Codes(np.asarray(y, dtype=np.intp))) < 0
    return one


def whole(pair):
    return np.column_stack(pair) if isinstance(pair, tuple) else pair


def of_theta(one, kind):
    """W and b anew from Theta; the intercept's feature has length 1, and stands apart under the trace norm."""
    return kind.plain(one.weights.q).link(whole(one.weights.dual()))


def part(found, W):
    """Weights, with the intercept where W has it."""
    return whole(found)[:, : W.shape[1]]


# ---------------------------------------------------------------------------------------------------------------- the links


@of_columns
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("p", [1, 2, 3, 4, 5, 6, 7, 8, 100, 100_000])
def test_links_are_inverse_and_keep_the_norm(p, d, kind):
    """One step of the perceptron makes Theta; the gradient of psi at W gives it back."""
    q = kind.q_of(d, p)
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
    primal, dual = kind.plain(r), kind.plain(q)
    assert_close(W, dual.link(Theta), 1e-12)
    assert_close(primal.link(W), Theta, 1e-12)
    assert_close(dual.link(primal.link(Theta)), Theta, 1e-12)
    np.testing.assert_allclose(kind.length(W, r), kind.length(Theta, q), rtol=1e-12)
    one = learner(kind, d, p, q, core.PerceptronRule(1.0), LinearAverage(), fitted=False)
    np.testing.assert_allclose(learn(one, X, [1]).weights.length(), kind.length(Theta, q), rtol=1e-12)


def dual_pairs(n=40, seed=2):
    random = np.random.default_rng(seed)
    for _ in range(n):
        d, p = random.integers(2, 9, 2)
        W = random.standard_normal((d, p)) * np.exp(random.normal(0, 2))
        if random.random() < 0.3:
            W = np.outer(W[:, 0], W[0])
        yield W, random.standard_normal((d, p)), TRACE.q_of(d, p) if random.random() < 0.5 else random.uniform(2, 12)


def test_links_of_the_trace_norm_are_inverse():
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
    weights = (one := learner(TRACE, d, p, None, core.PerceptronRule(1.0))).weights
    found = 0
    for i in range(100):
        learn(one, X[i : i + 1], y[i : i + 1])
        theta, W = weights.dual(), weights.last()[0]
        values = np.linalg.svd(theta, compute_uv=False)[: min(d - 1, p)]  # the scores' sum is 0
        if values[-1] ** (weights.q - 1) > 1e-3 * values[0] ** (weights.q - 1):
            # what W is short of 0 along the sum of the scores would be raised to the power r - 1 < 1
            back = power_link(W, weights.q / (weights.q - 1))
            back -= back.mean(axis=0)
            np.testing.assert_allclose(back, theta, rtol=0, atol=1e-11 * np.abs(theta).max())
            found += 1
    assert found > 20


def test_schatten_norms():
    W = np.outer([3.0, 4.0], [1.0, 2.0, 2.0])
    assert all(schatten(W, r) == pytest.approx(15) for r in (1, 1.5, 2, 50))
    assert schatten(np.diag([3.0, -4.0]), 1) == pytest.approx(7)
    assert schatten(np.zeros((3, 2)), 1.5) == 0


@each_kind
def test_duality_and_strong_convexity(kind):
    """<A, W> <= |A|_q |W|_r, with equality for the link; psi = |W|_r^2 / 2 is 1 / (q - 1)-strongly convex."""
    random = np.random.default_rng(2)
    for _ in range(300):
        d, p = random.integers(1 + kind.is_trace, 9, 2)
        q = random.uniform(2, 14) if random.random() < 0.5 else kind.q_of(d, p)
        r = q / (q - 1)
        W, V = random.standard_normal((2, d, p)) * np.exp(random.normal(0, 2))
        if random.random() < 0.3:
            W = np.outer(W[:, 0], W[0])
        W[random.random((d, p)) < 0.3] = 0
        W[0, 0] = 1.0
        assert (W * V).sum() <= kind.length(V, q) * kind.length(W, r) * (1 + 1e-12)
        dual = kind.plain(q).link(W)
        np.testing.assert_allclose((W * dual).sum(), kind.length(W, q) * kind.length(dual, r), rtol=1e-9)
        for t in (1.0, 0.1, 1e-2):
            gap = kind.length(W + t * V, r) ** 2 / 2 - kind.length(W, r) ** 2 / 2 - t * (kind.plain(r).link(W) * V).sum()
            assert gap >= (t * kind.length(V, r)) ** 2 / (2 * (q - 1)) - 1e-12 * kind.length(W, r) ** 2


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


@pytest.mark.parametrize("average", AVERAGES)
def test_theta_of_rank_none_and_one(average):
    model = PredtronClassifier(norm=Trace(q=6.0), update=PerceptronUpdate(), average=average, fit_intercept=False)
    x = np.array([[3.0, -4.0, 0.0, 1.0]])
    model.partial_fit(0 * x, [2], classes=range(4))
    assert not model.coef_.any()
    assert model.decision_function(x).tolist() == [[0, 0, 0, 0]]
    model.partial_fit(x, [2])
    step = np.array([[-1.0], [0], [1], [0]]) * x
    assert_close(model.last_coef_, step, 1e-14)  # rank one: the norms are all the same, and so is W
    assert (model.last_coef_[[1, 3]] == 0).all()
    assert model.decision_function(x)[0, 1] == model.decision_function(x)[0, 3]


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
        found, found_mean = part(one.weights.last(), W), part(one.weights.mean(), W)
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
    "tiny at first": lambda n: np.where(np.arange(n) < 5, 1e-8, 1.0),
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


ABRUPT = ("tiny, then large", "large, then tiny", "flashes")  # beyond what singular values are computed to


CASES = [case for case in pairwise(UPDATES, SCALES, KINDS) if not (case[2] is TRACE and case[1] in ABRUPT)]


@pytest.mark.parametrize(("update", "scale", "kind"), CASES)
def test_weights_that_change_by_orders_of_magnitude(update, scale, kind):
    X, y = stream(200)
    X = X * SCALES[scale](len(X))[:, None]
    for q, average in zip((2.2, 8.0, None if kind is TRACE else 21.5), (LinearAverage(), Average(), Average(7.0)), strict=True):
        for sparse in (False, True):  # how weights lie
            assert max(errors(kind, X, y, copy.copy(UPDATES[update]), average, q, sparse)) < 1e-9


@of_columns
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
    """Weights and scores after up to 400 000 rounds, and the average over 3 000 of them, all but a few with a step."""
    X, y = stream(5000)
    q = kind.q_of(4, 12)
    assert max(errors(kind, X[:3000], y[:3000], core.AdaptiveRule(1.0), average, q)) < (1e-11 if kind is TRACE else 1e-10)
    epochs, least, rtol = (20, 30_000, 1e-11) if kind is TRACE else (80, 100_000, 1e-9)
    cases = [(q, core.PerceptronRule(1.0)), (13.0, core.AdaptiveRule(1.0)), (21.5, core.PerceptronRule(1.0))]
    for q, update in cases[: 1 if kind is TRACE else 3]:
        one = learner(kind, 4, 12, q, update, average)
        for _ in range(epochs):
            learn(one, X, y)
        assert one.n_updates > least
        W = of_theta(one, kind)
        assert_close(part(one.weights.last(), W), W)
        scores = np.empty((len(X), 4))
        one.scores(dense_rows(X), scores, mean=False)
        assert_close(scores, X @ W[:, :12].T + one.weights.last()[1], rtol)


@of_columns
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


@of_columns
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
        settings = {"norm": kind.norm(q=q), "update": "perceptron", "average": False, "intercept_scaling": 1.0}
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


def separable(kind, code, cost, n, p, size, seed, intercept=None):
    """Rows that weights of few features, or of a low rank, decode without loss; the gap, and the weights with offsets."""
    random = np.random.default_rng(seed)
    d = code.shape[1]
    if kind is TRACE:
        U = np.column_stack(
            [random.standard_normal((d, size)) @ random.standard_normal((size, p)), 0.3 * random.standard_normal(d)]
        )
    else:
        U = np.zeros((d, p + 1))
        U[:, random.choice(p + (intercept is not None), size, replace=False)] = random.standard_normal((d, size))
    U[:, -1] *= intercept is not None
    X = random.standard_normal((4 * n, p)) * 10 ** random.uniform(-1, 1)
    score = (X @ U[:, :-1].T + (intercept or 0) * U[:, -1]) @ code.T
    best = score.argmax(axis=1)
    y = np.minimum(best, len(cost) - 1)
    margin = score[np.arange(len(y)), y] - np.where(cost[y] > 0, score, -np.inf).max(axis=1)
    margin[best != y] = -np.inf
    kept = random.permutation(np.argsort(-margin)[:n])
    assert margin[kept].min() > 0
    return X[kept], y[kept], margin[kept].min(), U


@each_kind
@pytest.mark.parametrize("intercept", [None, 0.5])
@pytest.mark.parametrize("update", PROVEN, ids=name)
def test_loss_suffered_is_within_the_bound(update, intercept, kind):
    """Theorem 15 by the margin of sparse weights, or weights of low rank, of norm 1."""
    settings = {"fit_intercept": False} if intercept is None else {"intercept_scaling": intercept}
    k = 6 if kind is TRACE else 4
    for seed in range(3):
        for representation in (OneHot(), Code(random_code(k, 5))):
            for loss in losses(k):
                code, cost, p = representation.code(k), cost_table(loss, k), 12 if kind is TRACE else (12, 40, 300)[seed]
                X, y, gap, U = separable(kind, code, cost, 60, p, 2 + seed, seed, intercept)
                parts = {"update": update, "representation": representation, "loss": loss, "average": False}
                model = PredtronClassifier(norm=kind.norm(kind.theory), decision="learned", **parts, **settings)
                for _ in range(2):
                    model.partial_fit(X, y, classes=range(k))
                q = model._model.learner.weights.q
                assert q == pytest.approx(kind.q_of(code.shape[1], p))
                R, _ = kind.of_rows(X, intercept or 0, q)
                bound = model.loss_bound(gap / kind.of_weights(U, q / (q - 1)), R)
                assert 0 < model.cumulative_loss_ <= bound * (1 + 1e-9)
                assert bound <= model.loss_bound(gap / kind.of_weights(U, 1 + 1e-9), R) * (1 + 1e-9)


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
    q = L1.q_of(1, p)
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-12)
    assert bounds[0] == pytest.approx((q - 1) * p ** (2 / q), rel=1e-12)
    assert bounds[2] == pytest.approx(p, rel=1e-12)
    assert all(model.cumulative_loss_ <= bound for model, bound in zip(models, bounds, strict=True))


@each_kind
@pytest.mark.parametrize("average", ["linear", False])
@pytest.mark.parametrize("intercept", [None, 2.0])
def test_margin_and_bound_are_those_of_theorem_15(intercept, average, kind):
    settings = {"fit_intercept": False} if intercept is None else {"intercept_scaling": intercept}
    k = 6 if kind is TRACE else 3
    X, y, _, _ = separable(kind, np.eye(k), 1 - np.eye(k), 60, 12, *((5, 0) if kind is TRACE else (4, 3)), intercept)
    parts = {"norm": kind.norm(kind.theory), "update": LossAugmented(eta="theory"), "representation": "onehot"}
    model = PredtronClassifier(max_iter=2000, random_state=0, average=average, **parts, **settings, cv=0).fit(X, y)
    d = len(model.coef_)
    q = kind.q_of(d, 12)
    assert d == len(set(y)) > 2
    R, radius2 = kind.of_rows(X, intercept or 0, q)
    scores = X @ model.coef_.T + model.intercept_
    competitors = np.where(np.eye(d)[np.searchsorted(model.classes_, y)] > 0, -np.inf, scores).max(axis=1)
    b = np.zeros(d) if intercept is None else model.intercept_ / intercept
    length = kind.of_weights(np.column_stack([model.coef_, b]), q / (q - 1))
    assert model._model.learner.weights.length() == pytest.approx(length, rel=1e-9)
    gamma = (scores[np.arange(len(y)), np.searchsorted(model.classes_, y)] - competitors).min() / length
    assert gamma > 0
    assert model.margin(X, y) == pytest.approx(gamma, rel=1e-9)
    assert model._model.learner.weights.radius2 == pytest.approx(radius2, rel=1e-12)
    assert model.loss_bound(gamma, R) == pytest.approx(2 * radius2 / gamma**2, rel=1e-12)
    assert model.loss_bound(gamma) == pytest.approx(model.loss_bound(gamma, R), rel=1e-12)
    if kind is TRACE and intercept is not None:
        with pytest.raises(ValueError, match="must be at least the length of the intercept's feature"):
            model.loss_bound(0.5, 1.0)


def test_the_factor_of_the_bound():
    """(q - 1) p^(2 / q) is no larger than at 2 ln p, and close to what any even exponent can do."""

    def factor(q, p):
        return (q - 1) * p ** (2 / q)

    for p in [*range(3, 3000), *np.geomspace(3000, 1e6, 2000).astype(int)]:
        found = factor(PNorm("theory")._exponent(p), p)
        assert found <= factor(max(2, 2 * np.log(p)), p)
        assert found <= 1.07 * factor(np.arange(2, 40, 2), p).min()


@of_columns
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
        parts = {"norm": kind.norm("theory"), "representation": "shared", "intercept_scaling": 1.0, "average": False}
        learned = PredtronOrdinalClassifier(**parts, max_iter=300, random_state=0).fit(X, y).set_params(update=update)
        gamma = learned.margin(X, y)
        assert gamma > 0
        q = kind.q_of(1, 12)
        size = kind.plain(q / (q - 1)).length(learned.coef_.ravel())
        length = np.sqrt(size**2 + (learned.intercept_**2).sum())
        assert learned._model.learner.weights.length() == pytest.approx(length, rel=1e-9)
        model = PredtronOrdinalClassifier(update=update, **parts).partial_fit(X, y, classes=[0, 1, 2]).partial_fit(X, y)
        R = np.sqrt(max(kind.plain(q).length(x) for x in X) ** 2 + 1)
        assert 0 < model.cumulative_loss_ <= model.loss_bound(gamma, R)


@of_columns
def test_margin_of_zero_weights_is_nan(kind):
    model = PredtronBinaryClassifier(norm=kind.norm("theory"), fit_intercept=False).partial_fit([[0.0]], [1], classes=[0, 1])
    assert np.isnan(model.margin([[1.0]], [1]))
