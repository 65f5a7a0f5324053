"""A call that learns: what it is given, its epochs under the eyes of callbacks, and folds that show rows as held out."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import is_classifier

from sklearn_predtron._core.learner import Learner
from sklearn_predtron.decisions._base import Decision
from sklearn_predtron.families._composition import changed_model, new_model, record_sparingly
from sklearn_predtron.families._epochs import epochs_of, generator_of, learn_epoch, seed_of, usual_epochs
from sklearn_predtron.families._folds import Way, begin_anew, folds_that_choose, learn_in_folds
from sklearn_predtron.families._held import Held, held_out_by, note_first_epoch, settle_on_rows
from sklearn_predtron.families._model import Model
from sklearn_predtron.families._patience import checked_patience
from sklearn_predtron.families._reading import Batch, BlockReader, Columns, Reading, RowReader
from sklearn_predtron.families._set_aside import chosen_by_part
from sklearn_predtron.families._stream import Stream
from sklearn_predtron.families._tables import FirstRows, columns_of
from sklearn_predtron.families._watched import Watched, showing
from sklearn_predtron.features import ROWS_OF_STREAMS

Learn = Callable[[Any, Batch], None]  # lets an estimator, with the model in progress, learn otherwise than by itself


def fit(estimator: Any, X: Any, y: Any, given: dict[str, Any], learn: Learn | None) -> None:
    """Learn a data set in epochs; the estimator gets the model at last, or what interrupted rounds have come to."""
    estimator._validate_params()
    known = estimator._model if estimator.warm_start else None
    if known is not None and isinstance(known.columns.features, FirstRows):
        raise ValueError(
            f"warm_start=True goes on from a stream of {known.columns.features.n} rows, whose first {ROWS_OF_STREAMS} rows are "
            "to make the map of features; accepted are partial_fit, and warm_start=False, which begins anew."
        )
    reader, reading = read(estimator, X, y, given, known, partial=False)
    if known is None:
        model = new_model(estimator, reading, partial=False)
    else:
        known = known.but(learner=copy.deepcopy(known.learner), record=dict(known.record))
        model = changed_model(estimator, known, reading, partial=False)
        record_sparingly(model.learner, reading.batch.rows.p)
    batch, learner = reading.batch, model.learner
    # A new learner finds out in its first epoch, of rows in their turn, but for rows that are not drawn; kernels, of a block
    # at a time, may hide them.
    unchecked = known is None and batch.weight is None and learner.weights.expansion is None
    if not unchecked:
        model.check_rows(batch.X, batch.rows)
    model.note_format(batch.rows, estimator.norm)
    view, rounds, done = showing(estimator, model), learner.t, False
    try:
        if learn is not None:
            learn(view, batch)
        else:
            reader.warn_of_rounds(reading)
            decision, seed = model.decision_of(view._decision), seed_of(view)
            shown = y, shown_metadata(reader.ids, given)
            ids = ids_given(reader, given)
            trial = chosen_by_part(view, reader, decision, batch, y, ids, seed) if view._sets_aside else None
            folds = folds_that_choose(view, reader, decision, batch, seed) if trial is None else None
            held = held_out_by(view, reader, decision, batch, seed) if known is None and folds is None else None
            if unchecked and (folds is not None or held is not None or trial is not None):
                model.check_rows(batch.X, batch.rows)  # no learner sees all
                unchecked = False
            if folds is not None:
                learn_in_folds(view, estimator, batch, *shown, folds, ids)
            else:
                epochs = view.max_iter
                if trial is not None:
                    begin_anew(view, Way(batch, trial.labels, model.columns, model.norm), model.learner.history)
                    learner, epochs = model.learner, trial.epochs
                learned = batch if held is None else held.learned(batch)
                how = {"epochs": epochs, "unchecked": unchecked, "decision": decision, "held": held}
                run_epochs(view, estimator, learned, *shown, seed, **how)
                done = True
                if trial is not None:
                    trial.show(model)
                if held is not None:
                    held.show(view, view._model, batch)
                else:
                    note_first_epoch(view, view._model)
            settle_on_rows(view, batch)
        take_over(estimator, view)
    except BaseException as error:
        # Where rows were refused, then or in a fold, and where nothing was learned: the rows were no good from the start.
        refused = isinstance(error, Exception) and (done or view._model.learner.refused)
        if view._model.learner.t > rounds and not refused:
            take_over(estimator, view)
        raise
    finally:
        learner.weights.close_fit()
    if estimator.average is not None:  # else it means another in a stream
        open_stream(estimator)


def partial_fit(
    estimator: Any, X: Any, y: Any, given: dict[str, Any], learn: Learn | None, columns: Columns | None = None
) -> None:
    """Learn rows in their order; the estimator has a model that goes on if any round was learned.

    Where no rows came before, `columns` says what they are if it is known.
    """
    known: Model | None = estimator._model
    resolved = known is not None and known.resolved
    if not resolved:
        estimator._validate_params()
    reader, reading = read(estimator, X, y, given, known, partial=True, columns=columns)
    batch = reading.batch
    model = new_model(estimator, reading, partial=True) if known is None else known
    model.check_rows(batch.X, batch.rows)  # before an average begins
    if resolved:
        model = model.going_on(reading.labels, reading.noted)
    elif known is not None:
        model = changed_model(estimator, known, reading, partial=True)
    learner = model.learner
    model.note_format(batch.rows, estimator.norm)
    view, rounds = showing(estimator, model), learner.t
    try:
        if not resolved:
            record_sparingly(learner, batch.rows.p)  # not before: the model so far has the same observer
            begin_stream(view)
        if learn is not None:
            learn(view, batch)
        else:
            learn_in_order(model, reader.rounds(batch))
        take_over(estimator, view)
    except BaseException:
        if view._model.learner.t > rounds:  # again, if that is what was interrupted
            take_over(estimator, view)
        raise
    if estimator._model.stream is None:
        open_stream(estimator)


@contextmanager
def averages_begun(estimator: Any) -> Iterator[None]:
    """Drop the averages that a call begins beside those of the weights, and let be observed what was, if it learns nothing."""
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
) -> tuple[RowReader, Reading]:
    """Return what reads the rounds of a call, and what it was given; ids in a column of X are then among the rest."""
    reader = estimator._reader()
    if isinstance(reader, BlockReader):
        ids = given.get(reader.ids.name)
        X, given[reader.ids.name] = reader.apart(X, ids) if partial else reader.apart_or_warned(X, ids)
    if known is None and not partial and estimator.features is not None:
        columns, X = columns_of(estimator.features, X, y, labels=is_classifier(estimator))
    reader.columns = columns
    return reader, reader.read(X, y, estimator._read_labels, known, partial=partial, **given)


def take_over(estimator: Any, view: Any) -> None:
    """Let an estimator have what was set on its view: the model in progress, and what callbacks have set beside it."""
    own = vars(estimator)
    own.update({name: value for name, value in vars(view).items() if name not in own or own[name] is not value})


def ids_given(reader: RowReader, given: dict[str, Any]) -> dict[str, Any]:
    """Return the ids that a call was given, by their name."""
    return {reader.ids.name: given.get(reader.ids.name)} if reader.ids is not None else {}


def open_stream(estimator: Any) -> None:
    """Open the fast path for rows as they come, if there is one, by the present parameters."""
    model: Model = estimator._model
    columns = model.columns
    slow = columns.names is not None or isinstance(columns.features, FirstRows)
    reader = None if slow else estimator._reader().short(model.labels)
    model.stream = None
    if reader is not None:
        model.stream = Stream(model.learner, reader, estimator._lock, model.first_sparse, columns.features)
    model.resolved = True


def begin_stream(estimator: Any) -> None:
    """Call the callbacks that have a hook for streams; scikit-learn's own hooks are for `fit`."""
    for callback in getattr(estimator, "_skl_callbacks", ()):
        if hasattr(callback, "on_stream_begin"):
            callback.on_stream_begin(estimator)


