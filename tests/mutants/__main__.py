"""Run mutants of the package, each against the tests that own what it breaks: `python -m tests.mutants --help`."""

from __future__ import annotations

import argparse
import json
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
PYTEST = [sys.executable, "-m", "pytest", "-q", "-n", "1", "-p", "no:cacheprovider", "--no-header"]
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


def failures(root: Path, tests: list[str], *options: str, limit: float | None = None) -> list[str]:
    """Run tests of a checkout; return the names of those that fail; no end within the limit is a failure."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen([*PYTEST, *options, *tests], cwd=root, env=environment, start_new_session=True, **pipes) as process:
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return [f"no end after {limit:.0f} s"]
    failed = FAILED.findall(output)
    if not failed and process.returncode:
        raise RuntimeError(f"pytest ended with {process.returncode} and no test failed:\n{output}")
    return failed


def killers(whole: Path, place: Path, mutant: Mutant, *options: str) -> list[str]:
    """Return the tests that fail in a mutated copy of a built checkout; there are none if the mutant survives."""
    shutil.copytree(whole, place)
    try:
        path = place / mutant.file
        path.write_text(mutated(path.read_text(), mutant))
        if path.suffix in (".pyx", ".pxd") and mutant.file.rpartition(".")[0] not in build(place):
            raise RuntimeError(f"{mutant.name}: {mutant.file} was not built again.")
        return failures(place, list(mutant.tests), *options, limit=LIMIT)
    finally:
        shutil.rmtree(place)


def parse(arguments: list[str] | None = None) -> tuple[list[Mutant], Path | None]:
    """Read the command line: the mutants it asks for, and the file of the record."""
    known = {mutant.name: mutant for mutant in MUTANTS}
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"mutants, all by default: {', '.join(known)}")
    parser.add_argument("--record", metavar="FILE", type=Path, help="JSON file that gets all tests that fail, by mutant")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in known]
    if unknown:
        parser.error(f"{', '.join(unknown)}: not known")
    return [known[name] for name in given.names or known], given.record


def main(arguments: list[str] | None = None) -> int:
    """Run the mutants one after the other; 1 if one survives, or if the tests fail without any."""
    mutants, record = parse(arguments)
    options, killed = ["-x"] * (record is None), dict[str, list[str]]()
    with tempfile.TemporaryDirectory() as scratch:
        whole = Path(scratch, "whole")
        copy_checkout(whole)
        build(whole)
        start = time.monotonic()
        failed = failures(whole, list(dict.fromkeys(test for mutant in mutants for test in mutant.tests)), "-x")
        print(f"no mutant: {failed[0] if failed else 'all tests pass'}, {time.monotonic() - start:.0f} s", flush=True)
        if failed:
            return 1
        for mutant in mutants:
            start = time.monotonic()
            killed[mutant.name] = found = killers(whole, Path(scratch, "mutant"), mutant, *options)
            verdict = f"killed by {found[0]}" if found else "survived"
            print(f"{mutant.name} ({mutant.file}): {verdict}, {time.monotonic() - start:.0f} s", flush=True)
            if record is not None:
                record.write_text(json.dumps(killed, indent=1))
    survivors = [name for name, found in killed.items() if not found]
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} killed" + "; survived: " * bool(survivors) + ", ".join(survivors))
    return int(bool(survivors))


if __name__ == "__main__":
    sys.exit(main())
