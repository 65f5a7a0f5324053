"""Revisions built in directories of their own, which are kept."""

import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
CACHE = ROOT / "build" / "compare"
WORKING = "working tree"
NEEDED = ("--", ".", ":(exclude)benchmarks", ":(exclude)tests", ":(exclude)doc")
INTERPRETER = "interpreter"


@dataclass(frozen=True)
class Build:
    """A revision as it was asked for, its commit, and the directory of its package."""

    revision: str
    commit: str
    directory: Path


def built(revision: str | None) -> Build:
    """Build a revision, or the working tree for None, as far as that is not done yet."""
    if revision is None:
        return _working_tree()
    commit = _git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").decode().strip()
    directory = CACHE / commit
    if not _is_built(directory):
        shutil.rmtree(directory, ignore_errors=True)
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            tree = Path(scratch) / commit
            _unpack(commit, tree)
            _compile(tree)
            tree.rename(directory)
    return Build(revision, commit, directory)


def _working_tree() -> Build:
    """Build what the working tree holds now; only what is new since the last time is compiled."""
    directory = CACHE / "working"
    names = _git("ls-files", "-z", "--cached", "--others", "--exclude-standard", *NEEDED).decode().split("\0")
    present = {name for name in names if name and (ROOT / name).exists()}
    if not _is_built(directory) or _copied(directory) - present:
        shutil.rmtree(directory, ignore_errors=True)
    for name in present:
        copy, source = directory / name, (ROOT / name).read_bytes()
        if not copy.exists() or copy.read_bytes() != source:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(source)
    _compile(directory)
    return Build(WORKING, _git("rev-parse", "HEAD").decode().strip(), directory)


def _copied(directory: Path) -> set[str]:
    """Sources in a directory; one that has left the working tree would still be compiled and imported."""
    kinds = (".py", ".pyx", ".pxd", ".c", ".h")
    package = directory / "sklearn_predtron"
    return {path.relative_to(directory).as_posix() for path in package.rglob("*") if path.suffix in kinds}


def _unpack(commit: str, directory: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(_git("archive", commit, *NEEDED))) as archive:
        archive.extractall(directory, filter="data")


def _compile(directory: Path) -> None:
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=directory,
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{directory} does not build:\n{done.stderr[-4000:]}")
    (directory / INTERPRETER).write_text(sys.version)


def _is_built(directory: Path) -> bool:
    """Whether this interpreter has built it."""
    stamp = directory / INTERPRETER
    return stamp.exists() and stamp.read_text() == sys.version


def _git(*arguments: str) -> bytes:
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=False, capture_output=True)
    if done.returncode:
        raise ValueError(f"git {' '.join(arguments)} fails: {done.stderr.decode().strip() or 'there is no such revision'}")
    return done.stdout
