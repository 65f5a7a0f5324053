"""The main job on svmlight files: learn from one in chunks, score on another."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron.cli._compare import BEFORE, CUTS, HELD_OUT, ByQuery, Comparison
from sklearn_predtron.cli._console import complain, report
from sklearn_predtron.cli._demo import TASKS, Bar, Task, caption, start_comparison, start_lines, table, top_table
from sklearn_predtron.cli._growing import GrowingReader, grow
from sklearn_predtron.cli._paths import DataFile, DataFileReader, FileError, lines_to, named, replacing
from sklearn_predtron.datasets import BrokenLineError, SvmlightSummary
from sklearn_predtron.datasets._blocks import first_row
from sklearn_predtron.datasets._broken_lines import shortened
from sklearn_predtron.datasets._reader import decompressed
from sklearn_predtron.losses import Reject
from sklearn_predtron.updates import ListNet, MaxPair, Slam

LEARNER_OPTIONS = ["loss", "representation", "update", "norm", "average"]
CHUNK_BYTES = 8 * 2**20
RANKING_UPDATES = [kind.alias for kind in (Slam, MaxPair, ListNet)]


class UsageError(ValueError):
    """The arguments ask for what cannot be done."""


class RefusedError(ValueError):
    """The learners refuse a chunk, or there is none."""


class Files(NamedTuple):
    """What is learned from, and what is scored on."""

    train: DataFile | None
    test: DataFile | None

    def named(self) -> dict[str, DataFile]:
        """Return those that are there, by what the user calls them."""
        return {f"{name}={file.path!r}": file for name, file in zip(("TRAIN", "--test"), self, strict=True) if file}


@dataclass
class FileFormat:
    """How svmlight files are read; None is not known yet."""

    n_features: int | None
    zero_based: bool | None
    classes: Any
    multilabel: bool
    query_id: bool
    sequence_id: bool
    chunk_rows: int
    chunk_bytes: int
    grow: bool = False

    @classmethod
    def of(cls, args: argparse.Namespace, task: Task | None) -> FileFormat:
        """Return what the arguments and the task say."""
        return cls(
            n_features=args.features,
            zero_based=args.zero_based,
            classes=None if args.classes is None else np.unique(args.classes),
            multilabel=task is not None and task.multilabel,
            query_id=task is not None and task.rank,
            sequence_id=task is not None and task.sequence,
            chunk_rows=args.chunk or 10_000,
            chunk_bytes=args.chunk_bytes or CHUNK_BYTES,
            grow=bool(args.grow),
        )

    def is_known(self) -> bool:
        """Return whether nothing is left for a first pass to find."""
        return self.grow or (None not in (self.n_features, self.zero_based) and (self.query_id or self.classes is not None))

    def reader(self, file: DataFile) -> DataFileReader:
        """Return a reader of a file of this format."""
        parameters = {name: value for name, value in vars(self).items() if name != "grow"}
        return (GrowingReader if self.grow else DataFileReader)(file, **parameters)

    def scanner(self, file: DataFile) -> DataFileReader:
        """Return a reader that finds out what is not known."""
        known = {name: getattr(self, name) for name in ("multilabel", "query_id", "sequence_id", "chunk_rows", "chunk_bytes")}
        return DataFileReader(file, zero_based="auto" if self.zero_based is None else self.zero_based, **known)


def learner_parameters(args: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of the estimator that were given."""
    parameters = {name: getattr(args, name) for name in LEARNER_OPTIONS if getattr(args, name) is not None}
    return parameters if args.reject_cost is None else {**parameters, "reject": Reject(args.reject_cost, args.reject_label)}


def run_files(args: argparse.Namespace, bar: Bar) -> int:
    """Learn, save, score, print the table, and return the exit code."""
    loaded = load_model(args.load) if args.load else None
    with ExitStack() as stack:
        files = Files(*(stack.enter_context(DataFile(path)) if path else None for path in (args.train, args.test)))
        try:
            task = known_task(args, files, bar) if loaded is None else task_of(loaded)
            if task is not None:
                check_options(args, task)
            file_format = find_format(args, files, loaded, task, bar)
        except (BrokenLineError, FileError, KeyboardInterrupt) as error:
            bar.clear()
            return complain(error, "nothing was learned before it")
        if task is None:
            task = TASKS["multiclass" if args.grow or len(file_format.classes) != 2 else "binary"]
            check_options(args, task)
        model = build_model(args, loaded, task, file_format.classes)
        compare = loaded is None and not args.grow if args.compare is None else args.compare
        comparison = build_comparison(task, model, os.path.basename(args.train or args.test), file_format.classes, compare)
        errors = learn_save_score(comparison, args, files, file_format, bar)
    bar.clear()
    note = "  With several epochs progressive loss is that of the first." if (args.epochs or 1) > 1 else ""
    rejects = comparison.contestants[0].result.rejected is not None
    text = caption(model.average, tasks=[task], rejects=rejects, compare=compare, note=note)
    results = [contestant.result for contestant in comparison.contestants]
    code = report(f"{table(results)}\n{top_table(results)}{text}\n")
    return max([code, *(complain(error, rest) for error, rest in errors)])


