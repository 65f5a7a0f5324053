"""The classwise calibration error against a loop over classes and bins, and against scikit-learn's curve."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer

from sklearn_predtron.metrics import classwise_calibration_error

RANDOM = np.random.default_rng(0)
N, K = 80, 3
P = RANDOM.dirichlet(np.ones(K), N)
Y = RANDOM.choice(["a", "b", "c"], N)
WEIGHT = RANDOM.integers(0, 4, N)


def by_loop(events, p, n_bins, weight):
    total = 0
    for j in range(p.shape[1]):
        for m in range(n_bins):
            low, high = m / n_bins, (m + 1) / n_bins
            rows = [i for i in range(len(p)) if (low < p[i, j] or m == 0) and p[i, j] <= high and weight[i]]
            if rows:
                w = weight[rows]
                frequency, mean = np.average(events[rows, j], weights=w), np.average(p[rows, j], weights=w)
                total += w.sum() / weight.sum() * abs(frequency - mean)
    return total / p.shape[1]


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["alike", "weighted"])
@pytest.mark.parametrize("n_bins", [1, 4, 15])
def test_the_error_is_that_of_the_loop(n_bins, weight):
    events = np.array([[label == name for name in "cab"] for label in Y], dtype=float)
    how = {"n_bins": n_bins, "sample_weight": weight}
    found = classwise_calibration_error(Y, P, labels=["c", "a", "b"], **how)
    assert found == pytest.approx(by_loop(events, P, n_bins, np.ones(N) if weight is None else weight))
    assert classwise_calibration_error(events, P, **how) == found
    assert classwise_calibration_error(Y, P[:, [1, 2, 0]], **how) == pytest.approx(found)


def test_edges_are_those_of_scikit_learn():
    """Of probabilities on the edges of bins, two in each of them."""
    p = np.repeat(np.linspace(0.25, 1, 4), 2)
    y = np.array([0, 0, 0, 1, 1, 1, 0, 1])
    frequency, mean = calibration_curve(y, p, n_bins=4)
    assert classwise_calibration_error(y[:, None], p[:, None], n_bins=4) == pytest.approx(np.abs(frequency - mean).mean())


def test_two_classes_by_the_second():
    p = np.array([0.11, 0.42, 0.73, 0.94])
    y = [0, 1, 1, 0]
    assert classwise_calibration_error(y, p) == pytest.approx(classwise_calibration_error(y, np.column_stack([1 - p, p])))


def test_frequencies_as_predicted_have_no_error():
    p = np.tile([0.25, 0.75], (8, 1))
    assert classwise_calibration_error([0, 0, 1, 1, 1, 1, 1, 1], p) == pytest.approx(0, abs=1e-15)
    assert classwise_calibration_error(np.ones(4), [[1.0, 0.0]] * 4, labels=[0, 1]) == 1


def test_as_a_scorer():
    X = RANDOM.standard_normal((N, 2))
    model = LogisticRegression().fit(X, Y)
    scorer = make_scorer(classwise_calibration_error, response_method="predict_proba", greater_is_better=False)
    assert scorer(model, X, Y) == -classwise_calibration_error(Y, model.predict_proba(X))
