"""The main job on svmlight files: learn from one in chunks, score on another."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron._entrants import BEFORE, CUTS, HELD_OUT, ByQuery, Race
from sklearn_predtron._main import TASKS, Bar, Task, caption, start_lines, start_race, table, top_table
from sklearn_predtron._svmlight import decompressed, rows_of_queries
from sklearn_predtron.datasets import BrokenLineError, SvmlightReader, SvmlightSummary, shortened
from sklearn_predtron.updates import ListNet, MaxPair, Slam

LEARNER_OPTIONS = ["loss", "representation", "update", "norm", "average", "reject_cost", "reject_label"]
CHUNK_BYTES = 8 * 2**20
RANKING_UPDATES = [kind.alias for kind in (Slam, MaxPair, ListNet)]


class UsageError(ValueError):
    """The arguments ask for what cannot be done."""


class RefusedError(ValueError):
    """The learners refuse a chunk."""


def learner_parameters(args: argparse.Namespace) -> dict[str, Any]:
    """The parameters of the estimator that were given."""
    return {name: getattr(args, name) for name in LEARNER_OPTIONS if getattr(args, name) is not None}


def run_files(args: argparse.Namespace, bar: Bar) -> int:
    """Learn, save, score, print the table; the exit code."""
    loaded = load_model(args.load) if args.load else None
    task = known_task(args) if loaded is None else task_of(loaded)
    if task is not None:
        check_options(args, task)
    try:
        form = find_form(args, loaded, task, bar)
    except (BrokenLineError, KeyboardInterrupt) as error:
        bar.clear()
        return complain(error, "nothing was learned before it")
    if task is None:
        task = TASKS["binary" if len(form["classes"]) == 2 else "multiclass"]
        check_options(args, task)
    model = build_model(args, loaded, task, form["classes"])
    compare = loaded is None if args.compare is None else args.compare
    race = build_race(task, model, os.path.basename(args.train or args.test), form["classes"], compare)
    unlearned = learn_file(race, args, form, bar) if args.train else None
    fitted = model.__sklearn_is_fitted__()
    if args.save and fitted:
        save_model(model, form, args.save)
    untested = None
    if args.test and fitted and not isinstance(unlearned, KeyboardInterrupt):
        untested = score_file(race, args, form, bar)
    bar.clear()
    note = "  With several epochs progressive loss is that of the first." if (args.epochs or 1) > 1 else ""
    rejects = race.entrants[0].tally.rejected is not None
    text = caption(model.average, tasks=[task], rejects=rejects, compare=compare, note=note)
    tallies = [entrant.tally for entrant in race.entrants]
    sys.stdout.write(f"{table(tallies)}\n{top_table(tallies)}{text}\n")
    kept = f"the {race.rounds:,} rounds before it are kept" if race.rounds else "nothing was learned before it"
    kept += f", in {args.save}" if args.save and fitted else ""
    return max(complain(unlearned, kept), complain(untested, "the held-out score is of the rows before it"))


def complain(trouble: BaseException | None, rest: str) -> int:
    """Say on stderr what went wrong and what is left; the exit code."""
    if trouble is None:
        return 0
    print(f"error: {str(trouble) or 'stopped from the keyboard'}; {rest}", file=sys.stderr)
    return 130 if isinstance(trouble, KeyboardInterrupt) else 1


def load_model(path: str) -> Any:
    """A fitted estimator of a known task."""
    try:
        model = joblib.load(path)
        check_is_fitted(model)
    except Exception as error:
        raise UsageError(f"--load={path!r} holds no fitted estimator: {error}") from None
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


def save_model(model: Any, form: dict[str, Any], path: str) -> None:
    """Write the model and how its files are read, so that what was there before survives a failure."""
    model.svmlight_zero_based_ = form["zero_based"]
    if form["multilabel"]:
        model.svmlight_labels_ = form["classes"]
    joblib.dump(model, path + ".part")
    os.replace(path + ".part", path)


def known_task(args: argparse.Namespace) -> Task | None:
    """The task that is asked for, or that the first row of TRAIN shows; None depends on the labels."""
    if args.task is not None:
        return TASKS[args.task]
    return TASKS["rank"] if has_queries(args.train, args.chunk_bytes or CHUNK_BYTES) else None


def has_queries(path: str, size: int) -> bool:
    """Whether the first row has qid: after its label; a pipe, which can be read once, is not looked into."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        return False
    with open(path, "rb") as raw, decompressed(raw, path) as file:
        _, line, *_ = next(rows_of_queries(file, size), (0, b""))
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


