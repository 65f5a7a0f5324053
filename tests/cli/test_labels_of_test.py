"""Labels that only TEST has: they count as wrong, in all formats and tasks, and the report says how many."""

import json

import numpy as np
import pandas as pd
import pytest

from sklearn_predtron import PredtronBipartiteClassifier, PredtronOrdinalClassifier
from tests.cli_cases import run

N = 200
X = np.random.default_rng(0).standard_normal((N, 2)).round(3)
WORDS = np.where(X[:, 0] > 0, "a", "b")


def write(path, form, labels, names):
    rows = zip(X[: len(labels)].tolist(), [names[label] for label in labels], strict=True)
    lines = {
        "csv": lambda x, y: f"{x[0]},{x[1]},{y}",
        "svm": lambda x, y: f"{y} 1:{x[0]} 2:{x[1]}",
        "jsonl": lambda x, y: json.dumps({"u": x[0], "v": x[1], "label": y}),
        "vw": lambda x, y: f"{y} |f u:{x[0]} v:{x[1]}",
        "conll": lambda x, y: f"{round(x[0])} {y}\n",
    }[form]
    path.write_text("".join(lines(x, y) + "\n" for x, y in rows))


@pytest.mark.parametrize("names", [{"a": "a", "b": "b", "c": "c"}, {"a": 1, "b": 0, "c": 7}], ids=["words", "numbers"])
@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("csv", []),
        ("svm", []),
        ("jsonl", []),
        ("vw", []),
        ("conll", []),
        ("csv", ["--task", "bipartite"]),
        ("svm", ["--task", "ordinal"]),
        ("csv", ["--task", "ordinal"]),
    ],
)
def test_they_count_as_wrong(capsys, tmp_path, form, options, names):
    if form == "vw" and names["a"] == "a":
        return  # whose labels are numbers
    if "ordinal" in options and names["a"] == "a":
        options = [*options, "--classes", "b", "a"]
    write(tmp_path / f"train.{form}", form, WORDS, names)
    write(tmp_path / f"known.{form}", form, WORDS[:50], names)
    write(tmp_path / f"test.{form}", form, np.where(np.arange(50) % 10 == 3, "c", WORDS[:50]), names)
    how = [tmp_path / f"train.{form}", "--save", tmp_path / "m", *options, "--predictions"]
    code, out, err = run(capsys, *how, tmp_path / "p", "--test", tmp_path / f"known.{form}", "--json")
    known = json.loads(out)["results"]
    assert (code, err) == (0, "") and "unknown_labels_of_test" not in json.loads(out)
    code, out, err = run(capsys, *how, tmp_path / "q", "--test", tmp_path / f"test.{form}", "--json")
    assert (code, err) == (0, "") and json.loads(out)["unknown_labels_of_test"] == 5
    assert (tmp_path / "p").read_text() == (tmp_path / "q").read_text()
    for found, before in zip(json.loads(out)["results"], known, strict=True):
        assert found["tested"] == before["tested"] == 50
        if "bipartite" in options:
            assert found["held_out_score"] < before["held_out_score"]
        else:
            assert before["held_out_score"] - 0.1 <= found["held_out_score"] + 1e-9 and found["held_out_score"] <= 0.9 + 1e-9
    _, out, _ = run(capsys, *how, tmp_path / "q", "--test", tmp_path / f"test.{form}")
    assert f"TEST: 5 rows with labels that training did not have, [{names['c']}], count as wrong" in out


@pytest.mark.parametrize("model", [PredtronOrdinalClassifier(), PredtronBipartiteClassifier()], ids=lambda m: type(m).__name__)
def test_scores_of_estimators_count_them_as_wrong(model):
    y = (X[:, 0] > 0).astype(int)
    other = np.where(np.arange(N) % 10 == 3, 5, y)
    right = model.fit(X, y).predict(X) == other
    with pytest.warns(UserWarning, match=r"y has 20 labels that are not in classes_, \[5\]; such rows count as wrong"):
        assert model.score(X, other) == pytest.approx(right.mean())
    with pytest.raises(ValueError, match="not in classes_"):
        model.score(X, pd.Series(["a"] * N))
