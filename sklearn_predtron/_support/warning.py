"""Warnings that name the user's line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Container
from types import FrameType

# The packages whose code stands between the user's call and the warning.
WITHIN = ("sklearn_predtron", "sklearn", "joblib")


def frames_to_user() -> list[FrameType]:
    """Return the frames from the caller's to the user's, both included."""
    frame = sys._getframe(1)
    found = [frame]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in WITHIN:
        frame = frame.f_back
        found.append(frame)
    return found


def warn(message: str) -> None:
    """Warn at the user's line; the call may have come through scikit-learn: a pipeline, a search, a decorator."""
    warnings.warn(message, UserWarning, stacklevel=len(frames_to_user()))


def caller_among(names: Container[str]) -> str | None:
    """Return the class of the nearest object of scikit-learn that called, if its name is among some.

    A chain of which probabilities, not predictions, go to the next model does not count.
    """
    for frame in frames_to_user():
        caller = frame.f_locals.get("self")
        name = type(caller).__name__
        if name in names and frame.f_globals.get("__name__", "").startswith("sklearn."):
            return name if getattr(caller, "chain_method_", "predict") == "predict" else None
    return None
