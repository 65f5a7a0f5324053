"""Packages whose public names come when they are used.

Predictions need compiled modules of these packages, and not the classes, which need scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def from_module(package: dict[str, Any], module: str) -> Callable[[str], Any]:
    """Return the function `__getattr__` of a package.

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

    return find
