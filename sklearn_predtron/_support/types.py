"""Types where scikit-learn has none, so that an editor completes what follows ``.fit(X, y)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from typing_extensions import Self as Self

Method = TypeVar("Method", bound=Callable[..., Any])


def keeping_type(decorator: Any) -> Callable[[Method], Method]:
    """Return a decorator as one whose methods have the type that they had without it."""
    return decorator