def find_form(args: argparse.Namespace, loaded: Any, task: Task | None, bar: Bar) -> dict[str, Any]:
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
        form |= scan_files(args, form, bar)
    return form


def scan_files(args: argparse.Namespace, form: dict[str, Any], bar: Bar) -> dict[str, Any]:
    """What a first pass finds, for what is not known; the width holds both files, the classes are TRAIN's."""
    found = [scan_file(path, form, bar) for path in (args.train, args.test) if path]
    zero_based = any(summary.zero_based for summary in found)
    width = max(summary.n_features + (zero_based and not summary.zero_based) for summary in found)
    rank, classes = form["query_id"], form["classes"]
    if classes is None and not rank:
        classes = found[0].classes
    few = found[0].n_rows < 1 if rank else len(classes) < 2
    if few and found[0].error is not None:
        raise found[0].error
    if few and rank:
        raise UsageError(f"{args.train or args.test!r} has no queries")
    if few:
        raise UsageError(f"TRAIN={args.train!r} has the labels {classes.tolist()}; at least two are needed, or --classes")
    return {"zero_based": zero_based, "n_features": form["n_features"] or width, "classes": classes}


def scan_file(path: str, form: dict[str, Any], bar: Bar) -> SvmlightSummary:
    """The first pass over one file."""
    known = {name: form[name] for name in ("multilabel", "query_id", "chunk_rows", "chunk_bytes")}
    reader = SvmlightReader(path, zero_based="auto" if form["zero_based"] is None else form["zero_based"], **known)
    try:
        return reader.scan(callback=lambda: bar("first pass", reader.fraction_read))
    except ValueError as error:
        raise UsageError(str(error)) from None


def learn_file(race: Race, args: argparse.Namespace, form: dict[str, Any], bar: Bar) -> BaseException | None:
    """Learn from TRAIN; what ended it early."""
    reader, random, epochs = SvmlightReader(args.train, **form), np.random.default_rng(args.seed or 0), args.epochs or 1
    try:
        for epoch in range(epochs):
            for X, y, place in chunks(reader):
                order = slice(None) if args.shuffle is False else random.permutation(X.shape[0])
                learn_chunk(race, X[order], y[order], epoch == 0, place)
                bar(f"epoch {epoch + 1}/{epochs}", reader.fraction_read, race.entrants[0].tally)
    except (BrokenLineError, RefusedError, KeyboardInterrupt) as trouble:
        return trouble
    return None


def chunks(reader: SvmlightReader) -> Iterator[tuple[Any, Any, str]]:
    """X and y of each chunk, for rankings as lists, and where it begins."""
    for X, y, found in reader:
        if reader.query_id:
            yield ByQuery.of(X, found), ByQuery.of(y, found), f"{reader.path}: in the chunk that begins with qid:{found[0]}"
        else:
            yield X, y, f"{reader.path}, line {found}: in the chunk that begins here"


def learn_chunk(race: Race, X: Any, y: Any, judge: bool, place: str) -> None:
    """Learn from a chunk; what the learners refuse at once is the arguments' fault, and later the chunk's."""
    try:
        race.learn(X, y, judge=judge)
    except (ValueError, MemoryError) as error:
        if race.rounds == 0:
            raise UsageError(str(error)) from None
        raise RefusedError(f"{place}: {error}") from None


def score_file(race: Race, args: argparse.Namespace, form: dict[str, Any], bar: Bar) -> BaseException | None:
    """Score on TEST, and write the predictions; what ended it early."""
    reader = SvmlightReader(args.test, **form)
    with ExitStack() as stack:
        out = stack.enter_context(open(args.predictions, "w", encoding="ascii")) if args.predictions else None
        try:
            for X, y, _ in chunks(reader):
                predicted = race.test(X, y)
                if out is not None:
                    out.writelines(written(predicted, form["classes"] if form["multilabel"] else None))
                bar("test", reader.fraction_read)
        except (BrokenLineError, KeyboardInterrupt) as trouble:
            return trouble
    return None


def written(predicted: NDArray, labels: NDArray | None) -> Iterator[str]:
    """The predictions as lines: a label, or where `labels` are of the columns, those that are on."""
    for row in predicted:
        found = [row] if labels is None else labels[row > 0]
        yield ",".join(f"{label:.17g}" for label in found) + "\n"
