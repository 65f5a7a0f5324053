"""Pictures: what is drawn is what is computed otherwise, and bad input is refused before anything is drawn."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import Hours, make_data
from display_cases import check_legible, labels_of
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import (
    Predtron,
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
    PredtronSequenceTagger,
    inspection,
)
from sklearn_predtron.callbacks import LossHistory
from sklearn_predtron.datasets import make_ranking_queries
from sklearn_predtron.inspection import MarginDisplay, OnlineLossDisplay, RiskCoverageDisplay
from sklearn_predtron.losses import Reject
from sklearn_predtron.theory import loss_constants, theorem_of
from sklearn_predtron.updates import LossAugmented

plt = pytest.importorskip("matplotlib.pyplot")


# -------------------------------------------------------------------------------------------------------------------- loss


def separable(n=300, p=4, gap=0.5, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, p))
    X = X[np.abs(X[:, 0]) > gap]
    return X, X[:, 0] > 0, 2 * gap, np.linalg.norm(X, axis=1).max()


def recorded(**parameters):
    X, y, margin, radius = separable()
    model = PredtronBinaryClassifier(norm="l2", fit_intercept=False, shuffle=False, max_iter=1, cv=0, **parameters)
    return model.set_callbacks(LossHistory()).fit(X, y), X, y, margin, radius


def test_loss_of_an_estimator():
    model, X, y, _, _ = recorded()
    display = OnlineLossDisplay.from_estimator(model)
    assert display.line_.get_xdata().tolist() == list(range(len(X) + 1))
    single = PredtronBinaryClassifier(norm="l2", fit_intercept=False, cv=0)
    for i in range(len(X)):
        single.partial_fit(X[i : i + 1], y[i : i + 1], classes=[False, True])
        assert display.line_.get_ydata()[i + 1] == single.cumulative_loss_
    assert display.line_.get_ydata()[0] == 0
    assert display.bound_line_ is None and labels_of(display) == ["PredtronBinaryClassifier"]
    check_legible(display, "rounds", "cumulative loss (sum of L)")
    named = OnlineLossDisplay.from_estimator(make_pipeline(StandardScaler(), model), name="here", ax=display.ax_, color="k")
    assert named.ax_ is display.ax_ and named.line_.get_color() == "k" and labels_of(named)[1] == "here"


@pytest.mark.parametrize("update", ["adaptive", LossAugmented(eta="theory"), "loss_driven"], ids=str)
def test_bound_of_the_theorem(update):
    model, _, _, margin, radius = recorded(update=update)
    display = OnlineLossDisplay.from_estimator(model, margin=margin, radius=radius)
    assert set(display.bound_line_.get_ydata()) == {4 * radius**2 / margin**2}
    assert display.bound == model.loss_bound(margin, radius)
    assert labels_of(display)[1] == f"{theorem_of(model)}: {display.bound:.4g}"
    assert display.line_.get_ydata().max() <= display.bound <= display.ax_.get_ylim()[1]
    assert display.bound_line_.get_color() == display.line_.get_color()


def test_bound_of_a_ranker():
    X, y, margin, radius = separable()
    model = PredtronRanker(norm="l2", max_iter=1, cv=0).set_callbacks(LossHistory()).fit(X, y, qid=np.arange(len(X)) // 8)
    c_L, _ = loss_constants("ndcg", y=y, qid=np.arange(len(X)) // 8)
    display = OnlineLossDisplay.from_estimator(model, margin=margin, radius=radius, c_L=c_L)
    assert display.bound == model.loss_bound(margin, radius, c_L)
    with pytest.raises(ValueError, match="Pass c_L"):
        OnlineLossDisplay.from_estimator(model, margin=margin, radius=radius)


def test_bounds_that_are_refused():
    model, _, _, margin, radius = recorded()
    for given in ({"radius": 2}, {"c_L": 2}):
        with pytest.raises(ValueError, match=r"=2 .*are for the bound, which needs a margin too; got margin=None"):
            OnlineLossDisplay.from_estimator(model, **given)
    with pytest.raises(ValueError, match=r"margin=-1 must be positive"):
        OnlineLossDisplay.from_estimator(model, margin=-1, radius=radius)
    with pytest.raises(ValueError, match="No loss bound is proven"):
        OnlineLossDisplay.from_estimator(model.set_params(update="subgradient"), margin=margin, radius=radius)
    X, y = make_data()
    with pytest.raises(ValueError, match="loss of this PredtronClassifier was not recorded"):
        OnlineLossDisplay.from_estimator(PredtronClassifier(cv=0).fit(X, y))
    assert not plt.get_fignums()


def test_loss_of_predictions():
    y_true, y_pred = [0, 1, 2, 2, 1], [0, 2, 2, 0, 1]
    display = OnlineLossDisplay.from_predictions(y_true, y_pred)
    assert display.line_.get_xdata().tolist() == [0, 1, 2, 3, 4, 5]
    assert display.line_.get_ydata().tolist() == [0, 0, 1, 1, 2, 2]
    display = OnlineLossDisplay.from_predictions(
        y_true, y_pred, loss=lambda y, z: np.abs(y - z), bound=7.5, bound_label="Theorem 0", name="steps"
    )
    assert display.line_.get_ydata().tolist() == [0, 0, 1, 1, 3, 3]
    assert labels_of(display) == ["steps", "Theorem 0: 7.5"]
    assert labels_of(display.plot(name="again")) == ["again", "Theorem 0: 7.5"]
    sets = OnlineLossDisplay.from_predictions([[0, 1], [1, 1]], [[0, 1], [1, 0]], bound=3)
    assert sets.line_.get_ydata().tolist() == [0, 0, 1] and labels_of(sets) == ["bound: 3"]


def test_predictions_that_are_refused():
    for y_true, y_pred in (([], []), ([0, 1], [0])):
        said = rf"y_pred has shape \({len(y_pred)},\) and y_true \({len(y_true)},\); both must have a row for each round"
        with pytest.raises(ValueError, match=said):
            OnlineLossDisplay.from_predictions(y_true, y_pred)
    for display, more in [(OnlineLossDisplay, ()), (RiskCoverageDisplay, ([1.0, 2.0],))]:
        with pytest.raises(ValueError, match=r"loss has shape \(1,\); it must have one entry for each of the 2 rows"):
            display.from_predictions([0, 1], [0, 0], *more, loss=lambda y, z: [1.0])
        with pytest.raises(ValueError, match="Input loss contains NaN"):
            display.from_predictions([0, 1], [0, 0], *more, loss=lambda y, z: [1.0, np.nan])
    assert not plt.get_fignums()


@pytest.mark.parametrize("y_pred", [["0", "1"], np.array(["0", "1"], dtype=object)], ids=["text", "objects"])
def test_text_is_never_a_number(y_pred):
    for draw in (OnlineLossDisplay.from_predictions, RiskCoverageDisplay.from_predictions):
        with pytest.raises(ValueError, match="y_pred holds labels of another type than y_true; both must hold text, or neither"):
            draw([0, 1], y_pred, *([[0.5, 1.0]] if "Risk" in draw.__qualname__ else []))


def test_mean_of_the_rounds_so_far():
    model, X, _, margin, radius = recorded()
    display = OnlineLossDisplay.from_estimator(model, kind="mean", margin=margin, radius=radius)
    rounds, losses = LossHistory.curve(model)
    np.testing.assert_array_equal(display.line_.get_xdata(), rounds[1:])
    np.testing.assert_allclose(display.line_.get_ydata(), [losses[t] / t for t in rounds[1:]])
    assert display.line_.get_ydata()[-1] == pytest.approx(model.cumulative_loss_ / len(X))
    np.testing.assert_allclose(display.bound_line_.get_ydata(), [display.bound / t for t in rounds[1:]])
    check_legible(display, "rounds", "mean loss of the rounds so far")


def test_mean_of_the_last_rounds():
    y_true, y_pred = [0, 1, 2, 2, 1, 0], [0, 2, 2, 0, 1, 1]  # losses 0, 1, 0, 1, 0, 1
    display = OnlineLossDisplay.from_predictions(y_true, y_pred, kind="rolling", window=3, bound=5)
    assert display.line_.get_xdata().tolist() == [3, 4, 5, 6]
    np.testing.assert_allclose(display.line_.get_ydata(), [1 / 3, 2 / 3, 1 / 3, 2 / 3])
    assert display.bound_line_ is None  # which says nothing of three rounds
    check_legible(display, "rounds", "mean loss of the last 3 rounds")
    thinned = OnlineLossDisplay(rounds=[0, 4, 8, 12], losses=[0, 4, 4, 6]).plot(kind="rolling", window=5)
    assert thinned.line_.get_xdata().tolist() == [8, 12]  # what lies five rounds back was dropped: eight are told exactly
    assert thinned.line_.get_ydata().tolist() == [4 / 8, 2 / 8]
    whole = display.plot(kind="rolling", window=6)
    assert whole.line_.get_xdata().tolist() == [6] and whole.line_.get_ydata().tolist() == [0.5]
    assert OnlineLossDisplay.from_predictions(y_true * 20, y_pred * 20, kind="rolling").ax_.get_ylabel().endswith("6 rounds")


def test_kinds_that_are_refused():
    display = OnlineLossDisplay(rounds=[0, 1, 2], losses=[0, 1, 1])
    with pytest.raises(ValueError, match=r"kind='sum' is not known; accepted are 'cumulative', 'mean', 'rolling'"):
        display.plot(kind="sum")
    with pytest.raises(ValueError, match=r"window=5 is for kind='rolling', and kind='mean' has none; accepted is None"):
        display.plot(kind="mean", window=5)
    for window in (0, 1.5, True, "2"):
        with pytest.raises(ValueError, match=rf"window={window!r} must be an integer of at least 1"):
            display.plot(kind="rolling", window=window)
    with pytest.raises(ValueError, match=r"window=3 is longer than the curve; accepted are its 2 rounds at most"):
        display.plot(kind="rolling", window=3)
    assert not plt.get_fignums()


def test_epochs_are_marked():
    X, y, _, _ = separable()
    noisy = y ^ (np.arange(len(y)) % 7 == 0)
    model = PredtronBinaryClassifier(max_iter=4, random_state=0, cv=0).set_callbacks(LossHistory()).fit(X, noisy)
    display = OnlineLossDisplay.from_estimator(model)
    assert display.epoch == len(X) and display.epoch_axis_.get_xlabel() == f"epochs of {len(X)} rounds"
    display.figure_.canvas.draw()
    low, high = display.ax_.get_xlim()
    np.testing.assert_allclose(display.epoch_axis_.get_xlim(), [low / len(X), high / len(X)])
    ticks = display.epoch_axis_.get_xticks()
    assert {0, 1, 2, 3, 4} <= set(ticks.tolist()) and all(tick == round(tick) for tick in ticks)
    check_legible(display, "rounds", "cumulative loss (sum of L)")
    assert OnlineLossDisplay.from_estimator(model, ax=display.ax_).epoch_axis_ is None  # there is one
    model.partial_fit(X[:10], noisy[:10])  # rounds of no epoch
    assert OnlineLossDisplay.from_estimator(model).epoch is None
    single = recorded()[0]
    assert OnlineLossDisplay.from_estimator(single).epoch_axis_ is None  # one epoch is all of it
    stream = PredtronBinaryClassifier(cv=0).set_callbacks(LossHistory()).partial_fit(X, y, classes=[False, True])
    assert OnlineLossDisplay.from_estimator(stream).epoch is None


@pytest.mark.parametrize("kind", ["cumulative", "mean"])
def test_a_bound_far_away_has_a_logarithmic_axis(kind):
    for bound, scale in [(25.0, "linear"), (40.0, "log")]:
        display = OnlineLossDisplay(rounds=[0, 1, 2, 3], losses=[0, 1, 2, 3], bound=bound).plot(kind=kind)
        assert display.ax_.get_yscale() == scale
        display.figure_.canvas.draw()
        assert display.ax_.get_ylim()[1] >= np.max(display.bound_line_.get_ydata())
    assert OnlineLossDisplay(rounds=[0, 1], losses=[0, 0], bound=40.0).plot(kind=kind).ax_.get_yscale() == "linear"


# -------------------------------------------------------------------------------------------------------- risk and coverage


def triage(k=3, **parameters):
    X, y = make_data(k=k, n=300, noise=2.0)
    kind = PredtronBinaryClassifier if k == 2 else PredtronClassifier
    return kind(random_state=0, **parameters).fit(X, y), X, y


def lead_of_the_best(model, X):
    """Margins from the public decision_function."""
    decision = model.decision_function(X)
    if decision.ndim == 1:
        return np.abs(decision), model.classes_[(decision > 0).astype(int)]
    ranked = np.sort(decision, axis=1)
    return ranked[:, -1] - ranked[:, -2], model.classes_[decision.argmax(axis=1)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [2, 3])
def test_risk_at_every_threshold(k, weighted):
    model, X, y = triage(k)
    weight = np.random.default_rng(0).integers(0, 4, len(X)).astype(float) if weighted else None
    display = RiskCoverageDisplay.from_estimator(model, X, y, sample_weight=weight)
    margins, predicted = lead_of_the_best(model, X)
    w = np.ones(len(X)) if weight is None else weight
    thresholds = np.unique(margins[w > 0])[::-1]
    accepted = [margins >= threshold for threshold in thresholds]
    np.testing.assert_allclose(display.line_.get_xdata(), [w[rows].sum() / w.sum() for rows in accepted])
    risk = [1 - accuracy_score(y[rows], predicted[rows], sample_weight=w[rows]) for rows in accepted]
    np.testing.assert_allclose(display.line_.get_ydata(), risk, atol=1e-12)
    assert display.coverage[-1] == 1 and display.risk[-1] == pytest.approx(1 - model.score(X, y, weight)) != 0
    assert display.point_ is None
    check_legible(display, "coverage (share of rows)", "mean loss of the accepted rows")


@pytest.mark.parametrize("k", [2, 3])
def test_operating_point_of_least_expected_cost(k):
    """Rows are rejected whose least expected cost is above that of a rejection: the point is on the curve of these costs."""
    costs = np.where(np.eye(k), 0, np.arange(1.0, k + 1)[:, None])
    model, X, y = triage(k, loss=costs, reject=0.3)
    display = RiskCoverageDisplay.from_estimator(model, X, y)
    accepted = model.predict(X) != -1
    expected = model.predict_proba(X) @ costs
    assert 0.1 < accepted.mean() < 0.95 and (accepted == (expected.min(axis=1) <= 0.3)).all()
    assert display.operating_point == pytest.approx((accepted.mean(), costs[y, expected.argmin(axis=1)][accepted].mean()))
    at = np.isclose(display.coverage, accepted.mean())
    np.testing.assert_allclose(display.risk[at], display.operating_point[1])


@pytest.mark.parametrize("k", [2, 3])
def test_operating_point(k):
    model, X, y = triage(k, reject=Reject(0.15, -1))
    display = RiskCoverageDisplay.from_estimator(make_pipeline(StandardScaler(with_mean=False).fit(X), model), X, y)
    scaled = X / X.std(axis=0)
    accepted = model.predict(scaled) != -1
    share, risk = accepted.mean(), 1 - accuracy_score(y[accepted], model.predict(scaled)[accepted])
    np.testing.assert_allclose(np.ravel(display.point_.get_data()), [share, risk])
    assert share < 1
    at = np.flatnonzero(np.isclose(display.coverage, share))
    np.testing.assert_allclose(display.risk[at], [risk])
    assert labels_of(display)[1] == f"operating point ({share:.3f}, {risk:.3g})"
    weight = np.arange(len(y)) % 3
    weighted = RiskCoverageDisplay.from_estimator(model, scaled, y, sample_weight=weight).operating_point
    wrong = model.predict(scaled)[accepted] != y[accepted]
    assert weighted == pytest.approx((np.average(accepted, weights=weight), np.average(wrong, weights=weight[accepted])))


def test_risk_is_the_mean_of_the_costs():
    cost = np.array([[0, 1, 4.0], [2, 0, 1], [3, 5, 0]])
    model, X, y = triage(loss=cost, reject=Reject([0.5, 0.1, 0.2], 9))
    display = RiskCoverageDisplay.from_estimator(model, X, y)
    best = (model.predict_proba(X) @ cost).argmin(axis=1)
    assert display.risk[-1] == pytest.approx(cost[y, best].mean())
    kept = model.predict(X) != 9
    assert display.operating_point == pytest.approx((kept.mean(), cost[y, best][kept].mean()))
    model.set_params(reject__cost=1e-9)  # below all expected costs
    display = RiskCoverageDisplay.from_estimator(model, X, y)
    assert display.operating_point[0] == 0 and np.isnan(display.operating_point[1])


def test_risk_of_any_predictions():
    y_true, y_pred = np.array([0, 1, 1, 0, 1]), np.array([0, 0, 1, 1, 1])
    confidence = [0.9, 0.5, 0.5, 0.1, 0.7]
    display = RiskCoverageDisplay.from_predictions(y_true, y_pred, confidence, name="any")
    np.testing.assert_allclose(display.line_.get_data(), [[0.2, 0.4, 0.8, 1.0], [0, 0, 0.25, 0.4]])
    assert labels_of(display) == ["any"] and display.point_ is None
    X, y = make_data(noise=2.0)
    peer = LogisticRegression().fit(X, y)
    by_peer = RiskCoverageDisplay.from_predictions(y, peer.predict(X), peer.predict_proba(X).max(axis=1), ax=display.ax_)
    assert by_peer.risk[-1] == pytest.approx(1 - peer.score(X, y)) and len(display.ax_.lines) == 2


def test_risks_that_are_refused():
    model, X, y = triage()
    sets = PredtronMultilabelClassifier().fit(X, np.eye(3, dtype=int)[y])
    with pytest.raises(ValueError, match=r"estimator=PredtronMultilabelClassifier\(\) cannot reject; accepted are Predtron"):
        RiskCoverageDisplay.from_estimator(sets, X, y)
    with pytest.raises(ValueError, match=r"y has shape \(299,\); it must have one entry for each of the 300 rows"):
        RiskCoverageDisplay.from_estimator(model, X, y[:-1])
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        RiskCoverageDisplay.from_estimator(model, X, y, sample_weight=-np.ones(len(X)))
    for given, said in (
        (([0, 1, 1], [0, 1, 1], [0.1, 0.2]), r"confidence has shape \(2,\)"),
        (([0, 1, 1], [0, 1], [0.1, 0.2, 0.3]), r"y_pred has shape \(2,\)"),
        (([0, 1], [0, 1], [0.1, np.nan]), "Input confidence contains NaN"),
    ):
        with pytest.raises(ValueError, match=said):
            RiskCoverageDisplay.from_predictions(*given)
    assert not plt.get_fignums()


def test_the_cost_of_a_rejection_is_a_line():
    model, X, y = triage(reject=Reject(0.15, -1))
    display = RiskCoverageDisplay.from_estimator(model, X, y)
    assert set(display.cost_line_.get_ydata()) == {0.15} and display.reject_cost == 0.15
    assert labels_of(display)[2] == "cost of a rejection: 0.15"
    model, X, y = triage(reject=Reject([0.1, 0.2, 0.4], -1))
    weight = np.random.default_rng(0).random(len(X))
    display = RiskCoverageDisplay.from_estimator(model, X, y, sample_weight=weight)
    assert display.reject_cost == pytest.approx(weight @ np.array([0.1, 0.2, 0.4])[y] / weight.sum())
    display = RiskCoverageDisplay.from_predictions([0, 1], [0, 0], [2, 1], reject_cost=0.3)
    assert set(display.cost_line_.get_ydata()) == {0.3}
    assert RiskCoverageDisplay.from_predictions([0, 1], [0, 0], [2, 1]).cost_line_ is None
    for cost in (-0.1, np.inf, np.nan, "0.1"):
        with pytest.raises(ValueError, match=r"reject_cost=.* must be None or a finite number of at least 0"):
            RiskCoverageDisplay.from_predictions([0, 1], [0, 0], [2, 1], reject_cost=cost)


def test_what_few_rows_risk_is_out_of_sight():
    y_true = np.zeros(100, dtype=int)
    y_pred = np.r_[1, np.zeros(97, dtype=int), 1, 1]  # the most confident row is wrong
    confidence = -np.arange(100.0)
    display = RiskCoverageDisplay.from_predictions(y_true, y_pred, confidence)
    (left, right), (bottom, top) = display.ax_.get_xlim(), display.ax_.get_ylim()
    assert 0.05 < left < 0.1 and right >= 1
    assert bottom < 0 and 0.1 < top < 0.12  # the risk at a coverage of 0.1, and not that of one row, 1
    assert display.line_.get_ydata()[0] == 1 and len(display.line_.get_xdata()) == 100
    whole = RiskCoverageDisplay.from_predictions(y_true, y_pred, confidence, min_coverage=0)
    assert whole.ax_.get_xlim()[0] < 0 and whole.ax_.get_ylim()[1] >= 1
    assert display.plot(min_coverage=np.int64(0)).ax_.get_xlim()[0] < 0
    limits = display.plot().ax_.get_xlim()
    display.plot(ax=display.ax_, min_coverage=0.5)  # hides nothing of the other curve
    np.testing.assert_allclose(display.ax_.get_xlim(), limits)
    careful = RiskCoverageDisplay(coverage=display.coverage, risk=display.risk, operating_point=(0.03, 1 / 3)).plot()
    assert careful.ax_.get_xlim()[0] <= 0.03 and careful.ax_.get_ylim()[1] >= 1 / 3
    nothing = RiskCoverageDisplay(coverage=display.coverage, risk=display.risk, operating_point=(0.0, np.nan)).plot()
    np.testing.assert_allclose(nothing.ax_.get_xlim(), limits)
    without = RiskCoverageDisplay.from_predictions([1, 1], [1, 1], [0.5, 0.7])  # no mistake
    assert without.ax_.get_ylim()[0] < 0 < without.ax_.get_ylim()[1]
    for share in (-0.1, 1, 1.0, np.nan, True, "0.1", None):
        with pytest.raises(ValueError, match=r"min_coverage=.* must be a number of at least 0 and below 1"):
            display.plot(min_coverage=share)


# ----------------------------------------------------------------------------------------------------------------- margins


def test_margins_by_hand():
    model, X, y = triage(norm="l2", fit_intercept=False)
    display = MarginDisplay.from_estimator(model, X, y, bins=17)
    W = model.coef_ / np.linalg.norm(model.coef_)
    t = X @ W.T
    by_hand = [t[i, y[i]] - np.delete(t[i], y[i]).max() for i in range(len(X))]
    np.testing.assert_allclose(display.margins, by_hand)
    assert display.margins.min() == model.margin(X, y) == display.least_line_.get_xdata()[0] < 0
    assert list(display.zero_line_.get_xdata()) == [0, 0]
    heights = [bar.get_height() for bar in display.bars_]
    np.testing.assert_array_equal(heights, np.histogram(by_hand, bins=17)[0])
    below = f"below 0: {(display.margins < 0).sum()} of 300 rows"
    assert labels_of(display) == [below, "PredtronClassifier", f"least: {display.margins.min():.3g}"]
    check_legible(display, "margin at unit norm of the weights (units of the inputs)", "number of rows")
    predictions = MarginDisplay.from_predictions(y, X @ model.coef_.T, length=np.linalg.norm(model.coef_))
    np.testing.assert_allclose(predictions.margins, by_hand)


def test_margins_of_every_family():
    X, y = make_data(n=120, noise=2.0)
    sets = (X[:, :4] > 0).astype(int)
    cases = [
        (PredtronBinaryClassifier(), y > 0),
        (PredtronOrdinalClassifier(), y),
        (PredtronMultilabelClassifier(), sets),
        (PredtronLabelRanker(), sets),
    ]
    for model, labels in cases:
        display = MarginDisplay.from_estimator(
            make_pipeline(StandardScaler(), model.set_params(random_state=0)).fit(X, labels), X, labels
        )
        scaled = StandardScaler().fit_transform(X)
        assert display.margins.shape == (len(X),)
        assert display.margins.min() == model.margin(scaled, labels)
        for i in range(0, len(X), 40):
            assert display.margins[i] == pytest.approx(model.margin(scaled[i : i + 1], labels[i : i + 1]))
    display.figure_.canvas.draw()


def test_margins_of_queries():
    X, y, qid = make_ranking_queries(40, 20, n_features=5, random_state=0)
    y[qid == 3] = 1  # cannot be ranked wrongly
    model = PredtronRanker(random_state=0).fit(X, y, qid=qid)
    display = MarginDisplay.from_estimator(model, X, y, qid)
    assert display.margins.shape == (40,) and display.margins[3] == np.inf
    assert display.margins[5] == pytest.approx(model.margin(X[qid == 5], y[qid == 5], "one"))
    assert sum(bar.get_height() for bar in display.bars_) == 39
    assert display.margins.min() == model.margin(X, y, qid) and display.ax_.get_ylabel() == "number of queries"


def test_margins_of_predictions():
    display = MarginDisplay.from_predictions(["b", "a", "b"], [0.5, 0.25, -2.0], length=0.5)
    assert display.margins.tolist() == [1.0, -0.5, -4.0]
    display = MarginDisplay.from_predictions(["b", "a"], [[1.0, 0.0, 3.0], [1.0, 0.0, 3.0]], classes=["c", "b", "a"])
    assert display.margins.tolist() == [-3.0, 2.0]


def test_margins_that_are_refused():
    X, y = make_data()
    model = PredtronClassifier(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"qid is for PredtronRanker and .*, and estimator=PredtronClassifier.* has neither"):
        MarginDisplay.from_estimator(model, X, y, y)
    hours = Predtron(Hours()).fit(X, y)
    with pytest.raises(ValueError, match=r"estimator=Predtron.* has no margins; accepted are Predtron's classifiers and rankers"):
        MarginDisplay.from_estimator(hours, X, y)
    with pytest.raises(ValueError, match="margins holds no finite margin, or nan"):
        MarginDisplay.from_estimator(PredtronClassifier(fit_intercept=False).fit(np.zeros_like(X), y), np.zeros_like(X), y)
    with pytest.raises(ValueError, match="margins holds no finite margin"):
        MarginDisplay(margins=np.array([np.inf])).plot()
    for length in (0, -1.0, np.nan, np.inf, "1", None):
        with pytest.raises(ValueError, match=r"length=.* must be a finite number above 0"):
            MarginDisplay.from_predictions([0, 1], [0.1, 0.2], length=length)
    with pytest.raises(ValueError, match=r"y_score has shape \(2,\); for 2 rows and 1 classes it must have \(2, 1\)"):
        MarginDisplay.from_predictions([1, 1], [0.3, 0.2])
    with pytest.raises(ValueError, match=r"y_score has shape \(3,\); for 3 rows and 3 classes it must have \(3, 3\)"):
        MarginDisplay.from_predictions([0, 1, 2], [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match=r"y contains labels that are not in classes_: \[7\]; accepted are \[0, 1\]"):
        MarginDisplay.from_predictions([0, 7], [0.1, 0.2], classes=[0, 1])
    assert not plt.get_fignums()


def colours_of(display):
    return [bar.get_facecolor() for bar in display.bars_ if bar.get_height() > 0]


@pytest.mark.parametrize("seed", range(5))
def test_zero_is_an_edge_of_the_bars(seed):
    margins = np.random.default_rng(seed).standard_normal(500) * 10.0 ** (seed - 2) + seed * 0.1
    display = MarginDisplay(margins=margins).plot()
    edges = np.array([bar.get_x() for bar in display.bars_])
    width = display.bars_[0].get_width()
    assert np.abs(edges).min() < 1e-9 * width  # the artist has it from the bar's middle and width
    assert edges[0] <= margins.min() < edges[0] + width
    for bar in display.bars_:
        low = bar.get_x()
        assert abs(bar.get_height() - ((margins >= low) & (margins < low + width)).sum()) <= 1  # an edge may be rounded
        if bar.get_height():
            wrong = bar.get_facecolor() != display.bars_[-1].get_facecolor()
            assert wrong == (low + width / 2 < 0)
    assert sum(bar.get_height() for bar in display.bars_) == 500
    below = sum(bar.get_height() for bar in display.bars_ if bar.get_x() + width / 2 < 0)
    assert below == (margins < 0).sum()
    assert labels_of(display)[0] == f"below 0: {below:.0f} of 500 rows"


def test_margins_on_one_side():
    right = MarginDisplay(margins=[0.0, 1.0, 2.0, 2.5], name="all right").plot()
    assert labels_of(right) == ["all right", "least: 0"] and len(set(colours_of(right))) == 1
    wrong = MarginDisplay(margins=[-1.0, -2.0, -2.5, -np.inf], name="all wrong").plot()
    assert labels_of(wrong) == ["all wrong, below 0: 4 of 4 rows", "least: -2.5"] and len(set(colours_of(wrong))) == 1
    assert colours_of(wrong)[0] != colours_of(right)[0]
    for value in (0.3, -0.3, 0.0, 1e-200, 1e12):
        one = MarginDisplay(margins=[value]).plot()
        assert sum(bar.get_height() for bar in one.bars_) == 1
    far = MarginDisplay(margins=np.r_[np.random.default_rng(0).standard_normal(1000), 1e9]).plot()
    assert len(far.bars_) <= 102 and sum(bar.get_height() for bar in far.bars_) == 1001
    outline = MarginDisplay(margins=[-1.0, 1.0], name="outline").plot(histtype="step")
    assert labels_of(outline) == ["outline", "least: -1"]


def test_margins_of_sequences():
    random = np.random.default_rng(0)
    y = np.cumsum(random.random(400) < 0.2) % 3
    X, sid = np.eye(3)[y] + random.standard_normal((400, 3)), np.arange(400) // 10
    model = PredtronSequenceTagger(random_state=0).fit(X, y, sid=sid)
    display = MarginDisplay.from_estimator(model, X, y, sid=sid)
    assert display.margins.shape == (40,) and display.margins.min() == model.margin(X, y, sid=sid)
    for i in range(0, 40, 7):
        assert display.margins[i] == pytest.approx(model.margin(X[sid == i], y[sid == i], sid="one"))
    assert labels_of(display)[0] == f"below 0: {(display.margins < 0).sum()} of 40 sequences"
    assert display.ax_.get_ylabel() == "number of sequences"
    frame = pd.DataFrame(X, columns=list("abc")).assign(sid=sid)
    of_frame = clone(model).fit(frame, y)
    np.testing.assert_array_equal(MarginDisplay.from_estimator(of_frame, frame, y).margins, display.margins)
    with pytest.raises(ValueError, match=r"qid is for PredtronRanker and PredtronBipartiteClassifier only, and estimator=P"):
        MarginDisplay.from_estimator(model, X, y, sid)
    classifier = PredtronClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"sid is for PredtronSequenceTagger only, .* has no sequences; accepted is None"):
        MarginDisplay.from_estimator(classifier, X, y, sid=sid)


def test_the_best_of_a_search():
    X, y = make_data(n=120, noise=2.0)
    labels = np.array(["low", "mid", "top"])[y]
    pipeline = make_pipeline(StandardScaler(), PredtronOrdinalClassifier(categories=["low", "mid", "top"], random_state=0))
    search = GridSearchCV(pipeline, {"predtronordinalclassifier__update": ["adaptive", "perceptron"]}, cv=2).fit(X, labels)
    best = search.best_estimator_
    found, expected = (MarginDisplay.from_estimator(estimator, X, labels) for estimator in (search, best))
    np.testing.assert_array_equal(found.margins, expected.margins)
    display = inspection.CoefficientDisplay.from_estimator(search, target="mid")
    np.testing.assert_array_equal(display.coefficients, best[-1].coef_[1])
    LossHistory().watch(best[-1])
    assert OnlineLossDisplay.from_estimator(search).losses[-1] == best[-1].cumulative_loss_


def test_rows_of_any_kind():
    model, X, y = triage(reject=Reject(0.15, -1))
    frame, rows = pd.DataFrame(X), sparse.csr_matrix(X)
    for given in (frame, rows, X.tolist()):
        np.testing.assert_allclose(
            MarginDisplay.from_estimator(model, given, y).margins, MarginDisplay.from_estimator(model, X, y).margins, rtol=1e-9
        )
        display = RiskCoverageDisplay.from_estimator(model, given, pd.Series(y))
        np.testing.assert_allclose(display.risk, RiskCoverageDisplay.from_estimator(model, X, y).risk)
    display = RiskCoverageDisplay.from_predictions(pd.Series(["a", "b"]), pd.Series(["a", "a"]), pd.Series([0.5, 0.1]))
    assert display.risk.tolist() == [0, 0.5]
    display = OnlineLossDisplay.from_predictions(pd.Series(["a", "b"]), pd.Series(["a", "a"]))
    assert display.line_.get_ydata().tolist() == [0, 0, 1]


# -------------------------------------------------------------------------------------------------------------- matplotlib


WITHOUT = """
import sys
from pathlib import Path
sys.modules["matplotlib"] = None  # importing it fails
from sklearn_predtron.inspection import *
calls = {
    "OnlineLossDisplay.from_estimator": lambda: OnlineLossDisplay.from_estimator(None),
    "OnlineLossDisplay.from_predictions": lambda: OnlineLossDisplay.from_predictions([0], [0]),
    "OnlineLossDisplay.plot": lambda: OnlineLossDisplay(rounds=[0], losses=[0]).plot(),
    "CostDisplay.from_estimator": lambda: CostDisplay.from_estimator(None, None, None),
    "CostDisplay.from_predictions": lambda: CostDisplay.from_predictions([0], [0]),
    "CostDisplay.plot": lambda: CostDisplay(at=[0], cost=[0], against="ratio", constant=[0], best=[0]).plot(),
    "RiskCoverageDisplay.from_estimator": lambda: RiskCoverageDisplay.from_estimator(None, None, None),
    "RiskCoverageDisplay.from_predictions": lambda: RiskCoverageDisplay.from_predictions([0], [0], [0]),
    "RiskCoverageDisplay.plot": lambda: RiskCoverageDisplay(coverage=[1], risk=[0]).plot(),
    "MarginDisplay.from_estimator": lambda: MarginDisplay.from_estimator(None, None, None),
    "MarginDisplay.from_predictions": lambda: MarginDisplay.from_predictions([0], [0]),
    "MarginDisplay.plot": lambda: MarginDisplay(margins=[1]).plot(),
    "CoefficientDisplay.from_estimator": lambda: CoefficientDisplay.from_estimator(None),
    "CoefficientDisplay.plot": lambda: CoefficientDisplay(coefficients=[1]).plot(),
    "EffectsDisplay.from_estimator": lambda: EffectsDisplay.from_estimator(None, None),
    "EffectsDisplay.plot": lambda: EffectsDisplay(effects=[None]).plot(),
    "NDCGDisplay.from_estimator": lambda: NDCGDisplay.from_estimator(None, None, None),
    "NDCGDisplay.from_predictions": lambda: NDCGDisplay.from_predictions([0], [0]),
    "NDCGDisplay.plot": lambda: NDCGDisplay(values=[1]).plot(),
    "PromiseDisplay.plot": lambda: PromiseDisplay(used=[1], labels=["a"], kept=[True]).plot(),
}
for name, call in calls.items():
    try:
        call()
    except ImportError as error:
        assert str(error) == f"{name} needs matplotlib: pip install matplotlib", error
    else:
        raise AssertionError(name)
"""
DRAWING = ("from_estimator", "from_predictions", "from_stream", "plot")


def test_every_call_is_tried_without_matplotlib():
    displays = [getattr(inspection, name) for name in inspection.__all__]
    for name in [f"{display.__name__}.{method}" for display in displays for method in DRAWING if hasattr(display, method)]:
        assert f'"{name}": ' in WITHOUT


def test_without_matplotlib():
    run = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


# ----------------------------------------------------------------------------------------------------- the documentation's


@pytest.mark.slow
def test_pictures_of_the_documentation(tmp_path):
    """Each theorem's losses are within its bound, by a factor that leaves something to see."""
    spec = importlib.util.spec_from_file_location("pictures", Path(__file__).parents[2] / "doc" / "make_pictures.py")
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    bounded = 0
    for picture in pictures.PICTURES:
        for display in picture(plt.subplots()[1]):
            if getattr(display, "bound", None) is not None:
                bounded += 1
                assert display.bound / 50 < display.losses[-1] <= display.bound, picture.__name__
    assert bounded == 10
    pictures.PICTURES[:] = [picture for picture in pictures.PICTURES if picture.__name__ == "margins_on_digits"]
    pictures.make_pictures(tmp_path / "new")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["margins_on_digits.png"]
