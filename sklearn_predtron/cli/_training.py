"""Training on files: in memory, chunk by chunk, growing, or as shards in parallel."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from math import nan
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse

from sklearn_predtron._support.warning import warn
from sklearn_predtron.cli._console import UsageError, as_options
from sklearn_predtron.cli._evaluation import FIT, MIXED, STREAM, ResultRow
from sklearn_predtron.cli._lines import ENDINGS, RejectedChunkError, error_at
from sklearn_predtron.cli._model import as_trained, choose_norm, held_out, prepare_stream, rejection_reason, update
from sklearn_predtron.cli._progress import ProgressBar
from sklearn_predtron.cli._settings import Job, ModelSettings
from sklearn_predtron.cli._tasks import Task, default_features
from sklearn_predtron.datasets._broken_lines import BrokenLineError
from sklearn_predtron.datasets.formats.base import MAX_CLASSES, RowChunk
from sklearn_predtron.datasets.formats.files import STANDARD, FileError, status
from sklearn_predtron.datasets.formats.opening import MAX_KEPT, RowStream, size_of
from sklearn_predtron.datasets.formats.text import counted
from sklearn_predtron.features import Auto, PiecewiseLinear

LARGEST = MAX_KEPT  # bytes of TRAIN, and of its parsed rows, that are trained in memory
MOST_PENDING = 100_000  # rows that wait for a second label


def parts_of_split(rows: RowStream, job: Job, *, held: bool, keep: bool) -> Iterator[RowChunk]:
    """Yield the training chunks, or the held-out ones."""
    first, share = 0, job.source.holdout
    for chunk in rows.chunks(keep=keep):
        if share:
            chosen = held_out(first, len(chunk), share, job.model.seed)
            first += len(chunk)
            chunk = chunk.take(np.flatnonzero(chosen if held else ~chosen))
        if len(chunk):
            yield chunk


class Training:
    """A model in training on files.

    Parameters
    ----------
    model : estimator
        The estimator.
    task : Task
        Its task.
    classes : ndarray or None
        The labels; None if they are not known, or for rankings.
    result : ResultRow
        The row of the table that is filled in.
    """

    def __init__(self, model: Any, task: Task, classes: Any, result: ResultRow):
        self.model, self.task, self.result = model, task, result
        self.classes = np.arange(len(classes)) if task.multilabel else classes
        self._waiting: list[RowChunk] = []  # rows that wait for a second label

    def run(self, rows: RowStream, job: Job, bar: ProgressBar) -> BaseException | None:
        """Train on the files of TRAIN, in memory or as a stream; return an early end's cause."""
        try:
            chunks, error = self._in_memory(rows, job, bar)
            if chunks is None:
                self._stream(rows, job, bar)
            elif chunks:  # those before an error, too
                bar(f"fit on {self.result.data}", None)
                together = joined(chunks)
                chunks.clear()
                self._fit(together, job.model, is_incomplete(rows))
            if error is None:
                self._check_rounds(rows, job.source.holdout)
        except ENDINGS as stop:
            return stop
        return error

    # ----------------------------------------------------------------------------------------------------------- in memory

    def _in_memory(self, rows: RowStream, job: Job, bar: ProgressBar) -> tuple[list[RowChunk] | None, BaseException | None]:
        """Return the rows to train on, and the error that ended them early; None instead of rows if they are a stream."""
        if not may_fit(rows, job.model):
            return None, None
        kept, taken = [], 0
        try:
            for chunk in parts_of_split(rows, job, held=False, keep=False):
                chunk = as_trained(chunk, self.model)
                chunk = chunk if is_incomplete(rows) else self._checked(chunk)
                taken += size_of(chunk.X) + (0 if chunk.costs is None else 8 * len(chunk) * self.model._costs(self.classes).size)
                if taken > LARGEST:
                    return None, None
                kept.append(chunk)
                bar("reading", chunk.fraction)
        except (BrokenLineError, RejectedChunkError, FileError) as error:
            return (kept if self._has_all_labels(kept) else None), error
        return (kept if self._has_all_labels(kept) else None), None

    def _has_all_labels(self, chunks: list[RowChunk]) -> bool:
        """Return whether all labels occur, as `fit` needs."""
        if self.task.rank or self.task.multilabel or not chunks:
            return True
        return len(np.unique(np.concatenate([chunk.y for chunk in chunks]))) == len(self.classes)

    def _fit(self, chunk: RowChunk, settings: ModelSettings, incomplete: bool) -> None:
        """Train by the plan of `fit`.

        A table is `incomplete` if any of its rows has text or missing cells.  If these rows have none, the others are held out.
        """
        model, result = self.model, self.result
        choose_norm(model, chunk.X)
        features = settings.parameters.get("features", default_features(self.task))
        if features == Auto.alias and incomplete and chunk.X.dtype != object and not np.isnan(chunk.X).any():
            features = PiecewiseLinear.alias  # which accepts them
        model.set_params(random_state=settings.seed, shuffle=settings.shuffle, max_iter=settings.epochs, features=features)
        ids = {} if self.task.ids is None else {self.task.ids: chunk.groups}
        start = perf_counter()
        try:
            model.fit(chunk.X, chunk.y, **ids, **chunk.given)
        except (ValueError, MemoryError) as error:
            raise UsageError(as_options(str(error))) from None
        finally:  # an interrupt keeps what was trained so far
            if model.__sklearn_is_fitted__():
                result.seconds, result.training, result.epochs = perf_counter() - start, FIT, model.n_iter_
                result.rounds = len(chunk) if chunk.groups is None else len(np.unique(chunk.groups))

    # -------------------------------------------------------------------------------------------------------------- streams

    def _stream(self, rows: RowStream, job: Job, bar: ProgressBar) -> None:
        """Train chunk by chunk."""
        random, epochs = np.random.default_rng(job.model.seed), job.model.passes
        prepare_stream(job, self.model, rows.schema, incomplete=is_incomplete(rows))
        self.result.training, self.result.epochs = STREAM, epochs
        if epochs > 1 or job.source.holdout:
            for file in rows.files:
                file.keep(bar)
        for epoch in range(epochs):
            for chunk in parts_of_split(rows, job, held=False, keep=epochs > 1):
                self._train(chunk, job.model, random, epoch)
                bar(f"epoch {epoch + 1}/{epochs}", chunk.fraction, self.result)
            self._check_waiting(0)
            self._check_rounds(rows, job.source.holdout)

    def _checked(self, chunk: RowChunk) -> RowChunk:
        """Return a chunk; raise an error if the model rejects one of its rows."""
        reason = rejection_reason(self.model, chunk.X)
        if reason is not None:
            raise error_at(chunk.place, ValueError(reason))
        return chunk

    def _train(self, chunk: RowChunk, settings: ModelSettings, random: np.random.Generator, epoch: int) -> None:
        """Train on a chunk, shuffled if that is asked for."""
        chunk = as_trained(chunk, self.model)
        if settings.grow:
            chunk = self._widened(chunk)
        chunk = self._checked(chunk)
        if settings.grow:
            self._grow(chunk)
            if self._waits(chunk):
                return
            chunk = self._with_waiting(chunk)
        if not settings.grow or self.model.__sklearn_is_fitted__():  # else the width, and so the density, is not known
            choose_norm(self.model, chunk.X)
        if chunk.sample_weight is not None:
            chunk = chunk.take(np.flatnonzero(chunk.sample_weight))
        if len(chunk):
            order = random.permutation(len(chunk)) if settings.shuffle else None
            self._update(chunk if order is None else chunk.take(order), progressive=epoch == 0)

    def _update(self, chunk: RowChunk, *, progressive: bool) -> None:
        """Train on rows in their order."""
        model, result = self.model, self.result
        rounds, losses = getattr(model, "t_", 0), progressive_losses(model)
        start = perf_counter()
        try:
            update(model, self.task, chunk, self.classes)
        except (ValueError, MemoryError) as error:
            if result.rounds == 0:
                raise UsageError(as_options(str(error))) from None
            raise error_at(chunk.place, error) from None
        result.seconds += perf_counter() - start
        result.rounds += model.t_ - rounds
        if progressive:
            result.progressive_rounds += model.t_ - rounds
            loss, last_loss = (now - before for now, before in zip(progressive_losses(model), losses, strict=True))
            result.loss += loss
            result.last_loss = (result.last_loss or 0.0) + last_loss

    def _check_rounds(self, rows: RowStream, holdout: float) -> None:
        """Raise an error if TRAIN had no rows to train on."""
        if self.result.rounds > 0:
            return
        if self.model.__sklearn_is_fitted__() and getattr(rows.format, "costs", None):
            raise UsageError("--costs gives no row in which a mistake costs something")
        name = f"TRAIN={', '.join(repr(file.path) for file in rows.files)}"
        if holdout and rows.schema.n_rows:
            raise UsageError(
                f"--holdout={holdout:g} holds out all {rows.schema.n_rows:,} rows of {name}, and leaves none to train on"
            )
        raise UsageError(f"{name} has no rows")

    # ------------------------------------------------------------------------------------------------------------- growing

    def _widened(self, chunk: RowChunk) -> RowChunk:
        """Return rows as wide as the model, or as their features."""
        known = self.model.n_features_in_ if self.model.__sklearn_is_fitted__() else 1
        chunk.X.resize(chunk.X.shape[0], max(known, int(chunk.X.indices.max(initial=0)) + 1))
        return chunk

    def _grow(self, chunk: RowChunk) -> None:
        """Add the features and labels of a chunk to the model."""
        labelled, model = not (self.task.rank or self.task.multilabel), self.model
        try:
            if not model.__sklearn_is_fitted__():
                if labelled:
                    found = np.unique(chunk.y) if self.classes is None else np.union1d(self.classes, chunk.y)
                    if self.classes is None or len(found) > len(self.classes):
                        check_number(len(found))
                    self.classes = found
                return
            new = np.setdiff1d(chunk.y, model.classes_) if labelled else np.empty(0)
            if len(new):
                check_number(len(model.classes_) + len(new))
            model.widen(chunk.X.shape[1], new if len(new) else None)
        except (ValueError, MemoryError) as error:
            raise error_at(chunk.place, error) from None

    def _waits(self, chunk: RowChunk) -> bool:
        """Return whether rows wait for the second label of a stream."""
        labels = None if self.model.__sklearn_is_fitted__() else self.classes
        if labels is None or len(labels) >= 2 or chunk.groups is not None:
            return False
        self._waiting.append(chunk)
        self._check_waiting(MOST_PENDING)
        return True

    def _check_waiting(self, most: int) -> None:
        """Raise an error if too many rows wait."""
        rows = sum(map(len, self._waiting))
        if rows > most:
            first = counted(rows, "row")
            raise UsageError(f"TRAIN has one label in its first {first}; --classes names those that are to come")

    def _with_waiting(self, chunk: RowChunk) -> RowChunk:
        """Return the waiting rows followed by these."""
        if not self._waiting:
            return chunk
        chunks = [*self._waiting, chunk]
        self._waiting.clear()
        return joined(chunks)

    # -------------------------------------------------------------------------------------------------------------- shards

    def mix(self, rows: RowStream, job: Job) -> BaseException | None:
        """Train on the files in parallel; return an early end's cause.

        After Ctrl-C the model of the last complete round is kept; after any other exception nothing is learned.
        """
        from sklearn_predtron.mixing import ParameterMixing, ShardError  # most jobs do without

        result, settings, schema = self.result, job.model, rows.schema
        if not settings.shuffle:
            self.model.set_params(shuffle=False)
        mixing = ParameterMixing(self.model, rounds=settings.passes, n_jobs=settings.jobs, random_state=settings.seed)
        start, stopped = perf_counter(), None
        known: dict[str, Any] = {"classes": None if self.task.rank else self.classes, "n_features": schema.n_features}
        if self.task.batch:
            warn("--jobs leaves the cut of --task bipartite at 0: it is chosen on rows in memory")
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "decision=None fits the cut to rows in memory")  # which is said above
                mixing.fit(shards_of(rows), **known, zero_based=bool(rows.format.zero_based))
        except OSError as error:
            return FileError(f"--jobs: {error}")
        except ShardError as error:
            return error
        except ValueError as error:
            raise UsageError(str(error)) from None
        except KeyboardInterrupt as error:
            if not mixing.__sklearn_is_fitted__():
                return error
            stopped = error
        model = self.model = mixing.estimator_
        result.training, result.epochs = MIXED, len(mixing.loss_curve_)
        result.learner, result.seconds = f"{result.learner}, {mixing.n_shards_} mixed", perf_counter() - start
        result.rounds, result.progressive_rounds = model.t_, model.t_ // len(mixing.loss_curve_)
        result.loss, result.last_loss = nan, mixing.loss_curve_[0] * result.progressive_rounds
        return stopped


