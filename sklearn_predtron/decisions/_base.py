"""The base of decisions, and plain argmax decoding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.learner import Learner, Observer
from sklearn_predtron._core.problem import Problem

LossesOf = Callable[[NDArray, NDArray], NDArray]


class HeldOut(NamedTuple):
    """Unseen rows with their scores.

    A fit holds them out, or they are the last ones of a stream.  The scores are of models that were not
    trained on them.

    Parameters
    ----------
    scores : ndarray of shape (n, d)
        Scores of the rows.
    values : ndarray of shape (n, m)
        Labels of the rows as numbers: the number of the class, or whether each label is on.
    weight : ndarray of shape (n,) or None
        Frequency weights of the rows; None is equal weights.
    rounds : ndarray of shape (n_rounds,)
        Rounds of the rows, in the order of the rows.
    map : object
        The calibration map, once there is one.
    streamed : bool
        Whether they are rows of a stream, whose models had learned less.
    """

    scores: NDArray
    values: NDArray
    weight: NDArray | None
    rounds: NDArray
    map: Any = None
    streamed: bool = False

    def itself(self) -> HeldOut:
        """Return the rows as they are."""
        return self

    def some(self, most: int) -> HeldOut:
        """Return at most so many rows, evenly spaced."""
        n = len(self.scores)
        if n <= most:
            return self
        rows = np.arange(most) * n // most
        weight = None if self.weight is None else self.weight[rows]
        rounds = self.rounds[rows] if len(self.rounds) == n else self.rounds
        return self._replace(scores=self.scores[rows], values=self.values[rows], weight=weight, rounds=rounds)


class Decision:
    """Decode the scores as they are.

    A decision consists of parameters and does not change.  Its value is fitted to scores of unseen rows: those that a fit holds
    out, and in a stream those that the learner's observer has recorded.  A model keeps the values of its last fit by name,
    `fitted_decision`, with the moment and the parameters for which they hold.
    """

    value_name = ""  # if a value is fitted to unseen rows
    needs_scores = False  # whether it is made by scores of unseen rows, such as those that a fit holds out
    on_rows = False  # whether it is fitted to the rows on which a fit was trained
    shifts = False  # whether it subtracts anything from the scores
    calibration: Any = None  # the decision that makes probabilities, if there is one

    def observer(self, problem: Problem, present: Observer | None) -> Observer | None:
        """Return the observer of progressive predictions; it is the present one if its type fits this decision."""
        return None if self.calibration is None else self.calibration.observer(problem, present)

    def validation_losses(self, problem: Problem, held: HeldOut) -> tuple[NDArray, HeldOut]:
        """Return the log loss of each held-out row.

        The loss is that under their own calibration map; the rows are returned with that map.
        """
        return self.calibration.validation_losses(problem, held)

    def task_losses(self, problem: Problem, held: HeldOut) -> NDArray | None:
        """Return the user-defined losses of held-out rows.

        The predictions are those under the rows' map; None if the losses are unknown.
        """
        return None

    def fit(self, problem: Problem, held: HeldOut) -> Any:
        """Return the value fitted to unseen rows; it has the form in which it is saved."""
        return None

    def key(self) -> Any:
        """Return the parameters on which the fitted value depends."""
        return ()

    def unseen(self, learner: Learner, held: HeldOut, fitted_decision: Any) -> HeldOut:
        """Return unseen rows with all that `fit` needs."""
        return held

    def after_fit(self, learner: Learner, held: HeldOut) -> dict[str, Any]:
        """Return the values fitted on held-out rows, by name."""
        values = {} if self.calibration is None else self.calibration.after_fit(learner, held)
        if self.value_name:
            value = self.fit(learner.problem, self.unseen(learner, held, values))
            values[self.value_name] = (moment_of(learner), self.key(), value)
        return values

    def value(self, learner: Learner, fitted_decision: Any) -> Any:
        """Return the present value; it is that of the last fit, until there are a tenth more rows."""
        observer: Any = learner.observer
        with learner.lock.reading():
            known, key = (fitted_decision or {}).get(self.value_name), self.key()
            if known is not None and known[:2] == (moment_of(learner), key):
                return known[2]
            return self.fit_record(learner.problem, observer, lambda held: self.unseen(learner, held, fitted_decision))

    def fit_record(self, problem: Problem, observer: Any, complete: Callable[[HeldOut], HeldOut] = HeldOut.itself) -> Any:
        """Return the value fitted to the rows on record, once for each mark."""
        return observer.once((self.value_name, self.key()), lambda: self.fit(problem, complete(observer.held_out())))

    def after_rows(self, scores: NDArray, batch: Any) -> dict[str, Any]:
        """Return the values fitted on the training rows; the scores of these rows are given, in their order."""
        return {}

    def now(self, learner: Learner, fitted_decision: Any) -> Decision:
        """Return the present decision; all fitted and observed values are filled in."""
        return self

    def shift(self, problem: Problem) -> NDArray | None:
        """Return the offsets to subtract from the scores.

        They are of shape (d,), and are subtracted before any other use; None subtracts nothing.
        """
        return None

    def predict(self, problem: Any, scores: NDArray) -> Any:
        """Return the predictions for shifted scores (n_samples, d)."""
        return problem.predict(scores)


class Argmax(Decision):
    """Decode the scores as they are, and calibrate probabilities.

    Parameters
    ----------
    calibration : Calibration
        Calibrates probabilities.
    holds_out : bool
        Whether a fit holds out rows for probabilities; if not, only streams have them.
    losses_of : callable, default=None
        Returns the losses of predictions, given them and the true labels as numbers.
    """

    def __init__(self, calibration: Any, *, holds_out: bool, losses_of: LossesOf | None = None):
        self.calibration, self.needs_scores, self.losses_of = calibration, holds_out, losses_of

    def task_losses(self, problem: Problem, held: HeldOut) -> NDArray | None:
        """Return the losses on held-out rows, if known."""
        predicted = problem.predict(np.ascontiguousarray(held.scores))
        return None if self.losses_of is None else self.losses_of(predicted, held.values)


def moment_of(learner: Learner) -> int:
    """Return how many rows were recorded at the last mark."""
    observer: Any = learner.observer
    return observer.marked_at


def losses_by_table(costs: NDArray, predicted: NDArray, values: NDArray) -> NDArray:
    """Return the losses of predicted classes.

    Classes are given as numbers; costs[y, sigma] is the cost of predicting sigma for y.
    """
    return costs[values[:, 0], predicted]


PLAIN = Decision()
