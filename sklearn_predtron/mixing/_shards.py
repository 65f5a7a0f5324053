"""Shards: rounds in memory, files, and functions."""

from __future__ import annotations

import inspect
import itertools
import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from sklearn_predtron._core.learner import Learner
from sklearn_predtron._support.queries import Ids, ids_taken, is_one, shortened, split_ids
from sklearn_predtron.datasets import SvmlightReader, SvmlightSummary
from sklearn_predtron.datasets._counts import check_counts
from sklearn_predtron.datasets._file_part import can_be_cut
from sklearn_predtron.families.estimator.base import BasePredtron
from sklearn_predtron.families.input.reading import Batch, TrainingInput, are_stored_dense
from sklearn_predtron.families.input.tables import mapped_columns, takes_map
from sklearn_predtron.families.labels.classes import MissingClasses
from sklearn_predtron.families.training.factory import new_model
from sklearn_predtron.families.training.runs import epochs_of, learn_epoch
from sklearn_predtron.families.training.trainer import with_model
from sklearn_predtron.mixing._dask_blocks import DaskBlock, ShardBatch, batches_of_function, labels_in
from sklearn_predtron.mixing._digest import Digest

Path = str | os.PathLike[str]
SHARDS = 8  # unless another number is asked for
MapTasks = Callable[[Callable[..., Any], list[tuple[Any, ...]]], list[Any]]


class ShardError(ValueError):
    """Error that names the failed shard and the reason.

    Parameters
    ----------
    shard : str
        The shard's number and name.
    reason : str
        The reason of the failure.

    See Also
    --------
    ParameterMixing : Raises it.
    sklearn_predtron.datasets.BrokenLineError : The reason, if it is a line of a file.

    Examples
    --------
    >>> from sklearn_predtron.mixing import ShardError
    >>> print(ShardError("shard 3, 'part-0003.svm'", "line 17: expected INDEX:VALUE"))
    shard 3, 'part-0003.svm': line 17: expected INDEX:VALUE
    """

    def __init__(self, shard: str, reason: str):
        super().__init__(shard, reason)
        self.shard, self.reason = shard, reason

    def __str__(self) -> str:
        return f"{self.shard}: {self.reason}"


class ShardSummary(NamedTuple):
    """Summary of a pass over a shard: ids and digest."""

    number: int
    shard: str
    ends: tuple[Any, Any] | None
    rows: str


class InMemoryShard:
    """A shard of rounds in memory, read in place.

    Parameters
    ----------
    name : str
        The name of the shard in errors.
    model : BasePredtron
        The estimator that has read the data.
    batch : Batch
        The data that it has read.
    rounds : ndarray of shape (n_rounds,)
        The numbers of the rounds.
    """

    def __init__(self, name: str, model: BasePredtron, batch: Batch, rounds: NDArray):
        self.name, self.model = name, model
        self.batch, self.size = batch._replace(order=rounds, labels=batch.labels.shared()), len(rounds)

    def learn(self, learner: Learner, random: np.random.Generator | None, *, fresh: bool, digest: Digest | None = None) -> None:
        """Train for one pass; the whole data set has one digest."""
        learn_batch(self.model, learner, self.batch, random, fresh=fresh)

    def digest_rows(self, digest: Digest) -> None:
        """Do not scan."""


