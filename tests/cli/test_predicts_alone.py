"""Rows without labels are predicted on NumPy alone, to the lines that the estimator writes."""

import json
import subprocess
import sys

import numpy as np
import pytest
from cli_cases import run

from sklearn_predtron.cli import _run

pytestmark = pytest.mark.usefixtures("as_streams")

ROWS = 120


def lines(labels, X):
    """Rows in svmlight's format; without labels if they are None."""
    texts = [" ".join(f"{j + 1}:{value:.17g}" for j, value in enumerate(row) if value) for row in X]
    if labels is not None:
        texts = [f"{label} {text}" for label, text in zip(labels, texts, strict=True)]
    return "".join(f"{text}\n" for text in texts)


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    X = random.standard_normal((ROWS, 4)).round(3)
    X[np.abs(X) < 0.3] = 0
    X[:, 0] = np.where(X[:, 0] == 0, 0.5, X[:, 0])
    return X


def labels_of(kind, X):
    number = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.3)
    if kind == "words":
        return np.array(["ham", "spam", "other"])[number].tolist()
    if kind == "sets":
        return [",".join(str(j) for j in (1, 2, 3) if row[j - 1] > 0) for row in np.where(X[:, :3] == 0, 1, X[:, :3])]
    return number.tolist() if kind == "classes" else (number > 0).astype(int).tolist()


WORDS = ["red", "green", "blue"]
# The ending of a file, its labels, and the options of its training.
SETTINGS = [
    ("svm", "binary", []),
    ("svm", "binary", ["--norm", "l2", "--decision", "learned"]),
    ("svm", "classes", ["--reject-cost", "0.3"]),
    ("svm", "classes", ["--task", "ordinal"]),
    ("svm", "classes", ["--features", "piecewise", "--epochs", "6"]),
    ("svm", "words", []),
    ("svm", "sets", ["--task", "multilabel"]),
    ("csv", "classes", []),
    ("text.csv", "classes", ["--features", "piecewise", "--epochs", "6"]),
    ("missing.csv", "classes", ["--features", "auto", "--epochs", "6", "--decision", "expected_cost"]),
    ("id.csv", "classes", ["--id", "number"]),
    ("jsonl", "classes", []),
    ("vw", "classes", []),
]


def written_as(name, labels, X):
    """Rows in a format of named columns; without labels if they are None."""
    y = [None] * len(X) if labels is None else labels
    records = [dict(zip("abcd", row.tolist(), strict=True)) for row in X]
    if name == "vw":
        names = [" ".join(f"{key}:{value}" for key, value in one.items()) for one in records]
        return "".join(f"{'' if label is None else label + 1} | {text}\n" for label, text in zip(y, names, strict=True))
    for i, one in enumerate(records):
        one |= {"number": i} if name == "id.csv" else {}
        one |= {"b": WORDS[i % 3]} if name == "text.csv" else {"b": ["?", 0.5, 1][i % 3]} if name == "missing.csv" else {}
    records = [one if label is None else {**one, "label": label} for one, label in zip(records, y, strict=True)]
    if name == "jsonl":
        return "".join(json.dumps(one) + "\n" for one in records)
    return "\n".join([",".join(records[0]), *(",".join(map(str, one.values())) for one in records)]) + "\n"


@pytest.mark.always
@pytest.mark.filterwarnings("ignore:features='(piecewise|auto)' are fitted")
@pytest.mark.parametrize(("name", "kind", "how"), SETTINGS)
def test_lines_are_those_of_the_estimator(name, kind, how, rows, tmp_path, capsys, monkeypatch):
    """Which is not asked; some rows of svmlight's have features that training did not have."""
    train, bare, labels = tmp_path / f"train.{name}", tmp_path / f"bare.{name}", labels_of(kind, rows)
    wide = np.hstack([rows, np.where(np.arange(ROWS)[:, None] % 40 == 3, 1.5, 0)])
    train.write_text(lines(labels, rows) if name == "svm" else written_as(name, labels, rows))
    bare.write_text(lines(None, wide) if name == "svm" else written_as(name, None, rows))
    assert run(capsys, train, *how, "--save", tmp_path / "m", "--quiet")[0] == 0
    arguments = ["predict", tmp_path / "m", bare, *how[: 2 * (name == "id.csv")]]
    with monkeypatch.context() as patch:
        patch.setattr("sklearn_predtron.cli._predict.predict", lambda job, given, bar: None)
        expected = [run(capsys, *arguments, *written) for written in ([], ["--scores"], ["--proba"])]
    monkeypatch.setattr(_run, "run", None)
    found = [run(capsys, *arguments, *written) for written in ([], ["--scores"], ["--proba"])]
    assert found == expected and all(code == 0 and out.count("\n") == ROWS for code, out, _ in found)
    assert run(capsys, "--load", *arguments[1:2], "--test", *arguments[2:])[0] == 0


def test_standard_input_is_read_once(rows, tmp_path, capsys, standard_input):
    """A pipe with labels is left to the estimator, with the rows that have been read."""
    train = tmp_path / "train"
    train.write_text(lines(labels_of("classes", rows), rows))
    assert run(capsys, train, "--save", tmp_path / "m", "--quiet")[0] == 0
    standard_input(lines(labels_of("classes", rows), rows).encode())
    code, out, _ = run(capsys, "--load", tmp_path / "m", "--test", "-", "--json")
    assert code == 0 and json.loads(out)["results"][0]["tested"] == ROWS
    program = (
        "import sys; from sklearn_predtron.cli import main; code = main(sys.argv[1:]); "
        "print(code, sorted({'sklearn', 'scipy', 'pandas', 'joblib'} & {*sys.modules}), file=sys.stderr)"
    )
    command = [sys.executable, "-c", program, "predict", str(tmp_path / "m"), "-"]
    done = subprocess.run(command, input=lines(None, rows), capture_output=True, text=True)
    assert done.stderr == "0 []\n" and done.stdout.count("\n") == ROWS


def test_a_bad_line_ends_the_predictions(rows, tmp_path, capsys):
    train, other = tmp_path / "train", tmp_path / "other"
    train.write_text(lines(labels_of("classes", rows), rows))
    assert run(capsys, train, "--save", tmp_path / "m", "--quiet")[0] == 0
    other.write_text(lines(None, rows) + "1:x\n")
    code, out, err = run(capsys, "--load", tmp_path / "m", other)
    assert code == 1 and out.count("\n") == ROWS
    assert f"line {ROWS + 1}" in err and "the predictions are of the rows before it" in err
