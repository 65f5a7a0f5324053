"""How far epochs and predictions are from a bare loop over the rows, and norms and unsorted rows from plain ones."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks import bare
from benchmarks.contestants import Ours, OursPerceptron, SklearnPerceptron
from benchmarks.contestants.base import Contestant
from benchmarks.measure import Case, Measured, interleave, ratios
from benchmarks.report import Table, blas, spread
from benchmarks.suites.fits import at_most, fit_case
from benchmarks.suites.throughput_sparse import INTERCEPT_SCALING
from benchmarks.tasks import Options, Task, gaussian_classes, text

THEIRS, OURS = SklearnPerceptron(), OursPerceptron("ours")
READ, BARE = "reading X", "the bare loop"
TO_BARE, TO_THEIRS, TO_PLAIN = f"to {BARE} (ratio)", f"to {THEIRS.name} (ratio)", "to l2, sorted (ratio)"
EPOCH, PREDICTION = "epoch, {}", "predict, {}"
PEERS = {call.format(learner.name): call.format(THEIRS.name) for call in (EPOCH, PREDICTION) for learner in (THEIRS, OURS)}
OUR_EPOCH = EPOCH.format(OURS.name)
NO_COMPILER = "no compiler"
DENSE = {100: 1.35, 1000: 1.2}
VALUES, CSR_ROWS, SMALL = 20_000_000, 40_000, (150, 4)
CSR_GOAL = 0.588
PLAIN, UNSORTED = "l2", "l2, unsorted"
VARIANTS = {PLAIN: None, "l1": 4.0, "scaled": 2.2, UNSORTED: 1.15}
FITS = 20


def run(options: Options) -> list[Table]:
    """Dense rows, CSR rows, norms, a small fit."""
    return [dense(options), csr(options), variants(options), small(options)]


# -------------------------------------------------------------------------------------------------------------- the bare loop


def dense(options: Options) -> Table:
    """Two classes that a plane parts, beyond the cache."""
    table = Table(
        "Dense rows and the bare loop",
        ["columns", "X in MB", "what", "ns per row", TO_BARE, "goal", "met", "share of steps"],
        note=f"{about(options)}  Two Gaussian classes sqrt(columns) standard deviations apart: next to no mistakes.",
    )
    for p, goal in DENSE.items():
        X, y = gaussian_classes(options.rows(VALUES // p), p, 2, distance=np.sqrt(p))
        measured = work(X, y, OURS, options)
        for name in (READ, BARE, *PEERS):
            found, ratio = measured.get(name), to_bare(measured, name)
            goals = at_most(median(ratio) if ratio else None, goal if name == OUR_EPOCH else None)
            cells = [ns_per_row(found, X), spread(ratio) if ratio else NO_COMPILER, *goals, steps(found)]
            table.rows.append([p, X.nbytes / 1e6, name, *cells])
    return table


def csr(options: Options) -> Table:
    """Two classes of rows like text, with 100,000 columns."""
    table = Table(
        "CSR rows and the bare loop",
        ["X in MB", "what", "ns per row", TO_BARE, TO_THEIRS, "goal", "met", "share of steps"],
        note=f"{about(options)}  As many updates in both epochs.",
    )
    X, y = text(options.rows(CSR_ROWS), 2)
    measured = work(X, y, OursPerceptron(OURS.name, intercept_scaling=INTERCEPT_SCALING), options)
    size = sum(part.nbytes for part in (X.data, X.indices, X.indptr)) / 1e6
    for name in (BARE, *PEERS):
        found, ratio = measured.get(name), to_bare(measured, name)
        cells = [ns_per_row(found, X), spread(ratio) if ratio else NO_COMPILER]
        peer = ratios(found, measured[PEERS[name]]) if name in PEERS else []
        goals = at_most(median(peer), CSR_GOAL) if name == OUR_EPOCH else [None, None]
        table.rows.append([size, name, *cells, spread(peer) if peer else None, *goals, steps(found)])
    return table


def about(options: Options) -> str:
    """What both tables have in common."""
    return (
        "Whole calls; an epoch is `fit` in the given order, without averaging.  The bare loop takes the product of each row with "
        f"one vector of weights, in C that is compiled like the package's.  {options.many} repeats; ratios within a repeat: "
        f"median (least-greatest).  BLAS: {blas()}."
    )


def work(X: Any, y: NDArray, ours: Contestant, options: Options) -> dict[str, Measured]:
    """All that is timed on a set."""
    task = Task(2, epochs=1, shuffle=False)
    cases = bare_cases(X)
    for learner in (THEIRS, ours):
        cases.append(replace(fit_case(learner, task, X, y), name=EPOCH.format(learner.name)))
        model = learner.fit(learner.make(task), X, y)
        cases.append(Case(PREDICTION.format(learner.name), model.predict, lambda: X))
    return interleave(cases, options.many)


def bare_cases(X: Any) -> list[Case]:
    """A read of X and the bare loop, if there is a compiler."""
    if bare.library() is None:
        return []
    w = np.random.default_rng(0).standard_normal(X.shape[1])
    loops = {} if sparse.issparse(X) else {READ: bare.read}
    return [Case(name, loop, lambda: X) for name, loop in {**loops, BARE: partial(bare.scores, w=w)}.items()]


def ns_per_row(found: Measured | None, X: Any) -> float | str:
    """Nanoseconds of a row, if it was measured."""
    return NO_COMPILER if found is None else found.seconds / X.shape[0] * 1e9


def to_bare(measured: dict[str, Measured], name: str) -> list[float]:
    """The ratios to the bare loop, if there is one."""
    return ratios(measured[name], measured[BARE]) if BARE in measured else []


def steps(found: Measured | None) -> float | None:
    """The share of the rounds of an epoch of ours that take a step."""
    model = getattr(found, "result", None)
    return model.n_updates_ / model.t_ if hasattr(model, "n_updates_") else None


# ----------------------------------------------------------------------------------------------------------- beside themselves


def variants(options: Options) -> Table:
    """Epochs under other norms, and of rows whose columns are in no order."""
    table = Table(
        "CSR epochs beside l2",
        ["classes", "what", "ns per row", TO_PLAIN, "goal", "met"],
        note=f"Rows like text, 100,000 columns; the default learner, one epoch in the given order.  {options.many} repeats.",
    )
    for k in (2, 10):
        X, y = text(options.rows(CSR_ROWS), k)
        measured = interleave(variant_cases(k, X, y), options.many)
        for name, goal in VARIANTS.items():
            ratio = ratios(measured[name], measured[PLAIN])
            table.rows.append([k, name, ns_per_row(measured[name], X), spread(ratio), *at_most(median(ratio), goal)])
    return table


def variant_cases(k: int, X: sparse.csr_matrix, y: NDArray) -> Iterable[Case]:
    """A fit under each norm, and one of unsorted rows."""
    for name in VARIANTS:
        learner = Ours(name, norm=name.partition(",")[0])
        yield fit_case(learner, Task(k, epochs=1, shuffle=False), unsorted(X) if name == UNSORTED else X, y)


def unsorted(X: sparse.csr_matrix) -> sparse.csr_matrix:
    """The same rows, each with its columns in a random order."""
    order = np.lexsort((np.random.default_rng(0).random(X.nnz), np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))))
    return sparse.csr_matrix((X.data[order], X.indices[order], X.indptr), shape=X.shape)


def small(options: Options) -> Table:
    """Fits that are all overhead."""
    n, p = SMALL
    table = Table(
        "A small fit",
        ["classes", "learner", "us per fit", TO_THEIRS],
        note=f"{n} rows, {p} columns, one epoch: what a fit costs before it learns.  {options.many} repeats of {FITS} fits.",
    )
    for k in (2, 3):
        X, y = gaussian_classes(n, p, k)
        measured = interleave([fits_case(learner, k, X, y) for learner in (THEIRS, OURS)], options.many)
        for name, found in measured.items():
            table.rows.append([k, name, found.seconds / FITS * 1e6, spread(ratios(found, measured[THEIRS.name]))])
    return table


def fits_case(learner: Contestant, k: int, X: NDArray, y: NDArray) -> Case:
    """One fit of a new estimator after the other."""
    return Case(
        learner.name,
        lambda models: [learner.fit(model, X, y) for model in models],
        lambda: [learner.make(Task(k, epochs=1, shuffle=False)) for _ in range(FITS)],
    )
