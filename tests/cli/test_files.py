"""The main job's files: pipes, what is written, and what goes wrong with them."""

import errno
import gzip
import io
import itertools
import os
import re
import resource
import subprocess
import sys
import threading
from contextlib import redirect_stdout, suppress
from functools import partial

import joblib
import pytest

import sklearn_predtron
from sklearn_predtron._support import array_file
from sklearn_predtron.cli import _app as job
from sklearn_predtron.cli import _run
from sklearn_predtron.datasets.formats import files as data_files
from tests.cli_cases import usage_error
from tests.forked import run_program

pytestmark = pytest.mark.usefixtures("as_streams")

FORM = ["--features", 6, "--classes", 0, 1, 2]
HUGE = ["".join(f" {j + 1}:{sign}1.7e308" for j, sign in enumerate(signs)) for signs in itertools.product(["", "-"], repeat=6)]


@pytest.fixture
def pipe():
    """Open a pipe that is fed with bytes; the path of its end, which can be read once."""
    ends, writers = [], []

    def feed(end, content):
        with suppress(BrokenPipeError), open(end, "wb") as file:
            file.write(content)

    def opened(content):
        end, writing = os.pipe()
        ends.append(end)
        writers.append(threading.Thread(target=feed, args=[writing, content]))
        writers[-1].start()
        return f"/dev/fd/{end}"

    yield opened
    for end in ends:
        os.close(end)
    for writer in writers:
        writer.join()


def content(path):
    with open(path, "rb") as file:
        return file.read()


def run(capsys, *argv):
    """The exit code, the figures of the table but for the time, and stderr."""
    code = job.main([str(word) for word in argv])
    out, err = capsys.readouterr()
    rows = [re.findall(r"[\d.,]+%?|-(?= |$)", line[line.index(name) :]) for line in out.splitlines() if (name := learner(line))]
    return code, [[row[0], *row[2:]] for row in rows], err


def learner(line):
    """The learner that a line of the table is of, if it is one."""
    found = re.search(r"\b(Predtron\w+) +[\d,]+ ", line)
    return found and found[1]


def program(*argv, **options):
    words = [sys.executable, "-m", "sklearn_predtron", *map(str, argv)]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(words, env=buffered, timeout=120, check=False, text=True, **{"stderr": subprocess.PIPE} | options)


# ------------------------------------------------------------------------------------------------------------------- pipes


@pytest.mark.parametrize(
    ("data", "options"),
    [
        ("a", []),
        ("a", ["--epochs", 3, "--chunk", 40]),
        ("a", ["--task", "ordinal"]),
        ("a", FORM),
        ("a", [*FORM, "--epochs", 2]),
        ("a", ["--features", 6]),
        ("aq", []),
        ("aq", ["--features", 6, "--epochs", 2]),
        ("aq", ["--task", "rank", "--features", 6]),
    ],
    ids=str,
)
def test_a_pipe_is_learned_as_the_file_is(capsys, files, pipe, tmp_path, data, options):
    expected = run(capsys, files[data], *options, "--save", tmp_path / "file")
    found = run(capsys, pipe(content(files[data])), *options, "--save", tmp_path / "pipe")
    assert expected[0] == 0 and found == expected and len(found[1]) == 1
    assert content(tmp_path / "pipe") == content(tmp_path / "file")


@pytest.mark.parametrize("options", [[], FORM, "load"], ids=["scanned", "given", "load"])
def test_two_pipes_are_two_files(capsys, files, pipe, tmp_path, options):
    """One to learn from, also with a model, and one to score on."""
    if options == "load":
        run(capsys, files["a"], "--save", tmp_path / "model")
        options = ["--load", tmp_path / "model"]
    to = [["--save", tmp_path / f"{name}-m", "--predictions", tmp_path / name] for name in ("file", "pipe")]
    expected = run(capsys, files["a"], *options, "--test", files["test"], *to[0])
    train, test = pipe(content(files["a"])), pipe(content(files["test"]))
    assert run(capsys, train, *options, "--test", test, *to[1]) == expected
    assert expected[0] == 0 and "-" not in expected[1][0][:3]
    assert content(tmp_path / "pipe") == content(tmp_path / "file") and content(tmp_path / "pipe-m") == content(
        tmp_path / "file-m"
    )


