"""The states by which learners of different rows are mixed.

A state has fields, each with the way in which it is combined.

A state has fields of these kinds, by name:

- "mean": the weights, whose mean by rounds is the mixture;
- "sum": totals that began at 0 with the rows of a shard, and add up;
- "gain": totals that the shard continued from, of which its own part adds up;
- "most" and "least": the largest and the smallest;
- "moments": running means and variances, which are pooled;
- "recent": the last rows of all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

State = dict[str, dict[str, Any]]
KINDS = ("mean", "sum", "gain", "most", "least", "moments", "recent")


class Moments(NamedTuple):
    """Statistics of features over some rows.

    They are pooled by the method of Chan, Golub and LeVeque (1982).

    Parameters
    ----------
    rows : int
        Rows seen.
    mean : ndarray of shape (n_features,)
        Means, zeros included.
    squares : ndarray of shape (n_features,)
        Sums of squared deviations from the means.
    counted : ndarray of shape (n_features,)
        Values that count in the variances.
    """

    rows: int
    mean: NDArray
    squares: NDArray
    counted: NDArray

    def with_rows(self, other: Moments) -> Moments:
        """Return the moments of the rows of both."""
        rows = self.rows + other.rows
        if other.rows == 0 or self.rows == 0:
            return self if other.rows == 0 else other
        apart = other.mean - self.mean
        squares = self.squares + other.squares + apart**2 * (self.rows * other.rows / rows)
        return Moments(rows, self.mean + apart * (other.rows / rows), squares, self.counted + other.counted)

    def without(self, other: Moments) -> Moments:
        """Return the moments of the rows added since the other's."""
        rows = self.rows - other.rows
        if rows == 0 or other.rows == 0:
            return Moments(0, *(np.zeros_like(field) for field in self[1:])) if rows == 0 else self
        mean = self.mean + (self.mean - other.mean) * (other.rows / rows)
        squares = self.squares - other.squares - (mean - other.mean) ** 2 * (rows * other.rows / self.rows)
        return Moments(rows, mean, np.maximum(squares, 0), self.counted - other.counted)


class Recent(NamedTuple):
    """Records of the last rows of one or several shards.

    A row that several shards have counts once.

    Parameters
    ----------
    size : int
        How many are kept at most.
    scores : ndarray of shape (n, d)
        Their scores.
    labels : ndarray of shape (n, m)
        Their labels.
    weight : ndarray of shape (n,)
        Their weights.
    number : ndarray of shape (n,)
        Their numbers in their shard, by which the last are told.
    """

    size: int
    scores: NDArray
    labels: NDArray
    weight: NDArray
    number: NDArray

    def with_rows(self, other: Recent) -> Recent:
        """Return the last rows of both; the order does not depend on which of them is the other."""
        parts = [np.concatenate(pair) for pair in zip(self[1:], other[1:], strict=True)]
        scores, labels, weight, number = parts
        table = np.column_stack([number, weight, labels, scores])
        order = np.unique(table, axis=0, return_index=True)[1][-self.size :]
        return Recent(self.size, *(part[order] for part in parts))


def fields(**kinds: dict[str, Any]) -> State:
    """Return a state of the fields of some kinds."""
    return {kind: kinds.get(kind, {}) for kind in KINDS}


def joined(**parts: State) -> State:
    """Return the joint state of several parts; the names of the parts prefix those of the fields."""
    state = fields()
    for part, own in parts.items():
        for kind, values in own.items():
            for name, value in values.items():
                state[kind][f"{part}.{name}"] = value
    return state


def part_of(state: State, part: str) -> State:
    """Return the state of a part."""
    head = f"{part}."
    found = fields()
    for kind, values in state.items():
        for name, value in values.items():
            if name.startswith(head):
                found[kind][name.removeprefix(head)] = value
    return found


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
