"""The main job on files: train, score and predict in chunks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_predtron._support.chunks import are_chunks
from sklearn_predtron.cli._compare import BEFORE, CUTS, HELD_OUT, Comparison, GroupedValues
from sklearn_predtron.cli._console import OutputClosedError, UsageError, complain, report
from sklearn_predtron.cli._costs import CostFiles, RowCostsReader, check_costs, open_costs
from sklearn_predtron.cli._costs_file import CostsError
from sklearn_predtron.cli._data_files import STANDARD, DataFile, DataFileReader, FileError, RejectedChunkError, error_at
from sklearn_predtron.cli._file_format import AnyFormat, FileFormat, JobFiles, find_format, known_task
from sklearn_predtron.cli._growing import PendingRows, grow, widened
from sklearn_predtron.cli._job import Job
from sklearn_predtron.cli._labels import are_words
from sklearn_predtron.cli._learner import (
    build_model,
    check_options,
    check_table,
    choose_norm,
    load_model,
    save_model,
    warn_of_few_rows,
)
from sklearn_predtron.cli._lines import format_predictions, format_scores, is_line, lines_to, with_empty_lines
from sklearn_predtron.cli._mixing import check_names, check_shards, train_mixture
from sklearn_predtron.cli._progress import ProgressBar
from sklearn_predtron.cli._realised_costs import RealisedCosts
from sklearn_predtron.cli._record_files import RecordReader
from sklearn_predtron.cli._report import Outcome, report_outcome
from sklearn_predtron.cli._tasks import TASKS, Task, start_comparison, start_lines, task_of
from sklearn_predtron.cli._unseen import UnseenFeatures
from sklearn_predtron.cli._weighted import WeightedRows
from sklearn_predtron.datasets import BrokenLineError

# The errors that end a part of the job early.
ENDINGS = (BrokenLineError, CostsError, RejectedChunkError, FileError, OutputClosedError, KeyboardInterrupt)


def run_files(job: Job, bar: ProgressBar, opened: DataFile | None = None) -> int:
    """Train, save, score, report; return the exit code.

    `opened` is the only file of data, if its first row has been read.
    """
    loaded = load_model(job.load, pickle=job.pickle, saved=bool(job.save)) if job.load else None
    with ExitStack() as stack:
        try:
            files = JobFiles.of(job, loaded, stack, opened)
            costs = CostFiles.of(job, files, stack)
            if loaded is not None and files.nothing and not (job.save or job.predictions or job.json):
                return report("" if job.quiet else "no rows to train on or to predict\n", to_stderr=True)
            check_predictions(job, files, loaded)
            task = known_task(job, files) if loaded is None else task_of(loaded)
            if task is not None:
                check_options(job, task)
            if job.mixing:
                check_names(job, files)
            file_format = find_format(job, files, loaded, task, bar)
            if job.mixing and isinstance(file_format, FileFormat):
                check_shards(job, file_format)
        except (BrokenLineError, FileError, KeyboardInterrupt) as error:
            bar.clear()
            return complain(error, "there is no trained model yet")
        if task is None:
            task = TASKS["multiclass" if job.grow or len(file_format.classes) != 2 else "binary"]
            check_options(job, task)
        model = build_model(job, loaded, task, file_format.classes)
        check_table(job, model, file_format)
        warn_of_few_rows(job, model, file_format)
        if costs.given:
            task = task.under_costs()
            try:
                check_costs(job, costs, model, file_format, bar)
            except (FileError, KeyboardInterrupt) as error:
                bar.clear()
                return complain(error, "there is no trained model yet")
        compare = not (job.load or job.grow or job.mixing) if job.compare is None else job.compare
        comparison = build_comparison(task, model, name_of_data(files), file_format.classes, compare)
        ours, *others = comparison.models
        comparison.models = [ours, *(file_format.wrap_baseline(baseline) for baseline in others)]
        if costs.given and (job.json or not job.quiet):
            add_cost_counters(comparison, costs)
        outcome = train_save_score(comparison, job, files, costs, file_format, bar)
    bar.clear()
    return report_outcome(outcome, job, task)


def name_of_data(files: JobFiles) -> str:
    """Return the name of the data in the table."""
    first, *more = [os.path.basename(file.name) for file in files.train or files.test]
    return f"{first} and {len(more)} more" if more else first


def train_save_score(
    comparison: Comparison, job: Job, files: JobFiles, costs: CostFiles, file_format: AnyFormat, bar: ProgressBar
) -> Outcome:
    """Train on TRAIN, save, score on TEST; return the outcome."""
    left_out, unlearned = UnseenFeatures(), None
    if job.mixing and isinstance(file_format, FileFormat):
        unlearned = train_mixture(comparison, job, files, file_format)
    elif files.train:
        unlearned = train_on_files(comparison, job, files.train, costs, file_format, bar)
    model = comparison.models[0].estimator
    fitted, unsaved, untested = model.__sklearn_is_fitted__(), None, None
    if job.save and fitted:
        unsaved = save_model(model, file_format, job.save)
    if files.test and fitted and not isinstance(unlearned, KeyboardInterrupt):
        untested = score_files(comparison, job, files, costs, file_format, left_out, bar)
    kept = f"the {comparison.rounds:,} rounds before it are kept" if comparison.rounds else "there is no trained model yet"
    kept += f", in {job.save}" if job.save and fitted and unsaved is None else ""
    scored = "the held-out score is of the rows before it" if comparison.tested else "there is no held-out score"
    scored = scored if any(file.labelled for file in files.test) else "the predictions are of the rows before it"
    found = [(unlearned, kept), (unsaved, "the model is not saved"), (untested, scored)]
    errors = [(error, rest) for error, rest in found if error is not None]
    results = [evaluated.result for evaluated in comparison.models]
    return Outcome(results, left_out, errors, predictions_to(job, files), files.only_predicted)


def check_predictions(job: Job, files: JobFiles, loaded: Any) -> None:
    """Validate the options of predictions and scores."""
    if job.predictions and not files.test:
        raise UsageError("--predictions needs --test, or rows without labels")
    if job.written != "predictions" and not (job.predictions or any(file.is_pipe or not file.labelled for file in files.test)):
        raise UsageError(f"--{'scores' if job.written == 'scores' else 'proba'} needs --predictions, or rows without labels")
    labels: Any = getattr(loaded, "svmlight_labels_", getattr(loaded, "classes_", None))
    if predictions_to(job, files) and job.written == "predictions" and are_words(labels):
        for label in labels.tolist():
            if not is_line(label):
                raise UsageError(f"--load={job.load!r} has the label {label!r}, which a line of predictions cannot hold")


def predictions_to(job: Job, files: JobFiles) -> str | None:
    """Return the destination of predictions, if any."""
    return job.predictions or (STANDARD if any(not file.labelled for file in files.test) else None)


def build_comparison(task: Task, model: Any, data: str, classes: Any, compare: bool) -> Comparison:
    """Return the estimator and its baseline."""
    baselines = [task.baseline] if compare else []
    results = start_lines(data, task.estimator, baselines)
    for result in results:
        result.top = {BEFORE: np.zeros(len(CUTS)), HELD_OUT: np.zeros(len(CUTS))} if task.rank else None
        result.held_out_loss = 0.0 if task.sequence else None
        result.chunks = np.zeros(3) if task.sequence and classes is not None and are_chunks(classes.tolist()) else None
    try:
        return start_comparison(task, model, baselines, classes, results)
    except ValueError as error:
        raise UsageError(str(error)) from None


def add_cost_counters(comparison: Comparison, costs: CostFiles) -> None:
    """Add realised costs to the results, if rows have costs."""
    known = {BEFORE: costs.learned, HELD_OUT: costs.tested}
    for evaluated in comparison.models:
        evaluated.result.realised_costs = {when: RealisedCosts() for when, file in known.items() if file is not None}


# ----------------------------------------------------------------------------------------------------------------- learning


def train_on_files(
    comparison: Comparison, job: Job, train: list[DataFile], costs: CostFiles, file_format: AnyFormat, bar: ProgressBar
) -> BaseException | None:
    """Train on the files of TRAIN; return an early end's cause."""
    random, epochs, held = np.random.default_rng(job.seed), job.epochs, PendingRows()
    try:
        for file in train if epochs > 1 else []:
            file.keep(bar)
        for epoch in range(epochs):
            with open_costs(costs.learned, comparison, file_format) as row_costs:
                for file in train:
                    train_on_file(comparison, job, file_format.reader(file, learned=True), random, epoch, bar, held, row_costs)
            held.check_pending_count(0)
            check_trained(comparison, train, costs)
    except ENDINGS as error:
        return error
    finally:
        model = comparison.models[0].estimator
        if job.grow and isinstance(file_format, FileFormat) and model.__sklearn_is_fitted__():
            file_format.close_labels_of(model)
    return None


