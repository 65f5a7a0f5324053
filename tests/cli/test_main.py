"""The main job, end to end: what files and models fix, usage errors and interrupts."""

import io
import json
import os
import re
import signal
import subprocess
import sys

import pytest
from numpy.testing import assert_array_equal

import sklearn_predtron
from sklearn_predtron import PredtronBinaryClassifier, PredtronMultilabelClassifier, PredtronOrdinalClassifier
from sklearn_predtron.cli._evaluation import ResultRow
from sklearn_predtron.cli._progress import ProgressBar
from sklearn_predtron.datasets import read_svmlight
from tests.cli_cases import run, usage_error
from tests.cli_worlds import WORLDS

pytestmark = pytest.mark.usefixtures("as_streams")


def write(folder, text, name="small.svm"):
    path = folder / name
    path.write_text(text)
    return path


def test_load_takes_parameters_and_the_base_of_indices(capsys, tmp_path):
    zero_based, model = write(tmp_path, "1 0:1 1:2\n2 1:-1 2:1\n1 0:1\n"), tmp_path / "model"
    run(capsys, zero_based, "--save", model)
    later = write(tmp_path, "2 1:1 2:1\n", "later.svm")
    code, _, _ = run(capsys, later, "--load", model, "--save", model, "--decision", "learned")
    found = sklearn_predtron.load(model)
    assert code == 0 and found.t_ == 4 and found.n_features_in_ == 3 and found.decision == "learned"


def test_width_and_base_are_of_what_is_learned(capsys, files, tmp_path):
    train, test = write(tmp_path, "1 1:1\n2 2:1\n", "train.svm"), write(tmp_path, "1 1:1 7:2\n", "test.svm")
    code, *_ = run(capsys, train, "--test", test, "--save", tmp_path / "model")
    assert code == 0 and sklearn_predtron.load(tmp_path / "model").n_features_in_ == 2
    test.write_text("1 0:1\n")
    code, _, err = run(capsys, train, "--test", test)
    assert code == 1 and "line 1: at '0:1': the indices count from 1" in err
    code, _, err = run(capsys, files["a"], "--features", 5, "--classes", 0, 1, 2)
    assert code == 1 and re.search(r"a.svm, line 1: at '6:.*': n_features was set to 5", err)


def test_costs_and_reject(capsys, tmp_path):
    world, saved = WORLDS["two classes"], tmp_path / "model"
    test = world.draw(100, 1)
    argv = [world.write(tmp_path / "a", world.draw(200, 0)), "--test", world.write(tmp_path / "test", test)]
    _, out, err = run(capsys, *argv, "--loss=-1:1=5", "--reject-cost", "0.4:0", "--save", saved)
    ours = json.loads(run(capsys, *argv, "--loss=-1:1=5", "--reject-cost", "0.4:0", "--json")[1])["results"][0]
    model = sklearn_predtron.load(saved)
    assert err == "" and isinstance(model, PredtronBinaryClassifier) and model.loss == {(-1.0, 1.0): 5.0}
    assert ours["held_out_score"] == pytest.approx(model.score(test.X, world.target(test)))
    rejected = model.predict(test.X) == 0
    assert ours["rejected"] == rejected.sum() > 0 and f"  {rejected.mean():.1%}  " in out


def test_ranks_go_on_in_the_order_of_their_categories(capsys, files, tmp_path):
    model = tmp_path / "model"
    X, y = read_svmlight(files["a"])
    ordered = PredtronOrdinalClassifier(categories=[1.0, 0.0, 2.0], representation="shared", update="prank", cv=0)
    before = ordered.fit(X, y).t_
    ordered.save(model)
    code, out, _ = run(capsys, files["b"], "--load", model, "--test", files["test"], "--save", model, "--json")
    assert code == 0 and sklearn_predtron.load(model).t_ == before + 104
    score = sklearn_predtron.load(model).score(*read_svmlight(files["test"]))
    assert json.loads(out)["results"][0]["held_out_score"] == pytest.approx(score)


