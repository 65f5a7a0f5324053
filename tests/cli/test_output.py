"""What the command line writes: predictions, scores, JSON, and nothing."""

import json
import os
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

import sklearn_predtron
from sklearn_predtron.cli import main
from sklearn_predtron.datasets import read_svmlight
from tests.cli_cases import run, unlabelled, usage_error
from tests.forked import run_program

pytestmark = pytest.mark.usefixtures("as_streams")


def test_predictions_to_standard_output(capsys, files, tmp_path):
    arguments = [files["a"], "--test", files["test"], "--predictions"]
    table = run(capsys, *arguments, tmp_path / "p")[1]
    code, out, err = run(capsys, *arguments, "-")
    assert code == 0 and out == (tmp_path / "p").read_text() and len(err.splitlines()) == len(table.splitlines())
    with open(os.devnull, "rb") as unwritable:
        done = run_program(*arguments, "-", stdout=unwritable)
    assert done.returncode == 1


def test_nobody_reads_the_predictions(files):
    end, writing = os.pipe()
    os.close(end)
    done = run_program(files["a"], "--test", files["test"], "--predictions", "-", stdout=writing)
    os.close(writing)
    assert done.returncode == 141 and "PredtronClassifier     200" in done.stderr and "error" not in done.stderr


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("options", [["--json"], ["--test", "test", "--predictions", "-", "--quiet"], [], ["demo"], ["predict"]])
def test_closed_streams(monkeypatch, capsys, files, tmp_path, options, both):
    """What nobody can read is an error, and a closed standard error is none."""
    assert run(capsys, files["a"], "--save", tmp_path / "m", "--quiet")[0] == 0
    bare = tmp_path / "bare.svm"
    bare.write_text(unlabelled(files["test"]))
    arguments = ["predict", tmp_path / "m", bare] if options == ["predict"] else [files["a"], *options]
    arguments = options if options == ["demo"] else [str(files.get(word, word)) for word in arguments]
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", None)
        if both:
            patched.setattr(sys, "stderr", None)
        assert main(arguments) == 1
        assert main(["fit", str(files["a"]), "--quiet", "--save", str(tmp_path / "n")]) == 0
    assert ("error: standard output: it is closed" in capsys.readouterr().err) != both
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["predict", str(tmp_path / "n"), str(bare)]) == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no such device")
def test_a_full_standard_error_loses_no_predictions(files):
    with open("/dev/full", "w") as full:
        done = run_program(files["a"], "--test", files["test"], "--predictions", "-", "--quiet", stderr=full)
        assert done.returncode == 0 and done.stdout
        assert run_program(files["a"], "--json", stdout=full).returncode == 1


def test_probabilities(capsys, files, tmp_path):
    """Of all labels in their order, as `predict_proba` of the model that is saved has them."""
    X, _ = read_svmlight(files["a"])
    for options, n in [
        ([], 3),
        (["--loss", "0:1=5", "--reject-cost", 0.3], 3),
        (["--task", "ordinal", "--reject-cost", 0.3], 3),
        (["--task", "multilabel"], 3),
        (["--decision", "learned"], 3),
    ]:
        arguments = [files["a"], *options, "--test", files["a"], "--predictions", "-", "--proba", "--quiet"]
        code, out, err = run(capsys, *arguments, "--save", tmp_path / "m")
        assert (code, err) == (0, "")
        found = np.array([line.split() for line in out.splitlines()], dtype=float)
        assert found.shape == (200, n)
        assert_allclose(found, sklearn_predtron.load(tmp_path / "m").predict_proba(X), rtol=1e-12)


def test_rows_that_are_rejected_by_default(capsys, files, tmp_path):
    code, out, _ = run(capsys, files["a"], "--test", files["a"], "--predictions", "-", "--reject-cost", 0.1, "--quiet")
    assert code == 0 and {"-1"} < set(out.split()) <= {"-1", "0", "1", "2"}


def test_scores_of_batches(capsys, files, tmp_path):
    binary = tmp_path / "binary.svm"
    binary.write_text(files["a"].read_text().replace("\n2 ", "\n1 ").removeprefix("2 "))
    arguments = [binary, "--task", "bipartite", "--loss", "balanced", "--test", binary, "--save", tmp_path / "m", "--quiet"]
    code, out, err = run(capsys, *arguments, "--predictions", "-", "--scores")
    assert (code, err) == (0, "")
    X, _ = read_svmlight(files["a"])
    assert_allclose(np.array(out.split(), dtype=float), sklearn_predtron.load(tmp_path / "m").decision_function(X), rtol=1e-12)


def test_outputs_that_are_none(capsys, files, tmp_path):
    assert "--scores needs --test or --load" in usage_error(capsys, files["a"], "--scores")
    said = "--scores needs --predictions, or rows without labels"
    assert said in usage_error(capsys, files["a"], "--test", files["a"], "--scores")
    assert run(capsys, files["a"], "--save", tmp_path / "m")[0] == 0
    said = "--predictions needs --test, or rows without labels"
    assert said in usage_error(capsys, files["a"], "--load", tmp_path / "m", "--predictions", "-")


def test_json(capsys, files, tmp_path):
    arguments = [files["aq"], "--test", files["testq"], "--save", tmp_path / "m"]
    code, out, err = run(capsys, *arguments, "--json")
    (ours,) = json.loads(out)["results"]
    model = sklearn_predtron.load(tmp_path / "m")
    X, y, ids = read_svmlight(files["testq"], query_id=True)
    assert (code, err) == (0, "") and ours["learner"] == "PredtronRanker"
    assert ours["rounds"] == 25 and ours["progressive_loss"] == pytest.approx(model.progressive_loss_, rel=1e-12)
    assert ours["held_out_score"] == pytest.approx(model.score(X, y, ids), rel=1e-12)
    assert ours["rejected"] is None and 0 < ours["held_out_ndcg_at_5"] <= 1 and ours["rounds_per_second"] > 0
    code, out, err = run(capsys, *arguments, "--json", "--predictions", "-")
    assert len(out.splitlines()) == 80 and json.loads(err)["results"][0]["rounds"] == 25


def test_quiet(capsys, files, tmp_path):
    assert run(capsys, files["a"], "--quiet", "--save", tmp_path / "m") == (0, "", "")
    assert sklearn_predtron.load(tmp_path / "m").t_ == 200
    code, out, err = run(capsys, files["a"], "--quiet", "--json")
    assert code == 0 and json.loads(out)["results"] and err == ""


def test_exit_codes_are_in_the_help(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "exit codes: 0 success 1 a file" in text and "2 wrong arguments" in text
    assert "130, 143 Ctrl-C and SIGTERM" in text and "141 nobody reads the output" in text
