"""Losses and weights of rows, checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, column_or_1d

from sklearn_predtron._support.compat import check_sample_weight
from sklearn_predtron._support.encoding import are_texts, is_missing_label
from sklearn_predtron._support.queries import shortened


def losses_of_rows(loss: Callable | None, y_true: NDArray, y_pred: NDArray) -> NDArray:
    """Return the loss of each row, which is 0-1 if none is given."""
    if loss is None:
        if are_texts(y_true.ravel()) != are_texts(y_pred.ravel()):
            raise ValueError("y_pred holds labels of another type than y_true; both must hold text, or neither.")
        return (y_true != y_pred).reshape(len(y_true), -1).any(axis=1).astype(np.float64)
    losses = read_reals(loss(y_true, y_pred), "loss")
    check_rows("loss", losses, len(y_true))
    return losses


def read_reals(values: Any, parameter: str) -> NDArray:
    """Return finite numbers as float64."""
    try:
        found: NDArray = check_array(values, ensure_2d=False, dtype=np.float64, input_name=parameter)
    except (TypeError, OverflowError):  # objects, pandas.NA, integers beyond the floats
        raise ValueError(f"{parameter}={shortened(values)} does not hold finite numbers, which alone are accepted.") from None
    return found


def read_labels(values: Any, parameter: str) -> NDArray:
    """Return labels in one dimension, none of which is missing."""
    found: NDArray = column_or_1d(values)
    if any(map(is_missing_label, found.tolist())):
        raise ValueError(f"{parameter} holds None or NaN; accepted are labels.")
    if found.dtype.kind == "O":
        try:
            np.unique(found)
        except TypeError:
            raise ValueError(
                f"{parameter}={shortened(values)} holds labels without an order; accepted are numbers, or strings."
            ) from None
    return found


def check_rows(parameter: str, values: NDArray, n: int) -> None:
    """Raise ValueError unless there is one entry for each of n rows."""
    if values.shape != (n,):
        raise ValueError(f"{parameter} has shape {values.shape}; it must have one entry for each of the {n} rows.")


def read_weight(sample_weight: Any, losses: NDArray) -> NDArray:
    """Return the non-negative weight of each row."""
    weight: NDArray = check_sample_weight(sample_weight, losses)
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one weight must be positive.")
    return weight
