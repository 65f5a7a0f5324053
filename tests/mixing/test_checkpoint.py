"""Checkpoints: a fit that was killed goes on to the same bits, and a file of anything else is refused."""

import copy
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from cases import make_data
from sklearn.datasets import dump_svmlight_file

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronMultilabelClassifier, PredtronRanker
from sklearn_predtron.losses import CountLoss
from sklearn_predtron.mixing import ParameterMixing
from sklearn_predtron.mixing import _checkpoint as module
from tests.mixing.test_shards import bits

X, Y = make_data(n=120)

CHILD = """
import os, signal, sys
import numpy as np
from cases import make_data
from sklearn_predtron import PredtronClassifier
from sklearn_predtron.mixing import ParameterMixing
from sklearn_predtron.mixing._checkpoint import Checkpoint

save, kept = Checkpoint.save, []

def killed(self, progress):
    save(self, progress)
    kept.append(0)
    if len(kept) == 2:
        open(self.path + ".part", "wb").write(b"half")
        os.kill(os.getpid(), signal.SIGKILL)

Checkpoint.save = killed
X, y = make_data(n=120)
mixed = ParameterMixing(PredtronClassifier(norm="scaled"), rounds=5, shards=3, random_state=0, checkpoint=sys.argv[1])
mixed.fit(X, y)
"""


def mixture(path, **parameters):
    estimator = parameters.pop("estimator", None) or PredtronClassifier(norm="scaled")
    how = {"rounds": 5, "shards": 3, "random_state": 0, "checkpoint": str(path)}
    return ParameterMixing(estimator, **{**how, **parameters})


def rounds_in(path):
    with np.load(path) as file:
        return len(file["losses"])


def test_a_killed_fit_goes_on(tmp_path):
    """By SIGKILL in mid-writing after the second round; what it was writing is ignored."""
    path = tmp_path / "state"
    folder = os.path.dirname(os.path.dirname(__file__))
    paths = os.pathsep.join([folder, os.path.dirname(folder)])
    child = subprocess.run([sys.executable, "-c", CHILD, str(path)], env={**os.environ, "PYTHONPATH": paths}, check=False)
    assert child.returncode == -signal.SIGKILL
    assert rounds_in(path) == 2
    assert (tmp_path / "state.part").read_bytes() == b"half"
    went_on = mixture(path)
    taken, round_of = [], went_on._side_by_side
    went_on._side_by_side = lambda *given: taken.append(0) or round_of(*given)
    found = bits(went_on.fit(X, Y))
    assert len(taken) == 3
    assert found == bits(mixture(path, checkpoint=None).fit(X, Y))
    assert not (tmp_path / "state.part").exists()
    assert rounds_in(path) == 5
    assert bits(mixture(path).fit(X, Y)) == found  # no round is left
    assert bits(mixture(path, rounds=7).fit(X, Y)) == bits(mixture(path, rounds=7, checkpoint=None).fit(X, Y))


