"""Dicts of costs by pairs of labels, in saved states."""

from __future__ import annotations

from typing import Any


def without_pairs(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state whose dicts by pairs are lists; formats such as that of skops have text keys only."""
    pairs = [name for name, value in state.items() if type(value) is dict and any(type(key) is tuple for key in value)]
    return state | {name: list(map(list, state[name].items())) for name in pairs} | ({"_pairs": pairs} if pairs else {})


def with_pairs(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state with its dicts of costs by pairs."""
    state = dict(state)
    return state | {name: {tuple(key): cost for key, cost in state[name]} for name in state.pop("_pairs", ())}
