"""Packages whose public names come when they are used.

Predictions need compiled modules of these packages, and not the classes, which need scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any


def names_from(package: dict[str, Any], module: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the functions `__getattr__` and `__dir__` of a package.

    The package is given by its globals; `module` defines its public names.
    """

    def find(name: str) -> Any:
        if name.startswith("_"):  # a module of the package, which the import statement looks for here first
            raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
        found = import_module(module)
        package.update({public: getattr(found, public) for public in package["__all__"]})
        try:
            return getattr(found, name)
        except AttributeError:
            raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}") from None

    def listed() -> list[str]:
        return sorted({*package, *package["__all__"]})

    return find, listed


def give_public_paths(package: ModuleType, names: dict[str, Any]) -> None:
    """Make the package the module of its public classes and functions.

    Saved models name their classes by these paths, whatever module defines them.
    """
    for name in package.__all__:
        names[name].__module__ = package.__name__
