"""Sets of labels: the compiled inference, losses and constants against enumeration of all sets."""

import copy
import pickle
from functools import cache

import numpy as np
import pytest
from cases import name
from given_scores import unit_rows, weights_with_scores
from reference.sets import FORMULAS, all_sets, allowed, counts_of, quotient
from scipy import sparse
from sklearn.metrics import accuracy_score, fbeta_score, hamming_loss, jaccard_score

from sklearn_predtron._core.averages import Average
from sklearn_predtron._core.learner import Learner
from sklearn_predtron.losses import AtK, CountLoss, ErrorSetSize, FBeta, Hamming, Jaccard, PrecisionAtK, RecallAtK, SubsetZeroOne
from sklearn_predtron.metrics._scorers import mean_of_sets
from sklearn_predtron.problems._label_sets import Indicators, SparseIndicators
from sklearn_predtron.representations import SignVector
from sklearn_predtron.updates import _rules as core

# ------------------------------------------------------------------------------- losses, written a second time for arrays


NAMES = [loss.function.__name__ if isinstance(loss, CountLoss) else name(loss) for loss, _ in FORMULAS]
each_loss = pytest.mark.parametrize(("loss", "formula"), FORMULAS, ids=NAMES)


def sizes(loss, largest=8):
    """The numbers of labels that a loss is about."""
    return range(int(max(loss.k, 1)) if isinstance(loss, AtK) else 1 + isinstance(loss, ErrorSetSize), largest + 1)


def enumerate_sets(loss, formula, t, y):
    """For each row: the losses of all sets above the least, and their scores above that of sigma_y."""
    m = t.shape[1]
    sets = all_sets(m, loss)
    a, on, true = y @ sets.T, sets.sum(axis=1), y.sum(axis=1)[:, None]
    costs = formula(a, on - a, true - a, m - on - true + a)
    costs = costs - costs.min(axis=1)[:, None]
    scores = t @ (2 * sets - 1).T / np.sqrt(m)
    # sigma_y is y, or, where there may be no such set, the best of those that lose least
    right = costs < 1e-12 if isinstance(loss, AtK) else (sets == y[:, None]).all(axis=2)
    return costs, scores - np.where(right, scores, -np.inf).max(axis=1)[:, None]


def enumerate_counts(loss, formula, t, y):
    """The same of one row for the best set of each number of false and missing labels."""
    keys = 2 * t / np.sqrt(len(t))
    positive, negative = np.sort(keys[y == 1])[::-1], np.sort(keys[y == 0])[::-1]
    P, N = len(positive), len(negative)
    best_on = np.append(0, np.cumsum(negative))
    if isinstance(loss, AtK):
        a, b = np.nonzero(allowed(loss, np.arange(P + 1)[:, None] + np.arange(N + 1), P + N))
        costs = formula(a, b, P - a, N - b)
        costs = costs - costs.min()
        scores = np.append(0, np.cumsum(positive))[a] + best_on[b]
        return costs, scores - scores[costs < 1e-12].max()
    b, c = np.arange(N + 1)[:, None], np.arange(P + 1)
    return formula(P - c, b, c, N - b), best_on[:, None] - np.append(0, np.cumsum(positive[::-1]))


# ------------------------------------------------------------------------------------------------------- compiled rounds


def rounds(problem, weights, y, update):
    """One compiled round for each row: the loss suffered, and the change of the scores."""
    weights, rows, labels, order = copy.deepcopy(weights), unit_rows(len(y)), Indicators(y.astype(np.uint8)), np.arange(len(y))
    before, learner, total = weights.last()[0].T, Learner(weights, problem, update, Average()), []
    for i in range(len(y)):
        learner.learn(rows, labels, order[i : i + 1])
        total.append(learner.cumulative_loss)
    return np.diff(total, prepend=0), weights.last()[0].T - before


def surrogates(problem, weights, y):
    """The compiled phi(t, y) of each row and its gradient, each from the rounds that use them."""
    _, change = rounds(problem, weights, y, core.SubgradientRule(1e-200, 1.0))
    _, passive = rounds(problem, weights, y, core.PassiveAggressiveRule(np.inf, 0, False, False, 1.0))
    return np.linalg.norm(passive, axis=1) * np.linalg.norm(change, axis=1), -change