def may_fit(rows: RowStream, settings: ModelSettings) -> bool:
    """Return whether files may be trained on in memory: new models, on files that are not too large and no streams."""
    if settings.stream or settings.grow or settings.load or any(file.is_pipe or file.path == STANDARD for file in rows.files):
        return False
    return sum(status(file.path).st_size for file in rows.files) <= LARGEST


def is_incomplete(rows: RowStream) -> bool:
    """Return whether a table has text or missing cells."""
    return getattr(rows.format, "incomplete", False)


def joined(chunks: list[RowChunk]) -> RowChunk:
    """Return the rows of several chunks, as wide as the widest."""
    first, *others = chunks
    if not others:
        return first
    if sparse.issparse(first.X):
        width = max(chunk.X.shape[1] for chunk in chunks)
        for chunk in chunks:
            chunk.X.resize(chunk.X.shape[0], width)

    def together(parts: list[Any]) -> Any:
        return sparse.vstack(parts, "csr") if sparse.issparse(parts[0]) else np.concatenate(parts)

    groups = weight = costs = None
    if first.groups is not None:
        parts: list[Any] = [chunk.groups for chunk in chunks]
        begin = np.cumsum([0, *(part[-1] + 1 for part in parts[:-1])])
        groups = np.concatenate([part + before for part, before in zip(parts, begin, strict=True)])
    if any(chunk.sample_weight is not None for chunk in chunks):
        weight = np.concatenate([np.ones(len(chunk)) if chunk.sample_weight is None else chunk.sample_weight for chunk in chunks])
    if first.costs is not None:
        tables: list[Any] = [chunk.costs for chunk in chunks]
        costs = {pair: np.concatenate([table[pair] for table in tables]) for pair in first.costs}
    X, y = together([chunk.X for chunk in chunks]), together([chunk.y for chunk in chunks])
    return RowChunk(X, y, first.place, groups, weight, costs)