def check_trained(comparison: Comparison, train: list[DataFile], costs: CostFiles) -> None:
    """Raise an error if TRAIN had no rows to train on."""
    if comparison.rounds > 0:
        return
    if costs.learned is not None and comparison.models[0].estimator.__sklearn_is_fitted__():
        raise UsageError(f"{costs.learned.said} has no row in which a mistake costs something")
    raise UsageError(f"TRAIN={', '.join(repr(file.path) for file in train)} has no rows")


def train_on_file(
    comparison: Comparison,
    job: Job,
    reader: DataFileReader | RecordReader,
    random: np.random.Generator,
    epoch: int,
    bar: ProgressBar,
    held: PendingRows,
    row_costs: RowCostsReader | None,
) -> None:
    """Train on one file, chunk by chunk."""
    model, result = comparison.models[0].estimator, comparison.models[0].result
    for X, y, place in chunks(reader, (lambda X: widened(X, model, job.features)) if job.grow else read_as(model)):
        check_lengths(comparison, X, place)
        if job.grow:
            grow_for(comparison, X, y, place, job.max_classes)
            now = held.take(comparison, X, y)
            if now is None:
                bar("one label", reader.fraction_read)
                continue
            X, y = now
        if not job.grow or model.__sklearn_is_fitted__():  # else the width, and so the share of stored entries, is not known
            choose_norm(model, X.values if isinstance(X, GroupedValues) else X)
        X = X if row_costs is None else row_costs.with_costs(X)
        if reader.weights is not None:
            X, y = WeightedRows.of(X, y, reader.weights)
            if X.shape[0] == 0:
                continue
        order = random.permutation(X.shape[0]) if job.shuffle else slice(None)
        train_on_chunk(comparison, X[order], y[order], epoch == 0, place)
        bar(f"epoch {epoch + 1}/{job.epochs}", reader.fraction_read, result)


