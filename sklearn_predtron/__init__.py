"""Mistake-driven online learning for general prediction problems, as scikit-learn estimators."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sklearn_predtron._support import quiet_start as quiet_start

# isort: split
from sklearn_predtron._support.version import __version__ as __version__

if TYPE_CHECKING:
    from sklearn_predtron.families._public import *  # noqa: F403  (type checkers read `__all__`)
    from sklearn_predtron.families._public import __all__ as __all__

MODULES = {
    "callbacks",
    "datasets",
    "decisions",
    "estimator_checks",
    "features",
    "inspection",
    "losses",
    "metrics",
    "mixing",
    "norms",
    "representations",
    "theory",
    "updates",
}


def __getattr__(name: str) -> Any:
    """Import a public name or module when it is first used.

    The help and the errors of the command line do without them, and so without scikit-learn, whose import takes long.
    """
    if name in MODULES:
        return import_module(f"{__name__}.{name}")
    if not name.startswith("_") or name == "__all__":
        public = import_module(f"{__name__}.families._public")
        if name == "__all__" or name in public.__all__:
            found = globals()[name] = getattr(public, name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *import_module(f"{__name__}.families._public").__all__, *MODULES})
