"""The main job on queries and sentences: measures, rounds that are cut nowhere, and files that hold others."""

import io
import itertools
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import dump_svmlight_file

import sklearn_predtron
from sklearn_predtron import PredtronClassifier, PredtronLabelRanker, PredtronRanker, PredtronSequenceTagger
from sklearn_predtron.cli import _app as job
from sklearn_predtron.cli import _progress
from sklearn_predtron.datasets import BrokenLineError, Svmlight, open_rows
from tests.cli_cases import run, usage_error
from tests.cli_worlds import NO_ID, WORLDS

pytestmark = pytest.mark.usefixtures("as_streams")

QUERIES, SENTENCES = WORLDS["queries"], WORLDS["sentences"]
GROUPS = pytest.mark.parametrize("world", [QUERIES, SENTENCES], ids=["rank", "sequence"])


@pytest.fixture(scope="module")
def data():
    return {"a": QUERIES.draw(50, 0), "test": QUERIES.draw(30, 2)}


@pytest.fixture(scope="module")
def files(data, tmp_path_factory):
    """Files of queries to learn from (a) and to score on (test), and of the same rows as sentences (s)."""
    folder = tmp_path_factory.mktemp("queries")
    found = {name: QUERIES.write(folder / name, part) for name, part in data.items()}
    return {**found, "s": SENTENCES.write(folder / "s", data["a"])}


def write(path, text):
    path.write_text(text)
    return path


# ---------------------------------------------------------------------------------------------------------------- measures


def plain_ndcg(y, scores, k):
    """By the definition; each document of a tie has the mean gain of the tie."""
    order = sorted(range(len(y)), key=lambda i: -scores[i])[:k]
    gain = sum((2.0 ** y[scores == scores[i]] - 1).mean() / np.log2(2 + place) for place, i in enumerate(order))
    best = sum((2.0**value - 1) / np.log2(2 + place) for place, value in enumerate(sorted(y, reverse=True)[:k]))
    return gain / best if best > 0 else 1.0


@pytest.mark.parametrize("task", [["--task", "rank"], []], ids=["asked for", "seen"])
@pytest.mark.parametrize("n", [30, 20])
def test_ndcg_is_that_of_its_definition(capsys, data, files, tmp_path, task, n):
    """Of whole lists and of their tops, with documents that tie; also of the queries before a broken line."""
    test = data["test"].of(range(n))
    test.X[test.group % 3 == 0] = test.X[0]
    line = "" if n == 30 else "1 qid:999 oops\n"
    path = write(tmp_path / "test.svm", QUERIES.text(test) + line)
    code, out, _ = run(capsys, files["a"], "--test", path, *task, "--no-shuffle")
    model, y = QUERIES.learn(QUERIES.estimator(), data["a"]), QUERIES.target(test)
    scores = model.predict(QUERIES.rows(test)).round(10)
    parts = [(y[test.group == i], scores[test.group == i]) for i in range(test.n)]
    *at, whole = (np.mean([plain_ndcg(*part, k) for part in parts]) for k in (1, 5, 10, None))
    table, tops = out.split("\n\n")[:2]
    head, _, cells = tops.splitlines()[:3]
    assert code == (n != 30) and head.split() == ["learner", "NDCG@1", "NDCG@5", "NDCG@10"]
    assert cells.split()[1:] == [f"{value:.4f}" for value in at] and table.splitlines()[2].endswith(f"{whole:.4f}")
    assert "held-out score: mean NDCG.\n" in out


