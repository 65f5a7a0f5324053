"""Measures of a batch: the compiled competitor against enumeration of all labelings, and of all counts."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from reference.bipartite import by_counts, class_weights, losses_of

from sklearn_predtron._support.parts import can_build, kinds
from sklearn_predtron.losses import (
    AtK,
    BalancedError,
    BreakEven,
    CountLoss,
    ErrorSetSize,
    FBeta,
    GMean,
    Hamming,
    Jaccard,
    PrecisionAtK,
    RecallAtK,
    SubsetLoss,
    SubsetZeroOne,
)
from sklearn_predtron.problems._label_sets import IndicatorBlocks, Indicators
from sklearn_predtron.problems._problem_queries import competitor_of
from sklearn_predtron.representations import SignVector


def costs(a, b, c, d):
    return (b + 3 * c) / (a + b + c + d)


LOSSES = {
    "hamming": lambda k, beta: Hamming(),
    "subset_zero_one": lambda k, beta: SubsetZeroOne(),
    "error_set_size": lambda k, beta: ErrorSetSize(),
    "balanced": lambda k, beta: BalancedError(),
    "f": lambda k, beta: FBeta(beta=beta),
    "jaccard": lambda k, beta: Jaccard(),
    "g_mean": lambda k, beta: GMean(),
    "costs": lambda k, beta: CountLoss(costs),
    "precision_at_k": lambda k, beta: PrecisionAtK(k=k),
    "recall_at_k": lambda k, beta: RecallAtK(k=k),
    "precision_at_least_k": lambda k, beta: PrecisionAtK(k=k, rule="at_least"),
    "recall_at_most_k": lambda k, beta: RecallAtK(k=k, rule="at_most"),
    "break_even": lambda k, beta: BreakEven(),
}
each_loss = pytest.mark.parametrize("name", LOSSES)


def problem_of(loss, balance=0.0):
    problem = loss.build(SignVector(), 0)
    problem.balance = balance
    return problem


def block(y):
    return IndicatorBlocks(np.asarray(y, dtype=np.uint8), np.array([0, len(y)], dtype=np.intp))


def draw(random, m, trial):
    """Scores of a batch with labels of all shares, ties, zeros and right ones."""
    y = (random.random(m) < random.choice([0.0, 0.2, 0.5, 0.8, 1.0], p=[0.05, 0.35, 0.3, 0.25, 0.05])).astype(int)
    t = random.standard_normal(m) * 10 ** random.uniform(-2.5, 0.5)
    if trial % 3 == 0:
        t = np.round(random.standard_normal(m) * 2) / 2
    if trial % 7 == 0:
        t = np.where(y == 1, abs(t), -abs(t))
    return t, y


def takes_balance(name):
    return not isinstance(LOSSES[name](1, 1.0), AtK)


def cases(name, n, sizes, seed=0):
    """Draw problems with their parameters, scores and labels."""
    random = np.random.default_rng(seed)
    for trial in range(n):
        m = int(random.integers(*sizes))
        t, y = draw(random, m, trial)
        k, beta = int(random.integers(1, m + 1)), float(random.choice([1.0, 0.5, 2.0]))
        balance = float(random.choice([0.0, 0.5, 1.0])) if takes_balance(name) else 0.0
        how = {"k": k, "beta2": beta**2, "balance": balance}
        yield problem_of(LOSSES[name](k, beta), balance), t, y, how


@each_loss
def test_competitors_among_all_labelings(name):
    """Section 3 of the theory: all 2^m of them, with ties, no positive row or no other, and k = m."""
    for problem, t, y, how in cases(name, 400, (1, 9)):
        V = np.array(list(itertools.product([0, 1], repeat=len(y))))
        a, b = (V & y).sum(axis=1), (V & (1 - y)).sum(axis=1)
        delta, allowed = losses_of(name, y.sum(), (1 - y).sum(), how["k"], how["beta2"])
        with np.errstate(all="ignore"):
            cost, inside = delta(a.astype(float), b.astype(float)), allowed(a, b)
        cost, V = cost[inside], V[inside]
        s = np.where(y == 1, *class_weights(y, how["balance"]))
        score, least = (2 * V - 1) @ (s * t), cost.min()
        free = cost <= least + 1e-12 if not takes_balance(name) else (y == V).all(axis=1)
        phi = (cost + score).max() - least - score[free].max()
        loss, unavoidable, competitor_loss, gap, change = competitor_of(problem, block(y), 0, t[:, None], True)
        slack = 1e-11 * (1 + np.abs(t).sum())
        assert abs(competitor_loss + gap - phi) <= slack
        assert abs(change @ t - gap) <= slack
        assert abs(unavoidable - least) <= 1e-12
        plain = (2 * V - 1) @ t
        tops = cost[plain >= plain.max() - 1e-12] - least
        assert abs(loss - tops.max()) <= 1e-12
        assert 0 <= loss <= competitor_loss + gap + slack


@each_loss
def test_competitors_among_all_counts(name):
    """At 200 rows the fast search finds what the double loop finds."""
    for problem, t, y, how in cases(name, 25, (150, 201), seed=1):
        cost, score, inside, least = by_counts(name, t, y, **how)
        phi = (cost + score)[inside].max()
        loss, unavoidable, competitor_loss, gap, _ = competitor_of(problem, block(y), 0, t[:, None], True)
        assert abs(competitor_loss + gap - phi) <= 1e-12 * (1 + np.abs(t).sum())
        assert abs(unavoidable - least) <= 1e-12
        assert loss <= phi + 1e-9


@each_loss
def test_gradient_by_finite_differences(name):
    for problem, t, y, _ in cases(name, 40, (2, 12), seed=2):
        t = t + np.random.default_rng(len(t)).standard_normal(len(t)) * 1e-3  # without ties

        def phi(t, problem=problem, y=y):
            return sum(competitor_of(problem, block(y), 0, t[:, None], True)[2:4])

        change = competitor_of(problem, block(y), 0, t[:, None], True)[4]
        found = [(phi(t + e) - phi(t - e)) / 2e-7 for e in 1e-7 * np.eye(len(t))]
        np.testing.assert_allclose(change, found, atol=1e-5)


@each_loss
def test_predictions_are_the_best_labelings(name):
    for problem, t, y, how in cases(name, 60, (1, 9), seed=3):
        if name == "break_even":
            problem.share = how["k"] / len(y)
        predicted = problem.predict_batches(t, np.array([0, len(t)], dtype=np.intp))
        V = np.array(list(itertools.product([0, 1], repeat=len(y))))
        size, k = V.sum(axis=1), how["k"]
        exact = size == k
        rule = {"precision_at_least_k": size >= k, "recall_at_most_k": size <= k}
        rule |= dict.fromkeys(["precision_at_k", "recall_at_k", "break_even"], exact)
        allowed = rule.get(name, np.ones(len(V), bool))
        assert allowed[int(predicted @ (1 << np.arange(len(y))[::-1]))]
        assert (2.0 * predicted - 1) @ t >= ((2 * V[allowed] - 1) @ t).max() - 1e-12


def test_a_share_of_the_batch_is_rounded_and_at_least_one_row():
    start = np.array([0, 4, 24, 124], dtype=np.intp)
    t = np.random.default_rng(0).standard_normal(124)
    predicted = problem_of(PrecisionAtK(k=0.1)).predict_batches(t, start)
    assert np.add.reduceat(predicted, start[:-1]).tolist() == [1, 2, 10]


def test_balanced_error_with_balance_1_is_the_class_weighted_hinge():
    random = np.random.default_rng(0)
    for _ in range(50):
        m = int(random.integers(2, 60))
        y, t = (random.random(m) < 0.3).astype(int), random.standard_normal(m)
        y[:2] = 0, 1
        problem = problem_of(BalancedError(), 1.0)
        P, N, margins = y.sum(), (1 - y).sum(), np.where(y == 1, t, -t)
        weights = np.where(y == 1, 1 / (2 * P), 1 / (2 * N))
        unit = 2 * np.sqrt(m)  # a flip of a row in class c moves the score by 2 s_c t = (sqrt(m) / P_c) t
        phi = sum(competitor_of(problem, block(y), 0, t[:, None], True)[2:4])
        assert abs(phi - (weights * np.maximum(0, 1 - unit * margins)).sum()) <= 1e-12


@pytest.mark.parametrize("alias", [kind.alias for kind in kinds(SubsetLoss)])
def test_a_batch_is_a_row_of_labels_transposed(alias):
    """Groups of m rows have the competitors of sets of m labels, at the same scores."""
    kind = next(kind for kind in kinds(SubsetLoss) if kind.alias == alias)
    random, m = np.random.default_rng(0), 7
    of_labels, of_rows = kind().build(SignVector(), m), kind().build(SignVector(), 0)
    for trial in range(60):
        t, y = draw(random, m, trial)
        labels = competitor_of(of_labels, Indicators(y[None].astype(np.uint8)), 0, t[None], True)
        rows = competitor_of(of_rows, block(y), 0, t[:, None], True)
        assert labels[:4] == rows[:4]
        np.testing.assert_array_equal(labels[4], rows[4])


def test_every_loss_of_sets_takes_batches():
    assert all(can_build(kind, lambda part: part.build(SignVector(), 0)) for kind in kinds(SubsetLoss))


@each_loss
def test_problems_of_batches_go_on_from_a_pickle(name):
    problem = problem_of(LOSSES[name](2, 2.0), 0.5 if takes_balance(name) else 0.0)
    t, y = draw(np.random.default_rng(5), 9, 1)
    y[:3] = 1, 0, 1
    for twin in (pickle.loads(pickle.dumps(problem)), copy.copy(problem)):
        assert twin.balance == problem.balance
        found, expected = (competitor_of(one, block(y), 0, t[:, None], True) for one in (twin, problem))
        assert found[:4] == expected[:4]
        np.testing.assert_array_equal(found[4], expected[4])


def test_blocks_are_checked():
    y = np.zeros(4, dtype=np.uint8)
    for start in ([0, 2], [1, 4], [0, 2, 2, 4], []):
        with pytest.raises(ValueError, match="start must rise from 0 to 4"):
            IndicatorBlocks(y, np.array(start, dtype=np.intp))
    with pytest.raises(ValueError, match=r"PrecisionAtK\(k=3\) predicts 3 rows of each group or batch; number 1 has 2"):
        problem_of(PrecisionAtK(k=3)).prepare(IndicatorBlocks(np.zeros(5, np.uint8), np.array([0, 3, 5], dtype=np.intp)))
    with pytest.raises(ValueError, match="start must rise"):
        problem_of(Hamming()).predict_batches(np.zeros(3), np.array([0, 4], dtype=np.intp))


def test_a_function_of_counts_is_not_tabulated_for_very_long_batches():
    y = np.arange(20_000) % 2
    with pytest.raises(ValueError, match="Shorter batches, or another loss, need less"):
        competitor_of(problem_of(CountLoss(costs)), block(y), 0, np.zeros((len(y), 1)), True)