def flips(change, y):
    """From the change rep(sigma_y) - rep(competitor) of the scores: labels that only the competitor has on, and only sigma_y."""
    step = change * np.sqrt(y.shape[1]) / 2
    rounded = np.rint(step)
    assert np.abs(step - rounded).max() < 1e-6
    assert np.abs(rounded).max() <= 1
    return (rounded < 0).astype(int), (rounded > 0).astype(int)


def sigma_y_at_k(loss, t, y):
    """sigma_y of a loss at k, without labels that add nothing to its score."""
    k = loss.k if loss.k >= 1 else max(1, round(loss.k * len(t)))
    sigma = np.zeros(len(t), dtype=int)
    best, others = (places[np.argsort(-t[places], kind="stable")] for places in (np.flatnonzero(y), np.flatnonzero(1 - y)))
    liked = others[t[others] > 0]
    sigma[best[:k]] = 1
    rest = k - sigma.sum()
    if loss.rule == "exactly" or (loss.rule == "at_least" and y.any()):
        sigma[others[:rest]] = 1
    elif loss.rule == "at_most":
        sigma[liked[:rest]] = 1
    else:
        sigma[others[: max(k, len(liked))]] = 1
    if loss.rule == "at_least" and len(best) >= k:
        sigma[best[t[best] > 0]] = 1
    return sigma


def moved_loss(loss, formula, on, off, t, y):
    """What the competitor loses above sigma_y."""
    if isinstance(loss, AtK) and loss.rule != "exactly":
        right = np.array([sigma_y_at_k(loss, *row) for row in zip(t, y, strict=True)])
        assert not (on & right).any()
        assert not (off & (1 - right)).any()
        return formula(*counts_of((right | on) & (1 - off), y)) - formula(*counts_of(right, y))
    if not isinstance(loss, AtK):
        assert not (on & y).any()
        assert not (off & (1 - y)).any()
        return formula(*counts_of((y | on) & (1 - off), y))
    assert np.array_equal(on.sum(axis=1), off.sum(axis=1))
    below = loss.size(y.shape[1]) if isinstance(loss, PrecisionAtK) else np.maximum(y.sum(axis=1), 1)
    return ((off & y).sum(axis=1) - (on & y).sum(axis=1)) / below


@cache
def draws(m, n, seed=0):
    """Scores and labels: of all sizes, with ties of every kind, and at the places where competitors change."""
    rng = np.random.default_rng(1000 * seed + m)
    size = (n, m)
    forms = [
        rng.standard_normal(size) * 10 ** rng.uniform(-2, 2, (n, 1)),
        rng.standard_normal(size),
        rng.integers(-4, 5, size) / 2,
        rng.integers(-1, 2, size) * 1.0,
        rng.integers(-6, 7, size) * np.sqrt(m) / 2 / rng.integers(1, m + 1, (n, 1)),
        rng.choice([-1.0, 1.0], size) * rng.exponential(1, (n, 1)),
        rng.standard_normal(size) * (rng.random(size) < 0.5),
        np.zeros(size),
    ]
    form = rng.choice(len(forms), n, p=[0.25, 0.2, 0.2, 0.1, 0.1, 0.05, 0.05, 0.05])
    t = np.choose(form[:, None], forms)
    y = (rng.random(size) < rng.choice([0, 0.2, 0.5, 0.8, 1], (n, 1), p=[0.05, 0.3, 0.3, 0.3, 0.05])).astype(int)
    return t, y, weights_with_scores(t)


def tolerance(t):
    return 1e-12 * (1 + np.abs(t).sum(axis=1))


def smallest_loss(loss, y):
    """The least loss of any set."""
    if not isinstance(loss, AtK):
        return 0
    k = loss.size(y.shape[1])
    most = np.minimum(y.sum(axis=1), k)
    return 1 - most / k if isinstance(loss, PrecisionAtK) else 1 - quotient(most, y.sum(axis=1))


