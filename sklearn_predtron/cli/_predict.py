"""Predictions for rows without labels by a saved model, on NumPy alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron import predictor
from sklearn_predtron.cli._console import OutputClosedError, complain, report
from sklearn_predtron.cli._lines import RejectedChunkError, error_at, format_predictions, format_scores, lines_to
from sklearn_predtron.cli._progress import ProgressBar
from sklearn_predtron.cli._settings import Job
from sklearn_predtron.cli._unseen import UnseenFeatures
from sklearn_predtron.cli._used_files import can_be_read, check_uses
from sklearn_predtron.datasets._broken_lines import BrokenLineError
from sklearn_predtron.datasets.formats.base import CHUNK_BYTES, RowSchema
from sklearn_predtron.datasets.formats.endings import format_of_name
from sklearn_predtron.datasets.formats.files import STANDARD, DataFile, FileError
from sklearn_predtron.datasets.formats.labels import are_words, is_line
from sklearn_predtron.datasets.formats.svmlight import SvmlightFormat
from sklearn_predtron.predictor._predictor import SequenceAnswers

OPTIONS = {"train", "test", "load", "scores", "proba", "quiet", "chunk"}
LARGEST_TABLE = 2**30  # bytes of a chunk
ENDINGS = (BrokenLineError, RejectedChunkError, FileError, OutputClosedError, KeyboardInterrupt)


def predict(job: Job, given: frozenset[str], bar: ProgressBar) -> int | DataFile | None:
    """Predict rows without labels, and return the exit code.

    Other jobs are left to the estimator: then the file is returned, if it has been opened.
    """
    paths = [*job.source.train, *([job.source.test] if job.source.test else [])]
    load = job.model.load
    if (
        job.command in ("fit", "score")
        or load is None
        or len(paths) != 1
        or not given <= OPTIONS
        or format_of_name(paths[0]) is not None
    ):
        return None
    if not (can_be_read(paths[0], standard=True) and can_be_read(load, standard=False)):
        return None
    try:
        model = predictor.load(load)
    except (OSError, ValueError):
        return None
    if not can_predict(model, job):
        return None
    check_uses(job)
    file = DataFile(paths[0])
    form = {"multilabel": "svmlight_labels_" in model.file_attributes, "query_id": False, "sequence_id": False, "grow": True}
    svmlight = SvmlightFormat(
        n_features=None,
        zero_based=model.file_attributes["svmlight_zero_based_"],
        chunk_rows=job.source.chunk_rows,
        chunk_bytes=CHUNK_BYTES,
        **form,
    )
    try:
        row = svmlight.sniff(file)
    except (BrokenLineError, FileError):
        return file
    if file.labelled or row.has_id:
        return file
    try:
        return predict_rows(model, file, svmlight, job, bar)
    finally:
        file.close()


def can_predict(model: Any, job: Job) -> bool:
    """Return whether a predictor serves as the estimator would."""
    attributes, classes = model.file_attributes, getattr(model, "classes_", None)
    if type(attributes.get("svmlight_zero_based_")) is not bool or classes is None or len(classes) < 2:
        return False
    if isinstance(model._answers, SequenceAnswers):
        return False
    table = model._columns.table
    if table is not None and (8 * model.n_features_in_ * job.source.chunk_rows > LARGEST_TABLE or not table.of_numbers):
        return False
    labels = attributes.get("svmlight_labels_", classes)
    words = are_words(labels)
    if not (words or labels.dtype.kind in "iuf") or (words and not all(map(is_line, labels.tolist()))):
        return False
    return job.output.written != "probabilities" or model._answers.calibrated is not None


def predict_rows(model: Any, file: DataFile, svmlight: SvmlightFormat, job: Job, bar: ProgressBar) -> int:
    """Write the predictions of a file's rows; return the exit code."""
    left_out, errors, n = UnseenFeatures(), [], 0
    reader = svmlight.reader(file, RowSchema(None, None), learned=False)
    try:
        with lines_to(STANDARD) as write:
            for chunk in reader.parsed_chunks():
                arrays = left_out.cut_arrays(chunk.arrays, model.n_features_in_)
                if not write(lines_of(model, arrays, job.output.written, reader.where(chunk))):
                    raise OutputClosedError
                n += chunk.shape[0]
                bar("test", reader.fraction_read)
        if n == 0:
            raise RejectedChunkError(f"{job.test_name}={file.path!r} has no rows")
    except ENDINGS as error:
        errors.append(error)
    bar.clear()
    code = report("" if job.output.quiet else str(left_out), to_stderr=True)
    return max([code, *(complain(error, "the predictions are of the rows before it") for error in errors)])


def lines_of(model: Any, arrays: tuple[NDArray, NDArray, NDArray], written: str, place: str) -> Iterator[str]:
    """Return the output lines of a chunk."""
    rows = dense(arrays, model.n_features_in_) if model._columns.table is not None else arrays
    try:
        if written == "scores":
            return format_scores(model.decision_function(rows))
        if written == "probabilities":
            return format_scores(model.predict_proba(rows))
        return format_predictions(model.predict(rows), model.file_attributes.get("svmlight_labels_"))
    except (ValueError, MemoryError) as error:
        raise error_at(place, error) from None


def dense(arrays: tuple[NDArray, NDArray, NDArray], p: int) -> NDArray:
    """Return CSR rows as a table, in which missing entries are 0."""
    data, indices, indptr = arrays
    found = np.zeros((len(indptr) - 1, p))
    np.add.at(found, (np.repeat(np.arange(len(found)), np.diff(indptr)), indices), data)
    return found
