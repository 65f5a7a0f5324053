"""Run mutants of the package, each against the tests that own what it breaks: `python -m tests.mutants --help`."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .mutants import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
FILES = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
BUILD = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
PYTEST = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "1", "-p", "no:cacheprovider", "--no-header"]
FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
LIMIT = 900  # seconds: a mutant that takes longer does not end


def copy_checkout(target: Path) -> None:
    """Copy the files of the checkout and what is built, with their times, so that nothing is built again."""
    names = subprocess.run(FILES, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    built = [path for folder in ("build", "sklearn_predtron") for path in (ROOT / folder).rglob("*") if is_built(path)]
    for path in [*(ROOT / name for name in names if name), *built]:
        if path.is_file():
            copy = target / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy)


def is_built(path: Path) -> bool:
    """Return whether the compilers wrote a file."""
    return path.suffix == ".so" or path.is_relative_to(ROOT / "build")


def mutated(text: str, mutant: Mutant) -> str:
    """Return the text with the mutant's replacement; raise ValueError unless there is one place for it."""
    count = text.count(mutant.old)
    if count != 1 or mutant.old == mutant.new:
        raise ValueError(f"{mutant.name}: the text to replace must occur once in {mutant.file}, and be changed; found {count}.")
    return text.replace(mutant.old, mutant.new)


def build(root: Path) -> set[str]:
    """Build what changed in a checkout; return the libraries that are new, as paths that end before the interpreter's tag."""
    before = {path: path.stat().st_mtime_ns for path in root.rglob("sklearn_predtron/**/*.so")}
    done = subprocess.run(BUILD, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise RuntimeError(f"The build failed:\n{done.stdout}")
    after = root.rglob("sklearn_predtron/**/*.so")
    new = (path.relative_to(root) for path in after if path.stat().st_mtime_ns != before.get(path))
    return {path.as_posix().partition(".")[0] for path in new}


def first_failure(root: Path, tests: list[str], limit: float | None = None) -> str | None:
    """Run tests of a checkout; return the name of the first that fails, or None; no end within the limit is a failure."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen([*PYTEST, *tests], cwd=root, env=environment, start_new_session=True, **pipes) as process:
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return f"no end after {limit:.0f} s"
    failed = FAILED.search(output)
    if failed is None and process.returncode:
        raise RuntimeError(f"pytest ended with {process.returncode} and no test failed:\n{output}")
    return failed and failed[1]


def killer(whole: Path, place: Path, mutant: Mutant) -> str | None:
    """Return the first test that fails in a mutated copy of a built checkout, or None if the mutant survives."""
    shutil.copytree(whole, place)
    try:
        path = place / mutant.file
        path.write_text(mutated(path.read_text(), mutant))
        if path.suffix in (".pyx", ".pxd") and mutant.file.rpartition(".")[0] not in build(place):
            raise RuntimeError(f"{mutant.name}: {mutant.file} was not built again.")
        return first_failure(place, list(mutant.tests), LIMIT)
    finally:
        shutil.rmtree(place)


def parse(arguments: list[str] | None = None) -> list[Mutant]:
    """Read the command line: the mutants it asks for."""
    known = {mutant.name: mutant for mutant in MUTANTS}
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"mutants, all by default: {', '.join(known)}")
    names = parser.parse_args(arguments).names or list(known)
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"{', '.join(unknown)}: not known")
    return [known[name] for name in names]


def main(arguments: list[str] | None = None) -> int:
    """Run the mutants one after the other; 1 if one survives, or if the tests fail without any."""
    mutants, survivors = parse(arguments), []
    with tempfile.TemporaryDirectory() as scratch:
        whole = Path(scratch, "whole")
        copy_checkout(whole)
        build(whole)
        start = time.monotonic()
        failed = first_failure(whole, list(dict.fromkeys(test for mutant in mutants for test in mutant.tests)))
        print(f"no mutant: {failed or 'all tests pass'}, {time.monotonic() - start:.0f} s", flush=True)
        if failed is not None:
            return 1
        for mutant in mutants:
            start = time.monotonic()
            test = killer(whole, Path(scratch, "mutant"), mutant)
            verdict = "survived" if test is None else f"killed by {test}"
            print(f"{mutant.name} ({mutant.file}): {verdict}, {time.monotonic() - start:.0f} s", flush=True)
            survivors += [mutant.name] if test is None else []
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} killed" + "; survived: " * bool(survivors) + ", ".join(survivors))
    return int(bool(survivors))


if __name__ == "__main__":
    sys.exit(main())
