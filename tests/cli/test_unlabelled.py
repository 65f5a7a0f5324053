"""Rows without labels are predicted, a line each."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import sklearn_predtron
from sklearn_predtron.cli import main
from sklearn_predtron.datasets import read_svmlight
from tests.cli_cases import PROGRAM, run, unlabelled, usage_error
from tests.forked import run_program

pytestmark = pytest.mark.usefixtures("as_streams")


def test_as_a_user_types_it(files, tmp_path):
    command = f"python -m sklearn_predtron {files['a']} --save m > table && cut -d' ' -f2- {files['test']} | "
    command = (command + "python -m sklearn_predtron --load m -").replace("python", f"PYTHONPATH={os.getcwd()} {sys.executable}")
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120)
    X, _ = read_svmlight(files["test"])
    assert_array_equal(np.array(done.stdout.split(), dtype=float), sklearn_predtron.load(tmp_path / "m").predict(X))
    assert done.stderr == "" and "PredtronClassifier" in (tmp_path / "table").read_text()


def test_a_fifo_is_predicted(files, tmp_path):
    assert main([str(files["a"]), "--save", str(tmp_path / "m"), "--quiet"]) == 0
    os.mkfifo(tmp_path / "fifo")
    writer = threading.Thread(target=(tmp_path / "fifo").write_text, args=[unlabelled(files["test"])], daemon=True)
    writer.start()
    done = run_program("--load", tmp_path / "m", tmp_path / "fifo")
    assert (done.returncode, done.stderr) == (0, "") and len(done.stdout.split()) == 80


def test_predictions_come_as_rows_do(files, tmp_path):
    """With chunks of one row; and the job ends when nobody reads them."""
    assert main([str(files["a"]), "--save", str(tmp_path / "m"), "--quiet"]) == 0
    words = [*PROGRAM, "--load", tmp_path / "m", "-", "--chunk", "1"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
        for _ in range(3):
            job.stdin.write("1:1 3:-2\n")
            job.stdin.flush()
            assert job.stdout.readline() in ("0\n", "1\n", "2\n")
        job.stdout.close()
        job.stdin.write("1:1\n" * 10)
        job.stdin.flush()
        assert job.wait(timeout=60) == 141 and job.stderr.read() == ""


@pytest.mark.parametrize("kind", ["", "w"])
@pytest.mark.parametrize("form", ["TRAIN", "--test"])
def test_rows_without_labels(capsys, files, tmp_path, kind, form):
    labelled = files["test" + kind]
    run(capsys, files["a" + kind], "--save", tmp_path / "m", "--test", labelled, "--predictions", tmp_path / "p")
    text = "# a comment\n" + unlabelled(labelled).replace("\n", " # spam\r\n  # 1:1\n", 3)
    (tmp_path / "u.svm").write_bytes(b"\xef\xbb\xbf" + text.encode())
    given = [tmp_path / "u.svm"] if form == "TRAIN" else ["--test", tmp_path / "u.svm"]
    code, out, err = run(capsys, "--load", tmp_path / "m", *given, "--chunk", 7)
    assert (code, err) == (0, "") and out == (tmp_path / "p").read_text(encoding="utf-8")
    code, out, err = run(capsys, "--load", tmp_path / "m", *given, "--predictions", tmp_path / "q")
    assert (code, out, err) == (0, "", "") and (tmp_path / "q").read_text() == (tmp_path / "p").read_text()


@pytest.mark.parametrize("form", ["TRAIN", "--test"])
def test_a_blank_line_is_a_row_without_labels(capsys, files, tmp_path, form):
    """So there are as many predictions as lines, whatever rows have no features."""
    lines = files["test"].read_text().splitlines()[:9]
    for i, line in ((1, "2"), (4, "0 # c"), (8, "1")):
        lines[i] = line
    (tmp_path / "t.svm").write_text("\n".join(lines) + "\n")
    (tmp_path / "u.svm").write_text("# c\n" + "".join("\r\n" if ":" not in x else x[2:] + "\n" for x in lines))
    run(capsys, files["a"], "--save", tmp_path / "m", "--test", tmp_path / "t.svm", "--predictions", tmp_path / "p")
    given = [tmp_path / "u.svm"] if form == "TRAIN" else ["--test", tmp_path / "u.svm"]
    for chunk in (1, 2, 100):
        code, out, err = run(capsys, "--load", tmp_path / "m", *given, "--chunk", chunk)
        assert (code, err) == (0, "") and out == (tmp_path / "p").read_text() and out.count("\n") == 9


@pytest.mark.parametrize("task", ["rank", "sequence"])
def test_rows_without_ids_are_not_predicted(capsys, files, tmp_path, task):
    assert run(capsys, files["aq"], "--task", task, "--save", tmp_path / "m")[0] == 0
    (tmp_path / "u.svm").write_text("1:1\n")
    code, _, err = run(capsys, "--load", tmp_path / "m", tmp_path / "u.svm")
    assert code == 1 and "line 1: at '1:1': expected qid:ID" in err and "the predictions are of the rows before it" in err


def test_sets_of_labels_that_nobody_names(capsys, tmp_path):
    """A row without labels has an empty set; a hundred of them have none."""
    X = np.random.default_rng(0).standard_normal((150, 3)).round(2)
    rows = [" ".join(f"{j + 1}:{value}" for j, value in enumerate(row)) for row in X]
    labels = [",".join(name for name, value in zip(["news", "sports", "tv"], row, strict=True) if value > 0.3) for row in X]
    (tmp_path / "train.svm").write_text("".join(f"{a} {row}\n" for a, row in zip(labels, rows, strict=True)))
    (tmp_path / "test.svm").write_text("".join(f"{row}\n" for row in rows))
    arguments = [tmp_path / "train.svm", "--task", "multilabel", "--save", tmp_path / "m", "--no-shuffle", "--quiet"]
    assert run(capsys, *arguments) == (0, "", "")
    model = sklearn_predtron.load(tmp_path / "m")
    assert model.svmlight_labels_.tolist() == ["news", "sports", "tv"]
    code, out, _ = run(capsys, "--load", tmp_path / "m", tmp_path / "test.svm")
    found = [[name in line.split(",") for name in model.svmlight_labels_] for line in out.splitlines()]
    assert code == 0
    assert_array_equal(found, model.predict(X).toarray())
    (tmp_path / "few.svm").write_text("1:1\nsports,news 2:1\n")
    code, out, _ = run(capsys, "--load", tmp_path / "m", tmp_path / "few.svm", "--save", tmp_path / "n")
    assert code == 0 and "PredtronMultilabelClassifier       2" in out and sklearn_predtron.load(tmp_path / "n").t_ == 152
    (tmp_path / "few.svm").write_text("1:1\nsports,chess 2:1\n")
    code, _, err = run(capsys, "--load", tmp_path / "m", tmp_path / "few.svm")
    assert code == 1 and "line 2: at 'chess': the label is not one of the classes [news, sports, tv]" in err


def test_usage_errors_of_rows_without_labels(capsys, files, tmp_path):
    run(capsys, files["a"], "--save", tmp_path / "m")
    path = tmp_path / "u.svm"
    path.write_text(unlabelled(files["test"]))
    said = f"TRAIN={str(path)!r} has no label in its first row"
    assert f"{said}; without --load there is no model" in usage_error(capsys, path, "--save", tmp_path / "n")
    assert f"{said}, and TRAIN={str(files['a'])!r} has" in usage_error(capsys, path, files["a"], "--load", tmp_path / "m")
    for option in (["--save", tmp_path / "n"], ["--test", files["test"]], ["--epochs", 2], ["--grow"]):
        expected = f"{option[0]} is not for rows without labels: {said}"
        assert expected in usage_error(capsys, path, "--load", tmp_path / "m", *option)
    assert not (tmp_path / "n").exists()
    path.write_text(unlabelled(files["test"]) + "1 2:1\n2:1\n")
    code, out, err = run(capsys, path, "--load", tmp_path / "m")
    assert code == 1 and "line 81: at '1': expected INDEX:VALUE; the predictions are of the rows before it" in err
    assert len(out.split()) == 80


def test_rows_without_labels_beside_training(capsys, files, tmp_path):
    (tmp_path / "u.svm").write_text(unlabelled(files["test"]))
    code, out, err = run(capsys, files["a"], "--test", tmp_path / "u.svm", "--save", tmp_path / "m")
    X, _ = read_svmlight(files["test"])
    assert code == 0 and "PredtronClassifier" in err
    assert_array_equal(np.array(out.split(), dtype=float), sklearn_predtron.load(tmp_path / "m").predict(X))