def shown_metadata(ids: Any, given: dict[str, Any]) -> dict[str, Any] | None:
    """Return the metadata of the callbacks' scorers, ids by the name by which they are routed; costs only if they are routed."""
    routing = get_config()["enable_metadata_routing"]
    routed = {ids.name: "groups"} if ids is not None and routing else {}
    shown = {name: value for name, value in given.items() if value is not None and (routing or name != "costs")}
    return {routed.get(name, name): value for name, value in shown.items()} or None


def learn_in_order(model: Model, batch: Batch | None) -> None:
    """Learn from the rounds in their order."""
    if batch is None:
        return
    learner = model.learner
    before = learner.t
    refused = learner.learn(batch.rows, batch.labels, batch.order, batch.weight, counts=counts_of(learner, batch))
    if refused >= 0:
        model.check_rows(batch.X, batch.rows)
        raise ValueError(learner.why_refused(refused, before))


def counts_of(learner: Learner, batch: Batch) -> NDArray | None:
    """Return what rounds count for an observer of rows as they came, where they weigh more for what they cost; else None."""
    if batch.costs is None or learner.observer is None or not learner.observer.as_given:
        return None
    counts = batch.as_they_came(np.arange(batch.rows.n) if batch.order is None else batch.order)
    return counts if len(counts) else None


# ----------------------------------------------------------------------------------------------------------------- epochs


def run_epochs(
    view: Any,
    estimator: Any,
    batch: Batch,
    y: Any,
    metadata: dict[str, Any] | None,
    seed: int | None,
    *,
    epochs: int | None,
    unchecked: bool,
    decision: Decision,
    held: Held | None,
) -> None:
    """Learn epoch by epoch until nothing more is gained, under the eyes of the callbacks, the first under the observer's.

    `unchecked` says that the learner finds rows of no good; what is `held` out will be shown to the observer at last.
    """
    model: Model = view._model
    learner, patience = model.learner, None if view.tol is None else checked_patience(view.tol)
    rounds = epochs_of(view, batch, generator_of(seed), learner)
    epochs = epochs or usual_epochs(view, len(rounds.rows), learner)
    losses: list[float] = []
    model.record, model.settled = {"loss_curve_": losses, "n_iter_": 0}, None
    rows, watched = batch, Watched(view, estimator, epochs, X=batch.X, y=y, metadata=metadata)
    for number in range(epochs):
        watched.begin_epoch()
        steps, new = learner.n_updates, number == 0
        asked = new and decision.asks_for is not None  # streams have an observer nonetheless
        batch, drawn = rounds.draw(observed=observed_how(learner) if asked and not (held and held.folds) else None)
        drawn["observed"] = asked and drawn.get("observed", True)
        losses.append(learn_epoch(model, learner, batch, drawn, fresh=new, unchecked=unchecked and new))
        model.record["n_iter_"] += 1
        if watched.by_any:
            settle_on_rows(view, rows)
        if watched.end_epoch() or learner.n_updates == steps or (patience is not None and patience._is_over(losses)):
            break
    watched.end()


def observed_how(learner: Learner) -> str | None:
    """Return which rows of a weighted epoch the observer sees: "first" ones, or "half" of them, by what it makes of them."""
    return None if learner.observer is None else "first" if learner.observer.as_given else "half"
