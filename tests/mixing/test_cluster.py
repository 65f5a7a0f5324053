"""Rounds on a Dask cluster on this machine: the bits of threads, and workers that are lost."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from cases import make_data
from sklearn.datasets import dump_svmlight_file

from sklearn_predtron import PredtronClassifier, PredtronRanker
from sklearn_predtron._support.array_file import read_file
from sklearn_predtron.datasets import SvmlightReader
from sklearn_predtron.mixing import ParameterMixing, ShardError
from sklearn_predtron.mixing import _dask as module
from sklearn_predtron.mixing._checkpoint import MAGIC
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
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0"
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
    how = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}), distributed.LocalCluster(**how) as own:
        mixed = mixture(own)
        with pytest.raises(ShardError, match="shard 1: it ends the workers that take it"):
            mixed.fit([Part(PARTS[0]), Kills()], classes=range(3))
    assert not hasattr(mixed, "estimator_")


def no_task_is_left(cluster):
    """Return whether the scheduler forgets all tasks soon."""
    deadline = time.monotonic() + 20
    while cluster.scheduler.tasks and time.monotonic() < deadline:
        time.sleep(0.05)
    return not cluster.scheduler.tasks


def test_a_first_pass_is_taken_by_the_workers(cluster, tmp_path, monkeypatch):
    """Of whole files, and of one that is alone."""
    paths = [str(tmp_path / f"part-{i}.svm") for i in range(12)]
    for path, part in zip(paths, PARTS, strict=True):
        dump_svmlight_file(X[part].round(3), Y[part], path, zero_based=False)
    (tmp_path / "whole.svm").write_text("".join((tmp_path / path).read_text() for path in paths))
    for files in (paths, [str(tmp_path / "whole.svm")]):
        expected = bits(mixture().fit(files))
        with monkeypatch.context() as patched:
            patched.setattr(SvmlightReader, "scan", lambda *given: pytest.fail("the driver looks through a file"))
            assert bits(mixture(cluster).fit(files)) == expected
    (tmp_path / "broken.svm").write_text("1 1:1\n1 oops\n")
    with pytest.raises(ShardError, match=r"shard 1, '.*broken.svm': .*broken.svm, line 2"):
        mixture(cluster).fit([paths[0], str(tmp_path / "broken.svm")])


def test_a_scheduler_that_cannot_be_reached(monkeypatch, cluster, tmp_path):
    """It is refused, before anything is read or tried again."""
    monkeypatch.setattr(module, "PATIENCE", (1, 2))
    shards = [Part(part) for part in PARTS[:2]]
    start = time.monotonic()
    with pytest.raises(ValueError, match=r"cluster='tcp://127.0.0.1:9' cannot be reached: .*A scheduler has 1 s to answer"):
        mixture().set_params(cluster="tcp://127.0.0.1:9").fit(shards, classes=range(3))
    for address, message in [
        ("nonsense://here", "cannot be reached: "),
        (5, "cluster=5 is not known; accepted are None and the"),
    ]:
        with pytest.raises(ValueError, match=message):
            mixture().set_params(cluster=address).fit(shards, classes=range(3))
    refused = pytest.raises(ValueError, match=r"cannot be reached: .*and 2 s to have a worker")
    with distributed.LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0") as empty, refused:
        mixture(empty).fit(shards, classes=range(3))
    assert time.monotonic() - start < 30


def test_certificates_of_dasks_configuration(tmp_path):
    """An address "tls://" needs nothing else; without a certificate it is refused."""
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "certificate.pem")
    openssl = shutil.which("openssl") or pytest.skip("there is no openssl to write a certificate")
    made = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2"]
    subprocess.run([*made, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    tls = {"distributed.comm.tls.ca-file": certificate}
    for role in ("scheduler", "worker", "client"):
        tls |= {f"distributed.comm.tls.{role}.cert": certificate, f"distributed.comm.tls.{role}.key": key}
    how = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    shards = [Part(part) for part in PARTS[:4]]
    with dask.config.set(tls), distributed.LocalCluster(protocol="tls", **how) as own:
        assert own.scheduler_address.startswith("tls://")
        assert bits(mixture(own).fit(shards, classes=range(3))) == bits(mixture().fit(shards, classes=range(3)))
        refused = pytest.raises(ValueError, match=r"cluster='tls://.*' cannot be reached: ")
        with dask.config.set(dict.fromkeys(tls)), refused:
            mixture(own).fit(shards, classes=range(3))


@pytest.mark.usefixtures("keyboard")
@pytest.mark.parametrize("scoped", [False, True])
def test_an_interrupt_leaves_the_last_complete_round(cluster, monkeypatch, scoped):
    """A real one, while workers learn the third round; no task is left."""
    shards = [dask.delayed(Part(part))() for part in PARTS[:4]] if scoped else [Part(part) for part in PARTS[:4]]
    how = {"passes": 1500}
    expected = bits(mixture(rounds=2, **how).fit(shards, classes=range(3)))
    mixed, rounds, round_of = mixture(None if scoped else cluster, rounds=5, **how), [], module.Cluster._round

    def interrupted(self, *given):
        rounds.append(0)
        if len(rounds) == 3:
            threading.Timer(0.05, os.kill, [os.getpid(), signal.SIGINT]).start()
        return round_of(self, *given)

    monkeypatch.setattr(module.Cluster, "_round", interrupted)
    client = distributed.Client(cluster) if scoped else None
    with pytest.raises(KeyboardInterrupt):
        mixed.fit(shards, classes=range(3))
    assert bits(mixed) == expected
    assert no_task_is_left(cluster)
    if client is not None:
        assert client.status == "running"
        client.close()


CHILD = """
import os, signal, sys, threading
import numpy as np
from sklearn_predtron.mixing import _checkpoint, _dask
from tests.mixing.test_cluster import PARTS, Part, mixture

