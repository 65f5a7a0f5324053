"""Rows that are held out of one learner, or learned by others than score them, at the end of a fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.rows import QueryRows, Rows
from sklearn_predtron.decisions._base import PROGRESSIVE, UNSEEN, Decision, HeldOut
from sklearn_predtron.decisions._recent_scores import RecentScores
from sklearn_predtron.families._composition import new_learner, record_sparingly
from sklearn_predtron.families._epochs import epochs_of, folds_of, generator_of, learn_epoch
from sklearn_predtron.families._model import Model
from sklearn_predtron.families._reading import Batch, RowReader, Units

N_SEED = 5  # of folds
N_FOLDS = {UNSEEN: 3, PROGRESSIVE: 5}
# A fit of more rows, or of more values times scores, has no folds; with a kernel, whose rounds cost as much as there are rows,
# of fewer.
MOST_ROWS, MOST_WORK = {UNSEEN: 10_000, PROGRESSIVE: 20_000}, 10**7
# Of rows that are made anew in each epoch: folds lower errors by some per cent, in eight times the time.
# Of blocks of rows the blocks count, which are few for so many values.
MOST_ROWS_OF_MAPS, MOST_WORK_OF_MAPS = 1_000, 250_000
MOST_KERNEL_ROWS = 2_000
LARGEST_PART, SHARE, MOST_SCORES = 5_000, 5, 4 * 10**6  # rows that are held out of it: one in five, and not too many


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
            scores = model.fill_scores(model.learner, X, batch.rows.another(X), 0, np.empty((len(rows), problem.d)))
        decision = model.decision_of(view._decision)
        learner = model.learner.with_parts(problem, update, average, decision.observer(problem, None))
        frequency = None if batch.frequency is None else batch.frequency[rows]
        found = HeldOut(scores, values, frequency, batch.labels, self.units.numbers[chosen], batch.weight)
        record_sparingly(learner, batch.rows.p)
        model.settled, model.learner = decision.after_fit(learner, found), learner

    def scores_of_folds(self, view: Any, model: Model, batch: Batch, rows: NDArray) -> NDArray:
        """Return the scores of rows, each by the learner that has not seen it."""
        problem, everything = model.learner.problem, batch.rows.another(batch.X)
        epochs = model.learner.t // self.units.in_epoch  # a callback may have gone back to an earlier one
        scores, found = np.empty((everything.n, problem.d)), np.empty((len(rows), problem.d))
        fold = np.repeat(self.fold, self.units.sizes)
        for number in range(self.fold.max() + 1):
            learner = new_learner(view, model.labels, problem, batch.rows, model.norm, None)
            learned = batch._replace(order=self.units.numbers[self.fold != number])
            run_unseen(view, model, learner, learned, self.random, epochs)
            out = fold == number
            found[out] = model.fill_scores(learner, batch.X, everything, 0, scores)[rows[out]]
        return found


def held_out_by(view: Any, reader: RowReader, decision: Decision, batch: Batch, seed: int | None) -> Held | None:
    """Return what a fit holds out for a decision; None where it holds out nothing, and its first epoch has to do."""
    if decision.asks_for is None or getattr(view, "cv", None) is not None:
        return None
    model: Model = view._model
    learner = model.learner
    n = batch.rows.n if batch.order is None else len(batch.order)
    folds = few_enough(decision.asks_for, n, batch.rows, learner.problem.d, kernel=learner.weights.expansion is not None)
    if not folds and (decision.asks_for == PROGRESSIVE or n < SHARE or (view.max_iter == 1 and batch.weight is None)):
        return None
    part = min(LARGEST_PART, n // SHARE, max(1, MOST_SCORES // learner.problem.d))
    n_folds = N_FOLDS[decision.asks_for] if folds else -(-n // part)
    if not reader.suffices(n - -(-n // n_folds), batch):
        return None
    units, random = reader.units(batch, model.labels), generator_of(seed, N_SEED)
    fold = folds_of(units.strata, random, n_folds)
    return Held(units, fold if folds else np.minimum(fold, 1), folds, random)


def few_enough(asked_for: str, n: int, rows: Rows, d: int, *, kernel: bool = False) -> bool:
    """Return whether n units of rows, of d scores a round, are few enough for folds."""
    most_rows, most = MOST_KERNEL_ROWS if kernel else MOST_ROWS[asked_for], MOST_WORK
    if rows.made:
        most_rows = min(MOST_ROWS_OF_MAPS, most_rows)
        most = MOST_WORK if isinstance(rows, QueryRows) else MOST_WORK_OF_MAPS
    return 1 < n <= most_rows and rows.n_stored() * d <= most


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


def note_first_epoch(view: Any, model: Model) -> None:
    """Note that all scores which are known are of a first epoch, which others followed, and that nothing was to be held out."""
    observer: Any = model.learner.observer
    if getattr(view, "cv", None) is not None and isinstance(observer, RecentScores) and model.record["n_iter_"] > 1:
        model.settled = {"first_epoch": observer.recorded}


def settle_on_rows(view: Any, batch: Batch) -> None:
    """Let a decision settle what it settles on the scores of the rows that were learned."""
    model: Model = view._model
    decision = model.decision_of(view._decision)
    if decision.on_rows:
        X, rows = model.read_rows(batch.X)
        scores = model.fill_scores(model.learner, X, rows, 0, np.empty((rows.n, model.learner.problem.d)))
        model.settled = {**(model.settled or {}), **decision.after_rows(scores, batch)}
