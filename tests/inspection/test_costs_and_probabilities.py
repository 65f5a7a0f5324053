"""Pictures of costs and of probabilities: what is drawn is what loops over rows and thresholds find."""

import numpy as np
import pytest
from display_cases import check_legible, labels_of
from numpy.testing import assert_allclose
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronBinaryClassifier
from sklearn_predtron.inspection import CostDisplay

plt = pytest.importorskip("matplotlib.pyplot")


def drawn(n=200, seed=0):
    random = np.random.default_rng(seed)
    p = random.random(n).round(2)  # many are equal
    return (random.random(n) < p**2).astype(int), p, random.random(n)


@pytest.mark.parametrize("weighted", [False, True])
def test_cost_by_threshold(weighted):
    y, p, weight = drawn()
    weight = weight if weighted else None
    display = CostDisplay.from_predictions(y, p, costs=(2, 7), sample_weight=weight, name="drawn")
    for threshold, cost in zip(display.at, display.cost, strict=True):
        yes = p >= threshold
        assert_allclose(cost, np.average(np.where(yes, 2 * (y == 0), 7 * (y == 1)), weights=weight), atol=1e-12)
    assert display.threshold == 2 / 9
    assert_allclose(display.constant[0], min(np.average(2 * (y == 0), weights=weight), np.average(7 * y, weights=weight)))
    assert_allclose([display.cost[0], display.cost[-1]], [np.average(k, weights=weight) for k in (2 * (y == 0), 7 * y)])
    assert display.best[0] == display.cost.min() == display.best_line_.get_ydata()[0]
    assert_allclose(display.line_.get_ydata(), display.cost)
    assert labels_of(display)[0] == "drawn"
    check_legible(display, "threshold of the probability", "mean cost of a row")


def test_cost_curve_is_that_of_drummond_and_holte():
    y, p, _ = drawn()
    display = CostDisplay.from_predictions(y, p, against="ratio")
    for i in range(1, 200, 23):
        pc = display.at[i]
        false, missed = (1 - pc) / (y == 0).mean(), pc / y.mean()  # costs of which a row loses pc by misses
        yes = p >= false / (false + missed)
        assert_allclose(display.cost[i], np.mean(np.where(yes, false * (y == 0), missed * y)), atol=1e-12)
        ways = [np.mean(np.where(p >= t, false * (y == 0), missed * y)) for t in np.append(np.unique(p), 2)]
        assert_allclose(display.best[i], min(ways))
    assert_allclose(display.constant, np.minimum(display.at, 1 - display.at))
    assert (display.best <= display.cost + 1e-12).all()
    check_legible(display, "share of a miss in the costs, PC(+)", "normalised expected cost")


def test_costs_of_estimators_are_those_of_their_loss():
    X, y = make_classification(2000, class_sep=0.5, random_state=0)
    model = PredtronBinaryClassifier(loss={(1, 0): 20}, random_state=0).fit(X[:1000], y[:1000])
    display = CostDisplay.from_estimator(model, X[1000:], y[1000:])
    assert_allclose(display.threshold, 1 / 21)
    paid = model.sample_loss(X[1000:], y[1000:]).mean()
    assert_allclose(display.cost[np.searchsorted(display.at, display.threshold)], paid)
    peer = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:1000], y[:1000])
    beside = CostDisplay.from_estimator(peer, X[1000:], y[1000:], costs=(1, 20), ax=display.ax_)
    assert beside.ax_ is display.ax_
    assert "LogisticRegression" in labels_of(beside)


REFUSED = [
    (lambda: CostDisplay.from_predictions([0, 1], [0.1]), r"y_prob has shape \(1,\)"),
    (lambda: CostDisplay.from_predictions([0, 2], [0.1, 0.2]), "y_true=.* must hold 0 and 1 alone"),
    (lambda: CostDisplay.from_predictions([0, 1], [0.1, 1.2]), "y_prob=.* must hold probabilities"),
    (lambda: CostDisplay.from_predictions([1, 1], [0.1, 0.2]), "y_true must hold rows of both classes"),
    (lambda: CostDisplay.from_predictions([0, 1], [0.1, 0.2], costs=(1, -1)), "costs=.* must be two numbers"),
    (lambda: CostDisplay.from_predictions([0, 1], [0.1, 0.2], costs=3), "costs=3 must be two numbers"),
    (lambda: CostDisplay.from_predictions([0, 1], [0.1, 0.2], against="x"), "against='x' is not known; accepted are 'threshold'"),
    (lambda: CostDisplay.from_estimator(StandardScaler(), [[0.0]], [0]), "has no probabilities of two classes"),
]


@pytest.mark.parametrize(("draw", "message"), REFUSED)
def test_bad_input_is_refused_before_anything_is_drawn(draw, message):
    before = plt.get_fignums()
    with pytest.raises(ValueError, match=message):
        draw()
    assert plt.get_fignums() == before


def test_rows_of_no_weight_are_refused():
    X, y = make_classification(100, random_state=0)
    model = PredtronBinaryClassifier(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        CostDisplay.from_estimator(model, X, y, sample_weight=np.zeros(100))


def test_large_costs_do_not_overflow():
    y, p, _ = drawn()
    assert CostDisplay.from_predictions(y, p, costs=(1e308, 1e308)).threshold == 0.5
