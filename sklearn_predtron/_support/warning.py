"""Warnings that name the user's line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Container
from types import FrameType

# The packages whose code stands between the user's call and the warning.
WITHIN = ("sklearn_predtron", "sklearn", "joblib")


def is_within(frame: FrameType) -> bool:
    """Return whether a frame stands between the user's call and the warning."""
    return frame.f_globals.get("__name__", "").partition(".")[0] in WITHIN


def warn(message: str) -> None:
    """Warn at the user's line; the call may have come through scikit-learn: a pipeline, a search, a decorator."""
    frame, level = sys._getframe(0), 1
    while frame.f_back is not None and is_within(frame):
        frame, level = frame.f_back, level + 1
    del frame  # of a frame that knows itself, all locals would live until the collector of cycles comes
    warnings.warn(message, UserWarning, stacklevel=level)


def caller_among(names: Container[str]) -> str | None:
    """Return the class of the nearest object of scikit-learn that called, if its name is among some.

    A chain of which probabilities, not predictions, go to the next model does not count.
    """
    frame = sys._getframe(1).f_back
    while frame is not None and is_within(frame):
        caller = frame.f_locals.get("self")
        name = type(caller).__name__
        if name in names and frame.f_globals.get("__name__", "").startswith("sklearn."):
            return name if getattr(caller, "chain_method_", "predict") == "predict" else None
        frame = frame.f_back
    return None
