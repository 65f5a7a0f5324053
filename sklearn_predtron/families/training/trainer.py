"""The model in progress: one object owns it, shows it to callbacks, and publishes it or leaves the estimator as it was."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.loss_curve import LossCurve
from sklearn_predtron.decisions._base import Decision, HeldOut
from sklearn_predtron.decisions._recent_scores import RecentScores
from sklearn_predtron.families.input.reading import Batch, BlockReader, Columns, RowReader, TrainingInput
from sklearn_predtron.families.input.stream import Stream
from sklearn_predtron.families.input.tables import WarmupBuffer, mapped_columns, takes_map
from sklearn_predtron.families.model.importances import importances
from sklearn_predtron.families.model.model import Model, set_recording_interval
from sklearn_predtron.families.training.factory import MEAN, LearnerFactory, changed_model, fixed_parameters, new_model
from sklearn_predtron.families.training.maps import MapComparison
from sklearn_predtron.families.training.patience import checked_patience
from sklearn_predtron.families.training.plan import (
    Candidate,
    TrainingPlan,
    Validation,
    generator_of,
    plan_training,
    present_candidate,
    seed_of,
)
from sklearn_predtron.families.training.runs import (
    Epochs,
    FoldModel,
    Result,
    TrainingRun,
    epochs_of,
    labels_and_ids_of,
    learn_epoch,
    lowest,
    select,
)
from sklearn_predtron.features import ROWS_OF_STREAMS


class Monitor:
    """The task of a fit and those of its epochs, as scikit-learn's callbacks know them.

    Parameters
    ----------
    trainer : Trainer
        The fit.
    epochs : int
        The largest number of epochs.
    silent : bool, default=False
        Whether callbacks are not called: of candidates whose best is trained again.
    """

    def __init__(self, trainer: Trainer, epochs: int, *, silent: bool = False):
        self.trainer: Any = trainer
        self.silent = silent
        self.epoch: Any = None
        estimator = trainer.estimator
        self.active = not silent and bool(getattr(estimator, "_skl_callbacks", None))
        if silent:
            return
        try:
            self.task = estimator._init_callback_context(max_subtasks=epochs)
        finally:
            for name in ("_callback_fit_ctx", "_skl_callbacks_to_teardown"):
                if name in vars(estimator):
                    setattr(trainer.caller, name, getattr(estimator, name))
        self.task.call_on_fit_task_begin(estimator=estimator, **trainer.shown)

    def begin_epoch(self) -> None:
        """Call the callbacks before an epoch."""
        if not self.silent:
            self.epoch = self.task.subcontext(task_name="epoch")
            self.epoch.call_on_fit_task_begin(estimator=self.trainer.estimator, **self.trainer.shown)

    def end_epoch(self) -> bool:
        """Call the callbacks after an epoch; return whether one of them stops the fit."""
        return False if self.silent else bool(self._end(self.epoch))

    def end(self) -> None:
        """Call the callbacks after the last epoch."""
        if not self.silent:
            self._end(self.task)

    def _end(self, task: Any) -> Any:
        estimator = self.trainer.estimator
        try:
            return task.call_on_fit_task_end(
                estimator=estimator, reconstruction_attributes=lambda: snapshot(estimator), **self.trainer.shown
            )
        except Exception:
            self.trainer.publish_rounds()  # the epochs before a callback that fails stand
            raise


class Trainer:
    """A call that trains, and the model that it makes.

    As a context manager it gives the caller the model at the end.  If an interrupt ends the call, the caller gets what was
    trained so far; if an error does, it stays as it was.

    Parameters
    ----------
    caller : BasePredtron
        The estimator that was called.
    model : Model or None
        The model in progress.

    Attributes
    ----------
    estimator : BasePredtron
        The call's copy of the caller, with the model in progress, as callbacks see it; its parameters are read once.
    monitor : Monitor
        Calls the callbacks.
    """

    reader: Any

    def __init__(self, caller: Any, model: Model | None):
        self.caller, self.estimator = caller, with_model(caller, caller._model)
        self.given = dict(vars(self.estimator))  # what the caller has
        self.estimator._made = {}
        self.begin(model)
        self.monitor: Monitor = Monitor(self, 0, silent=True)
        # The best checkpoint so far, or the last that callbacks saw, until the model is complete.
        self.latest: Result | None = None
        self.has_scores = True  # whether the decision of the model in progress has the scores that it needs

    def begin(
        self,
        model: Model | None,
        reader: RowReader | None = None,
        shown: dict[str, Any] | None = None,
        ids: dict[str, Any] | None = None,
    ) -> None:
        """Begin to train a model, which is then the one in progress.

        In a fit a reader makes rounds of rows, callbacks see the data as `shown` (X, y and metadata), and `ids` are those of
        the rows by the name of the parameter, as they were given.
        """
        self.estimator._model, self.reader, self.shown, self.ids = model, reader, shown or {}, ids or {}
        self.rounds_before = 0 if model is None else model.learner.t
        self.training_parts: Any = None if model is None else model.training_parts

    @property
    def model(self) -> Model:
        """The model in progress."""
        return self.estimator._model

    @property
    def decision(self) -> Decision:
        """The decision of the parameters."""
        return self.model.decision_of(self.estimator._decision)

    def __enter__(self) -> Trainer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.monitor.trainer = None  # a circle of references would keep the model alive
        if kind is not None and issubclass(kind, Exception):
            return
        if kind is not None and self.latest is not None:
            self.accept_checkpoint(self.latest)
        elif kind is not None and not self.has_scores:
            return
        try:
            self.publish() if kind is None else self.publish_rounds()
        except BaseException:  # an interrupt in its midst
            self.publish_rounds()
            raise

    def publish_rounds(self) -> None:
        """Give the caller the model if it was trained at all."""
        if self.model is not None and self.model.learner.t > self.rounds_before:
            self.publish()

    def publish(self) -> None:
        """Give the caller the model, and what callbacks have set beside it; what they have set on the caller stays."""
        found = vars(self.estimator).items()
        new = {name: value for name, value in found if name not in self.given or self.given[name] is not value}
        vars(self.caller).update((name, value) for name, value in new.items() if name != "_made")

    # ------------------------------------------------------------------------------------------------- a plan carried out

    def carry_out(self, plan: TrainingPlan, batch: Batch) -> None:
        """Train by a plan."""
        if not plan.evaluate_after:
            held_out = self.train(plan, batch)
            if held_out is not None:
                self.model.fit_decision(self.decision, held_out, batch.rows.p)
        else:
            plan, best = self.chosen(plan)
            if plan.finish == "refit":
                self.refit(plan, best)
        self.model.fit_decision_on_rows(self.decision, batch)
        self.latest, self.has_scores = None, True

    def chosen(self, plan: TrainingPlan) -> tuple[TrainingPlan, Result]:
        """Return the best configuration, and the plan that it is trained by; callbacks see that training alone."""
        if plan.maps is None:
            return plan, self.choose(plan)
        watched, plain, model = bool(getattr(self.estimator, "_skl_callbacks", None)), None, self.model
        kept = model
        if model.columns.features is None:
            plain = self.choose(plan, silent=watched)
            kept = model.replace()
        self.monitor = Monitor(self, plan.epochs, silent=True)
        best = MapComparison(self, plan.maps, plain).best()
        if best is None:
            assert plain is not None
            vars(model).update(vars(kept))
            return plan, self.choose(plan) if watched else plain
        plan = plan.maps
        if plan.shape.n_models > 1 and not best.candidate.has_one_map:
            plan = replace(plan, finish="refit")
        return plan, self.choose(replace(plan, candidates=(best.candidate,))) if watched else self.complete(plan, best)

    def choose(self, plan: TrainingPlan, *, silent: bool = False) -> Result:
        """Return the best of the candidates by their held-out rows; its model is then the one in progress."""
        silent, candidates = silent or plan.finish == "refit", plan.candidates
        if not silent and len(candidates) > 1 and self.one_candidate:
            self.monitor = Monitor(self, plan.epochs, silent=True)
            candidates = (self.compare(plan, candidates, None).candidate,)
        self.monitor = Monitor(self, plan.epochs * len(candidates), silent=silent)
        best = self.compare(plan, candidates, self.model.learner.history)  # which a callback may want
        best = self.complete(plan, best, silent=silent)
        if not silent:
            self.monitor.end()
        return best

    def complete(self, plan: TrainingPlan, best: Result, *, silent: bool = False) -> Result:
        """Return the best refinement of a result; its model is then the one in progress, if it is not trained again."""
        if not best.stopped:
            watching, self.monitor = self.monitor, Monitor(self, plan.epochs, silent=True)
            once = plan.evaluated_once(best.checkpoint.epochs)
            refined = (self.new_run(one, once, None).run() for one in best.candidate.refinements())
            best = select([best, *refined])
            self.monitor = watching
        self.latest = best
        if plan.finish == "average":
            self.model.training_parts = MEAN
            if not silent:
                self.accept_checkpoint(best)
        return best

    def compare(self, plan: TrainingPlan, candidates: Sequence[Candidate], history: LossCurve | None) -> Result:
        """Return the best candidate."""
        results: list[Result] = []
        for candidate in candidates:
            run = self.new_run(candidate, plan, history)
            results.append(run.run())
            if run.stopped:
                return results[-1]._replace(stopped=True)
        return lowest(results)

    @property
    def one_candidate(self) -> bool:
        """Whether a callback counts the epochs of one candidate."""
        return any(getattr(callback, "one_candidate", False) for callback in getattr(self.estimator, "_skl_callbacks", ()))

    def new_run(self, candidate: Candidate, plan: TrainingPlan, history: LossCurve | None, *, shows: bool = True) -> TrainingRun:
        """Return the training run of a candidate, and make the model in progress one of it."""
        factory = candidate.factory(self.estimator)
        self.reset_to(candidate, factory)
        self.model.learner.record(copy.deepcopy(history))
        return TrainingRun(self, candidate, plan, factory, shows=shows)

    def use_candidate(self, candidate: Candidate, factory: LearnerFactory) -> None:
        """Make the model in progress one of a candidate that is being trained, if it is another."""
        model = self.model
        if candidate.columns is not model.columns or candidate.labels is not model.labels:
            self.reset_to(candidate, factory)

    def reset_to(self, candidate: Candidate, factory: LearnerFactory) -> None:
        """Make the model in progress one of a candidate, not yet trained."""
        self.set_learner(self.model, candidate, factory.another(candidate.batch.labels))
        self.model.fit_record, self.model.fitted_decision = {}, None

    def set_learner(self, model: Model, candidate: Candidate, learner: Learner) -> None:
        """Make a model one of a candidate, with a learner."""
        if candidate.labels is not model.labels:
            model.labels, model.cached_decision = candidate.labels, (None, None, None)
        if candidate.norm is not model.norm:
            model.norm, model.fixed = candidate.norm, fixed_parameters(self.estimator, candidate.norm)
        if candidate.columns.features is not None:
            model.first_sparse = None
        model.columns, model.learner = candidate.columns, learner

    def record_checkpoint(self, result: Result) -> None:
        """Record a checkpoint, and make it the model in progress if there are callbacks."""
        self.latest = result
        if self.monitor.active:
            self.accept_checkpoint(result)

    def accept_checkpoint(self, result: Result) -> None:
        """Make a checkpoint the model in progress, all of it at once, so that an interrupt finds the one before or this one."""
        model, candidate, checkpoint = self.model.replace(), result.candidate, result.checkpoint
        assert checkpoint.learner is not None
        self.set_learner(model, candidate, checkpoint.learner)
        model.fit_record = {
            "loss_curve_": result.loss_curve,
            "n_iter_": checkpoint.epochs,
            **result.record_of_choice(),
        }
        model.fit_decision(model.decision_of(self.estimator._decision), checkpoint.held_out, candidate.batch.rows.p)
        if result.history is not None:
            result.history.note(model.learner.t, model.learner.cumulative_loss)
            model.learner.record(result.history)
        if checkpoint.calibrate is not None:
            model.fitted_decision = checkpoint.calibrate()
        vars(self.model).update(vars(model))

    def refit(self, plan: TrainingPlan, best: Result) -> None:
        """Train the best candidate on all rows, for as many epochs."""
        candidate = best.candidate.by_labels_of(None)
        self.reset_to(candidate, candidate.factory(self.estimator))
        self.model.training_parts = self.training_parts
        self.train(plan.without_validation(best.checkpoint.epochs), candidate.batch)
        self.model.fit_record.update(best.record_of_choice())
        if best.checkpoint.held_out is not None:
            self.model.fit_decision(self.decision, best.checkpoint.held_out, candidate.batch.rows.p)
        if best.checkpoint.calibrate is not None:
            self.model.fitted_decision = {**(self.model.fitted_decision or {}), **best.checkpoint.calibrate()}

    # ------------------------------------------------------------------------------------------------------------ one model

    def train(self, plan: TrainingPlan, batch: Batch) -> HeldOut | None:
        """Train one model on all rows; then score the held-out rows of a validation by models without them."""
        validation = plan.validation
        rounds = epochs_of(self.reader, batch, generator_of(plan.seed), self.model.learner)
        self.run_epochs(plan.epochs, rounds, batch, apart=validation is not None)
        if validation is not None:
            return self.held_out_rows(validation, batch, plan.seed)
        model, observer = self.model, self.model.learner.observer
        if (
            getattr(self.estimator, "cv", None) is not None
            and isinstance(observer, RecentScores)
            and model.fit_record["n_iter_"] > 1
        ):
            model.fitted_decision = {"first_epoch": observer.recorded}  # all known scores are of the first of several epochs
        return None

    def run_epochs(self, epochs: int, rounds: Epochs, batch: Batch, *, apart: bool) -> None:
        """Train until nothing more is gained, with callbacks.

        If the decision needs scores, an observer sees the first epoch; how, depends on whether others come from models `apart`.
        """
        model, learner, observed = self.model, self.model.learner, self.decision.needs_scores
        patience = None if self.estimator.tol is None else checked_patience(self.estimator.tol)
        losses: list[float] = []
        model.fit_record, model.fitted_decision = {"loss_curve_": losses, "n_iter_": 0}, None
        self.monitor = Monitor(self, epochs)
        for number in range(epochs):
            self.monitor.begin_epoch()
            before, new = learner.n_updates, number == 0
            rows, drawn = rounds.draw(observed=observed and new and not apart and learner.observer is not None)
            drawn["observed"] = observed and new and drawn.get("observed", True)
            self.has_scores = self.has_scores and (drawn["observed"] or not (observed and new))
            losses.append(learn_epoch(model, learner, rows, drawn, fresh=new))
            model.fit_record["n_iter_"] += 1
            if self.monitor.active:
                model.fit_decision_on_rows(self.decision, batch)
            if self.monitor.end_epoch() or learner.n_updates == before or (patience is not None and patience._is_over(losses)):
                break
        self.monitor.end()

    def held_out_rows(self, validation: Validation, batch: Batch, seed: int | None) -> HeldOut:
        """Return the held-out rows, scored by models that were trained without them for as many epochs as the final one."""
        model, candidate = self.model, present_candidate(self.model, batch)
        epochs = model.learner.t // validation.units.in_epoch  # a callback may have gone back to an earlier one
        plan = TrainingPlan(validation, (epochs,), "keep", epochs, seed)
        chosen = validation.fold < validation.n_models
        rows, values = validation.units.select(chosen)
        scores = np.empty((len(rows), model.problem.d))
        fold = np.repeat(validation.fold[chosen], validation.units.sizes_of(chosen))
        factory = candidate.factory(self.estimator)
        for number in range(validation.n_models):
            one = FoldModel(self, candidate, plan, number, factory)
            for _ in range(epochs):
                one.train(1)
                if not one.updated:
                    break
            one.learner.weights.close_fit()
            scores[fold == number] = one.held_out_scores()
        frequency = None if batch.frequency is None else batch.frequency[rows]
        return HeldOut(scores, values, frequency, validation.units.numbers[chosen], costs=batch.costs)

    def estimator_of_fold(self, one: FoldModel) -> tuple[Any, Any, dict[str, Any]]:
        """Return an estimator with a fold model, and the labels and ids of the rows that are held out of it."""
        model = one.model.replace(learner=one.learner, columns=one.candidate.columns._replace(names=None))
        return with_model(self.estimator, model), *labels_and_ids_of(self.shown["y"], self.ids, one.rows)


def with_model(estimator: Any, model: Model | None) -> Any:
    """Return a copy of an estimator with another model."""
    other = object.__new__(type(estimator))
    other.__dict__.update(vars(estimator))
    other._model = model
    return other


def snapshot(estimator: Any) -> dict[str, Any]:
    """Return the attributes of a callback's own copy of the fitted estimator."""
    model: Model = estimator._model
    return {"_model": model.replace(learner=copy.deepcopy(model.learner), fit_record=copy.deepcopy(model.fit_record))}


