"""The main job on svmlight files: learn from one in chunks, score on another."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron.cli._compare import BEFORE, CUTS, HELD_OUT, ByQuery, Race
from sklearn_predtron.cli._console import complain, report
from sklearn_predtron.cli._demo import TASKS, Bar, Task, caption, start_lines, start_race, table, top_table
from sklearn_predtron.cli._paths import DataFile, DataFileReader, FileError, lines_to, named, replacing
from sklearn_predtron.datasets import BrokenLineError, SvmlightSummary, shortened
from sklearn_predtron.datasets._svmlight import decompressed, rows_of_queries
from sklearn_predtron.updates import ListNet, MaxPair, Slam

LEARNER_OPTIONS = ["loss", "representation", "update", "norm", "average", "reject_cost", "reject_label"]
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
        """Those that are there, by what the user calls them."""
        return {f"{name}={file.path!r}": file for name, file in zip(("TRAIN", "--test"), self, strict=True) if file}


def learner_parameters(args: argparse.Namespace) -> dict[str, Any]:
    """The parameters of the estimator that were given."""
    return {name: getattr(args, name) for name in LEARNER_OPTIONS if getattr(args, name) is not None}


def run_files(args: argparse.Namespace, bar: Bar) -> int:
    """Learn, save, score, print the table; the exit code."""
    loaded = load_model(args.load) if args.load else None
    with ExitStack() as stack:
        files = Files(*(stack.enter_context(DataFile(path)) if path else None for path in (args.train, args.test)))
        try:
            task = known_task(args, files, bar) if loaded is None else task_of(loaded)
            if task is not None:
                check_options(args, task)
            form = find_form(args, files, loaded, task, bar)
        except (BrokenLineError, FileError, KeyboardInterrupt) as error:
            bar.clear()
            return complain(error, "nothing was learned before it")
        if task is None:
            task = TASKS["binary" if len(form["classes"]) == 2 else "multiclass"]
            check_options(args, task)
        model = build_model(args, loaded, task, form["classes"])
        compare = loaded is None if args.compare is None else args.compare
        race = build_race(task, model, os.path.basename(args.train or args.test), form["classes"], compare)
        troubles = learn_save_score(race, args, files, form, bar)
    bar.clear()
    note = "  With several epochs progressive loss is that of the first." if (args.epochs or 1) > 1 else ""
    rejects = race.entrants[0].tally.rejected is not None
    text = caption(model.average, tasks=[task], rejects=rejects, compare=compare, note=note)
    tallies = [entrant.tally for entrant in race.entrants]
    code = report(f"{table(tallies)}\n{top_table(tallies)}{text}\n")
    return max([code, *(complain(trouble, rest) for trouble, rest in troubles)])


def learn_save_score(
    race: Race, args: argparse.Namespace, files: Files, form: dict[str, Any], bar: Bar
) -> list[tuple[BaseException, str]]:
    """Learn from TRAIN, save, score on TEST, as is wanted; each with what ended it early, and what is left."""
    model = race.entrants[0].estimator
    unlearned = learn_file(race, args, files.train, form, bar) if files.train else None
    fitted, unsaved, untested = model.__sklearn_is_fitted__(), None, None
    if args.save and fitted:
        unsaved = save_model(model, form, args.save)
    if files.test and fitted and not isinstance(unlearned, KeyboardInterrupt):
        untested = score_file(race, args, files.test, form, bar)
    kept = f"the {race.rounds:,} rounds before it are kept" if race.rounds else "nothing was learned before it"
    kept += f", in {args.save}" if args.save and fitted and unsaved is None else ""
    scored = "the held-out score is of the rows before it" if race.tested else "there is no held-out score"
    found = [(unlearned, kept), (unsaved, "the model is not saved"), (untested, scored)]
    return [(trouble, rest) for trouble, rest in found if trouble is not None]


def load_model(path: str) -> Any:
    """A fitted estimator of a known task."""
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
    """The task that the estimator is for."""
    return next(task for task in TASKS.values() if task.estimator is type(model))


def save_model(model: Any, form: dict[str, Any], path: str) -> FileError | None:
    """Write the model and how its files are read; why that failed, if so."""
    model.svmlight_zero_based_ = form["zero_based"]
    if form["multilabel"]:
        model.svmlight_labels_ = form["classes"]
    try:
        with named(f"--save={path!r}"), replacing(path) as file:
            joblib.dump(model, file)
    except FileError as error:
        return error
    return None


def known_task(args: argparse.Namespace, files: Files, bar: Bar) -> Task | None:
    """The task that is asked for, or that the first row of TRAIN shows; None depends on the labels."""
    train = files.train
    if args.task is not None or train is None:
        return TASKS.get(args.task)
    if train.is_pipe and args.features and args.classes:  # With these it may be read straight.
        return None
    train.keep(bar)
    return TASKS["rank"] if has_queries(train, args.chunk_bytes or CHUNK_BYTES) else None


def has_queries(file: DataFile, size: int) -> bool:
    """Whether the first row has qid: after its label."""
    with file.open() as raw, decompressed(raw, file.path) as lines:
        _, line, *_ = next(rows_of_queries(lines, size), (0, b""))
    return b"".join(line.split(None, 2)[1:2]).startswith(b"qid:")


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
        raise UsageError(f"--{unknown[0].replace('_', '-')} is not for {name}")
    if args.update in RANKING_UPDATES and not task.rank:
        raise UsageError(f"--update {args.update} is for rankings (--task rank), not for {name}")


def build_model(args: argparse.Namespace, loaded: Any, task: Task, classes: Any) -> Any:
    """The estimator, new or loaded, with the parameters that were given."""
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


def build_race(task: Task, model: Any, data: str, classes: Any, compare: bool) -> Race:
    """The estimator, and its peer beside it."""
    tallies = start_lines(data, task, compare=compare)
    for tally in tallies if task.rank else []:
        tally.top = {BEFORE: np.zeros(len(CUTS)), HELD_OUT: np.zeros(len(CUTS))}
    try:
        return start_race(task, model, classes, tallies)
    except ValueError as error:
        raise UsageError(str(error)) from None


# --------------------------------------------------------------------------------------------------------- reading files


def find_form(args: argparse.Namespace, files: Files, loaded: Any, task: Task | None, bar: Bar) -> dict[str, Any]:
    """How all files are read: from the model, the arguments, or a first pass over the files."""
    form = {"n_features": args.features, "zero_based": args.zero_based}
    form |= {"multilabel": task is not None and task.multilabel, "query_id": task is not None and task.rank}
    form["classes"] = None if args.classes is None else np.unique(args.classes)
    form |= {"chunk_rows": args.chunk or 10_000, "chunk_bytes": args.chunk_bytes or CHUNK_BYTES}
    needed = ["n_features", "zero_based"] + ["classes"] * (not form["query_id"])
    if loaded is not None:
        form["n_features"] = loaded.n_features_in_
        if "classes" in needed:
            # The classes of several labels are the columns' numbers; without names they are the labels.
            form["classes"] = getattr(loaded, "svmlight_labels_", loaded.classes_)
        if args.zero_based is None:
            form["zero_based"] = getattr(loaded, "svmlight_zero_based_", None)
    elif all(form[name] is not None for name in needed if name != "zero_based"):
        form["zero_based"] = bool(args.zero_based)
    if any(form[name] is None for name in needed):
        form |= scan_files(files, form, bar)
    return form


def scan_files(files: Files, form: dict[str, Any], bar: Bar) -> dict[str, Any]:
    """What a first pass finds, for what is not known; the width holds both files, the classes are TRAIN's."""
    found = {name: scan_file(name, file, form, bar) for name, file in files.named().items()}
    name, first = next(iter(found.items()))
    zero_based = any(summary.zero_based for summary in found.values())
    width = max(summary.n_features + (zero_based and not summary.zero_based) for summary in found.values())
    rank, classes = form["query_id"], form["classes"]
    if classes is None and not rank:
        classes = first.classes
    if first.n_rows < 1 if rank else len(classes) < 2:
        raise first.error or UsageError(f"{name} has the labels {classes.tolist()}; at least two are needed, or --classes")
    return {"zero_based": zero_based, "n_features": form["n_features"] or width, "classes": classes}


