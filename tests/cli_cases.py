"""Running the command line, and names of labels."""

import sys

import pytest

from sklearn_predtron.cli import main

NAMES = ["ham", "spam", "\u00fcble Mail".replace(" ", "_")]
PROGRAM = [sys.executable, "-m", "sklearn_predtron"]


def unlabelled(path):
    """The rows of a file without their labels, as `cut -d' ' -f2-` makes them."""
    return "".join(line.partition(" ")[2] for line in path.read_text(encoding="utf-8").splitlines(keepends=True))


def run(capsys, *argv):
    code = main([str(word) for word in argv])
    return code, *capsys.readouterr()


def usage_error(capsys, *argv):
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in argv])
    out, err = capsys.readouterr()
    assert stop.value.code == 2 and out == "" and err.count("\n") == 1
    return err