def check_rounds(loss, formula, t, y, weights, found):
    """Loss, competitors and phi of compiled rounds, where found holds (costs, scores) of the sets of each row."""
    problem, slack = loss.build(SignVector(), t.shape[1]), tolerance(t)
    phi = np.array([(costs + scores).max() for costs, scores in found])
    worst = np.array([costs[scores >= scores.max() - e].max() for (costs, scores), e in zip(found, slack, strict=True)])
    assert (np.abs(surrogates(problem, weights, y)[0] - phi) <= slack).all()
    for update in (core.SubgradientRule(1e-200, 1.0), core.LossAugmentedRule(1.0), core.PerceptronRule(1.0)):
        suffered, change = rounds(problem, weights, y, update)
        np.testing.assert_allclose(suffered, worst + smallest_loss(loss, y), atol=1e-9)
        on, off = flips(change, y)
        gap = 2 * ((on - off) * t).sum(axis=1) / np.sqrt(t.shape[1])
        lost = moved_loss(loss, formula, on, off, t, y)
        stepped = change.any(axis=1)
        assert isinstance(update, core.SubgradientRule) or np.array_equal(stepped, worst > 1e-9)
        if isinstance(update, core.PerceptronRule):  # a maximiser that loses most
            np.testing.assert_allclose(lost, worst, atol=1e-12)
            top = np.array([scores.max() for _, scores in found])
            assert (np.abs(gap - top) <= slack)[stepped].all()
        else:
            seen = stepped | isinstance(update, core.SubgradientRule)
            assert (np.abs(lost + gap - phi) <= slack)[seen].all()


# ------------------------------------------------------------------------------------------------------------- inference


