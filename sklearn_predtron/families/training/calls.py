"""The calls that train; `fit` follows a plan, and `partial_fit` the order of the rows."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from sklearn_predtron._core.learner import Learner
from sklearn_predtron.families.estimator.importances import importances
from sklearn_predtron.families.estimator.model import Model
from sklearn_predtron.families.input.reading import Batch, BlockReader, Columns, RowReader, TrainingInput
from sklearn_predtron.families.input.stream import Stream
from sklearn_predtron.families.input.tables import FirstRows, columns_of, takes_map
from sklearn_predtron.families.training.composition import Composition
from sklearn_predtron.families.training.epochs import seed_of
from sklearn_predtron.families.training.intervals import set_recording_interval
from sklearn_predtron.families.training.plan import plan_training
from sklearn_predtron.families.training.trainer import Trainer
from sklearn_predtron.features import ROWS_OF_STREAMS

Learn = Callable[[Any, Batch], None]  # trains an estimator, which has the model in progress, in another way


def fit(caller: Any, X: Any, y: Any, given: dict[str, Any], learn: Learn | None) -> None:
    """Train an estimator on a data set by plan; `learn` replaces the plan."""
    caller._validate_params()
    known = caller._model if caller.warm_start else None
    if known is not None and isinstance(known.columns.features, FirstRows):
        raise ValueError(
            f"warm_start=True is not possible before {ROWS_OF_STREAMS} streamed rows have fitted the feature map, and there are "
            f"{known.columns.features.n}; accepted are partial_fit, and warm_start=False, which starts from scratch."
        )
    reader, reading = read(caller, X, y, given, known, partial=False)
    batch, model = reading.batch, started_model(caller, known, reading)
    model.check_rows(batch.X, batch.rows)
    model.warn_of_other_format(batch.rows, caller.norm)
    ids, metadata = ids_given(reader, given), shown_metadata(reader.ids, given)
    try:
        with Trainer(caller, model, reader, {"X": batch.X, "y": y, "metadata": metadata}, ids) as trainer:
            if learn is not None:
                learn(trainer.estimator, batch)
            else:
                reader.warn_of_rounds(reading)
                seed = seed_of(trainer.estimator)
                plan = plan_training(trainer.estimator, model, reader, batch, trainer.decision, seed, fresh=known is None)
                trainer.carry_out(plan, batch)
            trainer.model.importances = importances(trainer.model, batch)
    finally:
        model.learner.weights.close_fit()
    if caller.average is not None:  # else it means another average in a stream
        open_stream(caller)


def started_model(caller: Any, known: Model | None, reading: TrainingInput) -> Model:
    """Return a new model, or a copy to continue; the copy is of the known model."""
    if known is None:
        return Composition(caller).new_model(reading, partial=False)
    known = known.but(learner=copy.deepcopy(known.learner), fit_record=dict(known.fit_record))
    model = Composition(caller).changed_model(known, reading, partial=False)
    set_recording_interval(model.learner, reading.batch.rows.p)
    return model


def partial_fit(
    estimator: Any, X: Any, y: Any, given: dict[str, Any], learn: Learn | None, columns: Columns | None = None
) -> None:
    """Train on rows in their order.

    The model of the estimator is replaced if any round was trained.

    Before the first rows, `columns` describes the columns if they are known.
    """
    known: Model | None = estimator._model
    resolved = known is not None and known.is_current
    if not resolved:
        estimator._validate_params()
    reader, reading = read(estimator, X, y, given, known, partial=True, columns=columns)
    batch = reading.batch
    model = Composition(estimator).new_model(reading, partial=True) if known is None else known
    model.check_rows(batch.X, batch.rows)  # before an average begins
    if resolved:
        model = model.continued(reading.labels, reading.call_metadata)
    elif known is not None:
        model = Composition(estimator).changed_model(known, reading, partial=True)
    learner = model.learner
    model.warn_of_other_format(batch.rows, estimator.norm)
    trainer = Trainer(estimator, model)
    try:
        with trainer:
            if not resolved:
                set_recording_interval(learner, batch.rows.p)  # not before: the model so far has the same observer
                begin_stream(trainer.estimator)
            if learn is not None:
                learn(trainer.estimator, batch)
            else:
                learn_in_order(model, reader.rounds(batch))
    except BaseException:
        trainer.publish_rounds()  # those before an error are kept, as it says, and those before an interrupt
        raise
    if estimator._model.stream is None:
        open_stream(estimator)


@contextmanager
def averages_begun(estimator: Any) -> Iterator[None]:
    """Undo changes if the call fails before any round.

    Averages that the call started are dropped, and the observation interval is restored.
    """
    known: Model | None = estimator._model
    before = 0 if known is None else known.learner.weights.averaging
    observer: Any = None if known is None else known.learner.observer
    every = getattr(observer, "every", None)
    try:
        yield
    except BaseException:
        if known is not None and estimator._model is known and known.learner.weights.averaging > before:
            with known.learner.lock.changing():
                known.learner.weights.keep_averages(before)
        if every is not None and estimator._model is known:
            observer.sparingly(every)
        raise


def read(
    estimator: Any,
    X: Any,
    y: Any,
    given: dict[str, Any],
    known: Model | None,
    *,
    partial: bool,
    columns: Columns | None = None,
) -> tuple[RowReader, TrainingInput]:
    """Return a call's reader and its input; ids in a column of X are moved to `given`."""
    reader = estimator._reader()
    if isinstance(reader, BlockReader):
        ids = given.get(reader.ids.name)
        X, given[reader.ids.name] = reader.apart(X, ids) if partial else reader.apart_or_warned(X, ids)
    if known is None and not partial and takes_map(estimator, X):
        columns, X = columns_of(estimator.features, X, y, given, labels=estimator._has_labels)
    reader.columns = columns
    return reader, reader.read(X, y, estimator._read_labels, known, partial=partial, **given)


