"""Maps of the columns of tables beside trees: errors, with values missing too, and times; tables_others has the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.contestants import (
    ExplainableBoosting,
    HistGradientBoosting,
    LightGBMClassifier,
    Ours,
    OursOnColumns,
)
from benchmarks.contestants.base import Contestant
from benchmarks.measure import Case, Measured, no_collection, ratios, timed
from benchmarks.report import Table
from benchmarks.suites.costs import geometric_mean, quiet
from benchmarks.suites.fits import fit_case
from benchmarks.suites.tables_others import rankings, ranks, rounds, streams
from benchmarks.suites.tables_sets import (
    ADDED,
    FEW_ROWS,
    GENERATED,
    MEAN,
    MEASURED,
    MOST_ROWS,
    MOST_TEST_ROWS,
    NO_SETS,
    TEST_SHARE,
    Split,
    TableSet,
    numbers,
    sets,
    split_with_missing,
    splits,
)
from benchmarks.tasks import Options, Task

PEER = LightGBMClassifier()
COLUMNS, PIECEWISE, AUTO = OursOnColumns(), Ours("ours, piecewise", features="piecewise"), Ours("ours, auto", features="auto")
TREES, ADDITIVE = HistGradientBoosting(), ExplainableBoosting()
CONTESTANTS: list[Contestant] = [PEER, COLUMNS, PIECEWISE, AUTO, TREES, ADDITIVE]
OTHERS = CONTESTANTS[1:]
OF_MISSING: list[Contestant] = [PEER, PIECEWISE, AUTO, TREES]
MOST_COLUMNS = 8  # of a measured table that ADDITIVE learns, in more than a minute
SHARES = (0.0, 0.1, 0.3)  # of the values that are missing
ALL = "all"


@dataclass
class Tried:
    """Of a learner on a table: an error and CPU times of a fit and a prediction for each split."""

    errors: list[float] = field(default_factory=list)
    fits: Measured = field(default_factory=Measured)
    predictions: Measured = field(default_factory=Measured)

    def error(self, splits: int | None = None) -> float:
        """The mean of all or the first errors, with what is added to each."""
        return float(np.mean(self.errors[:splits])) + ADDED


@dataclass
class Found:
    """What was measured on a table, by learner."""

    data: TableSet
    rows: int = 0
    by: dict[str, Tried] = field(default_factory=dict)

    def ratio(self, name: str) -> float | None:
        """The error over LightGBM's on the same splits; None without one of the two."""
        if name not in self.by or PEER.name not in self.by:
            return None
        return self.by[name].error() / self.by[PEER.name].error(len(self.by[name].errors))

    def ratio_of_times(self, name: str, which: Callable[[Tried], Measured]) -> float | None:
        """The median over the splits of the time over LightGBM's; None without one of the two."""
        if name not in self.by or PEER.name not in self.by:
            return None
        mine, theirs = which(self.by[name]), which(self.by[PEER.name])
        return median(ratios(mine, Measured(theirs.times[: len(mine.times)])))


def run(options: Options) -> list[Table]:
    """Errors, missing values, times; rounds a second and memory; streams; ranks and rankings."""
    with quiet(), threadpool_limits(1):
        found = [tried(data, options) for data in sets(options)]
        tables = [errors(found, options), missing(found, options), times(found), rounds(options), streams(options)]
        return tables if options.data is None else [*tables, ranks(options), rankings(options)]


# ------------------------------------------------------------------------------------------------------------------ measuring


def tried(data: TableSet, options: Options) -> Found:
    """All learners in turns on some splits of a table, the slow one on the first."""
    found = Found(data)
    for seed in numbers(options):
        split = data.split(seed, options)
        found.rows = len(split[1])
        learners = [contestant for contestant in CONTESTANTS if contestant is not ADDITIVE or is_for_additive(found, options)]
        try_all(learners, Task(data.n_classes, seed=seed), split, found.by)
    return found


def is_for_additive(found: Found, options: Options) -> bool:
    """Whether the slow learner has the next split of a table to learn: it takes as long for few rows."""
    data = found.data
    few = data.n_classes == 2 and found.rows <= FEW_ROWS and data.X.shape[1] <= MOST_COLUMNS
    return few and data.kind == MEASURED and options.scale == 1 and ADDITIVE.name not in found.by


def try_all(contestants: Iterable[Contestant], task: Task, split: Split, tries: dict[str, Tried]) -> None:
    """A fit and a prediction of each learner that is installed, one after the other."""
    X, y, X_test, y_test = split
    for contestant in contestants:
        if contestant.installed:
            of = tries.setdefault(contestant.name, Tried())
            with no_collection():
                took, model = timed(fit_case(contestant, task, X, y), process_time)
                took_test, predicted = timed(predict_case(contestant, model, X_test), process_time)
            of.errors.append(float((predicted != y_test).mean()))
            of.fits.times.append(took)
            of.predictions.times.append(took_test)


def predict_case(contestant: Contestant, model: Any, X: Any) -> Case:
    """The prediction of many rows."""
    return Case(contestant.name, lambda _: contestant.predict(model, X))


# --------------------------------------------------------------------------------------------------------------------- tables


