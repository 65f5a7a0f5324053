"""Sets of labels: fits and streams beside the baselines, and the losses of the defaults and of each loss."""

import warnings
from collections.abc import Callable
from statistics import median

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from benchmarks.contestants import (
    MULTILABEL_CONTESTANTS,
    MultiOutputPerceptron,
    MultiOutputSGDAveraged,
    OneVsRestLogistic,
    Ours,
    OursMultilabel,
    OursMultilabelPerceptron,
)
from benchmarks.contestants.multi_output_perceptron import UncheckedMultiOutputPerceptron
from benchmarks.measure import Measured, interleave, ratios
from benchmarks.read import multilabel, standardised
from benchmarks.report import Table, mean_error, spread
from benchmarks.suites.fits import at_most, fit_case, verdict
from benchmarks.suites.quality import standard_error
from benchmarks.suites.stream import learn_case
from benchmarks.tasks import Options, Task, held_out, label_sets

LABELS, COLUMNS, FEW_COLUMNS = 50, 200, 50
ROWS, HELD_OUT, STREAM_ROWS, STREAM_ROWS_OF_CONTESTANT = 20_000, 4000, 1000, 10
SETS = ("emotions", "yeast")
OURS, F1, SGD, LOGISTIC = OursMultilabel().name, "ours, f1", MultiOutputSGDAveraged().name, OneVsRestLogistic().name
PERCEPTRON, UNCHECKED = MultiOutputPerceptron(), UncheckedMultiOutputPerceptron()
ONE_EPOCH, OURS_PERCEPTRON = OursMultilabel("ours, one epoch"), OursMultilabelPerceptron("ours, perceptron, one epoch")
FASTER = {ONE_EPOCH.name: 10.0, OURS_PERCEPTRON.name: 10.0}
LARGEST_DELAY = 3.0
LARGEST_F1_RATIO = 0.95
NO_SETS = "No --data: the losses on emotions and yeast are skipped."
Measure = Callable[[NDArray, NDArray], float]


