"""Probabilities of the labels of sequences: temperature scaling with biases for linear chains."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron.decisions._calibration import LARGEST, limits_of_rows
from sklearn_predtron.decisions._calibration_curves import BEYOND_LIMITS

MOST_TOKENS = 20_000  # that a temperature and biases are fitted to: more make them no better
FARTHEST = 30.0  # that the logarithm of the temperature may be from that of the usual size of scores
PRECISION = 1e-5  # of the log likelihood of a token, relative to it
STEP = 1e-5  # of the logarithm of the temperature, whose slope is a difference
FEW_TOKENS = 1_000  # that tell where to begin, and the limit
STARTS = range(-8, 25, 2)  # of the search, as logarithms
CLOSE = 0.05  # of the logarithm of the temperature, to compare limits
PRIOR = 1.0  # tokens that speak for a bias of 0


class TemperatureScaling(NamedTuple):
    """A temperature, and a bias of each label.

    P(y) is proportional to exp((score of y + biases of its labels) / temperature).  A few tokens with scores far from all others
    would decide the temperature.  So the scores of a token shrink where one is beyond the limit.

    Parameters
    ----------
    temperature : float
        The divisor of scores, above 0.
    biases : ndarray of shape (n_classes,)
        Added to the scores of tokens before they are divided.
    limit : float, default=largest float
        The largest distance of a score to the mean of its token's scores.
    """

    temperature: float
    biases: NDArray
    limit: float = LARGEST

    def read(self, scores: NDArray, table: tuple) -> tuple[NDArray, tuple]:
        """Return scores as logarithms of odds.

        They are those of tokens, of shape (n, n_classes), and those of transitions, first and last labels.
        """
        return (within(scores, self.limit) + self.biases) / self.temperature, tuple(part / self.temperature for part in table)

    def probabilities(self, problem: Any, scores: NDArray, start: NDArray, table: tuple) -> tuple[NDArray, NDArray]:
        """Return the probabilities of labels, of shape (n_tokens, n_classes).

        With them come log sum exp over the paths of each sequence.
        """
        scores, table = self.read(scores, table)
        return problem.probabilities(np.ascontiguousarray(scores), start, *table)


def within(scores: NDArray, limit: float) -> NDArray:
    """Return scores (n, n_classes) whose distances to the mean of their token are within a limit.

    A longer distance adds next to nothing, as in `ClassMap`.
    """
    if limit == LARGEST:
        return scores
    mean = scores.mean(axis=1, keepdims=True)
    size = np.abs(scores - mean).max(axis=1, keepdims=True)
    excess = np.maximum(size - limit, 0) / limit
    share = np.where(excess > 0, (1 + BEYOND_LIMITS * excess / (1 + excess)) * limit / np.maximum(size, limit), 1.0)
    return np.where(excess > 0, mean + share * (scores - mean), scores)


def fitted(problem: Any, scores: NDArray, labels: Any, table: tuple) -> TemperatureScaling:
    """Return the likeliest temperature, biases and limit on held-out sequences.

    Guo et al. (2017) for single labels; here it is the likelihood of whole sequences, as in a conditional random field (Lafferty
    et al. 2001), with a biases' prior as strong as a token.  The limit is the likeliest without biases.
    """
    from scipy.optimize import minimize  # a predictor has fitted temperatures, and does without SciPy

    usual = float(np.median(np.abs(scores - np.median(scores)))) or 1.0  # scores have a unit of their own
    few = max(1, int(np.searchsorted(labels.starts, FEW_TOKENS, side="right")) - 1)
    limit, begin = likeliest_limit(problem, scores, first_sequences(labels, few), table, usual)
    start, codes, scores = labels.starts, labels.array, within(scores, limit)
    paths = problem.scores_of_paths(scores, labels, *table)
    counts = np.bincount(codes, minlength=scores.shape[1]).astype(np.float64)

    def loss_of(z: NDArray) -> tuple[float, NDArray]:
        """Return minus the log-likelihood and its slopes; biases are in units of the temperature."""
        found, slope_of_heat = at(z[0], z[1:])
        hotter = at(z[0] + STEP, z[1:], slopes=False)[0]
        slopes = np.concatenate([[(hotter - found) / STEP], slope_of_heat + PRIOR * z[1:]])
        return (found + PRIOR * float(z[1:] @ z[1:]) / 2) / len(codes), slopes / len(codes)

    def at(heat: float, biases: NDArray, *, slopes: bool = True) -> tuple[float, NDArray]:
        temperature = usual * np.exp(heat)
        read = TemperatureScaling(temperature, biases * temperature)
        probabilities, whole = read.probabilities(problem, scores, start, table)
        found = float(whole.sum() - paths.sum() / temperature - counts @ biases)
        return found, probabilities.sum(axis=0) - counts if slopes else counts

    bounds = [(-FARTHEST, FARTHEST), *[(None, None)] * scores.shape[1]]
    how = {"jac": True, "method": "L-BFGS-B", "options": {"ftol": PRECISION}}
    best = minimize(loss_of, np.concatenate([[begin], np.zeros(scores.shape[1])]), bounds=bounds, **how).x
    temperature = float(usual * np.exp(best[0]))
    return TemperatureScaling(temperature, best[1:] * temperature, limit)


def first_sequences(labels: Any, n: int) -> Any:
    """Return the labels of the first n sequences."""
    return type(labels)(labels.array[: labels.starts[n]], labels.starts[: n + 1])


def likeliest_limit(problem: Any, scores: NDArray, labels: Any, table: tuple, usual: float) -> tuple[float, float]:
    """Return the likeliest limit, and the logarithm of its temperature in units of the usual size of scores.

    Without a limit, the temperature would be that of the few scores far out.
    """
    from scipy.optimize import minimize_scalar

    scores, no_bias, found = scores[: labels.starts[-1]], np.zeros(scores.shape[1]), []
    _, *closer = limits_of_rows(scores - scores.mean(axis=1, keepdims=True))
    for limit in (LARGEST, *closer):
        part = np.ascontiguousarray(within(scores, limit))
        paths = problem.scores_of_paths(part, labels, *table)

        def minus_log_likelihood(heat: float, part: NDArray = part, paths: NDArray = paths) -> float:
            read = TemperatureScaling(usual * float(np.exp(heat)), no_bias)
            whole = read.probabilities(problem, part, labels.starts, table)[1]
            return float(whole.sum() - paths.sum() / read.temperature)

        begin = min(STARTS, key=minus_log_likelihood)  # far from the best one all slopes are next to 0
        near = (begin - STARTS.step, begin + STARTS.step)
        best = minimize_scalar(minus_log_likelihood, bounds=near, method="bounded", options={"xatol": CLOSE})
        found.append((float(best.fun), float(limit), float(best.x)))
    return min(found)[1:]
