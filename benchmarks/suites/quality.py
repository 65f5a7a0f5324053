"""Accuracy of the defaults beside the baselines, on small sets, on streams in order of time, and under a change of units."""

import warnings
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from benchmarks.contestants import (
    Ours,
    SGDAveraged,
    SGDPassiveAggressive,
    SklearnLinearSVC,
    SklearnLogisticRegression,
    SklearnPerceptron,
)
from benchmarks.contestants.base import Contestant
from benchmarks.read import NO_DATA, Dataset, classification, elec2
from benchmarks.report import Table, mean_error
from benchmarks.suites import epochs
from benchmarks.tasks import Options, Task

OURS, PERCEPTRON, SGD, LOGISTIC = Ours("ours, default"), SklearnPerceptron(), SGDAveraged(), SklearnLogisticRegression()
CONTESTANTS: list[Contestant] = [OURS, PERCEPTRON, SGD, LOGISTIC, SklearnLinearSVC(), SGDPassiveAggressive()]
POINT = 0.01
SCALES = (0.01, 100.0)
LARGEST_CHANGE = 0.005
STREAMS = [
    Ours("ours, average=False", average=False),
    Ours("ours, average=1000", average=1000.0),
    OURS,
    PERCEPTRON,
]
ERROR_GOALS = {"standardised": 0.10, "raw": 0.147}


def run(options: Options) -> list[Table]:
    """Accuracies and their goals, invariance, the epochs of small sets, the stream."""
    sets = list(classification(options))
    scores = {data.name: accuracies(data, options) for data in sets}
    tables = [_accuracy_table(scores, options), _goal_table(scores), scaling(sets, options)]
    tables += [epochs.errors(options), epochs.times(options)]
    return tables if options.data is None else [*tables, progressive(options)]


def accuracy(contestant: Contestant, task: Task, split: tuple, factor: float = 1.0) -> float:
    """Accuracy on the test part, X being multiplied by a factor."""
    X, y, X_test, y_test = split
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = contestant.fit(contestant.make(task), X * factor, y)
    return float((contestant.predict(model, X_test * factor) == y_test).mean())


def accuracies(data: Dataset, options: Options) -> dict[str, NDArray]:
    """Of each contestant, one of each seed."""
    k = len(np.unique(data.y))
    scores: dict[str, list] = {contestant.name: [] for contestant in CONTESTANTS}
    for seed in range(options.seeds):
        split = data.split(seed, options)
        for contestant in CONTESTANTS:
            scores[contestant.name].append(accuracy(contestant, Task(k, seed=seed), split))
    return {name: np.array(values) for name, values in scores.items()}


def standard_error(values: NDArray) -> float:
    """Of the mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def _accuracy_table(scores: dict[str, dict], options: Options) -> Table:
    table = Table(
        "Accuracy of the defaults",
        ["data", *(contestant.name for contestant in CONTESTANTS)],
        note=f"Mean ± standard error of {options.seeds} seeds; scikit-learn's defaults but for `max_iter=2000` of "
        "`LogisticRegression`.  Stratified 70/30 splits, standardised; a9a and rcv1_small as they are, on their own test parts. "
        + ("" if options.data else NO_DATA),
    )
    for data, found in scores.items():
        table.rows.append(
            [
                data,
                *(
                    mean_error(found[contestant.name].mean(), standard_error(found[contestant.name]))
                    for contestant in CONTESTANTS
                ),
            ]
        )
    table.rows.append(
        ["mean", *(float(np.mean([found[contestant.name].mean() for found in scores.values()])) for contestant in CONTESTANTS)]
    )
    return table


def _goal_table(scores: dict[str, dict]) -> Table:
    """Points ahead of the better perceptron-like baseline, and of logistic regression."""
    table = Table(
        "Points of accuracy ahead",
        ["data", "of the better of Perceptron and averaged SGD", "goal", "met", "of LogisticRegression", "goal", "met"],
        note="Differences of the mean accuracies, in hundredths.",
    )
    ahead = {}
    for data, found in scores.items():
        ours, perceptron, sgd, logistic = (found[contestant.name].mean() for contestant in (OURS, PERCEPTRON, SGD, LOGISTIC))
        ahead[data] = (ours - max(perceptron, sgd), ours - logistic)
        table.rows.append([data, 100 * ahead[data][0], ">= -1", bool(ahead[data][0] >= -POINT), 100 * ahead[data][1], None, None])
    online, logistic = np.mean(list(ahead.values()), axis=0)
    goals = ["> 0", bool(online > 0), float(100 * logistic), ">= -1", bool(logistic >= -POINT)]
    table.rows.append(["mean", float(100 * online), *goals])
    return table


def scaling(sets: list[Dataset], options: Options) -> Table:
    """The largest change of a default score when X is multiplied by a constant."""
    table = Table(
        "X in other units",
        ["data", "accuracy", *(f"largest change, X times {factor:g}" for factor in SCALES), "goal", "met"],
        note="All defaults of ours; the largest change over the seeds.",
    )
    for data in sets:
        k = len(np.unique(data.y))
        found = np.array([_scaled(Task(k, seed=seed), data.split(seed, options)) for seed in range(options.seeds)])
        change = np.abs(found[:, 1:] - found[:, :1]).max(axis=0)
        row = [data.name, float(found[:, 0].mean()), *map(float, change)]
        table.rows.append([*row, f"at most {LARGEST_CHANGE}", bool(change.max() <= LARGEST_CHANGE)])
    return table


def _scaled(task: Task, split: tuple) -> list[float]:
    return [accuracy(OURS, task, split, factor) for factor in (1.0, *SCALES)]


def progressive(options: Options) -> Table:
    """elec2 in order of time: each row is predicted, then learned from."""
    table = Table(
        "Progressive error on a drifting stream (elec2)",
        ["features", "learner", "error", "goal", "met"],
        note="One pass in order of time.  The suite averages has more streams.",
    )
    X, y = elec2(options)
    for features, rows in (("standardised", StandardScaler().fit_transform(X)), ("raw", X)):
        for contestant in STREAMS:
            error = progressive_error(contestant, rows, y)
            most = ERROR_GOALS[features]
            goal = [f"at most {most}", error <= most] if contestant is STREAMS[0] else [None, None]
            table.rows.append([features, contestant.name, error, *goal])
    return table


def progressive_error(contestant: Contestant, X: NDArray, y: NDArray) -> float:
    """Share of the rows after the first that are predicted wrongly before they are learned from."""
    task = Task(2)
    model = contestant.make(task)
    rows = contestant.convert(model, X, y)
    contestant.start(model, rows[0], task)
    wrong = partial(_wrong, contestant, model)
    return float(np.mean([wrong(row) for row in rows[1:]]))


def _wrong(contestant: Contestant, model: Any, row: tuple) -> bool:
    wrong = bool(contestant.guess(model, row)[0] != row[1][0])
    contestant.take(model, row)
    return wrong
