"""The format of the job's files, known or found by reading."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.cli._console import UsageError
from sklearn_predtron.cli._data_files import (
    STANDARD,
    DataFile,
    DataFileReader,
    FileError,
    FirstPassReader,
    MemoryBudget,
    count_from,
)
from sklearn_predtron.cli._first_row import FirstRow
from sklearn_predtron.cli._growing import check_number
from sklearn_predtron.cli._job import Job
from sklearn_predtron.cli._labels import READABLE, WordLabels, are_words, can_be_read, decode_word, is_number, shortened_labels
from sklearn_predtron.cli._layout import TextLayout
from sklearn_predtron.cli._layouts import layout_of
from sklearn_predtron.cli._names import MAX_CLASSES
from sklearn_predtron.cli._progress import ProgressBar
from sklearn_predtron.cli._record_files import RecordFormat, find_records, opened
from sklearn_predtron.cli._tasks import TASKS, Task, task_of
from sklearn_predtron.datasets import SvmlightSummary
from sklearn_predtron.mixing import ShardError
from sklearn_predtron.mixing._dask import map_on_cluster
from sklearn_predtron.mixing._shards import SHARDS, cut_single_file, map_in_threads, name_of, scan_readable_part

NOT_TO_PREDICT = ["test", "save", "epochs", "compare", "grow", "jobs", "cluster"]


@dataclass
class JobFiles:
    """Training files and test files, in their order."""

    train: list[DataFile]
    test: list[DataFile]
    size: int  # of a line, at most
    several: bool  # labels, or none, in a row
    first: FirstRow  # of TRAIN
    layout: TextLayout | None = None  # None is svmlight

    @classmethod
    def of(cls, job: Job, loaded: Any, stack: ExitStack, only: DataFile | None = None) -> JobFiles:
        """Return the files of the arguments.

        The stack closes them. With a model, TRAIN without labels is predicted.
        """
        given = job.train, [job.test] if job.test else []
        train, test = ([stack.enter_context(only or DataFile(path)) for path in paths] for paths in given)
        several = job.task == "multilabel" if loaded is None else task_of(loaded).multilabel
        files = cls(train, test, job.chunk_bytes, several, FirstRow(), layout_of(job, loaded))
        for file in [*train, *test]:
            file.encoding = job.encoding or file.encoding
        for file in train:
            # The program that writes several pipes may write one after the other.
            if not (file.is_pipe and files.first.is_there):
                row = files.first_row(file)
                files.first = files.first if files.first.is_there else row
            file.labelled = file.labelled or (loaded is None and several)  # if only with empty sets
        for file in test:
            if not (file.is_pipe and train) and not files.first_row(file).is_there:
                raise UsageError(f"--test={file.path!r} has no rows")
        if not all(file.labelled for file in train):
            check_predict_only_options(job, train)
            files.train, files.test, files.first = [], train, FirstRow()
        return files

    def first_row(self, file: DataFile) -> FirstRow:
        """Return a file's first row, and record if it has labels."""
        if self.layout is not None:
            return first_row_of_layout(file, self.size, self.layout)
        return FirstRow.of(file, self.size, several=self.several)

    @property
    def nothing(self) -> bool:
        """Return whether there are no rows at all."""
        return bool(self.train) and not self.test and not self.first.is_there

    @property
    def only_predicted(self) -> bool:
        """Return whether the job only predicts."""
        return not self.train and not any(file.labelled for file in self.test)


def first_row_of_layout(file: DataFile, size: int, layout: TextLayout) -> FirstRow:
    """Return the findings for a file of another layout."""
    with opened(file, size, first_lines_only=True) as (lines, _):
        labelled = layout.first_row(lines)
    file.labelled, file.first_row_read = labelled is not False, True
    file.hint = layout.without_label
    return FirstRow(is_there=labelled is not None)


