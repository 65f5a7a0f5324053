"""Whether electricity gets dearer: learners with their defaults, in order of time, beside whoever repeats the last label."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contestants import Ours, SGDHinge, SGDPassiveAggressive
from benchmarks.contestants.base import Contestant
from benchmarks.contestants.river import River
from benchmarks.contestants.river_trees import RiverTrees
from benchmarks.read import NO_DATA, elec2
from benchmarks.report import Table
from benchmarks.tasks import Options, Task

LEARNERS: list[Contestant] = [
    Ours("ours, default"),
    SGDHinge(),
    SGDPassiveAggressive(),
    River("LogisticRegression"),
    River("PAClassifier"),
    RiverTrees("HoeffdingAdaptiveTreeClassifier"),
]
PERIODS = 4


def run(options: Options) -> list[Table]:
    """One table, of the raw columns and of columns that are standardised on the way."""
    quarters = [f"quarter {i + 1}" for i in range(PERIODS)]
    table = Table(
        "Electricity: progressive error",
        ["columns", "learner", "error", *quarters],
        note="Two classes, 45,312 half-hours in order of time, each predicted and then learned; six columns, as the set has "
        "them, or standardised on the way, by the means and variances of the rows up to the one that is predicted, the same "
        "for all.  All learners have their defaults.  Who repeats the last label needs no columns.  "
        + ("" if options.data else NO_DATA),
    )
    if options.data is None:
        return [table]
    X, y = elec2(options)
    table.rows.append([None, "the last label", *errors(y[1:] != y[:-1])])
    for columns, rows in (("raw", X), ("standardised", standardised_on_the_way(X))):
        for contestant in LEARNERS:
            found = errors(mistakes(contestant, rows, y)) if contestant.installed else ["not installed", *[None] * PERIODS]
            table.rows.append([columns, contestant.name, *found])
    return [table]


def standardised_on_the_way(X: NDArray) -> NDArray:
    """Return each row by the means and standard deviations of all rows up to it."""
    n = np.arange(1, len(X) + 1)[:, None]
    mean = np.cumsum(X, axis=0) / n
    deviation = np.sqrt(np.maximum(np.cumsum(X**2, axis=0) / n - mean**2, 0))
    return np.divide(X - mean, deviation, out=np.zeros_like(X), where=deviation > 0)


def errors(wrong: NDArray) -> list[float]:
    """Return the share of mistakes, of all and of each period."""
    return [float(part.mean()) for part in (wrong, *np.array_split(wrong, PERIODS))]


def mistakes(contestant: Contestant, X: NDArray, y: NDArray) -> NDArray:
    """Return which rows after the first are predicted wrongly before they are learned from."""
    task = Task(2)
    model = contestant.make(task)
    rows = contestant.convert(model, X, y)
    contestant.start(model, rows[0], task)
    return np.fromiter(map(partial(is_wrong, contestant, model), rows[1:]), bool, len(y) - 1)


def is_wrong(contestant: Contestant, model: Any, row: tuple) -> bool:
    """Predict a row, and learn from it."""
    wrong = bool(np.ravel(contestant.guess(model, row))[0] != np.ravel(row[1])[0])
    contestant.take(model, row)
    return wrong
