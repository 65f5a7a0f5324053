"""Contributions of learners of different rows to their mean; their sum is a commutative monoid, except for rounding."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sklearn_predtron._core.mixable_state import KINDS, State, fields

ROUNDS = "clock.rounds"


class Contribution(NamedTuple):
    """The contribution of shards trained from the same state.

    Parameters
    ----------
    rounds : int
        Number of rounds; a shard without rounds counts for nothing.
    loss : float
        The loss of the rounds, times as many.  Bounds are compared with its mean by rounds.
    state : State
        The fields, of which those of a mean are multiplied by the rounds, and gains and moments are of these rounds alone.
    seen : tuple of Seen, default=()
        Observations of the shards in their first pass.
    made_by : str, default=""
        The environment on which the last bits depend beside the rows, where learners of several machines may be mixed.
    """

    rounds: int
    loss: float
    state: State
    seen: tuple[Any, ...] = ()
    made_by: str = ""


def contribution(
    before: State, after: State, seen: tuple[Any, ...] = (), *, pooled: bool = False, made_by: str = ""
) -> Contribution:
    """Return the contribution of training from one state to another.

    It takes over the arrays of `after`.

    Its sums started at 0, unless they are `pooled` and continued.
    """
    rounds = int(after["gain"][ROUNDS] - before["gain"][ROUNDS])
    if rounds == 0:
        return Contribution(0, 0.0, fields(), seen, made_by)  # gains would be rounding errors
    state = dict(after)
    for value in after["mean"].values():
        value *= rounds
    state["gain"] = {name: value - before["gain"][name] for name, value in after["gain"].items()}
    if pooled:
        state["sum"] = {name: value - before["sum"].get(name, 0) for name, value in after["sum"].items()}
    state["moments"] = {name: value.without(before["moments"][name]) for name, value in after["moments"].items()}
    return Contribution(rounds, rounds * state["sum"]["clock.loss"], state, seen, made_by)


def add(first: Contribution, *others: Contribution, in_place: bool = False) -> Contribution:
    """Return the sum of contributions, in their order; with `in_place`, the sum may reuse their arrays."""
    for other in others:
        if other.made_by != first.made_by:
            raise ValueError(
                f"contributions of {first.made_by!r} and {other.made_by!r} cannot be mixed: workers must have one version and "
                "one kind of processor, or the last bits would depend on the worker of a row."
            )
        combined = {kind: combine(kind, first.state[kind], other.state[kind], in_place) for kind in KINDS}
        first = first._replace(
            rounds=first.rounds + other.rounds, loss=first.loss + other.loss, state=combined, seen=first.seen + other.seen
        )
    return first


def combine(kind: str, first: dict[str, Any], other: dict[str, Any], in_place: bool = False) -> dict[str, Any]:
    """Return the sum of the fields of a kind; a field that only one of them has is copied."""
    return {name: together(kind, first, other, name, in_place) for name in {**first, **other}}


def together(kind: str, first: dict[str, Any], other: dict[str, Any], name: str, in_place: bool) -> Any:
    """Return the sum of a field."""
    if name not in first or name not in other:
        return first.get(name, other.get(name))
    if kind in ("moments", "recent"):
        return first[name].with_rows(other[name])
    if kind in ("most", "least"):
        return (max if kind == "most" else min)(first[name], other[name])
    if in_place and isinstance(first[name], np.ndarray):
        return np.add(first[name], other[name], out=first[name])
    return first[name] + other[name]


def advance(state: State, learned: Contribution) -> State:
    """Return the mixture of contributions; it is the common initial state with the sum of the contributions."""
    if learned.rounds == 0:
        return state
    found = {kind: combine(kind, state[kind], learned.state[kind]) for kind in KINDS}
    found["mean"] = {name: value / learned.rounds for name, value in learned.state["mean"].items()}
    return found
