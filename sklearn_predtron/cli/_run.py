"""Jobs on files: open, train, save, score and predict, report."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from scipy import sparse

from sklearn_predtron.cli._console import OutputClosedError, UsageError, as_options, complain, report
from sklearn_predtron.cli._evaluation import Evaluation, ResultRow, check_evaluation
from sklearn_predtron.cli._lines import (
    ENDINGS,
    RejectedChunkError,
    error_at,
    format_predictions,
    format_scores,
    lines_to,
    with_empty_lines,
    with_ids,
)
from sklearn_predtron.cli._model import (
    as_trained,
    build_model,
    check_labels,
    check_options,
    check_table,
    load_model,
    output_of,
    save_model,
)
from sklearn_predtron.cli._progress import ProgressBar
from sklearn_predtron.cli._report import Outcome, report_outcome
from sklearn_predtron.cli._settings import Job, as_pairs
from sklearn_predtron.cli._tasks import OF_FORMATS, TASKS, Task, default_features, task_of
from sklearn_predtron.cli._training import Training, check_names, is_incomplete, parts_of_split
from sklearn_predtron.cli._unseen import UnseenFeatures
from sklearn_predtron.datasets._broken_lines import BrokenLineError  # the package would import Parquet and simulators, too
from sklearn_predtron.datasets.formats.base import Head, RowChunk, RowSchema
from sklearn_predtron.datasets.formats.files import STANDARD, DataFile, FileError
from sklearn_predtron.datasets.formats.labels import are_words, is_line
from sklearn_predtron.datasets.formats.opening import RowStream, format_in, format_of, format_of_names, open_rows
from sklearn_predtron.datasets.formats.tables import CATEGORY, PLAIN_NUMBERS, CsvFormat
from sklearn_predtron.families.input.tables import WarmupBuffer, map_of
from sklearn_predtron.losses.reject import label_of_reject

TEXT_HINT = "; --features piecewise takes text and missing cells, and --drop leaves columns out"
NOT_TO_PREDICT = {"test": "source", "save": "output", "grow": "model", "stream": "model", "jobs": "model", "holdout": "source"}


@dataclass
class JobFiles:
    """The opened rows of a job, and its task."""

    train: RowStream | None
    test: RowStream | None
    task: Task | None
    head: Head

    @property
    def unlabelled(self) -> bool:
        """Return whether rows to predict have no labels."""
        return self.test is not None and any(not file.labelled for file in self.test.files)

    @property
    def name(self) -> str:
        """The name of the data in the table."""
        files = (self.train or self.test).files  # type: ignore[union-attr]
        first, *more = [os.path.basename(file.name) for file in files]
        return f"{first} and {len(more)} more" if more else first


def run(job: Job, bar: ProgressBar, opened: DataFile | None = None) -> int:
    """Train, save, score, report; return the exit code. `opened` is the only file of data, if its first row has been read."""
    loaded = load_model(job.model.load, job.model_name) if job.model.load else None
    with ExitStack() as stack:
        try:
            files = open_files(job, loaded, stack, opened, bar)
            nothing = loaded is not None and files.train and not files.head.is_there and not files.test
            if nothing and not (job.output.save or job.output.predictions or job.output.json):
                return report("" if job.output.quiet else "no rows to train on or to predict\n", to_stderr=True)
            check_predictions(job, files, loaded)
            if files.task is not None:
                check_options(job, files.task, loaded, seen=files.task.rank and not (job.model.task or job.model.load))
            if job.model.jobs and files.train:
                check_names(files.train)
            schema = (files.train or files.test).schema  # type: ignore[union-attr]
        except (BrokenLineError, FileError, KeyboardInterrupt) as error:
            bar.clear()
            return complain(error, "" if job.model.load else "there is no trained model yet")
        except UsageError:
            raise
        except ValueError as error:
            raise usage_error(error, job) from None
        classes = schema.classes
        task = files.task
        if task is None:
            task = TASKS["multiclass" if job.model.grow or len(classes) != 2 else "binary"]
            check_options(job, task, loaded, seen=False)
        check_order(job, task, schema)
        name_costs(job, files, classes)
        model = build_model(job.model, loaded, task, classes)
        if files.train is not None and loaded is None:
            if "features" not in job.model.parameters and is_incomplete(files.train):
                model.set_params(features=default_features(task))
            check_text(files.train, model.features)
        check_table(job, model, schema)
        outcome = train_and_score(job, files, model, task, schema, bar)
    bar.clear()
    return report_outcome(outcome, job, task)


def usage_error(error: ValueError, job: Job) -> UsageError:
    """Return the error of a reader, in terms of the options."""
    text = str(error)
    if text.startswith("numbers_only=True"):
        return UsageError(text.partition(", and ")[2] + ("" if text.endswith(PLAIN_NUMBERS) else TEXT_HINT))
    if job.model.load and text.startswith("classes has"):
        return UsageError(f"{job.model_name}{text.removeprefix('classes')}")
    text = as_options(text, "TRAIN" if job.source.train else job.test_name)
    return UsageError(text.replace("--load ", f"{job.model_name} ", 1))


# -------------------------------------------------------------------------------------------------------------------- files


def open_files(job: Job, loaded: Any, stack: ExitStack, opened: DataFile | None, bar: ProgressBar) -> JobFiles:
    """Return the opened files, which the stack closes; with a model, TRAIN without labels is predicted."""
    source, model = job.source, job.model
    task = task_of(loaded) if loaded is not None else TASKS.get(model.task or "")
    kinds = {} if task is None else {"multilabel": task.multilabel, "query_id": task.rank, "sequence_id": task.sequence}
    paths = source.train or (str(source.test),)
    form = name_of_format(source.format, [*source.train, *([source.test] if source.test else [])], loaded)
    check_format(form, job, loaded)
    options = {**source.options, **({"costs": source.costs} if source.costs else {}), **({"grow": True} if model.grow else {})}
    if form == "svmlight":
        options |= kinds
    if form == "csv":
        made = map_of_model(loaded) if loaded is not None else model.parameters.get("features", default_features(task))
        options["numbers_only"] = not accepted_cells(made)[0]
    classes = source.classes
    if classes is not None and not (task is not None and task.ordinal):
        classes = sorted(set(classes))
    given = format_of(source.format if hasattr(loaded, "file_format_") else form, paths, loaded, **options)
    rows = open_rows(paths, format=given, like=loaded, classes=classes, chunk_rows=source.chunk_rows)
    stack.callback(rows.close)
    rows.progress = bar
    rows.format.ignores_labels = job.command == "predict"
    if opened is not None:
        rows.files = [opened]
    train, test = (rows, None) if source.train else (None, rows)
    if train is not None and source.test:
        test = RowStream([DataFile(source.test)], rows.format, None, None, bar)
        stack.callback(test.close)
    head = rows.sniff() if train is not None else Head()
    if train is not None and loaded is None and task is not None and task.multilabel:
        for file in train.files:
            file.labelled = True  # if only with empty sets
    known = test is None or test.files[0].head is not None or (train is not None and test.files[0].is_pipe)
    if test is not None and not known and not test.sniff().is_there:
        raise UsageError(f"{job.test_name}={test.files[0].path!r} has no rows")
    if train is not None and not all(file.labelled for file in train.files):
        check_predict_only(job, train.files)
        train, test, head = None, train, Head()
    if test is not None:
        test.learned = False
        if job.command == "score" and not all(file.labelled for file in test.files):
            raise UsageError(f"FILE={test.files[0].path!r} has no label in its first row; `predict` is for such rows")
    if form == "conll":
        task = TASKS["sequence"]
    elif task is None and head.has_id and form == "svmlight":
        task = TASKS["rank"]
        rows.format.query_id = True
    return JobFiles(train, test, task, head)


def name_of_format(given: str | None, paths: list[str], loaded: Any) -> str:
    """Return the name of the files' format."""
    state = getattr(loaded, "file_format_", None)
    return format_in(state, given) if state is not None else given or format_of_names(paths) or "svmlight"