@pytest.mark.parametrize(
    ("estimator", "given"),
    [
        (PredtronBinaryClassifier(threshold="f1"), {}),
        (PredtronRanker(norm="l1", update="slam"), {"qid": np.arange(120) // 4}),
        (PredtronClassifier(average=False, norm="trace", intercept_scaling="auto"), {}),
    ],
)
def test_every_state_can_be_kept(tmp_path, estimator, given):
    y = (Y > 0) if isinstance(estimator, PredtronBinaryClassifier) else Y
    path = tmp_path / "state"
    mixture(path, estimator=estimator, rounds=2).fit(X, y, **given)
    found = bits(mixture(path, estimator=estimator).fit(X, y, **given))
    assert found == bits(mixture(path, estimator=estimator, checkpoint=None).fit(X, y, **given))


def test_one_shard_and_functions(tmp_path):
    path = tmp_path / "state"
    one = mixture(path, shards=1).fit(X, Y)
    assert one.score(X, Y) > 0.7
    assert rounds_in(path) == 5
    path.unlink()
    shards = [lambda: (X[:60], Y[:60]), lambda: (X[60:], Y[60:])]
    mixture(path, rounds=2).fit(shards, classes=range(3))
    found = bits(mixture(path).fit(shards, classes=range(3)))
    assert found == bits(mixture(path, checkpoint=None).fit(shards, classes=range(3)))


def test_streams_keep_none(tmp_path):
    path = tmp_path / "state"
    mixture(path).partial_fit(X, Y, classes=range(3)).partial_fit([lambda: (X, Y)])
    assert not path.exists()


def test_a_file_of_another_fit_is_refused(tmp_path):
    path = tmp_path / "state"
    kept = mixture(path, rounds=2).fit(X, Y)
    content = path.read_bytes()
    shards = [lambda: (X, Y)] * 3
    for fit, message in [
        (
            lambda: mixture(path, estimator=PredtronClassifier(norm="l1")).fit(X, Y),
            "norm = \"'scaled'\", and this one has \"'l1'\"",
        ),
        (lambda: mixture(path, estimator=PredtronBinaryClassifier()).fit(X, Y > 0), "estimator = 'PredtronClassifier', and"),
        (lambda: mixture(path, random_state=1).fit(X, Y), "mixing's random_state = 0, and this one has 1"),
        (lambda: mixture(path, passes=2).fit(X, Y), "passes = 1, and this one has 2"),
        (lambda: mixture(path, shards=4).fit(X, Y), "shards = .*'shard 0', 40.*, and this one has .*'shard 0', 30"),
        (lambda: mixture(path).fit(shards, classes=range(3)), "shards = .*'shard 0', 40.*, and this one has .*'shard 0', None"),
        (lambda: mixture(path).fit(X, Y[::-1].copy()), "hash of the data = .*, and this one has"),
        (lambda: mixture(path).fit(X[:, :5], Y), "n_features = 6, and this one has 5"),
        (lambda: mixture(path, rounds=1).fit(X, Y), "holds 2 rounds, and rounds=1; accepted is the file of no more rounds"),
    ]:
        with pytest.raises(ValueError, match=message) as caught:
            fit()
        assert str(path) in str(caught.value)
        assert path.read_bytes() == content
    assert bits(mixture(path, rounds=2).fit(X, Y)) == bits(kept)


def test_a_file_of_another_version_or_processor_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "state"
    mixture(path, rounds=1).fit(X, Y)
    for name, value in (("FORMAT", 99), ("MADE_BY", "sklearn_predtron 99, Z80 default")):
        with monkeypatch.context() as patched:
            patched.setattr(module, name, value)
            what = "format = 1, and this one has 99" if name == "FORMAT" else "made_by = .*, and this one has '.*Z80"
            with pytest.raises(ValueError, match=what):
                mixture(path).fit(X, Y)


def test_costs_that_differ_far_inside_are_told_apart(tmp_path):
    """What is printed of a large array does not say all of it."""
    path, y = tmp_path / "state", np.arange(120) % 40
    costs = 1 - np.eye(40)
    mixture(path, estimator=PredtronClassifier(loss=costs), rounds=1).fit(X, y)
    other = costs.copy()
    other[20, 21] = 3
    assert repr(costs) == repr(other)
    with pytest.raises(ValueError, match="loss = "):
        mixture(path, estimator=PredtronClassifier(loss=other)).fit(X, y)
    mixture(path, estimator=PredtronClassifier(loss=costs.copy())).fit(X, y)


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "state"
    mixed = mixture(path, rounds=1, estimator=PredtronClassifier()).fit(X, Y)
    content = path.read_bytes()
    random = np.random.default_rng(0)
    before, model = bits(mixed), mixed.estimator_
    cuts = {0, 1, 30, len(content) - 1, *random.integers(0, len(content), 60).tolist()}
    for cut in cuts:
        path.write_bytes(content[:cut])
        with pytest.raises(ValueError, match=r"checkpoint=.*state' is damaged"):
            mixed.fit(X, Y)
    changed = 0
    for place in random.integers(0, len(content), 150).tolist():
        flipped = bytearray(content)
        flipped[place] ^= 1 << int(random.integers(8))
        path.write_bytes(flipped)
        try:
            assert bits(copy.deepcopy(mixed).fit(X, Y)) == before  # of what no one reads: times, or padding
        except ValueError as error:
            assert str(path) in str(error)
            changed += 1
    assert changed > 75
    for wrong in (b"", b"not a checkpoint", b"PK\x03\x04"):
        path.write_bytes(wrong)
        with pytest.raises(ValueError, match="is damaged"):
            mixed.fit(X, Y)
    np.save(path.with_suffix(".npy"), X)
    with pytest.raises(ValueError, match="is damaged"):
        mixture(path.with_suffix(".npy")).fit(X, Y)
    assert (bits(mixed), mixed.estimator_) == (before, model)


def test_a_file_of_other_labels_or_code_is_refused(tmp_path):
    """Shards of functions have no size and no hash, so that nothing else would tell."""
    path = tmp_path / "state"
    shards = [lambda: (X, Y)]
    mixture(path, rounds=1).fit(shards, classes=range(3))
    with pytest.raises(ValueError, match=r"with classes = \['0', '1', '2'\], and this one has \['0', '1', '2', '3'\]"):
        mixture(path).fit(shards, classes=range(4))
    path.unlink()

    def losing(source):
        return PredtronMultilabelClassifier(loss=CountLoss(eval(source)))

    sets = np.eye(3, dtype=int)[Y]
    mixture(path, estimator=losing("lambda a, b, c, d: (b + 2 * c) / (a + b + c + 1)"), rounds=1).fit(X, sets)
    with pytest.raises(ValueError, match="hash of the parameters = "):
        mixture(path, estimator=losing("lambda a, b, c, d: (b + 1.5 * c) / (a + b + c + 1)")).fit(X, sets)
    mixture(path, estimator=losing("lambda a, b, c, d: (b + 2 * c) / (a + b + c + 1)")).fit(X, sets)


def test_files_that_count_otherwise_are_refused(tmp_path):
    path, files = tmp_path / "state", [str(tmp_path / "part-0.svm")]
    dump_svmlight_file(X, Y, files[0], zero_based=False)
    known = {"classes": range(3), "n_features": 7}
    mixture(path, rounds=1).fit(files, zero_based=False, **known)
    with pytest.raises(ValueError, match="with zero_based = False, and this one has True"):
        mixture(path).fit(files, zero_based=True, **known)


def test_numbers_of_numpy_are_numbers(tmp_path):
    path = tmp_path / "state"
    mixture(path, rounds=np.int64(1), passes=np.int64(1), random_state=np.int64(0)).fit(X, Y)
    assert bits(mixture(path).fit(X, Y)) == bits(mixture(path, checkpoint=None).fit(X, Y))


@pytest.mark.parametrize("path", [5, b"state", "", os.curdir, True])
def test_what_is_no_file_is_refused_before_anything_is_read(path):
    def unread():
        raise AssertionError

    mixed = ParameterMixing(PredtronClassifier(), checkpoint=path, random_state=0)
    with pytest.raises(ValueError, match=r"checkpoint=.* is no file; accepted are None and the path of one"):
        mixed.fit([unread], classes=range(3))


def test_what_a_checkpoint_needs(tmp_path):
    with pytest.raises(ValueError, match="random_state=None cannot be told from others when a fit goes on from its checkpoint"):
        mixture(tmp_path / "state", random_state=None).fit(X, Y)
    with pytest.raises(ValueError, match=r"checkpoint=.*missing.*state' cannot be written: its folder is not there"):
        mixture(tmp_path / "missing" / "state").fit(X, Y)