def run(options: Options) -> list[Table]:
    """Fits, one row at a time, losses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tables = [fits(options), streams(options), made_up(options)]
        return tables if options.data is None else [*tables, *given(options)]


# ------------------------------------------------------------------------------------------------------------------- measures


def hamming(predicted: NDArray, Y: NDArray) -> float:
    """The share of labels that are wrong."""
    return float((predicted != Y).mean())


def micro_f1(predicted: NDArray, Y: NDArray) -> float:
    """F1 of all labels of all rows together."""
    return float(2 * (predicted * Y).sum() / (predicted.sum() + Y.sum()))


def one_minus_f1(predicted: NDArray, Y: NDArray) -> float:
    """The mean over the rows of 1 - F1, which is 0 where both sets are empty."""
    sizes = predicted.sum(axis=1) + Y.sum(axis=1)
    return float(1 - np.where(sizes == 0, 1, 2 * (predicted * Y).sum(axis=1) / np.maximum(sizes, 1)).mean())


def subset_zero_one(predicted: NDArray, Y: NDArray) -> float:
    """The share of rows whose set is not the true one."""
    return float((predicted != Y).any(axis=1).mean())


LOSSES: dict[str, Measure] = {"Hamming loss": hamming, "1 - F1": one_minus_f1, "subset 0-1 loss": subset_zero_one}
SCORES: dict[str, Measure] = {"Hamming loss": hamming, "micro-F1": micro_f1}


def measured_by(measures: dict[str, Measure], seed: int, split: tuple) -> dict[str, dict[str, float]]:
    """The measures on the test part of every contestant."""
    X, Y, X_test, Y_test = split
    task, found = Task(Y.shape[1], seed=seed), {}
    for contestant in MULTILABEL_CONTESTANTS:
        predicted = contestant.predict(contestant.fit(contestant.make(task), X, Y), X_test).astype(int)
        found[contestant.name] = {name: measure(predicted, Y_test) for name, measure in measures.items()}
    return found


def with_both(Y: NDArray, Y_test: NDArray) -> tuple[NDArray, NDArray]:
    """The labels that some rows of the training part have and some have not; several contestants cannot take others."""
    some = (Y.min(axis=0) == 0) & (Y.max(axis=0) == 1)
    return Y[:, some], Y_test[:, some]


def drawn(options: Options) -> tuple:
    """The made-up rows to learn from and to test on."""
    n = options.rows(ROWS)
    X, Y, X_test, Y_test = held_out(*label_sets(n + options.rows(HELD_OUT), COLUMNS, LABELS), n)
    Y, Y_test = with_both(Y, Y_test)
    return X, Y, X_test, Y_test


# ---------------------------------------------------------------------------------------------------------------------- speed


def fits(options: Options) -> Table:
    """Epochs and whole fits beside one perceptron for each label."""
    X, Y, _, _ = drawn(options)
    m = Y.shape[1]
    epoch = Task(m, epochs=1, shuffle=False)
    timed = [(PERCEPTRON, epoch), (UNCHECKED, epoch), (OURS_PERCEPTRON, epoch), (ONE_EPOCH, epoch), (OursMultilabel(), Task(m))]
    table = Table(
        "Multilabel fits",
        ["learner", "seconds", "times faster (ratio)", "goal", "met", "without its checks (ratio)", "goal", "met"],
        note=f"Whole calls of `fit`: one epoch in the given order, and the default fit of ours in all its epochs; {len(X)} rows, "
        f"{COLUMNS} columns, {m} labels.  Ratios to `{PERCEPTRON.name}`, whose `fit` checks X once for each label, and to the "
        "same where it does not: with `assume_finite=True` and `skip_parameter_validation=True`, which leaves out its passes "
        "over X in search of nan and infinity; ours checks X, once, in both.  Plain perceptrons of both learn the same weights.  "
        + ("" if options.data else NO_SETS),
    )
    measured = interleave([fit_case(contestant, task, X, Y) for contestant, task in timed], options.repeats)
    table.rows += [
        [contestant.name, measured[contestant.name].seconds, *_faster_cells(contestant.name, measured)] for contestant, _ in timed
    ]
    return table


def _faster_cells(name: str, measured: dict[str, Measured]) -> list:
    cells = []
    for reference in (PERCEPTRON, UNCHECKED):
        faster = ratios(measured[reference.name], measured[name])
        cells += [spread(faster), *verdict(faster, FASTER.get(name))]
    return cells


def streams(options: Options) -> Table:
    """partial_fit of one row, beside the binary classifier's."""
    n = options.rows(STREAM_ROWS)
    X, Y = label_sets(n, COLUMNS, LABELS)
    y, few = Y[:, Y.sum(axis=0).argmax()], min(n, STREAM_ROWS_OF_CONTESTANT)
    table = Table(
        "Multilabel streams, one row at a time",
        ["learner", "labels", "columns", "learn, us", *(f"ratio, {p} columns" for p in (COLUMNS, FEW_COLUMNS)), "goal", "met"],
        note="`partial_fit` of one row, the same rows again in each repeat.  Ratios to the binary classifier, which learns the "
        f"commonest label, at {COLUMNS} and at {FEW_COLUMNS} columns; the goal is for both.  {few} rows of `{PERCEPTRON.name}`.",
    )
    binaries = {p: Ours(f"ours, binary, {p} columns") for p in (COLUMNS, FEW_COLUMNS)}
    ours = OursMultilabel()
    cases = [(learn_case(contestant, 2, np.ascontiguousarray(X[:, :p]), y), n, 1, p) for p, contestant in binaries.items()]
    cases.append((learn_case(ours, LABELS, X, Y), n, LABELS, COLUMNS))
    cases.append((learn_case(PERCEPTRON, LABELS, X[:few], Y[:few]), few, LABELS, COLUMNS))
    measured = interleave([case for case, *_ in cases], options.repeats)
    by_row = {case.name: Measured([seconds / rows for seconds in measured[case.name].times]) for case, rows, _, _ in cases}
    for case, _, m, p in cases:
        slower = [ratios(by_row[case.name], by_row[binary.name]) for binary in binaries.values()]
        goal = at_most(max(map(median, slower)), LARGEST_DELAY if case.name == ours.name else None)
        table.rows.append([case.name, m, p, by_row[case.name].seconds * 1e6, *map(spread, slower), *goal])
    return table


