"""Maps of the columns of tables: rounds a second and memory, streams, ranks, rankings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import read
from benchmarks.contestants import LightGBMRanker, Ours, OursOrdinal, OursRanker, RiverTrees
from benchmarks.contestants.base import Contestant
from benchmarks.contestants.lightgbm_ranks import LightGBMMedian, LightGBMRound
from benchmarks.measure import Case, no_collection, timed
from benchmarks.report import Table, spread
from benchmarks.suites.costs import geometric_mean
from benchmarks.suites.memory import python
from benchmarks.suites.ordinal import RANKS, mean_absolute
from benchmarks.suites.ranking import CUT_OFF, SETS, seed_ndcg
from benchmarks.suites.tables_sets import ADDED, MEAN, numbers, rotating_hyperplane, sea, splits
from benchmarks.tasks import Options, Task

COLUMNS, PIECEWISE, AUTO = "ours, columns", "ours, piecewise", "ours, auto"
TREES = "LightGBM"
MADE_UP_COLUMNS, FLIPPED = 20, 10  # flipped labels, in percent
ROUNDS = ((PIECEWISE, 1), (PIECEWISE, 3), ("ours, CSR", 1), ("ours, CSR", 3), (TREES, None))
MOST_REPEATS, MANY_ROWS = 3, 1_000_000
ROWS = (10_000, 100_000, MANY_ROWS)
SLOW_ROWS = 10_000
ARF, AMF, HOEFFDING = (RiverTrees(name) for name in ("ARFClassifier", "AMFClassifier", "HoeffdingAdaptiveTreeClassifier"))
STREAM_LEARNERS: list[Contestant] = [Ours(COLUMNS), Ours(PIECEWISE, features="piecewise"), HOEFFDING, ARF, AMF]
SLOW = (ARF, AMF)
OURS_OF_RANKS = [OursOrdinal(COLUMNS), *(OursOrdinal(f"ours, {kind}", features=kind) for kind in ("piecewise", "auto"))]
TREES_OF_RANKS = [LightGBMMedian(), LightGBMRound()]
BINNINGS = ("len10", "rank10")
RANKERS = [LightGBMRanker(), OursRanker(COLUMNS), OursRanker(PIECEWISE, features="piecewise")]


# ---------------------------------------------------------------------------------------------------------- rounds and memory


def rounds(options: Options) -> Table:
    """The map in the loop, beside its features in a matrix and beside LightGBM."""
    table = Table(
        "Rounds a second, and memory",
        [
            *("rows", "epochs", "learner", "CPU seconds", f"to {TREES} (ratio)", "rounds a second"),
            *("growth in MB", "growth / X (ratio)", f"growth, to {TREES} (ratio)"),
        ],
        note=f"A fit of Gaussian rows of {MADE_UP_COLUMNS} columns and two classes, {FLIPPED} % of the labels drawn by chance, "
        "in a fresh process: CPU time, and growth of the peak of resident memory, X in memory already.  Without folds; a fit "
        "chooses the map, too.  `ours, CSR` makes the features of all rows first, as a matrix, and learns from "
        f"them under `l2`: not those of {MANY_ROWS} rows, which need more than 5 GB.  `{TREES}`: 100 trees.  Median of "
        f"{MOST_REPEATS} runs, of {MANY_ROWS} rows one.",
    )
    for full in ROWS if options.scale == 1 else ROWS[::2]:
        n = options.rows(full)
        found = grown(n, full, options)
        theirs = found.get((TREES, None), [])
        for (name, epochs), runs in found.items():
            table.rows.append([n, epochs, name, *cells_of_runs(runs, theirs, n * (epochs or 0))])
    return table


def grown(n: int, full: int, options: Options) -> dict[tuple[str, int | None], list[dict]]:
    """What the child says of each learner in each repeat; nothing of what is not installed."""
    tried = [about for about in ROUNDS if about[0] != "ours, CSR" or full < MANY_ROWS]
    found: dict[tuple[str, int | None], list[dict]] = {about: [] for about in tried}
    for _ in range(1 if full == MANY_ROWS or options.scale < 1 else min(options.repeats, MOST_REPEATS)):
        for name, epochs in tried if TREES_OF_RANKS[0].installed else tried[:-1]:
            numbers_ = (n, MADE_UP_COLUMNS, 2, epochs or 1, FLIPPED)
            done = python("-m", "benchmarks.child", "fit", name, "float64", *map(str, numbers_))
            found[name, epochs].append(json.loads(done))
    return found


def cells_of_runs(runs: Sequence[dict], theirs: Sequence[dict], n_rounds: int) -> list:
    """Medians of a learner's runs, and ratios to LightGBM's."""
    if not runs:
        return ["not installed", *[None] * 5]
    seconds, growth, size = (median(run[what] for run in runs) for what in ("seconds", "growth", "X"))
    slower, larger = (ratio_of_runs(runs, theirs, what) for what in ("seconds", "growth"))
    return [seconds, slower, n_rounds / seconds if n_rounds else None, growth / 1e6, growth / size, larger]


def ratio_of_runs(runs: Sequence[dict], theirs: Sequence[dict], what: str) -> str | None:
    """Median, least and greatest ratio."""
    pairs = [(run[what], their[what]) for run, their in zip(runs, theirs, strict=False)]
    return spread([mine / their for mine, their in pairs]) if pairs and all(their for _, their in pairs) else None


# -------------------------------------------------------------------------------------------------------------------- streams


@dataclass
class Passed:
    """Of one pass over a stream: whether each row was predicted wrongly before it was learned from, and CPU time a row."""

    wrong: NDArray
    us: float


def streams(options: Options) -> Table:
    """Progressive errors and the time of a row."""
    few = options.rows(SLOW_ROWS)
    table = Table(
        "Streams of tables",
        [
            *("stream", "learner", "rows", f"error, first {few}", "error, all"),
            *("us a row", f"error, to {ARF.name} (ratio)", f"time, to {ARF.name} (ratio)"),
        ],
        note="Each row is predicted, then learned from; one pass.  CPU time of both, river's dictionaries made before; "
        f"defaults of all.  The forests learn from the first {few} rows alone, over which the errors' ratios are.  Streams are "
        "elec2 in order of time, a rotating hyperplane of ten columns, and SEA's concepts, both with 10 % of the labels flipped."
        + ("" if options.data else "  No --data: elec2 is skipped."),
    )
    for name, X, y in drifting(options):
        found = {learner.name: passed(learner, X, y, few) for learner in STREAM_LEARNERS if learner.installed}
        for learner in STREAM_LEARNERS:
            cells = stream_cells(found, learner.name, few) if learner.installed else ["not installed", *[None] * 5]
            table.rows.append([name, learner.name, *cells])
    return table


def drifting(options: Options) -> Iterator[tuple[str, NDArray, NDArray]]:
    """Names, rows and labels in their order."""
    if options.data is not None:
        yield "elec2", *read.elec2(options)
    for name, draw in (("hyperplane", rotating_hyperplane), ("SEA", sea)):
        yield name, *draw(options.rows(SLOW_ROWS))


def passed(learner: Contestant, X: NDArray, y: NDArray, few: int) -> Passed:
    """One pass over all rows, or the first."""
    n, task = few if learner in SLOW else len(y), Task(2)
    model = learner.make(task)
    first, *rows = learner.convert(model, X[:n], y[:n])
    learner.start(model, first, task)
    with no_collection():
        seconds, guesses = timed(Case(learner.name, partial(guess_and_take, learner, rows), lambda: model), process_time)
    predicted = np.array([np.ravel(guess)[0] for guess in guesses])
    return Passed(predicted != y[1:n], seconds / len(rows) * 1e6)


def guess_and_take(learner: Contestant, rows: list, model: Any) -> list:
    """Predict each row, then learn from it."""
    guesses, guess, take = [], learner.guess, learner.take
    for row in rows:
        guesses.append(guess(model, row))
        take(model, row)
    return guesses


def stream_cells(found: dict[str, Passed], name: str, few: int) -> list:
    """Errors and times of a learner."""
    of, theirs = found[name], found.get(ARF.name)
    error, every = float(of.wrong[: few - 1].mean()), float(of.wrong.mean())
    cells = [len(of.wrong) + 1, error, every if len(of.wrong) >= few else None, of.us]
    return [*cells, error / float(theirs.wrong.mean()), of.us / theirs.us] if theirs else [*cells, None, None]


# ------------------------------------------------------------------------------------------------------------------------ ranks


def ranks(options: Options) -> Table:
    """Mean absolute errors on the ordinal sets beside the better of two ways of LightGBM."""
    learners = [*TREES_OF_RANKS, *OURS_OF_RANKS]
    table = Table(
        "Ranks",
        ["data", "binning", *(learner.name for learner in learners), *(f"{ours.name} (ratio)" for ours in OURS_OF_RANKS)],
        note=f"Mean absolute error in ranks over {splits(options)}: 100 trees of LightGBM's classifier, the median of its "
        "probabilities, or of its regressor, rounded.  Ratios to the better of the two on that set, with "
        f"{ADDED} added to both.  Ten ranks of equal length (len) or of as many rows (rank).",
    )
    found = [(name, binning, of_ranks(name, binning, options)) for name in read.ORDINAL for binning in BINNINGS]
    for *about, of in found:
        errors = (of.get(learner.name, "not installed") for learner in learners)
        table.rows.append([*about, *errors, *(ratio_of_ranks(of, ours.name) for ours in OURS_OF_RANKS)])
    means = (geometric_mean(ratio_of_ranks(of, ours.name) for *_, of in found) for ours in OURS_OF_RANKS)
    table.rows.append([MEAN, *[None] * (1 + len(learners)), *means])
    return table


def of_ranks(name: str, binning: str, options: Options) -> dict[str, float]:
    """Of each learner that is installed, the mean error over the splits."""
    given = list(read.ordinal(options.data, name, binning, options.held_back.stop, standardise=False))
    learners = [learner for learner in (*TREES_OF_RANKS, *OURS_OF_RANKS) if learner.installed]
    chosen = [(seed, given[seed % len(given)]) for seed in numbers(options)]
    return {learner.name: float(np.mean([rank_error(learner, seed, split) for seed, split in chosen])) for learner in learners}


def rank_error(learner: Contestant, seed: int, split: tuple) -> float:
    """The mean distance of what is predicted on the test part."""
    X, y, X_test, y_test = split
    return mean_absolute(learner.predict(learner.fit(learner.make(Task(RANKS, seed=seed)), X, y), X_test), y_test)


def ratio_of_ranks(of: dict[str, float], name: str) -> float | None:
    """The error over that of the better of LightGBM's ways."""
    theirs = [of[trees.name] for trees in TREES_OF_RANKS if trees.name in of]
    return (of[name] + ADDED) / (min(theirs) + ADDED) if theirs else None


# --------------------------------------------------------------------------------------------------------------------- rankings


def rankings(options: Options) -> Table:
    """NDCG on the sets of queries beside LightGBM's lambdarank."""
    seeds = len(numbers(options))
    table = Table(
        "Rankings of tables",
        ["data", "learner", f"NDCG@{CUT_OFF}", f"1 - NDCG@{CUT_OFF}, to {RANKERS[0].name} (ratio)"],
        note=f"The set's own test part; mean of {seeds} seeds, columns as they are given.  Defaults of all.",
    )
    for data in SETS:
        train, test = read.ranking(options.data, data, standardise=False)
        found = {ranker.name: float(seed_ndcg(ranker, train, test, seeds).mean()) for ranker in RANKERS if ranker.installed}
        theirs = found.get(RANKERS[0].name)
        for ranker in RANKERS:
            reached = found.get(ranker.name, "not installed")
            ratio = (1 - reached) / (1 - theirs) if theirs is not None and ranker.installed else None
            table.rows.append([data, ranker.name, reached, ratio])
    return table
