"""Loss-augmented inference for rankings, against the assignment solver and all permutations."""

import signal
import threading
import time
from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from sklearn_predtron import PredtronRanker
from sklearn_predtron.losses import NDCG
from sklearn_predtron.problems._problem_queries import competitor_of
from sklearn_predtron.problems._relevance import Relevances
from sklearn_predtron.problems.inference._ranking_inference import Inference
from sklearn_predtron.representations import LinearRank

SHAPES = {
    "linear": lambda j: -j,
    "power 1.1": lambda j: -(j**1.1),
    "power 2": lambda j: -(j**2),
    "reciprocal": lambda j: 1 / j,
    "log": lambda j: 1 / np.log2(1 + j),
    "root": lambda j: -np.sqrt(j),
    "exponential": lambda j: -(1.05**j),
}


def curves(random, m):
    """A representation and the discount of a loss, cut off or not; or any decreasing ones, with steps."""
    j = np.arange(1.0, m + 1)
    if random.random() < 0.25:
        steps = 10 ** random.uniform(-3, 2, m) * (random.random(m) < random.choice([0.1, 0.5, 1.0]))
        return -np.cumsum(10 ** random.uniform(-2, 2, m)), np.cumsum(steps)[::-1].copy()
    shape = SHAPES[random.choice(list(SHAPES))]
    cutoff = m if random.random() < 0.5 else random.integers(1, m + 1)
    return shape(j), np.where(j <= cutoff, 1 / np.log2(1 + j), 0.0)


def grades_of(random, m):
    kind = random.choice(["2", "3", "5", "real", "coarse"])
    if kind == "real":
        return random.random(m) * 4
    return np.round(random.random(m) * 4, 1) if kind == "coarse" else random.integers(0, int(kind), m).astype(float)


def scores_of(random, y):
    """Scores of good models, bad ones and of none, with ties."""
    m, kind = len(y), random.choice(["noise", "ties", "zeros", "good", "bad"], p=[0.5, 0.25, 0.05, 0.15, 0.05])
    t = {
        "noise": random.standard_normal(m),
        "ties": np.round(random.standard_normal(m) * 2),
        "zeros": np.zeros(m),
        "good": y + 0.3 * random.standard_normal(m),
        "bad": -y,
    }[kind]
    return t * 10 ** random.uniform(-3, 3)


def problem(random, m):
    """Scores over the representation's norm, gains over the ideal, and the curves."""
    f, discount = curves(random, m)
    y = grades_of(random, m)
    gain = 2.0**y - 1
    ideal = np.sort(gain)[::-1] @ discount
    return scores_of(random, y) / np.linalg.norm(f), gain / ideal if ideal > 0 else 0 * gain, f, discount


def value(s, a, f, discount, position):
    return (s * f[position] - a * discount[position]).sum()


def size_of(s, a, f, discount):
    """What rounding errors are relative to."""
    return np.abs(s).max() * np.abs(f).max() + np.abs(a).max() * np.abs(discount).max() + 1e-300


def assert_best(position, best, parts):
    assert np.array_equal(np.sort(position), np.arange(len(position)))
    assert value(*parts, position) >= best - 1e-12 * size_of(*parts)


@pytest.mark.parametrize("seed", range(20))
def test_as_good_as_the_assignment_solver(seed):
    """Of every shape of representation and discount, for grades and real relevances, with ties and cut-offs."""
    random, inference = np.random.default_rng(seed), Inference()
    for _ in range(250):
        parts = problem(random, int(random.integers(1, 61)))
        s, a, f, discount = parts
        solved = linear_sum_assignment(np.outer(s, f) - np.outer(a, discount), maximize=True)[1]
        assert_best(inference.positions(*parts), value(*parts, solved), parts)


@pytest.mark.parametrize("m", [200, 500])
def test_long_lists(m):
    random, inference = np.random.default_rng(m), Inference()
    for _ in range(6):
        parts = problem(random, m)
        s, a, f, discount = parts
        solved = linear_sum_assignment(np.outer(s, f) - np.outer(a, discount), maximize=True)[1]
        assert_best(inference.positions(*parts), value(*parts, solved), parts)


@pytest.mark.parametrize("m", range(1, 8))
def test_all_permutations(m):
    random, inference = np.random.default_rng(m), Inference()
    orders = np.array(list(permutations(range(m))))
    for _ in range(100):
        parts = problem(random, m)
        s, a, f, discount = parts
        best = ((s * f[orders]) - a * discount[orders]).sum(axis=1).max()
        assert_best(inference.positions(*parts), best, parts)
        assert_best(inference.positions(*parts, dense=True), best, parts)


def test_safety_net():
    random, inference = np.random.default_rng(0), Inference()
    for _ in range(200):
        parts = problem(random, int(random.integers(1, 40)))
        best = value(*parts, inference.positions(*parts))
        assert abs(value(*parts, inference.positions(*parts, dense=True)) - best) <= 1e-12 * size_of(*parts)


