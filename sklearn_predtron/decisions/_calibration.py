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

    needs_scores = True

    def __init__(self, of: Any, smoothing: float = SMOOTHING, *, agrees: bool = False):
        self.of, self.smoothing, self.agrees = of, smoothing, agrees
        self._last: tuple[Any, Any] = (None, None)  # the map that was saved, and what it was made

    def observer(self, problem: Problem, present: Observer | None, kind: type[RecentScores] = RecentScores) -> Any:
        """Return the record of the last scores, of a kind."""
        kept = present if isinstance(present, kind) and present.kind == self.of.kind else None
        return kind(problem, self.of.kind) if kept is None else kept

    def after_fit(self, learner: Learner, held: HeldOut) -> dict[str, Any]:
        """Return the calibration map fitted on held-out rows."""
        observer: Any = learner.observer
        observer.take(held.scores, held.values, held.weight)
        return {"map": self.fitted_to(learner.problem, held, observer.recorded)}

    def judged(self, problem: Any, held: HeldOut) -> tuple[float, HeldOut]:
        """Return the mean log loss of held-out rows under a map of their own without a matrix, and the rows with it."""
        scores, weight = self.of.scores(problem, held.scores), np.ones(len(held.scores)) if held.weight is None else held.weight
        found = self.of.fitted(scores, held.values, weight, self.smoothing, stream=True)
        loss = self.of.log_losses(self.of.probabilities(found, scores), held.values)
        return float(np.average(loss, weights=held.weight)), held._replace(map=found)

    def map_of(self, problem: Any, held: HeldOut) -> Any:
        """Return the calibration map fitted on held-out rows."""
        if held.map is not None:
            return held.map
        weight = np.ones(len(held.scores)) if held.weight is None else held.weight
        return self.of.fitted(self.of.scores(problem, held.scores), held.values, weight, self.smoothing, stream=False)

    def fitted_to(self, problem: Any, held: HeldOut, moment: int) -> tuple[int, float, Any]:
        """Return the moment of the calibration map of held-out rows, its smoothing and its parameters."""
        return moment, self.smoothing, unnamed(self.map_of(problem, held))

    def now(self, learner: Learner, fitted_decision: Any) -> Calibrated:
        """Return the present calibration map: that of the held-out rows, until there are a tenth more rows."""
        self.check_known(learner, fitted_decision)
        found = self.map(learner, fitted_decision)
        return Calibrated(self.of, found, agrees=self.agrees)

    def check_known(self, learner: Learner, fitted_decision: Any) -> None:
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
        """Return the calibration map; None if no scores are known."""
        observer: Any = learner.observer
        if not isinstance(observer, RecentScores) or observer.kind != self.of.kind:
            return None
        with learner.lock.reading():
            moment = observer.marked_at, self.smoothing
            known = (fitted_decision or {}).get("map")
            if known is not None and known[:2] == moment:
                return self.restored(known)
            return None if observer.marked_at == 0 else self.map_of_record(observer, learner.problem)

    def map_of_record(self, observer: RecentScores, problem: Any) -> Any:
        """Return the map of the rounds up to the last mark, made once."""
        return observer.once((self.of, self.smoothing), lambda: self.fitted_to_record(observer, problem))

    def fitted_to_record(self, observer: RecentScores, problem: Any) -> Any:
        """Return the map of the rounds up to the last mark."""
        scores, labels, weight = observer.well_learned()
        return self.of.fitted(self.of.scores(problem, scores.astype(np.float64)), labels, weight, self.smoothing, stream=True)

    def restored(self, known: Any) -> Any:
        """Return a saved calibration map; the same object for the same map."""
        saved, found = self._last
        if saved is not known:
            found = self.of.restored(known[2])
            self._last = known, found
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
