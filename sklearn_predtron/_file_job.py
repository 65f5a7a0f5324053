"""The main job on svmlight files: learn from one in chunks, score on another."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron._main import TASKS, Bar, Race, Task, caption, start_lines, start_race, table
from sklearn_predtron.datasets import BrokenLineError, SvmlightReader, SvmlightSummary, shortened

LEARNER_OPTIONS = ["loss", "update", "norm", "average", "reject_cost", "reject_label"]


class UsageError(ValueError):
    """The arguments ask for what cannot be done."""


def learner_parameters(args: argparse.Namespace) -> dict[str, Any]:
    """The parameters of the estimator that were given."""
    return {name: getattr(args, name) for name in LEARNER_OPTIONS if getattr(args, name) is not None}


def run_files(args: argparse.Namespace, bar: Bar) -> int:
    """Learn, save, score, print the table; the exit code."""
    loaded = load_model(args.load) if args.load else None
    try:
        form = find_form(args, loaded, bar)
    except (BrokenLineError, KeyboardInterrupt) as error:
        bar.clear()
        return complain(error, "nothing was learned before it")
    task = TASKS[args.task or default_task(form["classes"])] if loaded is None else task_of(loaded)
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
    sys.stdout.write(f"{table([entrant.tally for entrant in race.entrants])}\n{text}\n")
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
    if type(model) not in [task.estimator for task in TASKS.values()] or model.classes_.dtype.kind not in "iuf":
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


def default_task(classes: NDArray) -> str:
    """The task for rows of one label each."""
    return "binary" if len(classes) == 2 else "multiclass"


def build_model(args: argparse.Namespace, loaded: Any, task: Task, classes: NDArray) -> Any:
    """The estimator, new or loaded, with the parameters that were given."""
    parameters = learner_parameters(args)
    unknown = [name for name in parameters if name not in task.estimator().get_params()]
    if unknown:
        raise UsageError(f"--{unknown[0].replace('_', '-')} is not for {task.estimator.__name__}")
    if "loss" in parameters:
        check_loss(parameters["loss"], task, classes)
    return task.estimator(**parameters) if loaded is None else loaded.set_params(**parameters)


def check_loss(loss: str | dict, task: Task, classes: NDArray) -> None:
    """Refuse a loss that is not the task's, and costs of labels that do not occur."""
    named = set() if isinstance(loss, str) else {label for pair in loss for label in pair}
    fits = not task.multilabel if named else loss in task.loss_names
    if not fits:
        accepted = ", ".join(task.loss_names) + ("" if task.multilabel else " and TRUE:PREDICTED=COST,...")
        raise UsageError(f"--loss is not for {task.estimator.__name__}; accepted are {accepted}")
    unknown = np.setdiff1d(list(named), classes)
    if len(unknown):
        raise UsageError(f"--loss names the labels {shortened(unknown)}; accepted are {shortened(classes)}")


def build_race(task: Task, model: Any, data: str, classes: NDArray, compare: bool) -> Race:
    """The estimator, and its peer beside it."""
    try:
        return start_race(task, model, classes, start_lines(data, task, compare=compare))
    except ValueError as error:
        raise UsageError(str(error)) from None


# --------------------------------------------------------------------------------------------------------- reading files


def find_form(args: argparse.Namespace, loaded: Any, bar: Bar) -> dict[str, Any]:
    """How all files are read: from the model, the arguments, or a first pass over the files."""
    form = {"n_features": args.features, "zero_based": args.zero_based, "multilabel": args.task == "multilabel"}
    form["classes"] = None if args.classes is None else np.unique(args.classes)
    form |= {"chunk_rows": args.chunk or 10_000, "chunk_bytes": args.chunk_bytes or 8 * 2**20}
    if loaded is not None:
        form |= {"n_features": loaded.n_features_in_, "multilabel": task_of(loaded).multilabel}
        # The classes of several labels are the columns' numbers; without names they are the labels.
        form["classes"] = getattr(loaded, "svmlight_labels_", loaded.classes_)
        if args.zero_based is None:
            form["zero_based"] = getattr(loaded, "svmlight_zero_based_", None)
    elif args.features is not None and args.classes is not None:
        form["zero_based"] = bool(args.zero_based)
    if any(value is None for value in form.values()):
        form |= scan_files(args, form, bar)
    return form


def scan_files(args: argparse.Namespace, form: dict[str, Any], bar: Bar) -> dict[str, Any]:
    """What a first pass finds, for what is not known; the width holds both files, the classes are TRAIN's."""
    found = [scan_file(path, form, bar) for path in (args.train, args.test) if path]
    zero_based = any(summary.zero_based for summary in found)
    width = max(summary.n_features + (zero_based and not summary.zero_based) for summary in found)
    classes = form["classes"]
    if classes is None:
        classes = found[0].classes
        if len(classes) < 2 and found[0].error is not None:
            raise found[0].error
        if len(classes) < 2:
            raise UsageError(f"TRAIN={args.train!r} has the labels {classes.tolist()}; at least two are needed, or --classes")
    return {"zero_based": zero_based, "n_features": form["n_features"] or width, "classes": classes}


def scan_file(path: str, form: dict[str, Any], bar: Bar) -> SvmlightSummary:
    """The first pass over one file."""
    known = {name: form[name] for name in ("multilabel", "chunk_rows", "chunk_bytes")}
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
            for X, y, first in reader:
                order = slice(None) if args.shuffle is False else random.permutation(X.shape[0])
                learn_chunk(race, X[order], y[order], epoch == 0, args.train, first)
                bar(f"epoch {epoch + 1}/{epochs}", reader.fraction_read, race.entrants[0].tally)
    except (BrokenLineError, KeyboardInterrupt) as trouble:
        return trouble
    return None


def learn_chunk(race: Race, X: Any, y: Any, judge: bool, path: str, first: int) -> None:
    """Learn from a chunk; what the learners refuse at once is the arguments' fault, and later the chunk's."""
    try:
        race.learn(X, y, judge=judge)
    except (ValueError, MemoryError) as error:
        if race.rounds == 0:
            raise UsageError(str(error)) from None
        raise BrokenLineError(path, first, f"in the chunk that begins here: {error}") from None


def score_file(race: Race, args: argparse.Namespace, form: dict[str, Any], bar: Bar) -> BaseException | None:
    """Score on TEST, and write the predictions; what ended it early."""
    reader = SvmlightReader(args.test, **form)
    with ExitStack() as stack:
        out = stack.enter_context(open(args.predictions, "w", encoding="ascii")) if args.predictions else None
        try:
            for X, y, _ in reader:
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
