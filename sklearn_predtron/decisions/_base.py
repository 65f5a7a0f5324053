"""The base of decisions, and plain argmax decoding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.learner import Learner, Observer
from sklearn_predtron._core.problem import Labels, Problem

UNSEEN, PROGRESSIVE = "unseen", "progressive"
LossesOf = Callable[[NDArray, NDArray], NDArray]


class HeldOut(NamedTuple):
    """Held-out rows of a fit, with the scores of fold models that were not trained on them.

    Parameters
    ----------
    scores : ndarray of shape (n, d)
        Scores of the rows.
    values : ndarray of shape (n, m)
        Labels of the rows as numbers: the number of the class, or whether each label is on.
    weight : ndarray of shape (n,) or None
        Frequency weights of the rows; None is equal weights.
    labels : Labels
        The labels of all rounds of the fit.
    rounds : ndarray of shape (n_rounds,)
        Rounds of the rows, in the order of the rows.
    learned_weight : ndarray or None
        Training weights of all rounds of the fit.
    map : object
        The calibration map, once there is one.
    """

    scores: NDArray
    values: NDArray
    weight: NDArray | None
    labels: Labels
    rounds: NDArray
    learned_weight: NDArray | None
    map: Any = None

    def some(self, most: int) -> HeldOut:
        """Return a limited number of the rows, evenly spaced."""
        n = len(self.scores)
        if n <= most:
            return self
        rows = np.arange(most) * n // most
        weight = None if self.weight is None else self.weight[rows]
        rounds = self.rounds[rows] if len(self.rounds) == n else self.rounds
        return self._replace(scores=self.scores[rows], values=self.values[rows], weight=weight, rounds=rounds)

    def show(self, learner: Learner) -> None:
        """Pass the rows to the learner's observer as if they had come in rounds."""
        weight = None if self.learned_weight is None else self.learned_weight / self.learned_weight.max()
        scores = np.empty((self.labels.n, self.scores.shape[1]))
        scores[self.rounds] = self.scores
        learner.observer.show(learner.problem, scores, self.labels, self.rounds, weight)
        learner.observer.scale_to(learner.average.mass(learner.t))


class Decision:
    """Decode the scores as they are.

    A decision consists of parameters and does not change.  What was observed during training is in the learner's observer.  What
    was fitted after a fit is plain values by name, `fitted_decision`, which a model keeps.
    """

    # What scores it is made by: "unseen" ones, of rows that a fit holds out; "progressive" ones, of the first epoch where five
    # folds are too many; or None.
    asks_for: str | None = None
    on_rows = False  # whether it settles something on the rows that a fit has learned
    shifts = False  # whether it takes anything off the scores
    calibration: Any = None  # the decision that makes probabilities, if there is one

    def observer(self, problem: Problem, present: Observer | None) -> Observer | None:
        """Return the observer of progressive predictions, the present one if its type fits this decision."""
        return None if self.calibration is None else self.calibration.observer(problem, present)

    def judged(self, problem: Problem, held: HeldOut) -> tuple[float, HeldOut]:
        """Return the mean log loss of held-out rows under their own calibration map, and the rows with that map."""
        return self.calibration.judged(problem, held)

    def own_losses(self, problem: Problem, held: HeldOut) -> NDArray | None:
        """Return the user-defined losses of the predictions for held-out rows under their map; None if unknown."""
        return None

    def after_fit(self, learner: Learner, held: HeldOut) -> dict[str, Any]:
        """Return the values fitted on held-out rows."""
        return {} if self.calibration is None else self.calibration.after_fit(learner, held)

    def after_rows(self, scores: NDArray, batch: Any) -> dict[str, Any]:
        """Return the values fitted on the scores of the training rows, in their order."""
        return {}

    def now(self, learner: Learner, fitted_decision: Any) -> Decision:
        """Return the present decision, with all fitted and observed values filled in."""
        return self

    def shift(self, problem: Problem) -> NDArray | None:
        """Return the offsets (d,) to subtract from the scores before any other use; None subtracts nothing."""
        return None

    def predict(self, problem: Any, scores: NDArray) -> Any:
        """Return predictions, given scores of shape (n_samples, d) that are shifted."""
        return problem.predict(scores)


class Decoded(Decision):
    """Decode the scores as they are, and calibrate probabilities as well.

    Parameters
    ----------
    calibration : Calibration
        What makes probabilities.
    holds_out : bool
        Whether a fit holds out rows for probabilities; if not, only streams have them.
    losses_of : callable, default=None
        Returns the losses of predictions, given them and the true labels as numbers.
    """

    def __init__(self, calibration: Any, *, holds_out: bool, losses_of: LossesOf | None = None):
        self.calibration, self.asks_for, self.losses_of = calibration, UNSEEN if holds_out else None, losses_of

    def own_losses(self, problem: Problem, held: HeldOut) -> NDArray | None:
        """Return the losses of the predictions for held-out rows, if they are known."""
        predicted = problem.predict(np.ascontiguousarray(held.scores))
        return None if self.losses_of is None else self.losses_of(predicted, held.values)


def losses_by_table(costs: NDArray, predicted: NDArray, values: NDArray) -> NDArray:
    """Return the losses of predicted classes, given the numbers of classes; costs[y, sigma] is that of predicting sigma for y."""
    return costs[values[:, 0], predicted]


PLAIN = Decision()