def map_of_model(model: Any) -> Any:
    """Return the feature map of a fitted model; "auto" may have chosen none, and few rows have fitted none yet."""
    made = model._model.columns.features
    return model.features if isinstance(made, WarmupBuffer) else made


def accepted_cells(features: Any) -> tuple[bool, bool]:
    """Return whether a feature map accepts missing cells, and text."""
    made = map_of(features)
    if made is None:
        return False, False
    tags = made.__sklearn_tags__().input_tags
    return tags.allow_nan, tags.string


def check_text(rows: RowStream, features: Any) -> None:
    """Raise UsageError for columns of text without a map."""
    kinds = getattr(rows.format, "kinds", None) or []
    if CATEGORY in kinds and not accepted_cells(features)[1]:
        j = kinds.index(CATEGORY)
        names = rows.schema.feature_names
        column = repr(names[j]) if names else str(j + 1)
        raise UsageError(f"{rows.files[0].path} has text in the column {column}{TEXT_HINT}")


def check_format(form: str, job: Job, loaded: Any) -> None:
    """Raise UsageError for options and models that are not for the format."""
    if form == "svmlight":
        return
    if job.model.jobs:
        raise UsageError(f"--jobs is for svmlight files, and the files are {form}")
    tasks, task = OF_FORMATS[form], job.model.task
    if task not in (None, *tasks):
        raise UsageError(f"--task {task} is not for {form} files; accepted is --task {', '.join(tasks)}")
    if loaded is not None and type(loaded) not in [TASKS[task].estimator for task in tasks]:
        raise UsageError(f"{job.model_name} holds a {type(loaded).__name__}, which is not for {form} files")
    features = job.model.parameters.get("features")
    if features is not None and form != "csv":
        raise UsageError(f"--features={features} is not for {form} files; accepted is a number of features")


