"""Check that output files overwrite no other file in use."""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

from sklearn_predtron.cli._console import UsageError
from sklearn_predtron.cli._data_files import STANDARD
from sklearn_predtron.cli._job import Job, option

ALLOWED = {("save", "load"), ("cache", "cache")}  # a model that learns on takes its own place; a file may be used twice


class FileUse(NamedTuple):
    """A file of the job: its purpose, description and name."""

    name: str
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
            if one.is_written and (one.name, other.name) not in ALLOWED:
                path = other.path if isinstance(one.path, int) else one.path
                raise UsageError(f"{one.said} and {other.said} are the same file {path!r}")


def uses_of(job: Job) -> Iterator[FileUse]:
    """Yield the files that are written, then those read."""
    yield FileUse("output", "standard output", 1, True)
    for name in ("checkpoint", "predictions", "plot", "save"):
        if getattr(job, name) and getattr(job, name) != STANDARD:
            yield FileUse(name, f"--{name}", getattr(job, name), True)
    data = [("TRAIN", path) for path in job.train] + [("--test", path) for path in [job.test] if path]
    for said, path in data:
        if job.cache and path != STANDARD:
            yield FileUse("cache", f"the cache of {said}={path!r}", f"{path}.cache", True)
    data += [(option(name), path) for name in ("costs", "test_costs") if (path := getattr(job, name))]
    if job.template:
        data.append(("--template", job.template))
    for said, path in data:
        yield FileUse("data", said, 0 if path == STANDARD else path, False)
    if job.load:
        yield FileUse("load", "--load", job.load, False)


def identity(path: str | int) -> Any:
    """Return a key shared by all names of one file.

    It works before the file exists; None stands for anything but regular files.
    """
    try:
        found = os.stat(path)
    except OSError:
        return os.path.realpath(path) if isinstance(path, str) else None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