def test_probabilities_of_tokens(capsys, tmp_path):
    """A tagger has some once it is calibrated, which is done in Python."""
    random = np.random.default_rng(0)
    X, sid = random.standard_normal((400, 3)), np.repeat(np.arange(80), 5)
    y = (X[:, 0] > 0.3 * random.standard_normal(400)).astype(int)
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), query_id=sid, zero_based=False)
    model = PredtronSequenceTagger(random_state=0).fit(X, y, sid=sid)
    model.save(tmp_path / "m")
    PredtronSequenceTagger().partial_fit(X, y, sid=sid, classes=[0, 1]).save(tmp_path / "bare")
    code, out, err = run(capsys, "predict", tmp_path / "m", tmp_path / "a.svm", "--proba")
    assert (code, err) == (0, "")
    assert_allclose(np.loadtxt(out.splitlines()), model.predict_proba(X, sid=sid), atol=1e-9)
    err = usage_error(capsys, "predict", tmp_path / "bare", tmp_path / "a.svm", "--proba")
    assert "--proba is not for a PredtronSequenceTagger without calibration" in err and "calibrate(X, y, sid=...)" in err
    to = ["--test", tmp_path / "a.svm", "--predictions", "-", "--proba"]
    assert "PredtronRanker, which has no probabilities" in usage_error(capsys, tmp_path / "a.svm", "--task", "rank", *to)


# ------------------------------------------------------------------------------------------------------------------ rounds


def test_going_on_keeps_the_base_of_indices(capsys, tmp_path):
    zero_based = write(tmp_path / "zero.svm", "2 qid:1 0:1 1:2\n0 qid:1 2:1\n")
    run(capsys, zero_based, "--save", tmp_path / "model")
    later = write(tmp_path / "later.svm", "1 qid:1 1:1\n0 qid:1 2:1\n")
    code, *_ = run(capsys, later, "--load", tmp_path / "model", "--save", tmp_path / "model")
    found = sklearn_predtron.load(tmp_path / "model")
    assert code == 0 and found.t_ == 2 and found.n_features_in_ == 3 and found.coef_[0] > 0


@GROUPS
@pytest.mark.parametrize("chunk", [1, 10_000])
def test_an_id_that_returns_is_a_new_round(capsys, data, tmp_path, world, chunk):
    """Unless it is that of the row before."""
    a, ids = data["a"], np.array([3, 3, 1, 2] * 13)[:50]
    lines = re.sub(r"qid:(\d+)", lambda match: f"qid:{ids[int(match[1]) - 10]}", world.text(a))
    merged = a._replace(group=np.cumsum(np.diff(ids, prepend=ids[0]) != 0)[a.group])
    how = ["--no-shuffle", "--chunk", chunk, *world.options, "--save", tmp_path / "model"]
    assert run(capsys, write(tmp_path / "q.svm", lines), *how)[0] == 0
    found, model = sklearn_predtron.load(tmp_path / "model"), world.learn(world.estimator(), merged)
    assert found.t_ == model.t_ == merged.n < a.n
    assert_array_equal(found.coef_, model.coef_)


@GROUPS
def test_a_round_longer_than_the_chunk(data, files, world):
    name, path = ("query", files["a"]) if world is QUERIES else ("sequence", files["s"])
    lines = path.read_text().splitlines(keepends=True)
    lengths = [sum(len(lines[j]) for j in np.flatnonzero(data["a"].group == i)) for i in range(50)]
    n, size = int(np.argmax(lengths)), max(lengths) - 1
    line = int(np.flatnonzero(data["a"].group == n)[-1]) + 1
    form = Svmlight(n_features=6, **{f"{name}_id": True})
    with pytest.raises(BrokenLineError, match=f"line {line}: the {name} of qid:{10 + n},.* is longer than chunk_bytes={size}"):
        list(open_rows(path, format=form, classes=None if world is QUERIES else world.labels, chunk_bytes=size))


