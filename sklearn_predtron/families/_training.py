"""A call that learns: what it is given, its epochs under the eyes of callbacks, and folds that show rows as held out."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.utils import check_random_state

from sklearn_predtron._core.learner import Learner
from sklearn_predtron.decisions._base import PROGRESSIVE, UNSEEN, Decision, HeldOut
from sklearn_predtron.families._composition import changed_model, new_learner, new_model, record_sparingly
from sklearn_predtron.families._model import Model
from sklearn_predtron.families._patience import checked_patience
from sklearn_predtron.families._reading import Batch, BlockReader, Reading, RowReader, Units, as_rows
from sklearn_predtron.families._stream import Stream

N_SEED = 5  # of folds
N_FOLDS = {UNSEEN: 3, PROGRESSIVE: 5}
# A fit of more rows, or of more values times scores, has no folds; with a kernel, whose rounds cost as much as there are rows,
# of fewer.
MOST_ROWS, MOST_WORK = {UNSEEN: 10_000, PROGRESSIVE: 20_000}, 10**7
MOST_KERNEL_ROWS = 2_000
LARGEST_PART, SHARE, MOST_SCORES = 5_000, 5, 4 * 10**6  # rows that are held out of it: one in five, and not too many

Learn = Callable[[Any, Batch], None]  # lets an estimator, with the model in progress, learn otherwise than by itself


def fit(estimator: Any, X: Any, y: Any, given: dict[str, Any], learn: Learn | None) -> None:
    """Learn a data set in epochs; the estimator gets the model at last, or what interrupted rounds have come to."""
    estimator._validate_params()
    known = estimator._model if estimator.warm_start else None
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
            decision, shown = model.decision_of(view._decision), shown_metadata(reader.ids, given)
            held = held_out_by(view, reader, decision, batch) if known is None else None
            learned = batch if held is None else held.learned(batch)
            run_epochs(view, estimator, learned, y, shown, unchecked=unchecked, decision=decision, held=held)
            done = True
            if held is not None:
                held.show(view, view._model, batch)
            settle_on_rows(view, batch)
    except BaseException as error:
        # Where rows were refused, then or in a fold, and where nothing was learned: the rows were no good from the start.
        refused = isinstance(error, Exception) and (done or view._model.learner.refused)
        if view._model.learner.t > rounds and not refused:
            take_over(estimator, view)
        raise
    finally:
        learner.weights.close_fit()
    take_over(estimator, view)
    if estimator.average is not None:  # else it means another in a stream
        open_stream(estimator)


def partial_fit(estimator: Any, X: Any, y: Any, given: dict[str, Any], learn: Learn | None) -> None:
    """Learn rows in their order; the estimator has a model that goes on if any round was learned."""
    known: Model | None = estimator._model
    resolved = known is not None and known.resolved
    if not resolved:
        estimator._validate_params()
    reader, reading = read(estimator, X, y, given, known, partial=True)
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
    except BaseException:
        if view._model.learner.t > rounds:
            take_over(estimator, view)
        raise
    take_over(estimator, view)
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
    estimator: Any, X: Any, y: Any, given: dict[str, Any], known: Model | None, *, partial: bool
) -> tuple[RowReader, Reading]:
    """Return what reads the rounds of a call, and what it was given; ids in a column of X are then among the rest."""
    reader = estimator._reader()
    if isinstance(reader, BlockReader):
        ids = given.get(reader.ids.name)
        X, given[reader.ids.name] = reader.apart(X, ids) if partial else reader.apart_or_warned(X, ids)
    return reader, reader.read(X, y, estimator._read_labels, known, partial=partial, **given)


def showing(estimator: Any, model: Model) -> Any:
    """Return an estimator that has another model, as callbacks see it while that one is learned."""
    view = object.__new__(type(estimator))
    view.__dict__.update(vars(estimator).copy())
    view._model = model
    return view


def take_over(estimator: Any, view: Any) -> None:
    """Let an estimator have what was set on its view: the model in progress, and what callbacks have set beside it."""
    own = vars(estimator)
    own.update({name: value for name, value in vars(view).items() if name not in own or own[name] is not value})


def open_stream(estimator: Any) -> None:
    """Open the short way for rows as they come, if there is one, by the present parameters."""
    model: Model = estimator._model
    reader = None if model.columns.names is not None else estimator._reader().short(model.labels)
    model.stream = None if reader is None else Stream(model.learner, reader, estimator._lock, model.first_sparse)
    model.resolved = True


def begin_stream(estimator: Any) -> None:
    """Call the callbacks that have a hook for streams; scikit-learn's own hooks are for `fit`."""
    for callback in getattr(estimator, "_skl_callbacks", ()):
        if hasattr(callback, "on_stream_begin"):
            callback.on_stream_begin(estimator)


