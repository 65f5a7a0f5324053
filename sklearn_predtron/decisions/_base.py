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
    """Held-out rows of a fit, with their scores.

    The scores are those of fold models that were not trained on the rows.

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
    """

    scores: NDArray
    values: NDArray
    weight: NDArray | None
    rounds: NDArray
    map: Any = None

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

    A decision consists of parameters and does not change.  The learner's observer holds all that was observed during
    training.  Values fitted after a fit are plain values by name, `fitted_decision`, which a model keeps.
    """

    needs_scores = False  # whether it is made by scores of unseen rows, such as those that a fit holds out
    on_rows = False  # whether it is fitted to the rows on which a fit was trained
    shifts = False  # whether it subtracts anything from the scores
    calibration: Any = None  # the decision that makes probabilities, if there is one

    def observer(self, problem: Problem, present: Observer | None) -> Observer | None:
        """Return the observer of progressive predictions.

        It is the present one if its type fits this decision.
        """
        return None if self.calibration is None else self.calibration.observer(problem, present)

    def judged(self, problem: Problem, held: HeldOut) -> tuple[float, HeldOut]:
        """Return the mean log loss of held-out rows.

        The loss is that under their own calibration map; the rows are returned with that map.
        """
        return self.calibration.judged(problem, held)

    def own_losses(self, problem: Problem, held: HeldOut) -> NDArray | None:
        """Return the user-defined losses of held-out rows.

        The predictions are those under the rows' map; None if the losses are unknown.
        """
        return None

    def after_fit(self, learner: Learner, held: HeldOut) -> dict[str, Any]:
        """Return the values fitted on held-out rows."""
        return {} if self.calibration is None else self.calibration.after_fit(learner, held)

    def after_rows(self, scores: NDArray, batch: Any) -> dict[str, Any]:
        """Return the values fitted on the training rows.

        The scores of these rows are given, in their order.
        """
        return {}

    def now(self, learner: Learner, fitted_decision: Any) -> Decision:
        """Return the present decision.

        All fitted and observed values are filled in.
        """
        return self

    def shift(self, problem: Problem) -> NDArray | None:
        """Return the offsets to subtract from the scores.

        They are of shape (d,), and are subtracted before any other use; None subtracts nothing.
        """
        return None

    def predict(self, problem: Any, scores: NDArray) -> Any:
        """Return the predictions for shifted scores (n_samples, d)."""
        return problem.predict(scores)


class Decoded(Decision):
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

    def own_losses(self, problem: Problem, held: HeldOut) -> NDArray | None:
        """Return the losses on held-out rows, if known."""
        predicted = problem.predict(np.ascontiguousarray(held.scores))
        return None if self.losses_of is None else self.losses_of(predicted, held.values)


def losses_by_table(costs: NDArray, predicted: NDArray, values: NDArray) -> NDArray:
    """Return the losses of predicted classes.

    Classes are given as numbers; costs[y, sigma] is the cost of predicting sigma for y.
    """
    return costs[values[:, 0], predicted]


PLAIN = Decision()
