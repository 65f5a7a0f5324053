"""Alarms of a monitor: false ones in streams without change, and rows until an alarm after a rise of the mean cost."""

import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import Table
from benchmarks.tasks import Options
from sklearn_predtron.metrics._cost_monitor import BETS, LARGEST_CAPITAL

LIMITS, RISE, ERROR = (0.05, 0.2), 1.2, 0.05
STREAMS, ROWS = 10_000, 5000  # without change
LATE, BEFORE, AFTER = 500, 2000, 20_000  # streams with a rise, their rows before it and after it
OF_ADWIN, OF_MAPIE, ROWS_OF_MAPIE = 500, 20, 2000  # streams, as these take longer
OURS, ADWIN, MAPIE = "CostMonitor", "river ADWIN", "MAPIE RiskMonitoring"
NEVER = -1


def alarms(costs: NDArray, limit: float) -> NDArray:
    """Return the row of the alarm of `CostMonitor` in each stream, or -1.

    The bets of all streams, of shape (n_streams, n_rows), grow at once, by the formula of the monitor.
    """
    capital, found = np.zeros((len(costs), len(BETS))), np.full(len(costs), NEVER)
    for n, cost in enumerate(costs.T, start=1):
        growth = 1 + BETS * (cost[:, None] / limit - 1)
        capital = np.minimum((capital + 1 / (n * (n + 1))) * growth, LARGEST_CAPITAL)
        found[(found == NEVER) & (capital.mean(axis=1) + 1 / (n + 1) >= 1 / ERROR)] = n - 1
    return found


def alarms_of_adwin(costs: NDArray, limit: float) -> NDArray:
    """Return the first detected change of each stream; ADWIN knows no limit."""
    from river.drift import ADWIN

    found = np.full(len(costs), NEVER)
    for i, stream in enumerate(costs):
        detector = ADWIN()
        for n, cost in enumerate(stream.tolist()):
            detector.update(cost)
            if detector.drift_detected:
                found[i] = n
                break
    return found


def alarms_of_mapie(costs: NDArray, limit: float) -> NDArray:
    """Return the first row at which the lower bound of each stream exceeds the limit."""
    from mapie.exchangeability_testing import RiskMonitoring
    from mapie.risk_control import BinaryRisk

    wrong = BinaryRisk(lambda y, predicted: predicted != y, lambda y, predicted: np.ones(len(y), bool), higher_is_better=False)
    found = np.full(len(costs), NEVER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, stream in enumerate(costs):
            # Half of the level is for a threshold that is estimated; here it is given.
            monitor = RiskMonitoring(wrong, test_level=2 * ERROR, threshold=limit, warn=False)
            monitor.update(stream.astype(int), np.zeros(len(stream), int))
            above = np.flatnonzero(monitor.online_risk_lower_bound_sequence_history > limit)
            found[i] = above[0] if len(above) else NEVER
    return found


def monitors() -> list[tuple[str, Callable[[NDArray, float], NDArray], int, int]]:
    """Return the monitors that are installed, with the most streams and rows of each."""
    known: list[tuple[str, str, Any, int, int]] = [
        (OURS, "sklearn_predtron", alarms, STREAMS, ROWS + AFTER),
        (ADWIN, "river", alarms_of_adwin, OF_ADWIN, ROWS + AFTER),
        (MAPIE, "mapie", alarms_of_mapie, OF_MAPIE, ROWS_OF_MAPIE),
    ]
    return [(name, *more) for name, module, *more in known if find_spec(module) is not None]


def monitor_table(options: Options) -> Table:
    """Return the shares of false alarms, and the delays."""
    table = Table(
        "Alarms of monitors",
        ["mean cost", "monitor", "streams", "rows", "false alarms", "streams with a rise", "found", "median delay", "90 %"],
        note=f"Costs are 0 or 1.  Without change the mean is the limit, the hardest case; with a rise it becomes {RISE:g} times "
        f"as large after {BEFORE} rows, for at most {AFTER} more.  The promised share of false alarms is {ERROR:g}, of ADWIN its "
        "default.  Delays are rows from the rise to the alarm, of the streams without an alarm before it; a stream without an "
        f"alarm counts as infinite.  MAPIE takes about a millisecond per row, so it has fewer streams, and a rise after "
        f"{ROWS_OF_MAPIE // 4} rows, for {ROWS_OF_MAPIE - ROWS_OF_MAPIE // 4} more.",
    )
    for limit in LIMITS:
        for name, alarm, most, rows in monitors():
            random = np.random.default_rng(0)
            n, late, columns = options.rows(most), options.rows(min(most, LATE)), options.rows(min(rows, ROWS))
            false = alarm(random.random((n, columns)) < limit, limit)
            before = options.rows(min(BEFORE, rows // 4))
            after = options.rows(min(AFTER, rows - before))
            mean = np.repeat([limit, RISE * limit], [before, after])
            found = alarm(random.random((late, before + after)) < mean, limit)
            known = found[(found == NEVER) | (found >= before)]
            delay = np.where(known == NEVER, np.inf, known - before + 1)
            ends = np.quantile(delay, [0.5, 0.9], method="inverted_cdf").tolist() if len(delay) else [np.inf] * 2
            spans = [int(one) if np.isfinite(one) else f"above {after}" for one in ends]
            table.rows.append(
                [limit, name, n, columns, float((false != NEVER).mean()), late, float(np.isfinite(delay).mean()), *spans]
            )
    return table
