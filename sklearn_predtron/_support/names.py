"""Messages on unknown names, parameters and classes as values."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any


def letters_and_digits(name: str) -> str:
    """Return the letters and digits of a name, in lower case."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def meant(kinds: Iterable[Any], name: str) -> str | None:
    """Return the meant name of a misspelling or synonym; synonyms are from papers and libraries; None if no name is close."""
    stem, at, k = name.partition("@")
    spellings: dict[str, str] = {}
    for kind in kinds:
        if at and "k" not in kind._get_param_names():
            continue
        alias = f"{kind.__name__}(k={k if k.isdecimal() else 10})" if at else repr(kind.alias)
        spellings |= dict.fromkeys(map(letters_and_digits, (kind.alias, kind.__name__, *kind.synonyms)), alias)
        spellings |= {
            letters_and_digits(variant): repr(kind(**settings)) for variant, settings in kind.variants.items() if not at
        }
    close = get_close_matches(letters_and_digits(stem), spellings, n=1, cutoff=0.8)
    return spellings[close[0]] if close else None


def unknown(parameter: str, value: Any, kinds: Sequence[Any], base: type, also: str = "") -> str:
    """Return the message for an unknown part; it lists the accepted parts and `also`."""
    names = ", ".join([*(repr(kind.alias) for kind in kinds), *filter(None, [also])])
    message = f"{parameter}={value!r} is not known; accepted are {names} and instances of {base.__name__}."
    advice = meant(kinds, value) if isinstance(value, str) else None
    return message if advice is None else f"{message}  Did you mean {advice}?"


def no_parameter(parameter: str, alias: str, inner: str, value: Any, kinds: Sequence[Any]) -> str:
    """Return the message for a parameter of an alias."""
    start = f"{parameter}__{inner}={value!r} cannot be set"
    kind = next((kind for kind in kinds if kind.alias == alias), None)
    own = [] if kind is None else kind._get_param_names()
    if kind is not None and inner in own:
        return f"{start} in an alias; pass {parameter}={kind.__name__}({inner}={value!r}) in place of {alias!r}."
    message = f"{start}: {parameter}={alias!r} has {listed('the parameter', own)}"
    if not kinds:
        return message + "."
    others = [other.__name__ for other in kinds if inner in other._get_param_names()]
    if not others:
        return f"{message}, and no {parameter} has {inner!r}."
    return f"{message}; {series(others)} {'has' if len(others) == 1 else 'have'} {inner!r}."


def without_parameters(name: str, value: Any, parameter: str, part: Any, kinds: Sequence[type]) -> str:
    """Return the message for a parameter of a parameterless part."""
    message = f"{name}={value!r} cannot be set: {parameter}={part!r} has no parameters"
    return f"{message}; pass an instance of {series([kind.__name__ for kind in kinds])}." if kinds else f"{message}."


def listed(what: str, names: Sequence[str]) -> str:
    """Return the quoted names after a noun."""
    if not names:
        return "no parameters"
    return f"{what}{'s' if len(names) > 1 else ''} {series([repr(name) for name in names])}"


def series(words: Sequence[str]) -> str:
    """Join words with commas and a final "and"."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def refuse_class(parameter: str, value: Any) -> None:
    """Raise ValueError for a class instead of an instance."""
    if isinstance(value, type):
        arguments = "..." if needs_arguments(value) else ""
        raise ValueError(f"{parameter}={value.__name__} is a class; pass an instance, {parameter}={value.__name__}({arguments}).")


def needs_arguments(kind: type) -> bool:
    """Return whether the constructor requires arguments."""
    try:
        parameters = inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)


def refusing(name: str, why: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator of methods that raise TypeError for an argument, with the reason."""

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def call(self: Any, *args: Any, **given: Any) -> Any:
            if name in given:
                raise TypeError(f"{type(self).__name__}.{method.__name__}() takes no {name}: {why}.")
            return method(self, *args, **given)

        return call

    return decorate