def test_sets_have_the_order_of_their_labels(capsys, tmp_path):
    world, data, model = WORLDS["sets"], WORLDS["sets"].draw(100, 0), tmp_path / "model"
    argv = [world.write(tmp_path / "a", data), *world.options, "--no-shuffle", "--save"]
    assert run(capsys, *argv, model, "--features", 6, "--classes", 30, 20, 10)[0] == 0
    assert run(capsys, *argv, tmp_path / "scanned")[0] == 0
    found = sklearn_predtron.load(model)
    assert_array_equal(found.coef_, sklearn_predtron.load(tmp_path / "scanned").coef_)
    assert_array_equal(found.svmlight_labels_, [10, 20, 30])
    assert "--reject-cost is not for PredtronMultilabel" in usage_error(capsys, argv[0], "--load", model, "--reject-cost", 0.1)


def test_sets_of_labels_without_names_are_of_their_columns(capsys, tmp_path):
    model = tmp_path / "model"
    PredtronMultilabelClassifier().fit([[1.0], [2.0]], [[0, 1], [1, 1]]).save(model)
    code, out, _ = run(capsys, write(tmp_path, "1 1:1\n0,1 1:2\n"), "--load", model, "--save", model, "--json")
    assert code == 0 and json.loads(out)["results"][0]["rounds"] == 2
    assert_array_equal(sklearn_predtron.load(model).svmlight_labels_, [0, 1])
    PredtronMultilabelClassifier().fit([[1.0], [2.0]], [0, 1]).save(model)
    assert "of one label; at least two are needed" in usage_error(capsys, "--load", model, "--test", tmp_path / "small.svm")


USAGE = [
    ("--nope", "unrecognized arguments: --nope"),
    ("--test test", "--test needs TRAIN or --load"),
    ("--save text", "--save needs TRAIN"),
    ("--loss zero_one", "--loss needs TRAIN"),
    ("--load model", "--load needs TRAIN or --test"),
    ("a --predictions text", "--predictions needs --test"),
    ("a --proba", "--proba needs --test or --load"),
    ("a --test test --proba --scores", "accepted is one of them"),
    (
        "a --task sequence --test test --predictions text --proba",
        "--proba is not for a PredtronSequenceTagger without calibration",
    ),
    ("a --load model --classes 1 2", "--classes is fixed by the model"),
    ("nowhere.svm", "'nowhere.svm' is not a file that can be read"),
    ("a --save no/model", "is not a file that can be written"),
    ("a --load a", "holds no fitted estimator"),
    ("one", "at least two are needed"),
    ("a --task binary", "Only binary classification is supported"),
    ("a --loss 0:7=2,1:2=3", "--loss names the labels [7]; accepted are [0, 1, 2]"),
    ("a --loss 0:1", "accepted are zero_one, absolute, squared, hamming"),
    ("a --loss hinge", "kendall_tau and TRUE:PREDICTED=COST,..."),
    ("a --loss 0:1=-3", "must hold finite costs"),
    ("a --reject-cost 3", "reject.cost=3.0 must be a number"),
    ("a --epochs 0", "'0' must be an integer of at least 1"),
    ("a --classes 2 2", "--classes has the labels [2.0, 2.0]; at least two are needed"),
    ("many", "more than 10000 distinct labels"),
    ("a --task multilabel --reject-cost 0.1", "--reject-cost is not for PredtronMultilabelClassifier"),
    ("a --task sequence --decision learned", "--decision is not for"),
    ("a --task ordinal --loss hamming", "accepted are zero_one, absolute, squared and TRUE:PREDICTED=COST,..."),
    ("a --task multilabel --loss absolute", "accepted are hamming, subset_zero_one"),
    ("a --task multilabel --loss 0:1=3", "accepted are hamming, subset_zero_one"),
    ("one --task ordinal", "[1]; at least two are needed, or --classes"),
    ("one --task multilabel", "[1]; at least two are needed, or --classes"),
]


@pytest.mark.always
@pytest.mark.parametrize(("words", "message"), USAGE)
def test_usage_errors(capsys, files, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "1 1:1\n", "one"), (tmp_path / "a").symlink_to(files["a"]), (tmp_path / "test").symlink_to(files["test"])
    if words == "many":
        write(tmp_path, "".join(f"{i} 1:1\n" for i in range(10_001)), "many")
    if "model" in words:
        assert run(capsys, "a", "--save", "model")[0] == 0
    assert message in usage_error(capsys, *words.split())


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
