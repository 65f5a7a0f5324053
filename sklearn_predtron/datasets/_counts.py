"""Parameters that count something."""

from __future__ import annotations

from numbers import Integral


def check_counts(**counts: int) -> None:
    """Refuse what is not a positive integer."""
    for name, value in counts.items():
        if not (isinstance(value, Integral) and value >= 1):
            raise ValueError(f"{name}={value!r} must be an integer of at least 1.")
