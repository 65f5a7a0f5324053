"""Mixing on a Dask cluster, whose workers keep the shards."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from sklearn_predtron._core.mixable_state import Contribution, State, add
from sklearn_predtron.mixing._dask_blocks import DaskBlock, ShardBatch, batches_of_parts, is_delayed
from sklearn_predtron.mixing._rounds import LearnerPool, RoundSettings, contribute
from sklearn_predtron.mixing._shards import ChunkedShard, ShardError
from sklearn_predtron.mixing._total import FAN_IN

if TYPE_CHECKING:
    from sklearn_predtron.families.estimator.base import BasePredtron
    from sklearn_predtron.mixing._rounds import Engine

PAUSES = (2, 4, 8)  # seconds before a round is tried again: at once it would meet workers that are still dying
PATIENCE = 10, 30  # seconds for a scheduler to answer, and for its first worker
Result = TypeVar("Result")


def distributed() -> Any:
    """Import dask.distributed, or explain how to install it."""
    try:
        import distributed
    except ImportError as error:
        raise ImportError("cluster= needs dask.distributed: pip install distributed") from error
    return distributed


def client_in_scope(address: str | None) -> Any:
    """Return the current Dask client, if it fits the address."""
    dask = sys.modules.get("distributed")
    try:
        client = None if dask is None else dask.default_client()
    except ValueError:
        return None
    return client if client is not None and address in (None, client.scheduler.address) else None


def put_shard(
    model: BasePredtron, name: str, chunks: Callable[..., Iterator[ShardBatch]], size: int | None, *parts: Any
) -> ChunkedShard:
    """Return a shard on a worker; Rows of functions and Dask stay in memory; files are read every round."""
    if size is None:
        try:
            chunks = partial(iter, list(chunks(*parts)))
        except Exception as error:
            raise ShardError(name, str(error)) from error
    return ChunkedShard(name, model, chunks, size)


def passed_on(model: BasePredtron) -> BasePredtron:
    """Return an estimator as a task that can be repeated."""
    return model


def learn(
    model: BasePredtron, shard: ChunkedShard, settings: RoundSettings, state: State, number: int, turn: int, fresh: bool
) -> Contribution:
    """Return the contribution of a shard, computed on a worker."""
    return contribute(LearnerPool(model._model.learner), shard, settings, state, number, turn, fresh)


class Connection:
    """A connection to a cluster, renewed after workers are lost.

    Parameters
    ----------
    where : str or Client
        The scheduler's address, or a client, which is used and not closed.
    """

    def __init__(self, where: Any):
        self.where, self.dask = where, distributed()
        if not isinstance(where, (str, self.dask.Client)):
            raise ValueError(f"cluster={where!r} is not known; accepted are None and the address of a Dask scheduler.")
        self.killed = self.dask.scheduler.KilledWorker
        self.lost_tasks = (self.dask.CancelledError, self.killed, self.dask.scheduler.NoValidWorkerError)
        self.lost = (*self.lost_tasks, self.dask.TimeoutError, self.dask.comm.CommClosedError, OSError)
        self.client: Any = None
        self.held: list[Any] = []  # futures

    def reach(self) -> None:
        """Connect for the first time, or raise an error."""
        try:
            self.connect()
        except Exception as error:  # whatever an address, a network or a missing certificate brings Dask to raise
            self.disconnect()
            reason = str(error).strip().removesuffix(".")
            raise ValueError(
                f"cluster={self.where!r} cannot be reached: {reason}. A scheduler has {PATIENCE[0]} s to answer, and "
                f"{PATIENCE[1]} s to have a worker."
            ) from None

    def connect(self) -> None:
        """Reconnect, and wait for a worker."""
        self.disconnect()
        if isinstance(self.where, str):
            self.client = self.dask.Client(self.where, set_as_default=False, timeout=PATIENCE[0])
        else:
            self.client = self.where
        self.client.wait_for_workers(1, timeout=PATIENCE[1])

    def disconnect(self) -> None:
        """Release the futures and the connection."""
        client, self.client, held, self.held = self.client, None, self.held, []
        if client is not None:
            with suppress(Exception):  # of a cluster that is gone
                if isinstance(self.where, str):
                    client.close(timeout=5)
                else:
                    client.cancel(held)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the future of a call, held until released."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # scattered, it would be lost with its worker
            self.held.append(self.client.submit(function, *arguments, pure=False))
        return self.held[-1]

    def error_of(self, future: Any) -> BaseException | None:
        """Return the exception of a future, or None; without any worker, raise the timeout error."""
        while True:
            try:
                return future.exception(timeout=PATIENCE[1])
            except self.dask.TimeoutError:
                if future.done() or not self.client.nthreads():
                    raise

    def finished(self, names: list[str], start: Callable[[int], Any]) -> list[Any]:
        """Return finished futures; errors name the shard."""
        kept = len(self.held)
        futures = [start(i) for i in range(len(names))]
        errors = [self.error_of(future) for future in futures]
        if any(isinstance(error, self.killed) for error in errors):
            self.client.cancel(futures)  # else the scheduler may record a neighbour's rows as the failure
            futures, errors = [], []  # its neighbours are blamed as well: find out by one at a time
            del self.held[kept:]
            for i, name in enumerate(names):
                futures.append(start(i))
                errors.append(self.error_of(futures[-1]))
                if isinstance(errors[-1], self.killed):
                    raise ShardError(name, f"it ends the workers that take it: {errors[-1]}")
        for name, error in zip(names, errors, strict=True):
            if error is not None:
                raise error if isinstance(error, (ShardError, *self.lost_tasks)) else ShardError(name, str(error)) from error
        return futures

    def persist(self, work: Callable[[], Result]) -> Result:
        """Return the result of `work`, retried after lost connections."""
        for pause in PAUSES:
            try:
                return work()
            except self.lost:
                self.disconnect()
                time.sleep(pause)
        return work()

    def map_tasks(self, function: Callable[..., Result], tasks: list[tuple[Any, ...]]) -> list[Result]:
        """Map a function over tasks; a task begins with its shard's name."""
        if self.client is None:
            self.connect()

        def start(i: int) -> Any:
            return self.submit(function, *(self.client.compute(x) if is_delayed(x) else x for x in tasks[i]))

        return self.client.gather(self.finished([task[0] for task in tasks], start))


