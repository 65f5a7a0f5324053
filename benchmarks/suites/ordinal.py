"""Ordinal regression: fits and streams beside the baselines, and the absolute error of the defaults."""

import warnings
from collections.abc import Iterable
from statistics import median

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from benchmarks.contestants import ORDINAL_CONTESTANTS, MordLogisticAT, Ours, OursOrdinal, RidgeRound
from benchmarks.contestants.base import Contestant
from benchmarks.measure import Measured, interleave, ratios
from benchmarks.read import ORDINAL, ordinal
from benchmarks.report import Table, mean_error, spread
from benchmarks.suites.fits import at_most, fit_case, verdict
from benchmarks.suites.quality import standard_error
from benchmarks.suites.stream import learn_case
from benchmarks.tasks import Options, Task, gaussian_ranks, held_out

RANKS, COLUMNS = 10, 50
OURS, ONE_EPOCH, LOGISTIC, RIDGE = OursOrdinal("ours, default"), OursOrdinal("ours, one epoch"), MordLogisticAT(), RidgeRound()
CONTESTANTS: list[Contestant] = [OURS, *(contestant for contestant in ORDINAL_CONTESTANTS if contestant.module != OURS.module)]
FITS = [(ONE_EPOCH, Task(RANKS, epochs=1)), *((contestant, Task(RANKS)) for contestant in CONTESTANTS)]
FASTER = {OURS.name: 5.0, ONE_EPOCH.name: 50.0}
LARGEST_ERROR = {OURS.name: 1.03}
LARGEST_DELAY = 1.5
BINNINGS = ("len5", "len10", "rank5", "rank10")
SPLITS = 20
STOCKS = "stocks_domain"
LARGEST_RATIOS = {None: 0.97, STOCKS: 1.02}
NO_SETS = "No --data: the errors on the nine sets are skipped."
Errors = dict[tuple[str, str], dict[str, NDArray]]


def run(options: Options) -> list[Table]:
    """Fits, one row at a time, errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tables = [fits(options), streams(options)]
        return tables if options.data is None else [*tables, *quality(options)]


def mean_absolute(predicted: NDArray, y: NDArray) -> float:
    """The mean distance in ranks."""
    return float(np.abs(predicted - y).mean())


# ---------------------------------------------------------------------------------------------------------------------- speed


def fits(options: Options) -> Table:
    """Whole fits beside LogisticAT's."""
    table = Table(
        "Ordinal fits",
        ["learner", "seconds", "times faster (ratio)", "goal", "met", "MAE", "ratio of MAE", "goal", "met"],
        note=f"Whole calls of `fit`; {RANKS} ranks of as many rows each, {COLUMNS} columns, a Gaussian latent variable whose "
        f"linear part has twice the standard deviation of its noise.  Ratios to `{LOGISTIC.name}`; mean absolute error (MAE) in "
        "ranks on as many held-out rows.  Defaults of all, ours in all its epochs and in one.  "
        + ("" if options.data else NO_SETS),
    )
    n = options.rows(10_000)
    X, y, X_test, y_test = held_out(*gaussian_ranks(2 * n, COLUMNS, RANKS), n)
    measured = interleave(
        [fit_case(contestant, task, X, y) for contestant, task in FITS if contestant.installed], options.repeats
    )
    installed = [contestant for contestant, _ in FITS if contestant.installed]
    errors = {
        contestant.name: mean_absolute(contestant.predict(measured[contestant.name].result, X_test), y_test)
        for contestant in installed
    }
    for contestant, _ in FITS:
        cells = _fit_cells(contestant.name, measured, errors) if contestant.installed else ["not installed", *[None] * 7]
        table.rows.append([contestant.name, *cells])
    return table


def _fit_cells(name: str, measured: dict[str, Measured], errors: dict[str, float]) -> list:
    seconds, error = measured[name].seconds, errors[name]
    if LOGISTIC.name not in measured:
        return [seconds, *[None] * 3, error, *[None] * 3]
    faster = ratios(measured[LOGISTIC.name], measured[name])
    relative = error / errors[LOGISTIC.name]
    goals = at_most(relative, LARGEST_ERROR.get(name))
    return [seconds, spread(faster), *verdict(faster, FASTER.get(name)), error, relative, *goals]


