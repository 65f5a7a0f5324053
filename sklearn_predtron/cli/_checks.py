"""Checks of the job before training begins."""

from __future__ import annotations

from sklearn_predtron.cli._console import UsageError
from sklearn_predtron.cli._data_files import STANDARD
from sklearn_predtron.cli._job import Job, option
from sklearn_predtron.cli._mixing import check_mixing
from sklearn_predtron.cli._names import RANKING_UPDATES
from sklearn_predtron.cli._paths import can_be_read, can_be_written, same_pipe
from sklearn_predtron.cli._picture import check_picture
from sklearn_predtron.cli._template import USUAL
from sklearn_predtron.cli._used_files import check_uses

DEMO_OPTIONS = ["update", "norm", "average", "seed", "compare", "json", "quiet", "plot"]


def check_job(job: Job) -> None:
    """Raise UsageError for impossible jobs, before training."""
    given = job.given
    needs = [
        ("predictions", ["test", "load"]),
        ("scores", ["test", "load"]),
        ("proba", ["test", "load"]),
        ("reject_label", ["reject_cost"]),
        ("load", ["train", "test"]),
        ("pickle", ["load"]),
        ("jobs", ["train"]),
        ("cluster", ["train"]),
        ("checkpoint", ["jobs", "cluster"]),
        ("costs", ["train"]),
        ("test_costs", ["test"]),
    ]
    needs += [("save", ["train"]), ("epochs", ["train"])]
    needs += [(name, ["train", "load"]) for name in sorted(given - {*DEMO_OPTIONS, "train", "load"})]
    for name, others in needs:
        if name in given and given.isdisjoint(others):
            raise UsageError(f"{option(name)} needs {' or '.join(map(option, others))}")
    update = job.parameters.get("update")
    if update in RANKING_UPDATES and given.isdisjoint(["train", "load"]):
        raise UsageError(f"--update {update} is for rankings only; without TRAIN all tasks are learned")
    for name in ("features", "classes", "task", "template"):
        if {name, "load"} <= given:
            raise UsageError(f"{option(name)} is fixed by the estimator of --load")
    if "features" in job.parameters and (job.grow or job.mixing):
        raise UsageError(f"--features={job.parameters['features']} is not for {'--grow' if job.grow else job.mixing}")
    if job.grow and job.compare:
        raise UsageError("--compare is not for --grow: the other learners do not become wider")
    if job.classes is not None and len(set(job.classes.tolist())) < 2:
        raise UsageError(f"--classes has the labels {job.classes.tolist()}; at least two are needed")
    check_mixing(job)
    check_picture(job)
    check_files(job)


def check_files(job: Job) -> None:
    """Validate that files can be used, each for one purpose."""
    paths = {
        name: [getattr(job, name)] if getattr(job, name) else []
        for name in ("test", "costs", "test_costs", "load", "save", "predictions", "plot", "checkpoint")
    }
    paths["train"] = list(job.train)
    for name in ("train", "test", "costs", "test_costs", "load"):
        for path in paths[name]:
            if not can_be_read(path, standard=name != "load"):
                raise UsageError(f"{option(name)}={path!r} is not a file that can be read")
    for name in ("save", "predictions", "plot", "checkpoint"):
        for path in paths[name]:
            standard, replaced = name == "predictions" and path == STANDARD, name in ("save", "checkpoint")
            if not standard and not can_be_written(path, replaced=replaced):
                raise UsageError(f"{option(name)}={path!r} is not a file that can be written")
    if job.template and job.template != USUAL and not can_be_read(job.template, standard=False):
        raise UsageError(f"--template={job.template!r} is not a file that can be read; accepted are files, and {USUAL}")
    check_uses(job)
    read = [(option(name), path) for name in ("train", "test", "costs", "test_costs") for path in paths[name]]
    for i, (name, path) in enumerate(read):
        for other, second in read[:i]:
            if same_pipe(path, second):
                raise UsageError(f"{other} and {name} are the same pipe {path!r}, which can be read once")
