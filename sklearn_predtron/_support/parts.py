"""Parts, from aliases or instances."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from sklearn_predtron._support.compat import CachedParameterNames
from sklearn_predtron._support.names import refuse_class, unknown
from sklearn_predtron._support.queries import shortened

# Parts by their alias, of which the first call of an estimator looks up twenty; until another part is defined.
KNOWN: dict[type, dict[Any, Any]] = {}


class Part(CachedParameterNames):
    """Base of updates, norms, losses and representations.

    A part has an `alias` by which a string names it, and parameters of its own (`get_params`, `set_params`, so that a search
    reaches them as ``update__C``).  Its `build` makes a compiled counterpart: ``loss.build(representation, classes)`` the
    problem, ``update.build(problem)`` the rule, ``norm.build(score_map, p, ...)`` the weights.  Where no part has the name that
    was given, `synonyms`, names of the papers and of other libraries, and `variants`, the parameters that some of these stand
    for, tell which one is meant.
    """

    alias: str | None = None
    offers: tuple[str, ...] = ()  # attributes that other parts need
    synonyms: tuple[str, ...] = ()
    variants: Mapping[str, Mapping[str, Any]] = {}
    last_change: Any = object()  # of any part that an estimator may have

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        KNOWN.clear()

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self):
            Part.last_change = object()
        super().__setattr__(name, value)


P = TypeVar("P", bound=Part)


def kinds(base: type[P]) -> list[type[P]]:
    """Return the parts with an own alias, by definition."""
    found = [base] if vars(base).get("alias") else []
    for child in base.__subclasses__():
        found += kinds(child)
    return found


def known(base: type[P]) -> dict[str | None, type[P]]:
    """Return the parts of a kind by alias."""
    found = KNOWN.get(base)
    if found is None:  # other threads may define parts meanwhile
        found = KNOWN[base] = {kind.alias: kind for kind in kinds(base)}
    return found


def checked_build(part: Any, problem: Any, kind: type, method: str = "build", **sizes: Any) -> Any:
    """Return the compiled result of a part's method, checked."""
    if isinstance(problem, kind) and all(getattr(problem, name) == size for name, size in sizes.items()):
        return problem
    found = shortened(problem)
    if isinstance(problem, kind):
        found = f"{type(problem).__name__} with " + " and ".join(f"{name} = {getattr(problem, name)}" for name in sizes)
    raise ValueError(
        f"{type(part).__name__}.{method}() returned {found}; accepted is a compiled {kind.__name__} with "
        + " and ".join(f"{name} = {size}" for name, size in sizes.items())
        + "."
    )


def resolve(base: type[P], value: Any, parameter: str, build: Callable[[P], Any] | None = None, also: str = "") -> P:
    """Return the part that an alias or instance denotes.

    For other values the error names the parts that `build` accepts.

    The error also names `also`, which is accepted besides parts.
    """
    if isinstance(value, base):
        return value
    if isinstance(value, str) and value in known(base):
        return known(base)[value]()
    refuse_class(parameter, value)
    fitting = [kind for kind in known(base).values() if build is None or can_build(kind, build)]
    raise ValueError(unknown(parameter, value, fitting, base, also))


def can_build(kind: type[P], build: Callable[[P], Any]) -> bool:
    """Return whether a default part can be built; a family rejects others when it builds them."""
    try:
        build(kind())
    except (TypeError, ValueError):
        return False
    return True
