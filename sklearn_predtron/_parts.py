"""From an alias or an instance to a part."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._compat import CachedParameterNames


class Part(CachedParameterNames):
    """Base of the parts of a learner: updates, norms, losses, representations.

    A part has an `alias` by which a string names it, parameters of its own (`get_params`, `set_params`, so that a search
    reaches them as ``update__C``) and a `build` that makes its compiled counterpart.
    """

    alias: str | None = None


P = TypeVar("P", bound=Part)


def kinds(base: type[P]) -> list[type[P]]:
    """All parts of a kind that have an alias of their own, in the order of their definition."""
    found = [base] if vars(base).get("alias") else []
    for child in base.__subclasses__():
        found += kinds(child)
    return found


def as_numbers(value: Any, parameter: str, accepted: str) -> NDArray:
    """A copy of `value` as an array of float64."""
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{parameter}={value!r} does not hold numbers; accepted is {accepted}.") from None


def resolve(base: type[P], value: Any, parameter: str) -> P:
    """The part that `value`, an alias or an instance, stands for."""
    if isinstance(value, base):
        return value
    known = {kind.alias: kind for kind in kinds(base)}
    if isinstance(value, str) and value in known:
        return known[value]()
    aliases = ", ".join(repr(alias) for alias in known)
    raise ValueError(f"{parameter}={value!r} is not known; accepted are {aliases} and instances of {base.__name__}.")