def scan_file(name: str, file: DataFile, form: dict[str, Any], bar: Bar) -> SvmlightSummary:
    """The first pass over one file."""
    file.keep(bar)
    known = {name: form[name] for name in ("multilabel", "query_id", "chunk_rows", "chunk_bytes")}
    reader = DataFileReader(file, zero_based="auto" if form["zero_based"] is None else form["zero_based"], **known)
    try:
        found = reader.scan(callback=lambda: bar("first pass", reader.fraction_read))
    except ValueError as error:
        raise UsageError(str(error)) from None
    if found.n_rows < 1 and found.error is None:
        raise UsageError(f"{name} has no rows")
    return found


def learn_file(race: Race, args: argparse.Namespace, train: DataFile, form: dict[str, Any], bar: Bar) -> BaseException | None:
    """Learn from TRAIN; what ended it early."""
    reader, random, epochs = DataFileReader(train, **form), np.random.default_rng(args.seed or 0), args.epochs or 1
    try:
        if epochs > 1:
            train.keep(bar)
        for epoch in range(epochs):
            for X, y, place in chunks(reader):
                check_lengths(race, X, place)
                order = slice(None) if args.shuffle is False else random.permutation(X.shape[0])
                learn_chunk(race, X[order], y[order], epoch == 0, place)
                bar(f"epoch {epoch + 1}/{epochs}", reader.fraction_read, race.entrants[0].tally)
            if race.rounds == 0:
                raise UsageError(f"TRAIN={train.path!r} has no rows")
    except (BrokenLineError, RefusedError, FileError, KeyboardInterrupt) as trouble:
        return trouble
    return None