def check_predict_only(job: Job, files: list[DataFile]) -> None:
    """Raise UsageError for options that TRAIN without labels excludes."""
    first = next(file for file in files if not file.labelled)
    unlabelled = f"TRAIN={first.path!r} has no label in its first row"
    if job.command == "fit":
        raise UsageError(as_options(f"{unlabelled}; `predict` is for such rows{first.hint}"))
    if not job.model.load:
        raise UsageError(as_options(f"{unlabelled}; without --load there is no model that predicts them{first.hint}"))
    for file in files:
        if file.labelled:
            raise UsageError(f"{unlabelled}, and TRAIN={file.path!r} has")
    for name, part in NOT_TO_PREDICT.items():
        if getattr(getattr(job, part), name):
            raise UsageError(f"--{name} is not for rows without labels: {unlabelled}")
    if job.model.passes > 1:
        raise UsageError(f"--epochs is not for rows without labels: {unlabelled}")


def check_order(job: Job, task: Task, schema: RowSchema) -> None:
    """Raise UsageError for ordinal labels that are text without an order."""
    if task.ordinal and not job.model.load and are_words(schema.classes) and job.source.classes is None:
        label = schema.classes.tolist()[0]
        raise UsageError(f"TRAIN has the label {label!r}; ordinal labels that are text need --classes, which gives their order")


def name_costs(job: Job, files: JobFiles, classes: Any) -> None:
    """Give the pairs of --costs labels in the type of the classes."""
    if job.source.costs and files.train is not None:
        pairs = as_pairs(job.source.costs, classes)
        reject = job.model.estimator_parameters(classes).get("reject")
        rejects = set() if reject is None else {label_of_reject(reject, classes)}
        check_labels("--costs", {label for pair in pairs for label in pair} - rejects, classes)
        files.train.format.costs = pairs


def check_predictions(job: Job, files: JobFiles, loaded: Any) -> None:
    """Validate the options of predictions and scores."""
    output, written = job.output, job.output.written
    if output.predictions and not files.test:
        raise UsageError("--predictions needs --test, or rows without labels")
    to_write = predictions_to(job, files)
    pipes = files.test is not None and files.test.files[0].is_pipe
    if written != "predictions" and not (to_write or pipes):
        raise UsageError(f"--{'scores' if written == 'scores' else 'proba'} needs --predictions, or rows without labels")
    if output.plot and ((files.test is None and not job.source.holdout) or files.unlabelled):
        raise UsageError("--plot needs rows with labels to score")
    labels: Any = getattr(loaded, "svmlight_labels_", getattr(loaded, "classes_", None))
    if to_write and written == "predictions" and are_words(labels):
        for label in labels.tolist():
            if not is_line(label):
                raise UsageError(f"{job.model_name} has the label {label!r}, which a line of predictions cannot hold")


def predictions_to(job: Job, files: JobFiles) -> str | None:
    """Return the destination of predictions, if any."""
    return job.output.predictions or (STANDARD if job.command == "predict" or files.unlabelled else None)


# ---------------------------------------------------------------------------------------------------------------- the stages


