"""The theorems of rankings by simulation: Jain et al., Chaudhuri and Tewari (both 2015), MMP, and the repaired margin."""

import itertools
import pickle
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
import reference.ranking as plain
from euclidean import PredtronRanker
from worlds import GRADES, POSITIONS, RANKING_LOSSES

from sklearn_predtron.problems._relevance import Relevances
from sklearn_predtron.representations import LogRank
from sklearn_predtron.theory import loss_constants
from sklearn_predtron.updates import MMP, Adaptive, LossAugmented, LossDriven, MaxPair, PassiveAggressive, PerceptronUpdate, Slam
from tests.families.test_ranking import label_ranker, learn, qid_of, ranker, step_of

POSITIONAL = [loss for loss in RANKING_LOSSES if loss != "kendall"]
SEEDS = range(4)


def graded(t, grades, rng):
    """Relevances in the order of the scores, of at least two grades, and the least lead of a pair of different grades."""
    order = np.argsort(-t)
    n_cuts = rng.integers(1, min(len(grades), len(t)))
    cuts = np.sort(rng.choice(np.arange(1, len(t)), n_cuts, replace=False))
    kept = np.sort(rng.choice(len(grades), n_cuts + 1, replace=False))[::-1]
    y = np.empty(len(t))
    y[order] = np.array(grades, dtype=float)[kept][np.searchsorted(cuts, np.arange(len(t)), side="right")]
    return y, (t[order[cuts - 1]] - t[order[cuts]]).min()


