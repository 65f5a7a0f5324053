"""Rounds of a fit as tasks of its callbacks."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from sklearn_predtron.families.training.trainer import snapshot

Reconstruct = Callable[[], dict[str, Any]]


class NoCallbacks:
    """Rounds of a call without callbacks."""

    def open_fit(self, rounds: int) -> None:
        """Begin a fit of some rounds."""

    def open_round(self) -> None:
        """Begin a round."""

    def close_round(self, fitted: Reconstruct) -> bool:
        """End a round; return whether the fit is over. `fitted` returns the attributes that the estimator has then."""
        return False

    def close_fit(self, fitted: Reconstruct) -> None:
        """End the fit."""


class RoundCallbacks(NoCallbacks):
    """Rounds of a fit, each a task of callbacks.

    Parameters
    ----------
    mixed : ParameterMixing
        The mixture that is fitted.
    X, y : object
        Its training data.
    metadata : dict
        The other arguments of the fit.
    """

    def __init__(self, mixed: Any, X: Any, y: Any, metadata: dict[str, Any]):
        self.mixed, self.given = mixed, {"estimator": mixed, "X": X, "y": y, "metadata": metadata or None}

    def open_fit(self, rounds: int) -> None:
        """Begin a fit of some rounds."""
        self.fit = self.mixed._init_callback_context(max_subtasks=rounds)
        self.fit.call_on_fit_task_begin(**self.given)

    def open_round(self) -> None:
        """Begin a round."""
        self.round = self.fit.subcontext(task_name="round")
        self.round.call_on_fit_task_begin(**self.given)

    def close_round(self, fitted: Reconstruct) -> bool:
        """End a round; return whether the fit is over. `fitted` returns the attributes that the estimator has then."""
        return bool(self.round.call_on_fit_task_end(reconstruction_attributes=fitted, **self.given))

    def close_fit(self, fitted: Reconstruct) -> None:
        """End the fit."""
        self.fit.call_on_fit_task_end(reconstruction_attributes=fitted, **self.given)


class EpochsAsRounds:
    """Callback that groups epochs of a single learner into rounds.

    Parameters
    ----------
    tasks : NoCallbacks
        The callbacks of the rounds.
    rounds, passes : int
        How many rounds there are, and of how many epochs each.
    fitted : callable
        Returns, of the learner as it is, the attributes that its mixture has.
    """

    one_candidate = True  # whose epochs it can count
    runs_without_callbacks = True  # of scikit-learn, which has them from 1.9 on

    def __init__(self, tasks: NoCallbacks, rounds: int, passes: int, fitted: Callable[[Any], dict[str, Any]]):
        self.tasks, self.rounds, self.passes, self.fitted = tasks, rounds, passes, fitted
        self.epochs = 0

    def setup(self, estimator: Any, context: Any) -> None:
        """Begin the fit."""
        self.tasks.open_fit(self.rounds)

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing; the mixture tears down its own callbacks."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Begin a round before its first epoch."""
        if context.task_name == "epoch":
            if self.epochs % self.passes == 0:
                self.tasks.open_round()
            self.epochs += 1

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        """End a round after its last epoch, or the fit's."""

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