class ChunkedShard:
    """A shard of chunks, read and shuffled for each pass.

    Parameters
    ----------
    name : str
        The name of the shard in errors.
    model : BasePredtron
        An estimator that knows the labels.
    chunks : callable
        Returns an iterator of the batches.
    size : int or None
        Bytes of a file.
    """

    def __init__(self, name: str, model: BasePredtron, chunks: Callable[[], Iterator[ShardBatch]], size: int | None):
        self.name, self.model, self.chunks, self.size = name, reader_like(model), chunks, size

    def learn(
        self, learner: Learner, random: np.random.Generator | None, *, fresh: bool, digest: Digest | None = None
    ) -> tuple[Any, Any] | None:
        """Train for one pass; return the first and last id."""
        ends: tuple[Any, Any] | None = None
        ids = ids_taken(type(self.model).fit)
        for shard_batch, batch in self._batches(digest):
            self.model._model.check_rows(batch.X, batch.rows)
            if self.size is None:  # rows of files have the format of the file
                self.model._model.warn_of_other_format(batch.rows, self.model.norm)
            learn_batch(self.model, learner, batch, random, fresh=fresh)
            if ids is not None:
                found = id_range(shard_batch, ids)
                ends = found if ends is None or found is None else (ends[0], found[1])
        return ends

    def digest_rows(self, digest: Digest) -> None:
        """Read all rows without training."""
        for _ in self._batches(digest):
            pass

    def _batches(self, digest: Digest | None) -> Iterator[tuple[ShardBatch, Batch]]:
        """Yield the non-empty chunks, raw and as read."""
        for shard_batch in self.chunks():
            if len(shard_batch) == 0:
                continue
            shard_batch = separate_ids(self.model, shard_batch)
            batch = read_shard_batch(self.model, shard_batch, self.model._model).batch
            if digest is not None:
                for part in (batch.X, shard_batch.y, shard_batch.given):
                    digest.add(part)
            yield shard_batch, batch


def reader_like(model: BasePredtron) -> BasePredtron:
    """Return an estimator that reads rows as another does; changes to it do not affect the other."""
    known: Any = model._model
    return with_model(model, known.replace())


def separate_ids(model: BasePredtron, shard_batch: ShardBatch) -> ShardBatch:
    """Return rows and the ids, separated from their column."""
    ids = ids_taken(type(model).fit)
    if ids is None:
        return shard_batch
    X, values = split_ids(shard_batch.X, shard_batch.given.get(ids.name), ids)
    return ShardBatch(X, shard_batch.y, {**shard_batch.given, ids.name: values})


def read_shard_batch(model: BasePredtron, shard_batch: ShardBatch, known: Any, **more: Any) -> TrainingInput:
    """Read rows as the estimator does, to continue or start."""
    accepted = [name for name in inspect.signature(type(model).fit).parameters if name not in ("self", "X", "y")]
    for name in shard_batch.given:
        if name not in accepted:
            raise ValueError(f"its dictionary has {shortened(name)}; accepted are {shortened(accepted)}.")
    reader = model._reader()
    if known is None and takes_map(model, shard_batch.X):  # all shards have the map of the first rows
        given = shard_batch.given
        reader.columns = mapped_columns(model.features, shard_batch.X, shard_batch.y, given, labels=model._has_labels)[0]
    return reader.read(shard_batch.X, shard_batch.y, model._read_labels, known, **shard_batch.given, **more, partial=True)


def id_range(shard_batch: ShardBatch, ids: Ids) -> tuple[Any, Any] | None:
    """Return the first and the last id."""
    values = shard_batch.given[ids.name]
    if values is None or is_one(values):
        return None
    first, last = np.asarray(values).ravel()[[0, -1]].tolist()
    return first, last


def check_distinct_groups(seen: list[ShardSummary]) -> None:
    """Raise ValueError if neighbouring shards share a group."""
    there = [(one.shard, one.ends) for one in seen if one.ends is not None]
    for (before, (_, last)), (after, (first, _)) in itertools.pairwise(there):
        if last == first:
            raise ShardError(
                f"{before}, and {after}",
                f"the id {shortened(first)} ends the one and begins the other; repartition by id, for what belongs "
                "together must be in one shard.",
            )


def learn_batch(model: BasePredtron, learner: Learner, batch: Batch, random: np.random.Generator | None, *, fresh: bool) -> None:
    """Train for one pass over a batch; `fresh` marks unseen rows."""
    if batch.rows.n == 0 or (batch.order is not None and len(batch.order) == 0):
        return
    drawn = epochs_of(model._reader(), batch, random, learner).draw(observed=fresh and learner.observer is not None)
    learn_epoch(model._model, learner, *drawn, fresh=fresh)


def split_into_shards(model: BasePredtron, batch: Batch, n: int, random: np.random.Generator) -> list[InMemoryShard]:
    """Partition the permuted rounds of a data set into shards."""
    there = np.arange(batch.rows.n) if batch.order is None else batch.order
    dealt = random.permutation(there).astype(np.intp, copy=False)
    return [InMemoryShard(f"shard {i}", model, batch, np.ascontiguousarray(dealt[i::n])) for i in range(n)]


