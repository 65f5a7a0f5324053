"""Savings against a loop over rows and constant answers."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from sklearn_predtron.losses import CostMatrix
from sklearn_predtron.metrics import savings_score

LABELS = ["a", "b", "c"]
RANDOM = np.random.default_rng(0)
Y, PREDICTED = RANDOM.choice(LABELS, 50), RANDOM.choice(LABELS, 50)
COSTS = RANDOM.lognormal(size=(50, 3, 3)) * (1 - np.eye(3))
WEIGHT = RANDOM.uniform(size=50)


def by_loop(table, weight):
    def total(answers):
        return sum(
            w * table[n][LABELS.index(y)][LABELS.index(a)] for n, (w, y, a) in enumerate(zip(weight, Y, answers, strict=True))
        )

    return 1 - total(PREDICTED) / min(total([label] * 50) for label in LABELS)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["alike", "weighted"])
def test_savings_are_those_of_the_loop(weight):
    given = np.ones(50) if weight is None else weight
    pairs = {(LABELS[i], LABELS[j]): COSTS[:, i, j] for i, j in np.ndindex(3, 3)}
    for form in (COSTS, pairs, pd.DataFrame(pairs)):
        assert_allclose(savings_score(Y, PREDICTED, form, sample_weight=weight), by_loop(COSTS, given))
    matrix = np.array([[0, 1, 5.0], [2, 0, 1], [1, 0.5, 0]])
    for form in (matrix, CostMatrix(matrix), {(LABELS[i], LABELS[j]): matrix[i, j] for i, j in np.ndindex(3, 3)}):
        assert_allclose(savings_score(Y, PREDICTED, form, sample_weight=weight), by_loop([matrix] * 50, given))
    assert_allclose(savings_score(Y, PREDICTED, "zero_one", sample_weight=weight), by_loop([1 - np.eye(3)] * 50, given))


def test_large_costs_and_weights_do_not_overflow():
    large = {("a", "b"): 1e100, ("b", "a"): 1e100}
    assert np.isfinite(savings_score(Y, PREDICTED, large, sample_weight=np.full(50, 1e300)))


def test_the_best_constant_answer_saves_nothing_and_the_truth_all():
    totals = [COSTS[np.arange(50), [LABELS.index(y) for y in Y], j].sum() for j in range(3)]
    assert_allclose(savings_score(Y, [LABELS[int(np.argmin(totals))]] * 50, COSTS), 0, atol=1e-12)
    assert savings_score(Y, Y, COSTS) == 1
    assert savings_score(["a"] * 3, ["a"] * 3, "zero_one", labels=["a", "b"]) == 1
    assert savings_score(["a"] * 3, ["b"] * 3, "zero_one") == -np.inf


def test_answers_that_costs_say_nothing_of():
    """A rejection is no answer that costs 1: what it costs is to be said."""
    costs = {("fraud", "ok"): 80.0, ("ok", "fraud"): 5.0}
    with pytest.raises(
        ValueError, match=r"^y_pred holds 'ask', which is no label of y_true and of no pair of costs; if it is a rej"
    ):
        savings_score(["ok", "fraud", "ok"], ["ok", "ask", "ok"], costs)
    asked = {**costs, ("fraud", "ask"): 2.0, ("ok", "ask"): 2.0}
    found = savings_score(["ok", "fraud", "ok"], ["ok", "ask", "ok"], asked, reject_label="ask")
    assert found == pytest.approx(1 - 2 / 6)  # to ask always
    assert savings_score(["ok", "ok"], ["ok", "fraud"], costs) == -np.inf  # a label of the costs
