"""What the job writes is written over nothing that it uses as something else; refused before anything is read."""

import os

import pytest

from tests.cli_cases import run, usage_error
from tests.forked import run_program

ROWS = "1 1:1\n-1 2:1\n" * 20


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files of data, and names for one of them: a copy of its name, a link, a hard link, a way through another folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("t", "u"):
        (tmp_path / name).write_text(ROWS)
    (tmp_path / "link").symlink_to("t")
    os.link(tmp_path / "t", tmp_path / "hard")
    (tmp_path / "here").symlink_to(".")
    return tmp_path


def contents(folder):
    return {name: (folder / name).read_bytes() for name in os.listdir(folder) if (folder / name).is_file()}


OUTPUTS = {
    "--save": ["t"],
    "--predictions": ["t", "--test", "u"],
}


@pytest.mark.parametrize("option", OUTPUTS)
@pytest.mark.parametrize("name", ["t", "./t", "link", "hard", "here/t", "here/hard"])
def test_the_data_by_any_name(capsys, folder, option, name):
    before = contents(folder)
    assert f"{option} and TRAIN are the same file {name!r}" in usage_error(capsys, *OUTPUTS[option], option, name)
    err = usage_error(capsys, "u", "--test", "t", option, name)
    assert f"{option} and --test are the same file {name!r}" in err
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["t", "--test", "u", "--save", "new", "--predictions", "here/new"], "--predictions and --save"),
        (["t", "--test", "u", "--plot", "new.png", "--save", "here/new.png"], "--plot and --save"),
        (["t", "--load", "m", "--test", "u", "--predictions", "here/m"], "--predictions and --load"),
    ],
)
def test_two_outputs(capsys, folder, arguments, message):
    run(capsys, "t", "--save", "m")
    before = contents(folder)
    assert f"{message} are the same file" in usage_error(capsys, *arguments)
    assert contents(folder) == before


def test_what_is_one_file_by_right(capsys, folder):
    assert run(capsys, "t", "t", "--test", "t", "--save", "m", "--quiet")[0] == 0
    os.symlink("m", "model")
    assert run(capsys, "t", "--load", "m", "--save", "model", "--quiet")[0] == 0
    assert run(capsys, "t", "--test", "u", "--predictions", "/dev/null", "--quiet")[0] == 0


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("- --save t --features 2 --classes -1 1 < t", "--save and TRAIN are the same file 't'"),
        ("u --test - --predictions link < t", "--predictions and --test are the same file 'link'"),
        ("t >> t", "standard output and TRAIN are the same file 't'"),
        ("t --test u --predictions - >> u", "standard output and --test are the same file 'u'"),
        ("t --test u --save m >> m", "standard output and --save are the same file 'm'"),
    ],
)
def test_what_the_shell_opens(folder, command, message):
    before = {**contents(folder), **({"m": b""} if ">> m" in command else {})}
    arguments, sign, path = command.rpartition(" < " if "<" in command else " >> ")[::1]
    with open(path, "rb" if "<" in sign else "ab") as file:
        streams = {"stdin": file} if "<" in sign else {"stdout": file}
        done = run_program(*arguments.split(), **streams)
    assert done.returncode == 2 and message in done.stderr
    assert contents(folder) == before
