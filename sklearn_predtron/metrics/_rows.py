"""Losses and weights of rows, checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from sklearn_predtron._support.compat import check_sample_weight
from sklearn_predtron._support.encoding import are_texts


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
    """Raise ValueError unless there is one entry for each of n rows."""
    if values.shape != (n,):
        raise ValueError(f"{parameter} has shape {values.shape}; it must have one entry for each of the {n} rows.")


def read_weight(sample_weight: Any, losses: NDArray) -> NDArray:
    """Return the non-negative weight of each row."""
    weight: NDArray = check_sample_weight(sample_weight, losses, dtype=np.float64, ensure_non_negative=True)
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one weight must be positive.")
    return weight
