"""Large arrays of which most is zero, as the weights of many classes are, saved without the zeros, to the last bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAST, MOST = 1 << 14, 0.5  # values that are worth it, and the share of them that may be other than zero
FIELDS = {"shape", "there", "values"}
BITS = {np.dtype(np.float64): np.uint64, np.dtype(np.float32): np.uint32}


def thin(array: NDArray) -> Any:
    """Return an array without its zeros, a bit for each value telling where they are; itself, if they are few."""
    if array.dtype not in BITS or array.size < LEAST or not array.flags.c_contiguous:
        return array
    values = array.reshape(-1)
    there = values.view(BITS[array.dtype]) != 0  # -0.0 is no zero
    if np.count_nonzero(there) > MOST * array.size:
        return array
    return {"shape": list(array.shape), "there": np.packbits(there), "values": values[there]}


def is_thin(value: Any) -> bool:
    """Return whether a saved value is an array without its zeros."""
    return isinstance(value, dict) and value.keys() == FIELDS


def whole(saved: dict[str, Any]) -> NDArray:
    """Return an array with its zeros; raise TypeError if it is damaged."""
    shape, there, values = saved["shape"], saved["there"], saved["values"]
    sizes = isinstance(shape, (list, tuple)) and all(type(n) is int and n >= 0 for n in shape)
    arrays = all(type(part) is np.ndarray and part.ndim == 1 for part in (there, values))
    if not sizes or not arrays or there.dtype != np.uint8 or values.dtype not in BITS or len(there) != -(-math.prod(shape) // 8):
        raise TypeError("an array without its zeros is none")
    places = np.unpackbits(there, count=math.prod(shape)).view(bool)
    if np.count_nonzero(places) != len(values):
        raise TypeError(f"an array has {np.count_nonzero(places)} places for {len(values)} values")
    array = np.zeros(math.prod(shape), dtype=values.dtype)
    array[places] = values
    return array.reshape(shape)
