"""Rounds of mixing: every shard learns from the mixture so far, and what they have learned is mixed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.mixed import State
from sklearn_predtron.mixing._algebra import Contribution, add_all, advance, contribution
from sklearn_predtron.mixing._shards import ShardError

Task = tuple[Callable[..., Contribution], tuple[Any, ...]]
Engine = Callable[[Iterable[Task]], list[Contribution]]


class Plan(NamedTuple):
    """How a shard learns in a round."""

    seed: int
    passes: int
    shuffle: bool


class Progress(NamedTuple):
    """What the rounds so far have come to: all that the next one needs."""

    state: State
    losses: tuple[float, ...]  # mean loss of each round
    mixed_loss: float  # what bounds are compared with


def contribute(blank: Learner, shard: Any, plan: Plan, state: State, number: int, turn: int, fresh: bool) -> Contribution:
    """Return what a shard, of some number, learns in some round from the state; it depends on nothing else."""
    learner = copy.deepcopy(blank)
    learner.adopt(state, False)
    random = np.random.default_rng([plan.seed, turn, number])
    learner.update.restart(int(random.integers(2**63)))
    try:
        for i in range(plan.passes):
            shard.learn(learner, random if plan.shuffle else None, fresh=fresh and i == 0)
    except Exception as error:
        raise ShardError(shard.name, str(error)) from error
    finally:
        learner.weights.close_fit()
    return contribution(state, learner.export())


def take_round(
    blank: Learner, shards: list[Any], plan: Plan, engine: Engine, before: Progress, turn: int, fresh: bool
) -> Progress:
    """Let all shards take a round, and mix what they have learned."""
    tasks = ((contribute, (blank, shard, plan, before.state, i, turn, fresh)) for i, shard in enumerate(shards))
    learned = add_all(engine(tasks))
    if learned.rounds == 0:
        return before._replace(losses=(*before.losses, 0.0))
    loss = learned.state["sum"]["clock.loss"] / learned.rounds
    mixed_loss = before.mixed_loss + learned.loss / learned.rounds
    return Progress(advance(before.state, learned), (*before.losses, loss), mixed_loss)
