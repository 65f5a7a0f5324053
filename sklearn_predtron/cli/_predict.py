"""Predictions for rows without labels by a saved model, without scikit-learn for svmlight and csv."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron import predictor
from sklearn_predtron.cli._console import OutputClosedError, UsageError, complain, report
from sklearn_predtron.cli._lines import (
    ENDINGS,
    RejectedChunkError,
    error_at,
    format_predictions,
    format_scores,
    lines_to,
    with_ids,
)
from sklearn_predtron.cli._progress import ProgressBar
from sklearn_predtron.cli._settings import LARGEST_TABLE, Job
from sklearn_predtron.cli._unseen import UnseenFeatures
from sklearn_predtron.cli._used_files import can_be_read, check_uses
from sklearn_predtron.datasets._broken_lines import BrokenLineError
from sklearn_predtron.datasets.formats.base import RowSchema
from sklearn_predtron.datasets.formats.files import STANDARD, DataFile, FileError
from sklearn_predtron.datasets.formats.labels import are_words, is_line
from sklearn_predtron.datasets.formats.opening import RowStream, format_of, format_of_names, open_rows
from sklearn_predtron.datasets.formats.svmlight import SvmlightFormat
from sklearn_predtron.predictor._predictor import SequenceAnswers

OPTIONS = {"train", "test", "load", "scores", "proba", "quiet", "chunk", "format", "drop", "sep", "header", "encoding", "id"}


def predict(job: Job, given: frozenset[str], bar: ProgressBar) -> int | DataFile | None:
    """Predict rows without labels, and return the exit code.

    Other jobs are left to the estimator: then the file is returned, if it has been opened.
    """
    paths = [*job.source.train, *([job.source.test] if job.source.test else [])]
    load = job.model.load
    if job.command in ("fit", "score") or load is None or len(paths) != 1 or not given <= OPTIONS:
        return None
    if not (can_be_read(paths[0], standard=True) and can_be_read(load, standard=False)):
        return None
    try:
        model = predictor.load(load)
    except (OSError, ValueError):
        return None
    if not can_predict(model, job, paths):
        return None
    check_uses(job)
    table = model._columns.table
    source, options = job.source, job.source.options
    if not hasattr(model, "file_format_"):
        options = {**options, "multilabel": hasattr(model, "svmlight_labels_"), "grow": True}
    elif model.file_format_.get("format") == "csv":
        options = {**options, "numbers_only": table is None or not table.missing}
    try:
        form = format_of(source.format, paths, model, **options)
        rows = open_rows(paths, format=form, like=model, chunk_rows=source.chunk_rows)
    except (FileError, ValueError):
        return None
    rows.learned, rows.format.ignores_labels = False, job.command == "predict"
    (file,) = rows.files
    try:
        head = rows.sniff()
    except (BrokenLineError, FileError, ValueError):
        return file
    if not head.is_there and job.source.test:
        file.close()
        raise UsageError(f"{job.test_name}={file.path!r} has no rows")
    if file.labelled or head.has_id or not head.is_there:
        return file
    try:
        return predict_rows(model, rows, job, bar)
    finally:
        rows.close()


def can_predict(model: Any, job: Job, paths: list[str]) -> bool:
    """Return whether a predictor serves as the estimator would."""
    classes, table = getattr(model, "classes_", None), model._columns.table
    if classes is None or len(classes) < 2 or isinstance(model._answers, SequenceAnswers):
        return False
    if table is not None and 8 * model.n_features_in_ * job.source.chunk_rows > LARGEST_TABLE:
        return False
    state = getattr(model, "file_format_", None)
    if not (can_take_svmlight(model, paths) if state is None else isinstance(state, dict) and not state.get("costs")):
        return False
    labels = getattr(model, "svmlight_labels_", classes)
    words = are_words(labels)
    if not (words or labels.dtype.kind in "iuf") or (words and not all(map(is_line, labels.tolist()))):
        return False
    return job.output.written != "probabilities" or model._answers.calibrated is not None


def can_take_svmlight(model: Any, paths: list[str]) -> bool:
    """Return whether a predictor takes the rows of these svmlight files."""
    if type(getattr(model, "svmlight_zero_based_", None)) is not bool or format_of_names(paths) is not None:
        return False
    return model._columns.table is None or model._columns.table.of_numbers


def predict_rows(model: Any, rows: RowStream, job: Job, bar: ProgressBar) -> int:
    """Write the predictions of a file's rows; return the exit code."""
    left_out, errors, found = UnseenFeatures(), [], False
    try:
        with lines_to(STANDARD) as write:
            for X, place, ids, fraction in chunks_of(model, rows, left_out):
                if not write(lines_of(model, X, job.output.written, place, ids)):
                    raise OutputClosedError
                found = True
                bar("test", fraction)
        if not found:
            raise RejectedChunkError(f"{job.test_name}={rows.files[0].path!r} has no rows")
    except ENDINGS as error:
        errors.append(error)
    bar.clear()
    code = report("" if job.output.quiet else str(left_out), to_stderr=True)
    return max([code, *(complain(error, "the predictions are of the rows before it") for error in errors)])


def chunks_of(model: Any, rows: RowStream, left_out: UnseenFeatures) -> Iterator[tuple[Any, str, list[str] | None, float | None]]:
    """Yield rows as the predictor takes them, with their place, ids and the share of the file."""
    p = model.n_features_in_
    if not isinstance(rows.format, SvmlightFormat):
        for chunk in rows.chunks(keep=False):
            X = (chunk.X.data, chunk.X.indices, chunk.X.indptr) if hasattr(chunk.X, "indptr") else chunk.X
            yield X, chunk.place, chunk.ids, chunk.fraction
        return
    reader = rows.format.reader(rows.files[0], RowSchema(None, None), learned=False)
    for parsed in reader.parsed_chunks():
        arrays = left_out.cut_arrays(parsed.arrays, p)
        yield arrays if model._columns.table is None else dense(arrays, p), reader.where(parsed), None, reader.fraction_read


def lines_of(model: Any, X: Any, written: str, place: str, ids: list[str] | None) -> Iterator[str]:
    """Return the output lines of a chunk."""
    try:
        if written == "predictions":
            lines = format_predictions(model.predict(X), getattr(model, "svmlight_labels_", None))
        else:
            lines = format_scores(model.decision_function(X) if written == "scores" else model.predict_proba(X))
    except (ValueError, MemoryError) as error:
        raise error_at(place, error) from None
    return lines if ids is None else with_ids(ids, lines)


def dense(arrays: tuple[NDArray, NDArray, NDArray], p: int) -> NDArray:
    """Return CSR rows as a table, in which missing entries are 0."""
    data, indices, indptr = arrays
    found = np.zeros((len(indptr) - 1, p))
    np.add.at(found, (np.repeat(np.arange(len(found)), np.diff(indptr)), indices), data)
    return found
