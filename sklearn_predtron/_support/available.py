"""Methods that exist only with some parameters, and say why they do not."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any


class Available:
    """A method that an instance has if a check raises no AttributeError.

    Unlike that of :func:`sklearn.utils.metaestimators.available_if`, the message contains the reason.

    Parameters
    ----------
    method : callable
        The method.
    check : callable
        Raises AttributeError with the reason if the instance does not have the method.
    """

    def __init__(self, method: Callable, check: Callable[[Any], Any]) -> None:
        self.method, self.check = method, check
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return the method; a class has it in any case."""
        if instance is None:
            return self.method
        try:
            self.check(instance)
        except AttributeError as error:
            name = getattr(self.method, "__name__", "")
            raise AttributeError(f"This {type(instance).__name__!r} has no attribute {name!r}: {error}") from None
        return MethodType(self.method, instance)


def available_with_reason(check: Callable[[Any], Any]) -> Callable[[Callable], Any]:
    """Return a decorator of methods that exist if a check raises no AttributeError."""
    return lambda method: Available(method, check)