def learn_save_score(
    comparison: Comparison, args: argparse.Namespace, files: Files, file_format: FileFormat, bar: Bar
) -> list[tuple[BaseException, str]]:
    """Learn from TRAIN, save, score on TEST, as is wanted, and return what ended each early, and what is left."""
    model = comparison.contestants[0].estimator
    unlearned = learn_file(comparison, args, files.train, file_format, bar) if files.train else None
    fitted, unsaved, untested = model.__sklearn_is_fitted__(), None, None
    if args.save and fitted:
        unsaved = save_model(model, file_format, args.save)
    if files.test and fitted and not isinstance(unlearned, KeyboardInterrupt):
        untested = score_file(comparison, args, files.test, file_format, bar)
    kept = f"the {comparison.rounds:,} rounds before it are kept" if comparison.rounds else "nothing was learned before it"
    kept += f", in {args.save}" if args.save and fitted and unsaved is None else ""
    scored = "the held-out score is of the rows before it" if comparison.tested else "there is no held-out score"
    found = [(unlearned, kept), (unsaved, "the model is not saved"), (untested, scored)]
    return [(error, rest) for error, rest in found if error is not None]


def load_model(path: str) -> Any:
    """Return a fitted estimator of a known task."""
    try:
        model = joblib.load(path)
        check_is_fitted(model)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise UsageError(
            f"--load={path!r} holds no fitted estimator ({reason}); accepted are files that --save or joblib.dump wrote"
        ) from None
    known = type(model) in [task.estimator for task in TASKS.values()]
    if not known or not (task_of(model).rank or model.classes_.dtype.kind in "iuf"):
        names = ", ".join(task.estimator.__name__ for task in TASKS.values())
        raise UsageError(f"--load={path!r} holds a {type(model).__name__}; accepted are {names} with numbers as labels")
    if task_of(model).multilabel and len(model.coef_) < 2:
        raise UsageError(f"--load={path!r} holds a {type(model).__name__} of one label; at least two are needed")
    return model


def task_of(model: Any) -> Task:
    """Return the task that the estimator is for."""
    return next(task for task in TASKS.values() if task.estimator is type(model))


def save_model(model: Any, file_format: FileFormat, path: str) -> FileError | None:
    """Write the model and how its files are read, and return why that failed, if so."""
    model.svmlight_zero_based_ = file_format.zero_based
    if file_format.multilabel:
        model.svmlight_labels_ = file_format.classes
    try:
        with named(f"--save={path!r}"), replacing(path) as file:
            joblib.dump(model, file)
    except FileError as error:
        return error
    return None


def known_task(args: argparse.Namespace, files: Files, bar: Bar) -> Task | None:
    """Return the task that is asked for, or that the first row of TRAIN shows; None depends on the labels."""
    train = files.train
    if args.task is not None or train is None:
        return TASKS.get(args.task)
    if train.is_pipe and args.features and args.classes:  # With these it may be read straight.
        return None
    train.keep(bar)
    return TASKS["rank"] if has_queries(train, args.chunk_bytes or CHUNK_BYTES) else None


def has_queries(file: DataFile, size: int) -> bool:
    """Return whether the first row has qid: after its label."""
    with file.open() as raw, decompressed(raw, file.path) as lines:
        return b"".join(first_row(lines, size)[1:2]).startswith(b"qid:")


