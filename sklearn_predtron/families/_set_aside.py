"""Ways to learn, and epochs, chosen by a part that is set aside; what is chosen then learns all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sklearn_predtron.decisions._base import Decision
from sklearn_predtron.families._epochs import folds_of, generator_of
from sklearn_predtron.families._folds import OF_FOLDS, Folds, Pupil, judged_by_loss, part_of, why_one_learner
from sklearn_predtron.families._held import LARGEST_PART, SHARE
from sklearn_predtron.families._model import Model
from sklearn_predtron.families._reading import Batch, RowReader
from sklearn_predtron.families.labels.tokens import Tokens

LEAST_UNITS = 20
TO_COMPARE, TO_GO_ON = 10, 25  # epochs after which all ways are looked at, and the best one


class Trial:
    """A way to learn, tried without the part that is set aside.

    Parameters
    ----------
    view : estimator
        What says how it learns.
    labels : Tokens
        The way.
    batch : Batch
        What there is to learn.
    folds : Folds
        What is set aside.
    y, ids : array-like and dict
        Labels, and the ids of their rows by the name of the parameter, as they were given.
    """

    def __init__(self, view: Any, labels: Tokens, batch: Batch, folds: Folds, y: Any, ids: dict[str, Any]):
        view._model.labels = labels
        self.view, self.labels, self.batch, self.y, self.ids = view, labels, batch, y, ids
        self.pupil = Pupil(view, batch, folds, 0)
        self.losses: dict[int, float] = {}
        self.epochs = 0  # of the best look
        self.meaning: Callable[[], dict[str, Any]] = dict  # what scores mean, by what that look has made of the part

    @property
    def loss(self) -> float:
        """The loss of the best look."""
        return self.losses[self.epochs]

    def learn(self, epochs: int, *, whatever: bool = False) -> Trial:
        """Learn until so many epochs are over, and look; the look is the best one if it is better, or in any case."""
        self.view._model.labels = self.labels
        self.pupil.learn(epochs - max(self.losses, default=0))
        part = part_of(self.view, self.y, self.ids, self.pupil)
        self.losses[epochs] = judged_by_loss(self.batch, [self.pupil], [part])
        if whatever or self.epochs == 0 or self.losses[epochs] < self.loss:
            self.epochs, self.meaning = epochs, part.alone._meaning_of_scores(part.X, part.y, **part.ids)
        return self

    def show(self, model: Model) -> None:
        """Let a model that has learned all in this way say by what it was chosen, and what its scores mean."""
        model.record["held_out_loss_"] = self.losses
        model.settled = {**(model.settled or {}), **self.meaning()}


def chosen_by_part(
    view: Any, reader: RowReader, decision: Decision, batch: Batch, y: Any, ids: dict[str, Any], seed: int | None
) -> Trial | None:
    """Return the best way to learn by a part that is set aside, for ``cv=None``; None where there is too little for that."""
    units = reader.units(batch, view._model.labels)
    n = len(units.numbers)
    part = min(LARGEST_PART, n // SHARE)
    alone = view.cv is not None or why_one_learner(view, view._model, decision) is not None
    if alone or n < LEAST_UNITS or not reader.suffices(n - part, batch):
        return None
    fold = folds_of(units.strata, generator_of(seed, OF_FOLDS), -(-n // part))
    return best_trial(view, batch, Folds(units, np.minimum(fold, 1), 1, (), seed), y, ids)


def best_trial(view: Any, batch: Batch, folds: Folds, y: Any, ids: dict[str, Any]) -> Trial:
    """Return the best trial, which says in what way all is to be learned, and in how many epochs."""
    given = view.max_iter
    most = TO_GO_ON if given is None else given
    few = min(TO_COMPARE, most)

    def better(best: Trial, ways: list[Tokens], epochs: int) -> Trial:
        """Return the best of a trial and of some others."""
        for labels in ways:
            trial = Trial(view, labels, batch, folds, y, ids).learn(epochs)
            best = trial if trial.loss < best.loss else best
        return best

    best = Trial(view, view._model.labels, batch, folds, y, ids).learn(few)
    best = better(best, best.labels.lengths()[1:], few)
    if few < most:
        best.learn(most, whatever=given is not None)
    return better(best, best.labels.losses()[1:], best.epochs)  # some losses need more epochs than others
