"""Checkpoints: a fit that was killed goes on to the same bits, and a file of anything else is refused."""

import errno
import json
import os
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cases import make_data
from mixing_cases import families, lesson_for, made, mixed_estimators
from sklearn.datasets import dump_svmlight_file

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronMultilabelClassifier, PredtronRanker
from sklearn_predtron._support.array_file import SUM, check_sum_of, read_file, write_file
from sklearn_predtron.losses import CountLoss
from sklearn_predtron.mixing import ParameterMixing, _checkpoint
from sklearn_predtron.mixing._checkpoint import MAGIC
from tests.mixing.test_shards import bits

X, Y = make_data(n=120)

CHILD = """
import os, signal, sys
import numpy as np
from cases import make_data
from sklearn_predtron import PredtronClassifier
from sklearn_predtron.mixing import ParameterMixing
from sklearn_predtron.mixing._checkpoint import MixingCheckpoint

save, kept = MixingCheckpoint.save, []

def killed(self, progress):
    save(self, progress)
    kept.append(0)
    if len(kept) == 2:
        os.fsync = lambda number: os.kill(os.getpid(), signal.SIGKILL)
        save(self, progress)

MixingCheckpoint.save = killed
X, y = make_data(n=120)
linear = PredtronClassifier(norm="scaled", features=None)
ParameterMixing(linear, rounds=5, shards=3, random_state=0, checkpoint=sys.argv[1]).fit(X, y)
"""


def mixture(path, **parameters):
    estimator = parameters.pop("estimator", None) or PredtronClassifier(norm="scaled")
    how = {"rounds": 5, "shards": 3, "random_state": 0, "checkpoint": str(path)}
    return ParameterMixing(estimator, **{**how, **parameters})


def rounds_in(path):
    return len(read_file(str(path), MAGIC)[0]["losses"])


def test_a_killed_fit_goes_on(tmp_path):
    """By SIGKILL in mid-writing after the second round; what it was writing is ignored."""
    path = tmp_path / "state"
    folder = os.path.dirname(os.path.dirname(__file__))
    paths = os.pathsep.join([folder, os.path.dirname(folder)])
    child = subprocess.run([sys.executable, "-c", CHILD, str(path)], env={**os.environ, "PYTHONPATH": paths}, check=False)
    assert child.returncode == -signal.SIGKILL
    assert rounds_in(path) == 2
    (left,) = tmp_path.glob("state.*.part")
    went_on = mixture(path)
    taken, round_of = [], went_on._run_in_parallel
    went_on._run_in_parallel = lambda *given: taken.append(0) or round_of(*given)
    found = bits(went_on.fit(X, Y))
    assert len(taken) == 3
    assert found == bits(mixture(path, checkpoint=None).fit(X, Y))
    assert sorted(tmp_path.iterdir()) == [path, left]
    assert rounds_in(path) == 5
    assert bits(mixture(path).fit(X, Y)) == found  # no round is left
    assert bits(mixture(path, rounds=7).fit(X, Y)) == bits(mixture(path, rounds=7, checkpoint=None).fit(X, Y))


