"""Checks of the state of a saved model; the whole state is checked before any of it is used."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = 2**62  # no count comes near

Field = Callable[[Any], Any]


def restored(owner: Any, state: Any, pattern: Any) -> Any:
    """Return the state of `owner` as accepted by the pattern.

    The pattern has an acceptor for each field, or for tuples of fields.

    Raises
    ------
    ValueError
        If the state is of another form, or one of its numbers is out of range.
    """
    try:
        if getattr(owner, "d", 1) < 1:  # an object without sizes has no room for a state
            raise ValueError("it belongs to an object that was not initialised")
        return accept(state, pattern)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"The saved state of a {type(owner).__name__} is damaged: {error}.") from None


def accept(value: Any, field: Any) -> Any:
    """Return the value of a field, or of a tuple of fields."""
    if not isinstance(field, tuple):
        return field(value)
    if not isinstance(value, (tuple, list)) or len(value) != len(field):
        raise ValueError(f"where {len(field)} values are expected there is {shown(value)}")
    return tuple(accept(inner, part) for inner, part in zip(value, field, strict=True))


def shown(value: Any) -> str:
    """Describe a value in a few words."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and type {value.dtype}"
    return f"a tuple of {len(value)}" if isinstance(value, (tuple, list)) else f"{value!r:.60}"


def real(value: Any) -> float:
    """Accept a finite number."""
    if not isinstance(value, Real) or isinstance(value, (bool, np.bool_)) or not math.isfinite(value):
        raise ValueError(f"{shown(value)} is not a finite number")
    return float(value)


def between(least: float, most: float) -> Field:
    """Accept a number from least to most; either may be infinite."""

    def field(value: Any) -> float:
        if not isinstance(value, Real) or isinstance(value, (bool, np.bool_)) or not least <= float(value) <= most:
            raise ValueError(f"{shown(value)} is not a number between {least:g} and {most:g}")
        return float(value)

    return field


def whole(least: int = -MOST, most: int = MOST) -> Field:
    """Accept a whole number from least to most."""

    def field(value: Any) -> int:
        if not isinstance(value, Integral) or isinstance(value, (bool, np.bool_)) or not least <= int(value) <= most:
            raise ValueError(f"{shown(value)} is not a whole number between {least} and {most}")
        return int(value)

    return field


count = whole(0)


def flag(value: Any) -> bool:
    """Accept True or False."""
    if not isinstance(value, (bool, np.bool_)) and not (isinstance(value, Integral) and value in (0, 1)):
        raise ValueError(f"{shown(value)} is neither True nor False")
    return bool(value)


def reals(*shape: int, least: float = -math.inf) -> Field:
    """Accept and copy an array of finite numbers.

    It must have the given shape.  The copy can be written, unlike an array in a memory map.
    """

    def field(value: Any) -> NDArray:
        checked = array(value, np.dtype(np.float64), shape)
        if not np.isfinite(checked).all() or (checked < least).any():
            raise ValueError(f"an array of shape {shape} holds numbers that are not finite, or below {least:g}")
        return checked

    return field


def wholes(*shape: int, least: int, most: int) -> Field:
    """Accept and copy an array of whole numbers; they must be from least to most, and the array of the given shape."""

    def field(value: Any) -> NDArray:
        checked = array(value, np.dtype(np.intp), shape)
        if (checked < least).any() or (checked > most).any():
            raise ValueError(f"an array of shape {shape} holds numbers that are not between {least} and {most}")
        return checked

    return field


def array_like(present: NDArray, least: int = 0, most: int = 0) -> Field:
    """Accept and copy an array like the present one; whole numbers must be from least to most."""
    if present.dtype == np.intp:
        return wholes(*present.shape, least=least, most=most)
    return reals(*present.shape)


def numbers_like(present: Any) -> Any:
    """Return the pattern of flags, counts and numbers like the present ones."""
    if isinstance(present, tuple):
        return tuple(map(numbers_like, present))
    return flag if isinstance(present, bool) else count if isinstance(present, int) else real


def array(value: Any, dtype: np.dtype, shape: tuple[int, ...]) -> NDArray:
    """Copy an array of the given type and shape."""
    if not isinstance(value, np.ndarray) or value.dtype != dtype or value.shape != shape:
        raise ValueError(f"where an array of shape {shape} and type {dtype} is expected there is {shown(value)}")
    return np.array(value, order="C")


def optional(kind: type) -> Field:
    """Accept an object of a class, or None."""

    def field(value: Any) -> Any:
        if value is not None and not isinstance(value, kind):
            raise ValueError(f"{shown(value)} is no {kind.__name__}")
        return value

    return field


def nothing(value: Any) -> None:
    """Accept None."""
    if value is not None:
        raise ValueError(f"where nothing is expected there is {shown(value)}")


def length_of(state: Any, *path: int, axis: int = 0) -> int:
    """Return the length of the array at a path of indices; return 0, which no pattern accepts, if there is none."""
    for place in path:
        if not isinstance(state, (tuple, list)) or place >= len(state):
            return 0
        state = state[place]
    return state.shape[axis] if isinstance(state, np.ndarray) and state.ndim > axis else 0


class Captured:
    """A snapshot of an object; pickles and copies of the snapshot are those of the object at that time."""

    def __init__(self, reduced: tuple[Any, ...]):
        self.reduced = reduced

    def __reduce__(self) -> tuple[Any, ...]:
        return self.reduced


def capture(part: Any, captured: dict[int, Captured]) -> Any:
    """Return a snapshot of a compiled object; each of its compiled parts is included once."""
    if not hasattr(type(part), "__pyx_vtable__"):
        return part
    if id(part) not in captured:
        kind, arguments, *state = part.__reduce__()
        captured[id(part)] = Captured((kind, tuple(capture(inner, captured) for inner in arguments), *state))
    return captured[id(part)]
