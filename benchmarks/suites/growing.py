"""Streams whose features appear over time: widened as they come, or known from the start."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.contestants import Ours
from benchmarks.measure import Case, interleave, ratios
from benchmarks.report import Table, spread
from benchmarks.suites.fits import verdict
from benchmarks.tasks import Options, Task, text

KNOWN, GROWN = "known width", "widened"
GOAL = 1 / 1.3  # of the speed of the known width
LEARNERS = [(2, "l2", {}), (10, "l2", {}), (2, "scaled", {"norm": "scaled"}), (2, "l1", {"norm": "l1"})]


def growing(options: Options) -> Table:
    """Sparse text in calls of 1,000 rows and of one."""
    table = Table(
        "Streams that grow",
        [
            "classes",
            "norm",
            "rows",
            "rows a call",
            "features at first",
            "at last",
            "us per row",
            "ratio",
            "goal",
            "met",
            "same bits",
        ],
        note=(
            "CSR rows of text, of which each word has the next free feature when it first occurs.  The ratio is the time with "
            "the last width known from the start over that with `widen` before each call that brings new words; the rows of the "
            "calls are cut beforehand.  With a row a call nearly each call is preceded by one of "
            "`widen`, of some microseconds.  Weights are compared bit by bit (with `average='linear'`)."
        ),
    )
    X, y = in_order_of_appearance(*text(options.rows(1_000_000), 2, p=1_000_000, words=10.0))
    few = options.rows(50_000)
    for k, norm, parameters in LEARNERS:
        labels = y if k == 2 else np.arange(len(y)) % k
        table.rows.append([k, norm, *_row(k, parameters, X, labels, 1000, options)])
    table.rows.append([2, "l2", *_row(2, {}, X[:few], y[:few], 1, options)])
    return table


def in_order_of_appearance(X: sparse.csr_matrix, y: NDArray) -> tuple[sparse.csr_matrix, NDArray]:
    """Number the features in the order in which they first occur."""
    features, first = np.unique(X.indices, return_index=True)
    number = np.zeros(X.shape[1], dtype=X.indices.dtype)
    number[features[np.argsort(first)]] = np.arange(len(features))
    found = sparse.csr_matrix((X.data, number[X.indices], X.indptr), shape=(X.shape[0], len(features)))
    found.sort_indices()
    return found, y


def _row(k: int, parameters: dict, X: sparse.csr_matrix, y: NDArray, size: int, options: Options) -> list:
    starts = range(0, X.shape[0], size)
    ends = [min(start + size, X.shape[0]) for start in starts]
    largest = [X.indices[X.indptr[a] : X.indptr[b]].max(initial=0) for a, b in zip(starts, ends, strict=True)]
    widths = np.maximum.accumulate(largest) + 1
    last = int(widths[-1])
    parts = {
        KNOWN: [(part(X, a, b, last), y[a:b]) for a, b in zip(starts, ends, strict=True)],
        GROWN: [(part(X, a, b, int(width)), y[a:b]) for a, b, width in zip(starts, ends, widths, strict=True)],
    }
    ours = Ours(average="linear", **parameters)
    cases = [Case(name, partial(learn, k, parts[name]), partial(ours.make, Task(k))) for name in (KNOWN, GROWN)]
    found = interleave(cases, options.repeats)
    ratio = ratios(found[KNOWN], found[GROWN])
    models = [found[name].result for name in (KNOWN, GROWN)]
    same = all(getattr(models[0], name).tobytes() == getattr(models[1], name).tobytes() for name in ("coef_", "last_coef_"))
    about = [X.shape[0], size, int(widths[0]), last, found[GROWN].seconds / X.shape[0] * 1e6]
    return [*about, spread(ratio), *verdict(ratio, GOAL if size > 1 else None), "yes" if same else "no"]


def part(X: sparse.csr_matrix, first: int, end: int, width: int) -> sparse.csr_matrix:
    """Rows of a width."""
    start = X.indptr[first : end + 1]
    values, indices = X.data[start[0] : start[-1]], X.indices[start[0] : start[-1]]
    return sparse.csr_matrix((values, indices, start - start[0]), shape=(end - first, width))


def learn(k: int, parts: list[tuple[sparse.csr_matrix, NDArray]], model: Any) -> Any:
    """Learn call by call, with more features where there are."""
    (X, y), *rest = parts
    model.partial_fit(X, y, classes=range(k))
    width = X.shape[1]
    for X, y in rest:
        if X.shape[1] > width:
            width = X.shape[1]
            model.widen(width)
        model.partial_fit(X, y)
    return model
