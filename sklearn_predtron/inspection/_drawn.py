"""Curves that the displays draw, from losses, scores and margins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from sklearn_predtron._support.compat import check_sample_weight
from sklearn_predtron.families.labels.classes import are_texts


def losses_of(loss: Callable | None, y_true: NDArray, y_pred: NDArray) -> NDArray:
    """Return the loss of each row, which is 0-1 if none is given."""
    if loss is None:
        if are_texts(y_true.ravel()) != are_texts(y_pred.ravel()):
            raise ValueError("y_pred holds labels of another type than y_true; both must hold text, or neither.")
        return (y_true != y_pred).reshape(len(y_true), -1).any(axis=1).astype(np.float64)
    losses = check_array(loss(y_true, y_pred), ensure_2d=False, dtype=np.float64, input_name="loss")
    check_rows("loss", losses, len(y_true))
    return losses


def check_rows(parameter: str, values: NDArray, n: int) -> None:
    if values.shape != (n,):
        raise ValueError(f"{parameter} has shape {values.shape}; it must have one entry for each of the {n} rows.")


def read_weight(sample_weight: Any, losses: NDArray) -> NDArray:
    """Return the non-negative weight of each row."""
    weight: NDArray = check_sample_weight(sample_weight, losses, dtype=np.float64, ensure_non_negative=True)
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one weight must be positive.")
    return weight


def mean(losses: NDArray, weight: NDArray) -> float:
    """Return the weighted mean, or nan if there is no weight."""
    return float(np.average(losses, weights=weight)) if weight.any() else float("nan")


def risk_at_coverages(losses: NDArray, margins: NDArray, weight: NDArray) -> tuple[NDArray, NDArray]:
    """Return coverage and risk for each distinct threshold."""
    order = np.argsort(-margins, kind="stable")
    order = order[weight[order] > 0]
    last = np.append(np.flatnonzero(np.diff(margins[order])), len(order) - 1)  # of the rows of equal margins
    accepted, lost = np.cumsum(weight[order])[last], np.cumsum((weight * losses)[order])[last]
    return accepted / accepted[-1], lost / accepted


def leads(scores: NDArray, codes: NDArray) -> NDArray:
    """Return the correct score minus the best other one."""
    rows = np.arange(len(scores))
    others = scores.copy()
    others[rows, codes] = -np.inf
    return scores[rows, codes] - others.max(axis=1)


def edges_through_zero(values: NDArray, most: int = 100) -> NDArray:
    """Return equal-width bin edges, one of them at 0.

    The width is that of Freedman and Diaconis (1981), or of Sturges (1926) if that is less.
    """
    n, span = len(values), float(np.ptp(values))
    width = span / (np.log2(n) + 1)
    narrow = 2 * np.subtract(*np.percentile(values, [75, 25])) / np.cbrt(n)
    width = max(min(width, narrow) if narrow > 0 else width, span / most) or 1.0
    first, last = np.floor(values.min() / width), np.floor(values.max() / width) + 1
    edges = width * np.arange(first, last + 1)
    edges[0], edges[-1] = min(edges[0], values.min()), max(edges[-1], values.max())  # rounding loses no value
    return edges
