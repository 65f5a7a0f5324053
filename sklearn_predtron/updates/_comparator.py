"""Bounds on any data; they compare the online loss with that of given weights, the comparator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from sklearn_predtron._core.problem import Problem
from sklearn_predtron._core.rows import OVERFLOW
from sklearn_predtron._support.numbers import as_numbers
from sklearn_predtron.problems._problem_queries import competitor_of


@dataclass
class Comparator:
    """Weights U on the rows that were learned; they have a length, surrogate losses and the radius of the rows."""

    problem: Problem
    labels: Any
    scores: NDArray
    length: float
    radius: float
    pairwise: bool

    @classmethod
    def of(
        cls, estimator: Any, problem: Any, X: Any, labels: Any, weights: Any, radius: float | None, pairwise: bool
    ) -> Comparator:
        """Measure weights by the norm of a fitted estimator; they are given as coef or (coef, intercept)."""
        learned, norm, d = estimator._model.learner.weights, estimator._norm_of_weights(), problem.d
        norm.check_measured()
        if isinstance(weights, tuple) and len(weights) != 2:
            raise ValueError(f"comparator is a tuple of length {len(weights)}; accepted are an array and (coef, intercept).")
        coef, offset = weights if isinstance(weights, tuple) else (weights, None)
        feature = learned.intercept.fixed**0.5
        W = as_weights(coef, "comparator", (problem.score_map.n_directions, learned.n_features))
        b = np.zeros(d) if offset is None else as_weights(offset, "comparator", (d,))
        if b.any() and feature == 0:
            raise ValueError("comparator must have no intercept, or zeros: the estimator has none.")
        if problem.score_map.offsets_apart and (np.diff(b) > 0).any():
            raise ValueError(
                f"comparator has the thresholds {(-b).tolist()} (minus its intercept); accepted with representation='shared' are "
                "thresholds that do not fall, for the bound is against predictions by thresholds in order."
            )
        problem.prepare(labels)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            scores = problem.scores_under(W, b, X)
        if not np.isfinite(scores).all():
            raise ValueError(OVERFLOW)
        length = norm.length(W, b / feature if feature > 0 else np.zeros(0), apart=problem.score_map.offsets_apart)
        if radius is None:
            radius = norm.largest_length(X, feature, apart=problem.score_map.offsets_apart)
        return cls(problem, labels, scores, np.float64(length), np.float64(learned.effective_radius(radius)), pairwise)

    def hinges(self) -> NDArray:
        """Return phi(U x, y) of equation (2), for each row; with 0-1 losses of their own, it is for each row and score."""
        if self.problem.of_one_score is not None:
            return self.shortfalls()
        answers = [competitor_of(self.problem, self.labels, i, t[None], True) for i, t in enumerate(self.scores)]
        return np.array([competitor_loss + gap for _, _, competitor_loss, gap, _ in answers])

    def shortfalls(self) -> NDArray:
        """Return max(0, 1 - margin of U) of each row or list."""
        return self.problem.shortfalls(self.scores, self.labels, self.pairwise)

    def threshold_shortfalls(self) -> NDArray:
        """Return max(0, 1 - distance) of each row and threshold; it is the distance from the right side."""
        sides = np.where(np.asarray(self.labels.array)[:, None] > np.arange(self.problem.d), 1.0, -1.0)
        return np.maximum(0.0, 1.0 - sides * self.scores)

    def slam_surrogates(self) -> NDArray:
        """Return the SLAM surrogate of each list."""
        return self.problem.slam_surrogates(self.scores.ravel(), self.labels)


def as_weights(values: Any, parameter: str, shape: tuple[int, ...]) -> NDArray:
    """Return finite weights of a given shape."""
    array = np.atleast_1d(as_numbers(values, parameter, f"an array of shape {shape}"))
    array = check_array(array, ensure_2d=False, allow_nd=True, input_name=parameter)
    if array.shape != shape and not (shape[0] == 1 and array.shape == shape[1:]):
        raise ValueError(f"{parameter} has shape {array.shape}; it must have {shape}.")
    return array.reshape(shape)
