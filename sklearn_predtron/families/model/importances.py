"""Importances of columns, on the rows of a fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.predictors import Predictor, frozen, passing
from sklearn_predtron._core.rows import csr_rows
from sklearn_predtron.families.input.reading import Batch
from sklearn_predtron.families.model.explanation import decoded
from sklearn_predtron.families.model.model import Model
from sklearn_predtron.features import FeatureMap, RandomFourier
from sklearn_predtron.features._knots import evenly

MOST_ROWS = 1000  # of dense rows and tables
MOST_STORED, IN_BLOCK = 1 << 16, 1 << 13  # values of CSR rows, of which so many have temporary arrays at a time
MOST_IN_TABLE = 1 << 17  # columns; among more, places are found by a search
MOST_VALUES, MOST_COSINES = 1 << 17, 1 << 16  # of these rows, as features


def importances(model: Model, batch: Batch) -> tuple[NDArray, NDArray] | None:
    """Return the columns whose part of the scores varies, and its mean size.

    None if the scores have no such parts: those of kernels and joint features.
    """
    if model.learner.weights.expansion is not None or model.columns.n is None:
        return None
    with np.errstate(all="ignore"):
        columns, found = (sizes_of_sparse_parts if sparse.issparse(batch.X) else sizes_of_parts)(model, batch)
    there = np.flatnonzero(found)
    return columns[there].astype(np.int64), found[there]


def of_weights(model: Model, learner: Learner) -> tuple[NDArray, NDArray] | None:
    """Return the importances of a model of columns as they are that has other weights: those of columns without any are gone."""
    if model.importances is None or model.columns.features is not None:
        return model.importances
    columns, values = model.importances
    weights = learner.read(lambda weights: weights.mean())[0]
    kept = np.asarray(abs(weights[:, columns]).sum(axis=0)).ravel() > 0
    return columns[kept], values[kept]


def sizes_of_sparse_parts(model: Model, batch: Batch) -> tuple[NDArray, NDArray]:
    """Return the columns of some CSR rows, and the mean size of their parts of the scores.

    Wide weights are mostly zeros that take no memory: only those of these columns are read, as scores of rows with one value.
    """
    n, p = batch.X.shape
    columns, sizes = deviations_of_sparse(batch.X, *chosen_rows(batch, MOST_STORED * n // max(1, batch.X.nnz)))
    d, found = model.problem.d, np.zeros(len(columns))
    ends = np.concatenate([[0], np.arange(len(columns) + 1)])  # of a row of zeros, and of a row for each column
    rows = csr_rows(sparse.csr_matrix((sizes, columns, ends), shape=(len(columns) + 1, p)))

    def scored(weights: Any) -> None:
        scoring = Predictor(passing(weights, True, rows) or frozen(weights, True), True)  # which the learner does not keep
        zero, step = np.empty((1, d)), IN_BLOCK // d + 1
        scoring.scores(rows, zero)
        for first in range(0, len(columns), step):
            scores = np.empty((min(step, len(columns) - first), d))
            scoring.scores(rows, scores, 1 + first)
            parts = decoded(model.problem, model.labels, (scores - zero).T, np.zeros(d))[0]
            found[first : first + step] = np.abs(parts).mean(axis=0)

    model.learner.read(scored)
    return columns, found


def sizes_of_parts(model: Model, batch: Batch) -> tuple[NDArray, NDArray]:
    """Return all columns, and the mean size of their parts of the scores."""
    coef = decoded(model.problem, model.labels, *model.learner.read(lambda weights: weights.mean()))[0]
    features, columns = model.columns.features, np.arange(batch.X.shape[1])
    if not isinstance(features, FeatureMap):
        return columns, np.abs(coef).mean(axis=0) * deviations(*some_rows(batch, MOST_VALUES // len(columns)))
    mixed = isinstance(features, RandomFourier)
    X, frequency = some_rows(batch, (MOST_COSINES if mixed else MOST_VALUES) // features._fitted().most)
    parts = (parts_of_cosines if mixed else parts_of_terms)(features, X, coef)
    return columns, np.mean([deviations(part, frequency) for part in parts], axis=0)


def chosen_rows(batch: Batch, most: int) -> tuple[NDArray, NDArray | None]:
    """Return the numbers of evenly spaced rows, and their frequencies up to a factor, or None if all are equal.

    Rows with zero frequency are left out.
    """
    frequency = batch.frequency
    there = np.arange(batch.X.shape[0]) if frequency is None else np.flatnonzero(frequency)
    rows = there[evenly(len(there), max(1, most))]
    return rows, None if frequency is None else frequency[rows] / frequency.max()


def some_rows(batch: Batch, most: int) -> tuple[NDArray, NDArray | None]:
    """Return at most a thousand dense rows, and their frequencies up to a factor, or None if all are equal."""
    rows, frequency = chosen_rows(batch, min(most, MOST_ROWS))
    return np.asarray(batch.X[rows], dtype=np.float64), frequency


def deviations(values: NDArray, frequency: NDArray | None) -> NDArray:
    """Return the mean absolute deviation of each column from its mean; the values are overwritten."""
    values -= np.average(values, axis=0, weights=frequency)
    return np.average(np.abs(values, out=values), axis=0, weights=frequency)


def deviations_of_sparse(X: Any, rows: NDArray, frequency: NDArray | None) -> tuple[NDArray, NDArray]:
    """Return the columns of some CSR rows with stored values, and their mean absolute deviations.

    Blocks of rows are copied one at a time.  A column that occurs twice in a row has the sum there.
    """
    n_blocks, times = MOST_STORED // IN_BLOCK, np.ones(len(rows)) if frequency is None else frequency
    blocks = list(zip(np.array_split(rows, n_blocks), np.array_split(times / times.sum(), n_blocks), strict=True))
    columns = distinct_indices(np.concatenate([X[some].indices for some, _ in blocks]))
    places = places_among(columns, X.shape[1])
    mean = np.zeros(len(columns))
    for some, share in blocks:
        block = summed(X[some])
        at, weight = places(block.indices), np.repeat(share, np.diff(block.indptr))
        mean += np.bincount(at, weight * block.data, minlength=len(columns))
    of_zeros = np.abs(mean)  # which are not stored
    found = of_zeros.copy()
    for some, share in blocks:
        block = summed(X[some])
        at, weight = places(block.indices), np.repeat(share, np.diff(block.indptr))
        found += np.bincount(at, weight * (np.abs(block.data - mean[at]) - of_zeros[at]), minlength=len(columns))
    return columns, found


def summed(X: Any) -> Any:
    """Return CSR rows in which each column occurs once; X is changed."""
    X.sum_duplicates()
    return X


def distinct_indices(indices: NDArray) -> NDArray:
    """Return the distinct indices, sorted; np.unique hashes them, which takes eight times as long."""
    indices = np.sort(indices)
    first = np.ones(len(indices), dtype=bool)
    first[1:] = indices[1:] != indices[:-1]
    return indices[first]


def places_among(columns: NDArray, p: int) -> Callable[[NDArray], NDArray]:
    """Return the function that returns the places of indices among some of p columns, which are sorted."""
    if p > MOST_IN_TABLE:
        return lambda indices: np.searchsorted(columns, indices)
    table = np.zeros(p, dtype=np.int32)
    table[columns] = np.arange(len(columns))
    return table.take


def parts_of_terms(features: Any, X: NDArray, coef: NDArray) -> Iterator[NDArray]:
    """Yield for each score the summands of columns; the summand of a pair is divided equally between its columns."""
    sizes = [len(term) for term in features.terms_]
    columns, share = np.concatenate(features.terms_), np.repeat(1 / np.array(sizes), sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    columns_of = sparse.csr_array((share, columns, starts), shape=(len(sizes), X.shape[1]))[features.term_of_]
    made = features.rows(X).matrix()
    for weights in coef:
        yield (made @ columns_of.multiply(weights[:, None]).tocsr()).toarray()


def parts_of_cosines(features: Any, X: NDArray, coef: NDArray) -> Iterator[NDArray]:
    """Yield for each score the integrated gradients from the mean row.

    Along the line from the mean row to a row, the integral of a column's derivative, times the column's difference (Sundararajan
    et al. 2017).  Over the columns they add up to the difference of the scores of both rows.
    """
    turns, phase, mean, sd, amplitude = features._state
    Z = np.nan_to_num((X - mean) / sd)
    way = np.einsum("nj,jk->nk", Z, turns)  # without the threads of BLAS, which cost more than they save here
    slopes = -2 * np.pi * amplitude * np.sin(2 * np.pi * (phase + way / 2)) * np.sinc(way)
    for weights in coef:
        yield Z * np.einsum("nk,jk->nj", slopes * weights, turns)
