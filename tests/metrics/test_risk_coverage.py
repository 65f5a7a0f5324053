"""The area under the risk-coverage curve against a loop over thresholds."""

import numpy as np
import pytest

from sklearn_predtron.metrics import risk_coverage_auc

RANDOM = np.random.default_rng(0)
N = 60
Y, PREDICTED = RANDOM.choice(list("abc"), N), RANDOM.choice(list("abc"), N)
CONFIDENCE = RANDOM.integers(0, 20, N) / 20  # with ties
WEIGHT = RANDOM.integers(0, 4, N)


def by_loop(losses, confidence, weight):
    risks = []
    for threshold in confidence:
        accepted = [i for i in range(len(losses)) if confidence[i] >= threshold]
        total = sum(weight[i] for i in accepted)
        risks.append(sum(weight[i] * losses[i] for i in accepted) / total if total else 0)
    return sum(w * risk for w, risk in zip(weight, risks, strict=True)) / sum(weight)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["alike", "weighted"])
@pytest.mark.parametrize("loss", [None, lambda y, z: np.abs(y.view(np.int32) - z.view(np.int32))], ids=["0-1", "own"])
def test_the_area_is_that_of_the_loop(loss, weight):
    losses = (Y != PREDICTED) if loss is None else loss(Y, PREDICTED)
    given = np.ones(N) if weight is None else weight
    found = risk_coverage_auc(Y, PREDICTED, CONFIDENCE, loss=loss, sample_weight=weight)
    assert found == pytest.approx(by_loop(losses, CONFIDENCE, given))


def test_order_scale_and_repeats_change_nothing():
    found = risk_coverage_auc(Y, PREDICTED, CONFIDENCE, sample_weight=WEIGHT)
    order = RANDOM.permutation(N)
    shuffled = risk_coverage_auc(Y[order], PREDICTED[order], np.exp(CONFIDENCE)[order], sample_weight=7 * WEIGHT[order])
    repeated = risk_coverage_auc(*(np.repeat(values, WEIGHT) for values in (Y, PREDICTED, CONFIDENCE)))
    assert [shuffled, repeated] == pytest.approx([found, found])


def test_the_best_and_the_worst_order_of_one_mistake():
    """The mistake comes last, with risk 1 / n then, or first: then the risks are 1, 1/2, ..., 1/n."""
    y, predicted = np.zeros(10), np.r_[np.zeros(9), 1]
    assert risk_coverage_auc(y, predicted, -np.arange(10)) == pytest.approx(0.1 / 10)
    assert risk_coverage_auc(y, predicted, np.arange(10)) == pytest.approx(np.mean(1 / np.arange(1, 11)))
    assert risk_coverage_auc(y, predicted, np.ones(10)) == pytest.approx(0.1)
