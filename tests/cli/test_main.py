"""The main job, end to end."""

import io
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.preprocessing import MultiLabelBinarizer

import sklearn_predtron
from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
)
from sklearn_predtron.cli import main
from sklearn_predtron.cli._evaluation import ResultRow
from sklearn_predtron.cli._progress import ProgressBar
from sklearn_predtron.datasets import SvmlightReader
from tests.cli_cases import usage_error

pytestmark = pytest.mark.usefixtures("as_streams")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two training files, both of them in one, and a test file; three classes and two."""
    folder, rng = tmp_path_factory.mktemp("svm"), np.random.default_rng(0)
    W = rng.standard_normal((3, 12))
    found = {}
    for name, n in {"a": 200, "b": 150, "test": 100}.items():
        X = rng.standard_normal((n, 12)) * (rng.random((n, 12)) < 0.7)
        y = (X @ W.T).argmax(axis=1)
        for kind, labels in {"": y, "2": np.where(y == 0, -1, 1)}.items():
            found[name + kind] = str(folder / f"{name}{kind}.svm")
            dump_svmlight_file(X, labels, found[name + kind], zero_based=False)
    found["ab"] = str(folder / "ab.svm")
    with open(found["ab"], "wb") as both:
        for name in ("a", "b"):
            with open(found[name], "rb") as part:
                both.write(part.read())
    return found


def figures(text):
    """The table: learner -> column -> cell."""
    lines = text.splitlines()
    header = re.split(r" {2,}", lines[0])
    starts = [match.start() for match in re.finditer(r"-+", lines[1])] + [None]
    ends = [match.end() for match in re.finditer(r"-+", lines[1])]
    rows = []
    for line in lines[2:]:
        if not line or line.startswith(("Left out", "TEST", "rounds/s")):
            break
        rows.append(dict(zip(header, [line[a:b].strip() for a, b in zip(starts, ends, strict=False)], strict=True)))
    return rows


def run(capsys, *argv):
    code = main([str(word) for word in argv])
    out, err = capsys.readouterr()
    return code, figures(out), err


def test_one_pass_is_partial_fit(capsys, files, tmp_path):
    saved = tmp_path / "model"
    code, (ours,), err = run(
        capsys,
        files["a"],
        "--test",
        files["test"],
        "--no-shuffle",
        "--chunk",
        30,
        "--save",
        saved,
        "--predictions",
        tmp_path / "p",
    )
    (X, y, _), (X_test, y_test, _) = (next(iter(SvmlightReader(files[name]))) for name in ("a", "test"))
    model = PredtronClassifier(norm="scaled").partial_fit(X, y, classes=np.unique(y))
    assert (code, err) == (0, "")
    assert ours["rounds"] == "200"
    assert ours["progressive loss"] == f"{model.progressive_loss_:.4f}"
    assert ours["last iterate"] == f"{model.cumulative_loss_ / 200:.4f}"
    assert ours["held-out score"] == f"{model.score(X_test, y_test):.4f}"
    assert_array_equal(sklearn_predtron.load(saved).coef_, model.coef_)
    assert_array_equal(np.loadtxt(tmp_path / "p"), model.predict(X_test))


def test_load_goes_on(capsys, files, tmp_path):
    model, both = tmp_path / "model", tmp_path / "both"
    assert run(capsys, files["a"], "--no-shuffle", "--save", model, "--chunk", 64)[0] == 0
    code, rows, _ = run(capsys, files["b"], "--no-shuffle", "--load", model, "--save", model, "--test", files["test"])
    assert code == 0 and len(rows) == 1 and rows[0]["rounds"] == "150"
    _, (whole,), _ = run(capsys, files["ab"], "--no-shuffle", "--save", both, "--chunk", 17, "--test", files["test"])
    continued, at_once = sklearn_predtron.load(model), sklearn_predtron.load(both)
    assert continued.t_ == at_once.t_ == 350
    assert_array_equal(continued.coef_, at_once.coef_)
    assert_array_equal(continued.last_coef_, at_once.last_coef_)
    assert rows[0]["held-out score"] == whole["held-out score"]
    code, rows, _ = run(capsys, "--load", model, "--test", files["test"])
    assert code == 0 and "rounds" not in rows[0] and rows[0]["held-out score"] == whole["held-out score"]


def test_load_takes_parameters_and_the_base_of_indices(capsys, tmp_path, files):
    zero_based, model = tmp_path / "zero.svm", tmp_path / "model"
    zero_based.write_text("1 0:1 1:2\n2 1:-1 2:1\n1 0:1\n")
    run(capsys, zero_based, "--save", model)
    later = tmp_path / "later.svm"
    later.write_text("2 1:1 2:1\n")
    code, _, _ = run(capsys, later, "--load", model, "--save", model, "--decision", "learned")
    found = sklearn_predtron.load(model)
    assert code == 0 and found.t_ == 4 and found.n_features_in_ == 3 and found.decision == "learned"


def test_shuffles_and_epochs(capsys, files, tmp_path):
    models = []
    for seed in (0, 0, 1):
        code, (ours,), _ = run(capsys, files["a"], "--epochs", 3, "--seed", seed, "--save", tmp_path / "model", "--chunk", 50)
        assert code == 0 and ours["rounds"] == "600"
        models.append(sklearn_predtron.load(tmp_path / "model").coef_)
    assert_array_equal(models[0], models[1])
    assert not np.array_equal(models[0], models[2])


def test_progressive_loss_is_of_the_first_epoch(capsys, files):
    once, thrice = (run(capsys, files["a"], "--epochs", n, "--no-shuffle")[1] for n in (1, 3))
    assert [row["progressive loss"] for row in once] == [row["progressive loss"] for row in thrice]


def test_given_form_needs_one_pass(capsys, files):
    form = ["--features", 12, "--classes", -1, 1]
    code, rows, _ = run(capsys, files["a2"], "--test", files["test2"], *form)
    scanned = run(capsys, files["a2"], "--test", files["test2"])[1]
    assert code == 0 and [row | {"rounds/s": ""} for row in rows] == [row | {"rounds/s": ""} for row in scanned]
    code, _, err = run(capsys, files["a2"], "--features", 5, "--classes", -1, 1)
    assert code == 1 and re.search(r"a2.svm, line 1: at '\d+:.*': n_features was set to 5", err)


def test_width_and_base_are_of_what_is_learned(capsys, tmp_path):
    train, test = tmp_path / "train.svm", tmp_path / "test.svm"
    train.write_text("1 1:1\n2 2:1\n")
    test.write_text("1 1:1 7:2\n")
    code, *_ = run(capsys, train, "--test", test, "--save", tmp_path / "model")
    assert code == 0 and sklearn_predtron.load(tmp_path / "model").n_features_in_ == 2
    test.write_text("1 0:1\n")
    code, _, err = run(capsys, train, "--test", test)
    assert code == 1 and "line 1: at '0:1': the indices count from 1" in err


def test_costs_and_reject(capsys, files, tmp_path):
    saved = tmp_path / "model"
    code, (ours,), _ = run(
        capsys, files["a2"], "--test", files["test2"], "--loss=-1:1=5", "--reject-cost", "0.4:0", "--save", saved
    )
    X_test, y_test = load_svmlight_file(files["test2"], n_features=12)
    model = sklearn_predtron.load(saved)
    assert code == 0 and isinstance(model, PredtronBinaryClassifier)
    assert model.loss == {(-1.0, 1.0): 5.0}
    assert ours["held-out score"] == f"{model.score(X_test, y_test):.4f}"
    assert ours["rejected"] == f"{np.mean(model.predict(X_test) == 0):.1%}"


@pytest.mark.parametrize("loss", [None, "squared", "zero_one", "0:2=5"])
def test_ranks(capsys, files, tmp_path, loss):
    saved, given = tmp_path / "model", [] if loss is None else ["--loss", loss]
    arguments = ["--task", "ordinal", "--no-shuffle", "--save", saved, "--predictions", tmp_path / "p", *given]
    code, (ours,), err = run(capsys, files["a"], "--test", files["test"], *arguments)
    (X, y, _), (X_test, y_test, _) = (next(iter(SvmlightReader(files[name]))) for name in ("a", "test"))
    costs = {(0.0, 2.0): 5.0} if given and "=" in loss else loss or "absolute"
    expected = PredtronOrdinalClassifier(norm="scaled", loss=costs)
    expected.partial_fit(X, y, classes=[0, 1, 2])
    assert (code, err) == (0, "")
    assert ours["learner"] == "PredtronOrdinalClassifier" and sklearn_predtron.load(saved).loss == expected.loss
    assert_array_equal(sklearn_predtron.load(saved).coef_, expected.coef_)
    assert_array_equal(np.loadtxt(tmp_path / "p"), expected.predict(X_test))
    assert ours["held-out score"] == f"{expected.score(X_test, y_test):.4f}"


def test_ranks_go_on_in_the_order_of_their_categories(capsys, files, tmp_path):
    model = tmp_path / "model"
    X, y = load_svmlight_file(files["a"], n_features=12)
    ordered = PredtronOrdinalClassifier(categories=[1.0, 0.0, 2.0], representation="shared", update="prank", cv=0)
    ordered.fit(X, y).save(model)
    code, (ours,), _ = run(capsys, files["b"], "--load", model, "--test", files["test"], "--save", model)
    assert code == 0 and sklearn_predtron.load(model).t_ == 2000 + 150
    X_test, y_test = load_svmlight_file(files["test"], n_features=12)
    assert ours["held-out score"] == f"{sklearn_predtron.load(model).score(X_test, y_test):.4f}"


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    """Files of rows with any number of the labels 10, 20, 30 and 40, and what they hold."""
    folder, rng = tmp_path_factory.mktemp("sets"), np.random.default_rng(3)
    W, found = rng.standard_normal((4, 12)), {}
    for name, n in {"a": 200, "test": 100}.items():
        X = rng.standard_normal((n, 12))
        Y = (X @ W.T > 1).astype(int)
        found[name] = str(folder / f"{name}.svm")
        found["of " + name] = X, Y
        with open(found[name], "w") as file:
            for x, y in zip(X, Y, strict=True):
                values = " ".join(f"{i}:{value!r}" for i, value in enumerate(x.tolist(), 1))
                file.write(f"{','.join(str(10 * j) for j in np.flatnonzero(y) + 1)} {values}\n")
    return found


def sets_of(path):
    """The sets of labels in a file of predictions, as indicators."""
    with open(path) as file:
        rows = [[float(label) for label in line.split(",")] if line.strip() else [] for line in file]
    return MultiLabelBinarizer(classes=[10.0, 20.0, 30.0, 40.0]).fit_transform(rows)


@pytest.mark.parametrize(
    "loss", ["hamming", "subset_zero_one", "error_set_size", "f1", "jaccard", "precision_at_k", "recall_at_k"]
)
def test_sets_of_labels(capsys, sets, tmp_path, loss):
    arguments = ["--task", "multilabel", "--loss", loss, "--no-shuffle", "--chunk", 30, "--predictions", tmp_path / "p"]
    code, (ours,), err = run(capsys, sets["a"], "--test", sets["test"], "--save", tmp_path / "model", *arguments)
    (X, Y), (X_test, Y_test) = sets["of a"], sets["of test"]
    model = PredtronMultilabelClassifier(norm="scaled", loss=loss)
    model.partial_fit(sparse.csr_matrix(X), Y)  # as of files: rounding decides ties
    assert (code, err) == (0, "")
    assert_allclose(sklearn_predtron.load(tmp_path / "model").coef_, model.coef_)
    assert ours["progressive loss"] == f"{model.progressive_loss_:.4f}"
    assert ours["last iterate"] == f"{model.cumulative_loss_ / 200:.4f}"
    assert ours["held-out score"] == f"{model.score(X_test, Y_test):.4f}"
    assert_array_equal(sets_of(tmp_path / "p"), model.predict(X_test))


def test_sets_of_labels_go_on(capsys, sets, tmp_path):
    model, p = tmp_path / "model", tmp_path / "p"
    form = ["--features", 12, "--classes", 40, 30, 20, 10]
    code, *_ = run(capsys, sets["a"], "--task", "multilabel", *form, "--save", model, "--no-shuffle")
    scanned = run(capsys, sets["a"], "--task", "multilabel", "--save", tmp_path / "scanned", "--no-shuffle")[0]
    assert code == scanned == 0
    assert_array_equal(sklearn_predtron.load(model).coef_, sklearn_predtron.load(tmp_path / "scanned").coef_)
    code, rows, _ = run(capsys, sets["a"], "--load", model, "--save", model, "--test", sets["test"], "--predictions", p)
    found = sklearn_predtron.load(model)
    assert code == 0 and len(rows) == 1 and found.t_ == 400
    assert_array_equal(found.svmlight_labels_, [10, 20, 30, 40])
    assert_array_equal(sets_of(p), found.predict(sets["of test"][0]).toarray())  # labels of files are sparse
    assert "--reject-cost is not for PredtronMultilabel" in usage_error(capsys, sets["a"], "--load", model, "--reject-cost", 0.1)


def test_sets_of_labels_without_names_are_of_their_columns(capsys, tmp_path):
    model = tmp_path / "model"
    PredtronMultilabelClassifier().fit([[1.0], [2.0]], [[0, 1], [1, 1]]).save(model)
    code, rows, _ = run(capsys, write(tmp_path, "1 1:1\n0,1 1:2\n"), "--load", model, "--save", model)
    assert code == 0 and rows[0]["rounds"] == "2"
    assert_array_equal(sklearn_predtron.load(model).svmlight_labels_, [0, 1])
    PredtronMultilabelClassifier().fit([[1.0], [2.0]], [0, 1]).save(model)
    assert "of one label; at least two are needed" in usage_error(capsys, "--load", model, "--test", tmp_path / "small.svm")


def test_broken_line_of_sets(capsys, sets, tmp_path):
    broken = broken_copy(sets["a"], 120, "10,50 1:2", tmp_path)
    form = ["--task", "multilabel", "--features", 12, "--classes", 10, 20, 30, 40]
    code, (ours,), err = run(capsys, broken, *form, "--test", sets["test"], "--chunk", 50)
    assert code == 1 and ours["rounds"] == "119" and ours["held-out score"] != "-"
    assert "line 120: at '10,50': the label is not one of the classes [10, 20, 30, 40]; the 119 rounds before it" in err


def broken_copy(path, at, line, folder):
    with open(path) as file:
        lines = file.readlines()
    copy = folder / "broken.svm"
    copy.write_text("".join([*lines[: at - 1], line + "\n", *lines[at - 1 :]]))
    return copy


def test_broken_line(capsys, files, tmp_path):
    saved = tmp_path / "model"
    broken = broken_copy(files["a"], 120, "1 1:2 oops", tmp_path)
    arguments = ["--test", files["test"], "--no-shuffle", "--chunk", 50, "--save", saved, "--epochs", 2]
    code, (ours,), err = run(capsys, broken, *arguments)
    assert code == 1
    assert err == f"error: {broken}, line 120: at 'oops': expected INDEX:VALUE; the 119 rounds before it are kept, in {saved}\n"
    assert ours["rounds"] == "119" and ours["held-out score"] != "-"
    X, y = load_svmlight_file(files["a"], n_features=12)
    expected = PredtronClassifier(norm="scaled").partial_fit(X[:119], y[:119], classes=[0, 1, 2])
    assert_array_equal(sklearn_predtron.load(saved).coef_, expected.coef_)


def test_broken_line_in_test(capsys, files, tmp_path):
    broken = broken_copy(files["test"], 50, "1 1:2 oops", tmp_path)
    code, (ours,), err = run(capsys, files["a"], "--test", broken)
    assert code == 1 and "line 50: at 'oops': expected INDEX:VALUE; the held-out score is of the rows" in err
    assert ours["held-out score"] != "-"


@pytest.mark.parametrize("form", [[], ["--features", 12, "--classes", 0, 1, 2]])
def test_broken_first_line(capsys, files, tmp_path, form):
    broken = broken_copy(files["a"], 1, "1 oops", tmp_path)
    assert main([str(word) for word in (broken, "--test", files["test"], "--save", tmp_path / "model", *form)]) == 1
    assert "line 1: at 'oops'" in (err := capsys.readouterr().err) and "there is no trained model yet" in err
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("stop", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "error: stopped from the keyboard; the 100 rounds before it are kept, in "),
        (signal.SIGTERM, 143, "error: terminated; the 100 rounds before it are kept, in "),
        (ValueError("too large"), 1, "a.svm, line 101: in the chunk that begins here: too large; the 100 rounds before it"),
    ],
)
def test_stopped_while_learning(capsys, files, tmp_path, monkeypatch, stop, code, message):
    learn = PredtronClassifier.partial_fit

    def learn_twice(self, *args, **kwargs):
        if getattr(self, "t_", 0) == 100:
            if isinstance(stop, signal.Signals):
                signal.raise_signal(stop)
            raise stop
        return learn(self, *args, **kwargs)

    monkeypatch.setattr(PredtronClassifier, "partial_fit", learn_twice)
    found, (ours,), err = run(capsys, files["a"], "--chunk", 50, "--save", tmp_path / "model", "--test", files["test"])
    assert found == code and message in err and ours["rounds"] == "100"
    assert sklearn_predtron.load(tmp_path / "model").t_ == 100
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_usage_errors(capsys, files, tmp_path):
    a, test = files["a"], files["test"]
    model, text = str(tmp_path / "model"), str(tmp_path / "text")
    assert run(capsys, a, "--save", model)[0] == 0
    assert "unrecognized arguments: --nope" in usage_error(capsys, "--nope")
    assert "--test needs TRAIN or --load" in usage_error(capsys, "--test", test)
    assert "--save needs TRAIN" in usage_error(capsys, "--save", text)
    assert "--loss needs TRAIN" in usage_error(capsys, "--loss", "zero_one")
    assert "--load needs TRAIN or --test" in usage_error(capsys, "--load", model)
    assert "--predictions needs --test" in usage_error(capsys, a, "--predictions", text)
    assert "--proba needs --test or --load" in usage_error(capsys, a, "--proba")
    assert "accepted is one of them" in usage_error(capsys, a, "--test", test, "--proba", "--scores")
    to = ["--test", test, "--predictions", text, "--proba"]
    assert "--proba is not for a PredtronSequenceTagger without calibration" in usage_error(capsys, a, "--task", "sequence", *to)
    assert "--classes is fixed by the model" in usage_error(capsys, a, "--load", model, "--classes", 1, 2)
    assert "'nowhere.svm' is not a file that can be read" in usage_error(capsys, "nowhere.svm")
    assert "is not a file that can be written" in usage_error(capsys, a, "--save", tmp_path / "no" / "model")
    assert "holds no fitted estimator" in usage_error(capsys, a, "--load", a)
    assert "at least two are needed" in usage_error(capsys, write(tmp_path, "1 1:1\n"))
    assert "Only binary classification is supported" in usage_error(capsys, a, "--task", "binary")
    assert "--loss names the labels [7]; accepted are [0, 1, 2]" in usage_error(capsys, a, "--loss", "0:7=2,1:2=3")
    assert "accepted are zero_one, absolute, squared, hamming" in usage_error(capsys, a, "--loss", "0:1")
    assert "kendall_tau and TRUE:PREDICTED=COST,..." in usage_error(capsys, a, "--loss", "hinge")
    assert "must hold finite costs" in usage_error(capsys, a, "--loss", "0:1=-3")
    assert "reject.cost=3.0 must be a number" in usage_error(capsys, a, "--reject-cost", 3)
    assert "'0' must be an integer of at least 1" in usage_error(capsys, a, "--epochs", 0)
    assert "--classes has the labels [2.0, 2.0]; at least two are needed" in usage_error(capsys, a, "--classes", 2, 2)
    many = write(tmp_path, "".join(f"{i} 1:1\n" for i in range(10_001)))
    assert "more than 10000 distinct labels" in usage_error(capsys, many)


@pytest.mark.parametrize("task", ["ordinal", "multilabel"])
def test_usage_errors_of_a_task(capsys, files, tmp_path, task):
    a = [files["a"], "--task", task]
    rejects = ["--reject-cost", 0.1]
    if task == "multilabel":
        assert "--reject-cost is not for PredtronMultilabelClassifier" in usage_error(capsys, *a, *rejects)
        assert "--decision is not for" in usage_error(capsys, files["a"], "--task", "sequence", "--decision", "learned")
    accepted = {"ordinal": "zero_one, absolute, squared and TRUE:PREDICTED=COST,...", "multilabel": "hamming, subset_zero_one"}
    other = {"ordinal": ["hamming"], "multilabel": ["absolute", "0:1=3"]}
    for loss in other[task]:
        assert f"accepted are {accepted[task]}" in usage_error(capsys, *a, "--loss", loss)
    assert "[1]; at least two are needed, or --classes" in usage_error(capsys, write(tmp_path, "1 1:1\n"), "--task", task)


def write(folder, text):
    path = folder / "small.svm"
    path.write_text(text)
    return path


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bar():
    terminal, page = Terminal(), io.StringIO()
    for stream in (terminal, page):
        bar = ProgressBar(stream)
        bar("epoch 1/1", 0.5, ResultRow("", "", rounds=1200, progressive_rounds=1200, loss=300.0))
        bar("epoch 1/1", 0.6)
        bar.clear()
    assert "epoch 1/1 [##########          ]  50%  1,200 rounds, loss 0.2500" in terminal.getvalue()
    assert "60%" not in terminal.getvalue() and terminal.getvalue().endswith("\r\x1b[K")
    assert page.getvalue() == ""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
@pytest.mark.parametrize(
    ("module", "ignored", "code", "said"),
    [
        ("predictor", False, -signal.SIGINT, ""),
        ("predictor", True, 0, ""),
        ("cli._run", False, 130, "error: stopped from the keyboard\n"),
    ],
)
def test_interrupts_while_modules_are_imported(tmp_path, module, ignored, code, said):
    """Without a traceback: at first as a program that does not handle the signal, then as one that has begun its job."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'sklearn_predtron." + module + "':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        + ("signal.signal(signal.SIGINT, signal.SIG_IGN)\n" if ignored else "")
        + "sys.meta_path.insert(0, Finder())\n"
    )
    (tmp_path / "train.svm").write_text("1 1:1\n0 2:1\n")
    path = os.pathsep.join([str(tmp_path), os.getcwd(), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "sklearn_predtron", str(tmp_path / "train.svm"), "--quiet"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert (done.stderr, done.returncode) == (said, code)