def check_predict_only_options(job: Job, train: list[DataFile]) -> None:
    """Raise UsageError for options that TRAIN without labels excludes."""
    unlabelled = next(f"TRAIN={file.path!r} has no label in its first row" for file in train if not file.labelled)
    if not job.load:
        raise UsageError(f"{unlabelled}; without --load there is no model that predicts them{train[0].hint}")
    for file in train:
        if file.labelled:
            raise UsageError(f"{unlabelled}, and TRAIN={file.path!r} has")
    for name in NOT_TO_PREDICT:
        if job.asks_for(name):
            raise UsageError(f"--{name} is not for rows without labels: {unlabelled}")


def known_task(job: Job, files: JobFiles) -> Task | None:
    """Return the task by options or first row; None if unclear."""
    if files.layout is not None and files.layout.task is not None:
        return TASKS[files.layout.task]
    return TASKS["rank"] if job.task is None and files.first.has_id else TASKS.get(job.task or "")


# ------------------------------------------------------------------------------------------------------------------- format


@dataclass
class FileFormat:
    """The format of svmlight files; None is not known yet."""

    n_features: int | None
    zero_based: bool | None
    classes: Any  # numbers, or words in the order of their ranks
    words: WordLabels | None
    multilabel: bool
    query_id: bool
    sequence_id: bool
    chunk_rows: int
    chunk_bytes: int
    grow: bool = False
    new_labels: bool = False  # may come in mid-file
    n_rows: int | None = None  # of TRAIN, if a first pass has come to its end
    cache: bool = False
    with_empty_lines: ClassVar[bool] = False  # whether empty lines are between the predictions of sequences

    @classmethod
    def of(cls, job: Job, task: Task | None, classes: Any) -> FileFormat:
        """Return the format that the arguments and the task specify."""
        return cls(
            n_features=job.features,
            zero_based=job.zero_based,
            classes=classes,
            words=None,
            multilabel=task is not None and task.multilabel,
            query_id=task is not None and task.rank,
            sequence_id=task is not None and task.sequence,
            chunk_rows=job.chunk_rows,
            chunk_bytes=job.chunk_bytes,
            grow=job.grow,
            new_labels=job.grow and not job.costs,
            cache=job.cache,
        )

    def is_known(self) -> bool:
        """Return whether no first pass is needed."""
        return self.grow or (None not in (self.n_features, self.zero_based) and (self.query_id or self.classes is not None))

    @property
    def how(self) -> dict[str, Any]:
        """Return the arguments shared by all readers."""
        return {name: getattr(self, name) for name in ("words", "query_id", "sequence_id", "chunk_rows", "chunk_bytes")}

    def reader(self, file: DataFile, *, learned: bool) -> DataFileReader:
        """Return a reader of a training or a test file."""
        width = self.n_features if learned and not self.grow else None
        several = self.multilabel and file.labelled
        form: dict[str, Any] = {"n_features": width, "zero_based": bool(self.zero_based), "multilabel": several}
        new = self.new_labels if learned else True  # labels of TEST that nobody has learned count as wrong
        open_labels = not file.labelled or self.query_id or (new and not self.multilabel)
        how = self.how
        if not learned and self.words is not None and not self.multilabel:
            how["words"] = WordLabels(self.words.names, grows=True, several=False)
        return DataFileReader(file, classes=None if open_labels else self.parsed_classes, cache=self.cache, **form, **how)

    def mark(self, model: Any) -> None:
        """Set the attributes of a model that record how its files are read."""
        model.svmlight_zero_based_ = self.zero_based
        if self.multilabel:
            model.svmlight_labels_ = self.classes

    def wrap_baseline(self, baseline: Any) -> Any:
        """Return the scikit-learn baseline for the rows."""
        return baseline

    def shard(self, file: DataFile) -> DataFileReader:
        """Return a reader of one of several parallel files."""
        words = None if self.words is None else WordLabels(self.words.names, grows=False, several=self.multilabel)
        return replace(self, words=words).reader(file, learned=True)

    @property
    def parsed_classes(self) -> Any:
        """Return the labels in the parsed text."""
        return self.classes if self.words is None else np.arange(len(self.words.names))

    def scanner(self, file: DataFile, budget: MemoryBudget) -> DataFileReader:
        """Return a reader for the first pass."""
        several, base = self.multilabel and file.labelled, "auto" if self.zero_based is None else self.zero_based
        how: dict[str, Any] = {"zero_based": base, "multilabel": several, "cache": self.cache, **self.how}
        # Given labels are checked as lines are parsed, and numbers that stand for words are not the final ones.
        if self.n_features is None and self.classes is None and self.words is None:
            return FirstPassReader(file, budget, **how)
        return DataFileReader(file, **how)

    def close_labels_of(self, model: Any) -> None:
        """Fix the labels to those of the model."""
        if not self.query_id and not self.multilabel:
            self.close_labels(model.classes_)

    def close_labels(self, classes: Any) -> None:
        """Fix the labels."""
        self.classes = classes
        if self.words is not None:
            self.words = WordLabels(classes.tolist(), grows=False, several=self.multilabel)