def shown_metadata(ids: Any, given: dict[str, Any]) -> dict[str, Any] | None:
    """Return the metadata of the callbacks' scorers, ids by the name by which they are routed."""
    routed = {} if ids is None or not get_config()["enable_metadata_routing"] else {ids.name: "groups"}
    return {routed.get(name, name): value for name, value in given.items() if value is not None} or None


def learn_in_order(model: Model, batch: Batch | None) -> None:
    """Learn from the rounds in their order."""
    if batch is None:
        return
    learner = model.learner
    before = learner.t
    refused = learner.learn(batch.rows, batch.labels, batch.order, batch.weight)
    if refused >= 0:
        model.check_rows(batch.X, batch.rows)
        raise ValueError(learner.why_refused(refused, before))


# ----------------------------------------------------------------------------------------------------------------- epochs


def run_epochs(
    view: Any,
    estimator: Any,
    batch: Batch,
    y: Any,
    metadata: dict[str, Any] | None,
    *,
    unchecked: bool,
    decision: Decision,
    held: Held | None,
) -> None:
    """Learn epoch by epoch until nothing more is gained, under the eyes of the callbacks, the first under the observer's.

    `unchecked` says that the learner finds rows of no good; what is `held` out will be shown to the observer at last.
    """
    model: Model = view._model
    learner, patience = model.learner, None if view.tol is None else checked_patience(view.tol)
    rounds = epochs_of(view, batch, generator(view), learner)
    epochs = view.max_iter or usual_epochs(view, len(rounds.rows), learner)
    losses: list[float] = []
    model.record, model.settled = {"loss_curve_": losses, "n_iter_": 0}, None
    rows, shown = batch, {"estimator": view, "X": batch.X, "y": y, "metadata": metadata}
    task = callback_context(view, estimator, epochs)
    task.call_on_fit_task_begin(**shown)
    for number in range(epochs):
        epoch = task.subcontext(task_name="epoch")
        epoch.call_on_fit_task_begin(**shown)
        steps, new = learner.n_updates, number == 0
        asked = new and decision.asks_for is not None  # streams have an observer nonetheless
        batch, drawn = rounds.draw(observed=observed_how(learner) if asked and not (held and held.folds) else None)
        drawn["observed"] = asked and drawn.get("observed", True)
        losses.append(learn_epoch(model, learner, batch, drawn, fresh=new, unchecked=unchecked and new))
        model.record["n_iter_"] += 1
        if getattr(view, "_skl_callbacks", None):  # which may predict
            settle_on_rows(view, rows)
        stopped = epoch.call_on_fit_task_end(reconstruction_attributes=lambda: snapshot(view), **shown)
        if stopped or learner.n_updates == steps or (patience is not None and patience._is_over(losses)):
            break
    task.call_on_fit_task_end(reconstruction_attributes=lambda: snapshot(view), **shown)


def observed_how(learner: Learner) -> str | None:
    """Return which rows of a weighted epoch the observer sees: "first" ones, or "half" of them, by what it makes of them."""
    return None if learner.observer is None else "first" if learner.observer.as_given else "half"


def callback_context(view: Any, estimator: Any, epochs: int) -> Any:
    """Return the task of a fit, whose callbacks see the model in progress, and are torn down with the estimator's."""
    try:
        return view._init_callback_context(max_subtasks=epochs)
    finally:
        for name in ("_callback_fit_ctx", "_skl_callbacks_to_teardown"):
            if name in vars(view):
                setattr(estimator, name, getattr(view, name))


def snapshot(view: Any) -> dict[str, Any]:
    """Return what a callback's own copy of the fitted estimator needs."""
    model: Model = view._model
    return {"_model": model.but(learner=copy.deepcopy(model.learner), record=copy.deepcopy(model.record))}


def learn_epoch(model: Model, learner: Learner, batch: Batch, drawn: dict[str, Any], **how: Any) -> float:
    """Let a learner learn from the rounds that were drawn; return their mean progressive loss."""
    loss, t = learner.cumulative_loss, learner.t
    refused = learner.learn(batch.rows, batch.labels, **drawn, **how)
    if refused >= 0:
        model.check_rows(batch.X, batch.rows)
        raise ValueError(f"{learner.why_refused(refused, learner.t)}  The fit is undone.")
    return (learner.cumulative_loss - loss) / (learner.t - t)


def usual_epochs(estimator: Any, n: int, learner: Learner) -> int:
    """Return how many epochs n rows of positive weight are learned in, if `max_iter` does not say."""
    # Measured: ten under-fit some thousand clean rows; fewer rows, and kernels, over-fit by more, and many rows need no more.
    if not estimator._more_epochs or learner.weights.expansion is not None:
        return estimator._epochs
    return max(estimator._epochs, int(min(n / 100, 100_000 / n)))


