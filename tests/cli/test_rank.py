"""The main job on queries, end to end."""

import bz2
import io
import itertools
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import sklearn_predtron
from sklearn_predtron import PredtronClassifier, PredtronLabelRanker, PredtronRanker
from sklearn_predtron.cli import _app as job
from sklearn_predtron.cli import _progress
from sklearn_predtron.datasets import BrokenLineError, Svmlight, SvmlightReader, open_rows
from tests.cli_cases import usage_error

pytestmark = pytest.mark.usefixtures("as_streams")

WIDTH = 8


def queries(n, seed, grades=4):
    """n queries of 1 to 12 documents, some of them equal, as (X, y), with a rule that all seeds share."""
    rule, rng = np.random.default_rng(99).standard_normal(WIDTH), np.random.default_rng(seed)
    found = []
    for m in rng.integers(1, 13, n):
        X = rng.standard_normal((m, WIDTH)) * (rng.random((m, WIDTH)) < 0.7)
        X[m // 2 :] = X[0] if m % 4 == 0 else X[m // 2 :]
        y = np.digitize(X @ rule + 0.5 * rng.standard_normal(m), np.linspace(-2, 3, grades - 1)).astype(float)
        found.append((X, y))
    return found


def lines_of(found, ids=None):
    """The lines of a file; the ids count from 10 on."""
    for (X, y), qid in zip(found, ids or itertools.count(10), strict=False):
        for x, relevance in zip(X.tolist(), y.tolist(), strict=True):
            yield " ".join([f"{relevance:g} qid:{qid}", *(f"{i}:{v!r}" for i, v in enumerate(x, 1) if v)]) + "\n"


def write(path, lines):
    path.write_text("".join(lines))
    return path


@pytest.fixture(scope="module")
def data():
    return {"a": queries(50, 0), "b": queries(40, 1), "test": queries(30, 2)}


@pytest.fixture(scope="module")
def files(data, tmp_path_factory):
    """Files of queries; "ab" is "a" and "b" in one, some of whose ids return."""
    folder = tmp_path_factory.mktemp("queries")
    found = {name: write(folder / f"{name}.svm", lines_of(part)) for name, part in data.items()}
    found["ab"] = write(folder / "ab.svm", found["a"].read_text() + found["b"].read_text())
    return found


def run(capsys, *argv):
    """The exit code, the row of the table, NDCG@k of TEST, and stderr."""
    code = job.main([str(word) for word in argv])
    out, err = capsys.readouterr()
    tables = out.split("\n\n")
    header, dashes, line, *rest = tables[0].splitlines()
    cuts = itertools.pairwise([0, *(match.end() for match in re.finditer("-+", dashes))])
    row = dict(zip(re.split(" {2,}", header), [line[a:b].strip() for a, b in cuts], strict=True))
    top = None
    if len(tables) > 1:
        head, _, cells = tables[1].splitlines()
        assert head.split() == ["learner", "NDCG@1", "NDCG@5", "NDCG@10"]
        top = cells.split()[1:]
    assert "held-out score: mean NDCG.\n" in (tables[-1] if top else rest[-1] + "\n")
    assert row["learner"] == "PredtronRanker"
    return code, row, top, err


def plain_ndcg(y, scores, k):
    """By the definition; each document of a tie has the mean gain of the tie."""
    order = sorted(range(len(y)), key=lambda i: -scores[i])[:k]
    gain = sum((2.0 ** y[scores == scores[i]] - 1).mean() / np.log2(2 + place) for place, i in enumerate(order))
    best = sum((2**value - 1) / np.log2(2 + place) for place, value in enumerate(sorted(y, reverse=True)[:k]))
    return gain / best if best > 0 else 1.0


def learned(model, found):
    """Train query by query."""
    for X, y in found:
        model.partial_fit(sparse.csr_matrix(X), y)
    return model


def held_out(predict, found):
    """NDCG@1, 5, 10 and of whole lists."""
    values = [[plain_ndcg(y, predict(X).round(10), k) for k in (1, 5, 10, None)] for X, y in found]
    return np.mean(values, axis=0)


def shown(values):
    return [f"{value:.4f}" for value in values]


# ---------------------------------------------------------------------------------------------------------------- learning


@pytest.mark.parametrize("task", [["--task", "rank"], []], ids=["asked for", "seen"])
def test_one_pass_is_partial_fit(capsys, data, files, tmp_path, task):
    written = ["--save", tmp_path / "model", "--predictions", tmp_path / "p"]
    code, ours, top, err = run(capsys, files["a"], "--test", files["test"], *task, "--no-shuffle", "--chunk", 30, *written)
    model = learned(PredtronRanker(norm="scaled"), data["a"])
    *at, whole = held_out(model.predict, data["test"])
    assert (code, err) == (0, "")
    assert ours["rounds"] == "50" and ours["data"] == "a.svm" and top == shown(at)
    assert ours["progressive loss"] == f"{model.progressive_loss_:.4f}"
    assert ours["last iterate"] == f"{model.cumulative_loss_ / 50:.4f}"
    assert ours["held-out score"] == f"{whole:.4f}"
    X, y = map(np.concatenate, zip(*data["test"], strict=True))
    qid = np.repeat(np.arange(30), [len(y) for _, y in data["test"]])
    assert ours["held-out score"] == f"{model.score(X, y, qid=qid):.4f}"
    assert_array_equal(sklearn_predtron.load(tmp_path / "model").coef_, model.coef_)
    assert_allclose(np.loadtxt(tmp_path / "p"), model.predict(X), rtol=1e-13)
    assert_array_equal(np.loadtxt(tmp_path / "p"), model.predict(sparse.csr_matrix(X)))


@pytest.mark.parametrize("loss", ["kendall_tau", "ap", "swapped_pairs"])
def test_losses(capsys, tmp_path, loss):
    found = queries(40, 3, 4 if loss == "kendall_tau" else 2)
    path = write(tmp_path / "q.svm", lines_of(found))
    code, ours, top, err = run(capsys, path, "--no-shuffle", "--loss", loss, "--save", tmp_path / "model")
    model = learned(PredtronRanker(norm="scaled", loss=loss), found)
    assert (code, err, top) == (0, "", None)
    assert_array_equal(sklearn_predtron.load(tmp_path / "model").coef_, model.coef_)
    assert ours["progressive loss"] == f"{model.progressive_loss_:.4f}"


def test_queries_are_shuffled_within_chunks(capsys, data, files, tmp_path):
    code, row, _, _ = run(
        capsys, files["a"], "--seed", 4, "--epochs", 2, "--chunk", 150, "--save", tmp_path / "model", "--features", WIDTH
    )
    chunks = [len(np.unique(qid)) for *_, qid in SvmlightReader(files["a"], query_id=True, chunk_rows=150)]
    model, random = PredtronRanker(norm="scaled"), np.random.default_rng(4)
    for _ in range(2):
        for first, n in zip(np.cumsum([0, *chunks]), chunks, strict=False):
            for i in random.permutation(n):
                X, y = data["a"][first + i]
                model.partial_fit(sparse.csr_matrix(X), y)
    assert code == 0 and len(chunks) > 1 and row["rounds"] == "100"
    assert_array_equal(sklearn_predtron.load(tmp_path / "model").coef_, model.coef_)


def test_progressive_figures_are_of_the_first_epoch(capsys, files):
    once, thrice = (run(capsys, files["a"], "--epochs", n, "--no-shuffle") for n in (1, 3))
    assert once[1]["progressive loss"] == thrice[1]["progressive loss"]


def test_load_goes_on(capsys, files, tmp_path):
    model, both, p = (tmp_path / name for name in ("model", "both", "p"))
    assert run(capsys, files["a"], "--no-shuffle", "--save", model, "--chunk", 64)[0] == 0
    code, row, top, _ = run(
        capsys, files["b"], "--no-shuffle", "--load", model, "--save", model, "--test", files["test"], "--predictions", p
    )
    assert code == 0 and row["rounds"] == "40"
    _, whole, at_once_top, _ = run(capsys, files["ab"], "--no-shuffle", "--save", both, "--chunk", 17, "--test", files["test"])
    continued, at_once = sklearn_predtron.load(model), sklearn_predtron.load(both)
    assert continued.t_ == at_once.t_ == 90 and whole["rounds"] == "90"
    assert_array_equal(continued.coef_, at_once.coef_)
    assert_array_equal(continued.last_coef_, at_once.last_coef_)
    assert row["held-out score"] == whole["held-out score"] and top == at_once_top
    code, row, _, _ = run(capsys, "--load", model, "--test", files["test"], "--predictions", tmp_path / "again")
    assert code == 0 and "rounds" not in row and row["held-out score"] == whole["held-out score"]
    assert p.read_text() == (tmp_path / "again").read_text()


def test_going_on_keeps_the_base_of_indices(capsys, tmp_path):
    zero_based = write(tmp_path / "zero.svm", ["2 qid:1 0:1 1:2\n", "0 qid:1 2:1\n"])
    run(capsys, zero_based, "--save", tmp_path / "model")
    later = write(tmp_path / "later.svm", ["1 qid:1 1:1\n", "0 qid:1 2:1\n"])
    code, *_ = run(capsys, later, "--load", tmp_path / "model", "--save", tmp_path / "model")
    found = sklearn_predtron.load(tmp_path / "model")
    assert code == 0 and found.t_ == 2 and found.n_features_in_ == 3 and found.coef_[0] > 0


@pytest.mark.parametrize("chunk", [1, 10_000])
def test_an_id_that_returns_is_a_new_query(capsys, data, tmp_path, chunk):
    path = write(tmp_path / "q.svm", lines_of(data["a"], itertools.cycle([3, 3, 1, 2])))
    merged, previous = [], None
    for part, qid in zip(data["a"], itertools.cycle([3, 3, 1, 2]), strict=False):
        if qid == previous:
            merged[-1] = tuple(map(np.concatenate, zip(merged[-1], part, strict=True)))
        else:
            merged.append(part)
        previous = qid
    _, ours, _, _ = run(capsys, path, "--no-shuffle", "--chunk", chunk, "--save", tmp_path / "model")
    model = learned(PredtronRanker(norm="scaled"), merged)
    assert ours["rounds"] == str(len(merged)) and sklearn_predtron.load(tmp_path / "model").t_ == len(merged)
    assert_array_equal(sklearn_predtron.load(tmp_path / "model").coef_, model.coef_)


# ------------------------------------------------------------------------------------------------------------ broken files


def broken_copy(path, at, line, folder):
    lines = path.read_text().splitlines(keepends=True)
    return write(folder / "broken.svm", [*lines[: at - 1], line + "\n", *lines[at - 1 :]])


def first_line(found, query):
    """The number of a query's first line."""
    return sum(len(y) for _, y in found[:query]) + 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1 qid:999 1:2 oops", "at 'oops': expected INDEX:VALUE"),
        ("1 1:2", "at '1:2': expected qid:ID, with an integer of 64 bits, after the label"),
        ("-1 qid:999 1:2", "at '-1': the relevance is negative"),
    ],
)
@pytest.mark.parametrize("form", [[], ["--features", WIDTH]], ids=["scanned", "given"])
def test_broken_line(capsys, data, files, tmp_path, line, reason, form):
    saved, at = tmp_path / "model", first_line(data["a"], 30)
    broken = broken_copy(files["a"], at, line, tmp_path)
    arguments = ["--test", files["test"], "--no-shuffle", "--chunk", 50, "--save", saved, "--epochs", 2, *form]
    code, ours, _, err = run(capsys, broken, *arguments)
    n = 30 if "qid" in line else 29  # of a row without an id it is not known whose it is
    kept = f"the {n} rounds before it are kept, in {saved}"
    assert code == 1 and err == f"error: {broken}, line {at}: {reason}; {kept}\n"
    assert ours["rounds"] == str(n) and ours["held-out score"] != "-"
    model = learned(PredtronRanker(norm="scaled"), data["a"][:n])
    assert_array_equal(sklearn_predtron.load(saved).coef_, model.coef_)


