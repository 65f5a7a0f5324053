"""Sequences with the scores of their tokens; labels, probabilities and margins follow from the scores."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from sklearn_predtron.decisions._tempered import MOST_TOKENS, TemperatureScaling, first_sequences, fitted
from sklearn_predtron.families.labels.transitions import check_labels_allowed
from sklearn_predtron.families.model.model import Model
from sklearn_predtron.losses.sequence import cost_table
from sklearn_predtron.predictor._answers import SequenceScores, possible
from sklearn_predtron.problems._chain import TokenCodes

LEAST_TOKENS, MOST_WORK = 1_000, 2**19  # tokens, and tokens times pairs of labels
MOST_PATHS = 1000  # the time grows with its square


class ScoredSequences(SequenceScores):
    """Sequences with the scores of their tokens, of a fitted model."""

    model: Model

    @property
    def classes(self) -> NDArray:
        """The labels."""
        return self.model.labels.classes

    def best_paths(self, n: Any) -> tuple[NDArray, NDArray]:
        """Return the n best labelings, and their scores."""
        codes, found = self.problem.best_paths(int(n), self.scores, self.sequences.start, *self.transitions)
        possible(codes, bool(np.isfinite(found[0]).all()))
        for r in range(1, len(codes)):
            codes[r] = np.where(codes[r] < 0, codes[r - 1], codes[r])
        return self.classes[np.stack([self.sequences.put_back(path) for path in codes])], found

    def margins(self, labels: TokenCodes, method: str) -> NDArray:
        """Return the margins of true labels, at unit norm; they are computed by a method of the problem."""
        found = getattr(self.problem, method)(self.scores, labels, *self.transitions)
        for i in np.flatnonzero(found == np.inf):  # no other sequence is allowed, and perhaps not the true one either
            if not self._is_allowed(labels.array[labels.starts[i] : labels.starts[i + 1]]):
                found[i] = -np.inf
        return self.model.at_unit_norm(found)

    def _is_allowed(self, codes: NDArray) -> bool:
        """Return whether the constraint allows a sequence of labels."""
        allowed = self.problem.allowed
        return allowed is None or bool(allowed[-1, codes[0]] and allowed[codes[:-1], codes[1:]].all())

    # ------------------------------------------------------------------------------------------------------- probabilities

    def probabilities(self) -> NDArray:
        """Return the probabilities of the labels, sequence by sequence."""
        return self.calibrated(token_calibration(self.model.fitted_decision))

    def cheapest_codes(self, costs: Any) -> NDArray:
        """Return the label numbers of lowest expected cost."""
        return self.codes_by_costs(self.probabilities(), cost_table(costs, self.classes))

    def calibrator(self, labels: TokenCodes, constraint: Any, most: int = MOST_TOKENS) -> Callable[[], dict[str, Any]]:
        """Return a function that calibrates the scores; it uses sequences of at most `most` tokens, given their true labels."""
        sequences, problem, transitions = self.sequences, self.problem, self.transitions
        n = max(1, int(np.searchsorted(sequences.start, most, side="right")) - 1)
        if problem.allowed is not None:
            check_labels_allowed(labels, sequences, problem.allowed, self.classes, constraint)
        labels = first_sequences(labels, n)
        scores = self.scores[: labels.starts[-1]].copy()

        def calibrate() -> dict[str, Any]:
            found = fitted(problem, scores, labels, transitions)
            return {"tempered": (found.temperature, tuple(found.biases.tolist()), found.limit)}

        return calibrate


def token_calibration(fitted_decision: dict[str, Any] | None) -> TemperatureScaling:
    """Return the fitted temperature and biases; raise NotFittedError, which is an AttributeError, if there are none."""
    if fitted_decision is None or "tempered" not in fitted_decision:
        raise NotFittedError(
            "what scores mean is known after a fit that holds sequences out (cv), or calibrate(X, y, sid=...) of such: "
            "probabilities, temperature_ and biases_ are there from then on."
        )
    temperature, biases, limit = fitted_decision["tempered"]
    return TemperatureScaling(temperature, np.array(biases), limit)


def few_tokens(n_classes: int) -> int:
    """Return the number of tokens for calibration in `fit`.

    Calibration then takes no longer than an evaluation of held-out rows.
    """
    return min(max(LEAST_TOKENS, MOST_WORK // n_classes**2), MOST_TOKENS)


def check_number_of_paths(n: Any) -> None:
    """Raise ValueError if n is no number of sequences."""
    if not isinstance(n, Integral) or isinstance(n, bool) or not 1 <= int(n) <= MOST_PATHS:
        raise ValueError(f"n={n!r} must be a whole number from 1 to {MOST_PATHS}.")
