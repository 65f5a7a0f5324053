"""The suite of promises: its truths, measures, oracles and alarms, by simulation and by the package's own classes."""

import numpy as np
import pytest

from benchmarks.suites import promises, promises_bounds, promises_monitor, promises_settings
from benchmarks.suites.promises import certified, learned
from benchmarks.suites.promises_peers import tuned
from benchmarks.suites.promises_settings import ABSTAINED, Pool, Setting, Truth, in_group
from benchmarks.tasks import Options
from sklearn_predtron.decisions import AtLeast, AtMost
from sklearn_predtron.metrics import CostMonitor

TWO = Truth.drawn(2, 4, 3.0, (0.7, 0.3), seed=1)


def test_probabilities_are_the_shares_of_the_labels():
    X, y = TWO.rows(100_000, np.random.default_rng(0))
    p = TWO.probabilities(X)[:, 1]
    for low in np.arange(0, 1, 0.2):
        rows = (p >= low) & (p < low + 0.2)
        assert y[rows].mean() == pytest.approx(p[rows].mean(), abs=4 * 0.5 / np.sqrt(rows.sum()))


@pytest.fixture(scope="module")
def rows():
    setting = Setting("", TWO, 500, (AtMost("risk", 0.05),), groups=True)
    model = learned(setting, *TWO.rows(500, np.random.default_rng(0)))
    return setting, model, *Pool.drawn(setting, model, 100_000)


@pytest.mark.parametrize(
    "promise",
    [AtMost("risk", 0.1), AtMost("risk", 0.1, predicted=0), AtMost("risk", 0.1, label=1), AtMost("risk", 0.1, group="a")]
    + [AtLeast("recall", 0.1, label=1)],
    ids=repr,
)
def test_measures_are_those_of_labels_that_are_drawn(rows, promise):
    _, _, pool, _ = rows
    given = pool.given(np.array([0.2, 0.3]))
    y = (np.random.default_rng(1).random(len(given)) < pool.truth[:, 1]).astype(int)
    counts = np.ones(len(given), bool) if promise.group is None else pool.groups == promise.group
    if promise.measure == "recall":
        value = (given == 1)[y == 1].mean()
    else:
        counts &= given != ABSTAINED
        counts &= True if promise.predicted is None else given == promise.predicted
        counts &= True if promise.label is None else y == promise.label
        value = (given != y)[counts].mean()
    assert pool.measure(promise, given) == pytest.approx(value, abs=0.01)


def test_no_wider_limit_than_the_oracles_keeps_the_promise(rows, monkeypatch):
    monkeypatch.setattr(promises_settings, "LIMITS", 200)
    setting, _, pool, _ = rows
    share = pool.oracle(setting)
    limits = [np.full(2, limit) for limit in np.quantile(pool.cost, [share, share + 0.01])]
    assert [pool.keeps(setting.promises[0], pool.given(limit)) for limit in limits] == [True, False]


def test_the_rule_of_a_certificate_is_predict(rows):
    setting, model, *_ = rows
    rule = certified(setting, model, *TWO.rows(800, np.random.default_rng(3)))
    X, _ = TWO.rows(200, np.random.default_rng(4))
    assert (rule(model.predict_proba(X)) == model.predict(X)).all() and len(rule.kept) == 1
    assert set(in_group(X)) == {"a", "b"}


def test_tested_thresholds():
    ill = np.arange(300) / 300
    assert promises.tested(ill, np.zeros(300, int)) == np.inf
    assert promises.tested(ill, (np.arange(300) == 10).astype(int)) == -1.0
    assert promises.tested(ill, (np.arange(300) == 200).astype(int)) == ill[200]


def test_a_tuned_threshold_has_the_most_rows_within_the_bound(rows):
    _, model, *_ = rows
    one = Setting("", TWO, 500, (AtMost("risk", 0.1, predicted=0),))
    X, y = TWO.rows(500, np.random.default_rng(5))
    home = tuned(one, model, X, y)(model.predict_proba(X)) == 0
    assert 0.3 < home.mean() < 1 and y[home].mean() <= 0.1


def test_alarms_are_those_of_the_monitor():
    costs = np.random.default_rng(0).random((20, 400)) < 0.3
    found = promises_monitor.alarms(costs, 0.2)
    for stream, row in zip(costs, found.tolist(), strict=True):
        alarm = CostMonitor(0.2, confidence=1 - promises_monitor.ERROR).update(stream).alarms_.get(None, 0)
        assert alarm == row + 1


def test_a_threshold_by_hand_reaches_the_recall_on_its_folds():
    X, y = TWO.rows(600, np.random.default_rng(6))
    found = [promises_bounds.by_hand(X, y, X, np.ones(600), 1.0, recall)[y == 1].mean() for recall in (0.7, 0.95)]
    assert found[0] < found[1] and found[1] > 0.9


@pytest.mark.slow
def test_the_suite(monkeypatch):
    monkeypatch.setattr(promises, "DRAWS", 2)
    monkeypatch.setattr(promises, "CLINIC_DRAWS", 2)
    monkeypatch.setattr(promises_settings, "LIMITS", 20)
    monkeypatch.setattr(promises_bounds, "RECALLS", (0.8,))
    monkeypatch.setattr(promises_bounds, "MOST_ROWS", 200)
    monkeypatch.setattr(promises_bounds, "WITH_AMOUNTS", ((300, 10, 0.3, 1.0),))
    for name in ("STREAMS", "ROWS", "LATE", "BEFORE", "AFTER", "ROWS_OF_MAPIE"):
        monkeypatch.setattr(promises_monitor, name, 50)
    monkeypatch.setattr(promises_monitor, "OF_MAPIE", 1)
    tables = promises.run(Options(repeats=1, seeds=1, scale=0.001))
    draws, clinic, costs, times, alarms = tables
    for table in tables:
        assert {len(row) for row in table.rows} == {len(table.columns)}
    assert [row[0] for row in draws.rows if row[3] == promises.OURS] == [setting.name for setting in promises_settings.settings()]
    assert len({row[0] for row in draws.rows}) == 8 and {row[0] for row in clinic.rows} == set(promises.APART)
    assert costs.rows[-1][0] == "geometric mean" and [row[1] for row in times.rows] == ["expected_cost", "subject_to"] * 2
    assert {row[1] for row in alarms.rows} >= {promises_monitor.OURS}