AnyFormat = FileFormat | RecordFormat


def find_format(job: Job, files: JobFiles, loaded: Any, task: Task | None, bar: ProgressBar) -> AnyFormat:
    """Return the format: from model, arguments, or a first pass."""
    if files.layout is not None:
        classes = given_classes(job, task) if loaded is None else loaded.classes_
        return find_records(job, files.layout, files.train, classes, ranks=task is not None and task.ranks, bar=bar)
    file_format = FileFormat.of(job, task, given_classes(job, task))
    if loaded is not None:
        file_format.n_features = loaded.n_features_in_
        if not file_format.query_id:
            # The classes of several labels are the columns' numbers; without names they are the labels.
            file_format.classes = getattr(loaded, "svmlight_labels_", loaded.classes_)
        if job.zero_based is None:
            file_format.zero_based = getattr(loaded, "svmlight_zero_based_", None)
    elif job.grow or (file_format.n_features is not None and (file_format.query_id or file_format.classes is not None)):
        file_format.zero_based = bool(job.zero_based)
    if are_words(file_format.classes) and any(file.labelled for file in [*files.train, *files.test]):
        check_words("--classes" if loaded is None else f"--load={job.load!r}", file_format)
    file_format.words = find_words(file_format, files, task)
    if file_format.cache:
        check_cache(files, file_format)
    if file_format.is_known():
        return file_format
    return replace(file_format, **scan_files(job, files, file_format, bar))


def given_classes(job: Job, task: Task | None) -> Any:
    """Return the labels of the arguments, sorted unless words of ranks."""
    ranked = task is not None and task.ranks and job.classes is not None and are_words(job.classes)
    return job.classes if job.classes is None or ranked else np.unique(job.classes)


def check_cache(files: JobFiles, file_format: FileFormat) -> None:
    """Raise UsageError if the cache cannot be used."""
    for name, file in [*(("TRAIN", file) for file in files.train), *(("--test", file) for file in files.test)]:
        if file.is_pipe or file.path == STANDARD:
            raise UsageError(f"--cache is for files, and {name}={file.path!r} is none")
        if file_format.words is not None or not file.labelled:
            raise UsageError(f"--cache is for labels that are numbers, and those of {name}={file.path!r} are not")


def check_words(source: str, file_format: FileFormat) -> None:
    """Raise UsageError for classes that no row can begin with."""
    several = file_format.multilabel
    for name in file_format.classes.tolist():
        if not can_be_read(name, several=several):
            accepted = READABLE.replace(" and", ", commas and") if several else READABLE
            raise UsageError(f"{source} has the label {name!r}, which no row can begin with; accepted are {accepted}")


def find_words(file_format: FileFormat, files: JobFiles, task: Task | None) -> WordLabels | None:
    """Return the word labels, and whether others can follow."""
    several, label = file_format.multilabel, files.first.label
    if file_format.classes is not None:
        grows = file_format.new_labels and not several
        return WordLabels(file_format.classes.tolist(), grows=grows, several=several) if are_words(file_format.classes) else None
    if label is None or all(is_number(part) for part in (label.split(b",") if several else [label])):
        return None
    named = f"the first row of TRAIN has the label {shortened(decode_word(label))}"
    if file_format.query_id:
        raise UsageError(f"{named}; accepted are numbers, which relevances are")
    if task is not None and task.ranks:
        raise UsageError(f"{named}; ranks that are words need --classes, which gives them in their order")
    return WordLabels(grows=True, several=several)


