"""What a decision threshold buys: F1 of rare classes and labels, beside cross-validated thresholds of logistic regression."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score

from benchmarks.contestants import OneVsRestLogistic, Ours, OursMultilabel, SklearnLogisticRegression, TunedLogistic
from benchmarks.contestants.base import Contestant
from benchmarks.measure import Case, timed
from benchmarks.read import Dataset, multilabel, svmlight
from benchmarks.report import Table
from benchmarks.tasks import Options, Task

LEAST_SCORE = 0.02  # what lower scores count as in ratios
# Rows, features, the share of positives, how far apart the classes are, the share of flipped labels.
GENERATED = (
    *((1000, 10, 0.1, 1.0, 0.01), (2000, 20, 0.05, 1.0, 0.01), (5000, 20, 0.02, 1.0, 0.01)),
    *((3000, 30, 0.1, 0.7, 0.05), (1500, 10, 0.2, 0.8, 0.05), (10_000, 20, 0.05, 0.5, 0.02)),
)
CONTESTANTS = [TunedLogistic(), SklearnLogisticRegression(), Ours("ours, decision=f1", decision="f1"), Ours()]
SETS = ("emotions", "yeast")
OF_SETS = [OneVsRestLogistic(), *(OursMultilabel(f"ours, decision={name}", decision=name) for name in ("macro_f1", "micro_f1"))]
OF_SETS += [OursMultilabel(), OursMultilabel("ours, loss=f1, decision=macro_f1", loss="f1", decision="macro_f1")]


def datasets(options: Options) -> Iterator[Dataset]:
    """Generated sets, and a sparse one."""
    for n, p, share, apart, flipped in GENERATED:
        X, y = make_classification(
            *(options.rows(n), p),
            n_informative=p // 2,
            n_redundant=2,
            weights=[1 - share],
            class_sep=apart,
            flip_y=flipped,
            random_state=0,
        )
        yield Dataset(f"generated, {n} x {p}, {share:.0%}", X, y)
    if options.data is not None:
        yield svmlight("a9a", options)


def run(options: Options) -> list[Table]:
    """F1 and times of two classes, F1 of sets of labels."""
    return [_binary_table(options), *([] if options.data is None else [_label_table(options)])]


def _binary_table(options: Options) -> Table:
    names = [contestant.name for contestant in CONTESTANTS]
    ratios = [f"{name} / {names[0]}" for name in names[1:]]
    table = Table(
        "F1 of the rarer class",
        ["data", *names, *ratios, f"time of {names[0]}", f"{names[0]} / {names[2]}, times"],
        note=f"Means over {options.many_held_back('splits')}, of a9a the given test part; times of `fit` in "
        f"seconds; in ratios a score below {LEAST_SCORE} counts as that.",
    )
    found = []
    for data in datasets(options):
        splits = options.held_back if data.test is None else options.held_back[:1]
        scores, times = np.mean([_scores_and_times(data.split(seed, options), seed) for seed in splits], axis=0)
        counted = np.maximum(scores, LEAST_SCORE)
        found.append((*(counted[1:] / counted[0]), times[0] / times[2]))
        table.rows.append([data.name, *scores.tolist(), *found[-1][:-1], times[0], found[-1][-1]])
    *means, faster = np.exp(np.log(np.array(found)).mean(axis=0)).tolist()
    table.rows.append(["geometric mean", *[None] * len(names), *means, None, faster])
    return table


def _scores_and_times(split: tuple, seed: int) -> tuple[list[float], list[float]]:
    """F1 on the test part of every contestant, and the seconds of its fit."""
    X, y, X_test, y_test = split
    y, y_test = (y == y.max()).astype(int), (y_test == y.max()).astype(int)
    scores, times = [], []
    for contestant in CONTESTANTS:
        seconds, model = _fit(contestant, X, y, seed)
        scores.append(f1_score(y_test, contestant.predict(model, X_test), zero_division=0))
        times.append(seconds)
    return scores, times


def _fit(contestant: Contestant, X: NDArray | sparse.csr_matrix, y: NDArray, seed: int) -> tuple[float, object]:
    return timed(Case(contestant.name, lambda model: contestant.fit(model, X, y), lambda: contestant.make(Task(seed=seed))))


def _label_table(options: Options) -> Table:
    table = Table(
        "F1 of sets of labels",
        ["data", "learner", "macro-F1", "micro-F1", "time of a fit"],
        note=f"The given test part; means over {options.many_held_back('seeds')}.",
    )
    for name in SETS:
        X, Y, X_test, Y_test = multilabel(options.data, name)
        for contestant in OF_SETS:
            found = []
            for seed in options.held_back:
                seconds, model = _fit(contestant, X, Y, seed)
                predicted = contestant.predict(model, X_test)
                found.append(
                    [*(f1_score(Y_test, predicted, average=kind, zero_division=0) for kind in ("macro", "micro")), seconds]
                )
            table.rows.append([name, contestant.name, *np.mean(found, axis=0).tolist()])
    return table
