"""Dask collections as shards: their blocks of rows, computed here or on a cluster."""

import contextlib
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from cases import make_data
from mixing_cases import families, lesson_for, made
from scipy import sparse

from sklearn_predtron import PredtronClassifier, PredtronMultilabelClassifier, PredtronRanker
from sklearn_predtron.mixing import ParameterMixing, ShardError
from sklearn_predtron.mixing import _dask as module
from tests.mixing.test_shards import bits, functions

dask = pytest.importorskip("dask", reason="dask is not installed")
da = pytest.importorskip("dask.array", reason="dask[array] is not installed")
distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
pytestmark = pytest.mark.cluster

X, Y = make_data(n=120)
CUTS = [40, 60, 100]
CHUNKS = (40, 20, 40, 20)
HOW = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}


@pytest.fixture(scope="module")
def cluster():
    """Return a cluster of two worker processes."""
    with distributed.LocalCluster(**HOW) as started:
        yield started


@contextlib.contextmanager
def scope(cluster):
    """Let a client be in scope."""
    with distributed.Client(cluster) as client:
        yield client


def blocks(values, columns=None):
    """Return a Dask array in blocks of rows, and of columns."""
    values = np.asarray(values)
    return da.from_array(values, chunks=(CHUNKS, *[columns or n for n in values.shape[1:]]))


def mixture(estimator=None, **parameters):
    return ParameterMixing(estimator or PredtronClassifier(), **{"rounds": 3, "random_state": 0, **parameters})


@pytest.mark.filterwarnings("ignore:decision=None fits the cut to rows in memory")  # blocks are shards
@pytest.mark.parametrize("family", families(), ids=lambda family: family.__name__)
def test_every_family_learns_blocks(family):
    """The bits of functions of the same rows; labels are found."""
    lesson = lesson_for(family)
    estimator = made(family, norm="l2")
    expected = bits(mixture(estimator).fit(functions(lesson, CUTS), classes=lesson.classes))
    given = {name: blocks(ids) for name, ids in lesson.given.items()}
    mixed = mixture(estimator)
    assert bits(mixed.fit(blocks(lesson.X), blocks(lesson.y), **given)) == expected
    assert mixed.n_shards_ == 4


def test_where_blocks_are_learned(cluster, monkeypatch):
    """Here, by the client in scope, or on a cluster: the same bits, whatever is kept there already."""
    expected = bits(mixture().fit(blocks(X), blocks(Y)))
    learned, round_of = [], module.Cluster._round
    monkeypatch.setattr(module.Cluster, "_round", lambda self, *given: learned.append(self.where) or round_of(self, *given))
    address = cluster.scheduler_address
    assert bits(mixture(cluster=address).fit(blocks(X), blocks(Y))) == expected
    assert learned == [address] * 3
    del learned[:]
    with scope(cluster) as client:
        assert bits(mixture().fit(blocks(X), blocks(Y))) == expected
        kept = [collection.persist() for collection in (blocks(X), blocks(Y))]
        assert bits(mixture().fit(*kept)) == bits(mixture(cluster=address).fit(*kept)) == expected
        assert learned == [client] * 9
        assert client.status == "running"
        assert len(client.futures) == 8  # what the user keeps
        del learned[:]
        mixture().fit([lambda: (X, Y)] * 2, classes=range(3))
        assert learned == []


def test_two_calls_and_a_checkpoint(tmp_path, cluster):
    lesson = [blocks(X), blocks(Y)]
    how = {"checkpoint": str(tmp_path / "state")}
    mixture(rounds=1, **how).fit(*lesson)
    with scope(cluster):
        assert bits(mixture(**how).fit(*lesson)) == bits(mixture().fit(*lesson))
        one = mixture().partial_fit(*lesson, classes=range(3)).partial_fit(*lesson)
    other = mixture().partial_fit(*lesson).partial_fit(*lesson)
    assert bits(one) == bits(other)
    assert one.estimator_.t_ == 240


def test_blocks_of_any_form(cluster):
    """Several blocks of columns, lengths that are not known, CSR blocks, weights, delayed calls, data frames."""
    weight = np.random.default_rng(0).random(120)
    parts = [(X[part], Y[part], {"sample_weight": weight[part]}) for part in np.split(np.arange(120), CUTS)]
    expected = bits(mixture().fit([lambda part=part: part for part in parts], classes=range(3)))
    how = {"sample_weight": blocks(weight)}
    unknown = blocks(X)[blocks(np.ones(120)) > 0]
    assert np.isnan(unknown.chunks[0][0])
    for scoped in (False, True):
        with scope(cluster) if scoped else contextlib.nullcontext():
            assert bits(mixture().fit(blocks(X, columns=4), blocks(Y), **how)) == expected
            assert bits(mixture().fit(unknown, blocks(Y), **how)) == expected
            assert bits(mixture().fit([dask.delayed(part) for part in parts], classes=range(3))) == expected
            thin = bits(mixture().fit([lambda p=p: (sparse.csr_matrix(p[0]), *p[1:]) for p in parts], classes=range(3)))
            assert bits(mixture().fit(blocks(X).map_blocks(sparse.csr_matrix), blocks(Y), **how)) == thin
    sets = lesson_for(PredtronMultilabelClassifier)
    assert mixture(PredtronMultilabelClassifier()).fit(blocks(sets.X), blocks(sets.y, columns=1)).score(sets.X, sets.y) > 0.2