def test_refused_relevance(capsys, data, files, tmp_path):
    """At once it is the loss's fault, later the chunk's."""
    path = write(tmp_path / "q.svm", QUERIES.text(data["a"]) + "31 qid:77 1:1\n0 qid:77 1:2\n")
    code, out, err = run(capsys, path, "--chunk", 1, "--save", tmp_path / "model")
    assert code == 1 and re.search("PredtronRanker +50 ", out) and sklearn_predtron.load(tmp_path / "model").t_ == 50
    assert f"{path}: in the chunk that begins with qid:77: y holds the relevance 31" in err
    assert f"the 50 rounds before it are kept, in {tmp_path / 'model'}" in err
    assert "y holds the relevance 31" in usage_error(capsys, path)
    assert run(capsys, path, "--loss", "kendall_tau")[0] == 0
    assert "loss='ap' takes 0 and 1" in usage_error(capsys, files["a"], "--loss", "ap")


@pytest.mark.parametrize("place", [0, 30])
def test_a_token_that_no_learner_takes_is_named_by_its_place(capsys, data, files, tmp_path, place):
    lines, at = files["s"].read_text().splitlines(keepends=True), int(np.sum(data["a"].group < place))
    lines[at] = f"2 qid:{10 + place} 2:1e200\n"
    path = write(tmp_path / "long.svm", "".join(lines))
    code, out, err = run(capsys, path, "--task", "sequence", "--chunk", 1, "--save", tmp_path / "model")
    assert code == 1 and re.search(f"PredtronSequenceTagger +{place} ", out) and (tmp_path / "model").exists() == (place > 0)
    assert f"in the chunk that begins with qid:{10 + place}: X[0] has the length 1e+200" in err and err.count("\n") == 1


# ------------------------------------------------------------------------------------------------------------- which task


def test_a_row_with_qid_is_seen(capsys, data, tmp_path):
    path = write(tmp_path / "q.svm", "# a comment\n\n" + QUERIES.text(data["a"]))
    code, out, _ = run(capsys, path)
    assert code == 0 and "PredtronRanker" in out
    code, out, _ = run(capsys, path, "--task", "multiclass", "--save", tmp_path / "model")
    assert code == 0 and "NDCG" not in out
    assert isinstance(sklearn_predtron.load(tmp_path / "model"), PredtronClassifier)
    code, out, _ = run(capsys, path, "--load", tmp_path / "model")  # a model says what its files are
    assert code == 0 and "NDCG" not in out


@GROUPS
def test_files_without_groups(capsys, files, tmp_path, world):
    task = ["--task", "rank" if world is QUERIES else "sequence"]
    path, empty = write(tmp_path / "rows.svm", "1 1:2\n2 1:1\n"), write(tmp_path / "empty.svm", "# nothing\n")
    train = files["a" if world is QUERIES else "s"]
    said = f"error: {path}, line 1: at '1:2': {NO_ID}; "
    code, out, err = run(capsys, path, *task, "--save", tmp_path / "model")
    assert (code, out) == (1, "") or "-" in out
    assert err == f"{said}there is no trained model yet\n" and not (tmp_path / "model").exists()
    run(capsys, train, *task, "--save", tmp_path / "model")
    assert run(capsys, path, "--load", tmp_path / "model")[2].startswith(said)
    code, out, err = run(capsys, train, *task, "--test", path)
    assert code == 1 and err.startswith(said) and out.splitlines()[2].endswith("-")
    for form in ([], ["--features", 3, *([] if world is QUERIES else ["--classes", 1, 2])]):
        assert "has no rows" in usage_error(capsys, empty, *task, *form, "--save", tmp_path / "none")
        assert not (tmp_path / "none").exists()