def test_broken_line_in_test(capsys, data, files, tmp_path):
    at = first_line(data["test"], 20)
    broken = broken_copy(files["test"], at, "1 qid:999 oops", tmp_path)
    code, ours, top, err = run(capsys, files["a"], "--test", broken, "--predictions", tmp_path / "p", "--no-shuffle")
    model = learned(PredtronRanker(norm="scaled"), data["a"])
    *at_k, whole = held_out(model.predict, data["test"][:20])
    assert code == 1 and f"line {at}: at 'oops'" in err and "the held-out score is of the rows before it" in err
    assert ours["held-out score"] == f"{whole:.4f}" and top == shown(at_k)
    assert len((tmp_path / "p").read_text().splitlines()) == at - 1


@pytest.mark.parametrize("form", [[], ["--features", WIDTH]])
def test_broken_first_line(capsys, files, tmp_path, form):
    broken = broken_copy(files["a"], 1, "1 qid:x 1:2", tmp_path)
    assert job.main([str(word) for word in (broken, "--test", files["test"], "--save", tmp_path / "model", *form)]) == 1
    err = capsys.readouterr().err
    assert "line 1: at 'qid:x': expected qid:ID" in err and "there is no trained model yet" in err
    assert not (tmp_path / "model").exists()


def test_a_query_longer_than_the_chunk(data, files):
    lengths = [len("".join(lines_of([query]))) for query in data["a"]]
    n, size = int(np.argmax(lengths)), max(lengths) - 1
    line = first_line(data["a"], n + 1) - 1
    with pytest.raises(BrokenLineError, match=f"line {line}: the query of qid:.* is longer than chunk_bytes={size}"):
        list(open_rows(files["a"], format=Svmlight(query_id=True, n_features=WIDTH), chunk_bytes=size))


