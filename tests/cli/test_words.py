"""Labels that are words: the text is rewritten before it is parsed."""

import io
import json
import random

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import sklearn_predtron
from sklearn_predtron import PredtronClassifier, PredtronOrdinalClassifier
from sklearn_predtron.datasets import BrokenLineError, read_svmlight
from sklearn_predtron.datasets.formats import files as data_files
from sklearn_predtron.datasets.formats import svmlight
from sklearn_predtron.datasets.formats.labels import RewrittenText, WordLabels, add_labels
from tests.cli_cases import NAMES, run, usage_error

pytestmark = pytest.mark.usefixtures("as_streams")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_rewritten_text(size):
    """Line by line, however it is read; a blank line is a row, and one of comment alone stays."""
    text = b"\xef\xbb\xbf1:1 2:2\n\n  # 1:1\n \t3:1\r\n4:1 # 5\n#\n6:1"
    expected = b"0 1:1 2:2\n0 \n  # 1:1\n0  \t3:1\r\n0 4:1 # 5\n#\n0 6:1"
    source, found, buffer = RewrittenText(io.BufferedReader(io.BytesIO(text)), add_labels, 1000), b"", bytearray(size)
    while n := source.readinto1(memoryview(buffer)):
        found += buffer[:n]
    assert found == expected


def test_words_have_numbers():
    words = WordLabels(["b"], grows=True, several=True)
    assert words.rewrite(b"b,a 1:1\n# b\n2:1\n\ta #a 1:1\nb") == b"0,1 1:1\n# b\n2:1\n\t1 #a 1:1\n0"
    assert words.names == ["b", "a"] and words.of(np.array([1.0, 0.0])).tolist() == ["a", "b"]


def test_numbers_may_be_longer_than_words():
    words = WordLabels([*(f"w{i}" for i in range(1000)), "z"], grows=False, several=False)
    for n in (1, 2, 1000):
        assert words.rewrite(b"z 1:1\n" * n) == b"1000 1:1\n" * n
    assert words.rewrite(b"z \nz ") == b"1000 \n1000 "


def read(path, labelled, words, chunk):
    """The rows of a file and their first lines, and the number of the line that cannot be read, if there is one."""
    found, file = [], data_files.DataFile(str(path))
    file.labelled, classes = labelled, None if words is None else np.arange(len(words.names))
    reader = svmlight.LabelledReader(file, words=words, zero_based=False, classes=classes, chunk_rows=chunk)
    try:
        for X, _, first in reader:
            found.append((X.indptr.tolist(), X.indices.tolist(), X.data.tolist(), first))
    except BrokenLineError as error:
        return found, error.line_number
    return found, None


def test_rewritten_files_are_read_as_others(tmp_path):
    """Random texts with numbers, with words and without labels: the same rows, and the same line that cannot be read."""
    draw, names, broken = random.Random(0), ["b", "a", "zz"], 0
    for _ in range(80):
        rows, values = [], ["1", "2.5", "-1e3"] * 20 + ["x"]
        for _ in range(draw.randrange(12)):
            entries = " ".join(f"{j}:{draw.choice(values)}" for j in sorted(draw.sample(range(1, 30), draw.randrange(1, 5))))
            empty = draw.random() < 0.15
            text = draw.choice(["", " ", "#c", "  # 1:1 x", "\t"]) if empty else entries + draw.choice(["", " # c", "#", " \r"])
            rows.append((draw.choice(["", "", " ", "\t "]), None if empty else draw.randrange(3), text))
        mark, end, chunk, results = draw.choice(["", "\ufeff"]), draw.choice(["\n", ""]), draw.choice([1, 2, 5, 100]), []
        for form in ("{0} ", "{1} ", ""):
            lines = [space + ("" if k is None else form.format(k, names[k])) + text for space, k, text in rows]
            (tmp_path / "x.svm").write_text(mark + "\n".join(lines) + end, encoding="utf-8", newline="")
            words = WordLabels(names, grows=False, several=False) if "1" in form else None
            results.append(read(tmp_path / "x.svm", form != "", words, chunk))
        assert results[0] == results[1]
        # Without labels a blank line is a row, as one with a label and nothing else.
        text = "\n".join(lines) + end
        lines = text.removesuffix("\n").split("\n") if text else []
        labelled = [line if line.lstrip().startswith("#") else f"0 {line}" for line in lines]
        (tmp_path / "x.svm").write_text(mark + "\n".join(labelled), encoding="utf-8", newline="")
        assert results[2] == read(tmp_path / "x.svm", True, None, chunk)
        broken += results[0][1] is not None
    assert 5 < broken < 75