def test_a_named_pipe_with_compressed_rows(files, tmp_path):
    """As a program, which would wait for ever if it opened the pipe twice."""
    path = tmp_path / "pipe.svm.gz"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=[gzip.compress(content(files["aq"]))], daemon=True)
    writer.start()
    done = run_program(path, "--save", tmp_path / "pipe")
    assert (done.returncode, done.stderr) == (0, "") and "PredtronRanker" in done.stdout
    assert job.main([str(files["aq"]), "--save", str(tmp_path / "file")]) == 0
    assert content(tmp_path / "pipe") == content(tmp_path / "file")


def test_a_pipe_is_copied_once_and_only_to_be_read_again(capsys, files, pipe, monkeypatch):
    copies, temporary = [], data_files.TemporaryFile
    monkeypatch.setattr(data_files, "TemporaryFile", lambda: copies.append(temporary()) or copies[-1])
    rank = ["--task", "rank", "--features", 6]
    for options, n in [(FORM, 0), (rank, 0), (["--grow"], 0), (["--epochs", 2], 1), ([*FORM, "--epochs", 2], 1)]:
        copies.clear()
        assert run(capsys, pipe(content(files["aq" if "rank" in options else "a"])), *options)[0] == 0
        assert len(copies) == n and all(copy.closed for copy in copies)
    assert run(capsys, files["a"], "--epochs", 2, "--test", files["test"])[0] == 0 and len(copies) == 1


@pytest.mark.parametrize("options", [[], FORM], ids=["copied", "straight"])
def test_a_broken_line_of_a_pipe(capsys, files, pipe, options):
    lines = content(files["a"]).splitlines(keepends=True)
    path = pipe(b"".join([*lines[:119], b"1 oops\n", *lines[119:]]))
    code, rows, err = run(capsys, path, *options)
    assert code == 1 and rows[0][0] == "119"
    assert err == f"error: {path}, line 120: at 'oops': expected INDEX:VALUE; the 119 rounds before it are kept\n"


