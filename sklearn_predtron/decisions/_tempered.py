"""Probabilities of the labels of sequences: temperature scaling with biases for linear chains."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_TOKENS = 20_000  # that a temperature and biases are fitted to: more make them no better
FARTHEST = 30.0  # that the logarithm of the temperature may be from that of the usual size of scores
PRECISION = 1e-5  # of the log likelihood of a token, relative to it
STEP = 1e-5  # of the logarithm of the temperature, whose slope is a difference
FEW_TOKENS = 1_000  # that tell where to begin
STARTS = range(-8, 25, 2)  # of the search, as logarithms
PRIOR = 1.0  # tokens that speak for a bias of 0


class Tempered(NamedTuple):
    """A temperature, and a bias of each label.

    P(y) is proportional to exp((score of y + biases of its labels) / temperature).

    Parameters
    ----------
    temperature : float
        The divisor of scores, above 0.
    biases : ndarray of shape (n_classes,)
        Added to the scores of tokens before they are divided.
    """

    temperature: float
    biases: NDArray

    def read(self, scores: NDArray, table: tuple) -> tuple[NDArray, tuple]:
        """Return scores as logarithms of odds.

        They are those of tokens, of shape (n, n_classes), and those of transitions, first and last labels.
        """
        return (scores + self.biases) / self.temperature, tuple(part / self.temperature for part in table)

    def probabilities(self, problem: Any, scores: NDArray, start: NDArray, table: tuple) -> tuple[NDArray, NDArray]:
        """Return the probabilities of labels, of shape (n_tokens, n_classes).

        With them come log sum exp over the paths of each sequence.
        """
        scores, table = self.read(scores, table)
        return problem.probabilities(np.ascontiguousarray(scores), start, *table)


def fitted(problem: Any, scores: NDArray, labels: Any, table: tuple) -> Tempered:
    """Return the likeliest temperature and biases on held-out sequences.

    Guo et al. (2017) for single labels; here it is the likelihood of whole sequences, as in a conditional random field (Lafferty
    et al. 2001), with a biases' prior as strong as a token.
    """
    start, codes = labels.starts, labels.array
    paths = problem.scores_of_paths(scores, labels, *table)
    counts = np.bincount(codes, minlength=scores.shape[1]).astype(np.float64)
    usual = float(np.median(np.abs(scores - np.median(scores)))) or 1.0  # scores have a unit of their own

    def loss_of(z: NDArray) -> tuple[float, NDArray]:
        """Return minus the log-likelihood and its slopes.

        Biases are in units of the temperature.
        """
        found, slope_of_heat = at(z[0], z[1:])
        hotter = at(z[0] + STEP, z[1:], slopes=False)[0]
        slopes = np.concatenate([[(hotter - found) / STEP], slope_of_heat + PRIOR * z[1:]])
        return (found + PRIOR * float(z[1:] @ z[1:]) / 2) / len(codes), slopes / len(codes)

    def at(heat: float, biases: NDArray, *, slopes: bool = True) -> tuple[float, NDArray]:
        temperature = usual * np.exp(heat)
        read = Tempered(temperature, biases * temperature)
        probabilities, whole = read.probabilities(problem, scores, start, table)
        found = float(whole.sum() - paths.sum() / temperature - counts @ biases)
        return found, probabilities.sum(axis=0) - counts if slopes else counts

    bounds = [(-FARTHEST, FARTHEST), *[(None, None)] * scores.shape[1]]
    no_bias = np.zeros(scores.shape[1])
    few = max(1, int(np.searchsorted(start, FEW_TOKENS, side="right")) - 1)

    def roughly(heat: float) -> float:
        """Return minus the log likelihood of few sequences, without biases."""
        read, part = Tempered(usual * np.exp(heat), no_bias), np.ascontiguousarray(scores[: start[few]])
        return float(read.probabilities(problem, part, start[: few + 1], table)[1].sum() - paths[:few].sum() / read.temperature)

    from scipy.optimize import minimize  # a predictor has fitted temperatures, and does without SciPy

    begin = min(STARTS, key=roughly)  # far from the best one all slopes are next to 0
    how = {"jac": True, "method": "L-BFGS-B", "options": {"ftol": PRECISION}}
    best = minimize(loss_of, np.concatenate([[begin], no_bias]), bounds=bounds, **how).x
    temperature = float(usual * np.exp(best[0]))
    return Tempered(temperature, best[1:] * temperature)
