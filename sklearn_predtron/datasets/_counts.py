"""Validation of counts."""

from __future__ import annotations

from numbers import Integral


def check_counts(**counts: int) -> None:
    """Raise ValueError unless values are positive integers."""
    for name, value in counts.items():
        if not (isinstance(value, Integral) and value >= 1):
            raise ValueError(f"{name}={value!r} must be an integer of at least 1.")
