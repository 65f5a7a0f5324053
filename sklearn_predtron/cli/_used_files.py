"""The files that a job uses, each for one purpose."""

from __future__ import annotations

import os
import stat
import sys
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

from sklearn_predtron.cli._console import UsageError, option
from sklearn_predtron.cli._settings import Job
from sklearn_predtron.datasets.formats.files import STANDARD, status


def can_be_read(path: str, *, standard: bool) -> bool:
    """Return whether a file, or standard input, can be read."""
    if standard and path == STANDARD:
        return sys.stdin is not None
    return os.access(path, os.R_OK) and not os.path.isdir(path)


def can_be_written(path: str, *, replaced: bool) -> bool:
    """Return whether a file can be created or replaced."""
    target = os.path.realpath(path)
    folder = os.access(os.path.dirname(target), os.W_OK)
    if not os.path.exists(path):
        return bool(os.path.basename(path)) and folder and not os.path.islink(target)
    return os.access(path, os.W_OK) and (folder and os.path.isfile(path) if replaced else not os.path.isdir(path))


def same_pipe(path: str, other: str) -> bool:
    """Return whether two names are one pipe, or both standard input."""
    if STANDARD in (path, other) and path == other:
        return True
    found = status(path), status(other)
    return not stat.S_ISREG(found[0].st_mode) and os.path.samestat(*found)


class FileUse(NamedTuple):
    """A file of the job, and whether it is written."""

    said: str
    path: str | int
    is_written: bool


def check_uses(job: Job) -> None:
    """Raise UsageError if an output file is used twice."""
    same = defaultdict(list)
    for use in uses_of(job):
        same[identity(use.path)].append(use)
    for uses in [uses for known, uses in same.items() if known is not None]:
        for one, other in combinations(uses, 2):
            # A model that continues takes its own place.
            if one.is_written and (one.said, other.said) != ("--save", "--load"):
                path = other.path if isinstance(one.path, int) else one.path
                raise UsageError(f"{one.said} and {other.said} are the same file {path!r}")


def uses_of(job: Job) -> Iterator[FileUse]:
    """Yield the files that are written, then those read."""
    yield FileUse("standard output", 1, True)
    for name in ("predictions", "plot", "save"):
        path = getattr(job.output, name)
        if path and path != STANDARD:
            yield FileUse(option(name), path, True)
    read: list[tuple[str, str | None]] = [("TRAIN", path) for path in job.source.train]
    read += [
        (job.test_name, job.source.test),
        ("--compare", job.output.compare),
        ("--template", job.source.options.get("template")),
    ]
    for said, path in read:
        if path:
            yield FileUse(said, 0 if path == STANDARD else path, False)
    if job.model.load:
        yield FileUse("--load", job.model.load, False)


def identity(path: str | int) -> Any:
    """Return a key shared by all names of one file.

    It works before the file exists; None stands for anything but regular files.
    """
    try:
        found = os.stat(path)
    except OSError:
        return os.path.realpath(path) if isinstance(path, str) else None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
