"""Warnings that name the user's line."""

from __future__ import annotations

import sys
import warnings

# The packages whose code stands between the user's call and the warning.
WITHIN = ("sklearn_predtron", "sklearn", "joblib")


def warn(message: str) -> None:
    """Warn at the user's line.

    The call may have come through scikit-learn: a pipeline, a search, a decorator.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in WITHIN:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