def train_and_score(job: Job, files: JobFiles, model: Any, task: Task, schema: RowSchema, bar: ProgressBar) -> Outcome:
    """Train on TRAIN, save, score; return the outcome."""
    results, left_out, unlearned = [ResultRow(files.name, type(model).__name__)], UnseenFeatures(), None
    check_evaluation(task, model)
    training = Training(model, task, schema.classes, results[0])
    if files.train is not None:
        unlearned = training.mix(files.train, job) if job.model.jobs else training.run(files.train, job, bar)
    model = training.model
    fitted, unsaved, untested = model.__sklearn_is_fitted__(), None, None
    if fitted and files.test is not None and isinstance(files.test.format, CsvFormat):
        files.test.format.missing = accepted_cells(map_of_model(model))[0]
    if fitted and not task.rank and not task.multilabel:
        schema = replace(schema, classes=model.classes_)
    if job.output.save and fitted:
        unsaved = save_model(model, files.train or files.test, job.output.save)  # type: ignore[arg-type]
    stage = Scoring(job, files, model, task, schema, Evaluation(task, model, schema.classes, results[0]), left_out, bar)
    if (files.test or job.source.holdout) and fitted and not isinstance(unlearned, KeyboardInterrupt):
        untested = stage.run()
    if job.output.compare and untested is None and unlearned is None and fitted:
        from sklearn_predtron.cli._peer import score_peer

        results.append(score_peer(stage))
    rounds, tested = results[0].rounds, results[0].tested
    untrained = "the loaded model is as it was" if job.model.load else "there is no trained model yet"
    kept = f"the {rounds:,} rounds before it are kept" if rounds else untrained
    kept += f", in {job.output.save}" if job.output.save and fitted and unsaved is None else ""
    scored = "the held-out score is of the rows before it" if tested else "there is no held-out score"
    scored = "the predictions are of the rows before it" if stage.only_predicted else scored
    found = [(unlearned, kept), (unsaved, "the model is not saved"), (untested, scored)]
    errors = [(error, rest) for error, rest in found if error is not None]
    return Outcome(results, left_out, errors, predictions_to(job, files), files.train is None and stage.only_predicted)


@dataclass
class Scoring:
    """The rows to score or predict, and where the results go."""

    job: Job
    files: JobFiles
    model: Any
    task: Task
    schema: RowSchema
    evaluation: Evaluation
    left_out: UnseenFeatures
    bar: ProgressBar

    @property
    def only_predicted(self) -> bool:
        """Return whether rows are predicted and not scored."""
        return self.files.test is not None and (self.job.command == "predict" or self.files.unlabelled)

    @property
    def rows(self) -> RowStream:
        """The rows that are scored or predicted."""
        rows = self.files.test or self.files.train
        assert rows is not None
        return rows

    def chunks(self) -> Iterator[RowChunk]:
        """Yield the chunks to score, as wide as the model."""
        if self.files.test is None:
            chunks = parts_of_split(self.rows, self.job, held=True, keep=False)
        else:
            chunks = RowStream(self.rows.files, self.rows.format, None, self.schema, self.bar).chunks(keep=False)
        yield from map(self.cut, chunks)

    def cut(self, chunk: RowChunk) -> RowChunk:
        """Return rows as wide as the model."""
        return replace(chunk, X=self.left_out.cut(chunk.X, self.model.n_features_in_)) if sparse.issparse(chunk.X) else chunk

    def run(self) -> BaseException | None:
        """Score rows and write predictions; return an early end's cause."""
        job, n, is_read = self.job, 0, True
        to = predictions_to(job, self.files)
        try:
            with lines_to(to) as write:
                for chunk in self.chunks():
                    lines = self._lines(as_trained(chunk, self.model))
                    is_read = write(lines) and is_read
                    n += len(chunk)
                    if not is_read and self.only_predicted:
                        raise OutputClosedError
                    self.bar("test", chunk.fraction)
        except ENDINGS as error:
            return error
        if not is_read and to == STANDARD:
            return OutputClosedError()
        if n == 0 and self.files.test is None:
            return RejectedChunkError(f"--holdout={job.source.holdout:g} holds out no row")
        return None if n else RejectedChunkError(f"{job.test_name}={self.rows.files[0].path!r} has no rows")

    def _lines(self, chunk: RowChunk) -> Iterator[str]:
        """Return the output lines of a chunk, scored if it has labels."""
        written, task = self.job.output.written, self.task
        try:
            predicted = output_of(self.model, task, chunk) if written == "predictions" or not self.only_predicted else None
            if chunk.y is not None and not self.only_predicted:
                self.left_out.count_labels(chunk.y, getattr(self.model, "classes_", None))
                self.evaluation.add(chunk, predicted)
            if written == "predictions":
                lines = format_predictions(predicted, self.schema.classes if task.multilabel else None)
            else:
                lines = format_scores(output_of(self.model, task, chunk, written))
        except (ValueError, MemoryError) as error:
            raise error_at(chunk.place, error) from None
        except AttributeError as error:  # of probabilities that are not known
            raise UsageError(f"--proba: {error.__cause__ or error}") from None
        if chunk.ids is not None:
            lines = with_ids(chunk.ids, lines)
        return lines if chunk.gaps is None else with_empty_lines(lines, chunk.starts, chunk.gaps)
