"""The main job on sequences, end to end."""

import itertools
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

import sklearn_predtron
from sklearn_predtron import PredtronSequenceTagger
from sklearn_predtron._support.parts import kinds
from sklearn_predtron.cli import _app as job
from sklearn_predtron.datasets import BrokenLineError, Svmlight, SvmlightReader, make_sequences, open_rows, unstack
from sklearn_predtron.losses import SequenceLoss
from sklearn_predtron.norms import Norm
from tests.cli_cases import run as run_command
from tests.cli_cases import usage_error

pytestmark = pytest.mark.usefixtures("as_streams")

WIDTH, LABELS, N, N_TEST = 6, np.array([-1.0, 2.0, 7.0]), 60, 25
LEARNERS = ["PredtronSequenceTagger"]


def lines_of(X, y, sid):
    for x, label, i in zip(X.tolist(), y.tolist(), sid.tolist(), strict=True):
        yield " ".join([f"{label:g} qid:{10 + i}", *(f"{j}:{value!r}" for j, value in enumerate(x, 1))]) + "\n"


def write(path, lines):
    path.write_text("".join(lines))
    return path


@pytest.fixture(scope="module")
def data():
    """Tokens, labels and sequences to learn from, and of other sequences."""
    X, y, sid = make_sequences(N + N_TEST, n_labels=3, n_features=WIDTH, n_tokens=(1, 7), noise=0.5, random_state=0)
    return {name: (X[rows], LABELS[y[rows]], sid[rows]) for name, rows in {"a": sid < N, "test": sid >= N}.items()}