when, address, path = sys.argv[1:]
rounds, round_of, replace = [], _dask.Cluster._round, os.replace

def end(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def counted(self, *given):
    rounds.append(0)
    if when == "in a round" and len(rounds) == 3:
        threading.Timer(0.05, end).start()
    return round_of(self, *given)

_dask.Cluster._round = counted
if when == "in writing":
    _checkpoint.os.replace = lambda *given: end() if len(rounds) == 3 else replace(*given)
mixed = mixture(rounds=5, passes=1500, checkpoint=path).set_params(cluster=address)
mixed.fit([Part(part) for part in PARTS[:4]], classes=range(3))
"""


@pytest.mark.parametrize("when", ["in a round", "in writing"])
def test_a_driver_that_is_killed_goes_on(cluster, tmp_path, when):
    """From the last complete round, to the same bits; what it was writing is ignored, and no task is left."""
    path, address = tmp_path / "state", cluster.scheduler_address
    folder = os.path.dirname(os.path.dirname(__file__))
    paths = os.pathsep.join([folder, os.path.dirname(folder)])
    child = subprocess.run(
        [sys.executable, "-c", CHILD, when, address, str(path)], env={**os.environ, "PYTHONPATH": paths}, check=False
    )
    assert child.returncode == -signal.SIGKILL
    assert len(read_file(path, MAGIC)[0]["losses"]) == 2
    left = sorted(tmp_path.glob("*.part"))
    assert len(left) == (when == "in writing")
    assert no_task_is_left(cluster)
    shards, how = [Part(part) for part in PARTS[:4]], {"rounds": 5, "passes": 1500}
    found = bits(mixture(cluster, checkpoint=str(path), **how).fit(shards, classes=range(3)))
    assert found == bits(mixture(**how).fit(shards, classes=range(3)))
    assert sorted(tmp_path.iterdir()) == sorted([path, *left])


def test_lost_workers(monkeypatch):
    """One of two workers is killed, or both, while they learn: the same bits."""
    monkeypatch.setattr(module, "PAUSES", (1, 2, 4))
    shards = [Part(part) for part in PARTS[:4]]
    expected = bits(mixture(rounds=4).fit(shards, classes=range(3)))
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0"
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