def test_data_frames(cluster):
    frames = pytest.importorskip("dask.dataframe", reason="dask[dataframe] is not installed")
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=list("abcdef")).assign(label=Y)
    frame = frames.from_pandas(table, npartitions=3)
    ends = [len(part) for part in frame.partitions]
    cuts = np.split(np.arange(120), np.cumsum(ends)[:-1])
    expected = bits(mixture().fit([lambda part=part: (X[part], Y[part]) for part in cuts], classes=range(3)))
    for scoped in (False, True):
        with scope(cluster) if scoped else contextlib.nullcontext():
            mixed = mixture().fit(frame[list("abcdef")], frame["label"])
            assert bits(mixed) == expected
            assert mixed.feature_names_in_.tolist() == list("abcdef")
    with pytest.raises(ShardError, match="block 1: The feature names should match"):
        mixture().fit(
            [dask.delayed(lambda names=names: (table[list(names)], Y))() for names in ("abcdef", "fedcba")], classes=range(3)
        )


def test_what_blocks_must_be(cluster):
    for y, message in [
        (Y, r"y=array\(.* is not accepted beside a Dask X; accepted are Dask collections with its row chunks"),
        (None, "y=None is not accepted beside a Dask X"),
        (da.from_array(Y, chunks=40), r"y has the row chunks \(40, 40, 40\), and X has \(40, 20, 40, 20\)"),
        (da.from_array(Y, chunks=60), r"y has the row chunks \(60, 60\), and X has \(40, 20, 40, 20\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            mixture().fit(blocks(X), y)
    with pytest.raises(ValueError, match="sample_weight has the row chunks"):
        mixture().fit(blocks(X), blocks(Y), sample_weight=da.ones(120, chunks=30))
    unknown = blocks(Y)[blocks(np.arange(120)) != 50]
    ranked = lesson_for(PredtronRanker)
    cut = {"qid": blocks(np.arange(120) // 7)}
    for scoped in (False, True):
        with scope(cluster) if scoped else contextlib.nullcontext():
            with pytest.raises(ShardError, match="block 1: X has 20 rows and y has 19"):
                mixture().fit(blocks(X), unknown)
            with pytest.raises(ShardError, match="block 0, and block 1: the id 5 ends the one and begins the other"):
                mixture(PredtronRanker()).fit(blocks(ranked.X), blocks(ranked.y), **cut)
            with pytest.raises(ShardError, match="block 2: no connection"):
                mixture().fit(blocks(X).map_blocks(fails_from_60, X[60], dtype=float), blocks(Y))


def fails_from_60(block, row):
    """Fail as a file does that is not there."""
    if (block[0] == row).all():
        raise OSError("no connection")
    return block


def kills(block):
    """End the worker."""
    if threading.current_thread() is not threading.main_thread() and block.shape[0] == 20 and (block[0] == X[40]).all():
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def test_lost_workers_and_a_block_that_ends_them(monkeypatch):
    """By a client in scope, which is not replaced."""
    monkeypatch.setattr(module, "PAUSES", (1, 2, 4))
    expected = bits(mixture().fit(blocks(X), blocks(Y)))
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}), distributed.LocalCluster(**HOW) as own, scope(own):
        rounds, round_of = [], module.Cluster._round

        def killing(self, *given):
            rounds.append(0)
            if len(rounds) == 2:
                os.kill(next(iter(self.client.run(os.getpid).values())), signal.SIGKILL)
            return round_of(self, *given)

        with monkeypatch.context() as patched:
            patched.setattr(module.Cluster, "_round", killing)
            assert bits(mixture().fit(blocks(X), blocks(Y))) == expected
        with pytest.raises(ShardError, match="block 1: it ends the workers that take it"):
            mixture().fit(blocks(X).map_blocks(kills, dtype=float), blocks(Y))


@pytest.mark.parametrize("norm", ["l2", "l1", "scaled"])
def test_incremental_of_dask_ml_takes_blocks_in_turn(norm):
    """To the bits of one call of partial_fit."""
    wrappers = pytest.importorskip("dask_ml.wrappers", reason="dask-ml is not installed")
    one = PredtronClassifier(norm=norm).partial_fit(X, Y, classes=range(3))
    found = wrappers.Incremental(PredtronClassifier(norm=norm), shuffle_blocks=False)
    found.fit(blocks(X), blocks(Y), classes=range(3))
    np.testing.assert_array_equal(found.estimator_.coef_, one.coef_)
    np.testing.assert_array_equal(found.estimator_.intercept_, one.intercept_)


def test_nothing_is_imported():
    code = (
        "import sys, numpy as np; from sklearn_predtron import PredtronClassifier as C; from sklearn_predtron.mixing import *;"
        "X = np.eye(4); y = [0, 1, 0, 1]; ParameterMixing(C(), rounds=1).fit(X, y).fit([lambda: (X, y)] * 2, classes=[0, 1]);"
        "print([name for name in sys.modules if name.partition('.')[0] in ('dask', 'distributed')])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"