@pytest.mark.parametrize(
    ("estimator", "given"),
    [
        (PredtronBinaryClassifier(decision="f1"), {}),
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


@pytest.mark.parametrize("family", families(), ids=lambda family: family.__name__)
def test_the_checks_let_every_state_pass(tmp_path, family):
    """Of all norms, updates and averages, and of a fit whose rounds are all there."""
    lesson = lesson_for(family)
    for i, parameters in enumerate(mixed_estimators(family)):
        mixed = mixture(tmp_path / f"state {i}", estimator=made(family, **parameters), rounds=1)
        found = bits(mixed.fit(lesson.X, lesson.y, **lesson.given))
        assert bits(mixed.fit(lesson.X, lesson.y, **lesson.given)) == found, parameters


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
    for where, name, value, what in [
        (_checkpoint, "MAGIC", b"predtron checkpoint 9\n", "is no checkpoint that this version wrote"),
        (
            _checkpoint,
            "MADE_BY",
            "sklearn_predtron 99, Z80 default",
            "made_by = .*, and this one has '.*Z80.*; delete the file to",
        ),
    ]:
        with monkeypatch.context() as patched:
            patched.setattr(where, name, value)
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
    for place in random.integers(0, len(content), 150).tolist():
        flipped = bytearray(content)
        flipped[place] ^= 1 << int(random.integers(8))
        path.write_bytes(flipped)
        with pytest.raises(ValueError, match=r"checkpoint=.*state' is (damaged|no checkpoint)"):
            mixed.fit(X, Y)
    for wrong in (b"not a checkpoint", b"PK\x03\x04"):
        path.write_bytes(wrong)
        with pytest.raises(ValueError, match="is no checkpoint that this version wrote; accepted are one that is, and"):
            mixed.fit(X, Y)
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
    with pytest.raises(ValueError, match="random_state=None cannot be compared when a fit resumes from its checkpoint"):
        mixture(tmp_path / "state", random_state=None).fit(X, Y)
    with pytest.raises(ValueError, match=r"checkpoint=.*missing.*state' cannot be written: its folder is not there"):
        mixture(tmp_path / "missing" / "state").fit(X, Y)


# ------------------------------------------------------------------------------------------------------------------ the disk


@pytest.mark.parametrize("last", [2, 9])
def test_a_full_disk_costs_no_round(tmp_path, monkeypatch, last):
    """From the second round on, for one round or for all: one warning, and the file of the last round that could be written."""
    path, sync, calls = tmp_path / "state", os.fsync, []

    def full(number):
        if not stat.S_ISDIR(os.fstat(number).st_mode):
            calls.append(0)
            if 2 <= len(calls) <= last:
                raise OSError(errno.ENOSPC, "No space left on device")
        sync(number)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.warns(UserWarning) as caught:
        found = bits(mixture(path).fit(X, Y))
    assert [str(warning.message) for warning in caught] == [
        f"checkpoint={str(path)!r} could not be written after round 2: No space left on device; learning goes on, and each "
        "round tries again."
    ]
    assert caught[0].filename == __file__
    assert found == bits(mixture(path, checkpoint=None).fit(X, Y))
    assert rounds_in(path) == (5 if last == 2 else 1) and os.listdir(tmp_path) == ["state"]
    monkeypatch.undo()
    assert bits(mixture(path).fit(X, Y)) == found


def test_fits_of_one_checkpoint_at_once(tmp_path):
    """None is in another's way, and what they leave is one of theirs."""
    path = tmp_path / "state"
    expected = bits(mixture(path, checkpoint=None, rounds=20).fit(X, Y))
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda _: bits(mixture(path, rounds=20).fit(X, Y)), range(4))
        assert all(one == expected for one in found)
    assert os.listdir(tmp_path) == ["state"] and rounds_in(path) == 20


def test_a_checkpoint_through_a_link(tmp_path):
    """The link stays, also where what it points to is not there yet, and so does the mode."""
    (tmp_path / "folder").mkdir()
    link, there = tmp_path / "state", tmp_path / "folder" / "there"
    link.symlink_to("folder/there")
    mixture(link, rounds=2).fit(X, Y)
    there.chmod(0o640)
    assert bits(mixture(link).fit(X, Y)) == bits(mixture(link, checkpoint=None).fit(X, Y))
    assert link.is_symlink() and rounds_in(there) == 5 and stat.S_IMODE(there.stat().st_mode) == 0o640
    assert os.listdir(tmp_path / "folder") == ["there"]


@pytest.mark.parametrize("kind", ["pipe", "link to a pipe", "link to itself", "link to no folder", "NUL"])
def test_what_cannot_be_replaced_is_refused(tmp_path, kind):
    path = tmp_path / "state"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "NUL":
        path = f"{path}\0"
    else:
        os.mkfifo(tmp_path / "pipe")
        path.symlink_to({"pipe": tmp_path / "pipe", "itself": path, "folder": tmp_path / "missing" / "state"}[kind.split()[-1]])
    before = os.listdir(tmp_path)
    with pytest.raises(ValueError, match=r"checkpoint=.*(is no file|cannot be written)"):
        mixture(path).fit(X, Y)
    assert os.listdir(tmp_path) == before


def test_a_file_that_cannot_be_read(tmp_path, monkeypatch):
    path = tmp_path / "state"
    mixture(path, rounds=1).fit(X, Y)

    def refuse(*given, **more):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(ValueError, match=r"checkpoint=.*state' cannot be read: Permission denied\."):
        mixture(path).fit(X, Y)


# --------------------------------------------------------------------------------------------------- files with a right sum


def fields(path):
    """What a file says, by name."""
    about, arrays = read_file(str(path), MAGIC)
    return {**about, **arrays}


def forge(path, found):
    """Write a file that says something else, with a sum that is right."""
    about = {name: found[name] for name in ("fit", "rows", "losses", "mixed_loss") if name in found}
    arrays = {name: value for name, value in found.items() if name not in ("fit", "rows", "losses", "mixed_loss")}
    write_file(str(path), MAGIC, about, arrays)


WRONG = {
    "losses": [[], [np.nan], [1.0, np.inf], ["0.5"], [True], None, 5, [0.5] * 9, {}],
    "mixed_loss": [np.nan, -np.inf, None, "0", True, [], 10**400],
    "rows": [["a"], None, [0, 0, 0], "abc", 5],
    "fit": [None, {}, [], 5, {"\x1b[31m": 1}],
}


@pytest.mark.parametrize(
    "estimator", [PredtronBinaryClassifier(decision="f1", norm="scaled"), PredtronBinaryClassifier(norm="l1")]
)
def test_every_field_is_checked(tmp_path, estimator):
    """Missing, of another type or shape, not finite, too many: a ValueError that names the file."""
    path, labels = tmp_path / "state", Y > 0
    mixture(path, estimator=estimator, rounds=2).fit(X, labels)
    right = fields(path)
    forge(path, right)
    found = bits(mixture(path, estimator=estimator, rounds=2).fit(X, labels))
    cases = [{**right, name: wrong} for name, values in WRONG.items() for wrong in values]
    cases += [{other: value for other, value in right.items() if other != name} for name in right]
    for name, value in right.items():
        if isinstance(value, np.ndarray):
            others = [value[None], value.astype(np.int64 if value.dtype == np.float64 else np.float64), np.zeros(3)]
            others += [np.full_like(value, bad) for bad in (np.nan, np.inf, -np.inf)] if value.dtype.kind == "f" else []
            others += [np.repeat(value, 2, axis=0), value[:0], value.T] if value.ndim and value.shape != value.T.shape else []
            cases += [{**right, name: other} for other in others]
    cases += [
        {**right, name: np.zeros(3)} for name in ("x", "", "sum/x", "mean/clock.x", "moments/x", "moments/x/rows", "none/x")
    ]
    for count in ("sum/clock.mistakes", "sum/clock.updates", "gain/clock.rounds", "gain/clock.weight"):
        cases.append({**right, count: -np.ones_like(right[count])})
    cases += [{**right, name: np.array(9e18)} for name in right if name.endswith("intercept.octaves")]  # of no rows
    assert len(cases) > 100
    for case in cases:
        forge(path, case)
        with pytest.raises(
            ValueError, match=r"checkpoint=.*state' (is damaged: .*; delete the file|holds 9 rounds|is of a fit)"
        ) as said:
            mixture(path, estimator=estimator, rounds=2).fit(X, labels)
        assert "\x1b" not in str(said.value)
    forge(path, right)
    assert bits(mixture(path, estimator=estimator, rounds=2).fit(X, labels)) == found


def test_what_a_file_says_of_its_arrays_is_checked(tmp_path):
    path = tmp_path / "state"
    mixture(path, rounds=1).fit(X, Y)
    magic, content = path.read_bytes()[: len(MAGIC)], path.read_bytes()[len(MAGIC) + SUM :]
    line, _, data = content.partition(b"\n")
    table = json.loads(line)["arrays"]
    name, kind, shape = table[0]
    wrong = [
        [name, kind, [-1]],
        [name, kind, [2**62, 2**62]],
        [name, kind, [1.5]],
        [name, kind, 5],
        [name, "O", shape],
        [name],
        5,
        None,
    ]
    wrong += [[name, "<U4", shape], [name, kind, [True] * len(shape)], [[], kind, shape], [name, kind, [*shape, 2]]]
    lines = [json.dumps({**json.loads(line), "arrays": [one, *table[1:]]}).encode() for one in wrong]
    lines += [b"", b"5", b"[" * 100_000, b"{", b'{"about": 1, "arrays": []}', b"\xff", json.dumps({"arrays": table}).encode()]
    for start, rest in [*((one, data) for one in lines), (line, data[:-1]), (line, data + b"x"), (line, b"")]:
        new = start + b"\n" + rest
        path.write_bytes(magic + check_sum_of([new]) + new)
        with pytest.raises(ValueError, match=r"checkpoint=.*state' is damaged: .*; delete the file to start from scratch"):
            mixture(path).fit(X, Y)
