"""Loss-augmented inference for rankings, against the assignment solver and all permutations."""

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from sklearn_predtron.problems.inference._loss_augmented import Inference

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
