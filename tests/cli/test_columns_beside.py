"""Columns that are no features, ids, rows without a label, and text in other encodings."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import sklearn_predtron
from tests.cli_cases import run, usage_error

N = 120
X = np.random.default_rng(0).standard_normal((N, 2)).round(4)
Y = np.where(X[:, 0] > 0, "ja", "nein")
FRAME = pd.DataFrame({"who": [f"n{i}" for i in range(N)], "a": X[:, 0], "day": "mon", "b": X[:, 1], "y": Y})
HOW = ["--no-shuffle", "--json"]


def coef(path):
    return sklearn_predtron.load(path).coef_


@pytest.fixture
def plain(capsys, tmp_path):
    """The weights of the same table without the other columns."""
    FRAME[["a", "b", "y"]].to_csv(tmp_path / "plain.csv", index=False)
    assert run(capsys, tmp_path / "plain.csv", "--save", tmp_path / "plain", *HOW)[0] == 0
    return coef(tmp_path / "plain")


@pytest.mark.parametrize("named", [True, False])
def test_columns_that_are_no_features(capsys, tmp_path, plain, named):
    FRAME.to_csv(tmp_path / "a.csv", index=False, header=named)
    FRAME.drop(columns="y").to_csv(tmp_path / "bare.csv", index=False, header=named)
    ids, other = ("who", "day") if named else ("1", "3")
    code, _, err = run(capsys, tmp_path / "a.csv", "--drop", other, ids, "--save", tmp_path / "m", *HOW)
    assert (code, err) == (0, "")
    assert_array_equal(coef(tmp_path / "m"), plain)
    for path in ("a", "bare"):
        known = ["--load", tmp_path / "m", "--test", tmp_path / f"{path}.csv", "--predictions", tmp_path / "p", "--quiet"]
        assert run(capsys, *known, "--id", ids)[0] == 0
        found = [line.split("\t") for line in (tmp_path / "p").read_text().splitlines()]
        assert [name for name, _ in found] == FRAME.who.tolist() and np.mean([y for _, y in found] == Y) > 0.9
        assert run(capsys, *known)[0] == 0 and (tmp_path / "p").read_text().splitlines() == [y for _, y in found]
    assert "--drop='no' is no column of" in usage_error(capsys, tmp_path / "a.csv", "--drop", "no")
    assert "is the column of the labels" in usage_error(capsys, tmp_path / "a.csv", "--drop", "y" if named else "5")
    assert "--drop=['a'] is for csv files, and" in usage_error(capsys, tmp_path / "a.csv", "--format", "json", "--drop", "a")


@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize("at", range(4))
def test_columns_without_names_that_training_did_not_have(capsys, tmp_path, at, labelled):
    """They are numbered in the file to predict, and the columns of training are in their order around them."""
    FRAME[["a", "y", "b"]].to_csv(tmp_path / "t.csv", index=False, header=False)
    assert run(capsys, "fit", tmp_path / "t.csv", "--label", "2", "--save", tmp_path / "m", *HOW)[0] == 0
    bare = FRAME[["a", "y", "b"] if labelled else ["a", "b"]]
    bare.to_csv(tmp_path / "bare.csv", index=False, header=False)
    at = min(at, bare.shape[1])
    wide = pd.DataFrame(np.insert(bare.to_numpy(object), at, FRAME.who, axis=1))
    wide.to_csv(tmp_path / "wide.csv", index=False, header=False)
    code, expected, _ = run(capsys, "predict", tmp_path / "m", tmp_path / "bare.csv", "--proba")
    assert code == 0
    given = ["predict", tmp_path / "m", tmp_path / "wide.csv", "--proba"]
    assert run(capsys, *given, "--drop", at + 1)[:2] == (0, expected)
    lines = zip(FRAME.who, expected.splitlines(keepends=True), strict=True)
    assert run(capsys, *given, "--id", at + 1)[:2] == (0, "".join(f"{who}\t{line}" for who, line in lines))


def test_columns_that_training_left_out_by_name_need_names(capsys, tmp_path):
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    assert run(capsys, "fit", tmp_path / "t.csv", "--drop", "who", "day", "--save", tmp_path / "m", *HOW)[0] == 0
    FRAME.to_csv(tmp_path / "bare.csv", index=False, header=False)
    code, out, err = run(capsys, "predict", tmp_path / "m", tmp_path / "bare.csv", "--no-header")
    assert (code, out) == (1, "") and "training left out 'who', 'day' by name, and the first row has no names of columns" in err


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.filterwarnings("default:.* without a label were left out")  # which is a line of standard error
def test_rows_without_a_label(capsys, tmp_path, plain, form):
    some = FRAME[["a", "b", "y"]].copy()
    some.loc[::7, "y"] = None
    kept = some.dropna()
    for name, frame in (("some", some), ("kept", kept)):
        if form == "csv":
            frame.to_csv(tmp_path / f"{name}.csv", index=False)
        else:
            frame.rename(columns={"y": "label"}).to_json(tmp_path / f"{name}.jsonl", orient="records", lines=True)
    skip = ["--skip-unlabelled", "--save", tmp_path / "m", "--test", tmp_path / f"some.{form}"]
    code, out, err = run(capsys, tmp_path / f"some.{form}", *skip, *HOW)
    assert code == 0 and err.count(f"some.{form}: {N - len(kept)} rows without a label were left out") == 1
    result = json.loads(out)["results"][0]
    assert result["rounds"] == result["tested"] == len(kept)
    assert run(capsys, tmp_path / f"kept.{form}", "--save", tmp_path / "k", *HOW)[0] == 0
    assert_array_equal(coef(tmp_path / "m"), coef(tmp_path / "k"))


def test_encodings(capsys, tmp_path):
    text = "".join(f"{x},{'größer' if x > 0 else 'kleiner'}\n" for x in X[:, 0])
    (tmp_path / "a.csv").write_text(text, encoding="latin-1")
    (tmp_path / "u.csv").write_text(text, encoding="utf-8")
    code, *_ = run(capsys, tmp_path / "a.csv", "--encoding", "latin-1", "--save", tmp_path / "m", *HOW)
    assert code == 0 and sklearn_predtron.load(tmp_path / "m").classes_.tolist() == ["größer", "kleiner"]
    assert run(capsys, tmp_path / "u.csv", "--save", tmp_path / "u", *HOW)[0] == 0
    assert_array_equal(coef(tmp_path / "m"), coef(tmp_path / "u"))
    assert "UTF-8: byte 0xf6" in run(capsys, tmp_path / "a.csv")[2]
    for name in ("utf-16", "klingon"):
        assert f"'{name}' is no encoding of Python in which" in usage_error(capsys, tmp_path / "a.csv", "--encoding", name)