@pytest.fixture(scope="module")
def files(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sequences")
    return {name: write(folder / f"{name}.svm", lines_of(*part)) for name, part in data.items()}


def run(capsys, *argv):
    """The exit code, the table, and stderr."""
    code = job.main([str(word) for word in argv])
    out, err = capsys.readouterr()
    header, dashes, *lines = out.splitlines()
    cuts = list(itertools.pairwise([0, *(match.end() for match in re.finditer("-+", dashes))]))
    names = re.split(" {2,}", header)
    lines = itertools.takewhile(lambda line: not line.startswith(("rounds/s", "held-out score:")), lines)
    rows = [dict(zip(names, [line[a:b].strip() for a, b in cuts], strict=True)) for line in lines]
    assert "held-out score: accuracy of tokens.\n" in out
    assert [row["learner"] for row in rows] == LEARNERS[: len(rows)] and "NDCG" not in out
    return code, rows, err


def learned(model, X, y, sid, order=slice(None)):
    """The model after the sequences, in the order of their places."""
    for i in np.unique(sid)[order]:
        first = {} if hasattr(model, "t_") else {"classes": LABELS}
        model.partial_fit(sparse.csr_matrix(X[sid == i]), y[sid == i], **first)
    return model


def mean_loss(loss, y, predicted, sid):
    wrong = [np.sum(part) for part in unstack(y != predicted, sid)]
    return np.mean(wrong if loss == "hamming" else np.sign(wrong))


# ---------------------------------------------------------------------------------------------------------------- learning


@pytest.mark.parametrize("loss", [kind.alias for kind in kinds(SequenceLoss)])
@pytest.mark.parametrize("chunk", [1, 30, 10_000])
def test_one_pass_is_partial_fit(capsys, data, files, tmp_path, loss, chunk):
    """However long the chunks are, in which no sequence is cut."""
    how = ["--task", "sequence", "--loss", loss, "--no-shuffle", "--chunk", chunk]
    written = ["--save", tmp_path / "model", "--predictions", tmp_path / "p"]
    code, (ours,), err = run(capsys, files["a"], "--test", files["test"], *how, *written)
    model, (X, y, sid) = learned(PredtronSequenceTagger(norm="scaled", loss=loss), *data["a"]), data["test"]
    predicted = model.predict(X, sid=sid)
    assert (code, err) == (0, "") and ours["data"] == "a.svm"
    assert ours["rounds"] == str(N)
    assert ours["progressive loss"] == f"{model.progressive_loss_:.4f}"
    assert ours["last iterate"] == f"{model.cumulative_loss_ / N:.4f}"
    assert ours["held-out score"] == f"{model.score(X, y, sid=sid):.4f}"
    assert ours["held-out loss"] == f"{model.sample_loss(X, y, sid=sid).mean():.4f}"
    assert ours["held-out loss"] == f"{mean_loss(loss, y, predicted, sid):.4f}"
    assert_array_equal(sklearn_predtron.load(tmp_path / "model").coef_, model.coef_)
    assert_array_equal(sklearn_predtron.load(tmp_path / "model").transitions_, model.transitions_)
    assert_array_equal(np.loadtxt(tmp_path / "p"), predicted)


@pytest.mark.parametrize("norm", [kind.alias for kind in kinds(Norm) if kind.of_sequences])
def test_norms(capsys, data, files, tmp_path, norm):
    how = ["--task", "sequence", "--no-shuffle", "--norm", norm, "--save", tmp_path / "model"]
    code, (ours,), err = run(capsys, files["a"], *how)
    model = learned(PredtronSequenceTagger(norm={"auto": "scaled"}.get(norm, norm)), *data["a"])  # of rows that were dense
    assert (code, err) == (0, "") and ours["held-out score"] == ours["held-out loss"] == "-"
    assert ours["last iterate"] == f"{model.cumulative_loss_ / N:.4f}"
    saved = sklearn_predtron.load(tmp_path / "model")
    if norm == "rkhs":  # whose last bits depend on the rows of a call
        assert_allclose(saved.dual_coef_, model.dual_coef_, rtol=1e-12)
    else:
        assert_array_equal(saved.coef_, model.coef_)


def test_sequences_are_shuffled_within_chunks(capsys, data, files, tmp_path):
    how = ["--task", "sequence", "--seed", 4, "--epochs", 2, "--chunk", 90]
    code, rows, _ = run(capsys, files["a"], *how, "--save", tmp_path / "model")
    chunks = [len(np.unique(sid)) for *_, sid in SvmlightReader(files["a"], sequence_id=True, chunk_rows=90)]
    model, random = PredtronSequenceTagger(norm="scaled"), np.random.default_rng(4)
    for _ in range(2):
        for first, n in zip(np.cumsum([0, *chunks]), chunks, strict=False):
            learned(model, *data["a"], first + random.permutation(n))
    assert code == 0 and len(chunks) > 1 and rows[0]["rounds"] == str(2 * N)
    assert_array_equal(sklearn_predtron.load(tmp_path / "model").coef_, model.coef_)


def test_given_form_needs_one_pass(capsys, files, tmp_path):
    form = ["--task", "sequence", "--features", WIDTH, "--classes", *LABELS]
    given = run(capsys, files["a"], "--test", files["test"], *form)
    scanned = run(capsys, files["a"], "--test", files["test"], "--task", "sequence")
    assert given[0] == 0 and [row | {"rounds/s": ""} for row in given[1]] == [row | {"rounds/s": ""} for row in scanned[1]]


def test_load_goes_on(capsys, data, files, tmp_path):
    model, both = tmp_path / "model", tmp_path / "both"
    lines = files["a"].read_text().splitlines(keepends=True)
    cut = int(np.sum(data["a"][2] < 20))
    parts = [write(tmp_path / f"{i}.svm", part) for i, part in enumerate([lines[:cut], lines[cut:]])]
    assert run(capsys, parts[0], "--task", "sequence", "--no-shuffle", "--save", model, "--classes", *LABELS)[0] == 0
    code, rows, _ = run(capsys, parts[1], "--no-shuffle", "--load", model, "--save", model, "--test", files["test"])
    assert code == 0 and len(rows) == 1 and rows[0]["rounds"] == str(N - 20)
    whole = ["--task", "sequence", "--no-shuffle", "--chunk", 17, "--save", both, "--test", files["test"]]
    _, (at_once,), _ = run(capsys, files["a"], *whole)
    assert sklearn_predtron.load(model).t_ == N
    for name in ("coef_", "transitions_", "last_coef_", "start_"):
        assert_array_equal(getattr(sklearn_predtron.load(model), name), getattr(sklearn_predtron.load(both), name))
    code, again, _ = run(capsys, "--load", model, "--test", files["test"])
    for name in ("held-out score", "held-out loss"):
        assert rows[0][name] == at_once[name] == again[0][name]


# ------------------------------------------------------------------------------------------------------------ broken files


@pytest.mark.parametrize(
    ("line", "reason", "n"),
    [
        ("2 qid:999 oops", "at 'oops': expected INDEX:VALUE", 30),
        ("2 1:2", "at '1:2': expected qid:ID, with an integer of 64 bits, after the label", 29),
        ("3 qid:999 1:1", "at '3': the label is not one of the classes [-1, 2, 7]", 30),
    ],
)
def test_broken_line(capsys, data, files, tmp_path, line, reason, n):
    (X, y, sid), saved = data["a"], tmp_path / "model"
    lines, at = files["a"].read_text().splitlines(keepends=True), int(np.sum(sid < 30)) + 1
    broken = write(tmp_path / "broken.svm", [*lines[: at - 1], line + "\n", *lines[at - 1 :]])
    form = ["--task", "sequence", "--features", WIDTH, "--classes", *LABELS]
    code, (ours,), err = run(capsys, broken, *form, "--no-shuffle", "--chunk", 40, "--save", saved)
    assert code == 1 and err == f"error: {broken}, line {at}: {reason}; the {n} rounds before it are kept, in {saved}\n"
    assert ours["rounds"] == str(n)
    assert_array_equal(
        sklearn_predtron.load(saved).coef_, learned(PredtronSequenceTagger(norm="scaled"), X, y, sid, slice(n)).coef_
    )


def test_files_without_sequences(capsys, files, tmp_path):
    path = write(tmp_path / "rows.svm", ["1 1:2\n", "2 1:1\n"])
    said = f"error: {path}, line 1: at '1:2': expected qid:ID, with an integer of 64 bits, after the label; there is no"
    assert job.main([str(path), "--task", "sequence", "--save", str(tmp_path / "model")]) == 1
    assert said in capsys.readouterr().err and not (tmp_path / "model").exists()
    code, rows, err = run(capsys, files["a"], "--task", "sequence", "--test", path, "--classes", *LABELS, "--features", WIDTH)
    assert code == 1 and "at '1:2': expected qid:ID" in err and rows[0]["held-out score"] == rows[0]["held-out loss"] == "-"
    empty = write(tmp_path / "empty.svm", ["# nothing\n"])
    for form in ([], ["--features", 3, "--classes", 1, 2]):
        assert "has no rows" in usage_error(capsys, empty, "--task", "sequence", *form)


def test_a_sequence_longer_than_the_chunk(data, files):
    lengths = [sum(map(len, part)) for part in unstack(list(lines_of(*data["a"])), data["a"][2])]
    n = int(np.argmax(lengths))
    size = max(lengths) - 1
    with pytest.raises(BrokenLineError, match=f"the sequence of qid:{10 + n}, from line .* is longer than chunk_bytes={size}"):
        list(open_rows(files["a"], format=Svmlight(sequence_id=True, n_features=WIDTH), classes=LABELS, chunk_bytes=size))


@pytest.mark.parametrize("place", [0, 30])
def test_a_token_that_no_learner_takes_is_named_by_its_place(capsys, data, files, tmp_path, place):
    lines, at = files["a"].read_text().splitlines(keepends=True), int(np.sum(data["a"][2] < place))
    lines[at] = f"2 qid:{10 + place} 2:1e200\n"
    path = write(tmp_path / "long.svm", lines)
    code, (ours,), err = run(capsys, path, "--task", "sequence", "--chunk", 1, "--save", tmp_path / "model")
    assert code == 1 and ours["rounds"] == str(place) and (tmp_path / "model").exists() == (place > 0)
    assert f"in the chunk that begins with qid:{10 + place}: X[0] has the length 1e+200" in err and err.count("\n") == 1


def test_usage_errors(capsys, files, tmp_path):
    a = [files["a"], "--task", "sequence"]
    accepted = "--loss is not for PredtronSequenceTagger; accepted are hamming, zero_one (--help"
    for loss in ("f1", "ndcg", "-1:2=3"):
        assert accepted in usage_error(capsys, *a, f"--loss={loss}")
    rejects = ["--reject-cost", 0.1]
    assert "--reject-cost is not for PredtronSequenceTagger" in usage_error(capsys, *a, *rejects)
    said = "norm=PNorm() is not for sequences; accepted are 'auto', 'l2', 'scaled' and 'rkhs'"
    assert said in usage_error(capsys, *a, "--norm", "l1")
    one = write(tmp_path / "one.svm", ["1 qid:1 1:1\n"])
    assert "[1]; at least two are needed, or --classes" in usage_error(capsys, one, "--task", "sequence")
    run(capsys, *a, "--save", tmp_path / "model")
    assert "--loss is not for PredtronSequenceTagger" in usage_error(capsys, a[0], "--load", tmp_path / "model", "--loss", "f1")
    X = np.zeros((4, 1))
    PredtronSequenceTagger().fit(X, [True, False] * 2, sid=[0, 0, 1, 1]).save(tmp_path / "truths")
    assert "with numbers or text as labels" in usage_error(capsys, a[0], "--load", tmp_path / "truths")


def test_probabilities_of_tokens(capsys, tmp_path):
    """A tagger has some once it is calibrated, which is done in Python."""
    random = np.random.default_rng(0)
    X, sid = random.standard_normal((400, 3)), np.repeat(np.arange(80), 5)
    y = (X[:, 0] > 0.3 * random.standard_normal(400)).astype(int)
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), query_id=sid, zero_based=False)
    model = PredtronSequenceTagger(random_state=0).fit(X, y, sid=sid)
    model.save(tmp_path / "m")
    PredtronSequenceTagger().partial_fit(X, y, sid=sid, classes=[0, 1]).save(tmp_path / "bare")
    code, out, err = run_command(capsys, "predict", tmp_path / "m", tmp_path / "a.svm", "--proba")
    assert (code, err) == (0, "")
    assert_allclose(np.loadtxt(out.splitlines()), model.predict_proba(X, sid=sid), atol=1e-9)
    err = usage_error(capsys, "predict", tmp_path / "bare", tmp_path / "a.svm", "--proba")
    assert "--proba is not for a PredtronSequenceTagger without calibration" in err and "calibrate(X, y, sid=...)" in err
    to = ["--test", tmp_path / "a.svm", "--predictions", "-", "--proba"]
    assert "without calibration" in usage_error(capsys, tmp_path / "a.svm", "--task", "sequence", *to)
    assert "PredtronRanker, which has no probabilities" in usage_error(capsys, tmp_path / "a.svm", "--task", "rank", *to)
