"""What a tagger has learned of the transitions between labels, as attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron.families.estimator.attributes import learned, read_only
from sklearn_predtron.families.estimator.model import Model

OF_TRANSITIONS = ("transitions_", "start_", "end_")  # what is learned of them


def learned_scores(name: str, what: str) -> learned:
    """Return the property of a tagger that has scores of transitions, of the weights that predict or of the last iterate."""
    part, mean = OF_TRANSITIONS.index(name.removeprefix("last_")), not name.startswith("last_")

    def scores(tagger: Any) -> NDArray:
        return scores_of_transitions(tagger._model, mean)[part]

    scores.__name__ = name
    scores.__doc__ = f"Scores {what}, of shape {'(n_classes, n_classes)' if part == 0 else '(n_classes,)'}."
    return learned(scores)


def scores_of_transitions(model: Model, mean: bool) -> tuple[NDArray, NDArray, NDArray]:
    """Return the scores of transitions, of first and of last labels, -inf for what is forbidden."""
    A, start, end = model.learner.read(lambda weights: weights.transitions(mean))
    allowed = model.learner.problem.allowed
    if allowed is not None:
        A[~allowed[:-1]], start[~allowed[-1]] = -np.inf, -np.inf
    return read_only(A), read_only(start), read_only(end)
