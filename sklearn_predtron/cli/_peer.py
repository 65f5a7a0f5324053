"""A linear model of scikit-learn, standardised, scored on the same rows."""

from __future__ import annotations

import warnings
from copy import copy
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sklearn_predtron.cli._console import UsageError, as_options
from sklearn_predtron.cli._evaluation import Evaluation, ResultRow, parts_of
from sklearn_predtron.cli._tasks import Task
from sklearn_predtron.datasets.formats.base import RowChunk
from sklearn_predtron.datasets.formats.files import DataFile
from sklearn_predtron.datasets.formats.labels import shortened_labels
from sklearn_predtron.datasets.formats.opening import RowStream
from sklearn_predtron.datasets.formats.tables import CsvFormat
from sklearn_predtron.losses._row_costs import costs_by_row, expected_costs

if TYPE_CHECKING:
    from sklearn_predtron.cli._run import Scoring


def score_peer(stage: Scoring) -> ResultRow:
    """Train the peer on --compare in memory, and score it."""
    path = str(stage.job.output.compare)
    form = copy(stage.rows.format)
    if isinstance(form, CsvFormat):
        form.missing = True  # missing cells are imputed, whatever the model accepts
    rows = RowStream([DataFile(path)], form, None, stage.schema, stage.bar)
    try:
        if not rows.sniff().is_there or not rows.files[0].labelled:
            raise UsageError(f"--compare={path!r} has no rows with labels")
        chunks = [stage.cut(chunk) for chunk in rows.chunks(keep=False)]
    except ValueError as error:
        raise UsageError(as_options(str(error), "--compare")) from None
    finally:
        rows.close()
    X, y, weights = stack_chunks(chunks)
    if not (stage.task.rank or stage.task.multilabel) and len(known := np.unique(y)) < 2:
        raise UsageError(f"--compare={path!r} has the labels {shortened_labels(known)}; at least two are needed")
    peer = build_peer(stage.task, X)
    result = ResultRow("", type(peer[-1]).__name__, rounds=X.shape[0])
    given = {} if weights is None else {f"{peer.steps[-1][0]}__sample_weight": weights}
    start = perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", "Label .* is present in all|Label not .* is present in all")
            peer.fit(X, y, **given)
    except ValueError as error:
        raise UsageError(f"--compare={path!r}: {error}") from None
    result.seconds = perf_counter() - start
    evaluation = Evaluation(stage.task, stage.model, stage.schema.classes, result)
    for chunk in stage.chunks():
        evaluation.add(chunk, peer_predictions(peer, stage, evaluation, chunk))
    return result


def stack_chunks(chunks: list[RowChunk]) -> tuple[Any, Any, NDArray | None]:
    """Return all rows, labels and weights."""
    if sparse.issparse(chunks[0].X):
        X = sparse.vstack([chunk.X for chunk in chunks], "csr")
    else:
        X = np.vstack([chunk.X for chunk in chunks])
    y = [chunk.y for chunk in chunks]
    labels = sparse.vstack(y, "csr") if sparse.issparse(y[0]) else np.concatenate(y)
    if all(chunk.sample_weight is None for chunk in chunks):
        return X, labels, None
    ones = [np.ones(len(chunk)) if chunk.sample_weight is None else chunk.sample_weight for chunk in chunks]
    return X, labels, np.concatenate(ones)


def build_peer(task: Task, X: Any) -> Any:
    """Return a pipeline that standardises columns, with a column for each category."""
    if task.rank:
        model: Any = Ridge()
    elif task.multilabel:
        model = OneVsRestClassifier(LogisticRegression(max_iter=1000))
    else:
        model = LogisticRegression(max_iter=1000, class_weight="balanced" if task.batch else None)
    if sparse.issparse(X):
        return make_pipeline(StandardScaler(with_mean=False), model)
    numbers = [j for j in range(X.shape[1]) if not any(isinstance(value, str) for value in X[:, j])]
    words = [j for j in range(X.shape[1]) if j not in numbers]
    of_numbers = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
    columns = make_column_transformer((of_numbers, numbers), (OneHotEncoder(handle_unknown="ignore"), words))
    return make_pipeline(columns, model)


def peer_predictions(peer: Any, stage: Scoring, evaluation: Evaluation, chunk: RowChunk) -> Any:
    """Return the predictions of the peer; with costs they have the lowest expected cost."""
    classes = evaluation.classes
    if chunk.costs is not None:
        named, otherwise = stage.model._named(classes), stage.model._costs(classes)
        probabilities, found = peer.predict_proba(chunk.X)[:, np.argsort(np.argsort(classes))], []
        for part in parts_of(chunk, otherwise.size):
            table = costs_by_row(chunk.take(part).costs, classes, named.tolist(), otherwise, len(part))
            found.append(expected_costs(probabilities[part], table).argmin(axis=1))
        return named[np.concatenate(found)]
    if stage.task.ordinal:  # the median minimises the expected distance
        probabilities = peer.predict_proba(chunk.X)[:, np.argsort(np.argsort(classes))]
        return classes[np.minimum((probabilities.cumsum(axis=1) < 0.5).sum(axis=1), len(classes) - 1)]
    return peer.predict(chunk.X)
