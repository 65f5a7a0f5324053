"""Standard input is learned, scored and predicted as a file is."""

import json
import os

import pytest

from tests.cli_cases import run, usage_error
from tests.forked import run_program

pytestmark = pytest.mark.usefixtures("as_streams")


def test_standard_input_is_a_file(files, tmp_path):
    """From where the shell left it, and again for the next epoch."""
    with open(files["a"], "rb") as file:
        os.lseek(file.fileno(), len(file.readline()), os.SEEK_SET)
        done = run_program("-", "--epochs", 2, "--json", stdin=file)
    assert json.loads(done.stdout)["results"][0]["rounds"] == 2 * 199


def test_broken_line_of_standard_input(capsys, files, standard_input):
    standard_input(files["a"].read_bytes() + b"1 oops\n")
    code, _, err = run(capsys, "-")
    assert code == 1 and err.startswith("error: standard input, line 201: at 'oops': expected INDEX:VALUE; the 200 rounds")


def test_standard_input_is_read_once(capsys, files, monkeypatch):
    assert "TRAIN and --test are the same pipe '-'" in usage_error(capsys, "-", "--test", "-")
    assert "--load='-' is not a file that can be read" in usage_error(capsys, files["a"], "--load", "-")
    monkeypatch.setattr("sys.stdin", None)  # as of a program whose standard input is closed
    assert "TRAIN='-' is not a file that can be read" in usage_error(capsys, "-")


def test_no_rows_to_predict(capsys, files, standard_input, tmp_path):
    """What writes the pipe may have found none."""
    run(capsys, files["a"], "--save", tmp_path / "model")
    for text in (b"", b"# nothing\n\n"):
        standard_input(text)
        assert run(capsys, "--load", tmp_path / "model", "-") == (0, "", "no rows to train on or to predict\n")
        standard_input(text)
        assert run(capsys, "--load", tmp_path / "model", "-", "--quiet") == (0, "", "")
    standard_input(b"")
    assert "has no rows" in usage_error(capsys, "-", "--save", tmp_path / "other")