def errors(found: Sequence[Found], options: Options) -> Table:
    """A row for each table, and means."""
    table = Table(
        "Error on tables",
        ["data", "kind", "rows", "columns", "classes", f"error of {PEER.name}", *ratios_of(OTHERS)],
        note=f"Ratios to `{PEER.name}` (100 trees) of mean errors over {splits(options)}, with {ADDED} added to both; "
        f"`{ADDITIVE.name}`, which takes minutes, on the first split of the measured tables of two classes with at most "
        f"{FEW_ROWS} rows to learn from and {MOST_COLUMNS} columns.  Defaults of all.  Numbers are cut at their median into two "
        f"classes; categories are those of a data frame, for `{COLUMNS.name}` indicators.  At most {MOST_ROWS} "
        f"rows to learn from and {MOST_TEST_ROWS} to test on.  " + ("" if options.data else NO_SETS),
    )
    for of in found:
        about = [of.data.name, of.data.kind, of.rows, of.data.X.shape[1], of.data.n_classes]
        error = of.by[PEER.name].error() - ADDED if PEER.installed else "not installed"
        table.rows.append([*about, error, *(cell(other, of.ratio(other.name)) for other in OTHERS)])
    for kind in (ALL, MEASURED, GENERATED):
        some = [of for of in found if kind in (ALL, of.data.kind)]
        means = (geometric_mean(of.ratio(other.name) for of in some) for other in OTHERS)
        table.rows.append([MEAN, kind, *[None] * 4, *means])
    return table


def missing(tables: Sequence[Found], options: Options) -> Table:
    """Errors with none, some and many of the values removed."""
    others = OF_MISSING[1:]
    table = Table(
        "Missing values",
        [
            "data",
            "missing",
            f"error of {PEER.name}",
            *ratios_of(others),
            *(f"{each.name} to none missing" for each in OF_MISSING),
        ],
        note="Values removed at random, in the rows to learn from and in those to test on; the first split of the tables above "
        f"that have at most {FEW_ROWS} rows to learn from, or categories.  Ratios of errors to `{PEER.name}`'s on the same rows, "
        f"and of each learner to its own with none missing, with {ADDED} added to each.",
    )
    small = [of.data for of in tables if is_small(of.data)]
    found = {share: [with_share_missing(data, share, options) for data in small] for share in SHARES}
    for share, some in found.items():
        rows = [
            [of.ratio(other.name) for other in others] + own_ratios(of, whole) for of, whole in zip(some, found[0.0], strict=True)
        ]
        for of, ratios_ in zip(some, rows, strict=True):
            error = of.by[PEER.name].error() - ADDED if PEER.installed else "not installed"
            table.rows.append([of.data.name, f"{share:.0%}", error, *ratios_])
        table.rows.append([MEAN, f"{share:.0%}", None, *map(geometric_mean, zip(*rows, strict=True))])
    return table


def is_small(data: TableSet) -> bool:
    """Whether a table is learned with values missing."""
    return len(data.y) * (1 - TEST_SHARE) <= FEW_ROWS or data.has_categories


def with_share_missing(data: TableSet, share: float, options: Options) -> Found:
    """The learners on the first split, with a share of the values missing."""
    found, seed = Found(data), numbers(options)[0]
    split = split_with_missing(data.split(seed, options), share, seed)
    try_all(OF_MISSING, Task(data.n_classes, seed=seed), split, found.by)
    return found


def own_ratios(of: Found, whole: Found) -> list[float | None]:
    """Of each learner, the error over that with none missing."""
    names = [contestant.name for contestant in OF_MISSING]
    return [of.by[name].error() / whole.by[name].error() if name in of.by else None for name in names]


def times(found: Sequence[Found]) -> Table:
    """CPU times of the fits and predictions of the first table."""
    calls: dict[str, Callable[[Tried], Measured]] = {"fit": lambda of: of.fits, "predict": lambda of: of.predictions}
    table = Table(
        "Time of a fit and of a prediction",
        [
            "data",
            "kind",
            *(name for call in calls for name in (f"{call}, {PEER.name}, seconds", *ratios_of(OTHERS, f"{call}, "))),
        ],
        note=f"CPU time of the fits and predictions of the first table, one thread: ratios to `{PEER.name}`, medians over the "
        "splits, in each of which all learn in turns.",
    )
    for of in found:
        cells: list = []
        for which in calls.values():
            seconds = which(of.by[PEER.name]).seconds if PEER.installed else "not installed"
            cells += [seconds, *(cell(other, of.ratio_of_times(other.name, which)) for other in OTHERS)]
        table.rows.append([of.data.name, of.data.kind, *cells])
    for kind in (ALL, MEASURED, GENERATED):
        some = [of for of in found if kind in (ALL, of.data.kind)]
        means = [
            [None, *(geometric_mean(of.ratio_of_times(other.name, which) for of in some) for other in OTHERS)]
            for which in calls.values()
        ]
        table.rows.append([MEAN, kind, *means[0], *means[1]])
    return table


def ratios_of(contestants: Iterable[Contestant], what: str = "") -> list[str]:
    """Names of columns."""
    return [f"{what}{contestant.name} (ratio)" for contestant in contestants]


def cell(contestant: Contestant, value: float | None) -> float | str | None:
    """A value, or that there is none for want of the learner."""
    return value if contestant.installed else "not installed"