@each_loss
def test_competitors_among_all_sets(loss, formula):
    for m in sizes(loss):
        t, y, weights = draws(m, 10_000 // len(sizes(loss)) + 1)
        check_rounds(loss, formula, t, y, weights, list(zip(*enumerate_sets(loss, formula, t, y), strict=True)))


@each_loss
def test_competitors_among_all_counts(loss, formula):
    for m in range(20, 61):
        t, y, weights = draws(m, 13)
        found = [enumerate_counts(loss, formula, *row) for row in zip(t, y, strict=True)]
        check_rounds(loss, formula, t, y, weights, found)


@pytest.mark.parametrize("size", [1, 2, 16, 17, 33, 100, 1000])
def test_sorted_labels_of_any_number(size):
    """Runs of the merge sort of every length: the k best labels, at ties the first."""
    rng = np.random.default_rng(size)
    scores = np.vstack(
        [rng.standard_normal((20, size)), rng.integers(-3, 4, (20, size)), np.zeros((1, size)), -np.ones((1, size))]
    )
    for k in {1, size // 2 or 1, size}:
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        expected = np.zeros(scores.shape, dtype=int)
        np.put_along_axis(expected, best, 1, axis=1)
        for loss in (PrecisionAtK(k=k), RecallAtK(k=k)):
            np.testing.assert_array_equal(loss.build(SignVector(), size).predict(scores), expected)


@each_loss
def test_predictions_are_maximisers(loss, formula):
    for m in sizes(loss, 6):
        t, _, _ = draws(m, 200)
        predicted = loss.build(SignVector(), m).predict(t)
        score = (t * (2.0 * predicted - 1)).sum(axis=1)
        assert (score >= (t @ (2 * all_sets(m, loss) - 1).T).max(axis=1) - tolerance(t)).all()
        if isinstance(loss, AtK):
            assert allowed(loss, predicted.sum(axis=1), m).all()
        else:
            np.testing.assert_array_equal(predicted, t > 0)


def margins_of(costs, scores, slack=0.0):
    """How far sigma_y is ahead of the best set that loses, or that is ahead of it."""
    return -np.where((costs > 1e-12) | (scores > slack), scores, -np.inf).max(axis=1)


@each_loss
def test_margins_among_all_sets(loss, formula):
    for m in sizes(loss):
        t, y, _ = draws(m, 100)
        costs, scores = enumerate_sets(loss, formula, t, y)
        margins = margins_of(costs, scores, tolerance(t)[:, None])
        rows = sparse.csr_matrix(y)
        places = SparseIndicators(rows.indptr.astype(np.intp), rows.indices.astype(np.intp), m)
        for labels in (Indicators(y.astype(np.uint8)), places):
            np.testing.assert_array_equal(labels.dense(), y)
            np.testing.assert_allclose(loss.build(SignVector(), m).margins(t, labels), margins, rtol=1e-12, atol=1e-10)


@each_loss
def test_problems_go_on_from_a_pickle(loss, formula):
    problem = loss.build(SignVector(), 6)
    twin = pickle.loads(pickle.dumps(problem))
    t, y, weights = draws(6, 60, seed=5)
    np.testing.assert_array_equal([twin.c_L, twin.C_L], [problem.c_L, problem.C_L])
    np.testing.assert_array_equal(twin.predict(t), problem.predict(t))
    for update in (core.PerceptronRule(1.0), core.LossAugmentedRule(1.0)):
        first, second = rounds(problem, weights, y, update), rounds(twin, weights, y, update)
        np.testing.assert_array_equal(first[0], second[0])
        np.testing.assert_array_equal(first[1], second[1])


# -------------------------------------------------------------------------------------------------- losses and constants


def all_counts(m):
    counts = np.array([(a, b, c, m - a - b - c) for a in range(m + 1) for b in range(m + 1 - a) for c in range(m + 1 - a - b)])
    return counts.T


@each_loss
def test_of_counts_is_the_formula(loss, formula):
    for m in sizes(loss, 12):
        a, b, c, d = all_counts(m)
        kept = allowed(loss, a + b, m) & (a + b > 0) if isinstance(loss, AtK) else np.ones(len(a), dtype=bool)
        counts = [count[kept] for count in (a, b, c, d)]
        values = loss.of_counts(*counts)
        assert values.dtype == np.float64
        np.testing.assert_allclose(values, formula(*counts), rtol=1e-14, atol=1e-15)


def least_and_largest(loss, formula, m):
    """c_L and C_L by enumeration, above the least loss of each y."""
    labels = all_sets(m)
    costs, _ = enumerate_sets(loss, formula, np.zeros(labels.shape), labels)
    return costs[costs > 1e-12].min(initial=np.inf), costs.max()


@each_loss
def test_constants_of_the_loss(loss, formula):
    for m in sizes(loss):
        problem, (least, largest) = loss.build(SignVector(), m), least_and_largest(loss, formula, m)
        if isinstance(loss, CountLoss):
            assert np.isnan([problem.c_L, problem.C_L]).all()
            stated = CountLoss(loss.function, c_L=least, C_L=largest).build(SignVector(), m)
            assert (stated.c_L, stated.C_L) == (least, largest)
        elif isinstance(loss, AtK):  # safe ones: k labels may be among all that are right
            assert problem.c_L <= least * (1 + 1e-12)
            assert largest <= problem.C_L
        else:
            np.testing.assert_allclose((problem.c_L, problem.C_L), (least, largest), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_losses_are_the_metrics_of_scikit_learn():
    rng = np.random.default_rng(0)
    for m in (2, 3, 7):
        y, sigma = ((rng.random((400, m)) < rng.random((400, 1))).astype(int) for _ in range(2))
        y[:40], sigma[20:60] = 0, 0
        counts = counts_of(sigma, y)
        assert (counts[3] == m).any()
        means = {kind: kind().of_counts(*counts).mean() for kind in (Hamming, SubsetZeroOne, Jaccard)}
        np.testing.assert_allclose(means[Hamming], hamming_loss(y, sigma))
        np.testing.assert_allclose(means[SubsetZeroOne], 1 - accuracy_score(y, sigma))
        np.testing.assert_allclose(means[Jaccard], 1 - jaccard_score(y, sigma, average="samples", zero_division=1))
        for beta in (0.5, 1, 2):
            expected = 1 - fbeta_score(y, sigma, beta=beta, average="samples", zero_division=1)
            np.testing.assert_allclose(FBeta(beta=beta).of_counts(*counts).mean(), expected)


def test_losses_at_k_that_were_saved_without_a_rule_predict_exactly_k():
    old = PrecisionAtK.__new__(PrecisionAtK)
    old.__setstate__({"k": 2})
    assert old.get_params() == {"k": 2, "rule": "exactly"}
    assert pickle.loads(pickle.dumps(RecallAtK(k=3, rule="at_most"))).rule == "at_most"


@pytest.mark.parametrize(
    ("loss", "sizes"),
    [
        (PrecisionAtK(k=3), (3, 3)),
        (PrecisionAtK(k=3, rule="at_least"), (3, 10)),
        (RecallAtK(k=0.34, rule="at_most"), (0, 3)),
        (RecallAtK(k=0.01), (1, 1)),
    ],
    ids=name,
)
def test_sizes_of_predictions_at_k(loss, sizes):
    assert loss.sizes(10) == sizes
    y = np.zeros((1, 10), dtype=int)
    for n in range(11):
        predicted = (np.arange(10) < n).astype(int)[None]
        if sizes[0] <= n <= sizes[1]:
            assert mean_of_sets(y, predicted, loss=loss) == 1 - loss.of_counts(0, n, 0, 10 - n)
        else:
            with pytest.raises(ValueError, match="is a loss of predictions of"):
                mean_of_sets(y, predicted, loss=loss)


# ------------------------------------------------------------------------------------------------------- lemmas of phi


def smooth(m, n=100):
    """Scores of all sizes without ties."""
    rng = np.random.default_rng(m)
    t = rng.standard_normal((n, m)) * 10 ** rng.uniform(-2, 1, (n, 1))
    return t, (rng.random((n, m)) < 0.5).astype(int)


@each_loss
def test_direction_is_the_gradient(loss, formula):
    for m in sizes(loss, 6):
        t, y = smooth(m)
        _, gradient = surrogates(loss.build(SignVector(), m), weights_with_scores(t), y)
        for i, e in enumerate(1e-7 * np.eye(m)):
            above, below = (np.add(*enumerate_sets(loss, formula, t + way * e, y)).max(axis=1) for way in (1, -1))
            np.testing.assert_allclose(gradient[:, i], (above - below) / 2e-7, atol=1e-5)


@each_loss
def test_self_bounding_on_mistakes(loss, formula):
    """|grad phi|^2 <= 4 L / c_L wherever Algorithm 1 steps (Lemma 10), and no step without loss."""
    for m in sizes(loss):
        t, y, weights = draws(m, 300, seed=4)
        suffered, change = rounds(loss.build(SignVector(), m), weights, y, core.LossAugmentedRule(1.0))
        lost = suffered - smallest_loss(loss, y)
        least, _ = least_and_largest(loss, formula, m)
        assert ((change**2).sum(axis=1) <= 4 * lost / least + 1e-9 * (1 + np.abs(t).max(axis=1))).all()


@each_loss
def test_zero_at_margin_C_L(loss, formula):
    """A margin of C_L over the sets that lose makes phi vanish (Lemma 11); it is positive until each has its loss as margin."""
    checked = 0
    for m in sizes(loss):
        t, y = smooth(m)
        t = np.abs(t) * (2 * y - 1)  # y is predicted, or the best of the sets that lose least
        costs, scores = enumerate_sets(loss, formula, t, y)
        some = (costs > 1e-12).any(axis=1)
        t, y, costs, scores = t[some], y[some], costs[some], scores[some]
        margin = -np.where(costs > 1e-12, scores, -np.inf).max(axis=1)
        kept = margin > 1e-9
        t, y, costs, scores, margin = t[kept], y[kept], costs[kept], scores[kept], margin[kept]
        if len(t) == 0:
            continue
        _, largest = least_and_largest(loss, formula, m)
        _, gradient = surrogates(loss.build(SignVector(), m), weights_with_scores(t / margin[:, None] * largest * (1 + 1e-9)), y)
        assert not gradient.any()
        enough = np.divide(costs, -scores, where=costs > 1e-12, out=np.zeros(costs.shape)).max(axis=1)
        phi, gradient = surrogates(loss.build(SignVector(), m), weights_with_scores(t * (enough * 0.99)[:, None]), y)
        assert (phi > 0).all()
        assert gradient.any(axis=1).all()
        checked += len(t)
    assert checked > 100