def chunks(reader: DataFileReader) -> Iterator[tuple[Any, Any, str]]:
    """X and y of each chunk, for rankings as lists, and where it begins."""
    for X, y, found in reader:
        if reader.query_id:
            yield ByQuery.of(X, found), ByQuery.of(y, found), f"{reader.path}: in the chunk that begins with qid:{found[0]}"
        else:
            yield X, y, f"{reader.path}, line {found}: in the chunk that begins here"


def check_lengths(race: Race, X: Any, place: str) -> None:
    """Refuse rows that cannot be learned from, by their places in the chunk before it is shuffled."""
    reason = race.why_refused(X)
    if reason is not None:
        raise refused(place, ValueError(reason))


def learn_chunk(race: Race, X: Any, y: Any, judge: bool, place: str) -> None:
    """Learn from a chunk; what the learners refuse at once is the arguments' fault, and later the chunk's."""
    try:
        race.learn(X, y, judge=judge)
    except (ValueError, MemoryError) as error:
        if race.rounds == 0:
            raise UsageError(str(error)) from None
        raise refused(place, error) from None


def score_chunk(race: Race, X: Any, y: Any, place: str) -> NDArray:
    """The predictions of a chunk, which is scored."""
    try:
        return race.test(X, y)
    except (ValueError, MemoryError) as error:
        raise refused(place, error) from None


def refused(place: str, error: Exception) -> RefusedError:
    """The learners' reason, and where."""
    return RefusedError(f"{place}: {str(error).removesuffix('.')}")


def score_file(race: Race, args: argparse.Namespace, test: DataFile, form: dict[str, Any], bar: Bar) -> BaseException | None:
    """Score on TEST, and write the predictions; what ended it early."""
    reader, labels = DataFileReader(test, **form), form["classes"] if form["multilabel"] else None
    try:
        with lines_to(args.predictions, f"--predictions={args.predictions!r}") as write:
            for X, y, place in chunks(reader):
                write(written(score_chunk(race, X, y, place), labels))
                bar("test", reader.fraction_read)
    except (BrokenLineError, RefusedError, FileError, KeyboardInterrupt) as trouble:
        return trouble
    return None if race.tested else RefusedError(f"--test={test.path!r} has no rows")


def written(predicted: NDArray, labels: NDArray | None) -> Iterator[str]:
    """The predictions as lines: a label, or where `labels` are of the columns, those that are on."""
    for row in predicted:
        found = [row] if labels is None else labels[row > 0]
        yield ",".join(f"{label:.17g}" for label in found) + "\n"
