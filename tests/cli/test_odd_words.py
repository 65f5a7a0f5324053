"""Labels that no row can begin with: refused where they are given, or by the line in which they are."""

import numpy as np
import pytest

import sklearn_predtron
from sklearn_predtron import PredtronClassifier, PredtronMultilabelClassifier
from sklearn_predtron.datasets.formats.labels import can_be_read
from tests.cli_cases import run, usage_error

pytestmark = pytest.mark.usefixtures("as_streams")

ROWS = "a 1:1\n\n# a comment\nb 2:1\na 1:1 # another\n\n"
ODD = ["", "New York", "a\tb", "C#", "#", "1:1", "a\0", "\0", "line\nbreak"]


@pytest.fixture
def rows(tmp_path):
    (tmp_path / "rows.svm").write_text(ROWS)
    return tmp_path / "rows.svm"


def saved(path, *names):
    model = PredtronClassifier().fit(np.eye(4), np.array([*names, "a", "b", "a", "b"][:4], dtype=object))
    model.save(path)
    return path


@pytest.mark.parametrize("name", ODD)
def test_classes_of_a_model(capsys, rows, tmp_path, name):
    """Rows with labels are not learned or scored; those without can be predicted."""
    model = saved(tmp_path / "m", name)
    said = f"--load={str(model)!r} has the label {name!r}, which no row can begin with; accepted are words without "
    for arguments in ([rows, "--save", model], ["--test", rows], [rows, "--grow", "--save", model]):
        before = model.read_bytes()
        assert said in usage_error(capsys, *arguments, "--load", model)
        assert model.read_bytes() == before
    (tmp_path / "new.svm").write_text("1:1\n2:1\n3:1\n4:1\n")
    if "\n" in name:
        said = f"has the label {name!r}, which a line of predictions cannot hold"
        assert said in usage_error(capsys, tmp_path / "new.svm", "--load", model)
        code, out, _ = run(capsys, tmp_path / "new.svm", "--load", model, "--scores")
        assert code == 0 and len(out.splitlines()) == 4
    else:
        code, out, _ = run(capsys, tmp_path / "new.svm", "--load", model)
        assert code == 0 and set(out.split("\n")[:-1]) == {name, "a", "b"} and out.count("\n") == 4


@pytest.mark.parametrize("name", [name for name in ODD if "\0" not in name])
def test_classes_of_the_arguments(capsys, rows, name):
    err = usage_error(capsys, rows, "--classes", name, "a", "b", "--features", 4)
    shown = name.replace("\n", "\\n")
    blank = f"argument --classes: {name!r} must be a finite number, or a word"
    assert blank in err or f"--classes has the label '{shown}', which no row can begin with".replace("\t", "\\t") in err
    assert "accepted are" in err or blank in err


def test_commas_are_of_sets_alone(capsys, tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("a,b 1:1\na 2:1\nb 2:1\n")
    assert run(capsys, path, "--classes", "a,b", "a", "b")[0] == 0
    err = usage_error(capsys, path, "--classes", "a,b", "a", "b", "--task", "multilabel")
    assert "--classes has the label 'a,b'" in err and "accepted are words without white space, #, :, commas and NUL" in err
    assert not can_be_read("a,b", several=True) and can_be_read("a,b", several=False)


@pytest.mark.parametrize("label", ["\0", "a\0", "\0a", "a\0b"])
@pytest.mark.parametrize("options", [[], ["--grow"], ["--classes", "a", "b"], ["--task", "multilabel"], ["--task", "sequence"]])
def test_a_nul_byte_in_a_label_is_refused_by_its_line(capsys, tmp_path, label, options):
    """It would end the label, for numpy: a row of another class."""
    path, ids = tmp_path / "rows.svm", "sequence" in options
    for line, labels in ((3, ["a", "b", label, "b"]), (1, [label, "a", "b"])):
        path.write_text("".join(f"{name}{f' qid:{i}' if ids else ''} {1 + i % 2}:1\n" for i, name in enumerate(labels)))
        code, _, err = run(capsys, path, *options)
        assert code == 1 and f"line {line}: at {label!r}: a label has no NUL byte" in err


def test_a_nul_byte_beside_a_comma(capsys, tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("a,b 1:1\nb,a\0 2:1\n")
    code, _, err = run(capsys, path, "--task", "multilabel")
    assert code == 1 and "line 2: at 'a\\x00': a label has no NUL byte" in err


def test_a_nul_byte_in_a_number(capsys, tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n0 1:1\n1\0 2:1\n")
    code, _, err = run(capsys, path)
    assert code == 1 and "line 3: at '1\\x00': " in err


def test_blank_lines_are_no_rows(capsys, rows, tmp_path):
    """With words as with numbers, and the file ends."""
    code, _, err = run(capsys, rows, "--save", tmp_path / "m")
    assert (code, err) == (0, "") and sklearn_predtron.load(tmp_path / "m").t_ == 3


def test_what_predictions_show_of_rejected_rows(capsys, rows, tmp_path):
    code, out, _ = run(capsys, rows, "--reject-cost", 0.01, "--test", rows, "--predictions", "-")
    assert code == 0 and "reject" in out.split()


def test_sets_of_a_model_whose_labels_have_commas(capsys, tmp_path):
    """Sets from Python have the numbers of their columns, which are labels of files."""
    model = PredtronMultilabelClassifier().fit(np.eye(3), np.eye(3, dtype=int))
    model.save(tmp_path / "m")
    (tmp_path / "rows.svm").write_text("0,2 1:1\n1 2:1\n")
    assert run(capsys, tmp_path / "rows.svm", "--load", tmp_path / "m", "--save", tmp_path / "m")[0] == 0