def test_refused_relevance(capsys, data, files, tmp_path):
    """At once it is the loss's fault, later the chunk's."""
    path = write(tmp_path / "q.svm", [*lines_of(data["a"]), "31 qid:77 1:1\n", "0 qid:77 1:2\n"])
    code, ours, _, err = run(capsys, path, "--chunk", 1, "--save", tmp_path / "model")
    assert code == 1 and ours["rounds"] == "50" and sklearn_predtron.load(tmp_path / "model").t_ == 50
    assert f"{path}: in the chunk that begins with qid:77: y holds the relevance 31" in err
    assert f"the 50 rounds before it are kept, in {tmp_path / 'model'}" in err
    assert "y holds the relevance 31" in usage_error(capsys, path)
    assert run(capsys, path, "--loss", "kendall_tau")[0] == 0
    assert "loss='ap' takes 0 and 1" in usage_error(capsys, files["a"], "--loss", "ap")


@pytest.mark.parametrize(
    ("stop", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "error: stopped from the keyboard; the 20 rounds before it are kept, in "),
        (ValueError("too large"), 1, "in the chunk that begins with qid:30: too large; the 20 rounds before it"),
    ],
)
def test_stopped_while_learning(capsys, data, files, tmp_path, monkeypatch, stop, code, message):
    learn = PredtronRanker.partial_fit

    def learn_some(self, *args, **kwargs):
        if getattr(self, "t_", 0) >= 20:
            raise stop
        return learn(self, *args, **kwargs)

    monkeypatch.setattr(PredtronRanker, "partial_fit", learn_some)
    path = write(tmp_path / "few.svm", lines_of(data["a"][:25]))
    rows = sum(len(y) for _, y in data["a"][:20])
    found, ours, _, err = run(capsys, path, "--chunk", rows, "--save", tmp_path / "model", "--no-shuffle")
    assert found == code and message in err and ours["rounds"] == "20"
    assert sklearn_predtron.load(tmp_path / "model").t_ == 20