# --------------------------------------------------------------------------------------------------------------- first pass


def scan_files(job: Job, files: JobFiles, file_format: FileFormat, bar: ProgressBar) -> dict[str, Any]:
    """Scan TRAIN, or else TEST, for the unknown format."""
    if (job.jobs or job.cluster) and file_format.words is None and not file_format.cache:
        found = scan_shards(job, files, file_format)
    else:
        budget = MemoryBudget()
        named = file_format.classes if file_format.words is None else file_format.words.names
        most = None if file_format.query_id else max(job.max_classes or MAX_CLASSES, 0 if named is None else len(named))
        found = [scan_file(file, file_format, budget, bar, most) for file in files.train or files.test]
    name = "TRAIN=" + ", ".join(repr(file.path) for file in files.train) if files.train else f"--test={files.test[0].path!r}"
    zero_based = any(summary.zero_based for summary in found)
    width = max(summary.n_features + (zero_based and not summary.zero_based) for summary in found)
    for file in files.train:
        if file.parsed is not None:
            count_from(file.parsed, file_format.zero_based is None and not zero_based, width)
    error = next((summary.error for summary in found if summary.error is not None), None)
    if not any(summary.n_rows for summary in found) and error is None:
        raise UsageError(f"{name} has no rows")
    rows = sum(summary.n_rows for summary in found) if files.train and error is None else None
    form = {"zero_based": zero_based, "n_features": file_format.n_features or width, "n_rows": rows}
    if file_format.query_id:
        if not any(summary.n_rows for summary in found):
            raise error or UsageError(f"{name} has no rows")
        return form
    classes, words = file_format.classes, file_format.words
    if classes is None:
        classes = np.unique(np.concatenate([summary.classes for summary in found]) if words is None else words.names)
        check_label_count(len(classes), job)
    if len(classes) < 2:
        raise error or UsageError(f"{name} has the labels {shortened_labels(classes)}; at least two are needed, or --classes")
    if words is not None:
        words = WordLabels(classes.tolist(), grows=False, several=file_format.multilabel)
    return {**form, "classes": classes, "words": words}


def scan_shards(job: Job, files: JobFiles, file_format: FileFormat) -> list[SvmlightSummary]:
    """Scan the files of TRAIN in parallel."""
    first_row = partial(map_in_threads, job.jobs) if job.jobs else partial(map_on_cluster, job.cluster)
    base = "auto" if file_format.zero_based is None else file_format.zero_based
    options = {"zero_based": base, **{name: getattr(file_format, name) for name in ("multilabel", "query_id", "sequence_id")}}
    shards = cut_single_file([file.path for file in files.train], SHARDS)
    try:
        return first_row(scan_readable_part, [(name_of(i, shard), shard, options) for i, shard in enumerate(shards)])
    except ShardError as error:
        raise FileError(str(error)) from None
    except ValueError as error:
        raise UsageError(str(error)) from None


def check_label_count(n: int, job: Job) -> None:
    """Raise an error for more labels than allowed."""
    try:
        check_number(n, job.max_classes)
    except ValueError as error:
        raise UsageError(str(error)) from None


def scan_file(
    file: DataFile, file_format: FileFormat, budget: MemoryBudget, bar: ProgressBar, most: int | None
) -> SvmlightSummary:
    """Scan one file, up to a number of labels."""
    file.keep(bar)
    reader = file_format.scanner(file, budget)
    try:
        limit = {} if most is None else {"max_classes": most}
        return reader.scan(callback=lambda: bar("first pass", reader.fraction_read), **limit)
    except ValueError as error:
        raise UsageError(str(error).replace("max_classes=", "--max-classes ")) from None
