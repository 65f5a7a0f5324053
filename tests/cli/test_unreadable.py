"""Files that cannot be read: the message names the line and the reason, and the rounds before it are kept."""

import gzip

import numpy as np
import pytest

import sklearn_predtron
from tests.cli_cases import run, usage_error
from tests.cli_worlds import WORLDS

pytestmark = pytest.mark.usefixtures("as_streams")

FORMATS = {"csv": WORLDS["numbers"], "jsonl": WORLDS["objects"], "vw": WORLDS["examples"], "conll": WORLDS["tokens"]}
EVERY = pytest.mark.parametrize("ending", FORMATS)
UNREAD = "the row cannot be read: "
OF_QUOTES = "; remove it, close the cell, or double the quotes within a text"
NO_UTF8 = "the line is no text in UTF-8: byte 0xff at place 3; --encoding names another one"

# Lines behind two rows, and what is said of them.
LINES = {
    "jsonl": [
        ('{"a": 1', "the line is no JSON: Expecting ',' delimiter, at place 8"),
        ('{"a": NaN, "label": 0}', "the line is no JSON: NaN is no number of JSON"),
        ("[" * 100_000, "the line is no JSON: "),
        ("[1, 2]", "the line is [1, 2]; accepted are objects, of features by name"),
        ("3", "the line is 3; accepted are objects"),
        ('{"a": 1, "a": 2, "label": 0}', "a name is there twice"),
        ('{"a": [1], "label": 0}', "'a' is a list or an object; accepted are numbers, strings, true, false and null"),
        ('{"a": {"b": 1}, "label": 0}', "'a' is a list or an object"),
        ('{"label": [0]}', "the label 'label' is a list or an object; accepted are numbers and strings"),
        ('{"label": 7}', "the label 7 is not one of the classes [0, 1]"),
        ('{"a": 1}', "the row has no label"),
        ('{"a": 1' + "0" * 400 + ', "label": 0}', "the number of 'a' is too large"),
        ('{"a": -1e999, "label": 0}', "the number of 'a' is too large"),
        ('{"label": "\\udc80"}', "'\\udc80' is no text in Unicode"),
        ('{"label": 1e999}', "the label 'label' is too large a number"),
        ('{"a": "\\ud800", "label": 0}', "'\\ud800' is no text in Unicode"),
        ('{"a": "\0", "label": 0}', "the line has a NUL byte, which text has not"),
    ],
    "vw": [
        ("1 2 3 | a", "at '3': initial predictions are not read; accepted before | are a number, which is the label"),
        ("1 'tag | a", "at \"'tag\": what is a tag, by its ' or because no space is before |, is not read"),
        ("1 1|f a", "at '1': what is a tag"),
        ("1| a", "at '1': what is a tag"),
        ("1:0.5 2:1 | a", "at '1:0.5': costs of labels are not read"),
        ("0:1:0.5 | a", "at '0:1:0.5': costs of labels are not read"),
        ("shared | a", "at 'shared': it is no number"),
        ("1 -2 | a", "at '-2': the importance is negative"),
        ("1 a b", "there is no |, behind which features are"),
        ("1 | a:b", "at 'a:b': expected NAME or NAME:VALUE, with a finite number"),
        ("1 | a:1:2", "at 'a:1:2': expected NAME or NAME:VALUE"),
        ("1 | a:nan", "at 'a:nan': expected NAME"),
        ("1 | :3", "at ':3': expected NAME"),
        ("1 |f:x a", "at 'f:x': expected NAME"),
        ("| a", "the row has no label"),
        ("2 | a", "the label 2 is not one of the classes [-1, 1]"),
    ],
}
BEGIN = {"jsonl": '{"a": 1, "label": 0}\n{"b": 2, "label": 1}\n\n', "vw": "1 | a\n-1 | b\n\n"}
# Whole files, the number of the line, and how many rounds are kept.
FILES = {
    "csv": [
        ("a,y\n1,0\n2,1\n3\n", 4, "the row has 1 column, and the first one has 2", 2),
        ("a,y\n1,0\n2,1\n\n3,0,0\n", 5, "the row has 3 columns, and the first one has 2", 2),
        ('a,y\n1,0\n2,1\n"3,0\n4,1\n', 4, f'{UNREAD}a quote (") opens a cell and nothing closes it{OF_QUOTES}', 2),
        (
            'a,y\n1,0\n2,1\n"' + 140_000 * "3",
            4,
            f'{UNREAD}a cell has more than 131,072 characters, as after a quote (") that nothing closes{OF_QUOTES}',
            2,
        ),
        ('a,y\n1,0\n2,1\n"3"4,0\n', 4, f'{UNREAD}a quote (") closes a cell and text follows{OF_QUOTES}', 2),
        ("a,y\n1,0\n2,1\ninf,0\n", 4, "the column 'a' has 'inf', which is no finite number", 2),
        ("a,y\n1,0\n2,1\n3,\n", 4, "the label is missing; --skip-unlabelled leaves such rows out", 2),
        ("a,y\n1,0\n2,1\n3,\xff\n", 4, NO_UTF8, 2),
        ("a,y\n1,0\n2,1\n3,\0\n", 4, "the line has a NUL byte, which text has not", 2),
        ("a\n1\n2\n", 1, "there is one column; a label and a feature are needed", 0),
        ("1\n2\n", 1, "there is one column; a label and a feature are needed", 0),
        ("a,b,a\n1,2,3\n", 1, "the column 'a' is there twice", 0),
    ],
    "conll": [
        ("a x O\nb x B-P\n\nc O\n", 4, "the token has 2 columns, and those before it have 3", 1),
        ("a x O\nb x y B-P\n", 2, "the token has 4 columns, and those before it have 3", 0),
        ("a\nb\n", 1, "there is one column; the last one is the label, and others are needed", 0),
        ("a x O\nb \xff B-P\n", 2, NO_UTF8, 0),
        ("a x O\nb \0 B-P\n", 2, "the line has a NUL byte, which text has not", 0),
    ],
}
CASES = [(ending, text, *rest) for ending, cases in FILES.items() for text, *rest in cases]
CASES += [(ending, f"{BEGIN[ending]}{line}\n", 4, reason, 2) for ending, cases in LINES.items() for line, reason in cases]


