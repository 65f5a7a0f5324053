"""Messages are one line each, of some length, that a terminal only shows."""

import io
import re
import warnings

import numpy as np
import pytest

from sklearn_predtron import PredtronClassifier
from sklearn_predtron._support import array_file
from sklearn_predtron._support.one_line import one_line
from sklearn_predtron.cli import main
from sklearn_predtron.cli._progress import ProgressBar
from sklearn_predtron.cli._report import aligned
from sklearn_predtron.datasets import BrokenLineError, SvmlightReader
from tests.cli_cases import run
from tests.forked import run_program

EVIL = "\x1b[31m\u202e\x07\x9b"
LONG = 200_000


def test_one_line():
    assert one_line("a \u00fc '\u4e2d'") == "a \u00fc '\u4e2d'"
    assert one_line("a\n b\t\r\n c\x0b\u2028") == "a b c"
    assert one_line(EVIL + "\x00\udcff") == "\\x1b[31m\\u202e\\x07\\x9b\\x00\\udcff"
    assert one_line("x" * 1000) == "x" * 1000
    for text in ("b" + "x" * 1000 + "e", "b" + "x" * LONG + "e", "b" + "\x1b" * 999 + "e", "b" + " x" * 1001 + "\ne"):
        shown = one_line(text)
        assert len(shown) == 1000 and shown[0] == "b" and shown[-1] == "e" and "..." in shown and shown.isprintable()
    assert one_line("x" * 100, 10) == "xxx...xxxx"
    assert one_line("a name  with blanks:\n  why") == "a name  with blanks: why"
    assert one_line("a" + "\n" * LONG + "x") == "a ... x"


def commands(folder):
    """Commands that say something about what holds a label, a word or a name that is long, or not for a terminal."""
    name = f"{EVIL}.svm"
    files = {
        "good": "a 1:1\nb 1:2\n" * 3,
        "numbers": "1 1:1\n2 1:2\n" * 3,
        "two": f"a{EVIL} 1:1\nb{EVIL} 1:2\n" * 3,
        "long": "x" * LONG + " 1:1\n",
        "long two": "x" * LONG + " 1:1\n" + "y" * LONG + " 1:1\n",
        "evil": f"{EVIL} 1:1\n",
        "value": "1 1:1\n2 1:" + "x" * LONG + EVIL + "\n",
        "index": "1 1:1\n2 " + "x" * LONG + EVIL + ":1\n",
        "digits": "1 1:1\n2 " + "9" * LONG + ":1\n",
        "comma": f"a,{EVIL} 1:1\nb 1:1\n",
        "sharp": f"a 1:1\n{EVIL}{'x' * LONG}# 1:1\n",
        name: "1 1:1\n2 1:2\n" * 3,
        f"broken{name}": "1 1:1\n2 1:2\n2 x\n",
        f"one{name}": "1 1:1\n",
    }
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")
    quiet = ["--quiet"]
    return [
        *(["good", "--test", file, *quiet] for file in ("long", "evil", "sharp", "comma")),
        *(["two", "--test", file, *quiet] for file in ("good", "long", "evil")),
        *(
            [file]
            for file in ("long", "evil", "long two", "value", "index", "digits", f"one{name}", f"broken{name}", f"no{name}")
        ),
        *([file, "--task", task] for file in ("long two", "two") for task in ("ordinal", "rank", "binary")),
        *([file, "--grow"] for file in ("long", "evil", "comma", "value", "two", f"broken{name}")),
        *([file, "--jobs", "1"] for file in ("value", "index", f"broken{name}", f"one{name}", f"no{name}")),
        [name],
        [name, f"--load={name}"],
        [name, "--save", "x" * LONG],
        [name, "--save", f"no folder/{name}"],
        [name, "--test", f"broken{name}"],
        ["good", f"--costs={EVIL}"],
        [name, "--holdout", EVIL],
        ["score", "good", "good"],
        ["predict", name, name],
        ["good", f"--{EVIL}"],
        ["good", "--task", EVIL * 1000],
        ["good", f"--epochs={EVIL}"],
        ["good", "--loss", f"{EVIL}:b=5"],
        ["good", "--loss", f"{'x' * LONG}:b=5"],
        ["two", "--loss", "a:b=5"],
        ["good", "--classes", EVIL, "x" * 1000],
        ["good", "--classes", "a", "b", EVIL, "--predictions", "p"],
        ["good", "--reject-cost", f".1:{EVIL}"],
        ["numbers", "--reject-cost", f".1:{EVIL}"],
        [EVIL],
    ]