def check_options(args: argparse.Namespace, task: Task) -> None:
    """Refuse options that are not the task's."""
    name = task.estimator.__name__
    if task.rank and args.task is None and not args.load:
        name += " (the first row of TRAIN has qid:, so --task is rank)"
    known = task.estimator().get_params()
    unknown = [given for given in learner_parameters(args) if given not in known]
    unknown += ["classes"] * (task.rank and args.classes is not None)
    unknown += ["representation"] * (args.representation is not None and not task.rank)
    if unknown:
        raise UsageError(f"--{'reject-cost' if unknown[0] == 'reject' else unknown[0]} is not for {name}")
    if args.grow and args.classes is None and not args.load and (task.multilabel or isinstance(args.loss, dict)):
        raise UsageError(f"--grow needs --classes {'for --task multilabel' if task.multilabel else 'beside costs'}")
    if args.update in RANKING_UPDATES and not task.rank:
        raise UsageError(f"--update {args.update} is for rankings (--task rank), not for {name}")


def build_model(args: argparse.Namespace, loaded: Any, task: Task, classes: Any) -> Any:
    """Return the estimator, new or loaded, with the parameters that were given."""
    parameters = learner_parameters(args)
    if "loss" in parameters:
        check_loss(parameters["loss"], task, classes)
    return task.estimator(**parameters) if loaded is None else loaded.set_params(**parameters)


def check_loss(loss: str | dict, task: Task, classes: Any) -> None:
    """Refuse a loss that is not the task's, and costs of labels that do not occur."""
    named = set() if isinstance(loss, str) else {label for pair in loss for label in pair}
    fits = task.costs if named else loss in task.loss_names
    if not fits:
        accepted = ", ".join(task.loss_names) + (" and TRUE:PREDICTED=COST,..." if task.costs else "")
        raise UsageError(f"--loss is not for {task.estimator.__name__}; accepted are {accepted}")
    if not named.issubset([] if classes is None else classes.tolist()):
        unknown = np.setdiff1d(list(named), classes)
        raise UsageError(f"--loss names the labels {shortened(unknown)}; accepted are {shortened(classes)}")


def build_comparison(task: Task, model: Any, data: str, classes: Any, compare: bool) -> Comparison:
    """Return the estimator, and its baseline beside it."""
    baselines = [task.baseline] if compare else []
    results = start_lines(data, task.estimator, baselines)
    for result in results:
        result.top = {BEFORE: np.zeros(len(CUTS)), HELD_OUT: np.zeros(len(CUTS))} if task.rank else None
        result.held_out_loss = 0.0 if task.sequence else None
    try:
        return start_comparison(task, model, baselines, classes, results)
    except ValueError as error:
        raise UsageError(str(error)) from None


# --------------------------------------------------------------------------------------------------------- reading files


def find_format(args: argparse.Namespace, files: Files, loaded: Any, task: Task | None, bar: Bar) -> FileFormat:
    """Return how all files are read: from the model, the arguments, or a first pass over the files."""
    file_format = FileFormat.of(args, task)
    if loaded is not None:
        file_format.n_features = loaded.n_features_in_
        if not file_format.query_id:
            # The classes of several labels are the columns' numbers; without names they are the labels.
            file_format.classes = getattr(loaded, "svmlight_labels_", loaded.classes_)
        if args.zero_based is None:
            file_format.zero_based = getattr(loaded, "svmlight_zero_based_", None)
    elif args.grow or (file_format.n_features is not None and (file_format.query_id or file_format.classes is not None)):
        file_format.zero_based = bool(args.zero_based)
    return file_format if file_format.is_known() else replace(file_format, **scan_files(files, file_format, bar))


def scan_files(files: Files, file_format: FileFormat, bar: Bar) -> dict[str, Any]:
    """Return what a first pass finds, for what is not known; the width holds both files, the classes are TRAIN's."""
    found = {name: scan_file(name, file, file_format, bar) for name, file in files.named().items()}
    name, first = next(iter(found.items()))
    zero_based = any(summary.zero_based for summary in found.values())
    width = max(summary.n_features + (zero_based and not summary.zero_based) for summary in found.values())
    rank, classes = file_format.query_id, file_format.classes
    if classes is None and not rank:
        classes = first.classes
    if first.n_rows < 1 if rank else len(classes) < 2:
        raise first.error or UsageError(f"{name} has the labels {classes.tolist()}; at least two are needed, or --classes")
    return {"zero_based": zero_based, "n_features": file_format.n_features or width, "classes": classes}


def scan_file(name: str, file: DataFile, file_format: FileFormat, bar: Bar) -> SvmlightSummary:
    """Return the first pass over one file."""
    file.keep(bar)
    reader = file_format.scanner(file)
    try:
        found = reader.scan(callback=lambda: bar("first pass", reader.fraction_read))
    except ValueError as error:
        raise UsageError(str(error)) from None
    if found.n_rows < 1 and found.error is None:
        raise UsageError(f"{name} has no rows")
    return found


