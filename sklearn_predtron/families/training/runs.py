"""Training runs: fold models that are trained side by side and evaluated on the rows that were held out of them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, indexable

from sklearn_predtron._core.averages import LinearAverage
from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.mixable_state import add, advance, contribution
from sklearn_predtron.decisions._base import HeldOut
from sklearn_predtron.decisions._calibration import root_mean_square
from sklearn_predtron.families.input.reading import Batch, RowReader
from sklearn_predtron.families.model.model import Model
from sklearn_predtron.families.training.factory import LearnerFactory
from sklearn_predtron.families.training.patience import checked_patience
from sklearn_predtron.families.training.plan import Candidate, TrainingPlan, generator_of
from sklearn_predtron.features._knots import evenly
from sklearn_predtron.predictor._scoring import count_threads

LEAST_GAIN = 0.02  # of the held-out losses, relative to the best so far, that is worth further epochs
DIVERGED = 30.0  # times the median size of the scores: a fold model that has them is left out
MODELS_SEED = 6  # of what shuffles the rows of each fold model, beside the seed of the fit
MOST_EVALUATED = 4_000  # held-out rows by which checkpoints are compared
ROUND, PRODUCT = 1e-7, 3e-10  # seconds of a round, and of a product of a value and a weight, about
LATE_EPOCHS, LATE_ROUNDS = 10, 15_000  # a class, before which cosines are often behind, and win in the end
BEHIND = 0.01  # of the losses of another map, which ends a run if it is more than a standard error
LONG = 0.05  # seconds of training for which threads are worth their start


class RowLosses(NamedTuple):
    """The loss of each held-out row, or its realised cost, how frequent the rows are, and their numbers."""

    losses: NDArray
    weight: NDArray
    rows: NDArray

    @property
    def mean(self) -> float:
        """The mean loss."""
        return float(np.average(self.losses, weights=self.weight))

    def gain_over(self, other: RowLosses) -> tuple[float, float]:
        """Return the reduction of the mean loss relative to another, and its standard error, by the rows of both."""
        if not np.array_equal(self.rows, other.rows):
            _, mine, theirs = np.intersect1d(self.rows, other.rows, return_indices=True)
            return RowLosses(*(part[mine] for part in self)).gain_over(RowLosses(*(part[theirs] for part in other)))
        less, share = other.losses - self.losses, self.weight / self.weight.sum()
        gain = float(share @ less)
        return gain, float(np.sqrt((share**2) @ (less - gain) ** 2))

    def ratio_to(self, other: RowLosses) -> float:
        """Return the ratio of the mean losses; 1 if they differ by less than a standard error."""
        if len(self.losses) == len(other.losses):
            gain, error = self.gain_over(other)
            if abs(gain) <= error:
                return 1.0
        mean, least = self.mean, other.mean
        one = max(mean, least) and 1 / len(self.losses)  # one row more is wrong in both, so that none is zero
        return (mean + one) / (least + one) if one else 1.0


class Score(NamedTuple):
    """The losses of held-out rows, lower being better.

    Parameters
    ----------
    loss : float
        The mean log loss of the probabilities, or the estimator's own loss where there are none.
    of_rows : RowLosses
        The loss of each row.
    own : RowLosses, default=None
        The loss that the user gave, beside the log loss.
    """

    loss: float
    of_rows: RowLosses
    own: RowLosses | None = None

    def ratio_to(self, other: Score) -> float:
        """Return the mean ratio of these losses to others."""
        ratios = [self.loss / other.loss if other.loss > 0 else 1.0 + (self.loss > 0)]
        if self.own is not None and other.own is not None:
            ratios.append(self.own.ratio_to(other.own))
        return float(np.mean(ratios))


class Checkpoint(NamedTuple):
    """The fold models of a run after some epochs, with the losses and scores of their held-out rows."""

    epochs: int
    score: Score
    held_out: HeldOut | None
    models: list[FoldModel]  # that did not diverge
    rows: NDArray  # that are held out of them
    calibrate: Callable[[], dict[str, Any]] | None = None  # calibrates the scores of sequences
    learner: Learner | None = None  # the mean of the models, if the checkpoint improves


class Result(NamedTuple):
    """The best checkpoint of a candidate, and the losses on the way to it."""

    candidate: Candidate
    checkpoint: Checkpoint
    scores: dict[int, Score]  # by epochs
    loss_curve: list[float]
    history: Any  # of the rounds, for callbacks
    stopped: bool = False  # by a callback
    cost: RowLosses | None = None  # if rows have individual costs

    def record_of_choice(self) -> dict[str, Any]:
        """Return the attributes of the fitted estimator that say what was compared and chosen."""
        record: dict[str, Any] = {"held_out_loss_": {epochs: score.loss for epochs, score in self.scores.items()}}
        if self.candidate.batch.costs is not None:
            record["cost_power_"] = self.candidate.batch.costs.power
        return record


class FoldModel:
    """A learner, the rounds of its epochs, and the rows that are held out of it.

    Parameters
    ----------
    trainer : Trainer
        The fit.
    candidate : Candidate
        The configuration.
    plan : TrainingPlan
        The held-out rows.
    number : int
        The number of the fold.
    factory : LearnerFactory
        The parts of the learner.
    """

    def __init__(self, trainer: Any, candidate: Candidate, plan: TrainingPlan, number: int, factory: LearnerFactory):
        validation = plan.validation
        assert validation is not None
        self.candidate = candidate.by_labels_of(validation.rows_trained(number))
        if self.candidate is not candidate:
            factory = factory.of_rows(self.candidate.batch.rows)
        batch = self.candidate.batch
        self.model, self.learner = trainer.model, factory.another(batch.labels)
        trained = batch._replace(order=validation.trained(number), labels=batch.labels.shared())
        random = generator_of(plan.seed, MODELS_SEED, number)
        self.rounds = epochs_of(trainer.reader, trained, random, self.learner)
        out = validation.fold == number
        self.units, self.rows = validation.units.numbers[out], validation.units.rows_of(out)
        self.batch = batch
        self.updated = True  # in the last epoch

    def train(self, epochs: int) -> list[float]:
        """Train for some epochs; return the mean progressive loss of each."""
        losses = []
        for _ in range(epochs):
            before, new = self.learner.n_updates, self.learner.t == 0
            losses.append(learn_epoch(self.model, self.learner, *self.rounds.draw(), fresh=new))
            self.updated = self.learner.n_updates > before
        return losses

    def held_out_scores(self) -> NDArray:
        """Return the scores of the held-out rows."""
        X = self.held_out()
        rows = self.batch.rows.another(X)
        return self.model.fill_scores(self.learner, X, rows, np.empty((rows.n, self.learner.problem.d)))

    def held_out(self) -> Any:
        """Return the held-out rows: a copy, which is not kept, as those of all fold models are the whole data."""
        return self.batch.X[self.rows]


class TrainingRun:
    """The training of a candidate: its fold models, trained from checkpoint to checkpoint while held-out losses fall.

    Parameters
    ----------
    trainer : Trainer
        The fit.
    candidate : Candidate
        The configuration.
    plan : TrainingPlan
        The held-out rows, and the epochs after which they are evaluated.
    factory : LearnerFactory
        The parts of the learners.
    shows : bool, default=True
        Whether the best checkpoint is what an interrupt leaves.
    """

    def __init__(self, trainer: Any, candidate: Candidate, plan: TrainingPlan, factory: LearnerFactory, *, shows: bool = True):
        assert plan.validation is not None
        self.shows = shows
        self.trainer, self.candidate, self.plan, self.factory = trainer, candidate, plan, factory
        self.history = trainer.model.learner.history
        self.models = [FoldModel(trainer, candidate, plan, number, factory) for number in range(plan.validation.n_models)]
        self.patience = None if trainer.estimator.tol is None else checked_patience(trainer.estimator.tol)
        self.losses: list[float] = []
        self.scores: dict[int, Score] = {}
        self.best: Checkpoint | None = None
        self.over = self.stopped = False

    def run(self, rivals: Sequence[Result] = (), until: int | None = None) -> Result:
        """Train until the held-out losses hardly fall, or are clearly behind those of a rival after as many epochs.

        A run that ends before, after the epochs `until`, continues when it is called again.
        """
        trainer, marks = self.trainer, self.plan.evaluate_after
        every = trainer.monitor.active or self.patience is not None
        trainer.use_candidate(self.candidate, self.factory)
        self.candidate.batch.rows.keep()
        for epochs in range(1, marks[-1] + 1) if every else marks:
            if self.over or epochs > (until or marks[-1]):
                break
            if epochs > len(self.losses):
                self.advance(epochs, rivals)
        assert self.best is not None
        best, cost = self.with_costs(self.best)
        one = self.models[0].candidate if len(self.models) == 1 else self.candidate
        return Result(one, best, self.scores, self.losses[: best.epochs], self.history, self.stopped, cost)

    def advance(self, epochs: int, rivals: Sequence[Result]) -> None:
        """Train up to a number of epochs, and evaluate the models if it is a checkpoint."""
        trainer, losses, scores = self.trainer, self.losses, self.scores
        trainer.monitor.begin_epoch()
        losses.extend(self.train(epochs - len(losses)))
        over = not any(model.updated for model in self.models)
        over = over or (self.patience is not None and self.patience._is_over(losses))
        marked = over or epochs in self.plan.evaluate_after
        if marked or trainer.monitor.active:
            checkpoint = self.evaluate(epochs)
            ratio = 0.0 if self.best is None else checkpoint.score.ratio_to(self.best.score)
        if (trainer.monitor.active or (marked and ratio < 1)) and (self.shows or self.averages):
            checkpoint = checkpoint._replace(learner=self.mean(checkpoint.models))
            reached = {**scores, epochs: checkpoint.score}
            if self.shows:
                trainer.record_checkpoint(Result(self.models[0].candidate, checkpoint, reached, losses.copy(), self.history))
        self.stopped = trainer.monitor.end_epoch()
        if not (marked or self.stopped):
            return
        scores[epochs] = checkpoint.score
        self.best = checkpoint if ratio < 1 else self.best
        behind = not self.is_early(epochs) and any(is_behind(checkpoint.score, other.scores.get(epochs)) for other in rivals)
        self.over = over or self.stopped or behind or ratio > 1 - LEAST_GAIN

    def is_early(self, epochs: int) -> bool:
        """Return whether the features may still be far from their best after some epochs."""
        learner = self.models[0].learner
        return self.candidate.late and epochs < LATE_EPOCHS and learner.t < LATE_ROUNDS * max(2, learner.problem.d)

    @property
    def averages(self) -> bool:
        """Whether the mean of the fold models may be the final one: not if their features differ."""
        return self.plan.finish == "average" and (len(self.models) == 1 or self.models[0].candidate is self.candidate)

    def train(self, epochs: int) -> list[float]:
        """Train all fold models for some epochs, on several threads if that takes long; return the mean loss of each epoch."""
        models, problem, X = self.models, self.models[0].learner.problem, self.candidate.batch.X
        seconds = epochs * len(models) * (ROUND * X.shape[0] + PRODUCT * problem.d * X.size)
        n_jobs = 1 if problem.in_python else min(count_threads(is_long=seconds >= LONG), len(models))
        if n_jobs == 1:
            curves = [model.train(epochs) for model in models]
        else:
            curves = Parallel(n_jobs, require="sharedmem")(delayed(model.train)(epochs) for model in models)
        return np.mean(curves, axis=0).tolist()

    def evaluate(self, epochs: int) -> Checkpoint:
        """Return the losses of the held-out rows: by probabilities, or by the own loss of families without."""
        trainer = self.trainer
        decision = trainer.decision
        if decision.calibration is None:
            return self.evaluate_blocks(epochs)
        scored = drop_diverged([(model, model.held_out_scores()) for model in self.models])
        units, rows = (np.concatenate(parts) for parts in zip(*((model.units, model.rows) for model, _ in scored), strict=True))
        batch, validation = self.candidate.batch, self.plan.validation
        assert validation is not None
        frequency = None if batch.frequency is None else batch.frequency[rows]
        scores, values = np.concatenate([scores for _, scores in scored]), validation.units.labels_of(units)
        held_out = HeldOut(scores, values, frequency, units, costs=batch.costs)
        problem, some = trainer.model.problem, held_out.some(MOST_EVALUATED)
        log_losses, judged = decision.validation_losses(problem, some)
        own = self.costs_of(judged) if batch.costs is not None else decision.task_losses(problem, judged)
        weight = np.ones(len(log_losses)) if judged.weight is None else judged.weight
        seen = rows[evenly(len(rows), MOST_EVALUATED)]
        score = Score(
            float(np.average(log_losses, weights=judged.weight)),
            RowLosses(log_losses, weight, seen),
            None if own is None else RowLosses(own, weight if len(own) == len(weight) else np.ones(len(own)), seen),
        )
        return Checkpoint(epochs, score, held_out, [model for model, _ in scored], rows)

    def evaluate_blocks(self, epochs: int) -> Checkpoint:
        """Return the own loss of the held-out queries, sequences or label rankings."""
        trainer, losses, calibrate = self.trainer, [], None
        for model in self.models:
            (alone, y, ids), X = trainer.estimator_of_fold(model), model.held_out()
            losses.append((alone._validation_loss or alone.sample_loss)(X, y, **ids))
            if calibrate is None and alone._calibration_by is not None:
                calibrate = alone._calibration_by(X, y, **ids)
        units, weight = np.concatenate([model.units for model in self.models]), self.candidate.batch.weight
        weight = None if weight is None else weight[units]
        found = np.concatenate(losses)
        of_units = RowLosses(found, np.ones(len(found)) if weight is None else weight, units)
        score = Score(float(np.average(found, weights=weight)), of_units)
        return Checkpoint(epochs, score, None, self.models, units, calibrate)

    def mean(self, models: list[FoldModel]) -> Learner:
        """Return a learner that predicts, and continues, as the mean of fold models."""
        if len(models) == 1 or not self.averages:
            return copy.deepcopy(models[0].learner)
        mean = self.factory.another(self.candidate.batch.labels)
        before = mean.export()
        contributions = (contribution(before, model.learner.export()) for model in models)
        state = advance(before, add(*contributions, in_place=True))
        if isinstance(mean.average, LinearAverage):
            count_as_one_run(state, len(models))
        mean.adopt(state, True)
        return mean

    def with_costs(self, checkpoint: Checkpoint) -> tuple[Checkpoint, RowLosses | None]:
        """Return a checkpoint with its calibration map, and the cost of each held-out row by its own costs, if rows have them."""
        costs, held_out = self.candidate.batch.costs, checkpoint.held_out
        if costs is None or held_out is None:
            return checkpoint, None
        calibration, problem = self.trainer.decision.calibration, self.trainer.model.problem
        held_out = held_out._replace(map=calibration.fit(problem, held_out))
        order = np.argsort(held_out.rounds, kind="stable")  # fold models that are left out may differ
        weight = np.ones(len(order)) if held_out.weight is None else held_out.weight
        return checkpoint._replace(held_out=held_out), RowLosses(
            self.costs_of(held_out)[order], weight[order], checkpoint.rows[order]
        )

    def costs_of(self, held_out: HeldOut) -> NDArray:
        """Return the realised cost of each held-out row by its own costs, under the calibration map that the rows have."""
        calibration, problem = self.trainer.decision.calibration, self.trainer.model.problem
        probabilities = calibration.of.probabilities(held_out.map, calibration.of.scores(problem, held_out.scores))
        return self.candidate.batch.costs.realised(probabilities, held_out.rounds)


def count_as_one_run(state: Any, runs: int) -> None:
    """Scale the sums of the runs' linear averages to those of one run of as many rounds, where the numbers of rounds are higher.

    Else the rounds to come would count as many times too much.
    """
    for name, total in state["sum"].items():
        if name.startswith("weights."):
            state["sum"][name] = total * runs


def is_behind(score: Score, other: Score | None) -> bool:
    """Return whether losses are higher than others by a standard error, and by 1 % (if there are others)."""
    if other is None:
        return False
    gain, error = other.of_rows.gain_over(score.of_rows)
    return gain > max(error, BEHIND * other.loss)


def lowest(results: Sequence[Result]) -> Result:
    """Return the result with the lowest held-out losses, the first of several."""
    best = results[0]
    for result in results[1:]:
        best = result if result.checkpoint.score.ratio_to(best.checkpoint.score) < 1 else best
    return best


def select(results: list[Result]) -> Result:
    """Return the result with the lowest held-out losses.

    If rows have individual costs it is the first result, unless another costs less by more than one standard error.
    """
    default = results[0]
    best, saved = default, 0.0
    for result in results[1:]:
        if default.cost is None or result.cost is None:
            best = lowest([best, result])
        elif len(result.cost.losses) == len(default.cost.losses):
            saving, error = result.cost.gain_over(default.cost)
            if saving > max(error, saved):
                best, saved = result, saving
    return best


def drop_diverged(scored: list[tuple[FoldModel, NDArray]]) -> list[tuple[FoldModel, NDArray]]:
    """Return the fold models whose scores are not far larger than most, with the scores."""
    # With a single feature, about 4 % of row orders start with a near-zero row and leave huge weights.
    sizes = [root_mean_square(scores) for _, scores in scored]
    most = DIVERGED * float(np.median(sizes))
    return [one for one, size in zip(scored, sizes, strict=True) if size <= most]


def labels_and_ids_of(y: Any, ids: dict[str, Any], rows: NDArray) -> tuple[Any, dict[str, Any]]:
    """Return the labels and the ids of some rows, as they were given."""
    (y,) = indexable(y)
    return _safe_indexing(y, rows), {name: None if value is None else _safe_indexing(value, rows) for name, value in ids.items()}


def learn_epoch(model: Model, learner: Learner, batch: Batch, drawn: dict[str, Any], **how: Any) -> float:
    """Train a learner on the drawn rounds; return their mean progressive loss."""
    loss, t = learner.cumulative_loss, learner.t
    refused = learner.learn(batch.rows, batch.labels, **drawn, **how)
    if refused >= 0:
        model.check_rows(batch.X, batch.rows)
        raise ValueError(f"{learner.why_refused(refused, learner.t)}  The fit is undone.")
    return (learner.cumulative_loss - loss) / (learner.t - t)


def epochs_of(reader: RowReader, batch: Batch, random: np.random.Generator | None, learner: Learner) -> Any:
    """Return the epochs of a fit; a reader makes rounds of rows."""
    return reader.epochs(Epochs(batch, random), whole=learner.weights.expansion is not None)


class Epochs:
    """Rounds for `Learner.learn`, epoch by epoch.

    Rows in the given order keep their weights.  In shuffled epochs weights are frequencies: each epoch is a systematic sample,
    with as many rounds as there are rows of positive weight, in which a row appears in proportion to its weight, rounded up
    or down at random.

    Parameters
    ----------
    batch : Batch
        The rows and labels to train on.
    random : Generator or None
        Shuffles the rows; None keeps the given order.
    """

    def __init__(self, batch: Batch, random: np.random.Generator | None):
        self.batch, self.there, self.weight, self.random = batch, batch.order, batch.weight, random
        if batch.costs is not None and batch.weight is not None and not batch.weight.all():
            present = np.arange(batch.rows.n) if batch.order is None else batch.order
            self.there = present[batch.weight[present] > 0]  # rows that cost something; the others are held out only
        self.rows = np.arange(batch.rows.n) if self.there is None else self.there
        self.usual = 1.0  # the weight of a round if rows appear in proportion to their weights
        self.ends: NDArray | None = None
        if random is not None and batch.weight is not None:
            self._resample(batch.weight[self.rows], random)

    def _resample(self, weight: NDArray, random: np.random.Generator) -> None:
        """Lay the rows on a line; they are in random order, and the length of each is its expected number of appearances."""
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

    def draw(self, *, observed: bool = False) -> tuple[Batch, dict[str, Any]]:
        """Return the next epoch's batch and arguments.

        The arguments are the other ones of the learner.  The epoch's rows, if new, are known ahead of its rounds.

        By default an observer sees no row if rows repeat, because repeated rows are no longer new.  If they are `observed`, it
        sees each row once, before its first update, counted as often as the row occurs.  These occurrences follow each other: in
        a shuffled epoch the first ones of large weights would be early, when little is learned.
        """
        return self.batch, self._drawn(observed)

    def _drawn(self, observed: bool) -> dict[str, Any]:
        important = observed and self.batch.has_importance
        if self.random is None:
            counts = {"counts": self.batch.frequencies(self.rows)} if important else {}
            return {"order": self.there, "weight": self.weight, "counted_first": self.rows, **counts}
        order = self._sample(self.random)
        if self.ends is None or not observed:
            order = self.random.permutation(order)
        order = order.astype(np.intp, copy=False)
        if self.ends is None:
            counts = {"counts": self.batch.frequencies(order)} if important else {}
            return {"order": order, "usual": self.usual, "counted_first": order, **counts}
        if not observed:
            return {"order": order, "usual": self.usual, "counted_first": order, "observed": False}
        appeared = first_appearances(order)
        if important:
            weight: Any = self.batch.weight
            appeared *= self.batch.frequencies(order) / weight[order]  # rows appear in proportion to their weights
        return {"order": order, "usual": self.usual, "counted_first": order, "counts": appeared}

    def _sample(self, random: np.random.Generator) -> NDArray:
        """Return the rows of an epoch."""
        if self.ends is None:
            return self.rows
        marks = np.ceil(self.ends - random.random())  # how many of the points 0, 1, ... + offset lie before each end
        return np.repeat(self.rows, np.diff(marks, prepend=0).astype(np.intp))


def first_appearances(order: NDArray) -> NDArray:
    """Return the number of appearances of rows.

    The number stands at a row's first round, and is 0 at later ones, where the row is no longer new.
    """
    times, first = np.bincount(order), np.zeros(order.max(initial=-1) + 1, dtype=np.intp)
    first[order[::-1]] = np.arange(len(order))[::-1]
    counts = np.zeros(len(order))
    counts[first[times > 0]] = times[times > 0]
    return counts
