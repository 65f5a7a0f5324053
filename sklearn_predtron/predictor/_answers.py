"""Answers that follow from scores, of estimators and of predictors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


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


def possible(found: NDArray, allowed: bool) -> NDArray:
    """Return `found` if the constraint allows labels; raise ValueError if it allows none for some sequence."""
    if not allowed:
        raise ValueError("The constraint allows no sequence of labels as long as one of X; predict shorter ones.")
    return found
