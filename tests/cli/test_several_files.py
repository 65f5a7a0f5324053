"""Several files are one stream, whose width and labels a first pass finds."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import dump_svmlight_file

import sklearn_predtron
from sklearn_predtron.datasets import read_svmlight
from sklearn_predtron.datasets.formats import opening, svmlight
from tests.cli_cases import run, usage_error

pytestmark = pytest.mark.usefixtures("as_streams")


def test_a_query_is_whole_in_its_file(capsys, files, tmp_path):
    options = ["--json", "--chunk", 3]
    code, out, _ = run(capsys, files["aq"], files["aq"], *options)
    assert code == 0 and json.loads(out)["results"][0]["rounds"] == 50


def test_an_error_names_its_file(capsys, files, tmp_path):
    (tmp_path / "broken.svm").write_text("1 1:1\n1 oops\n")
    code, _, err = run(capsys, files["a"], tmp_path / "broken.svm", files["b"])
    assert code == 1 and err.startswith(f"error: {tmp_path / 'broken.svm'}, line 2: at 'oops'")
    assert "the 201 rounds before it are kept" in err
    assert "'nowhere' is not a file that can be read" in usage_error(capsys, files["a"], "nowhere")
    assert "--save and TRAIN are the same file" in usage_error(capsys, files["a"], files["b"], "--save", files["b"])


def test_growing_over_several_files(capsys, tmp_path):
    (tmp_path / "one.svm").write_text("1 1:1 5:1\n2 2:1\n")
    (tmp_path / "two.svm").write_text("3 1:1\n1 7:1\n")
    code, *_ = run(capsys, tmp_path / "one.svm", tmp_path / "two.svm", "--grow", "--save", tmp_path / "m")
    model = sklearn_predtron.load(tmp_path / "m")
    assert code == 0 and model.n_features_in_ == 7 and model.classes_.tolist() == [1, 2, 3]


@pytest.mark.parametrize("how", ["scan", "given", "grow", "load", "unlabelled"])
def test_features_that_training_never_saw(capsys, files, tmp_path, how):
    X, _ = read_svmlight(files["test"])
    lines = files["test"].read_text().splitlines()
    new = {0: " 7:1 9:2", 3: " 7:1", 5: " 1000:3"}
    rows = [line.partition(" ")[2] if how == "unlabelled" else line for line in lines]
    (tmp_path / "test.svm").write_text("".join(f"{row}{new.get(i, '')}\n" for i, row in enumerate(rows)))
    options = {"given": ["--features", 6, "--classes", 0, 1, 2], "grow": ["--grow"]}.get(how, [])
    run(capsys, files["a"], *options, "--save", tmp_path / "m")
    start = ["--load", tmp_path / "m"] if how in ("load", "unlabelled") else [files["a"], *options]
    code, out, err = run(capsys, *start, "--test", tmp_path / "test.svm", "--predictions", tmp_path / "p")
    assert code == 0 and "TEST: 4 values of 3 features that training did not have were left out\n" in out + err
    assert (out == "") == (how == "unlabelled")
    assert_array_equal(np.loadtxt(tmp_path / "p"), sklearn_predtron.load(tmp_path / "m").predict(X))
    code, out, err = run(capsys, *start, "--test", tmp_path / "test.svm", "--predictions", tmp_path / "p", "--json")
    assert json.loads(out)["left_out_of_test"] == {"values": 4, "features": 3}


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("task", ["multiclass", "multilabel", "rank", "sequence"])
def test_few_rows_are_parsed_once(capsys, files, tmp_path, monkeypatch, task, base):
    """The first epoch keeps them; many rows are parsed again, with the same bits."""
    X, y, ids = read_svmlight(files["aq"], query_id=True)
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=base == 0, query_id=ids)
    (tmp_path / "b.svm").write_text("1 qid:99 2:1 8:1\n")
    opened, read = [], svmlight.LabelledReader._open
    monkeypatch.setattr(svmlight.LabelledReader, "_open", lambda self: opened.append(self.path) or read(self))
    arguments = [tmp_path / "a.svm", tmp_path / "b.svm", "--task", task, "--epochs", 2, "--chunk", 30, "--save"]
    assert run(capsys, *arguments, tmp_path / "kept")[0] == 0 and len(opened) == 4
    monkeypatch.setattr(opening, "MAX_KEPT", 12 * 1000)  # less than the first file, of 1200 entries
    assert run(capsys, *arguments, tmp_path / "read")[0] == 0 and len(opened) == 4 + 5
    assert (tmp_path / "kept").read_bytes() == (tmp_path / "read").read_bytes()
    assert sklearn_predtron.load(tmp_path / "kept").n_features_in_ == 9 - base


def test_all_files_share_the_memory(capsys, files, monkeypatch):
    opened, read = [], svmlight.LabelledReader._open
    monkeypatch.setattr(svmlight.LabelledReader, "_open", lambda self: opened.append(self.path) or read(self))
    monkeypatch.setattr(opening, "MAX_KEPT", 20_000)  # two files, of three
    assert run(capsys, files["b"], files["b"], files["b"], "--epochs", 2)[0] == 0 and len(opened) == 3 + 3 + 1
