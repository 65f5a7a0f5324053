"""Rows of features with names, in JSON and in Vowpal Wabbit's lines: they are what scikit-learn's FeatureHasher makes."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction import FeatureHasher

import sklearn_predtron
from sklearn_predtron import PredtronBinaryClassifier, PredtronBipartiteClassifier, PredtronClassifier, PredtronOrdinalClassifier
from tests.cli_cases import run, usage_error

pytestmark = pytest.mark.usefixtures("as_streams")

N, WIDTH = 120, 2**18
WORDS = ["red", "green", "blue"]
OPTIONS = ["--no-shuffle", "--json"]


def hashed(rows, width=WIDTH):
    pairs = [[(name, value) for name, value in row.items() if value is not None] for row in rows]
    return FeatureHasher(width, input_type="pair", alternate_sign=False).transform(pairs)


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


# --------------------------------------------------------------------------------------------------------------------- JSON


def test_labels_of_objects(capsys, tmp_path):
    """They may have any name, and be numbers or truths."""
    for values, classes in (
        ([0, 1], [0.0, 1.0]),
        ([True, False], ["false", "true"]),
        (["0", 1], [0.0, 1.0]),
        ([1, 2, -3], [-3, 1, 2]),
    ):
        rows = [{"a": i, "kind": values[i % len(values)]} for i in range(12)]
        write(tmp_path / "a", [json.dumps(row) for row in rows])
        options = ["--format", "json", "--label", "kind", "--features", 16, "--save", tmp_path / "m"]
        assert run(capsys, tmp_path / "a", *options)[0] == 0
        model = sklearn_predtron.load(tmp_path / "m")
        assert model.classes_.tolist() == classes and model.n_features_in_ == 16
        assert model.file_format_ == {"format": "json", "label": "kind"}
        code, out, _ = run(capsys, "--load", tmp_path / "m", write(tmp_path / "b", ['{"a": 1}', '{"kind": null, "b": 3}']))
        assert code == 0 and len(out.splitlines()) == 2
    message = usage_error(capsys, tmp_path / "a", "--format", "json")
    assert "has no label in its first row" in message and "; the label is 'label' unless --label says another name" in message
    write(tmp_path / "a", ['{"a": 1, "label": 1}', '{"a": 1, "label": "x"}'] * 3)
    assert "has the label 'x' beside numbers" in usage_error(capsys, tmp_path / "a", "--format", "json")


def test_a_label_among_rows_without(capsys, tmp_path):
    write(tmp_path / "train.jsonl", ['{"size": 1, "label": "no"}', '{"size": -1, "label": "yes"}'])
    run(capsys, tmp_path / "train.jsonl", "--save", tmp_path / "m", *OPTIONS)
    write(tmp_path / "mixed", ['{"size": 1}', '{"size": 2, "label": "no"}'])
    code, out, err = run(capsys, "--load", tmp_path / "m", tmp_path / "mixed")
    assert code == 1 and out.count("\n") == 1 and "line 2: the row has a label, and those before it have none" in err


# ------------------------------------------------------------------------------------------------------------ Vowpal Wabbit

EXAMPLES = {  # what becomes of the features of a line
    "1 | a b:0.5 c": {"a": 1, "b": 0.5, "c": 1},
    "-1 2.5 |f a b:-2 |g a": {"f^a": 1, "f^b": -2, "g^a": 1},
    "1 1|f:0.5 a b:4": None,  # where 1 is a tag
    "1 0.5 |f:0.5 a b:4 | a:1e2": {"f^a": 0.5, "f^b": 2, "a": 100},
    "-1 |f": {},
    "1|f a": None,
    "-1.0 | ö 7:3 a a": {"ö": 1, "7": 3, "a": 2},
}


def examples():
    """Lines that are read, their hashed rows, labels and weights."""
    known = {line: features for line, features in EXAMPLES.items() if features is not None}
    heads = [line.partition("|")[0].split() for line in known]
    weights = np.array([float(head[1]) if len(head) > 1 else 1.0 for head in heads])
    return list(known), hashed(known.values()), np.array([float(head[0]) for head in heads]), weights


@pytest.mark.parametrize("epochs", [1, 2])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (PredtronBinaryClassifier, []),
        (PredtronClassifier, ["--task", "multiclass"]),
        (PredtronOrdinalClassifier, ["--task", "ordinal"]),
        (PredtronBipartiteClassifier, ["--task", "bipartite", "--chunk", 2]),
    ],
)
def test_lines_are_learned_with_their_importance(capsys, tmp_path, kind, options, epochs):
    lines, X, y, weights = examples()
    write(tmp_path / "a.vw", lines)
    assert run(capsys, tmp_path / "a.vw", *options, *OPTIONS, "--epochs", epochs, "--save", tmp_path / "m")[0] == 0
    weighted, plain = kind(norm="l2"), kind(norm="l2")
    for _ in range(epochs):
        for rows in (slice(i, i + 2) for i in range(0, len(y), 2)):
            weighted.partial_fit(X[rows], y[rows], sample_weight=weights[rows], classes=[-1, 1])
            plain.partial_fit(X[rows], y[rows], classes=[-1, 1])
    assert_array_equal(sklearn_predtron.load(tmp_path / "m").coef_, weighted.coef_)
    assert not np.array_equal(weighted.coef_, plain.coef_)


def test_usage_errors(capsys, tmp_path):
    path = write(tmp_path / "a.vw", ["1 | a", "-1 | b"])
    assert "--label='a' is for csv and conll and json files, and the files are vw" in usage_error(capsys, path, "--label", "a")
    assert "--features=auto is not for vw files; accepted is a number of features" in usage_error(
        capsys, path, "--features", "auto"
    )
    dump_svmlight_file(np.eye(4), [0, 1, 1, 0], str(tmp_path / "ranked"), query_id=[0, 0, 1, 1])
    run(capsys, tmp_path / "ranked", "--save", tmp_path / "ranker")
    message = usage_error(capsys, path, "--load", tmp_path / "ranker")
    assert "holds a PredtronRanker, which is not for vw files" in message
    assert "is for csv and json files, and the files are vw" in usage_error(capsys, path, "--costs", "1:0=a")


def fields(kind, n=200):
    """Rows of numbers, by the ways to write these."""
    return [{"a": kind(round(i / 7, 3)), "b": kind(i * i % 97), "label": i % 2} for i in range(n)]


NUMBERS_AS_TEXT = "has numbers as strings in"


@pytest.mark.filterwarnings(f"default:.* {NUMBERS_AS_TEXT}", "default:.* has numbers without names")  # which are lines of output
def test_numbers_as_text_are_said_once_a_file(capsys, tmp_path):
    write(tmp_path / "text.jsonl", map(json.dumps, fields(str)))
    write(tmp_path / "bare.vw", [f"{i % 2} |f {i / 7:.3f} {i % 5}" for i in range(200)])
    code, _, err = run(capsys, "fit", tmp_path / "text.jsonl", "--epochs", 2, "--save", tmp_path / "m")
    assert (code, err) == (
        0,
        f"warning: {tmp_path / 'text.jsonl'} {NUMBERS_AS_TEXT} 'a', 'b', as '0', '0.143', '0.286', and each is a feature of its "
        "own; write them without quotes\n",
    )
    code, _, err = run(capsys, "predict", tmp_path / "m", tmp_path / "text.jsonl")
    assert code == 0 and err.count(NUMBERS_AS_TEXT) == err.count("\n") == 1
    code, _, err = run(capsys, "fit", tmp_path / "bare.vw")
    assert code == 0 and err.count("has numbers without names, as '0', '0.143', '0.286'") == err.count("\n") == 1


def test_codes_and_numbers_need_no_warning(capsys, tmp_path):
    rows = fields(float)
    codes = [{**row, "zip": str(10_000 + i), "word": f"w{i}"} for i, row in enumerate(rows)]
    few = [{"a": str(i % 9), "label": row["label"]} for i, row in enumerate(rows)]
    for name, written in (("numbers", rows), ("codes", codes), ("few", few)):
        write(tmp_path / f"{name}.jsonl", map(json.dumps, written))
        assert run(capsys, "fit", tmp_path / f"{name}.jsonl")[::2] == (0, "")
    write(tmp_path / "names.vw", [f"{i % 2} |f {i} {i + 1}:0.5 w{i}" for i in range(200)])
    assert run(capsys, "fit", tmp_path / "names.vw")[::2] == (0, "")