# -------------------------------------------------------------------------------------------------------------------- quality


def made_up(options: Options) -> Table:
    """Losses on the made-up set."""
    X, Y, X_test, Y_test = drawn(options)
    table = Table(
        "Multilabel losses, made-up set",
        ["X", "learner", "Hamming loss", "goal", "met", "micro-F1", "goal", "met"],
        note=f"{len(X)} rows to learn from and {len(X_test)} to test on, {COLUMNS} columns, {Y.shape[1]} labels, on average "
        f"{Y.sum(axis=1).mean():.1f} of them in a row.  Defaults of all, and ours with other losses; the goals are the values of "
        f"`{SGD}`.",
    )
    for about, (train, test) in {"raw": (X, X_test), "standardised": standardised(X, X_test)}.items():
        found = measured_by(SCORES, 0, (train, Y, test, Y_test))
        table.rows += [[about, name, *_score_cells(name, values, found[SGD])] for name, values in found.items()]
    return table


def _score_cells(name: str, values: dict[str, float], goals: dict[str, float]) -> list:
    (loss, f1), (goal, f1_goal) = values.values(), goals.values()
    if name != OURS:
        return [loss, None, None, f1, None, None]
    return [loss, *at_most(loss, goal), f1, *verdict([f1], f1_goal)]


def given(options: Options) -> list[Table]:
    """Losses on the sets of --data, by their own parts."""
    losses = {name: seed_losses(options, name) for name in SETS}
    return [_set_goals(losses), _set_losses(losses, options.seeds)]


def seed_losses(options: Options, name: str) -> dict[str, dict[str, NDArray]]:
    """Of each contestant, each loss of each seed."""
    X, Y, X_test, Y_test = multilabel(options.data, name)
    Y, Y_test = with_both(Y, Y_test)
    found = [measured_by(LOSSES, seed, (X, Y, X_test, Y_test)) for seed in range(options.seeds)]
    return {
        contestant: {loss: np.array([values[contestant][loss] for values in found]) for loss in LOSSES} for contestant in found[0]
    }


def _set_goals(losses: dict[str, dict]) -> Table:
    table = Table(
        "Multilabel goals",
        ["data", "measure", "learner", "beside", "ratio", "goal", "met"],
        note="Ratio of the mean losses.",
    )
    for data, found in losses.items():
        for measure, name, other, goal in (("Hamming loss", OURS, LOGISTIC, 1.0), ("1 - F1", F1, OURS, LARGEST_F1_RATIO)):
            ratio = float(found[name][measure].mean() / found[other][measure].mean())
            table.rows.append([data, measure, name, other, ratio, *at_most(ratio, goal)])
    return table


def _set_losses(losses: dict[str, dict], seeds: int) -> Table:
    table = Table(
        "Multilabel losses",
        ["data", "learner", *LOSSES],
        note=f"Mean ± standard error of {seeds} seeds on the set's own test part; features standardised on the training part.  "
        "Defaults of all, and ours with other losses; 1 - F1 is the mean over the rows.",
    )
    for data, found in losses.items():
        for name, values in found.items():
            cells = [mean_error(of_seeds.mean(), standard_error(of_seeds)) for of_seeds in values.values()]
            table.rows.append([data, name, *cells])
    return table