def is_path(x: Any) -> bool:
    """Return whether x names a file."""
    return isinstance(x, (str, os.PathLike))


def is_shard(x: Any) -> bool:
    """Return whether x is a file, its reader, or a function."""
    return path_of(x) is not None or callable(x)


def shards_in(X: Any) -> list[Any] | None:
    """Return the shards that X lists; None for other data."""
    if is_path(X) or callable(X) or isinstance(X, Iterator):
        raise ValueError(f"X={shortened(X)} is no list; accepted are lists of files and functions, and data sets in memory.")
    if not isinstance(X, (list, tuple)) or not any(is_shard(x) for x in X):
        return None
    for i, x in enumerate(X):
        if not is_shard(x):
            raise ValueError(f"X[{i}]={shortened(x)} is neither a file nor a function, as others in the list are.")
    return list(X)


class Schema(NamedTuple):
    """The form of all rows: given, or found by scanning."""

    classes: Any = None
    n_features: int | None = None
    zero_based: Any = "auto"  # a scan replaces "auto" by its finding


def options_of(model: BasePredtron, found: Schema) -> dict[str, Any]:
    """Return the reader options for an estimator's files."""
    ids = ids_taken(type(model).fit)
    tags = model.__sklearn_tags__()
    multilabel = tags.classifier_tags is not None and tags.classifier_tags.multi_label
    options: dict[str, Any] = {"n_features": found.n_features, "zero_based": found.zero_based, "multilabel": multilabel}
    options |= {"query_id": ids is not None and ids.name == "qid", "sequence_id": ids is not None and ids.name == "sid"}
    return {**options, "classes": found.classes if multilabel else None}


class FilePiece(NamedTuple):
    """One of the parts of a single file."""

    path: Path
    part: tuple[int, int]


def cut_single_file(given: list[Any], n: int) -> list[Any]:
    """Split a single file into n parts, if possible."""
    if n == 1 or len(given) > 1 or not is_path(given[0]) or not can_be_cut(os.fspath(given[0])):
        return given
    return [FilePiece(given[0], (i, n)) for i in range(n)]


def path_of(shard: Any) -> Path | None:
    """Return the file of a shard, if it has one."""
    if isinstance(shard, (FilePiece, SvmlightReader)):
        return shard.path
    return shard if is_path(shard) else None


def reader_of(shard: Path | FilePiece | SvmlightReader, options: dict[str, Any]) -> SvmlightReader:
    """Return the reader of a file or of its part."""
    if isinstance(shard, SvmlightReader):
        return shard
    if isinstance(shard, FilePiece):
        return SvmlightReader(shard.path, part=shard.part, **options)
    return SvmlightReader(shard, **options)


def batches_of_file(shard: Path | FilePiece | SvmlightReader, options: dict[str, Any]) -> Iterator[ShardBatch]:
    """Yield the chunks of an svmlight file."""
    name = "qid" if options["query_id"] else "sid" if options["sequence_id"] else None
    for X, y, ids in reader_of(shard, options):
        yield ShardBatch(X, y, {} if name is None else {name: ids})


def name_of(number: int, shard: Any) -> str:
    """Return the name of a shard in error messages."""
    if isinstance(shard, DaskBlock):
        return f"block {number}"
    if isinstance(shard, FilePiece):
        return f"shard {number}, part {shard.part[0]} of {os.fspath(shard.path)!r}"
    path = path_of(shard)
    return f"shard {number}" if path is None else f"shard {number}, {os.fspath(path)!r}"


def open_shards(model: BasePredtron, given: list[Any], found: Schema, *, fresh: bool) -> list[ChunkedShard]:
    """Return the shards of files and functions, and the learner.

    A fresh model gets an untrained learner made for the first rows.
    """
    names = [name_of(i, x) for i, x in enumerate(given)]
    options = options_of(model, found)
    readers: list[Callable[[], Iterator[ShardBatch]]] = [batches_of(x, options) for x in given]
    paths = [path_of(x) for x in given]
    if fresh:
        prepare_learner(model, names, readers, found, paths)
    sizes = [None if path is None else os.path.getsize(path) for path in paths]
    return [ChunkedShard(name, model, reader, size) for name, reader, size in zip(names, readers, sizes, strict=True)]