def learn_file(
    comparison: Comparison, args: argparse.Namespace, train: DataFile, file_format: FileFormat, bar: Bar
) -> BaseException | None:
    """Learn from TRAIN and return what ended it early, if anything."""
    reader, random, epochs = file_format.reader(train), np.random.default_rng(args.seed or 0), args.epochs or 1
    try:
        if epochs > 1:
            train.keep(bar)
        for epoch in range(epochs):
            for X, y, place in chunks(reader):
                check_lengths(comparison, X, place)
                if args.grow:
                    grow_for(comparison, X, y, place)
                order = slice(None) if args.shuffle is False else random.permutation(X.shape[0])
                learn_chunk(comparison, X[order], y[order], epoch == 0, place)
                bar(f"epoch {epoch + 1}/{epochs}", reader.fraction_read, comparison.contestants[0].result)
            if comparison.rounds == 0:
                raise UsageError(f"TRAIN={train.path!r} has no rows")
    except (BrokenLineError, RefusedError, FileError, KeyboardInterrupt) as error:
        return error
    return None


def chunks(reader: DataFileReader) -> Iterator[tuple[Any, Any, str]]:
    """Yield X and y of each chunk, for rankings and sequences as lists, and where it begins."""
    for X, y, found in reader:
        if reader.query_id or reader.sequence_id:
            yield ByQuery.of(X, found), ByQuery.of(y, found), f"{reader.path}: in the chunk that begins with qid:{found[0]}"
        else:
            yield X, y, f"{reader.path}, line {found}: in the chunk that begins here"


def check_lengths(comparison: Comparison, X: Any, place: str) -> None:
    """Refuse rows that cannot be learned from, by their places in the chunk before it is shuffled."""
    reason = comparison.why_refused(X)
    if reason is not None:
        raise refused(place, ValueError(reason))


def grow_for(comparison: Comparison, X: Any, y: Any, place: str) -> None:
    """Let the estimator know of the features and labels of a chunk; a refusal is the chunk's fault."""
    try:
        grow(comparison, task_of(comparison.contestants[0].estimator), X, y)
    except (ValueError, MemoryError) as error:
        raise refused(place, error) from None


def learn_chunk(comparison: Comparison, X: Any, y: Any, progressive: bool, place: str) -> None:
    """Learn from a chunk; what the learners refuse at once is the arguments' fault, and later the chunk's."""
    try:
        comparison.learn(X, y, progressive=progressive)
    except (ValueError, MemoryError) as error:
        if comparison.rounds == 0:
            raise UsageError(str(error)) from None
        raise refused(place, error) from None


def score_chunk(comparison: Comparison, X: Any, y: Any, place: str) -> NDArray:
    """Return the predictions of a chunk, which is scored."""
    try:
        return comparison.test(X, y)
    except (ValueError, MemoryError) as error:
        raise refused(place, error) from None


def refused(place: str, error: Exception) -> RefusedError:
    """Return an error with the learners' reason, and the place."""
    return RefusedError(f"{place}: {str(error).removesuffix('.')}")


def score_file(
    comparison: Comparison, args: argparse.Namespace, test: DataFile, file_format: FileFormat, bar: Bar
) -> BaseException | None:
    """Score on TEST, write the predictions, and return what ended it early, if anything."""
    reader, labels = file_format.reader(test), file_format.classes if file_format.multilabel else None
    if isinstance(reader, GrowingReader):
        reader.width, reader.is_cut = comparison.contestants[0].estimator.n_features_in_, True
    try:
        with lines_to(args.predictions, f"--predictions={args.predictions!r}") as write:
            for X, y, place in chunks(reader):
                write(format_predictions(score_chunk(comparison, X, y, place), labels))
                bar("test", reader.fraction_read)
    except (BrokenLineError, RefusedError, FileError, KeyboardInterrupt) as error:
        return error
    return None if comparison.tested else RefusedError(f"--test={test.path!r} has no rows")


def format_predictions(predicted: NDArray, labels: NDArray | None) -> Iterator[str]:
    """Yield the predictions as lines: a label, or if `labels` are those of columns, the labels that are on."""
    for row in predicted:
        found = [row] if labels is None else labels[row > 0]
        yield ",".join(f"{label:.17g}" for label in found) + "\n"