def check_number(n: int) -> None:
    """Raise an error for more labels than allowed; ids or measurements read as labels would fill the memory with weights."""
    if n > MAX_CLASSES:
        raise ValueError(f"TRAIN has {n:,} distinct labels so far; labels are classes, at most {MAX_CLASSES:,} of them")


def progressive_losses(estimator: Any) -> tuple[float, float]:
    """Return the cumulative losses: progressive and of the last iterate."""
    if not hasattr(estimator, "t_"):
        return 0.0, 0.0
    return getattr(estimator, "progressive_loss_", nan) * estimator.t_, estimator.cumulative_loss_


def check_names(rows: RowStream) -> None:
    """Raise UsageError for names that shards cannot open."""
    path = next((file.path for file in rows.files if file.is_pipe or file.path == STANDARD), None)
    if path is not None:
        raise UsageError(f"--jobs reads TRAIN={path!r} in each of its rounds; accepted are files, which can be opened again")


def shards_of(rows: RowStream) -> list[Any]:
    """Return the shards: names, or readers of other labels."""
    form, classes = rows.format, rows.schema.classes
    if form.words is None and (not form.multilabel or np.array_equal(classes, np.arange(len(classes)))):
        return [file.path for file in rows.files]
    return [form.shard(file, rows.schema) for file in rows.files]