def test_no_room_for_the_copy(capsys, files, pipe, monkeypatch, tmp_path):
    monkeypatch.setattr(data_files, "TemporaryFile", lambda: open("/dev/full", "w+b"))  # noqa: SIM115
    path = pipe(content(files["a"]))
    assert job.main([path, "--save", str(tmp_path / "model")]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and not (tmp_path / "model").exists()
    reason = "could not be copied to a temporary file (TMPDIR names its folder): No space left on device"
    assert err == f"error: {path} {reason}; there is no trained model yet\n"


def test_a_pipe_is_one_file(capsys, files, pipe):
    path = pipe(b"")
    assert f"TRAIN and --test are the same pipe {path!r}" in usage_error(capsys, path, "--test", path)
    assert run(capsys, files["a"], "--test", files["a"])[0] == 0


# ---------------------------------------------------------------------------------------------------------- nothing to learn


@pytest.mark.parametrize("text", ["", "# a comment\n\n"], ids=["empty", "comment"])
@pytest.mark.parametrize("options", [[], FORM, ["--task", "rank"], ["--task", "rank", "--features", 6], "load"], ids=str)
def test_nothing_to_learn(capsys, files, pipe, tmp_path, text, options):
    if options == "load":
        run(capsys, files["a"], "--save", tmp_path / "before")
        options = ["--load", tmp_path / "before"]
    path = tmp_path / "empty.svm"
    path.write_text(text)
    for train in (str(path), pipe(text.encode())):
        assert f"TRAIN={train!r} has no rows" in usage_error(capsys, train, *options, "--save", tmp_path / "model")
        assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("data", ["a", "aq"])
def test_nothing_to_score(capsys, files, pipe, tmp_path, data):
    path = tmp_path / "empty.svm"
    path.write_text("# a comment\n")
    arguments = [files[data], "--save", tmp_path / "model", "--test"]
    assert f"--test={str(path)!r} has no rows" in usage_error(capsys, *arguments, path)
    assert not (tmp_path / "model").exists()
    end = pipe(b"")
    code, rows, err = run(capsys, *arguments, end)  # which is not looked into before
    assert code == 1 and rows[0][0] != "0" and sklearn_predtron.load(tmp_path / "model").t_ > 0
    assert err == f"error: --test={end!r} has no rows; there is no held-out score\n"


# ----------------------------------------------------------------------------------------------------- arguments and errors


@pytest.mark.parametrize("kind", ["", "q"])
def test_scores_that_overflow(capsys, files, tmp_path, kind):
    huge = "".join(f"0{kind and ' qid:99'}{row}\n" for row in HUGE)
    path = tmp_path / "test.svm"
    path.write_bytes(content(files["test" + kind]) + huge.encode())
    large = ["--chunk", 4, "--features", 6, "--norm", "l2"]
    arguments = [*large, "--save", tmp_path / "model", "--predictions", tmp_path / "p"]
    code, rows, err = run(capsys, files["a" + kind], *arguments, "--test", path)
    before = run(capsys, files["a" + kind], *large, "--test", files["test" + kind])
    assert code == 1 and rows == before[1] and sklearn_predtron.load(tmp_path / "model").t_ > 0
    where = "line 81: in the chunk that begins here" if kind == "" else "in the chunk that begins with qid:99"
    assert where in err and "the scores overflow; scale the features down; the held-out score is of the rows before it" in err
    assert err.count("\n") == 1 and len((tmp_path / "p").read_text().splitlines()) == 80


@pytest.mark.parametrize("text", ["", "1 1:2\n", "junk"])
def test_a_file_that_is_no_model(capsys, files, tmp_path, text):
    (tmp_path / "model").write_text(text)
    message = usage_error(capsys, files["a"], "--load", tmp_path / "model")
    assert "holds no fitted estimator: it is " in message and "; accepted are files that --save wrote" in message


class Opened:
    """Runs as it is unpickled."""

    def __reduce__(self):
        return os.mkdir, ("opened",)


def test_a_pickle_is_not_read(capsys, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    joblib.dump(Opened(), "model")
    assert "no model file that this version wrote" in usage_error(capsys, files["a"], "--load", "model")
    assert not os.path.exists("opened")


@pytest.mark.parametrize("data", ["a", "aq"])
@pytest.mark.parametrize("options", [[], ["--no-shuffle"], ["--seed", 3, "--chunk", 24]], ids=str)
def test_a_row_that_no_learner_takes_is_named_by_its_place(capsys, files, tmp_path, data, options):
    """In the file, not in the shuffled chunk."""
    lines = content(files[data]).splitlines(keepends=True)
    lines[37] = b"0 qid:4 2:1e200\n" if data == "aq" else b"0 2:1e200\n"
    path = tmp_path / "long.svm"
    path.write_bytes(b"".join(lines))
    code, rows, err = run(capsys, path, *options, "--save", tmp_path / "model")
    first = 24 if "--chunk" in options else 0
    where = f"line {first + 1}: in the chunk that begins here" if data == "a" else f"begins with qid:{first // 8}"
    assert code == 1 and where in err and err.count("\n") == 1 and (tmp_path / "model").exists() == (first > 0)
    norm = "scaled" if first else "auto"
    assert f": X[{37 - first}] has the length 1e+200, and 1e+200 is its largest magnitude; norm='{norm}' accepts rows" in err
    assert rows[0][0] == str(first // 8 if data == "aq" else first)
    assert ("rounds before it are kept" if first else "there is no trained model yet") in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seed", -1], "'-1' must be an integer from 0 to 4294967295"),
        (["--seed", 2**32], "'4294967296' must be an integer from 0 to 4294967295"),
        (["--seed", "one"], "'one' must be an integer from 0 to 4294967295"),
        (["--features", "9" * 5000], "must be an integer from 1 to "),
        (["--holdout", 1], "'1' must be a number between 0 and 1"),
        (["--holdout", "x"], "'x' must be a number between 0 and 1"),
        (["--features", 2**31], "'2147483648' must be an integer from 1 to 2147483647"),
        (["--classes", "nan", 1], "'nan' must be a finite number"),
        (["--reject-cost", "0.1:one"], "the label 'one' must be a finite number; accepted are [0, 1, 2]"),
        (["--reject-cost", "0.1:inf"], "'inf' must be a finite number"),
    ],
    ids=str,
)
def test_arguments_out_of_range(capsys, files, options, message):
    assert message in usage_error(capsys, files["a"], *options)


def test_arguments_at_the_ends_of_their_ranges(capsys, files):
    assert run(capsys, files["a"], "--seed", 2**32 - 1, "--chunk", 10**30)[0] == 0


def test_predictions_on_a_full_disk(capsys, files, tmp_path):
    arguments = [files["a"], "--test", files["test"], "--save", tmp_path / "model"]
    code, rows, err = run(capsys, *arguments, "--predictions", "/dev/full")
    assert code == 1 and rows == run(capsys, *arguments)[1] and sklearn_predtron.load(tmp_path / "model").t_ == 200
    assert err == "error: --predictions='/dev/full': No space left on device; the held-out score is of the rows before it\n"


def test_nobody_reads_the_predictions(capsys, files):
    """What reads them may stop, as head does; the score is of all rows."""
    end, writing = os.pipe()
    os.close(end)
    arguments = [files["a"], "--test", files["test"]]
    found = run(capsys, *arguments, "--chunk", 1, "--predictions", f"/dev/fd/{writing}")
    os.close(writing)
    assert found == run(capsys, *arguments, "--chunk", 1) and found[0] == 0


def test_predictions_replace_no_link(capsys, files, tmp_path):
    (tmp_path / "link").symlink_to("target")
    assert run(capsys, files["a"], "--test", files["test"], "--predictions", tmp_path / "link")[0] == 0
    assert (tmp_path / "link").is_symlink() and len((tmp_path / "target").read_text().splitlines()) == 80


@pytest.mark.parametrize("name", ["save", "predictions"])
def test_what_is_read_is_not_written_over(capsys, files, tmp_path, name):
    copies = {kind: tmp_path / f"{kind}.svm" for kind in ("a", "test")}
    for kind, path in copies.items():
        path.write_bytes(content(files[kind]))
    (tmp_path / "link").symlink_to(copies["test"])
    arguments = [copies["a"], "--test", copies["test"], "--predictions", tmp_path / "p"]
    for path, read in [(copies["a"], "TRAIN"), (copies["test"], "--test"), (tmp_path / "link", "--test")]:
        message = f"--{name} and {read} are the same file {str(path)!r}"
        assert message in usage_error(capsys, *arguments, f"--{name}", path)
    message = "--predictions and --save are the same file"
    assert message in usage_error(capsys, *arguments, "--save", tmp_path / "p")
    assert all(content(path) == content(files[kind]) for kind, path in copies.items()) and not (tmp_path / "p").exists()


# ------------------------------------------------------------------------------------------------------------------- saving


def test_saving_keeps_the_link_and_the_mode(capsys, files, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/model")
    mask = os.umask(0o027)
    try:
        assert run(capsys, files["a"], "--save", tmp_path / "link")[0] == 0
    finally:
        os.umask(mask)
    model = tmp_path / "folder" / "model"
    assert model.stat().st_mode & 0o777 == 0o640
    model.chmod(0o604)
    assert run(capsys, files["a"], "--load", tmp_path / "link", "--save", tmp_path / "link")[0] == 0
    assert (tmp_path / "link").is_symlink() and sklearn_predtron.load(model).t_ == 400
    assert model.stat().st_mode & 0o777 == 0o604 and os.listdir(tmp_path / "folder") == ["model"]


@pytest.mark.parametrize("kind", ["pipe", "link to a pipe", "folder", "link to itself", "no folder", "link to no folder"])
def test_saving_replaces_files_only(capsys, files, tmp_path, monkeypatch, kind):
    path, other = tmp_path / "model", tmp_path / "other"
    if kind == "folder":
        path.mkdir()
    elif "link" in kind:
        path.symlink_to(path if "itself" in kind else other / "model" if "no" in kind else other)
    if "pipe" in kind:
        os.mkfifo(other if "link" in kind else path)
    monkeypatch.setattr(_run, "run", None)  # before anything is learned
    before = sorted(os.listdir(tmp_path))
    path = path / "model" if kind == "no folder" else path
    assert f"--save={str(path)!r} is not a file that can be written" in usage_error(capsys, files["a"], "--save", path)
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()], ids=["full", "stopped"]
)
def test_a_failed_write_leaves_what_was_there(capsys, files, tmp_path, monkeypatch, error):
    def fail(parts):
        raise error

    path = tmp_path / "model"
    path.write_text("old")
    monkeypatch.setattr(array_file, "check_sum_of", fail)
    code, rows, err = run(capsys, files["a"], "--test", files["test"], "--save", path)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["model"] and err.count("\n") == 1
    if isinstance(error, OSError):
        assert code == 1 and rows[0][0] == "200" and rows[0][2] != "-"
        assert err == f"error: --save={str(path)!r}: No space left on device; the model is not saved\n"
    else:
        assert code == 130 and "stopped from the keyboard" in err


