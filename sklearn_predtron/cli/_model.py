"""The model of a job: its parameters, its predictions, loading and saving."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron._support.parts import resolve
from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.warning import warn
from sklearn_predtron.cli._console import UsageError
from sklearn_predtron.cli._evaluation import parts_of
from sklearn_predtron.cli._settings import LARGEST_TABLE, Job, ModelSettings
from sklearn_predtron.cli._tasks import TASKS, Task, task_of
from sklearn_predtron.datasets.formats.base import RowChunk, RowSchema
from sklearn_predtron.datasets.formats.files import FileError, named
from sklearn_predtron.datasets.formats.labels import are_words, shortened_labels
from sklearn_predtron.datasets.formats.opening import RowStream
from sklearn_predtron.families.estimator.model_file import load
from sklearn_predtron.families.input.reading import are_stored_dense, as_rows, why_length_refused
from sklearn_predtron.families.input.tables import MADE_AFTER, always_maps
from sklearn_predtron.features import Auto, PiecewiseLinear
from sklearn_predtron.norms import Auto as AutoNorm
from sklearn_predtron.norms import Norm, Scaled

GOLDEN, MIX_1, MIX_2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def check_options(job: Job, task: Task, loaded: Any, *, seen: bool) -> None:
    """Raise UsageError for options of other tasks.

    `loaded` is the model of --load, if any, and `seen` whether the first row has shown the task.
    """
    model, name = job.model, task.estimator.__name__
    if seen:
        name += " (the first row of TRAIN has qid:, so --task is rank)"
    estimator = task.estimator()
    unknown = [given for given in model.estimator_parameters() if given not in estimator.get_params()]
    unknown += ["classes"] * (task.rank and job.source.classes is not None)
    if unknown:
        raise UsageError(f"--{'reject-cost' if unknown[0] == 'reject' else unknown[0]} is not for {name}")
    if job.output.written == "probabilities":
        check_probabilities(estimator if loaded is None else loaded, name)
    if model.grow and job.source.classes is None and not model.load and (task.multilabel or model.has_costs):
        raise UsageError(f"--grow needs --classes {'for --task multilabel' if task.multilabel else 'beside costs'}")
    if job.output.plot and (task.rank or task.multilabel):
        raise UsageError(f"--plot is not for {name}, whose predictions are no single labels")
    if job.source.costs and not task.costs:
        accepted = ", ".join(kind for kind, other in TASKS.items() if other.costs)
        raise UsageError(f"--costs is not for {name}; accepted with --task {accepted}")


def check_probabilities(model: Any, name: str) -> None:
    """Raise UsageError for a model without probabilities, with the reason."""
    try:
        model.predict_proba  # noqa: B018
    except AttributeError as error:
        if error.__cause__ is None:
            raise UsageError(f"--proba is not for {name}, which has no probabilities") from None
        raise UsageError(f"--proba is not for a {name} without calibration, which is made in Python: {error.__cause__}") from None


def build_model(settings: ModelSettings, loaded: Any, task: Task, classes: Any) -> Any:
    """Return the new or loaded estimator with its parameters."""
    parameters = settings.estimator_parameters(classes)
    if "loss" in parameters:
        check_loss(parameters["loss"], task, classes)
    if loaded is not None:
        return loaded.set_params(**parameters)
    if task.ordinal and are_words(classes):
        parameters["categories"] = classes.tolist()
    return task.estimator(**{"features": None, **parameters})


def check_loss(loss: str | dict, task: Task, classes: Any) -> None:
    """Raise UsageError for invalid losses and costs."""
    labels = set() if isinstance(loss, str) else {label for pair in loss for label in pair}
    fits = task.costs if labels else loss in task.loss_names
    if not fits:
        accepted = ", ".join(task.loss_names) + (" and TRUE:PREDICTED=COST,..." if task.costs else "")
        raise UsageError(f"--loss is not for {task.estimator.__name__}; accepted are {accepted}")
    check_labels("--loss", labels, classes)


def check_labels(name: str, labels: set[Any], classes: Any) -> None:
    """Raise UsageError for labels that are no classes."""
    if not labels.issubset([] if classes is None else classes.tolist()):
        unknown = np.setdiff1d(list(labels), classes)
        raise UsageError(f"{name} names the labels {shortened_labels(unknown)}; accepted are {shortened_labels(classes)}")


def check_table(job: Job, model: Any, schema: RowSchema) -> None:
    """Check the size of dense chunks for a feature map."""
    if not has_map(model):
        return
    features, width, rows = shortened(model.features), schema.n_features or 0, job.source.chunk_rows
    if 8 * width * rows > LARGEST_TABLE:
        raise UsageError(
            f"features={features} is for tables, and {rows:,} rows of {width:,} features are "
            f"{8 * width * rows / 2**30:.1f} GB; accepted is {LARGEST_TABLE >> 30} GB, as of a smaller --chunk"
        )


def prepare_stream(job: Job, model: Any, schema: RowSchema, *, incomplete: bool) -> None:
    """Choose the feature map of a stream; too few rows for it cause a warning.

    Tables that are `incomplete`, with text or missing cells, have a map under "auto".
    """
    if incomplete and model.features == Auto.alias:  # which would look at the first chunk alone
        model.set_params(features=PiecewiseLinear.alias)
    if not has_map(model):
        return
    n, epochs = schema.n_rows or MADE_AFTER, job.model.passes
    n -= int(held_out(0, n, job.source.holdout, job.model.seed).sum())
    if not model.__sklearn_is_fitted__() and n * epochs < MADE_AFTER:
        often = "" if epochs == 1 else f" in each of {epochs} epochs"
        warn(
            f"features={shortened(model.features)} are fitted to the first {MADE_AFTER} training rows, and TRAIN has "
            f"{n}{often}: numbers are used as they are, and strings are ignored; more --epochs count, too"
        )


def held_out(first: int, n: int, share: float, seed: int) -> NDArray:
    """Return which of n rounds are held out.

    The numbers of the rounds are mixed with the seed as in SplitMix64, so the choice does not depend on chunks.
    """
    with np.errstate(over="ignore"):
        z = (np.arange(first, first + n, dtype=np.uint64) + np.uint64(1)) * GOLDEN + np.uint64(seed)
        z = (z ^ (z >> np.uint64(30))) * MIX_1
        z = (z ^ (z >> np.uint64(27))) * MIX_2
        z ^= z >> np.uint64(31)
    return z.astype(np.float64) / 2.0**64 < share


def has_map(model: Any) -> bool:
    """Return whether a feature map reads the rows of a model."""
    known = model._model
    return always_maps(model.features) if known is None else known.columns.features is not None


def as_trained(chunk: RowChunk, model: Any) -> RowChunk:
    """Return a dense chunk for feature maps; missing entries are 0."""
    dense = has_map(model) and sparse.issparse(chunk.X)
    return replace(chunk, X=chunk.X.toarray()) if dense else chunk


def choose_norm(model: Any, X: Any) -> None:
    """Replace "auto" by "scaled" for rows of a table.

    So it is where the model was trained under it: rows of files, whose format is the file's, continue.
    """
    if has_map(model) or isinstance(X, np.ndarray):  # which "auto" tells by itself
        return
    dense = model.norm_ == Scaled.alias if model.__sklearn_is_fitted__() else are_stored_dense(X)
    if dense and isinstance(resolve(Norm, model.norm, "norm"), AutoNorm):
        model.set_params(norm=Scaled.alias)


def rejection_reason(model: Any, X: Any) -> str | None:
    """Return why the first invalid row is rejected, if any."""
    if has_map(model):  # its rows are made, of numbers of any size
        return None
    rows = as_rows(X)
    row = rows.first_outside()
    fitted = model._model
    return None if row < 0 else why_length_refused(rows, row, model.norm if fitted is None else fitted.norm)


def update(model: Any, task: Task, chunk: RowChunk, classes: Any) -> None:
    """Train on the rows of a chunk."""
    ids = {} if task.ids is None else {task.ids: chunk.groups}
    parts = [chunk] if chunk.costs is None else [chunk.take(part) for part in parts_of(chunk, model._costs(classes).size)]
    for part in parts:
        first = {} if task.rank or getattr(model, "t_", 0) > 0 else {"classes": classes}
        model.partial_fit(part.X, part.y, **ids, **part.given, **first)


def output_of(model: Any, task: Task, chunk: RowChunk, written: str = "predictions") -> Any:
    """Return the predictions, scores or probabilities of a chunk."""
    ids = {"sid": chunk.groups} if task.sequence else {}
    if written == "probabilities":
        return model.predict_proba(chunk.X, **ids)
    if written == "scores" and not task.rank:
        return model.decision_function(chunk.X, **ids)
    if chunk.costs is None or written == "scores":
        return model.predict(chunk.X, **ids)
    parts = [chunk.take(part) for part in parts_of(chunk, model._costs(model.classes_).size)]
    return np.concatenate([model.predict(part.X, costs=part.costs) for part in parts])


def load_model(path: str, name: str) -> Any:
    """Load a fitted estimator of a known task."""
    try:
        model = load(path)
        check_is_fitted(model)
    except Exception as error:
        reason = str(error).removeprefix(f"{path!r} ").partition(";")[0]
        reason = f"it {reason}" if reason.startswith("is ") else f"{type(error).__name__}: {error}".rstrip(".")
        raise UsageError(f"{name} holds no fitted estimator: {reason}; accepted are files that --save wrote") from None
    known = type(model) in [task.estimator for task in TASKS.values()]
    if not known or not (task_of(model).rank or model.classes_.dtype.kind in "iuf" or are_words(model.classes_)):
        names = ", ".join(task.estimator.__name__ for task in TASKS.values())
        raise UsageError(f"{name} holds a {type(model).__name__}; accepted are {names} with numbers or text as labels")
    features = model._model.columns.features
    if features is not None and not features.of_numbers_ and not hasattr(model, "file_format_"):
        raise UsageError(
            f"{name} holds a {type(model).__name__} of a table with categories, which no file has named; "
            "accepted are tables of numbers, and models that --save wrote"
        )
    if task_of(model).multilabel and model._model.problem.d < 2:
        raise UsageError(f"{name} holds a {type(model).__name__} of one label; at least two are needed")
    return model


def save_model(model: Any, rows: RowStream, path: str) -> FileError | None:
    """Save the model; return the reason of a failure, if any."""
    for name, value in rows.format.attributes(rows.schema).items():
        setattr(model, name, value)
    try:
        with named(f"--save={path!r}"):
            model.save(path)
    except FileError as error:
        return error
    return None
