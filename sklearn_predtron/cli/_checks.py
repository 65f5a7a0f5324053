"""Checks of a job before anything is read."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

from sklearn_predtron.cli._console import UsageError, option
from sklearn_predtron.cli._settings import Job
from sklearn_predtron.cli._used_files import can_be_read, can_be_written, check_uses, same_pipe
from sklearn_predtron.datasets.formats.conll import USUAL
from sklearn_predtron.datasets.formats.files import STANDARD

DEMO_OPTIONS = {"seed", "json", "quiet", "plot"}
NOT_TO_MIX = ["load", "grow", "stream", "chunk", "costs", "holdout"]
PICTURES = (".pdf", ".png", ".svg")


def check_job(job: Job, given: frozenset[str]) -> None:
    """Raise UsageError for impossible jobs, before training."""
    needs = [
        ("predictions", ["test", "load"]),
        ("scores", ["test", "load"]),
        ("proba", ["test", "load"]),
        ("compare", ["test", "holdout"]),
        ("load", ["train", "test"]),
        ("jobs", ["train"]),
        ("costs", ["train"]),
        ("holdout", ["train"]),
        ("save", ["train"]),
        ("epochs", ["train"]),
    ]
    needs += [(name, ["train", "load"]) for name in sorted(given - DEMO_OPTIONS - {"train", "load"})]
    for name, others in needs:
        if name in given and given.isdisjoint(others):
            raise UsageError(f"{option(name)} needs {' or '.join(map(option, others))}")
    for name in ("features", "classes", "task", "template", "costs"):
        if {name, "load"} <= given:
            raise UsageError(f"{option(name)} is fixed by the model of --load")
    if {"test", "holdout"} <= given:
        raise UsageError("--holdout and --test are two sets of rows to score; accepted is one of them")
    made = job.model.parameters.get("features")
    for name in ("grow", "jobs"):
        if made is not None and name in given:
            raise UsageError(f"--features={made} is not for {option(name)}")
    classes = job.source.classes
    if classes is not None and len(set(classes)) < 2:
        raise UsageError(f"--classes has the labels {classes}; at least two are needed")
    for name in NOT_TO_MIX if job.model.jobs else []:
        if name in given:
            raise UsageError(f"{option(name)} is not for --jobs")
    check_picture(job.output.plot)
    check_files(job)


def check_picture(path: str | None) -> None:
    """Raise UsageError if a picture cannot be drawn."""
    if path is None:
        return
    if Path(path).suffix.lower() not in PICTURES:
        raise UsageError(f"--plot={path!r} is not of a known format; accepted are names that end in {', '.join(PICTURES)}")
    if find_spec("matplotlib") is None:
        raise UsageError("--plot needs matplotlib: pip install matplotlib")


def check_files(job: Job) -> None:
    """Validate that files can be used, each for one purpose."""
    source, output = job.source, job.output
    read = [("TRAIN", path) for path in source.train]
    read += [(name, path) for name, path in ((job.test_name, source.test), ("--compare", output.compare)) if path]
    for said, path in read:
        if not can_be_read(path, standard=True):
            raise UsageError(f"{said}={path!r} is not a file that can be read")
    if job.model.load and not can_be_read(job.model.load, standard=False):
        raise UsageError(f"{job.model_name} is not a file that can be read")
    for name in ("save", "predictions", "plot"):
        path = getattr(output, name)
        standard = name == "predictions" and path == STANDARD
        if path and not standard and not can_be_written(path, replaced=name == "save"):
            raise UsageError(f"{option(name)}={path!r} is not a file that can be written")
    template = source.options.get("template")
    if template and template != USUAL and not can_be_read(template, standard=False):
        raise UsageError(f"--template={template!r} is not a file that can be read; accepted are files, and {USUAL}")
    check_uses(job)
    for (name, path), (other, second) in combinations(read, 2):
        if same_pipe(path, second):
            raise UsageError(f"{name} and {other} are the same pipe {second!r}, which can be read once")