def read_as(model: Any) -> Callable[[Any], Any]:
    """Return a function that prepares a file's rows.

    Under a feature map they are dense, with missing entries 0.
    """
    return (lambda rows: rows.toarray() if sparse.issparse(rows) else rows) if model.features is not None else (lambda rows: rows)


def chunks(reader: DataFileReader | RecordReader, fit: Callable[[Any], Any]) -> Iterator[tuple[Any, Any, str]]:
    """Yield X, y and the place of each chunk.

    Rankings and sequences are lists; `fit` makes X fit the estimator.
    """
    for rows, y, found in reader:
        X, place = fit(rows), reader.where(found)
        if reader.query_id or reader.sequence_id:
            yield GroupedValues.of(X, found), None if y is None else GroupedValues.of(y, found), place
        else:
            yield X, y, place


def check_lengths(comparison: Comparison, X: Any, place: str) -> None:
    """Raise an error for rejected rows, by their place."""
    reason = comparison.rejection_reason(X)
    if reason is not None:
        raise error_at(place, ValueError(reason))


def grow_for(comparison: Comparison, X: Any, y: Any, place: str, most: int | None) -> None:
    """Add new features and labels to the estimator."""
    try:
        grow(comparison, task_of(comparison.models[0].estimator), X, y, most)
    except (ValueError, MemoryError) as error:
        raise error_at(place, error) from None
    except AttributeError as error:  # of probabilities that are not known
        raise UsageError(f"--proba: {error.__cause__ or error}") from None


def train_on_chunk(comparison: Comparison, X: Any, y: Any, progressive: bool, place: str) -> None:
    """Train on a chunk; at first, errors are the arguments' fault."""
    try:
        comparison.learn(X, y, progressive=progressive)
    except (ValueError, MemoryError) as error:
        if comparison.rounds == 0:
            raise UsageError(str(error)) from None
        raise error_at(place, error) from None


# ------------------------------------------------------------------------------------------------------------------ scoring


def score_files(
    comparison: Comparison,
    job: Job,
    files: JobFiles,
    costs: CostFiles,
    file_format: AnyFormat,
    left_out: UnseenFeatures,
    bar: ProgressBar,
) -> BaseException | None:
    """Score on TEST and write predictions.

    Return the cause of an early end, if any.
    """
    model = comparison.models[0].estimator
    width, as_learned, several = model.n_features_in_, read_as(model), file_format.classes if file_format.multilabel else None
    n, is_read = 0, True
    try:
        for file in files.test:
            if not file.first_row_read:
                files.first_row(file)
        to = predictions_to(job, files)
        with lines_to(to) as write, open_costs(costs.tested, comparison, file_format) as row_costs:
            for file in files.test:
                reader = file_format.reader(file, learned=False)
                for X, y, place in chunks(reader, lambda rows: as_learned(left_out.cut(rows, width))):
                    X = X if row_costs is None else row_costs.with_costs(X)
                    left_out.count_labels(y, getattr(model, "classes_", None))
                    lines = lines_of(comparison, X, y, place, several, job.written)
                    if reader.ids is not None:
                        lines = (f"{name}\t{line}" for name, line in zip(reader.ids, lines, strict=True))
                    is_read = (
                        write(
                            with_empty_lines(lines, X.start)
                            if file_format.with_empty_lines and isinstance(X, GroupedValues)
                            else lines
                        )
                        and is_read
                    )
                    n += X.shape[0]
                    if not is_read and y is None:
                        raise OutputClosedError
                    bar("test", reader.fraction_read)
    except ENDINGS as error:
        return error
    if not is_read and to == STANDARD:
        return OutputClosedError()
    return None if n else RejectedChunkError(f"--test={files.test[0].path!r} has no rows")


def lines_of(comparison: Comparison, X: Any, y: Any, place: str, several: Any, what: str) -> Iterator[str]:
    """Return the output lines of a chunk, scored if labelled."""
    evaluated = comparison.models[0]
    try:
        found: NDArray | None = None if y is None else comparison.test(X, y)
        if what != "predictions":
            return format_scores(evaluated.scores(X) if what == "scores" else evaluated.probabilities(X))
        return format_predictions(evaluated.predict(X) if found is None else found, several)
    except (ValueError, MemoryError) as error:
        raise error_at(place, error) from None
    except AttributeError as error:  # of probabilities that are not known
        raise UsageError(f"--proba: {error.__cause__ or error}") from None
