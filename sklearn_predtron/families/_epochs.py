"""Epochs of `fit`: which rows, how often, in which order, and until when."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from sklearn_predtron._core.learner import Learner
from sklearn_predtron.families._patience import checked_patience
from sklearn_predtron.families._validation import Batch

OF_EARLY_STOPPING = ("best_iter_", "best_score_", "validation_scores_")  # which the callback gives to the fits that it stops


class Trained:
    """Learns a data set in epochs."""

    _learner: Learner
    _epochs: int
    _check_rows: Callable[..., None]
    _init_callback_context: Callable[..., Any]
    max_iter: int | None
    tol: Any
    shuffle: bool
    random_state: Any

    def _run_epochs(self, batch: Batch, y: Any, metadata: dict[str, Any] | None, *, unchecked: bool, folds: bool) -> None:
        """Learn epoch by epoch until nothing more is gained, under the eyes of the callbacks, the first under the observer's.

        `unchecked` says that the learner finds rows of no good, `folds` that others are going to show rows to the observer.
        """
        X, rows, _, weight, order = batch
        learner, patience = self._learner, checked_patience(self.tol)
        rounds = Epochs(rows.n, order, weight, self._generator())
        epochs = self._most_epochs(len(rounds.rows))
        self.loss_curve_, self.n_iter_ = [], 0
        for name in OF_EARLY_STOPPING:
            self.__dict__.pop(name, None)
        data = {"X": X, "y": y, "metadata": metadata}
        task = self._init_callback_context(max_subtasks=epochs)
        task.call_on_fit_task_begin(estimator=self, **data)
        for number in range(epochs):
            epoch = task.subcontext(task_name="epoch")
            epoch.call_on_fit_task_begin(estimator=self, **data)
            steps, new = learner.n_updates, number == 0
            drawn = rounds.draw(half_held_out=new and learner.observer is not None and not folds)
            loss = self._learn_epoch(learner, batch, drawn, fresh=new, unchecked=unchecked and new)
            self.n_iter_ += 1
            self.loss_curve_.append(loss)
            stopped = epoch.call_on_fit_task_end(estimator=self, reconstruction_attributes=self._snapshot, **data)
            if stopped or learner.n_updates == steps or (patience is not None and patience._is_over(self.loss_curve_)):
                break
        task.call_on_fit_task_end(estimator=self, reconstruction_attributes=self._snapshot, **data)

    def _run_unseen(self, learner: Learner, batch: Batch, random: np.random.Generator | None, epochs: int) -> None:
        """Let another learner, without an observer, learn a batch for some epochs, unseen by the callbacks."""
        rounds = Epochs(batch.rows.n, batch.order, batch.weight, random)
        for number in range(epochs):
            steps = learner.n_updates
            self._learn_epoch(learner, batch, rounds.draw(), fresh=number == 0)
            if learner.n_updates == steps:
                break
        learner.weights.close_fit()

    def _most_epochs(self, n: int) -> int:
        """Return the epochs after which `fit` of n rows of positive weight ends at the latest."""
        return self._usual_epochs(n) if self.max_iter is None else self.max_iter

    def _learn_epoch(self, learner: Learner, batch: Batch, drawn: dict[str, Any], **how: Any) -> float:
        """Learn from the rows that were drawn; return their mean progressive loss."""
        loss, t = learner.cumulative_loss, learner.t
        refused = learner.learn(batch.rows, batch.labels, **drawn, **how)
        if refused >= 0:
            self._check_rows(batch.X, batch.rows)
            raise ValueError(f"{learner.why_refused(refused, learner.t)}  The fit is undone.")
        return (learner.cumulative_loss - loss) / (learner.t - t)

    def _usual_epochs(self, n: int) -> int:
        """Return how many epochs n rows of positive weight are learned in, if `max_iter` does not say."""
        return self._epochs

    def _generator(self) -> np.random.Generator | None:
        """Return the source of the epochs' shuffles, if there are any."""
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31)) if self.shuffle else None

    def _snapshot(self) -> dict[str, Any]:
        """Return what a callback's own copy of the fitted estimator needs."""
        return {
            "_learner": copy.deepcopy(self._learner),
            "_stream": None,
            "loss_curve_": list(self.loss_curve_),
        }


class Epochs:
    """Rounds for `Learner.learn`, epoch by epoch.

    Rows in the given order keep their weights.  In shuffled epochs weights are frequencies: each epoch is a systematic sample,
    with as many rounds as there are rows of positive weight, in which a row appears in proportion to its weight, rounded up
    or down at random.

    Parameters
    ----------
    n : int
        Number of rows.
    there : ndarray of shape (n_present,) or None
        The rows of positive weight; None is all.
    weight : ndarray of shape (n,) or None
        Weights of the rows; None is 1.
    random : Generator or None
        What shuffles the rows; None takes them in the given order.
    """

    def __init__(self, n: int, there: NDArray | None, weight: NDArray | None, random: np.random.Generator | None):
        self.there, self.weight, self.random = there, weight, random
        self.rows = np.arange(n) if there is None else there
        self.usual = 1.0  # what a round weighs where rows appear in proportion to their weights
        self.ends: NDArray | None = None
        if random is not None and weight is not None:
            self._resample(weight[self.rows], random)

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

    def draw(self, *, half_held_out: bool = False) -> dict[str, Any]:
        """Return the arguments of the learner for the next epoch, whose rows, if they are new, are known ahead of its rounds.

        Where rows repeat, which then are no longer new, an observer sees none of them; or, if half of them are `half_held_out`,
        that half, which comes after all of the other: each row once, before it is learned, for as often as it is there.
        """
        if self.random is None:
            return {"order": self.there, "weight": self.weight, "ahead": self.rows}
        order = self.random.permutation(self._sample(self.random)).astype(np.intp, copy=False)
        if self.ends is None:
            return {"order": order, "usual": self.usual, "ahead": order}
        if not half_held_out:
            return {"order": order, "usual": self.usual, "ahead": order, "observed": False}
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