# ------------------------------------------------------------------------------------------------------------- which task


def test_a_row_with_qid_is_seen(capsys, data, tmp_path):
    text = "# a comment\n\n" + "".join(lines_of(data["a"]))
    plain = run(capsys, write(tmp_path / "q.svm", [text]))
    (tmp_path / "q.svm.bz2").write_bytes(bz2.compress(text.encode()))
    compressed = run(capsys, tmp_path / "q.svm.bz2")
    assert plain[0] == compressed[0] == 0 and plain[2] == compressed[2]


def test_other_tasks_skip_qid(capsys, files, tmp_path):
    code = job.main([str(files["a"]), "--task", "multiclass", "--save", str(tmp_path / "model")])
    assert code == 0 and "NDCG" not in capsys.readouterr().out
    assert isinstance(sklearn_predtron.load(tmp_path / "model"), PredtronClassifier)
    # A model says what its files are.
    code = job.main([str(files["b"]), "--load", str(tmp_path / "model")])
    assert code == 0 and "NDCG" not in capsys.readouterr().out


def test_files_without_queries(capsys, files, tmp_path):
    path = write(tmp_path / "rows.svm", ["1 1:2\n", "2 1:1\n"])
    assert job.main([str(path), "--task", "rank"]) == 1
    assert "line 1: at '1:2': expected qid:ID" in capsys.readouterr().err
    run(capsys, files["a"], "--save", tmp_path / "model")
    assert job.main([str(path), "--load", str(tmp_path / "model")]) == 1
    assert "line 1: at '1:2': expected qid:ID" in capsys.readouterr().err
    empty = write(tmp_path / "empty.svm", ["# nothing\n"])
    for form in ([], ["--features", 3]):
        assert "has no rows" in usage_error(capsys, empty, "--task", "rank", *form, "--save", tmp_path / "none")
        assert not (tmp_path / "none").exists()


