"""Importances of columns, on the rows of a fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_predtron._core.learner import Learner
from sklearn_predtron.families.estimator.explanation import decoded
from sklearn_predtron.families.estimator.model import Model
from sklearn_predtron.families.input.reading import Batch
from sklearn_predtron.features import FeatureMap, RandomFourier
from sklearn_predtron.features._knots import evenly

MOST_ROWS = 1000  # of dense rows and tables
MOST_STORED = 1 << 16  # values of CSR rows
MOST_VALUES, MOST_COSINES = 1 << 17, 1 << 16  # of these rows, as features


def importances(model: Model, batch: Batch) -> tuple[NDArray, NDArray] | None:
    """Return the columns whose part of the scores varies, and its mean size.

    None if the scores have no such parts: those of kernels and joint features.
    """
    if model.learner.weights.expansion is not None or model.columns.n is None:
        return None
    found = sizes_of_parts(model, batch)
    columns = np.flatnonzero(found)
    return columns, found[columns]


def of_weights(model: Model, learner: Learner) -> tuple[NDArray, NDArray] | None:
    """Return the importances of a model of columns as they are that has other weights: those of columns without any are gone."""
    if model.importances is None or model.columns.features is not None:
        return model.importances
    columns, values = model.importances
    weights = learner.read(lambda weights: weights.mean())[0]
    kept = np.asarray(abs(weights[:, columns]).sum(axis=0)).ravel() > 0
    return columns[kept], values[kept]


def sizes_of_parts(model: Model, batch: Batch) -> NDArray:
    """Return the mean size of each column's part of the scores."""
    coef = decoded(model.problem, model.labels, *model.learner.read(lambda weights: weights.mean()))[0]
    features = model.columns.features
    with np.errstate(all="ignore"):
        if sparse.issparse(batch.X):
            most = max(1, MOST_STORED * batch.X.shape[0] // max(1, batch.X.nnz))
            return np.abs(coef).mean(axis=0) * deviations_of_sparse(*some_rows(batch, most))
        if not isinstance(features, FeatureMap):
            return np.abs(coef).mean(axis=0) * deviations(*some_rows(batch, MOST_VALUES // batch.X.shape[1]))
        mixed = isinstance(features, RandomFourier)
        X, frequency = some_rows(batch, (MOST_COSINES if mixed else MOST_VALUES) // features._fitted().most)
        parts = (parts_of_cosines if mixed else parts_of_terms)(features, X, coef)
        return np.mean([deviations(part, frequency) for part in parts], axis=0)


def some_rows(batch: Batch, most: int) -> tuple[Any, NDArray]:
    """Return evenly spaced rows, and their frequencies up to a factor.

    Rows with zero frequency are left out; dense rows are at most a thousand.
    """
    X, frequency = batch.X, batch.frequencies(np.arange(batch.X.shape[0]))
    there = np.flatnonzero(frequency)
    rows = there[evenly(len(there), max(1, most if sparse.issparse(X) else min(most, MOST_ROWS)))]
    X = X if len(rows) == len(frequency) else X[rows]
    return X if sparse.issparse(X) else np.array(X, dtype=np.float64), frequency[rows] / frequency.max()


def deviations(values: NDArray, frequency: NDArray) -> NDArray:
    """Return the mean absolute deviation of each column from its mean."""
    mean = np.average(values, axis=0, weights=frequency)
    return np.average(np.abs(values - mean), axis=0, weights=frequency)


def deviations_of_sparse(X: Any, frequency: NDArray) -> NDArray:
    """Return the mean absolute deviation of each column of CSR rows.

    The time is proportional to the number of stored values.
    """
    share = np.repeat(frequency / frequency.sum(), np.diff(X.indptr))
    mean = np.bincount(X.indices, share * X.data, minlength=X.shape[1])
    of_zero, here = np.abs(mean), mean[X.indices]  # zeros are not stored
    return np.bincount(X.indices, share * (np.abs(X.data - here) - np.abs(here)), minlength=X.shape[1]) + of_zero


def parts_of_terms(features: Any, X: NDArray, coef: NDArray) -> Iterator[NDArray]:
    """Yield for each score the summands of columns.

    The summand of a pair is divided equally between its columns.
    """
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