def ids_given(reader: RowReader, given: dict[str, Any]) -> dict[str, Any]:
    """Return the call's ids, by their name."""
    return {reader.ids.name: given.get(reader.ids.name)} if reader.ids is not None else {}


def open_stream(estimator: Any) -> None:
    """Open the fast path for rows as they come; there may be none; it uses the present parameters."""
    model: Model = estimator._model
    columns = model.columns
    slow = columns.names is not None or isinstance(columns.features, FirstRows)
    reader = None if slow else estimator._reader().short(model.labels)
    model.stream = None
    if reader is not None:
        model.stream = Stream(model.learner, reader, estimator._lock, model.first_sparse, columns.features)
    model.is_current = True


def begin_stream(estimator: Any) -> None:
    """Call the callbacks' hooks for streams; scikit-learn's own hooks are for `fit`."""
    for callback in getattr(estimator, "_skl_callbacks", ()):
        if hasattr(callback, "on_stream_begin"):
            callback.on_stream_begin(estimator)


def shown_metadata(ids: Any, given: dict[str, Any]) -> dict[str, Any] | None:
    """Return the metadata of the callbacks' scorers.

    Ids have the name by which they are routed; costs are included only if they are routed.
    """
    routing = get_config()["enable_metadata_routing"]
    routed = {ids.name: "groups"} if ids is not None and routing else {}
    shown = {name: value for name, value in given.items() if value is not None and (routing or name != "costs")}
    return {routed.get(name, name): value for name, value in shown.items()} or None


def learn_in_order(model: Model, batch: Batch | None) -> None:
    """Train on the rounds in their order."""
    if batch is None:
        return
    learner = model.learner
    before = learner.t
    refused = learner.learn(batch.rows, batch.labels, batch.order, batch.weight, counts=counts_of(learner, batch))
    if refused >= 0:
        model.check_rows(batch.X, batch.rows)
        raise ValueError(learner.why_refused(refused, before))


def counts_of(learner: Learner, batch: Batch) -> NDArray | None:
    """Return the frequencies with which an observer counts the rows; None if they are the weights of training."""
    if not batch.has_importance or learner.observer is None:
        return None
    counts = batch.frequencies(np.arange(batch.rows.n) if batch.order is None else batch.order)
    return counts if len(counts) else None