def long_problem(m, grades, seed=0):
    """A list whose search takes long: many documents of many relevances, ranked with noise, by f = -j."""
    random = np.random.default_rng(seed)
    s, j = random.standard_normal(m), np.arange(1.0, m + 1)
    y = np.argsort(np.argsort(s + 0.7 * random.standard_normal(m))) * grades // m
    return s, y * (4.0 / grades), -j, 1 / np.log2(1 + j)


def test_a_search_that_is_cut_short_is_bounded_and_as_good_as_the_prediction():
    t, y, _, _ = long_problem(2500, 2500)
    problem, labels = NDCG().build(LinearRank(), 0), Relevances(y, np.array([0, len(y)], dtype=np.intp))
    for scale in (0.03, 0.3, 3.0):
        began = time.process_time()
        lost, _, competitor_loss, gap, change = competitor_of(problem, labels, 0, scale * t, True)
        assert time.process_time() - began < 2  # a tenth of a second; unbounded it is minutes
        # The hinge is an upper bound of the loss suffered, which is all that the bounds ask for.
        assert competitor_loss + gap >= lost > 0
        np.testing.assert_allclose(change @ (scale * t), gap, rtol=1e-6)


def test_the_best_so_far_is_near_the_best():
    """By the bound of F1: before each gap stand the items that earn most there."""
    t, y, f, discount = long_problem(2500, 2500)
    inference, gains = Inference(), 2.0**y - 1
    s, a = 0.3 * t / np.linalg.norm(f), gains / (np.sort(gains)[::-1] @ discount)
    position = inference.positions(s, a, f, discount)
    assert inference.was_cut_short and np.array_equal(np.sort(position), np.arange(len(t)))
    bound = s.sum() * f[-1] - a.sum() * discount[-1]
    for x, (df, dD) in enumerate(zip(-np.diff(f), -np.diff(discount), strict=True)):
        bound += np.partition(df * s - dD * a, len(s) - x - 1)[len(s) - x - 1 :].sum()
    assert bound - 0.02 < value(s, a, f, discount, position) <= bound + 1e-9
    assert not Inference().was_cut_short and np.array_equal(Inference().positions(s, a, f, discount), position)


def test_long_searches_are_interrupted():
    """Within about a tenth of a second, between two queries of one call."""
    random, m, n = np.random.default_rng(0), 2000, 600
    X = random.standard_normal((m * n, 2))
    y = (np.argsort(np.argsort((X[:, 0] + 0.5 * random.standard_normal(m * n)).reshape(n, m), axis=1), axis=1) * 25 // m).ravel()
    model = PredtronRanker(representation="linear")
    alarm = threading.Timer(0.4, signal.raise_signal, [signal.SIGINT])
    with pytest.raises(KeyboardInterrupt):
        alarm.start()
        model.partial_fit(X, y, qid=np.repeat(np.arange(n), m))
    assert not hasattr(model, "t_") or model.t_ < n


def average_precision(order, y):
    """AP of rankings, of which each row lists the items from the first to the last."""
    hits = y[order].cumsum(axis=1)
    return (hits * y[order] / np.arange(1, len(y) + 1)).sum(axis=1) / y.sum()


@pytest.mark.parametrize("m", range(2, 8))
@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_average_precision(m, weight):
    """sum_i f(pos_i) s_i - weight AP over all permutations."""
    random, inference = np.random.default_rng(m), Inference()
    orders = np.array(list(permutations(range(m))))
    positions = np.argsort(orders, axis=1)
    for _ in range(150):
        y = (random.random(m) < random.uniform(0.1, 0.9)).astype(np.uint8)
        y[random.integers(m)] = 1
        f, _ = curves(random, m)
        s = scores_of(random, y.astype(float)) / np.linalg.norm(f)
        best = ((s * f[positions]).sum(axis=1) - weight * average_precision(orders, y)).max()
        position = inference.positions_for_precision(s, y, f, weight)
        got = (s * f[position]).sum() - weight * average_precision(np.argsort(position)[None], y)[0]
        assert np.array_equal(np.sort(position), np.arange(m))
        assert got >= best - 1e-12 * (np.abs(s).max() * np.abs(f).max() + 1)


@pytest.mark.parametrize("m", [5, 100])
def test_no_relevant_item_or_only_such(m):
    """Without a choice the items are sorted by score, at ties in their order, in lists of any length."""
    inference, f = Inference(), -np.arange(1.0, m + 1)
    s = np.random.default_rng(m).integers(0, 4, m).astype(float)
    expected = np.argsort(np.argsort(-s, kind="stable"))
    for y in (np.zeros(m, dtype=np.uint8), np.ones(m, dtype=np.uint8)):
        np.testing.assert_array_equal(inference.positions_for_precision(s, y, f), expected)
    np.testing.assert_array_equal(inference.positions(s, np.ones(m), f, 1 / np.arange(1.0, m + 1)), expected)


def test_empty_list():
    nothing = np.empty(0)
    assert len(Inference().positions(nothing, nothing, nothing, nothing)) == 0
