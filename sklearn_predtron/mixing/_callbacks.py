"""Rounds of a fit as tasks of its callbacks."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from sklearn_predtron.families.training.trainer import snapshot

Reconstruct = Callable[[], dict[str, Any]]


class Unwatched:
    """The rounds of a call that no callback is told of."""

    def open_fit(self, rounds: int) -> None:
        """Begin a fit of so many rounds."""

    def open_round(self) -> None:
        """Begin a round."""

    def close_round(self, fitted: Reconstruct) -> bool:
        """End a round, after which the estimator has the attributes that a function returns; return whether the fit is over."""
        return False

    def close_fit(self, fitted: Reconstruct) -> None:
        """End the fit."""


class Watched(Unwatched):
    """The rounds of a fit, each a task.

    Parameters
    ----------
    mixed : ParameterMixing
        What is fitted.
    X, y : object
        What it is fitted to.
    metadata : dict
        What else is given.
    """

    def __init__(self, mixed: Any, X: Any, y: Any, metadata: dict[str, Any]):
        self.mixed, self.given = mixed, {"estimator": mixed, "X": X, "y": y, "metadata": metadata or None}

    def open_fit(self, rounds: int) -> None:
        """Begin a fit of so many rounds."""
        self.fit = self.mixed._init_callback_context(max_subtasks=rounds)
        self.fit.call_on_fit_task_begin(**self.given)

    def open_round(self) -> None:
        """Begin a round."""
        self.round = self.fit.subcontext(task_name="round")
        self.round.call_on_fit_task_begin(**self.given)

    def close_round(self, fitted: Reconstruct) -> bool:
        """End a round, after which the estimator has the attributes that a function returns; return whether the fit is over."""
        return bool(self.round.call_on_fit_task_end(reconstruction_attributes=fitted, **self.given))

    def close_fit(self, fitted: Reconstruct) -> None:
        """End the fit."""
        self.fit.call_on_fit_task_end(reconstruction_attributes=fitted, **self.given)


class EpochsAsRounds:
    """A callback of the one learner of one shard: some epochs of it are a round.

    Parameters
    ----------
    tasks : Unwatched
        What is told of the rounds.
    rounds, passes : int
        How many rounds there are, and of how many epochs each.
    fitted : callable
        Returns, of the learner as it is, the attributes that its mixture has.
    """

    one_candidate = True  # whose epochs it can count
    runs_without_callbacks = True  # of scikit-learn, which has them from 1.9 on

    def __init__(self, tasks: Unwatched, rounds: int, passes: int, fitted: Callable[[Any], dict[str, Any]]):
        self.tasks, self.rounds, self.passes, self.fitted = tasks, rounds, passes, fitted
        self.epochs = 0

    def setup(self, estimator: Any, context: Any) -> None:
        """Begin the fit."""
        self.tasks.open_fit(self.rounds)

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing: the mixture's own callbacks are torn down with its fit."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Begin a round before the first of its epochs."""
        if context.task_name == "epoch":
            if self.epochs % self.passes == 0:
                self.tasks.open_round()
            self.epochs += 1

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        """End a round after the last of its epochs, and after the last of all the fit."""

        def fitted() -> dict[str, Any]:
            now = copy.copy(estimator)
            vars(now).update(snapshot(estimator))
            return self.fitted(now)

        if context.task_name == "epoch":
            return self.epochs % self.passes == 0 and self.tasks.close_round(fitted)
        if self.epochs % self.passes:  # the learner has ended in mid-round, having nothing more to learn
            self.tasks.close_round(fitted)
        self.tasks.close_fit(fitted)
        return False