SEEN = "is not for PredtronRanker (the first row of TRAIN has qid:, so --task is rank)"
RANK_LOSSES = "accepted are ndcg, ap, swapped_pairs, ranking_zero_one, kendall_tau (--help"
TAG_LOSSES = "--loss is not for PredtronSequenceTagger; accepted are hamming, zero_one (--help"
NO_LOSS = "--loss is not for PredtronRanker"
USAGE = [
    ("a --classes 0 1", f"--classes {SEEN}"),
    ("a --reject-cost 0.1", f"--reject-cost {SEEN}"),
    ("a --task rank --classes 0 1", "--classes is not for PredtronRanker (--help"),
    ("a --loss hamming", RANK_LOSSES),
    ("a --loss 0:1=3", RANK_LOSSES),
    ("a --loss swapped_pairs", "takes two a list"),
    *(
        (f"a --task {task} --loss ndcg", "--loss is not for Predtron")
        for task in ("binary", "multiclass", "ordinal", "multilabel")
    ),
    ("a --load labels", "holds a PredtronLabelRanker; accepted are"),
    ("a --load ranker --task rank", "--task is fixed by the model"),
    ("a --load ranker --loss f1", NO_LOSS),
    *((f"s --task sequence --loss={loss}", TAG_LOSSES) for loss in ("f1", "ndcg", "-1:2=3")),
    ("s --task sequence --reject-cost 0.1", "--reject-cost is not for PredtronSequenceTagger"),
    ("s --task sequence --norm l1", "norm=PNorm() is not for sequences; accepted are 'auto', 'l2', 'scaled' and 'rkhs'"),
    ("one --task sequence", "[1]; at least two are needed, or --classes"),
    ("s --load tagger --loss f1", "--loss is not for PredtronSequenceTagger"),
    ("s --load truths", "with numbers or text as labels"),
]


@pytest.mark.always
@pytest.mark.parametrize(("words", "message"), USAGE)
def test_usage_errors(capsys, files, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    for name, path in files.items():
        (tmp_path / name).symlink_to(path)
    write(tmp_path / "one", "1 qid:1 1:1\n")
    PredtronLabelRanker().fit([[1.0], [2.0]], [[0, 1], [1, 0]]).save("labels")
    PredtronSequenceTagger().fit(np.zeros((4, 1)), [True, False] * 2, sid=[0, 0, 1, 1]).save("truths")
    PredtronRanker().fit(np.eye(6), np.arange(6) % 2, qid=[0, 0, 0, 1, 1, 1]).save("ranker")
    PredtronSequenceTagger().fit(np.eye(6), [-1, 2, 7] * 2, sid=[0, 0, 0, 1, 1, 1]).save("tagger")
    assert message in usage_error(capsys, *words.split())


# ------------------------------------------------------------------------------------------------------------- memory, bar


JOB = """
import re
from pathlib import Path
from sklearn_predtron.cli import main
try:
    main()
finally:
    print("peak", re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the memory of a process is read from /proc")
def test_memory_is_bounded_by_the_chunk(tmp_path):
    """Sixteen times as many queries take no more memory, while they are learned, scored and predicted."""
    rows = QUERIES.text(QUERIES.draw(80, 5))
    form = ["--stream", "--chunk", "50", "--features", "6", "--predictions", tmp_path / "p"]
    peaks = []
    for copies in (16, 256):
        path = write(tmp_path / "q.svm", rows * copies)
        done = subprocess.run(
            [sys.executable, "-c", JOB, path, "--test", path, *form], capture_output=True, text=True, check=True, timeout=120
        )
        assert f" {80 * copies:,} " in done.stdout
        peaks.append(1024 * int(done.stdout.split()[-1]))
    assert path.stat().st_size > 3e6
    assert 0 < peaks[1] < peaks[0] + path.stat().st_size / 2


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bar(capsys, files, monkeypatch):
    terminal, clock = Terminal(), itertools.count()
    monkeypatch.setattr(_progress, "monotonic", lambda: next(clock))
    monkeypatch.setattr(job, "ProgressBar", lambda quiet: _progress.ProgressBar(terminal, quiet=quiet))
    run(capsys, files["a"], "--test", files["test"], "--chunk", 50)
    text = terminal.getvalue()
    assert "first pass [" in text and re.search(r"epoch 1/1 \[#+ *\] +\d+%  \d+ rounds, loss 0\.\d{4}", text)
    assert "100%  50 rounds" in text and "test [" in text and text.endswith("\r\x1b[K")
