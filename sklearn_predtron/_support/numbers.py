"""Real numbers in any form, as floats."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST_LOSS = 1e100


def real_numbers(value: Any) -> NDArray | None:
    """Copy a value to float64; None unless it is real."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):  # rows of different lengths
        return None
    if array.dtype.kind == "O" and not all(isinstance(item, (Real, Decimal, np.bool_)) for item in array.flat):
        return None
    if array.dtype.kind not in "biufO" or np.ma.is_masked(value):
        return None
    try:
        with np.errstate(over="ignore"):
            return np.array(array, dtype=np.float64, order="C")
    except (OverflowError, ValueError):  # an integer beyond the floats, a signalling NaN of a Decimal
        return None


def real_number(value: Any) -> float | None:
    """Convert a value to a float; None unless it is real."""
    number = real_numbers(value)
    return None if number is None or number.ndim > 0 else float(number)


def as_numbers(value: Any, parameter: str, accepted: str) -> NDArray:
    """Copy `value` to an array of float64."""
    array = real_numbers(value)
    if array is None:
        raise ValueError(f"{parameter}={value!r} does not hold numbers; accepted is {accepted}.")
    return array
