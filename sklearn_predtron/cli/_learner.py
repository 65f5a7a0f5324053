"""The estimator of the job: parameters, loading and saving."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron._support.parts import resolve
from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.warning import warn
from sklearn_predtron.cli._console import UsageError
from sklearn_predtron.cli._data_files import FileError, named
from sklearn_predtron.cli._file_format import AnyFormat
from sklearn_predtron.cli._job import Job, option
from sklearn_predtron.cli._labels import are_words, shortened_labels
from sklearn_predtron.cli._names import RANKING_UPDATES
from sklearn_predtron.cli._tasks import TASKS, Task, task_of
from sklearn_predtron.families.estimator.model_file import content_of, load
from sklearn_predtron.families.input.reading import are_stored_dense
from sklearn_predtron.families.input.tables import MADE_AFTER
from sklearn_predtron.norms import Auto, Norm, Scaled

LARGEST_TABLE = 2**30  # bytes of a chunk


def check_options(job: Job, task: Task) -> None:
    """Raise UsageError for options of other tasks."""
    name = task.estimator.__name__
    if task.rank and job.task is None and not job.load:
        name += " (the first row of TRAIN has qid:, so --task is rank)"
    known = task.estimator().get_params()
    unknown = [given for given in job.learner_parameters() if given not in known]
    unknown += ["classes"] * (task.rank and job.classes is not None)
    unknown += ["representation"] * ("representation" in job.parameters and not task.rank)
    if unknown:
        raise UsageError(f"--{'reject-cost' if unknown[0] == 'reject' else unknown[0]} is not for {name}")
    if job.written == "probabilities" and not hasattr(task.estimator(), "predict_proba"):
        raise UsageError(f"--proba is not for {name}, which has no probabilities")
    if job.grow and job.classes is None and not job.load and (task.multilabel or job.has_costs or job.costs):
        raise UsageError(f"--grow needs --classes {'for --task multilabel' if task.multilabel else 'beside costs'}")
    for given in ("costs", "test_costs"):
        if getattr(job, given) and task.by_costs is None:
            accepted = ", ".join(kind for kind, other in TASKS.items() if other.by_costs is not None)
            raise UsageError(f"{option(given)} is not for {name}; accepted with --task {accepted}")
    update = job.parameters.get("update")
    if update in RANKING_UPDATES and not task.rank:
        raise UsageError(f"--update {update} is for rankings (--task rank), not for {name}")


def build_model(job: Job, loaded: Any, task: Task, classes: Any) -> Any:
    """Return the new or loaded estimator with its parameters."""
    parameters = job.learner_parameters(classes)
    if "loss" in parameters:
        check_loss(parameters["loss"], task, classes)
    if loaded is not None:
        return loaded.set_params(**parameters)
    if task.ranks and are_words(classes):
        parameters["categories"] = classes.tolist()
    return task.estimator(**parameters)


def check_loss(loss: str | dict, task: Task, classes: Any) -> None:
    """Raise UsageError for invalid losses and costs."""
    labels = set() if isinstance(loss, str) else {label for pair in loss for label in pair}
    fits = task.costs if labels else loss in task.loss_names
    if not fits:
        accepted = ", ".join(task.loss_names) + (" and TRUE:PREDICTED=COST,..." if task.costs else "")
        raise UsageError(f"--loss is not for {task.estimator.__name__}; accepted are {accepted}")
    if not labels.issubset([] if classes is None else classes.tolist()):
        unknown = np.setdiff1d(list(labels), classes)
        raise UsageError(f"--loss names the labels {shortened_labels(unknown)}; accepted are {shortened_labels(classes)}")


def check_table(job: Job, model: Any, file_format: AnyFormat) -> None:
    """Raise an error if dense chunks would fill the memory."""
    width = file_format.n_features or 0
    size = 8 * width * job.chunk_rows
    if model.features is not None and size > LARGEST_TABLE:
        raise UsageError(
            f"features={shortened(model.features)} is for tables, and {job.chunk_rows:,} rows of {width:,} features are "
            f"{size / 2**30:.1f} GB; accepted is {LARGEST_TABLE >> 30} GB, as of a smaller --chunk"
        )


def warn_of_few_rows(job: Job, model: Any, file_format: AnyFormat) -> None:
    """Warn if TRAIN is too short to fit the feature map."""
    n = file_format.n_rows or MADE_AFTER
    if model.features is not None and not model.__sklearn_is_fitted__() and n * job.epochs < MADE_AFTER:
        often = "" if job.epochs == 1 else f" in each of {job.epochs} epochs"
        warn(
            f"features={shortened(model.features)} are fitted to the first {MADE_AFTER} training rows, and TRAIN has "
            f"{n}{often}: numbers are used as they are, and strings are ignored; more --epochs count, too"
        )


def choose_norm(model: Any, X: Any) -> None:
    """Replace "auto" by "scaled" for rows of a table.

    So it is where the model has learned under it: rows of files, whose format is the file's, go on.
    """
    if model.features is not None or isinstance(X, np.ndarray):  # which "auto" tells by itself
        return
    dense = model.norm_ == Scaled.alias if model.__sklearn_is_fitted__() else are_stored_dense(X)
    if dense and isinstance(resolve(Norm, model.norm, "norm"), Auto):
        model.set_params(norm=Scaled.alias)


def load_model(path: str, *, pickle: bool, saved: bool) -> Any:
    """Load a fitted estimator of a known task.

    `saved` is whether the job will save it.
    """
    try:
        model = joblib.load(path) if pickle else load(path)
        check_is_fitted(model)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        accepted = "files that joblib.dump wrote"
        if not pickle:
            accepted = f"files that --save wrote, and with --pickle {accepted}, if you trust them"
        raise UsageError(f"--load={path!r} holds no fitted estimator ({reason}); accepted are {accepted}") from None
    known = type(model) in [task.estimator for task in TASKS.values()]
    if not known or not (task_of(model).rank or model.classes_.dtype.kind in "iuf" or are_words(model.classes_)):
        names = ", ".join(task.estimator.__name__ for task in TASKS.values())
        raise UsageError(f"--load={path!r} holds a {type(model).__name__}; accepted are {names} with numbers or words as labels")
    features = model._model.columns.features
    if features is not None and not features.of_numbers_ and not hasattr(model, "file_format_"):
        raise UsageError(
            f"--load={path!r} holds a {type(model).__name__} of a table with categories, which no file has named; "
            "accepted are tables of numbers, and models that --save wrote"
        )
    if task_of(model).multilabel and len(model.coef_) < 2:
        raise UsageError(f"--load={path!r} holds a {type(model).__name__} of one label; at least two are needed")
    if pickle and saved:
        try:
            content_of(model)
        except ValueError as error:
            raise UsageError(f"--load={path!r} holds a {type(model).__name__} that --save cannot write: {error}") from None
    return model


def save_model(model: Any, file_format: AnyFormat, path: str) -> FileError | None:
    """Save the model; return the reason of a failure, if any."""
    file_format.mark(model)
    try:
        with named(f"--save={path!r}"):
            model.save(path)
    except FileError as error:
        return error
    return None
