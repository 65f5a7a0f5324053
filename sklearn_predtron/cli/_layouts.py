"""The layout of the job's files: options, model or names."""

from __future__ import annotations

from typing import Any

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.cli._conll_layout import WIDTH, ConllLayout
from sklearn_predtron.cli._console import UsageError
from sklearn_predtron.cli._csv_layout import CsvLayout
from sklearn_predtron.cli._first_row import format_of_name
from sklearn_predtron.cli._hashed_layout import HASHED, LABEL, JsonLayout
from sklearn_predtron.cli._job import Job, option
from sklearn_predtron.cli._layout import TextLayout
from sklearn_predtron.cli._tasks import TASKS
from sklearn_predtron.cli._template import read_template_file
from sklearn_predtron.cli._vw_layout import VwLayout
from sklearn_predtron.datasets._conll import AUTO

SVMLIGHT = "svmlight"
LAYOUTS: dict[str, type[TextLayout]] = {kind.name: kind for kind in (CsvLayout, ConllLayout, JsonLayout, VwLayout)}
OPTIONS = {
    "label": ("csv", "json", "conll"),
    "header": ("csv",),
    "template": ("conll",),
    "comment": ("conll",),
    "sep": ("conll",),
    "encoding": tuple(LAYOUTS),
    "drop": ("csv",),
    "id": ("csv",),
    "skip_unlabelled": ("csv", "json", "vw"),
}
OF_SVMLIGHT = ["grow", "jobs", "cluster", "cache", "zero_based"]  # options that others do not have
OF_ROWS = ["binary", "multiclass", "ordinal", "bipartite"]  # tasks of rows with a label each


def layout_of(job: Job, loaded: Any) -> TextLayout | None:
    """Return the layout of the files; None is svmlight."""
    state = getattr(loaded, "file_format_", None)
    name = (job.format or format_of_names(job) or SVMLIGHT) if state is None else name_in(job, state)
    for fixed in ("label", "comment", "sep"):
        if state is not None and getattr(job, fixed) is not None:
            raise UsageError(f"{option(fixed)} is fixed by the estimator of --load")
    if state is not None and job.format not in (None, name):
        raise UsageError(f"--format={job.format} is not for --load={job.load!r}, which was trained on {name} files")
    for given, known in OPTIONS.items():
        if given in job.given and name not in known:
            raise UsageError(f"{option(given)} is for --format {' and '.join(known)}, and the files are {name}")
    if name == SVMLIGHT:
        return None
    check_layout(job, name, loaded)
    if job.skip_unlabelled and (job.costs or job.test_costs):
        raise UsageError("--skip-unlabelled is not for rows with costs, of which each has a line")
    layout = new_layout(job, name, loaded) if state is None else loaded_layout(job, loaded, state)
    layout.skips = job.skip_unlabelled
    return layout


def format_of_names(job: Job) -> str | None:
    """Return the format by the file names' endings, if any."""
    found: dict[str, str] = {}
    for path in [*job.train, *([job.test] if job.test else [])]:
        if (name := format_of_name(path)) is not None:
            found.setdefault(name, path)
    if len(found) > 1:
        first, second = list(found.values())[:2]
        raise UsageError(f"{first!r} and {second!r} have names of two formats; accepted are files of one, or --format")
    return next(iter(found), None)


def check_layout(job: Job, name: str, loaded: Any) -> None:
    """Validate options and models against the files' format."""
    kind = LAYOUTS[name]
    for given in OF_SVMLIGHT:
        if job.asks_for(given):
            raise UsageError(f"{option(given)} is for svmlight files, and the files are {name}")
    tasks = [kind.task] if kind.task else OF_ROWS
    if job.task not in (None, *tasks):
        raise UsageError(f"--task {job.task} is not for {name} files; accepted is --task {', '.join(tasks)}")
    if loaded is not None and type(loaded) not in [TASKS[task].estimator for task in tasks]:
        raise UsageError(f"--load={job.load!r} holds a {type(loaded).__name__}, which is not for {name} files")
    if name == VwLayout.name and job.costs:
        raise UsageError("--costs is not for vw files, whose rows have an importance; accepted is --test-costs")
    if "features" in job.parameters and not kind.of_tables:
        raise UsageError(f"--features={job.parameters['features']} is not for {name} files; accepted is a number of features")


def new_layout(job: Job, name: str, loaded: Any) -> TextLayout:
    """Return the layout of files without a saved layout.

    A model fitted in Python provides its columns.
    """
    if name == ConllLayout.name and loaded is None:
        if job.label not in (None, "first", "last") and not str(job.label).isdecimal():
            raise UsageError(f"--label={job.label!r} is no column of tokens; accepted are its number from 1, first and last")
        form: dict[str, Any] = {"label": job.label, "comment": AUTO if job.comment is None else job.comment, "sep": job.sep}
        return ConllLayout(job.features or WIDTH, read_template_file(job.template), **form)
    if name == CsvLayout.name:
        return CsvLayout.new(job, loaded)
    width = (job.features or HASHED) if loaded is None else loaded.n_features_in_
    if name == JsonLayout.name:
        return JsonLayout(width, job.label or LABEL)
    if name == VwLayout.name:
        return VwLayout(width)
    raise UsageError(f"--load={job.load!r} holds a {type(loaded).__name__} that was not trained on {name} files")


def name_in(job: Job, state: Any) -> str:
    """Return the format that a saved model stores."""
    if not isinstance(state, dict) or state.get("format") not in LAYOUTS:
        raise unknown(job, state)
    return state["format"]


def loaded_layout(job: Job, loaded: Any, state: dict[str, Any]) -> TextLayout:
    """Return the layout that a saved model stores."""
    try:
        if state["format"] == ConllLayout.name:
            return ConllLayout.loaded(loaded, state)
        if state["format"] == JsonLayout.name:
            return JsonLayout.loaded(loaded, state)
        return VwLayout(loaded.n_features_in_) if state["format"] == VwLayout.name else CsvLayout.loaded(job, loaded, state)
    except (KeyError, TypeError, ValueError):
        raise unknown(job, state) from None


def unknown(job: Job, state: Any) -> UsageError:
    """Return the error for a model saved elsewhere."""
    return UsageError(f"--load={job.load!r} says of its files {shortened(state)}; accepted are models that --save wrote")
