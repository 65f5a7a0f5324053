"""Checkpoints know the rows that they are of, whatever brings them."""

import gzip
import shutil

import numpy as np
import pytest
from cases import make_data
from mixing_cases import families, lesson_for, made
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from sklearn_predtron import PredtronClassifier, PredtronRanker
from sklearn_predtron.datasets import SvmlightReader
from sklearn_predtron.mixing import ParameterMixing, _rounds
from sklearn_predtron.mixing._digest import Digest
from tests.mixing.test_shards import bits, functions
from tests.own_checks import frozen, is_same

X, Y = make_data(n=120)
REFUSED = (
    "is of a fit to other rows than {} has now; accepted is the file of the same data, or none; delete the file to start from"
)


def mixture(path, **parameters):
    how = {"rounds": 3, "random_state": 0, "checkpoint": None if path is None else str(path)}
    return ParameterMixing(parameters.pop("estimator", PredtronClassifier()), **{**how, **parameters})


def refused(path, fit, shard, **parameters):
    """The rounds of a checkpoint are not taken for rows that it is not of, and nothing is changed."""
    before = path.read_bytes()
    for rounds in (3, 4):  # all of them are there, or one is left
        mixed = mixture(path, rounds=rounds, **parameters)
        kept = frozen(mixed)
        with pytest.raises(ValueError, match=REFUSED.format(shard)) as caught:
            fit(mixed)
        assert str(path) in str(caught.value)
        assert is_same(frozen(mixed), kept) and path.read_bytes() == before


def swapped_labels(lines):
    i, j = 70, next(i for i in range(71, 100) if lines[i][0] != lines[70][0])
    lines[i], lines[j] = lines[j][0] + lines[i][1:], lines[i][0] + lines[j][1:]
    return lines


