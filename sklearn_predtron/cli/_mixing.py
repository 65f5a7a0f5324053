"""Parallel training on files as shards (``--jobs``, ``--cluster``)."""

from __future__ import annotations

import warnings
from math import nan
from time import perf_counter
from typing import Any

import numpy as np

from sklearn_predtron._support.warning import warn
from sklearn_predtron.cli._compare import Comparison
from sklearn_predtron.cli._console import UsageError
from sklearn_predtron.cli._data_files import STANDARD, FileError
from sklearn_predtron.cli._file_format import FileFormat, JobFiles
from sklearn_predtron.cli._job import Job, option
from sklearn_predtron.cli._labels import shortened_labels
from sklearn_predtron.cli._tasks import task_of
from sklearn_predtron.mixing import ParameterMixing, ShardError
from sklearn_predtron.mixing._dask import distributed

NOT_TO_MIX = ["load", "grow", "compare", "chunk", "chunk_bytes"]


def check_mixing(job: Job) -> None:
    """Raise UsageError for options that shards do not support."""
    for name in [*NOT_TO_MIX, *(["cache"] if job.cluster else [])] if job.mixing else []:
        if job.asks_for(name):
            raise UsageError(f"{option(name)} is not for {job.mixing}")
    if job.mixing and job.costs:
        raise UsageError(f"--costs is not for {job.mixing}, which weighs all rows the same; accepted is --test-costs")
    if job.jobs and job.cluster:
        raise UsageError("--jobs is not for --cluster, whose workers have threads of their own")
    if job.cluster:
        try:
            distributed()
        except ImportError as error:
            raise UsageError(f"--{error}".replace("=", "").removesuffix(".")) from None


def check_names(job: Job, files: JobFiles) -> None:
    """Raise UsageError for names that shards cannot open."""
    path = next((file.path for file in files.train if file.is_pipe or file.path == STANDARD), None)
    if path is not None:
        raise UsageError(
            f"{job.mixing} reads TRAIN={path!r} in each of its rounds; accepted are files, which can be opened again"
        )


def check_shards(job: Job, file_format: FileFormat) -> None:
    """Raise UsageError for files that workers cannot read."""
    if job.cluster and file_format.words is not None:
        raise UsageError("--cluster is not for labels that are words; accepted are numbers")
    if job.cluster and not are_columns(file_format):
        labels = shortened_labels(file_format.classes)
        raise UsageError(f"--cluster is for the labels 0, 1, 2, ... of --task multilabel, and TRAIN has {labels}")


def are_columns(file_format: FileFormat) -> bool:
    """Return whether label sets are given by column numbers."""
    return not file_format.multilabel or np.array_equal(file_format.parsed_classes, np.arange(len(file_format.classes)))


def shards_of(files: JobFiles, file_format: FileFormat) -> list[Any]:
    """Return the shards of the files."""
    readers = file_format.words is not None or file_format.cache or not are_columns(file_format)
    return [file_format.shard(file) if readers else file.path for file in files.train]


def train_mixture(comparison: Comparison, job: Job, files: JobFiles, file_format: FileFormat) -> BaseException | None:
    """Train on the files in parallel; return an early end's cause.

    After Ctrl-C the model of the last complete round is kept; after any other exception nothing is learned.
    """
    evaluated = comparison.models[0]
    task, result = task_of(evaluated.estimator), evaluated.result
    if not job.shuffle:
        evaluated.estimator.set_params(shuffle=False)
    mixing = ParameterMixing(
        evaluated.estimator,
        rounds=job.epochs,
        n_jobs=job.jobs,
        cluster=job.cluster,
        checkpoint=job.checkpoint,
        random_state=job.seed,
    )
    start, stopped = perf_counter(), None
    known = {"classes": None if task.rank else evaluated.classes, "n_features": file_format.n_features}
    if task.batch:
        warn(f"{job.mixing} leaves the cut of --task bipartite at 0: it is chosen on rows in memory")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "decision=None fits the cut to rows in memory")  # which is said above
            mixing.fit(shards_of(files, file_format), **known, zero_based=bool(file_format.zero_based))
    except OSError as error:
        return FileError(f"{job.mixing}: {error}")
    except ShardError as error:
        return error
    except ValueError as error:
        raise UsageError(str(error)) from None
    except KeyboardInterrupt as error:
        if not mixing.__sklearn_is_fitted__():
            return error
        stopped = error
    model = evaluated.estimator = mixing.estimator_
    result.learner, result.seconds = f"{result.learner}, {mixing.n_shards_} mixed", perf_counter() - start
    result.rounds, result.progressive_rounds = model.t_, model.t_ // len(mixing.loss_curve_)
    result.loss, result.last_loss = nan, mixing.loss_curve_[0] * result.progressive_rounds
    return stopped
