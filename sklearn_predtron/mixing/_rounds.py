"""Mixing rounds: shards train from the mixture, then are averaged."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.mixable_state import Contribution, State, advance, contribution
from sklearn_predtron.mixing._callbacks import NoCallbacks
from sklearn_predtron.mixing._digest import Digest
from sklearn_predtron.mixing._shards import ShardError, ShardSummary, check_distinct_groups, reader_like
from sklearn_predtron.mixing._total import MADE_BY, ContributionSum

if TYPE_CHECKING:
    from sklearn_predtron.families.estimator.base import BasePredtron
    from sklearn_predtron.mixing._checkpoint import MixingCheckpoint

Task = tuple[Callable[..., None], tuple[Any, ...]]
RunInParallel = Callable[[Iterable[Task]], Any]
Engine = Callable[["RoundSettings", State, int, bool], Contribution]
Finish = Callable[[Any], None]


class RoundSettings(NamedTuple):
    """Settings of a shard's round; zero passes only scan rows."""

    seed: int
    passes: int
    shuffle: bool
    digested: bool = False  # whether to compute digests of the rows


class Progress(NamedTuple):
    """State between rounds."""

    state: State
    losses: tuple[float, ...]  # mean loss of each round
    mixed_loss: float  # bounds are compared with it
    rows: tuple[str, ...] = ()  # digests of each shard's rows, after a round that computed them


class LearnerPool:
    """Pool of untrained learners, one per concurrent shard.

    Parameters
    ----------
    blank : Learner
        The learner to copy.
    """

    def __init__(self, blank: Learner):
        self.blank, self.idle = blank, [copy.deepcopy(blank)]

    def take(self) -> Learner:
        """Return an unused learner."""
        try:
            return self.idle.pop()
        except IndexError:
            return copy.deepcopy(self.blank)

    def release(self, learner: Learner) -> None:
        """Make a learner available again."""
        self.idle.append(learner)


def contribute(
    learners: LearnerPool, shard: Any, settings: RoundSettings, state: State, number: int, turn: int, fresh: bool
) -> Contribution:
    """Train on a shard for one round; return its contribution. The contribution depends on the arguments alone."""
    learner = learners.take()
    pooled = bool(state["sum"])
    learner.adopt(state, pooled)
    random = np.random.default_rng([settings.seed, turn, number])
    learner.update.restart(int(random.integers(2**63)))
    ends, digest = None, Digest() if settings.digested else None
    try:
        for i in range(settings.passes):
            how = {"fresh": fresh and i == 0, "digest": digest if i == 0 else None}
            ends = shard.learn(learner, random if settings.shuffle else None, **how)
        if settings.passes == 0:
            shard.digest_rows(digest)
    except Exception as error:
        raise ShardError(shard.name, str(error)) from error
    learner.weights.close_fit()
    seen = (ShardSummary(number, shard.name, ends, str(digest or "")),) if fresh or settings.digested else ()
    learned = contribution(state, learner.export(), seen, pooled=pooled, made_by=MADE_BY)
    learners.release(learner)
    return learned


@contextmanager
def in_threads(run_in_parallel: RunInParallel, model: BasePredtron, shards: list[Any]) -> Iterator[Engine]:
    """Yield a function that runs rounds on this machine."""
    learners = LearnerPool(learner_of(model))

    def take(settings: RoundSettings, state: State, turn: int, fresh: bool) -> Contribution:
        total = ContributionSum()

        def learn(shard: Any, number: int) -> None:
            total.put(number, contribute(learners, shard, settings, state, number, turn, fresh))

        run_in_parallel((learn, (shard, number)) for number, shard in enumerate(shards))
        return total.finish()

    yield take


