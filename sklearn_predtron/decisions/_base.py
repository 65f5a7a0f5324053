"""The base of decisions, and plain argmax decoding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
    costs : RowCosts, SetCosts or None
        The costs of all rows of a fit, if it was given costs by row; `rounds` are the numbers of the held-out ones.
    """

    scores: NDArray
    values: NDArray
    weight: NDArray | None
    rounds: NDArray
    map: Any = None
    streamed: bool = False
    costs: Any = None

    def some(self, most: int) -> HeldOut:
        """Return at most so many rows, evenly spaced."""
        n = len(self.scores)
        if n <= most:
            return self
        rows = np.arange(most) * n // most
        weight = None if self.weight is None else self.weight[rows]
        rounds = self.rounds[rows] if len(self.rounds) == n else self.rounds
        return self._replace(scores=self.scores[rows], values=self.values[rows], weight=weight, rounds=rounds)


@dataclass(slots=True)  # made for each call, and four times as fast as a frozen one
class UnseenRows:
    """The unseen rows of a learner, with the values that are fitted to them.

    After a fit they are the rows that it held out.  In a stream they are the recorded rows up to the last mark, to which values
    are fitted when a prediction first needs them.

    Parameters
    ----------
    problem : Problem
        The learner's problem.
    observer : RecentScores or None
        The record of the learner's last scores.
    values : dict
        The values of the last fit, by name, each with the moment and the parameters for which it holds.
    t : int
        The learner's rounds.
    held : HeldOut, default=None
        The rows that a fit has just held out.
    """

    problem: Any
    observer: Any
    values: dict[str, Any]
    t: int
    held: HeldOut | None = None

    @classmethod
    def of(cls, learner: Learner, values: dict[str, Any] | None) -> UnseenRows:
        """Return those of a learner, given the values of its last fit."""
        return cls(learner.problem, learner.observer, values or {}, learner.t)

    def value(self, decision: Decision, fit: Callable[[Any, HeldOut], Any]) -> Any:
        """Return the value of a decision.

        It is that of the last fit until there are a tenth more rows, and then that of the record, fitted once for each mark.
        """
        name, terms, moment = decision.value_name, decision.terms, self.observer.marked_at
        known = self.values.get(name)
        if known is not None and known[:2] == (moment, terms):
            return known[2]
        if self.held is None:
            return self.observer.once((name, terms), lambda: fit(self.problem, self.observer.held_out()))
        value = fit(self.problem, self.held)
        self.values[name] = moment, terms, value
        return value


class Decision:
    """Decode the scores as they are.

    A decision consists of parameters and does not change.  Its value is fitted to scores of unseen rows: those that a fit holds
    out, and in a stream those that the learner's observer has recorded.  A model keeps the values of its last fit by name,
    `fitted_decision`, with the moment and the parameters for which they hold.
    """

    value_name = ""  # if a value is fitted to unseen rows
    terms: Any = ()  # the parameters on which that value depends
    _last: tuple[Any, Any] = (None, None)  # what `once_for` was last given, and its result
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

    def value(self, unseen: UnseenRows) -> Any:
        """Return the value fitted to unseen rows."""
        return unseen.value(self, self.fit)

    def once_for(self, given: Any, make: Callable[[Any], Any]) -> Any:
        """Return make(given), computed once for the same object."""
        known, result = self._last
        if known is not given:
            result = make(given)
            self._last = given, result
        return result

    def after_rows(self, scores: NDArray, batch: Any) -> dict[str, Any]:
        """Return the values fitted on the training rows; the scores of these rows are given, in their order."""
        return {}

    def fitted(self, unseen: UnseenRows) -> Decision:
        """Return the decision with all fitted and observed values filled in."""
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


def values_of_fit(decision: Decision, learner: Learner, held: HeldOut) -> dict[str, Any]:
    """Return the values of a decision and its calibration, fitted to held-out rows; the learner's observer records these."""
    unseen = UnseenRows(learner.problem, learner.observer, {}, learner.t, held)
    if decision.calibration is not None:
        unseen.observer.take(held.scores, held.values, held.weight)
        decision.calibration.value(unseen)
    if decision.value_name:
        decision.value(unseen)
    return unseen.values


def losses_by_table(costs: NDArray, predicted: NDArray, values: NDArray) -> NDArray:
    """Return the losses of predicted classes.

    Classes are given as numbers; costs[y, sigma] is the cost of predicting sigma for y.
    """
    return costs[values[:, 0], predicted]


PLAIN = Decision()