@pytest.mark.always
@pytest.mark.parametrize(("ending", "text", "line", "reason", "kept"), CASES)
def test_lines_that_cannot_be_read(capsys, tmp_path, ending, text, line, reason, kept):
    path, classes = tmp_path / f"a.{ending}", {"jsonl": [0, 1], "vw": [-1, 1], "conll": ["O", "B-P"]}.get(ending)
    path.write_bytes(text.encode("utf-8" if ending == "jsonl" else "latin-1"))
    form = [] if classes is None else ["--classes", *classes]
    code, out, err = run(capsys, path, *form, "--save", tmp_path / "m", "--quiet")
    rest = f"the {kept} rounds before it are kept, in {tmp_path / 'm'}" if kept else "there is no trained model yet"
    assert (code, out) == (1, "") and err.count("\n") == 1
    assert err.startswith(f"error: {path}, line {line}: {reason}") and err.endswith(f"; {rest}\n")
    assert ending in LINES or err == f"error: {path}, line {line}: {reason}; {rest}\n"


@EVERY
def test_truncated_and_binary_files(capsys, tmp_path, ending):
    world = FORMATS[ending]
    packed = gzip.compress(world.text(world.draw(3000 // (1 + 4 * (world.ids is not None)), 0)).encode())
    (tmp_path / f"a.{ending}.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / f"b.{ending}").write_bytes(np.random.default_rng(0).bytes(5000))
    for name, reason in ((f"a.{ending}.gz", "Compressed file ended"), (f"b.{ending}", f"b.{ending}, line 1: ")):
        code, _, err = run(capsys, tmp_path / name)
        assert code == 1 and reason in err and err.count("\n") == 1


@EVERY
@pytest.mark.parametrize("text", ["", "\n\n", None])
def test_files_without_rows(capsys, tmp_path, ending, text):
    world, empty = FORMATS[ending], tmp_path / f"empty.{ending}"
    none = {"csv": "a,b,c,d,e,f,y\n", "conll": "-DOCSTART- O\n\n"}.get(ending, "\n")
    empty.write_text(none if text is None else text)
    assert "has no rows" in usage_error(capsys, empty)
    assert "has no rows" in usage_error(capsys, world.write(tmp_path / "a", world.draw(10, 0)), "--test", empty)


STATES = {
    "csv": [{"kinds": ["number"]}, {"names": 5}, {"names": ["a"]}, {"names": ["a", 3]}, {"place": 99}, {"place": "1"}],
    "jsonl": [{"label": ["kind"]}],
    "conll": [{"template": template} for template in (5, "x", [5], [[("9", 0)]])] + [{"columns": "x"}, {"format": "other"}],
}


@pytest.mark.parametrize(("ending", "damaged"), [(ending, state) for ending, states in STATES.items() for state in states])
def test_file_settings_of_a_model_that_are_none(capsys, tmp_path, ending, damaged):
    world = FORMATS[ending]
    path = world.write(tmp_path / "a", world.draw(20, 0))
    assert run(capsys, path, *world.options, "--save", tmp_path / "m")[0] == 0
    model = sklearn_predtron.load(tmp_path / "m")
    for state in ({**model.file_format_, **damaged}, {"format": model.file_format_["format"]}, []):
        model.file_format_ = state
        model.save(tmp_path / "odd")
        assert "has the file settings" in usage_error(capsys, "--load", tmp_path / "odd", path)