def test_a_disk_that_fills_up(files, tmp_path):
    """As a program that may write no file of more than a few bytes."""
    (tmp_path / "model").write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        done = run_program(files["a"], "--save", tmp_path / "model")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert done.returncode == 1 and "PredtronClassifier" in done.stdout
    assert done.stderr == f"error: --save={str(tmp_path / 'model')!r}: File too large; the model is not saved\n"
    assert (tmp_path / "model").read_text() == "old" and os.listdir(tmp_path) == ["model"]


# ----------------------------------------------------------------------------------------------------------- standard output


@pytest.mark.parametrize("arguments", ["learn", "version"])
def test_nobody_reads_the_table(files, tmp_path, arguments):
    words = {"learn": [files["a"], "--save", tmp_path / "model"], "version": ["--version"]}[arguments]
    end, writing = os.pipe()
    os.close(end)
    done = (run_program if arguments == "learn" else program)(*words, stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")
    assert arguments != "learn" or sklearn_predtron.load(tmp_path / "model").t_ == 200


def test_nobody_reads_the_errors(files, tmp_path):
    end, writing = os.pipe()
    os.close(end)
    path = tmp_path / "broken.svm"
    path.write_bytes(content(files["a"]) + b"oops\n")
    done = run_program(path, "--save", tmp_path / "model", stderr=writing)
    os.close(writing)
    assert done.returncode == 1 and sklearn_predtron.load(tmp_path / "model").t_ == 200


def test_standard_output_on_a_full_disk(files, tmp_path):
    with open("/dev/full", "w") as full:
        done = run_program(files["a"], "--save", tmp_path / "model", stdout=full)
    assert done.returncode == 1 and done.stderr == "error: standard output: No space left on device\n"
    assert sklearn_predtron.load(tmp_path / "model").t_ == 200


def test_a_name_that_cannot_be_written(files, tmp_path):
    """The output's encoding may lack a letter of the file's name."""
    path = tmp_path / "\u00fc\udcff.svm"
    path.write_bytes(content(files["a"]))
    for encoding, name in [("ascii", "\\xfc\\udcff.svm"), ("utf-8", "\u00fc\\udcff.svm")]:
        page = io.TextIOWrapper(io.BytesIO(), encoding)
        with redirect_stdout(page):
            assert job.main([str(path)]) == 0
        assert name in page.buffer.getvalue().decode(encoding)


def test_no_standard_output_at_all(files, tmp_path):
    """The table is lost, which is an error, and the model is saved."""
    for options, expected in (([], (1, "error: standard output: it is closed\n")), (["--quiet"], (0, ""))):
        done = program(files["a"], "--stream", *options, "--save", tmp_path / "model", preexec_fn=partial(os.close, 1))
        assert (done.returncode, done.stderr) == expected and sklearn_predtron.load(tmp_path / "model").t_ == 200


# ------------------------------------------------------------------------------------------------------------ byte order mark
