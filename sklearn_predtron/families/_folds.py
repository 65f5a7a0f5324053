"""Folds that choose the number of epochs: learners without a part of the rows each, looked at by it; their mean predicts."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, indexable

from sklearn_predtron._core.contributions import add, advance, contribution
from sklearn_predtron._core.learner import Learner
from sklearn_predtron._support.compat import CvObject, Options
from sklearn_predtron._support.names import refuse_class
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.decisions._base import PROGRESSIVE, UNSEEN, Decision, HeldOut
from sklearn_predtron.decisions._maps import root_mean_square
from sklearn_predtron.families._composition import MEAN, chosen_norm, fixed_parameters, kept_by, new_learner, record_sparingly
from sklearn_predtron.families._epochs import epochs_of, folds_of, generator_of, learn_epoch
from sklearn_predtron.families._held import LARGEST_PART, MOST_SCORES, SHARE, few_enough
from sklearn_predtron.families._model import Model
from sklearn_predtron.families._patience import checked_patience
from sklearn_predtron.families._reading import Batch, Columns, RowReader, Units
from sklearn_predtron.families._watched import Watched, chosen_by_callback, showing, shows_one_course
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.losses._by_row import POWERS

ACCEPTED: list[Any] = [CvObject(), Options(Integral, {0})]
N_FOLDS, LEAST_ROWS = 5, 20
FAR = 30.0  # scores of a learner from those of most
MOST_WEIGHTS = 2**21  # of which each learner has an array or three, and a look makes a copy
LOOKS_OF_FOLDS, LOOKS_OF_PART = (3, 10, 31, 100), (1, 3, 10)  # epochs
OF_FOLDS, OF_LEARNERS = 5, 6  # what draws, beside the seed
OF_A_COURSE = ("labels", "record", "learner", "settled", "columns", "norm", "fixed")  # fields of the model


class Folds(NamedTuple):
    """Which units which learner learns without, and after how many epochs learners are looked at."""

    units: Units
    fold: NDArray  # of each unit the learner without it; what is of no learner's fold all learn
    n_learners: int
    looks: tuple[int, ...]
    seed: int | None  # of what is drawn; None draws nothing


class Part(NamedTuple):
    """What a learner has not learned, as it was given, and an estimator that shows the learner."""

    alone: Any
    X: Any
    y: Any
    ids: dict[str, Any]


class Look(NamedTuple):
    """A look: what was learned after some epochs, and what it makes of the rows that were held out."""

    epochs: int
    loss: float
    held: HeldOut | None
    learner: Learner
    meaning: Callable[[], dict[str, Any]] | None = None  # finds what scores mean that are not those of rows


class Paid(NamedTuple):
    """What is paid for the rows that were held out, in the order of the rows, and how frequent they are."""

    each: NDArray
    weight: NDArray

    def gain_over(self, other: Paid) -> tuple[float, float]:
        """Return how much less is paid on average than by another, and the standard error of that."""
        less, share = other.each - self.each, self.weight / self.weight.sum()
        gain = float(share @ less)
        return gain, float(np.sqrt((share**2) @ (less - gain) ** 2))


class Way(NamedTuple):
    """A way to learn that folds may choose: which rows, and what they and their labels are made of."""

    batch: Batch
    labels: Codec
    columns: Columns
    norm: Any


class Course(NamedTuple):
    """The best of the looks at one way to learn, as the model has it."""

    fields: dict[str, Any]  # of the model, by name
    loss: float
    looks: dict[int, float]  # what was lost after some epochs
    stopped: bool  # by a callback
    paid: Paid | None = None  # where rows have costs of their own


class Pupil:
    """A learner, the rounds of its epochs, and the rows that it learns without.

    Parameters
    ----------
    view : estimator
        What says how it learns.
    batch : Batch
        What all learners learn from.
    folds : Folds
        What is held out.
    number : int
        Which of the learners it is.
    """

    def __init__(self, view: Any, batch: Batch, folds: Folds, number: int):
        self.model: Model = view._model
        self.learner = fresh_learner(view, present_way(view, batch))
        learned = batch._replace(order=folds.units.numbers[folds.fold != number], labels=batch.labels.shared())
        self.rounds = epochs_of(view, learned, generator_of(folds.seed, OF_LEARNERS, number), self.learner)
        self.units = folds.units.numbers[folds.fold == number]
        self.rows = folds.units.rows_of(folds.fold == number)
        self.X, self.like = batch.X[self.rows], batch.rows
        self.stepped = True  # in the last epoch

    def learn(self, epochs: int) -> list[float]:
        """Learn some epochs; return the mean progressive loss of each."""
        losses = []
        for _ in range(epochs):
            steps, new = self.learner.n_updates, self.learner.t == 0
            losses.append(learn_epoch(self.model, self.learner, *self.rounds.draw(), fresh=new))
            self.stepped = self.learner.n_updates > steps
        return losses

    def scores(self) -> NDArray:
        """Return the scores of the rows that were held out."""
        rows = self.like.another(self.X)
        return self.model.fill_scores(self.learner, self.X, rows, 0, np.empty((rows.n, self.learner.problem.d)))


# ------------------------------------------------------------------------------------------------------ what is held out


def folds_that_choose(view: Any, reader: RowReader, decision: Decision, batch: Batch, seed: int | None) -> Folds | None:
    """Return what a fit that begins anew holds out to choose by, as the parameter `cv` says; None if it is nothing."""
    cv = getattr(view, "cv", 0)
    model: Model = view._model
    because = why_one_learner(view, model, decision)
    if cv is None and view._sets_aside:
        return None
    if cv is None:
        none_asked = decision.asks_for is None and decision.calibration is not None
        if because is not None or none_asked or model.learner.problem.d * batch.rows.p > MOST_WEIGHTS:
            return None
    elif isinstance(cv, Integral) and cv == 0:
        return None
    elif because is not None:
        raise ValueError(f"cv={shortened(cv)} does not go with {because}; accepted are cv=None and cv=0.")
    units = reader.units(batch, model.labels)
    n = len(units.numbers)
    if cv is not None:
        return Folds(units, *given_folds(cv, units, seed, reader, batch, model.labels), looks_of(view, LOOKS_OF_FOLDS), seed)
    if few_enough(decision.asks_for or UNSEEN, n, batch.rows, model.learner.problem.d):
        if n < LEAST_ROWS or not reader.suffices(n - -(-n // N_FOLDS), batch):
            return None
        fold = folds_of(units.strata, generator_of(seed, OF_FOLDS), N_FOLDS)
        return Folds(units, fold, N_FOLDS, looks_of(view, LOOKS_OF_FOLDS), seed)
    part = min(LARGEST_PART, n // SHARE, max(1, MOST_SCORES // model.learner.problem.d))
    told = view.max_iter == 1 and batch.weight is None  # by the rounds of the one epoch
    if decision.asks_for == PROGRESSIVE or n < SHARE or told or not reader.suffices(n - part, batch):
        return None
    fold = folds_of(units.strata, generator_of(seed, OF_FOLDS), -(-n // part))
    return Folds(units, np.minimum(fold, 1), 1, looks_of(view, LOOKS_OF_PART), seed)


def why_one_learner(view: Any, model: Model, decision: Decision) -> str | None:
    """Return what there cannot be a mean of several learners with."""
    learner = model.learner
    if view.warm_start:
        return "warm_start=True, which goes on from one learner"
    if learner.weights.expansion is not None:
        return "norm='rkhs', whose expansions have no mean"
    if kept_by(learner.average, learner.weights) > 1:
        return f"average={view.average!r}, which chooses among several; accepted is also average=None"
    if decision.asks_for is not None and decision.calibration is None:
        return "reject.rule='online', which observes margins in the place of scores"
    return "a callback that chooses the epochs" if chosen_by_callback(view) else None


def looks_of(view: Any, usual: tuple[int, ...]) -> tuple[int, ...]:
    """Return after how many epochs learners are looked at: after those that the user has given, or some."""
    return usual if view.max_iter is None else (view.max_iter,)


def given_folds(cv: Any, units: Units, seed: int | None, reader: RowReader, batch: Batch, codec: Any) -> tuple[NDArray, int]:
    """Return the fold of each unit by the parameter `cv`, and how many folds there are."""
    n = len(units.numbers)
    if isinstance(cv, Integral):
        if int(cv) > n:
            raise ValueError(f"cv={cv} is more than the {n} that are to be held out in turn; accepted is at most that.")
        fold, n_folds = folds_of(units.strata, generator_of(seed, OF_FOLDS), int(cv)), int(cv)
    else:
        fold, n_folds = folds_of_splitter(cv, reader.units(batch._replace(order=None), codec))
        fold = fold[units.numbers]
    if n_folds < 2 or not reader.suffices(n - int(np.bincount(fold).max()), batch):
        raise ValueError(f"cv={shortened(cv)} leaves too little to learn of {n} that are held out in turn.")
    return fold, n_folds


def folds_of_splitter(cv: Any, units: Units) -> tuple[NDArray, int]:
    """Return the fold of each unit, also of those of no weight, by a splitter, and how many folds there are."""
    n = len(units.numbers)
    refuse_class("cv", cv)
    try:
        splits = list(check_cv(cv).split(np.zeros((n, 1)), units.strata))
    except ValueError as error:
        raise ValueError(f"cv={shortened(cv)} cannot split what is learned, which has no groups: {error}") from error
    fold = np.full(n, -1)
    for number, (_, tested) in enumerate(splits):
        if (fold[tested] >= 0).any():
            raise ValueError(f"cv={shortened(cv)} tests a row twice; accepted are splitters that test each row once.")
        fold[tested] = number
    if (fold < 0).any():
        raise ValueError(f"cv={shortened(cv)} never tests some rows; accepted are splitters that test each row once.")
    return fold, len(splits)


# --------------------------------------------------------------------------------------------------------------- learning


def learn_in_folds(
    view: Any, estimator: Any, batch: Batch, y: Any, metadata: dict[str, Any] | None, folds: Folds, ids: dict[str, Any]
) -> None:
    """Learn what there is to choose among, each in its course; the mean of the best one's best look is the model's."""
    model: Model = view._model
    contenders = contenders_of(view, batch, folds)
    if folds.n_learners > 1:
        model.learned_with = MEAN
    watched = Watched(view, estimator, folds.looks[-1] * len(contenders), X=batch.X, y=y, metadata=metadata)
    courses: list[Course] = []
    blank, history = model.learner, copy.deepcopy(model.learner.history)
    of_maps = len(contenders) > 1 and contenders[1].columns is not contenders[0].columns
    for way in contenders:
        beside = min(courses, key=lambda course: course.loss).looks if of_maps and courses else {}
        if courses:
            try:
                begin_anew(view, way, copy.deepcopy(history))
            except Exception:
                model.learner = blank  # so that the fit is undone
                raise
        courses.append(course_of(view, way.batch, y, ids, folds, watched, beside))
        if courses[-1].stopped:
            break
    best = best_of(courses)
    if best is not courses[-1]:
        for name, value in best.fields.items():
            setattr(model, name, value)
    watched.end()


def contenders_of(view: Any, batch: Batch, folds: Folds) -> list[Way]:
    """Return what folds choose among: codecs, of which all but the first go with the parts and are no more work than folds are.

    Where answers cost something else in each row, these are powers of it that rows weigh; and where features may be chosen, maps.
    """
    model: Model = view._model
    labels, *others = model.labels.choices()
    model.labels = labels
    usual = present_way(view, batch)
    if batch.costs is not None and model.decision_of(view._decision).calibration is not None:
        by_powers = [usual._replace(batch=batch.by_power(power)) for power in POWERS]
        return by_powers[:1] if shows_one_course(view) else by_powers
    if shows_one_course(view):
        return [usual]
    if model.columns.features is not None and len(maps := model.columns.features.choices()) > 1:
        return [usual, *(under(view, usual, other) for other in maps[1:])]
    if folds.n_learners == 1:
        return [usual]
    worthy = (other for other in others if is_worth_trying(view, batch, len(folds.units.numbers), other))
    return [usual, *(usual._replace(labels=other) for other in worthy)]


def under(view: Any, way: Way, features: Any) -> Way:
    """Return the same way to learn under another map of the table, or of its columns as they are."""
    columns = way.columns._replace(features=features)
    if features is not None:
        return way._replace(batch=way.batch._replace(rows=features.under(way.batch.rows)), columns=columns)
    batch, norm = way.batch._replace(rows=way.batch.rows.under(None)), chosen_norm(view, sparse=False)
    labels = way.labels if norm == way.norm else way.labels.standardised()
    return Way(batch, labels, columns, norm)


def is_worth_trying(view: Any, batch: Batch, n: int, labels: Codec) -> bool:
    """Return whether what labels make of the problem goes with the other parts, and is no more work than folds are."""
    problem, p = view._build_problem(labels), batch.rows.p
    if problem.d * p > MOST_WEIGHTS or not few_enough(UNSEEN, n, batch.rows, problem.d):
        return False
    try:
        new_learner(view, labels, problem, batch.rows, view._model.norm, None)
    except ValueError:
        return False
    return True


def begin_anew(view: Any, way: Way, history: Any) -> None:
    """Let the model have learned nothing, in another way."""
    model, fixed, learner = view._model, fixed_parameters(view, way.norm), fresh_learner(view, way)
    if history is not None:
        learner.record(history)
    # At once, for an interrupt leaves what was learned last, which must not be said to be of another way.
    model.labels, model.columns, model.norm, model.fixed, model.learner = way.labels, way.columns, way.norm, fixed, learner


def course_of(
    view: Any, batch: Batch, y: Any, ids: dict[str, Any], folds: Folds, watched: Watched, beside: dict[int, float]
) -> Course:
    """Let each learner learn without its fold until it is no better than it was; the mean of the best ones is the model's.

    It ends, too, where it is behind a course `beside` it, of which the losses at its looks are given.
    """
    model: Model = view._model
    blank, pupils = model.learner, [Pupil(view, batch, folds, number) for number in range(folds.n_learners)]
    patience = None if view.tol is None else checked_patience(view.tol)
    losses: list[float] = []
    found: dict[int, float] = {}
    model.record, model.settled = {"loss_curve_": losses, "n_iter_": 0, "held_out_loss_": found}, None
    best: Look | None = None
    stopped = False
    for epochs in stretches(folds.looks, each=watched.by_any or patience is not None):
        watched.begin_epoch()
        try:
            losses.extend(learned_side_by_side(pupils, epochs - len(losses)))
            over = not any(pupil.stepped for pupil in pupils) or (patience is not None and patience._is_over(losses))
            if over or watched.by_any or epochs in folds.looks:
                look = look_at(view, batch, y, ids, folds, pupils, epochs)
                take(view, batch, look)
        except Exception:
            model.learner = blank  # so that the fit is undone
            raise
        model.record["n_iter_"] = epochs
        stopped = watched.end_epoch()
        if not (over or stopped or epochs in folds.looks):
            continue
        found[epochs] = look.loss
        if best is not None and not look.loss < best.loss:
            take(view, batch, best)
            break
        best = look
        if over or stopped or look.loss > beside.get(epochs, np.inf):
            break
    model.record["n_iter_"] = max(found, default=0, key=lambda epochs: -found[epochs])
    del losses[model.record["n_iter_"] :]
    if best is not None and best.meaning is not None:
        model.settled = best.meaning()
    paid = None
    if batch.costs is not None:
        model.record["cost_power_"] = batch.costs.power
        paid = None if best is None or best.held is None else paid_by(view, batch, best.held)
    loss = min(found.values(), default=np.inf)
    return Course({name: getattr(model, name) for name in OF_A_COURSE}, loss, found, stopped, paid)


def paid_by(view: Any, batch: Batch, held: HeldOut) -> Paid:
    """Return what is paid for rows that were held out, by the costs of each."""
    model: Model = view._model
    calibration = model.decision_of(view._decision).calibration
    scores = calibration.of.scores(model.learner.problem, held.scores)
    paid = batch.costs.paid(calibration.of.probabilities(held.map, scores), held.rounds)
    order = np.argsort(held.rounds, kind="stable")  # learners that were left out may differ
    return Paid(paid[order], (np.ones(len(paid)) if held.weight is None else held.weight)[order])


def best_of(courses: list[Course]) -> Course:
    """Return the course of the least loss; by what is paid the first, unless another pays less by more than a standard error."""
    usual, *others = courses
    if usual.paid is None:
        return min(courses, key=lambda course: course.loss)
    better = [(0.0, usual)]
    for course in others:
        if course.paid is not None and len(course.paid.each) == len(usual.paid.each):
            gain, error = course.paid.gain_over(usual.paid)
            better += [(gain, course)] if gain > error else []
    return max(better, key=lambda found: found[0])[1]


def learned_side_by_side(pupils: list[Pupil], epochs: int) -> list[float]:
    """Let all learn some epochs, over the threads that joblib gives; return the mean progressive loss of each epoch."""
    n_jobs = 1 if pupils[0].learner.problem.in_python else min(effective_n_jobs(None), len(pupils))
    if n_jobs == 1:
        curves = [pupil.learn(epochs) for pupil in pupils]
    else:
        curves = Parallel(n_jobs, require="sharedmem")(delayed(pupil.learn)(epochs) for pupil in pupils)
    return np.mean(curves, axis=0).tolist()


def stretches(looks: tuple[int, ...], *, each: bool) -> Iterator[int]:
    """Yield after how many epochs something is seen to: after `each`, or for a look."""
    return iter(range(1, looks[-1] + 1) if each else looks)


def look_at(view: Any, batch: Batch, y: Any, ids: dict[str, Any], folds: Folds, pupils: list[Pupil], epochs: int) -> Look:
    """Return what was learned so far, and how good it is: by probabilities, or by the own loss of families without."""
    model: Model = view._model
    decision = model.decision_of(view._decision)
    if decision.calibration is None:
        parts = [part_of(view, y, ids, pupil) for pupil in pupils]
        loss, first = judged_by_loss(batch, pupils, parts), parts[0]
        meaning = first.alone._meaning_of_scores(first.X, first.y, **first.ids) if view._sets_aside else None
        return Look(epochs, loss, None, mean_of(view, batch, pupils), meaning)
    scored = of_one_scale([(pupil, pupil.scores()) for pupil in pupils])
    units, rows = (np.concatenate(parts) for parts in zip(*((pupil.units, pupil.rows) for pupil, _ in scored), strict=True))
    scores, values = np.concatenate([scores for _, scores in scored]), folds.units.labels_of(units)
    frequency = None if batch.frequency is None else batch.frequency[rows]
    held = HeldOut(scores, values, frequency, batch.labels, units, batch.weight)
    loss, held = decision.judged(model.learner.problem, held)
    return Look(epochs, loss, held, mean_of(view, batch, [pupil for pupil, _ in scored]))


def of_one_scale(scored: list[tuple[Pupil, NDArray]]) -> list[tuple[Pupil, NDArray]]:
    """Return the learners whose scores are not far larger than most: others had next to nothing in their first rows."""
    # Of one feature some 4 % of all orders begin with weights that are large for ever after.
    sizes = [root_mean_square(scores) for _, scores in scored]
    most = FAR * float(np.median(sizes))
    return [one for one, size in zip(scored, sizes, strict=True) if size <= most]


def part_of(view: Any, y: Any, ids: dict[str, Any], pupil: Pupil) -> Part:
    """Return what a learner has not learned, as it was given."""
    model, (y,) = pupil.model.but(learner=pupil.learner, columns=pupil.model.columns._replace(names=None)), indexable(y)
    of_rows = {name: None if values is None else _safe_indexing(values, pupil.rows) for name, values in ids.items()}
    return Part(showing(view, model), pupil.X, _safe_indexing(y, pupil.rows), of_rows)


def judged_by_loss(batch: Batch, pupils: list[Pupil], parts: list[Part]) -> float:
    """Return the mean loss of the rounds that were held out."""
    losses = [getattr(part.alone, "_judged", part.alone.sample_loss)(part.X, part.y, **part.ids) for part in parts]
    weight = None if batch.weight is None else np.concatenate([batch.weight[pupil.units] for pupil in pupils])
    return float(np.average(np.concatenate(losses), weights=weight))


def take(view: Any, batch: Batch, look: Look) -> None:
    """Let the model be what was learned after some epochs."""
    model: Model = view._model
    decision, (problem, update, average, _) = model.decision_of(view._decision), look.learner.parts()
    learner, history = look.learner.with_parts(problem, update, average, decision.observer(problem, None)), model.learner.history
    record_sparingly(learner, batch.rows.p)
    if history is not None:
        history.note(learner.t, learner.cumulative_loss)
        learner.record(history)
    settled = None if look.held is None else decision.after_fit(learner, look.held)
    model.settled, model.learner = settled, learner


def present_way(view: Any, batch: Batch) -> Way:
    """Return the way in which the model in progress learns."""
    model: Model = view._model
    return Way(batch, model.labels, model.columns, model.norm)


def fresh_learner(view: Any, way: Way) -> Learner:
    """Return a learner that has learned nothing, with a problem of its own: learners learn side by side."""
    problem = view._build_problem(way.labels)
    problem.prepare(way.batch.labels)
    return new_learner(view, way.labels, problem, way.batch.rows, way.norm, None)


def mean_of(view: Any, batch: Batch, pupils: list[Pupil]) -> Learner:
    """Return a learner that predicts and goes on as the mean of several; the one alone goes on apart from it."""
    if len(pupils) == 1:
        return copy.deepcopy(pupils[0].learner)
    mean = fresh_learner(view, present_way(view, batch))
    before = mean.export()
    learned = add(*(contribution(before, pupil.learner.export()) for pupil in pupils), in_place=True)
    mean.adopt(advance(before, learned), True)
    return mean
