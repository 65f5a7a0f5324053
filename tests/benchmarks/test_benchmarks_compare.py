import json
import os
import subprocess
import sys
from unittest.mock import MagicMock

import pytest

from benchmarks import commands
from benchmarks.compare import builds, command
from benchmarks.compare.builds import Build, built
from benchmarks.compare.cases import CASES, GROUPS
from benchmarks.compare.comparison import Comparison, NotRun, Worker, compared
from benchmarks.compare.worker import Repetitions
from benchmarks.measure import Case

HERE = Build("here", "0", builds.ROOT)
QUICK = "norms/rkhs"


# --------------------------------------------------------------------------------------------------------------------- builds


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Two commits of a package that is a single number; what is compiled is noted."""
    root, compiled = tmp_path / "root", []
    (root / "sklearn_predtron").mkdir(parents=True)
    (root / "tests").mkdir()
    (root / "tests" / "test.py").write_text("")
    (root / ".gitignore").write_text("build/\n")
    git = ["git", "-c", "user.name=n", "-c", "user.email=e", "-C", str(root)]
    subprocess.run([*git, "init", "-q"], check=True)
    for number in "12":
        (root / "sklearn_predtron" / "core.pyx").write_text(number)
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", number], check=True)

    def compile_(directory):
        compiled.append((directory / "sklearn_predtron" / "core.pyx").read_text())
        (directory / builds.INTERPRETER).write_text(sys.version)

    monkeypatch.setattr(builds, "ROOT", root)
    monkeypatch.setattr(builds, "CACHE", root / "build" / "compare")
    monkeypatch.setattr(builds, "_compile", compile_)
    return root, compiled


def test_a_revision_is_built_once(repository):
    root, compiled = repository
    first, again = built("HEAD~1"), built("HEAD~1")
    assert first == again and compiled == ["1"]
    assert first.directory == root / "build" / "compare" / first.commit and first.revision == "HEAD~1"
    assert (first.directory / "sklearn_predtron" / "core.pyx").read_text() == "1"
    assert not (first.directory / "tests").exists()
    assert [path.name for path in first.directory.parent.iterdir()] == [first.commit]


def test_another_interpreter_builds_again(repository):
    _, compiled = repository
    (built("HEAD").directory / builds.INTERPRETER).write_text("another")
    built("HEAD")
    assert compiled == ["2", "2"]


def test_the_working_tree_is_built_as_it_is_now(repository):
    root, _ = repository
    (root / "sklearn_predtron" / "core.pyx").write_text("3")
    (root / "sklearn_predtron" / "new.pyx").write_text("untracked")
    directory = built(None).directory
    written = {path.name: path.read_text() for path in (directory / "sklearn_predtron").iterdir()}
    assert written == {"core.pyx": "3", "new.pyx": "untracked"}
    (directory / "sklearn_predtron" / "core.so").write_text("compiled")
    times = [path.stat().st_mtime_ns for path in (directory / "sklearn_predtron").iterdir()]
    built(None)
    assert times == [path.stat().st_mtime_ns for path in (directory / "sklearn_predtron").iterdir()]


def test_what_has_left_the_working_tree_is_not_imported(repository):
    root, _ = repository
    (root / "sklearn_predtron" / "new.pyx").write_text("untracked")
    directory = built(None).directory
    (directory / "sklearn_predtron" / "new.so").write_text("compiled")
    (root / "sklearn_predtron" / "new.pyx").unlink()
    built(None)
    assert [path.name for path in (directory / "sklearn_predtron").iterdir()] == ["core.pyx"]


def test_an_unknown_revision(repository):
    with pytest.raises(ValueError, match="no-such"):
        built("no-such")
    with pytest.raises(SystemExit, match=r"compare: git rev-parse .*no-such"):
        commands.main(["compare", "no-such"])


def test_what_does_not_compile_is_not_kept(repository, monkeypatch):
    root, _ = repository

    def fail(directory):
        raise RuntimeError("does not build")

    monkeypatch.setattr(builds, "_compile", fail)
    with pytest.raises(RuntimeError, match="does not build"):
        built("HEAD")
    assert list((root / "build" / "compare").iterdir()) == []


def test_the_compiler_is_quoted(tmp_path):
    (tmp_path / "setup.py").write_text("raise SystemExit('core.pyx: no such name')")
    with pytest.raises(RuntimeError, match=r"does not build:\ncore\.pyx: no such name"):
        builds._compile(tmp_path)
    assert not (tmp_path / builds.INTERPRETER).exists()


# -------------------------------------------------------------------------------------------------------------------- workers


@pytest.mark.slow
def test_a_worker_times_its_own_package(monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "none of them")
    with Worker(HERE) as worker:
        assert 0 < worker.seconds(QUICK) < 10
        assert worker.conditions["versions"]["python"] and "openblas" in worker.conditions["blas"]
        if hasattr(os, "sched_getaffinity"):
            assert len(os.sched_getaffinity(worker._process.pid)) == 1
        with pytest.raises(NotRun, match="KeyError"):
            worker.seconds("no such case")
        assert worker.seconds(QUICK) > 0


def test_a_worker_refuses_another_package(tmp_path, capfd):
    """One that is not in its directory is found elsewhere on the path."""
    with pytest.raises(RuntimeError, match="has ended with code 1"):
        Worker(Build("elsewhere", "0", tmp_path))
    assert f"which is not below {tmp_path}" in capfd.readouterr().err


def test_a_case_is_made_once_and_its_errors_are_answers():
    made = []

    def counting():
        made.append(0)
        return Case("counting", lambda _: None)

    repetitions = Repetitions({"counting": counting, "failing": lambda: Case("failing", lambda _: 1 / 0)})
    assert repetitions.answer("counting")["seconds"] >= 0 and repetitions.answer("counting")["seconds"] >= 0
    assert repetitions.answer("failing") == {"error": "ZeroDivisionError: division by zero"}
    assert len(made) == 1
    repetitions.answer("counting")
    assert len(made) == 2


# ---------------------------------------------------------------------------------------------------------------------- pairs


def test_turns_are_abba():
    seen = []
    timers = [lambda case, side=side: seen.append(side) or len(seen) for side in "AB"]
    found = compared("throughput/x", timers, 4)
    assert "".join(seen) == "AB" + "ABBAABBA"
    assert found.seconds == ([3, 6, 7, 10], [4, 5, 8, 9]) and found.group == "throughput"


def test_ratios_are_of_pairs():
    found = Comparison("norms/x", ([1.0, 2.0, 4.0], [2.0, 2.0, 2.0]))
    assert found.ratios == [2.0, 1.0, 0.5]
    assert (found.ratio, found.ratio_of_least) == (1.0, 2.0)
    assert found.spread == pytest.approx((0.6, 1.8))
    assert command.line(found).split() == ["norms/x", "1.000", "(0.600-1.800)", "2.000"]
    summary = found.summary()
    assert (summary["case"], summary["ratio"], summary["before_ms"]) == ("norms/x", 1.0, 2000.0)


def test_a_case_that_one_revision_lacks_is_named_and_left_out():
    def lacking(case):
        raise NotRun("AttributeError: no attribute 'PredtronLabelRanker'")

    found = compared("stream/x", (lacking, lambda case: 1.0), 3)
    assert found.seconds == ([], []) and list(found.errors) == ["before"]
    assert "not run before: AttributeError" in command.line(found)
    assert found.summary() == {"case": "stream/x", "errors": found.errors}
    both = Comparison("stream/y", ([1.0, 1.0], [2.0, 2.0])), Comparison("stream/z", ([1.0, 1.0], [8.0, 8.0]))
    assert command.group_means([found, *both]) == {"stream": pytest.approx(4.0)}


# -------------------------------------------------------------------------------------------------------------------- command


@pytest.mark.slow
def test_compare_prints_and_keeps_the_ratios(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "built", lambda revision: HERE)
    file = tmp_path / "found.json"
    commands.main(["compare", "HEAD", QUICK, QUICK, "--pairs", "3", "--json", str(file)])
    printed = capsys.readouterr().out
    assert printed.count(QUICK) == 1 and "geometric mean" in printed
    kept = json.loads(file.read_text())
    assert kept["before"] == {"revision": "here", "commit": "0"} and kept["pairs"] == 3 and kept["blas"]
    assert kept["groups"] == {"norms": pytest.approx(kept["cases"][0]["ratio"])}


def test_a_case_that_runs_in_neither_is_an_error(monkeypatch):
    monkeypatch.setattr(command, "built", lambda revision: HERE)
    monkeypatch.setattr(command, "Worker", MagicMock())
    monkeypatch.setattr(command, "compared", lambda name, *_: Comparison(name, errors={"before": "a", "after": "b"}))
    with pytest.raises(SystemExit, match=f"neither revision runs {QUICK}"):
        commands.main(["compare", "HEAD", QUICK])


@pytest.mark.parametrize("arguments", [["compare", "HEAD", "nonsense"], ["compare", "HEAD", "--pairs", "1"], ["compare"]])
def test_wrong_arguments(arguments, capsys):
    with pytest.raises(SystemExit, match="2"):
        commands.parse(arguments)
    assert (arguments[-1] if len(arguments) > 1 else "REV") in capsys.readouterr().err


def test_groups_are_chosen_by_name():
    assert command.chosen("norms") == [f"norms/{name}" for name in GROUPS["norms"]]
    assert command.chosen(QUICK) == [QUICK]


@pytest.mark.parametrize("name", CASES)
def test_case_runs(name, small):
    """On few rows, from a new learner each time."""
    case = CASES[name]()
    first, second = case.prepare(), case.prepare()
    assert first is None or first is not second
    case.run(first)
    case.run(second)
    if first is not None:
        assert first.t_ == second.t_ > 0


@pytest.fixture
def small(monkeypatch):
    """Data sets of few rows."""
    from benchmarks.compare import cases

    for name in ("gaussian_classes", "gaussian_ranks", "label_sets", "text", "graded_queries"):
        whole = getattr(cases, name)
        few = (lambda n, documents, *about, whole=whole: whole(2, documents, *about)) if name == "graded_queries" else None
        monkeypatch.setattr(cases, name, few or (lambda n, *about, whole=whole: whole(120, *about)))
