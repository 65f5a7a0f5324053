"""Predictions of many rows and of one, beside scikit-learn's with the same weights."""

from collections.abc import Iterator
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contestants import Ours, SGDHinge
from benchmarks.contestants.base import Contestant
from benchmarks.measure import Case, interleave, ratios
from benchmarks.report import Table, blas, spread
from benchmarks.suites.fits import at_most
from benchmarks.suites.stream import predict_all
from benchmarks.tasks import Options, Task, gaussian_classes, text

THEIRS, OURS = SGDHinge(), Ours("ours, default")
LEARNERS = (THEIRS, OURS)
TO_THEIRS = f"to {THEIRS.name} (ratio)"
DENSE = {(k, p): 1.0 for k in (2, 10, 100) for p in (100, 1000)}
SPARSE = {2: 1.0, 10: 0.667, 100: 0.556}
FLOAT32 = (10, 100)
VALUES, CSR_ROWS = 10_000_000, 20_000
FIRST = 2000
ONE_ROW_CLASSES, ONE_ROW_COLUMNS, ONE_ROW_ROWS = (2, 10), 20, 200
COLUMNS = ["classes", "columns", "X in MB", "dtype", "learner", "ns per row", TO_THEIRS, "goal", "met", "same labels"]
NOTE = (
    "Whole calls of `predict`; both learners have the weights that ours learns from {first} rows.  {repeats} repeats, ratios "
    "within a repeat: median (least-greatest).  BLAS: {blas}."
)


def run(options: Options) -> list[Table]:
    """Dense rows, CSR rows, one row."""
    return [dense(options), csr(options), one_row(options)]


def dense(options: Options) -> Table:
    """Gaussian rows, beyond the cache."""
    table = Table("Prediction, dense", COLUMNS, note=note(options) + "  For 100 classes a ratio of 1.25 is the most to accept.")
    for (k, p), goal in DENSE.items():
        X, y = gaussian_classes(options.rows(VALUES // p), p, k)
        table.rows += pair_rows(k, X, y, X.nbytes, "float64", goal, options)
        if (k, p) == FLOAT32:
            X = X.astype(np.float32)
            table.rows += pair_rows(k, X, y, X.nbytes, "float32", None, options)
    return table


def csr(options: Options) -> Table:
    """Rows like text, with 100,000 columns."""
    table = Table("Prediction, sparse", COLUMNS, note=note(options))
    for k, goal in SPARSE.items():
        X, y = text(options.rows(CSR_ROWS), k)
        size = sum(part.nbytes for part in (X.data, X.indices, X.indptr))
        table.rows += pair_rows(k, X, y, size, f"CSR, {X.nnz / X.shape[0]:.1f} a row", goal, options)
    return table


def note(options: Options) -> str:
    """What is below the titles of both tables."""
    return NOTE.format(first=FIRST, repeats=options.many, blas=blas())


def pair_rows(k: int, X: Any, y: NDArray, size: int, dtype: str, goal: float | None, options: Options) -> Iterator[list]:
    """The rows of theirs and of ours."""
    models = same_weights(k, X[:FIRST], y[:FIRST])
    cases = [Case(learner.name, model.predict, lambda: X) for learner, model in zip(LEARNERS, models, strict=True)]
    measured = interleave(cases, options.many)
    for learner, aim in zip(LEARNERS, (None, goal), strict=True):
        found, theirs = measured[learner.name], measured[THEIRS.name]
        ratio = ratios(found, theirs)
        cells = [found.seconds / X.shape[0] * 1e9, spread(ratio), *at_most(median(ratio), aim)]
        same = float((found.result == theirs.result).mean())
        yield [k, X.shape[1], size / 1e6, dtype, learner.name, *cells, same]


def same_weights(k: int, X: Any, y: NDArray) -> tuple[Any, Any]:
    """Theirs and ours, both with what ours learns."""
    theirs, ours = (learner.fit(learner.make(Task(k, epochs=1)), X, y) for learner in LEARNERS)
    theirs.coef_[:], theirs.intercept_[:] = ours.coef_, ours.intercept_
    return theirs, ours


def one_row(options: Options) -> Table:
    """Calls with one dense row."""
    n = options.rows(ONE_ROW_ROWS)
    table = Table(
        "Prediction, one row",
        ["classes", "learner", "predict, us", TO_THEIRS, "partial_fit and predict, us", TO_THEIRS],
        note=f"{ONE_ROW_COLUMNS} columns; {n} rows, the same in each repeat: each is predicted by a learner that has seen them, "
        f"or learned and then predicted.  {options.many} repeats.",
    )
    for k in ONE_ROW_CLASSES:
        X, y = gaussian_classes(n, ONE_ROW_COLUMNS, k)
        measured = []
        for call in (predict_all, learn_and_predict_all):
            cases = [one_row_case(learner, k, X, y, call) for learner in LEARNERS]
            measured.append(interleave(cases, options.many))
        for learner in LEARNERS:
            table.rows.append([k, learner.name])
            for found in measured:
                ratio = ratios(found[learner.name], found[THEIRS.name])
                table.rows[-1] += [found[learner.name].seconds / n * 1e6, spread(ratio)]
    return table


def one_row_case(learner: Contestant, k: int, X: NDArray, y: NDArray, call: Any) -> Case:
    """A call with each row, of a learner that has seen all."""
    model = learner.fit(learner.make(Task(k, epochs=1)), X, y)
    return Case(learner.name, partial(call, learner, model, learner.convert(model, X, y)))


def learn_and_predict_all(learner: Contestant, model: Any, rows: list, _: None) -> None:
    """Learn from each row, and predict it."""
    take, guess = learner.take, learner.guess
    for row in rows:
        take(model, row)
        guess(model, row)
