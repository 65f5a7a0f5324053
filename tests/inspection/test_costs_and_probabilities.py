"""Pictures of costs and of probabilities: what is drawn is what loops over rows and thresholds find."""

import numpy as np
import pytest
from display_cases import check_legible, labels_of
from numpy.testing import assert_allclose
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_digits, make_classification, make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronMultilabelClassifier
from sklearn_predtron.inspection import CostDisplay, ReliabilityDisplay

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def no_figures_stay():
    yield
    plt.close("all")


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


@pytest.mark.parametrize("weighted", [False, True])
def test_reliability_of_two_classes_is_scikit_learns(weighted):
    random = np.random.default_rng(0)
    p = random.random(1000)
    y = random.random(1000) < p
    weight = np.where(np.arange(1000) % 5 == 0, 0.0, 3.0) if weighted else None
    there = weight > 0 if weighted else np.ones(1000, bool)
    display = ReliabilityDisplay.from_predictions(y, p, sample_weight=weight)
    observed, predicted = calibration_curve(y[there], p[there], n_bins=10, strategy="quantile")
    assert_allclose(display.predicted, predicted, atol=0.003)  # whose edges are between rows
    assert_allclose(display.observed, observed, atol=0.03)
    assert ((display.interval[0] < display.observed) & (display.observed < display.interval[1])).all()
    check_legible(display, "mean probability", "share of what was so")


def test_intervals_hold_the_truth():
    """Wilson's, in nineteen of twenty cases."""
    random, inside = np.random.default_rng(0), []
    for _ in range(100):
        p = np.repeat(np.array([0.03, 0.3, 0.8]), 100)
        display = ReliabilityDisplay.from_predictions(random.random(300) < p, p, n_bins=3)
        assert_allclose(display.predicted, [0.03, 0.3, 0.8])
        inside.append((display.interval[0] <= display.predicted) & (display.predicted <= display.interval[1]))
        plt.close("all")
    assert 0.9 < np.mean(inside) < 0.99


def test_reliability_of_classes_and_of_sets():
    X, y = load_digits(return_X_y=True)
    model = PredtronClassifier(random_state=0).fit(X[:900], y[:900])
    of_model = ReliabilityDisplay.from_estimator(model, X[900:], y[900:], n_bins=7)
    p, true = model.predict_proba(X[900:]).ravel(), (y[900:, None] == np.arange(10)).ravel()
    order = np.argsort(p, kind="stable")
    parts = np.array_split(order, 7)
    assert_allclose(of_model.predicted, [p[part].mean() for part in parts], atol=0.002)
    assert_allclose(of_model.observed, [true[part].mean() for part in parts], atol=0.01)
    Z, labels = make_multilabel_classification(300, random_state=0)
    sets = PredtronMultilabelClassifier(random_state=0).fit(Z, labels)
    display = ReliabilityDisplay.from_estimator(sets, Z, labels)
    assert_allclose(display.predicted.mean(), sets.predict_proba(Z).mean(), atol=0.01)
    assert labels_of(display) == ["as predicted", "PredtronMultilabelClassifier"]


REFUSED = [
    (lambda: CostDisplay.from_predictions([0, 1], [0.1]), r"y_prob has shape \(1,\)"),
    (lambda: CostDisplay.from_predictions([0, 2], [0.1, 0.2]), "y_true=.* must hold 0 and 1 alone"),
    (lambda: CostDisplay.from_predictions([0, 1], [0.1, 1.2]), "y_prob=.* must hold probabilities"),
    (lambda: CostDisplay.from_predictions([1, 1], [0.1, 0.2]), "y_true must hold rows of both classes"),
    (lambda: CostDisplay.from_predictions([0, 1], [0.1, 0.2], costs=(1, -1)), "costs=.* must be two numbers"),
    (lambda: CostDisplay.from_predictions([0, 1], [0.1, 0.2], costs=3), "costs=3 must be two numbers"),
    (lambda: CostDisplay.from_predictions([0, 1], [0.1, 0.2], against="x"), "against='x' is not known; accepted are 'threshold'"),
    (lambda: CostDisplay.from_estimator(StandardScaler(), [[0.0]], [0]), "has no probabilities of two classes"),
    (lambda: ReliabilityDisplay.from_predictions([0, 1], [0.1, 1.2]), "y_prob=.* must hold probabilities"),
    (lambda: ReliabilityDisplay.from_predictions([0, 3], [0.1, 0.2]), "y_true=.* must hold 0 and 1 alone"),
    (lambda: ReliabilityDisplay.from_predictions([[0, 1]], [[0.1]]), r"y_true has shape \(1, 2\) and y_prob \(1, 1\)"),
    (lambda: ReliabilityDisplay.from_predictions([0, 1], [0.1, 0.2], n_bins=0), "n_bins=0 must be an int of at least 1"),
    (lambda: ReliabilityDisplay.from_estimator(StandardScaler(), [[0.0]], [0]), "has no predict_proba"),
]


@pytest.mark.parametrize(("draw", "message"), REFUSED)
def test_bad_input_is_refused_before_anything_is_drawn(draw, message):
    before = plt.get_fignums()
    with pytest.raises(ValueError, match=message):
        draw()
    assert plt.get_fignums() == before


def test_rows_of_no_weight_and_labels_that_are_no_indicators_are_refused():
    X, y = make_classification(100, random_state=0)
    model = PredtronBinaryClassifier(random_state=0).fit(X, y)
    for draw in (ReliabilityDisplay, CostDisplay):
        with pytest.raises(ValueError, match="sample_weight is zero for every row"):
            draw.from_estimator(model, X, y, sample_weight=np.zeros(100))
    with pytest.raises(ValueError, match=r"y has shape \(100, 2\), and the probabilities are of one class for each row"):
        ReliabilityDisplay.from_estimator(model, X, np.column_stack([y, y]))
    both = ReliabilityDisplay.from_estimator(model, X, np.column_stack([1 - y, y]))
    assert both.observed.shape == both.predicted.shape


def test_large_costs_do_not_overflow():
    y, p, _ = drawn()
    assert CostDisplay.from_predictions(y, p, costs=(1e308, 1e308)).threshold == 0.5
