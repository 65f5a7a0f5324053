"""Answers that follow from scores, of estimators and of predictors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.queries import Queries
from sklearn_predtron.decisions._tempered import TemperatureScaling


def scores_of_classes(problem: Any, scores: NDArray, k: int) -> NDArray:
    """Return the decoded scores of k classes; of two classes only that of the second."""
    decoded: NDArray = problem.decision(scores)[:, :k]
    if k > 2:
        return decoded
    difference = decoded[:, 1] - decoded[:, 0]
    return difference / 2 if scores.shape[1] == 1 else difference


def positions_of(scores: NDArray) -> NDArray:
    """Return the position of each label, from 1, by the scores of the labels."""
    order = np.argsort(-scores, axis=1, kind="stable")
    positions = np.empty_like(order)
    np.put_along_axis(positions, order, np.arange(1, order.shape[1] + 1)[None], axis=1)
    return positions


@dataclass(frozen=True)
class SequenceScores:
    """Sequences with scores of tokens and of transitions, all of one moment.

    Parameters
    ----------
    model : Model or Learner
        The fitted model.
    scores : ndarray of shape (n_tokens, n_classes)
        Scores of the tokens, sequence by sequence.
    sequences : Queries
        The sequences.
    transitions : tuple of ndarrays
        Scores of transitions, of first and of last labels.
    """

    model: Any
    scores: NDArray
    sequences: Queries
    transitions: tuple

    @property
    def problem(self) -> Any:
        """The compiled problem."""
        return self.model.problem

    def best_codes(self) -> NDArray:
        """Return each token's label with the highest score; labels are given by their numbers."""
        return self._decoded(self.scores, self.transitions)

    def codes_by_costs(self, probabilities: NDArray, costs: NDArray | None) -> NDArray:
        """Return the label numbers of lowest expected cost; they are those of an allowed sequence, token by token.

        None are costs of 1.
        """
        expected, k = 1 - probabilities if costs is None else probabilities @ costs, probabilities.shape[1]
        return self._decoded(np.ascontiguousarray(-expected), (np.zeros((k, k)), np.zeros(k), np.zeros(k)))

    def _decoded(self, scores: NDArray, transitions: tuple) -> NDArray:
        return self.sequences.put_back(possible(*self.problem.predict(scores, self.sequences.start, *transitions)))

    def marginals(self) -> NDArray:
        """Return the max-marginals of the labels, token by token."""
        found = self.problem.marginals(self.scores, self.sequences.start, *self.transitions)
        return self.sequences.put_back(possible(*found))

    def calibrated(self, calibration: TemperatureScaling) -> NDArray:
        """Return the probabilities of the labels, sequence by sequence."""
        found, whole = calibration.probabilities(self.problem, self.scores, self.sequences.start, self.transitions)
        return possible(found, bool(np.isfinite(whole).all()))


def possible(found: NDArray, allowed: bool) -> NDArray:
    """Return `found` if the constraint allows labels; raise ValueError if it allows none for some sequence."""
    if not allowed:
        raise ValueError("The constraint allows no sequence of labels as long as one of X; predict shorter ones.")
    return found
