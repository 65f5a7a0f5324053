"""The sum of what shards have learned: a commutative monoid, but for rounding, whatever engine adds it up."""

from __future__ import annotations

import platform
from typing import Any, NamedTuple

from sklearn_predtron._core.learner import INSTRUCTIONS
from sklearn_predtron._core.mixed import KINDS, State
from sklearn_predtron._version import __version__

MADE_BY = f"sklearn_predtron {__version__}, {platform.machine()} {INSTRUCTIONS}"
ROUNDS = "clock.rounds"
FAN_IN = 8


class Contribution(NamedTuple):
    """What a shard, or several, have learned from the same state.

    Parameters
    ----------
    rounds : int
        Rounds taken; a shard of none counts for nothing.
    loss : float
        The loss of the rounds, times as many: its mean by rounds is what bounds are compared with.
    state : State
        The fields, of which those of a mean are multiplied by the rounds, and gains and moments are of these rounds alone.
    ends : tuple of Ends, default=()
        Where shards of queries or sequences begin and end.
    made_by : str, default=MADE_BY
        The version and the instruction set: what the last bits depend on.
    """

    rounds: int
    loss: float
    state: State
    ends: tuple[Any, ...] = ()
    made_by: str = MADE_BY


def contribution(before: State, after: State, ends: tuple[Any, ...] = ()) -> Contribution:
    """Return what a learner that went on from one state to another contributes; the arrays of the latter become its own."""
    rounds = int(after["gain"][ROUNDS] - before["gain"][ROUNDS])
    state = dict(after)
    for value in after["mean"].values():
        value *= rounds
    state["gain"] = {name: value - before["gain"][name] for name, value in after["gain"].items()}
    state["moments"] = {name: value.without(before["moments"][name]) for name, value in after["moments"].items()}
    return Contribution(rounds, rounds * after["sum"]["clock.loss"], state, ends)


def add(first: Contribution, *others: Contribution) -> Contribution:
    """Return the sum of contributions, in their order."""
    for other in others:
        if other.made_by != first.made_by:
            raise ValueError(
                f"contributions of {first.made_by!r} and {other.made_by!r} cannot be mixed: workers must have one version and "
                "one kind of processor, or the last bits would depend on which of them learned what."
            )
        combined = {kind: combine(kind, first.state[kind], other.state[kind]) for kind in KINDS}
        ends = first.ends + other.ends
        first = first._replace(rounds=first.rounds + other.rounds, loss=first.loss + other.loss, state=combined, ends=ends)
    return first


def combine(kind: str, first: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return the sum of the fields of a kind; what only one of them has, a sum of no rounds, say, is taken from there."""
    return {name: together(kind, first, other, name) for name in {**first, **other}}


def together(kind: str, first: dict[str, Any], other: dict[str, Any], name: str) -> Any:
    """Return the sum of a field."""
    if name not in first or name not in other:
        return first.get(name, other.get(name))
    if kind == "moments":
        return first[name].with_rows(other[name])
    if kind in ("most", "least"):
        return (max if kind == "most" else min)(first[name], other[name])
    return first[name] + other[name]


def add_all(contributions: list[Contribution]) -> Contribution:
    """Return the sum of all by a fixed tree, so that its rounding depends on nothing but their order."""
    while len(contributions) > 1:
        contributions = [add(*contributions[i : i + FAN_IN]) for i in range(0, len(contributions), FAN_IN)]
    return contributions[0]


def advance(state: State, learned: Contribution) -> State:
    """Return the mixture: the state that all have learned from, with what they have learned together."""
    if learned.rounds == 0:
        return state
    found = {kind: combine(kind, state[kind], learned.state[kind]) for kind in KINDS}
    found["mean"] = {name: value / learned.rounds for name, value in learned.state["mean"].items()}
    return found
