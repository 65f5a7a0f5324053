"""Probabilities: calibration maps from the scores of held-out or streamed rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.learner import Learner, Observer
from sklearn_predtron._core.problem import Problem
from sklearn_predtron.decisions import _maps
from sklearn_predtron.decisions._base import UNSEEN, Decision, HeldOut
from sklearn_predtron.decisions._cut_at import score_of_second
from sklearn_predtron.decisions._recent_scores import RecentScores
from sklearn_predtron.decisions._score_histogram import PLACES, ScoreHistogram

SMOOTHING = 0.1
LEAD = 1e-6  # of what is predicted, where others are as probable
LEAST_PROBABILITY = 1e-15  # that a log loss is charged for
UNLEARNED = 4  # of so many first rounds one says nothing of those to come


class OfTwoClasses(NamedTuple):
    """Two classes: one curve, of the score of the second."""

    kind: str = "codes"

    def scores(self, problem: Any, scores: NDArray) -> NDArray:
        """Return the input of the calibration map, of shape (n, 1): <v, t> / h."""
        return score_of_second(problem, scores)

    def fitted(self, scores: NDArray, labels: NDArray, weight: NDArray, smoothing: float, *, stream: bool) -> Any:
        """Return the map of rows."""
        return _maps.fit_two(scores, labels[:, 0] == 1, weight, smoothing)

    def restored(self, parameters: Any) -> Any:
        """Return the map that was saved."""
        return _maps.CurveMap(*map(np.asarray, parameters))

    def probabilities(self, found: Any, scores: NDArray) -> NDArray:
        """Return the probabilities of both, of shape (n, 2)."""
        second = found.probabilities(scores)
        return np.hstack([1 - second, second])

    def log_losses(self, probabilities: NDArray, labels: NDArray) -> NDArray:
        """Return the log loss of each row."""
        return -np.log(np.maximum(np.take_along_axis(probabilities, labels.astype(np.intp), axis=1)[:, 0], LEAST_PROBABILITY))

    def agreeing(self, problem: Any, scores: NDArray, probabilities: NDArray) -> NDArray:
        """Return probabilities of which that of the predicted class is the larger one, in one order with the scores."""
        second = on_the_side_of(self.scores(problem, scores)[:, 0], probabilities[:, 1])[:, None]
        return np.hstack([1 - second, second])


class OfColumn(OfTwoClasses):
    """Two classes: one curve, of the one score."""

    def scores(self, problem: Any, scores: NDArray) -> NDArray:
        """Return the scores as they are."""
        return scores


class OfClasses(NamedTuple):
    """Several classes: a map of their decoded scores."""

    k: int
    ranked: bool = False
    kind: str = "codes"

    def scores(self, problem: Any, scores: NDArray) -> NDArray:
        """Return the decoded scores of the classes, of shape (n, k)."""
        return np.ascontiguousarray(problem.decision(np.ascontiguousarray(scores))[:, : self.k])

    def fitted(self, scores: NDArray, labels: NDArray, weight: NDArray, smoothing: float, *, stream: bool) -> Any:
        """Return the map of rows; in streams, which have learned less, without a matrix."""
        fit = _maps.fit_ranks if self.ranked else _maps.fit_classes
        return fit(scores, labels[:, 0], self.k, weight, smoothing, matrix=not stream)

    def restored(self, parameters: Any) -> Any:
        """Return the map that was saved."""
        if not self.ranked:
            return _maps.ClassMap(*parameters)
        scale, curves, limits, classes = parameters
        return _maps.RankMap(scale, curves, limits, _maps.ClassMap(*classes))

    def probabilities(self, found: Any, scores: NDArray) -> NDArray:
        """Return the probabilities, of shape (n, k)."""
        return found.probabilities(scores)

    def log_losses(self, probabilities: NDArray, labels: NDArray) -> NDArray:
        """Return the log loss of each row."""
        return -np.log(np.maximum(np.take_along_axis(probabilities, labels.astype(np.intp), axis=1)[:, 0], LEAST_PROBABILITY))

    def agreeing(self, problem: Any, scores: NDArray, probabilities: NDArray) -> NDArray:
        """Return probabilities of which none is larger than that of the predicted class."""
        rows, predicted = np.arange(len(scores)), problem.predict(scores)
        most = probabilities.max(axis=1)
        probabilities[rows, predicted] = np.where(probabilities.argmax(axis=1) == predicted, most, most * (1 + LEAD))
        return probabilities / probabilities.sum(axis=1, keepdims=True)


class OfLabels(NamedTuple):
    """Sets of labels: a curve for each."""

    kind: str = "sets"

    def scores(self, problem: Any, scores: NDArray) -> NDArray:
        """Return the scores as they are."""
        return scores

    def fitted(self, scores: NDArray, labels: NDArray, weight: NDArray, smoothing: float, *, stream: bool) -> Any:
        """Return the map of rows."""
        return _maps.fit_labels(scores, labels, weight, smoothing)

    def restored(self, parameters: Any) -> Any:
        """Return the map that was saved."""
        return _maps.CurveMap(*map(np.asarray, parameters))

    def probabilities(self, found: Any, scores: NDArray) -> NDArray:
        """Return the probability of each label, of shape (n, m)."""
        return found.probabilities(scores)

    def log_losses(self, probabilities: NDArray, labels: NDArray) -> NDArray:
        """Return the log loss of each row, of all its labels."""
        return -np.log(np.maximum(np.where(labels, probabilities, 1 - probabilities), LEAST_PROBABILITY)).sum(axis=1)

    def agreeing(self, problem: Any, scores: NDArray, probabilities: NDArray) -> NDArray:
        """Return probabilities that are above 1/2 for the predicted labels alone, in one order with the scores."""
        return on_the_side_of(scores, probabilities)


Of = OfTwoClasses | OfClasses | OfLabels


class Calibration(Decision):
    """Probabilities instead of predictions: a calibration map of scores, fitted on unseen rows.

    Parameters
    ----------
    of : OfTwoClasses, OfColumn, OfClasses or OfLabels
        The kind of scores.
    smoothing : float, default=0.1
        The targets of n rows of a class are 1 - smoothing / (n + 2), and smoothed more where all rows are few.
    class_weight : ndarray of shape (k,), default=None
        The training weights of classes that stand for costs, not for frequencies: a histogram of scores contains them.
    agrees : bool, default=False
        Whether the prediction by the scores themselves must be the most probable one.
    """

    asks_for = UNSEEN

    def __init__(self, of: Any, smoothing: float = SMOOTHING, class_weight: NDArray | None = None, *, agrees: bool = False):
        self.of, self.smoothing, self.class_weight, self.agrees = of, smoothing, class_weight, agrees
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
        recent = isinstance(observer, RecentScores) and observer.kind == self.of.kind and observer.marked_at > 0
        return recent or (isinstance(observer, ScoreHistogram) and observer.rounds > 0)

    def map(self, learner: Learner, fitted_decision: Any) -> Any:
        """Return the calibration map; None if no scores are known."""
        observer: Any = learner.observer
        if isinstance(observer, ScoreHistogram):
            return self.map_of_bins(observer, fitted_decision)
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
        moment, known = (observer.marked_at, self.smoothing, self.of), observer.kept
        if known is None or known[0] != moment:
            scores, labels, weight = well_learned(observer)
            scores = self.of.scores(problem, scores.astype(np.float64))
            known = observer.kept = moment, self.of.fitted(scores, labels, weight, self.smoothing, stream=True)
        return known[1]

    def restored(self, known: Any) -> Any:
        """Return a saved calibration map; the same object for the same map."""
        saved, found = self._last
        if saved is not known:
            found = self.of.restored(known[2])
            self._last = known, found
        return found

    def map_of_bins(self, observer: Any, fitted_decision: Any) -> Any:
        """Return the calibration map of the histogram, unless that of the held-out rows still holds."""
        known = (fitted_decision or {}).get("map")
        if known is not None and known[:2] == (observer.rounds, self.smoothing):
            return self.restored(known)
        seen = observer.weights()
        if self.class_weight is not None:
            seen = seen / np.where(self.class_weight > 0, self.class_weight, 1.0)
        return _maps.fit_binned(PLACES, seen, self.smoothing) if observer.rounds else None


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


def on_the_side_of(scores: NDArray, probabilities: NDArray) -> NDArray:
    """Return probabilities that are above 1/2 where scores are positive, and there alone, in one order with the scores."""
    lead = LEAD * (1 + np.abs(scores) / (1 + np.abs(scores)))
    return np.where(scores > 0, np.maximum(probabilities, 0.5 + lead), np.minimum(probabilities, 0.5 - lead))


def unnamed(found: Any) -> Any:
    """Return the parameters of a calibration map as plain tuples, the form in which it is saved."""
    return tuple(map(unnamed, found)) if isinstance(found, tuple) else found


def well_learned(observer: RecentScores) -> tuple[NDArray, NDArray, NDArray]:
    """Return scores, labels and weights of the rounds up to the last mark, but for a first quarter, in which little was known."""
    scores, labels, weight, _ = observer.marked()
    first = max(0, observer.marked_at // UNLEARNED - (observer.marked_at - len(scores)))
    return scores[first:], labels[first:], weight[first:]


def calibration_of(decision: Decision) -> Calibration:
    """Return the calibration of a decision; raise ValueError if it has none."""
    if decision.calibration is None:
        raise ValueError(
            "predict_proba: reject.rule='online' observes margins in the place of scores; accepted is reject.rule=None with "
            "decision=None or 'expected_cost'."
        )
    return decision.calibration