CHANGES = {
    "one label": lambda lines: [*lines[:70], str((int(lines[70][0]) + 1) % 3) + lines[70][1:], *lines[71:]],
    "two labels change places": swapped_labels,
    "two rows change places": lambda lines: [*lines[:70], lines[71], lines[70], *lines[72:]],
    "a digit": lambda lines: [*lines[:70], lines[70][:-1] + str((int(lines[70][-1]) + 1) % 10), *lines[71:]],
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", ["files", "one file", "readers"])
def test_files_of_other_rows_are_refused(tmp_path, change, kind):
    """Of the same names and lengths, and of the same times."""
    names = [str(tmp_path / "a.svm"), str(tmp_path / "b.svm")][: 1 if kind == "one file" else 2]
    for name in names:
        dump_svmlight_file(X.round(3), Y, name, zero_based=False)
    lines = (tmp_path / "a.svm").read_text().splitlines()
    shards = [SvmlightReader(name, n_features=6, zero_based=False) for name in names] if kind == "readers" else names
    path, known = tmp_path / "state", {"classes": range(3), "n_features": 6, "zero_based": False}
    found = bits(mixture(path).fit(shards, **known))
    (tmp_path / "copy").write_text("\n".join(CHANGES[change](lines)) + "\n")
    size = (tmp_path / "a.svm").stat().st_size
    assert (tmp_path / "copy").stat().st_size == size
    shutil.move(tmp_path / "a.svm", tmp_path / "kept")
    shutil.copy(tmp_path / "copy", tmp_path / "a.svm")
    shutil.copystat(tmp_path / "kept", tmp_path / "a.svm")
    refused(path, lambda mixed: mixed.fit(shards, **known), "shard [0-9], .*a.svm'")
    shutil.copy(tmp_path / "kept", tmp_path / "a.svm")  # at another time
    assert bits(mixture(path).fit(shards, **known)) == found
    assert bits(mixture(path, rounds=4).fit(shards, **known)) == bits(mixture(None, rounds=4).fit(shards, **known))


def test_readers_that_read_otherwise_are_refused(tmp_path):
    """Chunks are shuffled within themselves, so that those of another size are not the same rows."""
    name, path = str(tmp_path / "a.svm"), tmp_path / "state"
    dump_svmlight_file(X.round(3), Y, name, zero_based=False)
    known = {"classes": range(3), "n_features": 6, "zero_based": False}
    how = {"n_features": 6, "zero_based": False}
    mixture(path).fit([SvmlightReader(name, chunk_rows=50, **how)], **known)
    mixture(path).fit([SvmlightReader(name, chunk_rows=50, **how)], **known)
    for other in ({"chunk_rows": 60}, {"chunk_rows": 50, "dtype": np.float32}):
        refused(path, lambda mixed, other=other: mixed.fit([SvmlightReader(name, **how, **other)], **known), "shard 0, .*a.svm'")


def test_a_file_that_is_compressed_anew_holds_the_same_rows(tmp_path):
    name, path = str(tmp_path / "a.svm.gz"), tmp_path / "state"
    known = {"classes": range(3), "n_features": 6, "zero_based": False}
    dump_svmlight_file(X.round(3), Y, str(tmp_path / "a.svm"), zero_based=False)
    for time in (1, 2):
        (tmp_path / "a.svm.gz").write_bytes(gzip.compress((tmp_path / "a.svm").read_bytes(), mtime=time))
        mixture(path).fit([name], **known)


@pytest.mark.parametrize("family", families(), ids=lambda family: family.__name__)
@pytest.mark.filterwarnings("ignore:decision=None fits the cut")
def test_functions_of_other_rows_are_refused(tmp_path, family):
    """Other values, labels or ids; the names of shards are all that they have in common."""
    lesson, path = lesson_for(family), tmp_path / "state"
    estimator = made(family, norm="l2")

    def fit(mixed, lesson):
        return mixed.fit(functions(lesson, [40, 80]), classes=lesson.classes)

    found = bits(fit(mixture(path, estimator=estimator), lesson))
    values, labels = lesson.X.copy(), lesson.y.copy()
    values[60, 0] += 1e-9
    others = {"values": lesson._replace(X=values)}
    labels[[60, 61]] = labels[[61, 60]] if (labels[60] != labels[61]).any() else labels[[0, 1]]
    others["labels"] = lesson._replace(y=labels)
    if lesson.given:
        ((name, ids),) = lesson.given.items()
        others["ids"] = lesson._replace(given={name: np.where(np.arange(120) == 60, 99, ids)})
    for other in others.values():
        refused(path, lambda mixed, other=other: fit(mixed, other), "shard 1", estimator=estimator)
    assert bits(fit(mixture(path, estimator=estimator), lesson)) == found
    weighted = [lambda: (*lesson.part(0, 40)[:2], {**lesson.part(0, 40)[2], "sample_weight": np.full(40, 2.0)})]
    shards = weighted + functions(lesson, [40, 80])[1:]
    refused(path, lambda mixed: mixed.fit(shards, classes=lesson.classes), "shard 0", estimator=estimator)


def test_the_same_rows_in_another_layout_are_the_same(tmp_path):
    """As rows that were sent, and so copied, have another one."""
    path, wide = tmp_path / "state", np.repeat(X, 2, axis=0)
    forms = [lambda: (X, Y), lambda: (wide[::2], Y), lambda: (np.asfortranarray(X), Y), lambda: (X, np.repeat(Y, 2)[::2])]
    names = [lambda kind=kind: (X, np.array(["a", "b", "c"], dtype=kind)[Y]) for kind in (object, object)]
    found = [bits(mixture(path).fit([form], classes=range(3))) for form in forms]
    assert all(other == found[0] for other in found)
    path.unlink()
    for form in names:
        mixture(path).fit([form], classes=["a", "b", "c"])


def test_ids_in_a_column_are_part_of_the_rows(tmp_path):
    pd = pytest.importorskip("pandas")
    lesson, path = lesson_for(PredtronRanker), tmp_path / "state"
    frame = pd.DataFrame(lesson.X).rename(columns=str).assign(qid=lesson.given["qid"])
    other = frame.assign(qid=np.where(np.arange(120) == 60, 99, frame["qid"]))
    mixture(path, estimator=PredtronRanker()).fit([lambda: (frame, lesson.y)])
    mixture(path, estimator=PredtronRanker()).fit([lambda: (frame, lesson.y)])
    refused(path, lambda mixed: mixed.fit([lambda: (other, lesson.y)]), "shard 0", estimator=PredtronRanker())


def test_rounds_that_are_all_there_learn_nothing(tmp_path):
    path, calls = tmp_path / "state", []
    shards = [lambda: calls.append(0) or (X[:60], Y[:60]), lambda: (X[60:], Y[60:])]
    found = bits(mixture(path).fit(shards, classes=range(3)))
    calls.clear()
    again = mixture(path)
    assert bits(again.fit(shards, classes=range(3))) == found
    assert len(calls) == 2  # for the first rows, and for all of them
    assert path.stat().st_size > 0


def test_an_interrupt_before_rows_are_known_keeps_nothing(tmp_path, monkeypatch):
    """Rounds of a checkpoint may be of other rows, until one was taken; of arrays that is known at once."""
    path, shards = tmp_path / "state", [lambda: (X, Y)]
    run_round = _rounds.run_round

    def stopped_at(stop):
        def stopped(engine, plan, before, turn, **how):
            if turn == stop:
                raise KeyboardInterrupt
            return run_round(engine, plan, before, turn, **how)

        return stopped

    for fit, kept in [(lambda mixed: mixed.fit(shards, classes=range(3)), 0), (lambda mixed: mixed.fit(X, Y), 3)]:
        path.unlink(missing_ok=True)
        fit(mixture(path))
        for stop, n in [(3, kept), (4, 4)]:
            with monkeypatch.context() as patched:
                patched.setattr(_rounds, "run_round", stopped_at(stop))
                mixed = mixture(path, rounds=5)
                with pytest.raises(KeyboardInterrupt):
                    fit(mixed)
            assert hasattr(mixed, "estimator_") == (n > 0)
            assert n == 0 or len(mixed.loss_curve_) == n


def digest(*values):
    found = Digest()
    for value in values:
        found.add(value)
    return str(found)


def test_a_digest_tells_values_apart_and_not_objects():
    A = np.arange(12.0).reshape(3, 4)
    label = ["an", "other"]
    for twice, apart in (([label, label], [["an", "other"], ["an", "other"]]), ([3, 3], [3, int("3")])):
        assert digest(twice) == digest(apart)
        objects = np.empty((2, len(twice)), dtype=object)
        objects[0, :], objects[1, :] = twice, apart
        assert digest(objects[0]) == digest(objects[1])
    same = [A, np.asfortranarray(A), np.repeat(A, 2, axis=0)[::2], np.tile(A, 2)[:, :4]]
    assert len({digest(value) for value in same}) == 1
    assert digest(A[:1]) == digest(np.repeat(A, 2, axis=0)[::2][:1].copy())
    assert digest([A, A[:, :2]]) == digest([same[2], A[:, :2].copy()]) != digest([A[:, :2], A])
    others = [
        A,
        A.T,
        A.ravel(),
        A.astype(np.float32),
        A.astype(int),
        sparse.csr_matrix(A),
        sparse.csr_matrix(A.T),
        A[:0],
        A[:, :0],
    ]
    others += [
        list(A[0]),
        ["a", "b"],
        np.array(["a", "b"]),
        np.array(["ab"]),
        {"a": A},
        {"b": A},
        None,
        "None",
        np.array(["a"], object),
    ]
    assert len({digest(value) for value in others}) == len(others)
    assert digest(A, A) != digest(A) and digest(A[:1], A[1:]) != digest(A[:2], A[2:])
    made = ["".join(["a", "b"]), "ab"]
    assert digest(np.array([made[0], made[0]], object)) == digest(np.array(made, object))
    assert digest({"a": A, "b": Y}) == digest({"b": Y, "a": A})