Learn = Callable[[Any, Batch], None]  # trains an estimator, which has the model in progress, in another way


def fit(caller: Any, X: Any, y: Any, given: dict[str, Any], learn: Learn | None) -> None:
    """Train an estimator on a data set by plan; `learn` replaces the plan."""
    trainer = Trainer(caller, caller._model)
    estimator = trainer.estimator
    estimator._validate_params()
    known = caller._model if caller.warm_start else None
    if known is not None and isinstance(known.columns.features, WarmupBuffer):
        raise ValueError(
            f"warm_start=True is not possible before {ROWS_OF_STREAMS} streamed rows have fitted the feature map, and there are "
            f"{known.columns.features.n}; accepted are partial_fit, and warm_start=False, which starts from scratch."
        )
    reader, reading = read(estimator, X, y, given, known, partial=False)
    batch, model = reading.batch, started_model(estimator, known, reading)
    model.check_rows(batch.X, batch.rows)
    model.warn_of_other_format(batch.rows, estimator.norm)
    metadata = shown_metadata(reader.ids, given)
    trainer.begin(model, reader, {"X": batch.X, "y": y, "metadata": metadata}, ids_given(reader, given))
    try:
        with trainer:
            if learn is not None:
                learn(estimator, batch)
            else:
                reader.warn_of_rounds(reading)
                plan = plan_training(estimator, model, reader, batch, trainer.decision, seed_of(estimator), fresh=known is None)
                trainer.carry_out(plan, batch)
            trainer.model.importances = importances(trainer.model, batch)
    finally:
        model.learner.weights.close_fit()
    caller._model.learner.set_replay(True)
    if caller.average is not None:  # else it means another average in a stream
        open_stream(caller)


