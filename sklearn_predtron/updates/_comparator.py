"""Bounds on any data: the loss suffered online against that of given weights, the comparator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array

from sklearn_predtron._core.rows import OVERFLOW
from sklearn_predtron._parts import as_numbers, resolve
from sklearn_predtron.norms import L2, Group, Norm, PNorm, Trace
from sklearn_predtron.problems._base import Problem
from sklearn_predtron.problems._finite import FiniteProblem
from sklearn_predtron.problems._inquiry import ask
from sklearn_predtron.problems._ranking import RankingProblem
from sklearn_predtron.problems._user import PythonProblem


@dataclass
class Comparator:
    """Weights U on the rows that were learned: their length, their surrogate losses and the radius of the rows."""

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
        """Measure weights, as coef or (coef, intercept), by the norm of a fitted estimator."""
        learned, (norm, q), d = estimator._learner.weights, measured_by(estimator), problem.d
        if isinstance(weights, tuple) and len(weights) != 2:
            raise ValueError(f"comparator is a tuple of length {len(weights)}; accepted are an array and (coef, intercept).")
        coef, offset = weights if isinstance(weights, tuple) else (weights, None)
        feature = learned.intercept.fixed**0.5
        W = as_weights(coef, "comparator", (problem.score_map.n_directions, X.shape[1]))
        b = np.zeros(d) if offset is None else as_weights(offset, "comparator", (d,))
        if b.any() and feature == 0:
            raise ValueError("comparator must have no intercept, or zeros: the estimator has none.")
        problem.prepare(labels)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = np.ascontiguousarray(X @ W.T + b, dtype=np.float64)
        if not np.isfinite(scores).all():
            raise ValueError(OVERFLOW)
        length = weights_length(norm, q, problem, feature, W, b)
        if radius is None:
            radius = largest_length(norm, q, problem, feature, X)
        return cls(problem, labels, scores, np.float64(length), np.float64(learned.effective_radius(radius)), pairwise)

    def hinges(self) -> NDArray:
        """phi(U x, y) of equation (2), for each row."""
        answers = [ask(self.problem, self.labels, i, t[None], True) for i, t in enumerate(self.scores)]
        return np.array([competitor_loss + gap for _, _, competitor_loss, gap, _ in answers])

    def shortfalls(self) -> NDArray:
        """max(0, 1 - margin of U) of each row or list."""
        if isinstance(self.problem, PythonProblem):
            raise ValueError(
                f"No bound against given weights is known for {self.problem.name} under this update, which needs margins over "
                "all predictions; accepted are LossAugmented with a number for eta and PassiveAggressive with a finite C."
            )
        return np.maximum(0.0, 1.0 - margins(self.problem, self.labels, self.scores, self.pairwise))

    def threshold_shortfalls(self) -> NDArray:
        """max(0, 1 - the distance from the right side) of each row and threshold."""
        sides = np.where(np.asarray(self.labels.numbers)[:, None] > np.arange(self.problem.d), 1.0, -1.0)
        return np.maximum(0.0, 1.0 - sides * self.scores)

    def slam_surrogates(self) -> NDArray:
        """The SLAM surrogate of each list."""
        return self.problem.slam_surrogates(self.scores.ravel(), self.labels)


def margins(problem: Any, labels: Any, scores: NDArray, pairwise: bool) -> NDArray:
    """The margin of each row or list."""
    if isinstance(problem, RankingProblem):
        return problem.margins(scores.ravel(), labels, pairwise)
    return problem.margins(scores, labels.numbers if isinstance(problem, FiniteProblem) else labels)


def check_measured(norm: Any) -> None:
    """Refuse norms that measure no given weights."""
    if not isinstance(norm, (L2, PNorm, Group, Trace)):
        raise ValueError(f"norm={norm.alias!r} has no length of given weights or rows; 'l2', 'l1', 'group' and 'trace' have.")


def measured_by(estimator: Any) -> tuple[Any, float]:
    """The norm of a fitted estimator, and its dual exponent q."""
    norm, weights = resolve(Norm, estimator.norm, "norm"), estimator._learner.weights
    check_measured(norm)
    return norm, getattr(getattr(weights, "inner", weights), "q", 2.0)


def as_weights(values: Any, parameter: str, shape: tuple[int, ...]) -> NDArray:
    """Weights of a shape, finite."""
    array = np.atleast_1d(as_numbers(values, parameter, f"an array of shape {shape}"))
    array = check_array(array, ensure_2d=False, allow_nd=True, input_name=parameter)
    if array.shape != shape and not (shape[0] == 1 and array.shape == shape[1:]):
        raise ValueError(f"{parameter} has shape {array.shape}; it must have {shape}.")
    return array.reshape(shape)


def weights_length(norm: Any, q: float, problem: Any, feature: float, W: NDArray, b: NDArray) -> float:
    """The norm under which margins are measured, the intercept's weights among the others."""
    beside = b / feature if feature > 0 else np.zeros(0)
    if isinstance(norm, (PNorm, Group)) and len(beside) == len(W) and not problem.score_map.offsets_apart:
        W, beside = np.column_stack([W, beside]), np.zeros(0)
    sizes = W.ravel()
    if isinstance(norm, Group):
        sizes = np.linalg.norm(W, axis=0)
    elif isinstance(norm, Trace):
        sizes = np.linalg.svd(W, compute_uv=False)
    return float(np.hypot(np.linalg.norm(sizes, q / (q - 1)), np.linalg.norm(beside)))


def largest_length(norm: Any, q: float, problem: Any, feature: float, X: Any) -> float:
    """The largest length of a row with the intercept's feature: of the norms "l1" and "group" the q-norm, else Euclidean.

    With thresholds of their own (representation="shared") the feature stands apart, at a right angle.
    """
    dual = isinstance(norm, (PNorm, Group))
    power = q if dual else 2.0
    sizes = abs(X).astype(np.float64)
    largest = max(float(sizes.max()), feature) or 1.0
    sizes, feature = sizes / largest, feature / largest  # no power overflows, and none that matters underflows
    powers = sizes.power(power) if sparse.issparse(X) else sizes**power
    rows = np.asarray(powers.sum(axis=1)).ravel() ** (1 / power)
    together = (rows**q + feature**q) ** (1 / q) if dual and not problem.score_map.offsets_apart else np.hypot(rows, feature)
    return largest * float(together.max())


def length_of_query(norm: Any, q: float, documents: Any) -> float:
    """A bound on |X^T g| / |g|: the spectral norm, or the q-norm of the lengths of the features."""
    values = documents.toarray() if sparse.issparse(documents) else documents
    if isinstance(norm, (PNorm, Group)):
        lengths = np.linalg.norm(values, axis=0)
        longest = lengths.max() or 1.0
        return float(longest * np.linalg.norm(lengths / longest, q))
    return float(np.linalg.norm(values, 2))
