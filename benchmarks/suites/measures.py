"""What learning by batches buys: balanced accuracy and F1 of rare classes, beside learners of rows with weights or thresholds."""

from collections.abc import Callable

import numpy as np
from sklearn.metrics import balanced_accuracy_score, f1_score

from benchmarks.contestants import BalancedLogisticRegression, Ours, OursBipartite, TunedLogistic
from benchmarks.contestants.base import Contestant
from benchmarks.measure import Case, timed
from benchmarks.report import Table
from benchmarks.suites.thresholds import LEAST_SCORE, datasets
from benchmarks.tasks import Options, Task

# The peer first, then what is learned by batches; each table's ratios are to the peer.
BALANCED = [
    BalancedLogisticRegression(),
    OursBipartite("batches, balanced", loss="balanced"),
    OursBipartite("batches, balanced, decision=fitted", loss="balanced", decision="fitted"),
    OursBipartite("batches, balanced, balance=0, decision=0", loss="balanced", balance=0.0, decision=0.0),
    Ours("rows, decision=balanced", decision="balanced"),
    Ours("rows, class_weight=balanced", class_weight="balanced"),
]
F1 = [
    TunedLogistic(),
    OursBipartite("batches, f1", loss="f1"),
    OursBipartite("batches, f1, decision=0", loss="f1", decision=0.0),
    OursBipartite("batches, f1, balance=0", loss="f1", balance=0.0),
    Ours("rows, decision=f1", decision="f1"),
]


def run(options: Options) -> list[Table]:
    """Balanced accuracy and F1, with the times of a fit."""
    return [
        *_tables("Balanced accuracy", BALANCED, balanced_accuracy_score, options),
        *_tables("F1 of the rarer class, by batches", F1, lambda y, predicted: f1_score(y, predicted, zero_division=0), options),
    ]


def _tables(title: str, contestants: list[Contestant], measure: Callable, options: Options) -> list[Table]:
    names = [contestant.name for contestant in contestants]
    table = Table(
        title,
        ["data", *names, *(f"{name} / {names[0]}" for name in names[1:])],
        note=f"Means over {options.many_held_back('splits')}; a score below {LEAST_SCORE} counts as that.",
    )
    times = Table(f"{title}: seconds of a fit", ["data", *names], note="Means over the same splits.")
    found = []
    for data in datasets(options):
        splits = options.held_back if data.test is None else options.held_back[:1]
        scores, seconds = np.mean([_measured(contestants, measure, data.split(i, options), i) for i in splits], axis=0)
        found.append(np.maximum(scores, LEAST_SCORE)[1:] / max(scores[0], LEAST_SCORE))
        table.rows.append([data.name, *scores.tolist(), *found[-1].tolist()])
        times.rows.append([data.name, *seconds.tolist()])
    table.rows.append(["geometric mean", *[None] * len(names), *np.exp(np.log(found).mean(axis=0)).tolist()])
    return [table, times]


def _measured(contestants: list[Contestant], measure: Callable, split: tuple, seed: int) -> tuple[list[float], list[float]]:
    """The score of every contestant on the test part, and the seconds of its fit."""
    X, y, X_test, y_test = split
    y, y_test = (y == y.max()).astype(int), (y_test == y.max()).astype(int)
    scores, times = [], []
    for contestant in contestants:

        def fit(model: object, contestant: Contestant = contestant) -> object:
            return contestant.fit(model, X, y)

        def fresh(contestant: Contestant = contestant) -> object:
            return contestant.make(Task(seed=seed))

        seconds, model = timed(Case(contestant.name, fit, fresh))
        scores.append(measure(y_test, contestant.predict(model, X_test)))
        times.append(seconds)
    return scores, times