def streams(options: Options) -> Table:
    """partial_fit of one row, beside the binary classifier's."""
    table = Table(
        "Ordinal streams, one row at a time",
        ["learner", "ranks", "learn, us", "ratio", "goal", "met"],
        note=f"`partial_fit` of one row; {COLUMNS} columns, the same rows again in each repeat.  The ratio is to the binary "
        "classifier, which learns whether a row is in the upper half of the ranks.",
    )
    n = options.rows(1000)
    X, y = gaussian_ranks(n, COLUMNS, RANKS)
    binary, ours = Ours("ours, binary"), OursOrdinal("ours, ordinal")
    cases = [learn_case(binary, 2, X, (y >= RANKS // 2).astype(int)), learn_case(ours, RANKS, X, y)]
    measured = interleave(cases, options.repeats)
    for name, ranks, goal in ((binary.name, 2, None), (ours.name, RANKS, LARGEST_DELAY)):
        slower = ratios(measured[name], measured[binary.name])
        table.rows.append([name, ranks, measured[name].seconds / n * 1e6, spread(slower), *at_most(median(slower), goal)])
    return table


# -------------------------------------------------------------------------------------------------------------------- quality


def quality(options: Options) -> list[Table]:
    """Errors of the defaults on the nine sets."""
    splits = SPLITS if options.scale == 1 else options.seeds
    sets = [(name, binning) for name in ORDINAL for binning in BINNINGS]
    errors = {about: split_errors(ordinal(options.data, *about, splits)) for about in sets}
    return [_ratio_table(errors, splits), _error_table(errors, splits)]


def split_errors(splits: Iterable[tuple]) -> dict[str, NDArray]:
    """Of each contestant that is installed, the error of each split, whose number is the seed."""
    installed = [contestant for contestant in CONTESTANTS if contestant.installed]
    found = [[_error(contestant, seed, split) for contestant in installed] for seed, split in enumerate(splits)]
    return {contestant.name: np.array(column) for contestant, column in zip(installed, zip(*found, strict=True), strict=True)}


def _error(contestant: Contestant, seed: int, split: tuple) -> float:
    X, y, X_test, y_test = split
    model = contestant.fit(contestant.make(Task(RANKS, seed=seed)), X, y)
    return mean_absolute(contestant.predict(model, X_test), y_test)


def mean_ratio(errors: Errors, name: str, reference: str, without: str | None) -> float | None:
    """Mean over sets and binnings of the ratio of the mean errors; None where one of the two is not installed."""
    pairs = [(found.get(name), found.get(reference)) for (data, _), found in errors.items() if data != without]
    if any(ours is None or theirs is None for ours, theirs in pairs):
        return None
    return float(np.mean([ours.mean() / theirs.mean() for ours, theirs in pairs]))


def _ratio_table(errors: Errors, splits: int) -> Table:
    table = Table(
        "Ordinal errors beside LogisticAT's",
        ["learner", "all sets", "goal", "met", f"without {STOCKS}", "goal", "met"],
        note=f"Mean over {len(ORDINAL)} sets and {len(BINNINGS)} binnings of the ratio to the MAE of `{LOGISTIC.name}`, each the "
        f"mean of {splits} splits.  Defaults of all; features standardised on the training part.",
    )
    for contestant in CONTESTANTS:
        cells = _goal_cells(errors, contestant) if contestant.installed else ["not installed", *[None] * 5]
        table.rows.append([contestant.name, *cells])
    ahead = [mean_ratio(errors, OURS.name, RIDGE.name, without) for without in LARGEST_RATIOS]
    table.rows.append([f"{OURS.name}, to {RIDGE.name}", *(cell for ratio in ahead for cell in (ratio, "below 1", ratio < 1))])
    return table


def _goal_cells(errors: Errors, contestant: Contestant) -> list:
    cells = []
    for without, goal in LARGEST_RATIOS.items():
        ratio = mean_ratio(errors, contestant.name, LOGISTIC.name, without)
        cells += [ratio, *at_most(ratio, goal if contestant is OURS else None)]
    return cells


def _error_table(errors: Errors, splits: int) -> Table:
    table = Table(
        "Ordinal errors",
        ["data", "binning", *(contestant.name for contestant in CONTESTANTS)],
        note=f"MAE in ranks: mean ± standard error of {splits} splits.  Of equal length (len) or as many rows in each (rank).",
    )
    for about, found in errors.items():
        table.rows.append([*about, *(_mean_cell(found.get(contestant.name)) for contestant in CONTESTANTS)])
    return table


def _mean_cell(values: NDArray | None) -> str:
    return "not installed" if values is None else mean_error(values.mean(), standard_error(values))
