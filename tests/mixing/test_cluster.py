"""Rounds on a Dask cluster on this machine: the bits of threads, and workers that are lost."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from cases import make_data
from sklearn.datasets import dump_svmlight_file

from sklearn_predtron import PredtronClassifier, PredtronRanker
from sklearn_predtron.mixing import ParameterMixing, ShardError
from sklearn_predtron.mixing import _dask as module
from tests.mixing.test_shards import bits

dask = pytest.importorskip("dask", reason="dask.distributed is not installed")
distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
pytestmark = pytest.mark.cluster

X, Y = make_data(n=180)
PARTS = np.split(np.arange(180), range(15, 180, 15))


class Part:
    """Some of the rows, as a worker makes them."""

    def __init__(self, part):
        self.part = part

    def __call__(self):
        X, y = make_data(n=180)
        return X[self.part].round(3), y[self.part]


class Fails:
    def __call__(self):
        raise RuntimeError("no connection")


class Kills:
    def __call__(self):
        if threading.current_thread() is not threading.main_thread():  # not in the test
            os.kill(os.getpid(), signal.SIGKILL)
        return make_data(n=180)


@pytest.fixture(scope="module")
def cluster():
    """Return a cluster of two worker processes."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    ) as started:
        yield started


def mixture(cluster=None, **parameters):
    how = {"rounds": 3, "random_state": 0, "cluster": None if cluster is None else cluster.scheduler_address, **parameters}
    return ParameterMixing(PredtronClassifier(), **how)


def test_functions_and_files(cluster, tmp_path):
    """Twelve shards, so that sums have two levels: the bits of threads."""
    shards = [Part(part) for part in PARTS]
    expected = bits(mixture().fit(shards, classes=range(3)))
    mixed = mixture(cluster)
    assert bits(mixed.fit(shards, classes=range(3))) == expected
    paths = [str(tmp_path / f"part-{i}.svm") for i in range(12)]
    for path, part in zip(paths, PARTS, strict=True):
        dump_svmlight_file(X[part].round(3), Y[part], path, zero_based=False)
    assert bits(mixed.fit(paths)) == bits(mixture().fit(paths))
    one, other = mixture(cluster), mixture()
    for each in (one, other):
        each.partial_fit(shards[:6], classes=range(3)).partial_fit(shards[6:])
    assert bits(one) == bits(other)


def test_what_is_wrong_is_named(cluster, tmp_path):
    mixed = mixture(cluster)
    with pytest.raises(ShardError, match="shard 1: no connection"):
        mixed.fit([Part(PARTS[0]), Fails()], classes=range(3))
    path = tmp_path / "part.svm"
    path.write_text("1 1:0.5\n0 1:x\n")
    with pytest.raises(ShardError, match=r"shard 1, '.*part.svm': .*line 2"):
        mixed.fit([Part(PARTS[0]), path], classes=range(3), n_features=6, zero_based=False)
    with pytest.raises(ValueError, match=r"cluster='tcp://.* is for a list of shards, and X is a data set in memory"):
        mixed.fit(X, Y)
    ranker = ParameterMixing(PredtronRanker(), cluster=cluster.scheduler_address)
    queries = [lambda: (X[:4], Y[:4], {"qid": [1, 1, 2, 2]}), lambda: (X[4:6], Y[4:6], {"qid": [2, 2]})]
    with pytest.raises(ShardError, match="shard 0, and shard 1: the id 2 ends the one and begins the other"):
        ranker.fit(queries)
    assert not hasattr(mixed, "estimator_")


def test_a_shard_that_ends_its_workers_is_named():
    """It is given up after as many workers as the scheduler allows."""
    how = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "host": "127.0.0.1", "dashboard_address": None}
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}), distributed.LocalCluster(**how) as own:
        mixed = mixture(own)
        with pytest.raises(ShardError, match="shard 1: it ends the workers that take it"):
            mixed.fit([Part(PARTS[0]), Kills()], classes=range(3))
    assert not hasattr(mixed, "estimator_")


def test_an_interrupt_leaves_no_task(cluster, monkeypatch):
    shards = [Part(part) for part in PARTS[:4]]
    expected = bits(mixture(rounds=2).fit(shards, classes=range(3)))
    mixed, rounds, round_of = mixture(cluster, rounds=5), [], module.Cluster._round

    def interrupted(self, *given):
        rounds.append(0)
        if len(rounds) == 3:
            raise KeyboardInterrupt
        return round_of(self, *given)

    monkeypatch.setattr(module.Cluster, "_round", interrupted)
    with pytest.raises(KeyboardInterrupt):
        mixed.fit(shards, classes=range(3))
    assert bits(mixed) == expected
    deadline = time.monotonic() + 10
    while cluster.scheduler.tasks and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not cluster.scheduler.tasks


def test_lost_workers(monkeypatch):
    """One of two workers is killed, or both, while they learn: the same bits."""
    monkeypatch.setattr(module, "PAUSES", (1, 2, 4))
    shards = [Part(part) for part in PARTS[:4]]
    expected = bits(mixture(rounds=4).fit(shards, classes=range(3)))
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    ) as own:
        for n in (1, 2):
            mixed, rounds = mixture(own, rounds=4), []
            round_of = module.Cluster._round

            def killing(self, *given, rounds=rounds, round_of=round_of, n=n):
                rounds.append(0)
                if len(rounds) == 3:
                    pids = list(self.client.run(os.getpid).values())
                    for pid in pids[:n]:
                        os.kill(pid, signal.SIGKILL)
                return round_of(self, *given)

            with monkeypatch.context() as patched:
                patched.setattr(module.Cluster, "_round", killing)
                assert bits(mixed.fit(shards, classes=range(3))) == expected
