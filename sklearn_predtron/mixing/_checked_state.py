"""Learner states as arrays, and checks of such arrays."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.mixable_state import KINDS, Moments, Recent, State
from sklearn_predtron._support.array_file import Arrays

OF_PARTS: dict[str, Any] = {"moments": Moments, "recent": Recent}
ROUNDING, TINY = 1e-6, 1e-290  # of sums that were divided and multiplied by a mass


def arrays_of(state: State) -> Arrays:
    """Return the fields of a state as arrays, by their kinds and names."""
    fields = {f"{kind}/{name}": value for kind in KINDS for name, value in state[kind].items()}
    for kind in OF_PARTS:
        for name, whole in state[kind].items():
            del fields[f"{kind}/{name}"]
            fields |= {f"{kind}/{name}/{part}": value for part, value in whole._asdict().items()}
    return {name: state_array(value) for name, value in fields.items()}


def state_array(value: Any) -> np.ndarray:
    """Return a value as an array of one of three types."""
    array = np.asarray(value)
    return array.astype({"b": np.bool_, "i": np.int64, "f": np.float64}[array.dtype.kind], copy=False)


def state_of(arrays: Arrays) -> State:
    """Return the state with these fields."""
    state: State = {kind: {} for kind in KINDS}
    parts: dict[tuple[str, str], dict[str, Any]] = {}
    for name, array in arrays.items():
        kind, field = name.split("/", 1)
        value = array.item() if array.ndim == 0 else array
        if kind in OF_PARTS:
            field, part = field.rsplit("/", 1)
            parts.setdefault((kind, field), {})[part] = value
        else:
            state[kind][field] = value
    for (kind, field), found in parts.items():
        state[kind][field] = OF_PARTS[kind](**found)
    return state


def validated_state(learner: Learner, arrays: Arrays) -> State:
    """Validate a state; return it if a learner can continue.

    The fields are compared with those of an untrained learner and of a learner that has restored the state.  The checks of a
    saved learner are made as it is copied.
    """
    expected = arrays_of(learner.export())
    for name in expected:
        check_form(name, arrays.get(name), expected[name])
    for name, array in arrays.items():
        allowed = np.isfinite(array) if name.startswith("recent/") else np.isfinite(array) | (array == expected.get(name, 0))
        if not allowed.all():
            raise ValueError(f"{name} is not finite")
    state, other = state_of(arrays), copy.deepcopy(learner)
    with np.errstate(all="ignore"):
        other.adopt(state, True)
        other = copy.deepcopy(other)
        found = arrays_of(other.export())
        for name in {**arrays, **found}:
            check_form(name, arrays.get(name), found.get(name))
            if not same_but_for_rounding(arrays[name], found[name]):
                raise ValueError(f"{name} does not go with the other fields")
        if not all(np.isfinite(array).all() for array in (*other.weights.last(), *other.weights.mean())):
            raise ValueError("its weights are not finite")
    return state


def check_form(name: str, found: np.ndarray | None, expected: np.ndarray | None) -> None:
    """Raise ValueError if a field is missing or malformed."""
    if found is None or expected is None:
        raise ValueError(f"{name} is {'missing' if found is None else 'not expected'}")
    of_rows = name.startswith("recent/") and found.ndim > 0  # of which there are more or fewer
    if (found.dtype, found.shape[of_rows:]) != (expected.dtype, expected.shape[of_rows:]):
        raise ValueError(
            f"{name} has type {found.dtype} and shape {found.shape}, and should have {expected.dtype} and {expected.shape}"
        )


def same_but_for_rounding(found: np.ndarray, expected: np.ndarray) -> bool:
    """Return whether two arrays are equal up to rounding."""
    if found.dtype.kind != "f":
        return np.array_equal(found, expected)
    size = np.abs(expected, where=np.isfinite(expected), out=np.zeros_like(expected)).max(initial=TINY)
    return bool(np.isclose(found, expected, rtol=0, atol=ROUNDING * size).all())


def finite_numbers(values: Any) -> tuple[float, ...]:
    """Return a non-empty list of finite numbers."""
    numbers = tuple(map(float, values))
    if not numbers or not all(type(value) in (int, float) for value in values) or not all(map(math.isfinite, numbers)):
        raise ValueError("its losses are not finite numbers")
    return numbers
