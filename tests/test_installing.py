"""Where it installs: other compilers, the script beside the module, workflows that can be run at home, a valid citation."""

import os
import re
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path

import pytest

import sklearn_predtron

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "sklearn_predtron"
SOURCES = sorted(PACKAGE.rglob("*.c"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
COMPILERS = [name for name in ["gcc", "clang"] if shutil.which(name)]
pytestmark = pytest.mark.skipif(not (ROOT / ".ci" / "run").exists(), reason="the tests do not run from a checkout")


def project():
    return (ROOT / "pyproject.toml").read_text()


def versions_of_python():
    """Return the minor versions that the project says it is for."""
    return re.findall(r'"Programming Language :: Python :: 3\.(\d+)"', project())


FREE_THREADED = ["14", "15"]  # from 3.14 on Python supports these builds


def builds_of_python():
    """Return the builds that wheels are for, by cibuildwheel's names without "cp3"."""
    return [*versions_of_python(), *(f"{minor}t" for minor in FREE_THREADED)]


# --------------------------------------------------------------------------------------------------------------- compilers


def test_one_header_knows_the_compilers():
    asking = {}
    for path in [*SOURCES, *PACKAGE.rglob("*.h"), *PACKAGE.rglob("*.pyx"), *PACKAGE.rglob("*.pxd")]:
        words = re.findall(r"__(?:GNUC|GLIBC)__|__has_attribute|always_inline|target_clones", path.read_text())
        if words:
            asking[path.name] = words
    assert set(asking) == {"compiler.h"}


@pytest.mark.skipif(not COMPILERS, reason="there is neither gcc nor clang")
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_plain_c_is_what_the_standard_says(source):
    """No vectors, attributes, builtins or arrays of variable length: what a compiler takes that knows nothing else."""
    strict = ["-std=c11", "-pedantic-errors", "-Wall", "-Wextra", "-Wvla", "-Werror", "-fsyntax-only", "-DSKLEARN_PREDTRON_PLAIN"]
    folders = [f"-I{folder}" for folder in sorted({path.parent for path in PACKAGE.rglob("*.h")})]
    for compiler in COMPILERS:
        done = subprocess.run([compiler, *strict, *folders, source], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found = subprocess.run([compiler, "-E", "-P", *strict[:1], strict[-1], *folders, source], capture_output=True, text=True)
        own = found.stdout[found.stdout.index("static inline const char *instructions") :]
        assert not re.search(r"vector_size|__builtin_(?:cpu|c[lt]z|prefetch|expect|shuffle|convert)", own)


# -------------------------------------------------------------------------------------------------------------- the script


def script():
    """Return the module and the function that the script calls."""
    return re.search(r'^predtron = "([\w.]+):(\w+)"$', project(), re.M).groups()


@pytest.mark.parametrize(
    ("started", "named"),
    [
        ("predtron", "predtron"),
        ("/some/where/bin/predtron", "predtron"),
        ("predtron.exe", "predtron"),
        ("/packages/sklearn_predtron/__main__.py", "python -m sklearn_predtron"),
    ],
)
def test_messages_name_what_was_typed(started, named, monkeypatch, capsys):
    module, name = script()
    monkeypatch.setattr(sys, "argv", [started, "--nothing-like-it"])
    with pytest.raises(SystemExit) as stop:
        getattr(import_module(module), name)()
    assert stop.value.code == 2 and capsys.readouterr().err.startswith(f"{named}: error: ")


def test_the_script_does_what_the_module_does(tmp_path):
    """As a script of pip's does it; the demonstration is tested beside."""
    module, name = script()
    text = f"import sys; from {module} import {name}; sys.argv[0] = 'predtron'; sys.exit({name}())"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = [
        subprocess.run(
            [sys.executable, *start, "--help"], capture_output=True, text=True, cwd=tmp_path, env=environment, check=True
        )
        for start in (["-c", text], ["-m", "sklearn_predtron"])
    ]
    usage, other = (re.sub(r"\s+", " ", done.stdout) for done in run)
    assert usage.startswith("usage: predtron fit TRAIN") and usage == other


def test_a_source_that_is_not_compiled_says_so(tmp_path):
    """As after `pip install .`, for who starts Python in the checkout."""
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    run = subprocess.run([sys.executable, "-m", PACKAGE.name], capture_output=True, text=True, cwd=tmp_path)
    last = run.stderr.splitlines()[-1]
    assert run.returncode and last.startswith(f"ImportError: The source of sklearn_predtron in {tmp_path / PACKAGE.name} is not")
    assert "start Python in another folder" in last


# ------------------------------------------------------------------------------------------------------------ the workflows


def parsed(path):
    yaml = pytest.importorskip("yaml", reason="PyYAML is of the extra `test`")
    return yaml.safe_load(path.read_text())


def steps_of(workflow):
    return [step for job in workflow["jobs"].values() for step in job.get("steps", [])]


def test_workflows_are_there():
    assert [path.stem for path in WORKFLOWS] == ["docs", "release", "tests", "wheels"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_scripts_that_exist(path):
    workflow = parsed(path)
    assert {"name", True, "permissions", "jobs"} <= set(workflow)  # YAML reads the word on as True
    assert all(("runs-on" in job) != ("uses" in job) for job in workflow["jobs"].values())
    needed = {name for job in workflow["jobs"].values() for name in [job.get("needs")] if name}
    assert needed <= set(workflow["jobs"])
    called = [job["uses"] for job in workflow["jobs"].values() if "uses" in job]
    assert all(place.startswith("$/") and (ROOT / place[2:]).exists() for place in called)
    steps = steps_of(workflow)
    assert all(("run" in step) != ("uses" in step) for step in steps)
    commands = [step["run"] for step in steps if "run" in step]
    assert commands or called
    for command in commands:
        found = re.fullmatch(r"(\.ci/\w+)( [\w$\"{}. ]+)?", command)
        assert found, f"{command!r} is not a script of .ci and its arguments"
        assert os.access(ROOT / found[1], os.X_OK), f"{found[1]} cannot be run"


def test_workflows_run_all_steps_and_versions():
    workflow = parsed(ROOT / ".github" / "workflows" / "tests.yml")
    tests = workflow["jobs"]
    assert re.fullmatch(r"\d+ \d+ \* \* \d", workflow[True]["schedule"][0]["cron"])  # weekly
    steps = re.search(r"^steps=\((.*)\)$", (ROOT / ".ci" / "full").read_text(), re.M)[1].split()
    others = [step for step in steps if step != "freethreading"]  # which has a job of its own, with other versions
    assert tests["full"]["strategy"]["matrix"]["step"] == others and len(others) == len(steps) - 1
    assert tests["freethreading"]["strategy"]["matrix"]["python"] == [f"3.{minor}t" for minor in FREE_THREADED]
    assert tests["run"]["strategy"]["matrix"]["python"] == [f"3.{minor}" for minor in versions_of_python()]


def test_wheels_are_built_for_all_versions():
    """The classifiers, cibuildwheel's identifiers and the check of a release name the same builds."""
    patterns = re.search(r'^build = "(.+)"$', project(), re.M)[1].split()
    known = [f"3{minor}{free}" for minor in range(8, 20) for free in ("", "t")]
    built = {name for name in known if any(fnmatch(f"cp{name}-manylinux_x86_64", pattern) for pattern in patterns)}
    assert built == {f"3{build}" for build in builds_of_python()}
    assert set(FREE_THREADED) <= set(versions_of_python())
    assert '"Programming Language :: Python :: Free Threading :: ' in project()
    assert re.search(r'^requires-python = ">=3\.(\d+)"$', project(), re.M)[1] == versions_of_python()[0]
    release = re.search(r"for python in ([\dt ]+);", (ROOT / ".ci" / "release").read_text())[1].split()
    assert release == [f"3{build}" for build in builds_of_python()]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned(path):
    """Each action is a commit beside its version, no checkout leaves a token, and Dependabot updates the actions."""
    for line in re.findall(r"uses: (.+)$", path.read_text(), re.M):
        assert line.startswith("$/") or re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line
    for step in steps_of(parsed(path)):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
    updates = parsed(ROOT / ".github" / "dependabot.yml")["updates"]
    assert [update["package-ecosystem"] for update in updates] == ["github-actions"]


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.stem)
def test_forms_of_issues(path):
    form = parsed(path)
    assert {"name", "description", "body"} <= set(form)
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert fields and len({field["id"] for field in fields}) == len(fields)
    assert all(field["attributes"]["label"] for field in fields)


# ------------------------------------------------------------------------------------------------------------------- release


def released(folder, version):
    """Copy what `.ci/release` looks at, as if that version was to be released."""
    for name in ["pyproject.toml", "CITATION.cff", "CHANGELOG.md", "sklearn_predtron/_support/version.py", ".ci/release"]:
        text = (ROOT / name).read_text().replace(sklearn_predtron.__version__, version)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(re.sub(r"\(unreleased\)", "(2026-01-31)", text))
    (folder / "tests" / "golden").mkdir(parents=True)
    (folder / "tests" / "golden" / f"{version}.pkl.gz").touch()
    (folder / ".ci" / "release").chmod(0o755)
    return folder / ".ci" / "release"


def test_a_release_is_the_version_everywhere(tmp_path):
    version = re.sub(r"\.dev\d+$", "", sklearn_predtron.__version__)
    check, dist = released(tmp_path, version), tmp_path / "dist"

    def refusal(*words):
        done = subprocess.run([check, *words], capture_output=True, text=True)
        assert done.returncode == (1 if done.stderr else 0)
        return done.stderr

    assert refusal(f"v{version}") == ""
    assert "is not vMAJOR.MINOR.PATCH" in refusal(version)
    assert "pyproject.toml has not version 9.9.9" in refusal("v9.9.9")
    dist.mkdir()
    (dist / f"sklearn_predtron-{version}.tar.gz").touch()
    assert f"has no wheel of 3{versions_of_python()[0]} for manylinux" in refusal(f"v{version}", dist)
    for build in builds_of_python():
        for system in ["manylinux_2_28_x86_64", "musllinux_1_2_x86_64", "macosx_11_0_arm64", "win_amd64"]:
            (dist / f"sklearn_predtron-{version}-cp3{build.rstrip('t')}-cp3{build}-{system}.whl").touch()
    assert refusal(f"v{version}", dist) == ""
    (dist / "sklearn_predtron-0.0.1.tar.gz").touch()
    assert "sklearn_predtron-0.0.1.tar.gz is not of" in refusal(f"v{version}", dist)
    (tmp_path / "CITATION.cff").write_text("version: 0.0.1\n")
    assert "CITATION.cff has not version" in refusal(f"v{version}")


def test_the_citation():
    citation = parsed(ROOT / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors", "version", "license"} <= set(citation)
    assert citation["version"] == sklearn_predtron.__version__
    paper = citation["references"][0]
    assert [author["family-names"] for author in paper["authors"]] == ["Jain", "Natarajan", "Tewari"] and paper["year"] == 2015