class Cluster(Connection):
    """A cluster with shards placed on it.

    Parameters
    ----------
    where : str or Client
        The scheduler's address, or a client, which is used and not closed.
    model : BasePredtron
        An estimator whose learner has learned nothing.
    shards : list of ChunkedShard
        The shards to place on workers.
    """

    def __init__(self, where: Any, model: BasePredtron, shards: list[ChunkedShard]):
        super().__init__(where)
        self.model, self.shards = model, shards
        self.placed: list[Any] = []

    def put_shards(self) -> None:
        """Place the shards."""
        shared = self.submit(passed_on, self.model)
        blocks = {i: shard.chunks for i, shard in enumerate(self.shards) if isinstance(shard.chunks, DaskBlock)}
        parts = dict(zip(blocks, self._compute(list(blocks.values())), strict=True))

        def put(i: int) -> Any:
            shard = self.shards[i]
            chunks = partial(batches_of_parts, blocks[i].names) if i in blocks else shard.chunks
            found = parts.pop(i, None) or (self._compute([blocks[i]])[0] if i in blocks else [])
            return self.submit(put_shard, shared, shard.name, chunks, shard.size, *found)

        self.shared, self.placed = shared, self.finished([shard.name for shard in self.shards], put)

    def _compute(self, blocks: list[DaskBlock]) -> list[list[Any]]:
        """Return the futures of computed blocks."""
        computed = iter(self.client.compute([part for block in blocks for part in block.parts]))
        return [[next(computed) for _ in block.parts] for block in blocks]

    def disconnect(self) -> None:
        """Release the shards and the connection."""
        self.placed = []
        super().disconnect()

    def round(self, settings: RoundSettings, state: State, turn: int, fresh: bool) -> Contribution:
        """Return the sum of contributions, retried after lost workers."""
        return self.persist(partial(self._round, settings, state, turn, fresh))

    def _round(self, settings: RoundSettings, state: State, turn: int, fresh: bool) -> Contribution:
        if self.client is None:
            self.connect()
        if not self.placed:
            self.put_shards()
        (start,) = self.client.scatter([state], hash=False)  # a list, for the keys of a dict would be names of their own
        kept = len(self.held)
        self.held.append(start)
        sums = [self.submit(learn, self.shared, shard, settings, start, i, turn, fresh) for i, shard in enumerate(self.placed)]
        while len(sums) > 1:
            sums = [self.submit(add, *sums[i : i + FAN_IN]) for i in range(0, len(sums), FAN_IN)]
        self.error_of(sums[0])
        learned = sums[0].result()
        del self.held[kept:]
        return learned


def map_on_cluster(where: Any, function: Callable[..., Result], tasks: list[tuple[Any, ...]]) -> list[Result]:
    """Map a function over tasks on a cluster; a task begins with its shard's name."""
    connection = Connection(where)
    try:
        connection.reach()
        return connection.persist(partial(connection.map_tasks, function, tasks))
    finally:
        connection.disconnect()


@contextmanager
def on_cluster(where: Any, model: BasePredtron, shards: list[ChunkedShard]) -> Iterator[Engine]:
    """Yield a function that runs rounds on a cluster."""
    cluster = Cluster(where, model, shards)
    try:
        cluster.reach()
        yield cluster.round
    finally:
        cluster.disconnect()
