"""The monitor of costs: its capital by its definition, false alarms, late rises, and intervals that hold at all times."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from sklearn_predtron.metrics import CostMonitor
from sklearn_predtron.metrics._cost_monitor import BETS, Watch


def capital_by_definition(costs, limit):
    """The mean over all bets and all beginnings, also those to come, whose capital is still 1."""
    n = len(costs)
    parts = [
        np.mean([np.prod(1 + bet * (np.array(costs[begin:]) - limit) / limit) for bet in BETS]) / ((begin + 1) * (begin + 2))
        for begin in range(n)
    ]
    return sum(parts) + 1 / (n + 1)


def test_the_capital_is_that_of_the_definition():
    costs = np.random.default_rng(0).random(40)
    watch = Watch(0.3, 1e-12)
    for n in range(1, 41):
        watch.add(costs[n - 1 : n])
        assert np.mean(watch.capital) + 1 / (n + 1) == pytest.approx(capital_by_definition(costs[:n], 0.3), rel=1e-12)


def test_false_alarms_are_as_rare_as_promised(n_draws):
    random, n = np.random.default_rng(0), n_draws(60, 300)
    found = sum(CostMonitor(0.2, confidence=0.8).update(random.random(300) < 0.2).drift_detected for _ in range(n))
    assert 0 < found <= n * (0.2 + 3 * np.sqrt(0.2 * 0.8 / n))


@pytest.mark.parametrize("begin", [0, 1000])
def test_a_rise_is_found_also_if_it_comes_late(begin):
    costs = np.random.default_rng(1).random(begin + 600) < np.repeat([0.1, 0.3], [begin, 600])
    monitor = CostMonitor(0.1).update(costs)
    assert begin < monitor.alarms_[None] < begin + 200


def test_intervals_contain_the_mean_at_all_times_and_shrink():
    random, missed, widths = np.random.default_rng(2), 0, []
    for _ in range(60):
        monitor, inside = CostMonitor(2.0, largest=10.0, confidence=0.9), True
        for _ in range(12):
            low, high = monitor.update(10 * random.beta(1, 3, 25)).interval()
            inside &= low <= 2.5 <= high
        missed += not inside
        widths.append(high - low)
    assert missed <= 60 * 0.1 + 3 * np.sqrt(60 * 0.1 * 0.9)
    assert np.mean(widths) < 1.3


@pytest.mark.parametrize("mean", [0.5, 0.301, 0.003])
def test_intervals_of_long_streams_contain_the_mean_and_have_a_width(mean, n_draws):
    """With many rows the bets refute every point of the grid, as none of them is the mean."""
    random, n = np.random.default_rng(6), n_draws(10, 100)
    missed = 0
    for _ in range(n):
        monitor, inside = CostMonitor(0.6, confidence=0.9), True
        for _ in range(10):
            low, high = monitor.update(mean * 2 * random.random(1000)).interval()
            inside &= low <= mean <= high and low < high
        missed += not inside
        assert high - low < 0.05
    assert missed <= n * 0.1 + 3 * np.sqrt(n * 0.1 * 0.9)


def test_a_long_array_takes_bounded_memory():
    costs = np.random.default_rng(0).random(20_000)
    monitor = CostMonitor(0.4)
    tracemalloc.start()
    monitor.update(costs)
    largest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert largest < 10 * 2**20


def test_groups_share_the_probability_of_a_false_alarm():
    random = np.random.default_rng(3)
    group = np.array(["a", "b"])[random.integers(0, 2, 2000)]
    costs = random.random(2000) < np.where(group == "a", 0.05, 0.2)
    monitor = CostMonitor(0.1, groups=["a", "b"]).update(costs, group)
    alone = CostMonitor(0.1, confidence=0.975).update(costs[group == "b"])
    assert monitor.alarms_ == {"b": alone.alarms_[None]}
    assert monitor.get() == pytest.approx(costs.mean())
    assert monitor.get("a") == pytest.approx(costs[group == "a"].mean())
    assert monitor.interval("b") == alone.interval()


@pytest.mark.parametrize("form", [list, np.array, pd.Series], ids=lambda form: form.__name__)
def test_groups_come_in_any_form(form):
    monitor = CostMonitor(0.1, groups=["a", "b"]).update([0.0, 1.0, 0.5], form(["a", "b", "a"])).update(0.2, "b")
    assert (monitor.get("a"), monitor.get("b")) == (0.25, 0.6)
    assert CostMonitor(0.1, groups=[1, "a"]).update([0.0, 1.0], [1, "a"]).get(1) == 0.0


def test_any_split_of_the_rows_and_copies_have_the_same_bits():
    costs = np.random.default_rng(4).random(200)
    once, split = CostMonitor(0.4).update(costs), CostMonitor(0.4)
    for cost in costs[:100]:
        split.update(cost)
    split = pickle.loads(pickle.dumps(split)).update(costs[100:])
    for size in (1, 63, 64, 65):
        parts = CostMonitor(0.4)
        for first in range(0, 200, size):
            parts.update(costs[first : first + size])
        assert parts.interval() == once.interval() and parts._watches[None].capital == once._watches[None].capital
    assert split.interval() == once.interval() and split.alarms_ == once.alarms_
    assert split.get() == once.get()


@pytest.mark.always  # each takes a millisecond
@pytest.mark.parametrize(
    ("parameters", "cost", "group", "message"),
    [
        ({"limit": 0}, 0, None, "limit=0 must be a number above 0 and below 1"),
        ({"limit": 3, "largest": 2.0}, 0, None, "limit=3 must be a number above 0 and below 2"),
        ({"limit": 0.1, "confidence": 1}, 0, None, "confidence=1 must be a number above 0 and below 1"),
        ({"limit": 0.1, "groups": []}, 0, None, "at least one group"),
        ({"limit": 0.1, "groups": ["a", "a"]}, 0, "a", "each named once"),
        ({"limit": 0.1}, [0.5, 1.5], None, "cost=1.5 must be from 0 to largest=1"),
        ({"limit": 0.1}, [0.5, np.nan], None, "cost contains NaN"),
        ({"limit": 0.1, "groups": "north"}, 0.5, "n", "groups='north' is a single string; accepted is a list of groups"),
        ({"limit": 0.1}, "low", None, "cost='low' does not hold numbers; accepted is a number or an array"),
        ({"limit": 0.1}, [[0.5]], None, r"cost has shape \(1, 1\)"),
        ({"limit": 0.1, "groups": ["a"]}, 0.5, None, r"group=None is not one of groups=\['a'\]"),
        (
            {"limit": 0.1},
            0.5,
            "a",
            r"group='a' is given, and the monitor has no groups; name them, as CostMonitor\(.*, groups=\['a', ",
        ),
        ({"limit": 0.1, "groups": ["a"]}, [0.5, 0.5], ["a"], "group has 1 values for 2 costs"),
        ({"limit": 0.1, "groups": ["a"]}, [0.5], [["a"]], "is not one of groups="),
    ],
)
def test_what_is_wrong_is_refused_by_name(parameters, cost, group, message):
    with pytest.raises(ValueError, match=message):
        CostMonitor(**parameters).update(cost, group)


def test_a_refused_update_adds_nothing():
    monitor = CostMonitor(0.1).update([0.0, 1.0])
    with pytest.raises(ValueError, match="cost=2"):
        monitor.update([0.0, 2.0])
    assert monitor.get() == 0.5 and np.isnan(CostMonitor(0.1).get())