def run_round(engine: Engine, settings: RoundSettings, before: Progress, turn: int, fresh: bool, pooled: bool) -> Progress:
    """Run a round on all shards and mix their contributions.

    Where new rows are observed in a later call, it is the average of all so far that they are to judge, so that shards go on from
    it; else shards have sums of their own.
    """
    start = before.state if pooled else {**before.state, "sum": {}}
    learned = engine(settings, start, turn, fresh)
    seen = sorted(learned.seen, key=lambda one: one.number)
    check_distinct_groups(seen)
    rows = tuple(one.rows for one in seen)
    if learned.rounds == 0:
        return before._replace(losses=(*before.losses, 0.0), rows=rows)
    loss = learned.state["sum"]["clock.loss"] / learned.rounds
    mixed_loss = before.mixed_loss + learned.loss / learned.rounds
    return Progress(advance(before.state, learned), (*before.losses, loss), mixed_loss, rows)


class MixingRun:
    """The rounds of a call, from start or checkpoint to model.

    Parameters
    ----------
    plan : RoundSettings
        How shards learn.
    rounds : int
        How many rounds there are.
    before : Progress or None
        The rounds of earlier calls.
    tasks : NoCallbacks
        The callbacks of the rounds.
    """

    engine: Callable[[BasePredtron, list[Any]], AbstractContextManager[Engine]]  # for an estimator and shards
    fitted: Callable[[BasePredtron, Progress], dict[str, Any]]  # the attributes that a model gives a mixture

    def __init__(self, settings: RoundSettings, rounds: int, before: Progress | None, tasks: NoCallbacks):
        self.settings, self.rounds, self.before, self.tasks = settings, rounds, before, tasks
        self.progress: Progress | None = None  # as far as it is known
        self.n_shards = 0
        self.zero_based: bool | None = None  # whether the files so far counted from 0

    def take(self, model: BasePredtron, shards: list[Any], checkpoint: MixingCheckpoint | None, finish: Finish) -> None:
        """Run the rounds; an interrupt keeps the last complete one."""
        start = 0 if self.before is None else len(self.before.losses)
        progress = self.before or Progress(learner_of(model).export(), (), 0.0)
        if checkpoint is not None:
            progress = checkpoint.load(learner_of(model), self.rounds) or progress
        self.n_shards, settings = len(shards), self.settings._replace(digested=checkpoint is not None and checkpoint.digests)
        turns = range(len(progress.losses), start + self.rounds)
        pooled = self.before is not None and learner_of(model).observer is not None
        self.tasks.open_fit(len(turns))
        try:
            with self.engine(model, shards) as engine:
                if checkpoint is not None and settings.digested and not turns:
                    scan_settings = settings._replace(passes=0)
                    checkpoint.compare_rows(run_round(engine, scan_settings, progress, start, fresh=False, pooled=pooled).rows)
                    settings = self.settings
                for turn in turns:
                    self.tasks.open_round()
                    progress = run_round(engine, settings, progress, turn, fresh=turn == start, pooled=pooled)
                    if checkpoint is not None and settings.digested:
                        checkpoint.compare_rows(progress.rows)
                    settings = self.settings
                    if checkpoint is not None:
                        checkpoint.keep(progress)
                    if self.tasks.close_round(partial(self._fitted_after, model, progress, finish)):
                        break
        except KeyboardInterrupt:
            if len(progress.losses) > start and not settings.digested:  # else a checkpoint's rounds may be of other rows
                self._publish(model, progress, finish)
            raise
        self._publish(model, progress, finish)
        self.tasks.close_fit(partial(self.fitted, model, progress))

    def _fitted_after(self, model: BasePredtron, progress: Progress, finish: Finish) -> dict[str, Any]:
        """Return the fitted attributes after some rounds, for callbacks."""
        now: Any = reader_like(model)
        now._model.learner = copy.deepcopy(now._model.learner)
        adopt(now, progress, finish)
        return self.fitted(now, progress)

    def _publish(self, model: BasePredtron, progress: Progress, finish: Finish) -> None:
        """Set a model to the mixture and keep the progress."""
        adopt(model, progress, finish)
        self.progress = progress


def adopt(model: BasePredtron, progress: Progress, finish: Finish) -> None:
    """Set a model to the mixture after some rounds."""
    learned: Any = model._model
    learned.learner.adopt(progress.state, True)
    learned.fit_record = {"loss_curve_": list(progress.losses), "n_iter_": len(progress.losses)}
    finish(model)


def learner_of(model: BasePredtron) -> Learner:
    """Return the learner of a fitted estimator."""
    return model._model.learner