def batches_of(shard: Any, options: dict[str, Any]) -> Callable[[], Iterator[ShardBatch]]:
    """Return a function that yields the rows of a shard."""
    if isinstance(shard, DaskBlock):
        return shard
    return partial(batches_of_function, shard) if path_of(shard) is None else partial(batches_of_file, shard, options)


def map_in_threads(n_jobs: int | None, function: Callable[..., Any], tasks: list[tuple[Any, ...]]) -> list[Any]:
    """Map a function over tasks in threads; a task begins with its shard's name."""
    return Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(function)(*task) for task in tasks)


def scan_schema(model: BasePredtron, given: list[Any], known: Schema, map_tasks: MapTasks) -> Schema:
    """Return the schema of all rows, scanning files if needed."""
    if known.n_features is not None:
        check_counts(n_features=known.n_features)
    if not (known.zero_based == "auto" or isinstance(known.zero_based, (bool, np.bool_))):
        raise ValueError(f"zero_based={known.zero_based!r} is not known; accepted are True, False and 'auto'.")
    labelled = "classes" in inspect.signature(type(model).partial_fit).parameters
    blocks = [
        (name_of(number, x), x.parts[1]) for number, x in enumerate(given) if isinstance(x, DaskBlock) and x.names is not None
    ]
    if blocks and labelled and known.classes is None:
        known = known._replace(classes=np.unique(np.concatenate(map_tasks(labels_in, blocks))))
    files = [(name_of(number, x), x) for number, x in enumerate(given) if path_of(x) is not None]
    complete = known.n_features is not None and known.zero_based != "auto" and (known.classes is not None or not labelled)
    if not files or complete:
        return known._replace(zero_based=known.zero_based != "auto" and bool(known.zero_based))
    options = {**options_of(model, Schema(None, None)), "zero_based": known.zero_based}
    found, (classes, n_features, _) = merge_summaries(map_tasks(scan_whole_file, [(*file, options) for file in files])), known
    if classes is None and labelled:
        classes = found.classes
    return Schema(classes, n_features or found.n_features, found.zero_based)


def merge_summaries(summaries: list[SvmlightSummary]) -> Schema:
    """Merge the summaries of all files into one schema.

    If any file counts from 0, a file without the index 0 may do so, too: its rows are then one feature wider.
    """
    base = any(summary.zero_based for summary in summaries)
    width = max(summary.n_features + (base and not summary.zero_based) for summary in summaries)
    return Schema(np.unique(np.concatenate([summary.classes for summary in summaries])), width, base)


def scan_readable_part(name: str, shard: Path | FilePiece, options: dict[str, Any]) -> SvmlightSummary:
    """Return the summary up to the first unreadable line."""
    try:
        return reader_of(shard, options).scan()
    except (OSError, ValueError) as error:
        raise ShardError(name, str(error)) from error


def scan_whole_file(name: str, shard: Path | FilePiece, options: dict[str, Any]) -> SvmlightSummary:
    """Return the summary of a wholly readable file."""
    found = scan_readable_part(name, shard, options)
    if found.error is not None:
        raise ShardError(name, str(found.error)) from found.error
    return found


def prepare_learner(
    model: BasePredtron,
    names: list[str],
    readers: list[Callable[[], Iterator[ShardBatch]]],
    found: Schema,
    paths: list[Path | None],
) -> None:
    """Prepare an untrained learner for rows like the first."""
    model._validate_params()
    known = {} if found.classes is None else {"classes": found.classes}
    for name, reader, path in zip(names, readers, paths, strict=True):
        try:
            shard_batch = next((shard_batch for shard_batch in reader() if len(shard_batch) > 0), None)
            if shard_batch is None:
                continue
            reading = read_shard_batch(model, separate_ids(model, shard_batch), None, **known)
            width = reading.columns.n
            if found.n_features not in (None, width):
                raise ValueError(f"X has {width} features, and n_features={found.n_features}.")
            sparse = None if path is None else not are_stored_dense(reading.batch.X)
            model._model = new_model(model, reading, partial=False, sparse=sparse)
        except MissingClasses:
            raise ValueError("classes=None is for files, in which labels are looked for; with functions pass all.") from None
        except Exception as error:
            raise ShardError(name, str(error)) from error
        return
    raise ValueError("X holds no shard with rows.")
