"""Parameter mixing: a round on two threads, errors beside those of one learner, and bytes that would be sent."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.measure import Case, interleave, ratios
from benchmarks.read import NO_DATA, Dataset, reader, svmlight
from benchmarks.report import Table, spread
from benchmarks.tasks import Options, gaussian_classes, text
from sklearn_predtron import PredtronClassifier
from sklearn_predtron._core.mixable_state import contribution
from sklearn_predtron.mixing import ParameterMixing

SHARDS, THREADS = 8, 2
TIMED_ROUNDS = 8
ROUNDS = (1, 5, 20)
NORMS = ("l2", "l1", "scaled")
FASTER, ERROR = 1.6, 1.03  # goals
WIDTH, CLASSES = 50_000, 10
RATIO = f"{SHARDS} shards / 1 shard, after {ROUNDS[-1]}"


def run(options: Options) -> list[Table]:
    """One table of times, one of errors, one of bytes."""
    return [_threads(options), _errors(options), _bytes(options)]


def timed_sets(options: Options) -> Iterator[tuple[str, Any, Any]]:
    """Dense rows, and sparse ones of many features."""
    yield ("dense, 100 features", *gaussian_classes(options.rows(400_000), 100, CLASSES))
    yield (f"CSR, about 75 of {WIDTH} features", *text(options.rows(100_000), CLASSES, p=WIDTH))


def _threads(options: Options) -> Table:
    """Milliseconds of a round on one thread and on two."""
    one, two = "ms, 1 thread", f"ms, {THREADS} threads"
    table = Table(
        "A round of mixing on two threads",
        ["rows", "n", "classes", one, two, "times faster (ratio)", "goal", "met"],
        note=f"{SHARDS} shards of arrays; medians of {options.repeats} interleaved fits of {TIMED_ROUNDS} rounds, by round.",
    )
    for name, X, y in timed_sets(options):
        cases = [
            Case(title, lambda _, jobs=jobs, X=X, y=y: _mixture(n_jobs=jobs, rounds=TIMED_ROUNDS).fit(X, y))
            for title, jobs in ((one, 1), (two, THREADS))
        ]
        found = interleave(cases, options.repeats)
        faster = ratios(found[one], found[two])
        times = [1000 * found[title].seconds / TIMED_ROUNDS for title in (one, two)]
        table.rows.append([name, X.shape[0], CLASSES, *times, spread(faster), FASTER, bool(np.median(faster) >= FASTER)])
    return table


def _mixture(norm: str = "l2", **parameters: Any) -> ParameterMixing:
    return ParameterMixing(PredtronClassifier(norm=norm), **{"shards": SHARDS, "random_state": 0, **parameters})


def error_sets(options: Options) -> Iterator[Dataset]:
    """Few rows a shard; many rows of many classes, and sparse rows of two."""
    yield Dataset("digits", *load_digits(return_X_y=True))
    if options.data is not None:
        yield Dataset("letter", *reader(options.data).table("multiclass", "letter"))
        yield svmlight("a9a", options)


def _errors(options: Options) -> Table:
    """Errors on held-out rows after some rounds, of one shard, which is the learner alone, and of several."""
    measured = [f"{shards} shard{'s' * (shards > 1)}, {rounds}" for shards in (1, SHARDS) for rounds in ROUNDS]
    table = Table(
        "Errors of mixtures",
        ["data", "norm", *measured, RATIO, "goal", "met"],
        note=f"Percent of the test rows after so many rounds of one pass; one shard is the learner itself.  Means over "
        f"{options.seeds} splits (letter) or orders.  " + ("" if options.data else NO_DATA),
    )
    for data in error_sets(options):
        splits = [data.split(seed, options) for seed in range(options.seeds)]
        for norm in NORMS:
            errors = np.array([[_error(split, norm, seed, *case) for case in _cases()] for seed, split in enumerate(splits)])
            found = 100 * errors.mean(axis=0)
            ratio = float(found[-1] / found[len(ROUNDS) - 1])
            goal = (ERROR, bool(ratio <= ERROR)) if data.name != "digits" and norm != "l1" else (None, None)
            table.rows.append([data.name, norm, *found.tolist(), ratio, *goal])
    return table


def _cases() -> Iterator[tuple[int, int]]:
    """Yield shards and rounds."""
    for shards in (1, SHARDS):
        for rounds in ROUNDS:
            yield shards, rounds


def _error(split: tuple, norm: str, seed: int, shards: int, rounds: int) -> float:
    X, y, X_test, y_test = split
    mixed = _mixture(norm, shards=shards, rounds=rounds, random_state=seed).fit(X, y)
    return 1 - mixed.score(X_test, y_test)


def _bytes(options: Options) -> Table:
    """Bytes of arrays that a round would send to a worker, and that a shard would send back."""
    table = Table(
        "Bytes of a round",
        ["norm", "features", "classes", "to a worker", "per weight", "of a shard", "per weight"],
        note="Counted: arrays of the state that shards start with, and of what one of them contributes.",
    )
    X, y = text(options.rows(2000), CLASSES, p=WIDTH)
    for norm in NORMS:
        model = PredtronClassifier(norm=norm, average="linear").partial_fit(X, y, classes=range(CLASSES))
        before = model._model.learner.export()
        after = model.partial_fit(X, y)._model.learner.export()
        down, up = size_of({**before, "sum": {}}), size_of(contribution(before, after).state)
        weights = X.shape[1] * CLASSES
        table.rows.append([norm, X.shape[1], CLASSES, down, down / weights, up, up / weights])
    return table


def size_of(value: Any) -> int:
    """Return the bytes of all arrays in a state."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, (dict, tuple)):
        return sum(map(size_of, value.values() if isinstance(value, dict) else value))
    return 0
