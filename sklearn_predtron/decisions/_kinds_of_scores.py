"""Kinds of targets as decisions see them: their scores, cuts, probabilities and log loss."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron.decisions import _maps

LEAD = 1e-6  # of what is predicted, where others are as probable
LEAST_PROBABILITY = 1e-15  # that a log loss is charged for


class OfTwoClasses(NamedTuple):
    """Two classes: one curve, of the score of the second."""

    kind: str = "codes"

    def count(self, problem: Any) -> int:
        """Return the number of scores that can be cut."""
        return 1

    def shift(self, problem: Any, cuts: NDArray) -> NDArray:
        """Return the offsets of the scores t for these cuts, of shape (d,)."""
        direction, unit = difference(problem)
        return cuts[0] * unit * direction / (direction @ direction)

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
        return np.ascontiguousarray(problem.decision(np.ascontiguousarray(scores)))

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

    def count(self, problem: Any) -> int:
        """Return the number of scores that can be cut."""
        return problem.d

    def shift(self, problem: Any, cuts: NDArray) -> NDArray:
        """Return the offsets of the scores t for these cuts, of shape (d,)."""
        return cuts

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


def difference(problem: Any) -> tuple[NDArray, float]:
    """Return the second score's direction and unit.

    The direction v is that of its score less that of the first of two classes; the unit is h.
    """
    first, second = problem.decision(np.eye(problem.d))[:, :2].T
    return second - first, 2.0 if problem.d == 1 else 1.0


def score_of_second(problem: Any, scores: NDArray) -> NDArray:
    """Return the score of the second of two classes.

    It is of shape (n_samples, 1); the bits of a row do not depend on the others.
    """
    direction, unit = difference(problem)
    total = scores[:, 0] * direction[0]
    for j in range(1, problem.d):
        total = total + scores[:, j] * direction[j]
    return np.ascontiguousarray((total / unit)[:, None])


def on_the_side_of(scores: NDArray, probabilities: NDArray) -> NDArray:
    """Return probabilities that are above 1/2 where scores are positive, and there alone, in one order with the scores."""
    lead = LEAD * (1 + np.abs(scores) / (1 + np.abs(scores)))
    return np.where(scores > 0, np.maximum(probabilities, 0.5 + lead), np.minimum(probabilities, 0.5 - lead))