@pytest.fixture
def pipe(files, tmp_path):
    """A pipe with the rows of "a", which can be read once."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=[files["a"].read_text()])
    writer.start()
    yield path
    writer.join()


def test_a_pipe_is_read_once(capsys, files, pipe):
    code, ours, top, _ = run(capsys, pipe, "--task", "rank", "--features", WIDTH, "--no-shuffle")
    assert code == 0 and ours["rounds"] == "50" and top == run(capsys, files["a"], "--no-shuffle")[2]


def test_a_pipe_is_looked_into(capsys, pipe):
    """As a file is, without a copy of it."""
    seen = "--classes is not for PredtronRanker (the first row of TRAIN has qid:, so --task is rank)"
    assert seen in usage_error(capsys, pipe, "--features", WIDTH, "--classes", 0, 1, 2, 3)


def test_usage_errors(capsys, files, tmp_path):
    a = files["a"]
    seen = "is not for PredtronRanker (the first row of TRAIN has qid:, so --task is rank)"
    assert f"--classes {seen}" in usage_error(capsys, a, "--classes", 0, 1)
    assert f"--reject-cost {seen}" in usage_error(capsys, a, "--reject-cost", 0.1)
    assert "--classes is not for PredtronRanker (--help" in usage_error(capsys, a, "--task", "rank", "--classes", 0, 1)
    accepted = "accepted are ndcg, ap, swapped_pairs, ranking_zero_one, kendall_tau (--help"
    for loss in ("hamming", "0:1=3"):
        assert accepted in usage_error(capsys, a, "--loss", loss)
    assert "takes two a list" in usage_error(capsys, a, "--loss", "swapped_pairs")
    for task in ("binary", "multiclass", "ordinal", "multilabel"):
        assert "--loss is not for Predtron" in usage_error(capsys, a, "--task", task, "--loss", "ndcg")
    PredtronLabelRanker().fit([[1.0], [2.0]], [[0, 1], [1, 0]]).save(tmp_path / "model")
    assert "holds a PredtronLabelRanker; accepted are" in usage_error(capsys, a, "--load", tmp_path / "model")
    run(capsys, a, "--save", tmp_path / "model")
    assert "--task is fixed by the model" in usage_error(capsys, a, "--load", tmp_path / "model", "--task", "rank")
    assert "--loss is not for PredtronRanker" in usage_error(capsys, a, "--load", tmp_path / "model", "--loss", "f1")


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
    rows = list(lines_of(queries(20, 5)))
    form = ["--stream", "--chunk", "50", "--features", str(WIDTH), "--predictions", tmp_path / "p"]
    peaks = []
    for copies in (16, 256):
        path = write(tmp_path / "q.svm", rows * copies)
        done = subprocess.run(
            [sys.executable, "-c", JOB, path, "--test", path, *form], capture_output=True, text=True, check=True, timeout=120
        )
        assert f" {20 * copies:,} " in done.stdout
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
