"""Fingerprints of parts, made of plain values."""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import Any

import joblib
import numpy as np


def fingerprint(problem: Any, update: Any) -> str:
    """Return text that identifies a compiled problem and update."""
    return joblib.hash([made_of(problem), made_of(update)])


def made_of(value: Any) -> Any:
    """Return plain values that identify a part; user-defined objects, which can change, are identified by class."""
    if value is None or isinstance(value, (str, bytes, bool, int, float, np.generic, np.ndarray)):
        return value
    if isinstance(value, (list, tuple)):
        return [made_of(item) for item in value]
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, FunctionType):
        return [kind, value.__qualname__, made_of(value.__code__)]
    if isinstance(value, CodeType):
        return [kind, value.co_code, made_of(value.co_consts), made_of(value.co_names)]
    if hasattr(value, "get_params") and not isinstance(value, type):
        return [kind, sorted((name, made_of(item)) for name, item in value.get_params(deep=False).items())]
    if hasattr(type(value), "__pyx_vtable__"):
        return [kind, made_of(value.__reduce__()[1])]
    return [kind, getattr(value, "__qualname__", "")]
