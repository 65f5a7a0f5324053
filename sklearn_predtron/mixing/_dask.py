"""Rounds of mixing on a Dask cluster: shards are placed once, states go out, and sums of contributions come back."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from sklearn_predtron._core.mixed import State
from sklearn_predtron.mixing._algebra import FAN_IN, Contribution, add
from sklearn_predtron.mixing._rounds import Learners, Plan, contribute
from sklearn_predtron.mixing._shards import Chunks, Lesson, ShardError

if TYPE_CHECKING:
    from sklearn_predtron.families._base import BasePredtron
    from sklearn_predtron.mixing._rounds import Engine

PAUSES = (2, 4, 8)  # seconds before a round is tried again: at once it would meet workers that are still dying
Result = TypeVar("Result")


def distributed() -> Any:
    """Import dask.distributed; say how to get it if it is not there."""
    try:
        import distributed
    except ImportError as error:
        raise ImportError("cluster= needs dask.distributed: pip install 'sklearn_predtron[cluster]'.") from error
    return distributed


def put_shard(model: BasePredtron, name: str, chunks: Callable[[], Iterator[Lesson]], size: int | None) -> Chunks:
    """Return a shard on a worker; what a function returns stays in memory, a file is read in every round."""
    if size is None:
        try:
            chunks = partial(iter, list(chunks()))
        except Exception as error:
            raise ShardError(name, str(error)) from error
    return Chunks(name, model, chunks, size)


def passed_on(model: BasePredtron) -> BasePredtron:
    """Return an estimator, as a task that can be run anew."""
    return model


def learn(model: BasePredtron, shard: Chunks, plan: Plan, state: State, number: int, turn: int, fresh: bool) -> Contribution:
    """Return what a shard contributes, on a worker."""
    return contribute(Learners(model._learner), shard, plan, state, number, turn, fresh)


class Cluster:
    """A connection to a cluster, with shards placed on it.

    Parameters
    ----------
    address : str
        The scheduler's.
    model : BasePredtron
        An estimator whose learner has learned nothing.
    shards : list of Chunks
        What to place.
    """

    def __init__(self, address: str, model: BasePredtron, shards: list[Chunks]):
        self.address, self.model, self.shards = address, model, shards
        self.dask = distributed()
        self.lost = (
            *(self.dask.CancelledError, self.dask.TimeoutError, self.dask.comm.CommClosedError),
            *(self.dask.scheduler.KilledWorker, self.dask.scheduler.NoValidWorkerError, OSError),
        )
        self.client: Any = None
        self.placed: list[Any] = []

    def connect(self) -> None:
        """Connect anew, wait for a worker, and place the shards, so that what is wrong has its shard's name."""
        self.disconnect()
        self.client = self.dask.Client(self.address, set_as_default=False)
        self.client.wait_for_workers(1, timeout=30)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # scattered, it would be lost with its worker
            self.shared = self.client.submit(passed_on, self.model, pure=False)
        killed = self.dask.scheduler.KilledWorker
        self.placed = [self._put(shard) for shard in self.shards]
        errors = [future.exception() for future in self.placed]  # waits for it
        if any(isinstance(error, killed) for error in errors):  # its neighbours are blamed as well: find out by one at a time
            self.placed = []
            for shard in self.shards:
                self.placed.append(self._put(shard))
                error = self.placed[-1].exception()
                if isinstance(error, killed):
                    raise ShardError(shard.name, f"it ends the workers that take it: {error}")
            return
        for error in errors:
            if error is not None:
                raise error

    def _put(self, shard: Chunks) -> Any:
        """Return the future of a shard on some worker."""
        return self.client.submit(put_shard, self.shared, shard.name, shard.chunks, shard.size, pure=False)

    def disconnect(self) -> None:
        """Let go of the shards and the connection."""
        client, self.client, self.placed = self.client, None, []
        if client is not None:
            with suppress(Exception):  # of a cluster that is gone
                client.close(timeout=5)

    def round(self, plan: Plan, state: State, turn: int, fresh: bool) -> Contribution:
        """Return what all shards learn together in a round; it is tried again after workers are lost."""
        return self._persist(partial(self._round, plan, state, turn, fresh))

    def _round(self, plan: Plan, state: State, turn: int, fresh: bool) -> Contribution:
        if self.client is None:
            self.connect()
        (start,) = self.client.scatter([state], hash=False)  # a list, for the keys of a dict would be names of their own
        submit = partial(self.client.submit, pure=False)
        sums = [submit(learn, self.shared, shard, plan, start, i, turn, fresh) for i, shard in enumerate(self.placed)]
        while len(sums) > 1:
            sums = [submit(add, *sums[i : i + FAN_IN]) for i in range(0, len(sums), FAN_IN)]
        return sums[0].result()

    def _persist(self, work: Callable[[], Result]) -> Result:
        """Return what work returns, tried again, after a pause and by a new connection, where workers or connections are lost."""
        for pause in PAUSES:
            try:
                return work()
            except self.lost:
                self.disconnect()
                time.sleep(pause)
        return work()


@contextmanager
def on_cluster(address: str, model: BasePredtron, shards: list[Chunks]) -> Iterator[Engine]:
    """Yield what takes rounds on a cluster."""
    cluster = Cluster(address, model, shards)
    try:
        yield cluster.round
    finally:
        cluster.disconnect()