def generator(estimator: Any) -> np.random.Generator | None:
    """Return the source of the epochs' shuffles, if there are any."""
    return np.random.default_rng(check_random_state(estimator.random_state).randint(2**31)) if estimator.shuffle else None


def epochs_of(estimator: Any, batch: Batch, random: np.random.Generator | None, learner: Learner) -> Epochs:
    """Return the epochs of a fit, as the estimator's reader makes rounds of rows."""
    return estimator._reader().epochs(Epochs(batch, random), whole=learner.weights.expansion is not None)


# ------------------------------------------------------------------------------------------------------------------ folds


class Held(NamedTuple):
    """Which units are held out of what is learned: each by one of several folds, or a part of all by the one learner."""

    units: Units
    fold: NDArray  # of each of them; of a part that is held out 0, and of the rest 1
    folds: bool
    random: np.random.Generator | None

    def learned(self, batch: Batch) -> Batch:
        """Return what is left to learn of a batch."""
        return batch if self.folds else batch._replace(order=self.units.numbers[self.fold != 0])

    def show(self, view: Any, model: Model, batch: Batch) -> None:
        """Let the decision settle on what learners predict of the units that they have not learned.

        Folds learn at last, in as many epochs, when it is known after which epoch `fit` is best; until then the observer of its
        first epoch serves.
        """
        problem, update, average, _ = model.learner.parts()
        chosen = self.fold >= 0 if self.folds else self.fold == 0
        rows, values = self.units.of(chosen)
        if self.folds:
            scores = self.scores_of_folds(view, model, batch, rows)
        else:
            X = batch.X[rows]
            scores = model.fill_scores(model.learner, X, as_rows(X), 0, np.empty((len(rows), problem.d)))
        decision = model.decision_of(view._decision)
        learner = model.learner.with_parts(problem, update, average, decision.observer(problem, None))
        frequency = None if batch.frequency is None else batch.frequency[rows]
        found = HeldOut(scores, values, frequency, batch.labels, self.units.numbers[chosen], batch.weight)
        record_sparingly(learner, batch.rows.p)
        model.settled, model.learner = decision.after_fit(learner, found), learner

    def scores_of_folds(self, view: Any, model: Model, batch: Batch, rows: NDArray) -> NDArray:
        """Return the scores of rows, each by the learner that has not seen it."""
        problem, everything = model.learner.problem, as_rows(batch.X)
        epochs = model.learner.t // self.units.in_epoch  # a callback may have gone back to an earlier one
        scores, found = np.empty((everything.n, problem.d)), np.empty((len(rows), problem.d))
        fold = np.repeat(self.fold, self.units.sizes)
        for number in range(self.fold.max() + 1):
            learner = new_learner(view, problem, batch.rows, model.norm, None)
            learned = batch._replace(order=self.units.numbers[self.fold != number])
            run_unseen(view, model, learner, learned, self.random, epochs)
            out = fold == number
            found[out] = model.fill_scores(learner, batch.X, everything, 0, scores)[rows[out]]
        return found


