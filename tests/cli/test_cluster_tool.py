"""``--cluster``: the job's files are learned by the workers of a Dask cluster on this machine."""

import numpy as np
import pytest
from cases import make_data
from numpy.testing import assert_array_equal
from sklearn.datasets import dump_svmlight_file

import sklearn_predtron
from sklearn_predtron.cli import _main as job
from sklearn_predtron.datasets import SvmlightReader
from sklearn_predtron.mixing import _dask as module

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def address():
    """Return the address of a cluster of two worker processes."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    ) as started:
        yield started.scheduler_address


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, (X, y) = tmp_path_factory.mktemp("svm"), make_data(n=150)
    for i, part in enumerate(np.split(np.arange(150), [50, 90])):
        dump_svmlight_file(X[part].round(3), y[part], str(folder / f"part-{i}.svm"), zero_based=False)
        ids = part // 5
        dump_svmlight_file(X[part].round(3), y[part], str(folder / f"ranked-{i}.svm"), zero_based=False, query_id=ids)
    (folder / "whole.svm").write_bytes(b"".join((folder / f"part-{i}.svm").read_bytes() for i in range(3)))
    return folder


def run(capsys, *argv):
    """Return the exit code, and what is written."""
    code = job.main([str(word) for word in argv])
    return code, *capsys.readouterr()


def usage_error(capsys, *argv):
    with pytest.raises(SystemExit) as stop:
        job.main([str(word) for word in argv])
    assert stop.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("kind", ["part", "ranked", "whole"])
def test_files_are_learned_on_the_cluster(capsys, files, tmp_path, monkeypatch, address, kind):
    """Three files, or one that is cut: the bits of threads, and the driver does not look through the files."""
    train = sorted(files.glob(f"{kind}*.svm"))
    assert run(capsys, *train, "--epochs", 3, "--jobs", 2, "--save", tmp_path / "a", "--quiet")[0] == 0
    monkeypatch.setattr(SvmlightReader, "scan", lambda *given: pytest.fail("the driver looks through a file"))
    options = ["--test", train[0], "--save", tmp_path / "b"]
    code, out, err = run(capsys, *train, "--epochs", 3, "--cluster", address, *options)
    assert (code, err) == (0, "")
    assert f", {8 if kind == 'whole' else 3} mixed" in out
    one, other = sklearn_predtron.load(tmp_path / "a"), sklearn_predtron.load(tmp_path / "b")
    assert_array_equal(one.coef_, other.coef_)
    assert one.t_ == other.t_ == 3 * (30 if kind == "ranked" else 150)


def test_it_goes_on_from_its_checkpoint(capsys, files, tmp_path, address):
    """Which threads may have written."""
    train = sorted(files.glob("part*.svm"))
    assert run(capsys, *train, "--epochs", 2, "--jobs", 1, "--checkpoint", tmp_path / "c")[0] == 0
    how = [*train, "--epochs", 4, "--cluster", address]
    assert run(capsys, *how, "--checkpoint", tmp_path / "c", "--save", tmp_path / "m")[0] == 0
    assert run(capsys, *how, "--save", tmp_path / "n")[0] == 0
    assert_array_equal(sklearn_predtron.load(tmp_path / "m").coef_, sklearn_predtron.load(tmp_path / "n").coef_)


def test_what_cannot_be_learned_on_the_cluster(capsys, files, tmp_path, monkeypatch, address):
    part = files / "part-0.svm"
    assert "--jobs is not for --cluster" in usage_error(capsys, part, "--jobs", 2, "--cluster", address)
    assert "--grow is not for --cluster" in usage_error(capsys, part, "--grow", "--cluster", address)
    assert "--cluster needs TRAIN" in usage_error(capsys, "--cluster", address)
    (tmp_path / "words.svm").write_text("spam 1:1\nham 2:1\n")
    assert "--cluster is not for labels that are words" in usage_error(capsys, tmp_path / "words.svm", "--cluster", address)
    (tmp_path / "broken.svm").write_text("1 1:1\n0 2:1\n1 oops\n")
    for known in ([], ["--features", 6, "--classes", 0, 1, 2]):
        code, _, err = run(capsys, part, tmp_path / "broken.svm", "--cluster", address, *known)
        assert code == 1 and "broken.svm, line 3" in err and "there is no trained model yet" in err
    monkeypatch.setattr(module, "PATIENCE", (1, 1))
    for known in ([], ["--features", 6, "--classes", 0, 1, 2]):
        err = usage_error(capsys, part, "--cluster", "tcp://127.0.0.1:9", *known)
        assert "cluster='tcp://127.0.0.1:9' cannot be reached" in err and "A scheduler has 1 s to answer" in err
