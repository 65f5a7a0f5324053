"""Pictures of certificates, bounds and monitors."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from sklearn_predtron.decisions import AtLeast, AtMost, PromiseResult
from sklearn_predtron.inspection import PromiseDisplay
from sklearn_predtron.metrics import CostMonitor

RESULTS = [
    PromiseResult(AtMost("risk", 0.1), True, 200, 0.05, 0.01),
    PromiseResult(AtLeast("recall", 0.9, label=1), False, 100, 0.85, 0.9),
    PromiseResult(AtLeast("risk", 0.5), True, 100, 1.0, 0.01),
    PromiseResult(AtMost("precision", 0.5, label=1), False, 0, float("nan"), 1.0),
]


def test_kept_promises_are_left_of_the_bound():
    display = PromiseDisplay.from_results(RESULTS, name="a clinic")
    np.testing.assert_allclose(display.points_.get_offsets().filled(np.nan)[:, 0], [0.5, 1.5, 0.5, np.nan])
    assert display.ax_.get_yticklabels()[0].get_text() == "AtMost('risk', 0.1)\n0.05 on 200 rows"
    assert display.ax_.get_title() == "a clinic" and display.interval_lines_ is None
    assert display.ax_.yaxis_inverted() and display.bound_line_.get_xdata()[0] == 1
    colors = display.points_.get_facecolors()
    assert (colors[0] == colors[2]).all() and (colors[0] != colors[1]).any()


def test_a_monitor_has_intervals():
    costs = np.random.default_rng(0).random(2000) < np.repeat([0.1, 0.3], 1000)
    monitor = CostMonitor(0.2, groups=["north", "south"]).update(costs, ["north"] * 1000 + ["south"] * 1000)
    display = PromiseDisplay.from_monitor(monitor)
    np.testing.assert_allclose(display.used, [costs[:1000].mean() / 0.2, costs[1000:].mean() / 0.2])
    np.testing.assert_allclose(display.intervals[1], np.array(monitor.interval("south")) / 0.2)
    assert display.kept == [True, False] and len(display.interval_lines_.get_segments()) == 2
    again = PromiseDisplay.from_monitor(CostMonitor(0.2).update([0.1]), ax=display.ax_, color="red")
    assert again.ax_ is display.ax_ and again.labels == ["mean cost\n0.1"]


def test_wrong_values():
    with pytest.raises(ValueError, match=r"results='x' must be certificate_\.results or bounds_"):
        PromiseDisplay.from_results("x")
    with pytest.raises(ValueError, match="monitor=3 must be a CostMonitor"):
        PromiseDisplay.from_monitor(3)
    with pytest.raises(ValueError, match=r"used and kept have the shapes \(2,\) and \(1,\), for 1 labels"):
        PromiseDisplay(used=[1, 2], labels=["a"], kept=[True]).plot()
    assert not plt.get_fignums()