def held_out_by(view: Any, reader: RowReader, decision: Decision, batch: Batch) -> Held | None:
    """Return what a fit holds out for a decision; None where it holds out nothing, and its first epoch has to do."""
    if decision.asks_for is None:
        return None
    model: Model = view._model
    learner, X = model.learner, batch.X
    n = batch.rows.n if batch.order is None else len(batch.order)
    work, kernel = (X.nnz if sparse.issparse(X) else X.size) * learner.problem.d, learner.weights.expansion is not None
    folds = 1 < n <= (MOST_KERNEL_ROWS if kernel else MOST_ROWS[decision.asks_for]) and work <= MOST_WORK
    if not folds and (decision.asks_for == PROGRESSIVE or n < SHARE or (view.max_iter == 1 and batch.weight is None)):
        return None
    part = min(LARGEST_PART, n // SHARE, max(1, MOST_SCORES // learner.problem.d))
    n_folds = N_FOLDS[decision.asks_for] if folds else -(-n // part)
    if not reader.suffices(n - -(-n // n_folds), batch):
        return None
    units, random = reader.units(batch, model.labels), fold_generator(view)
    fold = folds_of(units.strata, random, n_folds)
    return Held(units, fold if folds else np.minimum(fold, 1), folds, random)


def run_unseen(
    estimator: Any, model: Model, learner: Learner, batch: Batch, random: np.random.Generator | None, epochs: int
) -> None:
    """Let another learner, without an observer, learn a batch for some epochs, unseen by the callbacks."""
    rounds = epochs_of(estimator, batch, random, learner)
    for number in range(epochs):
        steps = learner.n_updates
        learn_epoch(model, learner, *rounds.draw(), fresh=number == 0)
        if learner.n_updates == steps:
            break
    learner.weights.close_fit()


def settle_on_rows(view: Any, batch: Batch) -> None:
    """Let a decision settle what it settles on the scores of the rows that were learned."""
    model: Model = view._model
    decision = model.decision_of(view._decision)
    if decision.on_rows:
        rows = as_rows(batch.X)
        scores = model.fill_scores(model.learner, batch.X, rows, 0, np.empty((rows.n, model.learner.problem.d)))
        model.settled = {**(model.settled or {}), **decision.after_rows(scores, batch)}


def fold_generator(estimator: Any) -> np.random.Generator | None:
    """Return a source of its own, so that `fit` draws what it draws without folds."""
    if not estimator.shuffle:
        return None
    return np.random.default_rng([copy.deepcopy(check_random_state(estimator.random_state)).randint(2**31), N_SEED])


def folds_of(codes: NDArray, random: np.random.Generator | None, n_folds: int) -> NDArray:
    """Return the number of the fold of each row: of about the same size, with about as many rows of each class."""
    order = np.arange(len(codes)) if random is None else random.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(len(codes), dtype=np.intp)
    fold[order] = np.arange(len(codes)) % n_folds
    return fold


class Epochs:
    """Rounds for `Learner.learn`, epoch by epoch.

    Rows in the given order keep their weights.  In shuffled epochs weights are frequencies: each epoch is a systematic sample,
    with as many rounds as there are rows of positive weight, in which a row appears in proportion to its weight, rounded up
    or down at random.

    Parameters
    ----------
    batch : Batch
        What is learned.
    random : Generator or None
        What shuffles the rows; None takes them in the given order.
    """

    def __init__(self, batch: Batch, random: np.random.Generator | None):
        self.batch, self.there, self.weight, self.random = batch, batch.order, batch.weight, random
        self.rows = np.arange(batch.rows.n) if batch.order is None else batch.order
        self.usual = 1.0  # what a round weighs where rows appear in proportion to their weights
        self.ends: NDArray | None = None
        if random is not None and batch.weight is not None:
            self._resample(batch.weight[self.rows], random)

    def _resample(self, weight: NDArray, random: np.random.Generator) -> None:
        """Lay the rows on a line, in random order, each as long as it is to appear."""
        most = weight.max()  # relative to it no sum overflows
        self.weight, self.usual = None, float(most)
        if weight.min() < most:
            self.usual *= float(np.mean(weight / most))
            places = random.permutation(len(weight))
            self.rows = self.rows[places]
            self.ends = np.cumsum(weight[places] / most)
            self.ends *= len(weight) / self.ends[-1]
            np.minimum(self.ends, len(weight), out=self.ends)  # rounding
            self.ends[-1] = len(weight)

    def draw(self, *, observed: str | None = None) -> tuple[Batch, dict[str, Any]]:
        """Return the batch and the learner's other arguments for the next epoch; its rows, if new, are known ahead of its rounds.

        Where rows repeat, which then are no longer new, an observer sees none of them; or, if "first" ones are to be `observed`,
        each before it is learned, once, for as often as it is there; or, if it is "half", those of one half alone, which comes
        after all of the other.
        """
        return self.batch, self._drawn(observed)

    def _drawn(self, observed: str | None) -> dict[str, Any]:
        if self.random is None:
            return {"order": self.there, "weight": self.weight, "ahead": self.rows}
        order = self.random.permutation(self._sample(self.random)).astype(np.intp, copy=False)
        if self.ends is None:
            return {"order": order, "usual": self.usual, "ahead": order}
        if observed is None:
            return {"order": order, "usual": self.usual, "ahead": order, "observed": False}
        if observed == "first":
            return {"order": order, "usual": self.usual, "ahead": order, "counts": first_appearances(order)}
        # Drawn by row: among the first appearances of a whole epoch rows of large weight would be early, when little is learned.
        last = (self.random.random(order.max() + 1) < 0.5)[order]
        last |= not last.any()
        order = np.concatenate([order[~last], order[last]])
        counts = first_appearances(order)
        counts[: np.count_nonzero(~last)] = 0
        return {"order": order, "usual": self.usual, "ahead": order, "counts": counts}

    def _sample(self, random: np.random.Generator) -> NDArray:
        """Return the rows of an epoch."""
        if self.ends is None:
            return self.rows
        marks = np.ceil(self.ends - random.random())  # how many of the points 0, 1, ... + offset lie before each end
        return np.repeat(self.rows, np.diff(marks, prepend=0).astype(np.intp))


def first_appearances(order: NDArray) -> NDArray:
    """Return how often the row of each round appears, 0 where it has appeared before: then it is no longer new."""
    times, first = np.bincount(order), np.zeros(order.max(initial=-1) + 1, dtype=np.intp)
    first[order[::-1]] = np.arange(len(order))[::-1]
    counts = np.zeros(len(order))
    counts[first[times > 0]] = times[times > 0]
    return counts