def separable_queries(grades, seed, n=60, p=6, most=6):
    """Queries whose documents unit-norm weights rank rightly, and the margin over pairs; scaled at random."""
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(p)
    w /= np.linalg.norm(w)
    found = []
    for _ in range(3 * n // 2):
        x = rng.standard_normal((rng.integers(2, most + 1), p))
        y, gap = graded(x @ w, grades, rng)
        found.append((gap, x, y))
    found = sorted(found, key=lambda query: -query[0])[:n]
    scale = 10 ** rng.uniform(-1, 1)
    order = rng.permutation(n)
    return [scale * found[i][1] for i in order], [found[i][2] for i in order], scale * found[-1][0]


def separable_labels(grades, seed, n=100, p=4, m=5):
    """Rows and relevances of labels that unit-norm weights rank rightly, the margin over pairs and the largest length."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((m, p))
    X = rng.standard_normal((4 * n, p)) * 10 ** rng.uniform(-1, 1)
    y, gap = zip(*(graded(t, grades, rng) for t in X @ W.T / np.linalg.norm(W)), strict=True)
    kept = rng.permutation(np.argsort(-np.array(gap))[:n])
    return X[kept], np.array(y)[kept], np.array(gap)[kept].min(), np.linalg.norm(X[kept], axis=1).max()


def longest_row(X):
    return max(np.linalg.norm(x, axis=1).max() for x in X)


def suffer(model, X, y, epochs=3):
    for _ in range(epochs):
        learn(model, X, y)
    return model


def repaired(margin, f, m):
    """gamma' of the repaired margin, for lists of up to m items."""
    return margin * min(-np.diff(plain.unit(f, k)).max() for k in range(2, m + 1))


# ------------------------------------------------------------------------------- pairs of items, Chaudhuri and Tewari (2015)


@pytest.mark.parametrize("loss", RANKING_LOSSES)
def test_theorem_10(loss):
    """Weighted, the sum of the losses is at most 4 R^2 / gamma^2; unweighted, the mistakes are; at any step."""
    shares = []
    for seed in SEEDS:
        X, y, margin = separable_queries(RANKING_LOSSES[loss][2], seed)
        bound = 4 * longest_row(X) ** 2 / margin**2
        models = [suffer(ranker(MaxPair(eta, weighted), loss), X, y) for weighted in (True, False) for eta in (1.0, 0.25)]
        assert models[0].n_mistakes_ > 3
        assert models[0].cumulative_loss_ == pytest.approx(models[1].cumulative_loss_)
        assert models[2].n_mistakes_ == models[3].n_mistakes_
        assert loss == "kendall" or models[0].loss_bound(margin, longest_row(X)) == pytest.approx(bound)
        shares += [models[0].cumulative_loss_ / bound, models[2].n_mistakes_ / bound]
    assert max(shares) <= 1


@pytest.mark.parametrize(("loss", "lost"), [("ndcg", 1 - 1 / np.log2(3)), ("ap", 0.5), ("swapped", 1.0)])
def test_theorem_9(loss, lost):
    """Two documents, a new direction each round: no order of them is safe, and as many mistakes as theorem 10 allows."""
    n, length = 16, 3.0
    model = ranker(MaxPair(weighted=False), loss)
    for i in range(n):
        model.partial_fit(
            length * np.vstack([np.eye(n)[i], -np.eye(n)[i]]), [RANKING_LOSSES[loss][2][1], RANKING_LOSSES[loss][2][0]]
        )
    margin = 2 * length / np.sqrt(n)
    assert model.n_mistakes_ == n == pytest.approx(4 * length**2 / margin**2)
    np.testing.assert_allclose(model.cumulative_loss_, n * lost)


@pytest.mark.parametrize("loss", ["ndcg", "ndcg@2", "ndcg-linear@3", "ap"])
def test_corollary_7_and_theorem_8(loss):
    """Sum of the losses at most 4 R^2 / (v gamma^2), v the least positive weight, with the step v / (4 R^2)."""
    for seed in SEEDS:
        X, y, margin = separable_queries(RANKING_LOSSES[loss][2], seed)
        v = np.concatenate([RANKING_LOSSES[loss][1].weights(relevance) for relevance in y])
        model = suffer(ranker(Slam(eta="theory"), loss), X, y)
        R = longest_row(X)
        assert model.n_mistakes_ > 3
        bound = model.loss_bound(margin, R)
        assert 0 < model.cumulative_loss_ <= bound <= 4 * R**2 / (v[v > 0].min() * margin**2) * (1 + 1e-9)
        assert bound == pytest.approx(model.loss_bound(margin))  # of the lists that lost, and of the longest item
        step = 0.3 * v[v > 0].min() / R**2
        model = suffer(ranker(Slam(eta=step), loss), X, y)
        assert 0 < model.cumulative_loss_ <= model.loss_bound(margin, R)


@pytest.mark.parametrize("loss", ["ndcg", "ndcg@2", "ap"])
def test_theorem_6_on_data_that_are_not_separable(loss):
    """With the theorem's step, fixed beforehand, the losses sum to at most 2 sum f(u) + 4 R^2 |u|^2 / v, for any u."""
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        X, y, _ = separable_queries(RANKING_LOSSES[loss][2], seed)
        y = [relevance[rng.permutation(len(relevance))] if i % 4 == 0 else relevance for i, relevance in enumerate(y)]
        v = [RANKING_LOSSES[loss][1].weights(relevance) for relevance in y]
        least = min(weights[weights > 0].min() for weights in v)
        model = suffer(ranker(Slam(eta=least / (4 * longest_row(X) ** 2)), loss), X, y, epochs=1)
        assert model.n_mistakes_ > 3
        for u in (model.last_coef_, model.coef_, 30 * model.coef_):
            surrogate = sum(slam_surrogate(x @ u, relevance, weights) for x, relevance, weights in zip(X, y, v, strict=True))
            assert model.cumulative_loss_ <= 2 * surrogate + 4 * longest_row(X) ** 2 * (u @ u) / least


def test_theorem_6_needs_a_step_fixed_beforehand():
    """A first query of short documents, wrong for u, makes a step that many longer ones have to undo."""
    u, R = np.array([0.5]), 1.0
    X = [np.array([[0.01], [-0.01]])] + 400 * [np.array([[R], [-R]])]
    y = [np.array([0, 1])] + 400 * [np.array([1, 0])]
    bound = 2 * sum(slam_surrogate(x @ u, relevance, relevance) for x, relevance in zip(X, y, strict=True)) + 4 * R**2 * (u @ u)
    so_far, fixed = (suffer(ranker(Slam(eta=eta), "ap"), X, y, epochs=1) for eta in ("theory", 1 / (4 * R**2)))
    assert fixed.cumulative_loss_ <= bound < 3.1
    assert so_far.cumulative_loss_ > 40


def slam_surrogate(t, y, v):
    """Equation 9 of Chaudhuri and Tewari (2015)."""
    hinges = np.where(plain.better(y), 1 + t[None, :] - t[:, None], 0)
    return v @ np.maximum(0, hinges.max(axis=1))


@pytest.mark.parametrize("loss", ["ndcg", "ndcg@2", "ndcg-linear@3", "ap"])
def test_theorem_4(loss):
    """The surrogate with the weights averaged within grades is at least the loss, whatever the ranking."""
    rule, grades = RANKING_LOSSES[loss][1], RANKING_LOSSES[loss][2]
    for m in (2, 3, 4):
        for y in map(np.array, itertools.product(grades, repeat=m)):
            if len(set(y)) > 1:
                v, every = rule.weights(y), plain.rankings(m)
                behind = (every[:, None, :] < every[:, :, None]) & plain.better(y)
                assert ((behind.any(axis=2) * v).sum(axis=1) >= rule.of(every, y) - 1e-12).all()


@pytest.mark.parametrize("loss", ["ndcg", "ndcg@2", "ndcg-linear@3", "ap"])
def test_the_slam_surrogate_is_convex_and_lipschitz(loss):
    """Lemma 3, from the form with all pairs; and |f(s) - f(t)| <= 2 max_i |s_i - t_i|, for the weights add up to 1 at most."""
    public, rule, grades = RANKING_LOSSES[loss]
    problem, rng, steepest = public.build(LogRank(), 0), np.random.default_rng(0), 0
    for _ in range(200):
        m = rng.integers(2, 8)
        y = rng.choice(np.array(grades, dtype=float), m)
        y[:2] = grades[:2]
        s, t = rng.standard_normal((2, m)) * 10 ** rng.uniform(-1, 1)
        share, v = rng.random(), rule.weights(y)
        labels = Relevances(np.tile(y, 3), np.arange(0, 3 * m + 1, m))
        found = problem.slam_surrogates(np.concatenate([s, t, share * s + (1 - share) * t]), labels)
        pairs = [[max([0.0, *(1 + z[j] - z[i] for j in range(m) if y[j] < y[i])]) for i in range(m)] for z in (s, t)]
        np.testing.assert_allclose(found[:2], np.array(pairs) @ v, rtol=1e-12)
        assert found[2] <= share * found[0] + (1 - share) * found[1] + 1e-12 * found.max()
        assert v.sum() <= 1 + 1e-12
        steepest = max(steepest, abs(found[0] - found[1]) / np.abs(s - t).max())
    assert 0.3 < steepest <= 2


@pytest.mark.parametrize("loss", ["ndcg", "ndcg@2", "ndcg-linear@3", "ap"])
def test_lemma_5(loss):
    """Where something is lost |grad f|^2 is at most 4 R^2, and at most 4 R^2 f / v, for the weights of the features."""
    public, rule, grades = RANKING_LOSSES[loss]
    problem, rng, shares = public.build(LogRank(), 0), np.random.default_rng(0), []
    for _ in range(200):
        m = rng.integers(2, 8)
        y = rng.choice(np.array(grades, dtype=float), m)
        y[:2] = grades[:2]
        t, X = rng.standard_normal(m), rng.standard_normal((m, 3)) * 10 ** rng.uniform(-1, 1)
        step, lost = step_of(Slam(eta=1.0), t, y, loss)
        if lost > 0:
            v, R = rule.weights(y), np.linalg.norm(X, axis=1).max()
            (f,) = problem.slam_surrogates(t, Relevances(y, np.array([0, m])))
            square = np.sum((X.T @ step) ** 2)
            assert np.abs(step).sum() <= 2 + 1e-12 and f >= v[v > 0].min() - 1e-12
            assert square <= 4 * R**2 * min(1, f / v[v > 0].min()) * (1 + 1e-12)
            shares.append(square / (4 * R**2))
    assert len(shares) > 30 and max(shares) > 0.1


@pytest.mark.parametrize("cost", ["is_error", "error_set", "normalised"])
@pytest.mark.parametrize("weights", ["uniform", "max", "random"])
def test_bound_of_mmp(cost, weights):
    """The costs sum to at most 2 C R^2 / gamma^2."""
    for seed in SEEDS:
        X, y, margin, R = separable_labels(GRADES, seed)
        model, total = label_ranker(MMP(cost, weights), "ndcg", fit_intercept=False), 0.0
        pairs = np.array([plain.better(relevance).sum() for relevance in y])
        t = np.zeros(y.shape[1])
        for i in range(len(X)):
            errors = (plain.better(y[i]) & (t[:, None] <= t[None, :])).sum()
            total += {"is_error": errors > 0, "error_set": errors, "normalised": errors / pairs[i]}[cost]
            model.partial_fit(X[i : i + 1], y[i : i + 1])
            t = model.last_coef_ @ X[(i + 1) % len(X)]
        assert model.n_updates_ > 3
        assert 0 < total <= 2 * (pairs.max() if cost == "error_set" else 1) * R**2 / margin**2
        m = y.shape[1]
        largest = 1 if cost == "is_error" else m * (m - 1) / 2
        assert 0 < model.cumulative_loss_ <= model.loss_bound(margin, R) == pytest.approx(2 * largest * R**2 / margin**2)


# --------------------------------------------------------------------------------------- whole rankings, the repaired margin


@pytest.mark.parametrize("representation", POSITIONS)
def test_D2_is_the_largest_distance_of_rankings(representation):
    """Of lists of documents up to the longest, and of lists of so many labels, over all permutations."""
    f = POSITIONS[representation][1]
    for m in range(2, 7):
        X, y = np.eye(m), np.arange(m)
        queries = learn(ranker("perceptron", "ndcg", representation), [X, X[:2]], [y, y[:2]])
        labels = label_ranker("perceptron", "ndcg", representation).partial_fit(X[:1], [y])
        assert pytest.approx(plain.diameter2(f, m), rel=1e-12) == queries._model.problem.D2
        assert pytest.approx(plain.diameter2(f, m, m), rel=1e-12) == labels._model.problem.D2


class World(NamedTuple):
    """What the theorems of whole rankings speak of; c_L and C_L are the least and the largest loss of a wrong ranking."""

    gamma: float
    D2R2: float
    c_L: float
    C_L: float
    kappa: float  # by default


def mistakes(world):
    return world.D2R2 / world.gamma**2


# Of updates: what is bounded, the bound, and whether it is that for a c_L that is known.
WHOLE = {
    **{LossDriven(eta=eta): ("cumulative_loss_", mistakes, False) for eta in (0.01, 0.1, 1.0, 100.0)},
    LossDriven(eta="theory"): ("cumulative_loss_", mistakes, False),
    **{
        LossAugmented(eta=eta): ("n_mistakes_", lambda world, eta=eta: mistakes(world) + 2 / eta / world.gamma**2, False)
        for eta in (0.01, 0.1, 1.0, 100.0)
    },
    LossAugmented(eta="theory"): ("cumulative_loss_", lambda world: mistakes(world) * world.C_L**2 / world.c_L, True),
    **{PerceptronUpdate(eta=eta): ("n_mistakes_", mistakes, None) for eta in (0.01, 1.0, 100.0)},
    **{
        Adaptive(kappa=kappa): (
            "cumulative_loss_",
            lambda world, k=kappa: mistakes(world) / min(1, k or world.kappa) / world.c_L,
            True,
        )
        for kappa in (None, 0.01, 5.0)
    },
}


@pytest.mark.parametrize("representation", POSITIONS)
@pytest.mark.parametrize("loss", POSITIONAL)
@pytest.mark.parametrize("of_labels", [False, True], ids=["queries", "labels"])
def test_bounds_by_the_repaired_margin(of_labels, loss, representation):
    """Theorem 1 and 14, for the adaptive update, and for steps of any length: each is what `loss_bound` says."""
    own, rule, grades = RANKING_LOSSES[loss]
    f, seeds, learned = POSITIONS[representation][1], SEEDS[: 2 if of_labels else 3], Counter()
    for seed in seeds:
        if of_labels:
            X, y, margin, R = separable_labels(grades, seed)
            m, given = y.shape[1], {"y": y}
        else:
            X, y, margin = separable_queries(grades, seed)
            m, R, given = 6, max(np.linalg.norm(x, 2) for x in X), {"y": np.concatenate(y), "qid": qid_of(X)}
        costs = np.concatenate([rule.of(plain.rankings(len(relevance)), relevance) for relevance in y])
        D2R2 = plain.diameter2(f, m, m if of_labels else 2) * R**2
        c_L, C_L = loss_constants(own, **given)
        world = World(repaired(margin, f, m), D2R2, costs[costs > 1e-12].min(), C_L, 1.0 if of_labels else 0.3)
        assert c_L == pytest.approx(world.c_L, rel=1e-9)
        for update, (counted, bound_of, takes_c_L) in WHOLE.items():
            bound = bound_of(world)
            if of_labels:
                model = label_ranker(update, loss, representation, fit_intercept=False).partial_fit(X, y).partial_fit(X, y)
            else:
                model = suffer(ranker(update, loss, representation), X, y)
            learned[update] += model.n_mistakes_
            assert 0 < getattr(model, counted) <= bound
            if takes_c_L is not None:
                assert model.loss_bound(world.gamma, R, *[c_L] * takes_c_L) == pytest.approx(bound, rel=1e-9)
            if update.alias == "predtron" and update.eta == "theory":  # by what the lists so far can lose
                assert model.cumulative_loss_ <= model.loss_bound(world.gamma, R) <= bound * (1 + 1e-9)
    assert min(learned.values()) > 3 * len(seeds)


def test_theory_of_rankings_in_a_stream():
    """The least loss so far outlives a pickle and a new setting; a query at a time gives the same bits as all at once."""
    X, y, margin = separable_queries(GRADES, 1)
    whole = learn(ranker(LossAugmented(eta="theory"), "ndcg"), X, y)
    part = learn(ranker(LossAugmented(eta="theory"), "ndcg"), X[:20], y[:20])
    part = pickle.loads(pickle.dumps(part)).set_params(update=LossAugmented(eta="theory"))
    for x, relevance in zip(X[20:], y[20:], strict=True):
        part.partial_fit(x, relevance)
    np.testing.assert_array_equal(part.last_coef_, whole.last_coef_)
    assert part.loss_bound(margin) == whole.loss_bound(margin) < np.inf


@pytest.mark.parametrize("loss", POSITIONAL)
def test_step_of_theorem_1_for_rankings(loss):
    """From zero weights the step is c_L of the list / (D |X|_F)^2 along X^T (rep(sigma_y) - rep(sigma))."""
    rule, grades = RANKING_LOSSES[loss][1:]
    for seed in range(10):
        (x,), (relevance,), _ = separable_queries(grades, seed, n=1)
        costs = rule.of(plain.rankings(len(relevance)), relevance)
        step = costs[costs > 1e-12].min(initial=np.inf) / (plain.diameter2(POSITIONS["log"][1], len(x), len(x)) * (x**2).sum())
        theory, one = (suffer(ranker(LossAugmented(eta), loss), [x], [relevance], epochs=1) for eta in ("theory", 1.0))
        assert one.last_coef_.any() == (costs.max() > 1e-12)
        if one.last_coef_.any():
            np.testing.assert_allclose(theory.last_coef_, step * one.last_coef_, rtol=1e-9)


@pytest.mark.parametrize("representation", POSITIONS)
def test_margins(representation):
    """The margins that the theorems speak of, by their definition."""
    f = POSITIONS[representation][1]
    X, y, _ = separable_queries(GRADES, 0)
    for update in (Adaptive(), MaxPair()):
        model = suffer(ranker(update, "ndcg", representation), X, y)
        leads = []
        for x, relevance in zip(X, y, strict=True):
            t, factor = x @ model.coef_, 1.0 if isinstance(update, MaxPair) else -np.diff(plain.unit(f, len(x))).max()
            leads.append(factor * np.subtract.outer(t, t)[plain.better(relevance)].min())
        expected = min(leads) / np.linalg.norm(model.coef_)
        assert model.margin(np.vstack(X), np.concatenate(y), qid_of(X)) == pytest.approx(expected)


@pytest.mark.parametrize("representation", POSITIONS)
@pytest.mark.parametrize("loss", POSITIONAL)
def test_lemma_of_the_repaired_margin(loss, representation):
    """Every competitor is behind its sigma_y by gamma' for each inverted pair, under scores that rank the list rightly."""
    _, rule, grades = RANKING_LOSSES[loss]
    f = POSITIONS[representation][1]
    for seed in range(25):
        rng = np.random.default_rng(seed)
        m = rng.integers(2, 6)
        right = rng.standard_normal(m)
        y, gap = graded(right, grades, rng)
        rep, every, t = plain.unit(f, m), plain.rankings(m), 2 * rng.standard_normal(m)
        inverted = ((every[:, :, None] > every[:, None, :]) & plain.better(y)).sum(axis=(1, 2))
        directions = np.array([rep[plain.right_place(place, y)] - rep[place] for place in every])
        assert (directions @ right >= gap * -np.diff(rep).max() * inverted - 1e-12).all()
        for update in (LossAugmented(), PerceptronUpdate()):
            step, lost = step_of(update, t, y, loss, representation)
            if lost > 0:
                here = np.abs(directions - step).max(axis=1) < 1e-12
                assert here.any()
                assert (inverted[here] > 0).all()
                assert step @ right >= gap * -np.diff(rep).max() * inverted[here].max() - 1e-12
        assert rule.of(plain.places(np.argsort(-right)), y) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("representation", POSITIONS)
@pytest.mark.parametrize("loss", RANKING_LOSSES)
def test_lemma_9(loss, representation):
    """The hinge is at least the loss of the prediction, and 0 only without one."""
    grades, largest = RANKING_LOSSES[loss][2], 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        m = rng.integers(2, 9)
        t = 10 ** rng.uniform(-2, 1.5) * rng.standard_normal(m)
        y = np.array(grades, dtype=float)[rng.integers(0, len(grades), m)]
        y[:2] = grades[:2]
        direction, lost = step_of(LossAugmented(), t, y, loss, representation)
        step, again = step_of(PassiveAggressive(variant="pa"), t, y, loss, representation)
        assert lost == again
        assert lost == 0 or direction.any()
        hinge = step @ direction  # the step is hinge / |direction|^2 times the direction
        assert hinge >= lost - 1e-12
        largest = max(largest, lost)
    assert largest > 0.2


# ------------------------------------------------------------------------------------------------------ the choice of sigma_y


def the_data_of_the_paper(seed, n=1500, m=10, p=5, n_cuts=3, gap=0.1):
    """Random documents, and relevances 0 to n_cuts of their scores, with a gap between the grades."""
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(p)
    w /= np.linalg.norm(w)
    X, y = [], []
    while len(X) < n:
        x = rng.standard_normal((m, p))
        order, cuts = np.argsort(-x @ w), np.sort(rng.choice(np.arange(1, m), n_cuts, replace=False))
        t = (x @ w)[order]
        if (t[cuts - 1] - t[cuts]).min() > gap:
            X.append(x)
            y.append(np.empty(m))
            y[-1][order] = n_cuts - np.searchsorted(cuts, np.arange(m), side="right")
    return X, y


def learn_with_sigma_y_by_index(X, y, f, eta):
    """Algorithm 1 as printed: of the right rankings the one that keeps the documents of a grade in the order they are in."""
    loss, rep, w, lost = plain.NDCG(), plain.unit(f, len(y[0])), np.zeros(X[0].shape[1]), []
    for x, relevance in zip(X, y, strict=True):
        t = x @ w
        lost.append(plain.snapped(loss.of(plain.places(plain.worst_order(t, relevance)), relevance)))
        if lost[-1] > 0:
            competitor, _ = plain.best_ranking(loss, rep, t, relevance)
            right = plain.places(np.argsort(-relevance, kind="stable"))
            w = w + eta * x.T @ (rep[right] - rep[competitor])
    return np.array(lost)


@pytest.mark.parametrize("seed", range(3))
def test_sigma_y_by_index_does_not_learn(seed):
    """Over all 1500 rounds, and still in the last 500."""
    X, y = the_data_of_the_paper(seed)
    printed = learn_with_sigma_y_by_index(X, y, lambda j: -j, 1.0)
    model = learn(PredtronRanker(representation="linear", update=LossAugmented(), average=False), X[:1000], y[:1000])
    before = model.cumulative_loss_
    total = learn(model, X[1000:], y[1000:]).cumulative_loss_
    assert 0 < 20 * total < printed.sum()
    assert 20 * (total - before) < printed[1000:].sum()


def test_same_learner_with_the_repaired_sigma_y():
    """Nothing but the choice of sigma_y sets the learners of the test before apart."""
    X, y = the_data_of_the_paper(2, n=60)
    reference = plain.RankingReference(plain.NDCG(), lambda j: -j, 5, "max_pair", {"eta": 1.0, "weighted": False})
    model = PredtronRanker(representation="linear", update=MaxPair(weighted=False), average=False)
    learn(model, X[:1], y[:1])
    reference.W = reference.Theta = model.last_coef_[None].copy()
    reference.change("predtron", {"eta": 1.0}).learn(X[1:], y[1:])
    model.set_params(update=LossAugmented())
    model.partial_fit(np.vstack(X[1:]), np.concatenate(y[1:]), qid=qid_of(X[1:]))
    np.testing.assert_allclose(model.last_coef_, reference.W[0], atol=1e-9)
    assert reference.n_updates > 3