def test_whatever_it_is_about_a_message_is_one_line(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = 0
    for words in commands(tmp_path):
        try:
            code = main([word[:5000] for word in words])
        except SystemExit as stop:
            code = stop.code
        out, err = capsys.readouterr()
        assert out.replace("\n", "").isprintable() and max(map(len, out.splitlines()), default=0) < 300, words
        assert err.count("\n") == (code != 0) and err.removesuffix("\n").isprintable() and len(err) < 1200, (words, err)
        said += code != 0
    assert said > 40


def test_what_a_script_reads_is_written_as_it_is(capsys, tmp_path):
    """Predictions are labels of the file, whatever they are, and JSON has escapes of its own."""
    (tmp_path / "t").write_text(f"a{EVIL} 1:1\nb 1:-1\n" * 3, encoding="utf-8")
    code, out, err = run(capsys, tmp_path / "t", "--test", tmp_path / "t", "--predictions", "-", "--quiet")
    assert (code, out, err) == (0, f"a{EVIL}\nb\n" * 3, "")
    assert run(capsys, tmp_path / "t", "--json")[1].isascii()


@pytest.mark.filterwarnings("always:two")  # which is printed
def test_warnings_are_lines_like_others(capsys, tmp_path, monkeypatch):
    """Also with progress on the terminal, whose line is cleared before."""
    (tmp_path / "t").write_text("1 1:1\n2 1:2\n" * 3)

    def warn(parts):
        warnings.warn(f"two\nlines, {EVIL}", UserWarning, stacklevel=2)
        return b""

    monkeypatch.setattr(array_file, "check_sum_of", warn)
    code, out, err = run(capsys, tmp_path / "t", "--save", tmp_path / "m")
    assert (code, err) == (0, "warning: two lines, \\x1b[31m\\u202e\\x07\\x9b\n") and "PredtronBinaryClassifier" in out
    assert warnings.showwarning.__module__ != "sklearn_predtron.cli._console"


def test_a_measure_of_batches_that_is_mixed(tmp_path):
    """Its threshold is 0, which is said once, in a line."""
    random = np.random.default_rng(0)
    rows = "".join(f"{i % 2} 1:{random.standard_normal():.3f} 2:{i % 2 + random.standard_normal():.3f}\n" for i in range(400))
    (tmp_path / "t").write_text(rows)
    done = run_program("t", "--task", "bipartite", "--jobs", 1, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == "warning: --jobs leaves the cut of --task bipartite at 0: it is chosen on rows in memory\n"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def test_progress_is_one_short_line():
    stream = Terminal()
    ProgressBar(stream)(f"copying {EVIL}{'x' * LONG}: 3 MiB", 0.5)
    assert re.fullmatch(r"\rcopying \\x1b\[31m\\u202e.*\.\.\.x+: 3 MiB \[#{10} {10}\]  50%\x1b\[K", stream.getvalue())
    assert len(stream.getvalue()) < 100


def test_tables_have_lines_of_some_length():
    lines = aligned([["data", "learner"], [f"{EVIL}\n{'x' * LONG}", "a"]]).splitlines()
    assert len(lines) == 3 and max(map(len, lines)) < 80 and all(map(str.isprintable, lines))


def test_lines_that_cannot_be_read_are_told_in_a_line(tmp_path):
    """By the readers, too."""
    error = BrokenLineError(f"{EVIL}\n.svm", 3, "no\n")
    assert str(error) == "\\x1b[31m\\u202e\\x07\\x9b .svm, line 3: no" and (error.path, error.reason) == (f"{EVIL}\n.svm", "no\n")
    path = tmp_path / f"{EVIL}.svm"
    for text in ("{long} 1:1", "1 1:{evil}", "1 1:{long}", "1 {digits}:1", "1 {evil}x:1", "1 qid:{long} 1:1"):
        line = text.format(long="x" * LONG, evil=EVIL * 1000, digits="9" * LONG)
        path.write_text(f"{line}\n", encoding="utf-8")
        with pytest.raises(BrokenLineError, match="line 1: ") as caught:
            list(SvmlightReader(path, n_features=3, zero_based=False, query_id="qid" in text))
        assert len(str(caught.value)) < 600 and str(caught.value).isprintable()


def test_unknown_labels_are_listed_in_short():
    X, y = np.eye(20), np.array([f"label {i}" for i in range(20)])
    model = PredtronClassifier().fit(X, y)
    for call in (
        lambda: model.partial_fit(X, np.array([f"{i}{'x' * LONG}" for i in range(20)])),
        lambda: model.sample_loss(X, np.array([f"{EVIL}{i}" for i in range(20)])),
        lambda: model.partial_fit(X, y, classes=["x" * LONG, "y"]),
        lambda: PredtronClassifier(class_weight={"x" * LONG: 2}).fit(X, y),
        lambda: PredtronClassifier(loss={("x" * LONG, "label 1"): 2}).fit(X, y),
    ):
        with pytest.raises(ValueError, match="label 1") as caught:
            call()
        assert len(str(caught.value)) < 2000 and str(caught.value).isprintable()
