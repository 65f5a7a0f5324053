"""Probabilities: calibration maps from the scores of held-out or streamed rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.learner import Learner, Observer
from sklearn_predtron._core.problem import Problem
from sklearn_predtron.decisions._base import Decision, HeldOut
from sklearn_predtron.decisions._recent_scores import RecentScores

SMOOTHING = 0.1


class Calibration(Decision):
    """Probabilities instead of predictions: a calibration map of scores, fitted on unseen rows.

    Parameters
    ----------
    of : OfTwoClasses, OfColumn, OfClasses or OfLabels
        The kind of scores.
    smoothing : float, default=0.1
        The targets of n rows of a class are 1 - smoothing / (n + 2), and smoothed more where all rows are few.
    agrees : bool, default=False
        Whether the prediction by the scores themselves must be the most probable one.
    """

    value_name, needs_scores = "map", True

    def __init__(self, of: Any, smoothing: float = SMOOTHING, *, agrees: bool = False):
        self.of, self.smoothing, self.agrees = of, smoothing, agrees
        self._last: tuple[Any, Any] = (None, None)  # the map that was saved, and what it was made

    def observer(self, problem: Problem, present: Observer | None, kind: type[RecentScores] = RecentScores) -> Any:
        """Return the record of the last scores, of a kind."""
        kept = present if isinstance(present, kind) and present.kind == self.of.kind else None
        return kind(problem, self.of.kind) if kept is None else kept

    def after_fit(self, learner: Learner, held: HeldOut) -> dict[str, Any]:
        """Record the held-out rows, and return the map fitted on them."""
        observer: Any = learner.observer
        observer.take(held.scores, held.values, held.weight)
        return super().after_fit(learner, held)

    def key(self) -> float:
        """Return the smoothing."""
        return self.smoothing

    def fit(self, problem: Any, held: HeldOut) -> Any:
        """Return the parameters of the map of unseen rows."""
        return unnamed(self.map_of(problem, held))

    def map_of(self, problem: Any, held: HeldOut) -> Any:
        """Return the calibration map of unseen rows."""
        if held.map is not None:
            return held.map
        weight = np.ones(len(held.scores)) if held.weight is None else held.weight
        return self.of.fitted(self.of.scores(problem, held.scores), held.values, weight, self.smoothing, stream=held.streamed)

    def judged(self, problem: Any, held: HeldOut) -> tuple[NDArray, HeldOut]:
        """Return the log loss of each held-out row, and the rows with their map; the map has no matrix."""
        held = held._replace(map=self.map_of(problem, held._replace(map=None, streamed=True)))
        return self.log_losses(problem, held), held

    def log_losses(self, problem: Any, held: HeldOut) -> NDArray:
        """Return the log loss of each held-out row by their map."""
        return self.of.log_losses(self.of.probabilities(held.map, self.of.scores(problem, held.scores)), held.values)

    def now(self, learner: Learner, fitted_decision: Any) -> Calibrated:
        """Return the present calibration map."""
        self.check_known(learner)
        return Calibrated(self.of, self.map(learner, fitted_decision), agrees=self.agrees)

    def check_known(self, learner: Learner) -> None:
        """Raise ValueError if no scores of unseen rows are known."""
        if not self.knows(learner):
            raise ValueError(
                "predict_proba needs scores of held-out rows, and there are none: call fit with another "
                "decision than 'learned', or continue with partial_fit."
            )

    def knows(self, learner: Learner) -> bool:
        """Return whether scores of unseen rows are known."""
        observer: Any = learner.observer
        return isinstance(observer, RecentScores) and observer.kind == self.of.kind and observer.marked_at > 0

    def map(self, learner: Learner, fitted_decision: Any) -> Any:
        """Return the present calibration map; None if no scores are known."""
        if not self.knows(learner):
            return None
        return self.restored(self.value(learner, fitted_decision))

    def map_of_record(self, problem: Any, observer: RecentScores) -> Any:
        """Return the calibration map of the rows on record."""
        return self.restored(self.fit_record(problem, observer))

    def restored(self, value: Any) -> Any:
        """Return the map of saved parameters; it is the same object for the same ones."""
        saved, found = self._last
        if saved is not value:
            found = self.of.restored(value)
            self._last = value, found
        return found


class Calibrated(Decision):
    """Probabilities by a map.

    Parameters
    ----------
    of : OfTwoClasses, OfColumn, OfClasses or OfLabels
        The kind of scores.
    map : CurveMap, ClassMap or RankMap
        The map.
    agrees : bool
        Whether the prediction by the scores themselves must be the most probable one.
    """

    def __init__(self, of: Any, map: Any, *, agrees: bool):
        self.of, self.map, self.agrees = of, map, agrees

    def predict(self, problem: Any, scores: NDArray) -> NDArray:
        """Return the probabilities."""
        found = self.of.probabilities(self.map, self.of.scores(problem, scores))
        return self.of.agreeing(problem, scores, found) if self.agrees else found


def unnamed(found: Any) -> Any:
    """Return the parameters of a calibration map as plain tuples, the form in which it is saved."""
    return tuple(map(unnamed, found)) if isinstance(found, tuple) else found