@pytest.mark.parametrize("options", [["--grow"], ["--classes", NAMES[2], NAMES[0], NAMES[1]]], ids=["grow", "classes"])
def test_words_are_labels(capsys, files, tmp_path, options):
    arguments = [files["aw"], *options, "--no-shuffle", "--save", tmp_path / "m", "--test", files["testw"], "--chunk", 50]
    code, out, err = run(capsys, *arguments, "--predictions", tmp_path / "p")
    (X, y), (X_test, _) = (read_svmlight(files[name]) for name in ("a", "test"))
    expected = PredtronClassifier(norm="l2" if "--grow" in options else "scaled")  # which knows no width
    expected.partial_fit(X, np.array(NAMES)[y.astype(int)], classes=NAMES)
    found = sklearn_predtron.load(tmp_path / "m")
    assert (code, err) == (0, "") and f"{found.score(X_test, expected.predict(X_test)):.4f}" == "1.0000"
    assert found.classes_.tolist() == sorted(NAMES)
    assert_array_equal(found.coef_, expected.coef_)
    assert (tmp_path / "p").read_text(encoding="utf-8").split() == expected.predict(X_test).tolist()
    code, out, _ = run(capsys, files["bw"], "--load", tmp_path / "m", "--save", tmp_path / "m", "--json")
    assert code == 0 and json.loads(out)["results"][0]["rounds"] == 104 and sklearn_predtron.load(tmp_path / "m").t_ == 304


def test_words_that_are_new(capsys, files, tmp_path):
    run(capsys, files["aw"], "--save", tmp_path / "m")
    more = tmp_path / "more.svm"
    more.write_text("ham 1:1\n1 1:1\nnews 1:1\n")
    code, out, _ = run(capsys, files["aw"], "--test", more)
    assert code == 0 and "TEST: 2 rows with labels that training did not have, [1, news], count as wrong" in out
    code, *_ = run(capsys, more, "--grow", "--load", tmp_path / "m", "--save", tmp_path / "m")
    assert code == 0 and sklearn_predtron.load(tmp_path / "m").classes_.tolist() == sorted([*NAMES, "1", "news"])


def test_words_of_costs_and_rejection(capsys, files, tmp_path):
    options = ["--loss", "spam:ham=7", "--reject-cost", "0.4:unsure", "--save", tmp_path / "m"]
    code, out, err = run(capsys, files["aw"], *options, "--test", files["testw"], "--predictions", "-")
    assert code == 0 and set(out.split()) <= {*NAMES, "unsure"} and "rejected" in err
    model = sklearn_predtron.load(tmp_path / "m")
    assert model.loss == {("spam", "ham"): 7.0} and model.reject.label == "unsure"
    said = "--loss names the labels [nonsense]; accepted are [ham, spam, "
    assert said in usage_error(capsys, files["aw"], "--loss", "nonsense:ham=2")


def test_ranks_that_are_words(capsys, files, tmp_path):
    said = "TRAIN has the label"
    arguments = [files["aw"], "--task", "ordinal", "--save", tmp_path / "m"]
    assert f"{said} {NAMES[0]!r}" in (err := usage_error(capsys, *arguments)) or said in err
    assert "ordinal labels that are text need --classes, which gives their order" in err
    order = [NAMES[1], NAMES[2], NAMES[0]]
    code, *_ = run(capsys, *arguments, "--classes", *order, "--no-shuffle", "--test", files["testw"])
    X, y = read_svmlight(files["a"])
    expected = PredtronOrdinalClassifier(norm="scaled", categories=order).partial_fit(
        X, np.array(NAMES)[y.astype(int)], classes=order
    )
    found = sklearn_predtron.load(tmp_path / "m")
    assert code == 0 and found.classes_.tolist() == order
    assert_array_equal(found.coef_, expected.coef_)
    code, *_ = run(capsys, files["bw"], "--load", tmp_path / "m", "--test", files["testw"])
    assert code == 0


def test_relevances_and_commas_are_no_words(capsys, tmp_path):
    (tmp_path / "q.svm").write_text("good qid:1 1:1\nbad qid:1 1:2\n")
    assert "has the label 'good'; accepted are numbers, which relevances are" in usage_error(capsys, tmp_path / "q.svm")
    code, *_ = run(capsys, tmp_path / "q.svm", "--task", "sequence", "--save", tmp_path / "m")
    assert code == 0 and sklearn_predtron.load(tmp_path / "m").classes_.tolist() == ["bad", "good"]
    (tmp_path / "c.svm").write_text("a,b 1:1\nb 1:2\n")
    assert run(capsys, tmp_path / "c.svm")[2].startswith(
        f"error: {tmp_path / 'c.svm'}, line 1: at 'a,b': the label has a comma; --task multilabel reads several labels in a row"
    )


def test_a_comment_is_apart_from_a_word(capsys, tmp_path):
    """A C# would be a C otherwise."""
    (tmp_path / "x.svm").write_text("C 1:1\nD 1:2 # fine\nC# 1:3\n")
    for options in ([], ["--grow"], ["--classes", "C", "D"]):
        code, _, err = run(capsys, tmp_path / "x.svm", "--no-shuffle", *options)
        assert code == 1 and "line 3: at 'C#': a label has no #" in err
