"""Files as shards, which learn side by side and are mixed (``--jobs``, ``--cluster``)."""

from __future__ import annotations

import argparse
import warnings
from math import nan
from time import perf_counter
from typing import Any

import numpy as np

from sklearn_predtron._support.warning import warn
from sklearn_predtron.cli._compare import Comparison
from sklearn_predtron.cli._console import UsageError
from sklearn_predtron.cli._data_files import STANDARD, FileError
from sklearn_predtron.cli._format import FileFormat, Files, task_of
from sklearn_predtron.cli._labels import shortened_labels
from sklearn_predtron.mixing import ParameterMixing, ShardError
from sklearn_predtron.mixing._dask import distributed

NOT_TO_MIX = ["load", "grow", "compare", "chunk", "chunk_bytes"]


def mixing_option(args: argparse.Namespace) -> str | None:
    """Return the option that asks for mixing, if one does."""
    return "--jobs" if args.jobs else "--cluster" if args.cluster else None


def check_mixing(args: argparse.Namespace) -> None:
    """Refuse options that are not for shards."""
    mixing = mixing_option(args)
    for name in [*NOT_TO_MIX, *(["cache"] if args.cluster else [])] if mixing else []:
        if getattr(args, name):
            raise UsageError(f"--{name.replace('_', '-')} is not for {mixing}")
    if args.jobs and args.cluster:
        raise UsageError("--jobs is not for --cluster, whose workers have threads of their own")
    if args.cluster:
        try:
            distributed()
        except ImportError as error:
            raise UsageError(f"--{error}".replace("=", "").removesuffix(".")) from None


def check_names(args: argparse.Namespace, files: Files) -> None:
    """Refuse what shards cannot open."""
    path = next((file.path for file in files.train if file.is_pipe or file.path == STANDARD), None)
    if path is not None:
        raise UsageError(
            f"{mixing_option(args)} reads TRAIN={path!r} in each of its rounds; accepted are files, which can be opened again"
        )


def check_shards(args: argparse.Namespace, file_format: FileFormat) -> None:
    """Refuse files that workers, which read them themselves, cannot read."""
    if args.cluster and file_format.words is not None:
        raise UsageError("--cluster is not for labels that are words; accepted are numbers")
    if args.cluster and not are_columns(file_format):
        labels = shortened_labels(file_format.classes)
        raise UsageError(f"--cluster is for the labels 0, 1, 2, ... of --task multilabel, and TRAIN has {labels}")


def are_columns(file_format: FileFormat) -> bool:
    """Return whether labels of sets are the numbers of their columns."""
    return not file_format.multilabel or np.array_equal(file_format.parsed_classes, np.arange(len(file_format.classes)))


def shards_of(files: Files, file_format: FileFormat) -> list[Any]:
    """Return the files, and readers of those that are not read as others are."""
    readers = file_format.words is not None or file_format.cache or not are_columns(file_format)
    return [file_format.shard(file) if readers else file.path for file in files.train]


def learn_mixture(
    comparison: Comparison, args: argparse.Namespace, files: Files, file_format: FileFormat
) -> BaseException | None:
    """Let the files be learned side by side, round by round, and return what ended that, if anything.

    After Ctrl-C what the last complete round has come to is kept; after anything else nothing is learned.
    """
    contestant = comparison.contestants[0]
    task, result = task_of(contestant.estimator), contestant.result
    if args.shuffle is False:
        contestant.estimator.set_params(shuffle=False)
    mixing = ParameterMixing(
        contestant.estimator,
        rounds=args.epochs or 1,
        n_jobs=args.jobs,
        cluster=args.cluster,
        checkpoint=args.checkpoint,
        random_state=args.seed or 0,
    )
    start, stopped = perf_counter(), None
    known = {"classes": None if task.rank else contestant.classes, "n_features": file_format.n_features}
    if task.batch:
        warn(f"{mixing_option(args)} leaves the cut of --task bipartite at 0: it is chosen on rows in memory")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "decision=None cuts where rows in memory")  # which is said above
            mixing.fit(shards_of(files, file_format), **known, zero_based=bool(file_format.zero_based))
    except OSError as error:
        return FileError(f"{mixing_option(args)}: {error}")
    except ShardError as error:
        return error
    except ValueError as error:
        raise UsageError(str(error)) from None
    except KeyboardInterrupt as error:
        if not mixing.__sklearn_is_fitted__():
            return error
        stopped = error
    model = contestant.estimator = mixing.estimator_
    result.learner, result.seconds = f"{result.learner}, {mixing.n_shards_} mixed", perf_counter() - start
    result.rounds, result.progressive_rounds = model.t_, model.t_ // len(mixing.loss_curve_)
    result.loss, result.last_loss = nan, mixing.loss_curve_[0] * result.progressive_rounds
    return stopped