def started_model(estimator: Any, known: Model | None, reading: TrainingInput) -> Model:
    """Return a new model, or a copy to continue; the copy is of the known model."""
    if known is None:
        return new_model(estimator, reading, partial=False)
    known = known.replace(learner=copy.deepcopy(known.learner), fit_record=dict(known.fit_record))
    model = changed_model(estimator, known, reading, partial=False)
    set_recording_interval(model.learner, reading.batch.rows.p)
    model.learner.set_replay(False)
    return model


def partial_fit(caller: Any, X: Any, y: Any, given: dict[str, Any], learn: Learn | None, columns: Columns | None = None) -> None:
    """Train on rows in their order.

    The model of the estimator is replaced if any round was trained.

    Before the first rows, `columns` describes the columns if they are known.
    """
    known: Model | None = caller._model
    trainer = Trainer(caller, known)
    estimator = trainer.estimator
    resolved = known is not None and known.is_current
    if not resolved:
        estimator._validate_params()
    reader, reading = read(estimator, X, y, given, known, partial=True, columns=columns)
    batch = reading.batch
    model = new_model(estimator, reading, partial=True) if known is None else known
    model.check_rows(batch.X, batch.rows)  # before an average begins
    if resolved:
        model = model.continued(reading.labels, reading.call_metadata)
    elif known is not None:
        model = changed_model(estimator, known, reading, partial=True)
    learner = model.learner
    model.warn_of_other_format(batch.rows, estimator.norm)
    trainer.begin(model)
    try:
        with trainer:
            if not resolved:
                learner.set_replay(True)
                set_recording_interval(learner, batch.rows.p)  # not before: the model so far has the same observer
                begin_stream(estimator)
            if learn is not None:
                learn(estimator, batch)
            else:
                learn_in_order(model, reader.rounds(batch))
    except BaseException:
        trainer.publish_rounds()  # those before an error are kept, as it says, and those before an interrupt
        raise
    if caller._model.stream is None:
        open_stream(caller)
    if caller._model.stream is not None:
        caller._model.stream.know(given.get("classes"))


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
        X, given[reader.ids.name] = reader.split_ids(X, ids) if partial else reader.split_ids_or_warn(X, ids)
    if known is None and not partial and takes_map(estimator, X):
        columns, X = mapped_columns(estimator.features, X, y, given, labels=estimator._has_labels)
    reader.columns = columns
    return reader, reader.read(X, y, estimator._read_labels, known, partial=partial, **given)


def ids_given(reader: RowReader, given: dict[str, Any]) -> dict[str, Any]:
    """Return the call's ids, by their name."""
    return {reader.ids.name: given.get(reader.ids.name)} if reader.ids is not None else {}


def open_stream(estimator: Any) -> None:
    """Open the fast path for rows as they come; there may be none; it uses the present parameters."""
    model: Model = estimator._model
    columns = model.columns
    slow = columns.names is not None or isinstance(columns.features, WarmupBuffer)
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
