"""What shards are made of: rounds of rows in memory, files, and what a function returns."""

from __future__ import annotations

import copy
import inspect
import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.learner import Learner
from sklearn_predtron.datasets import SvmlightReader
from sklearn_predtron.families._base import BasePredtron
from sklearn_predtron.families._epochs import Epochs
from sklearn_predtron.families._validation import Batch

Path = str | os.PathLike[str]


class ShardError(ValueError):
    """Says which shard could not be learned from, and why.

    Parameters
    ----------
    shard : str
        The shard's number and name.
    reason : str
        What is wrong with it.

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


class Lesson(NamedTuple):
    """Rows of a shard, as `BasePredtron._read` takes them."""

    X: Any
    y: Any
    given: dict[str, Any]  # ids and weights


class Rounds:
    """Some of the rounds of a data set in memory, which is read in place: a query or a sequence, being a round, is never cut.

    Parameters
    ----------
    name : str
        What the shard is called in errors.
    model : BasePredtron
        The estimator that has read the data.
    batch : Batch
        What it has read.
    rounds : ndarray of shape (n_rounds,)
        The numbers of the rounds.
    """

    def __init__(self, name: str, model: BasePredtron, batch: Batch, rounds: NDArray):
        self.name, self.model = name, copy.copy(model)
        self.batch, self.size = batch._replace(order=rounds, labels=batch.labels.shared()), len(rounds)

    def learn(self, learner: Learner, random: np.random.Generator | None, *, fresh: bool) -> None:
        """Take a pass over the rounds."""
        learn_batch(self.model, learner, self.batch, random, fresh=fresh)


class Chunks:
    """Rows that come in chunks, read anew for each pass and shuffled within the chunk; one of them is in memory at a time.

    Parameters
    ----------
    name : str
        What the shard is called in errors.
    model : BasePredtron
        An estimator that knows the labels.
    chunks : callable
        Returns an iterator of lessons.
    size : int or None
        Bytes of a file.
    """

    def __init__(self, name: str, model: BasePredtron, chunks: Callable[[], Iterator[Lesson]], size: int | None):
        self.name, self.model, self.chunks, self.size = name, copy.copy(model), chunks, size

    def learn(self, learner: Learner, random: np.random.Generator | None, *, fresh: bool) -> None:
        """Take a pass over the rows."""
        for lesson in self.chunks():
            batch = self.model._read(lesson.X, lesson.y, **lesson.given, fresh=False, partial=True)
            self.model._check_rows(batch.X, batch.rows)
            learn_batch(self.model, learner, batch, random, fresh=fresh)


def learn_batch(model: BasePredtron, learner: Learner, batch: Batch, random: np.random.Generator | None, *, fresh: bool) -> None:
    """Let a learner take a pass over a batch, whose rows it has not seen before if they are fresh."""
    if batch.rows.n == 0 or (batch.order is not None and len(batch.order) == 0):
        return
    drawn = Epochs(batch.rows.n, batch.order, batch.weight, random).draw(counted=fresh and learner.observer is not None)
    model._learn_epoch(learner, batch, drawn, fresh=fresh)


def deal(model: BasePredtron, batch: Batch, n: int, random: np.random.Generator) -> list[Rounds]:
    """Return n shards of a data set: its rounds, permuted, are dealt to them."""
    there = np.arange(batch.rows.n) if batch.order is None else batch.order
    dealt = random.permutation(there).astype(np.intp, copy=False)
    return [Rounds(f"shard {i}", model, batch, np.ascontiguousarray(dealt[i::n])) for i in range(n)]


def is_shards(X: Any) -> bool:
    """Return whether X is a list of files or functions."""
    return isinstance(X, (list, tuple)) and len(X) > 0 and all(isinstance(x, (str, os.PathLike)) or callable(x) for x in X)


class Format(NamedTuple):
    """How files are read: what `SvmlightReader` asks, and by which name the estimator takes their ids."""

    options: dict[str, Any]
    ids: str | None


def format_of(model: BasePredtron, n_features: int | None, classes: Any) -> Format:
    """Return the format of an estimator's files."""
    asked = inspect.signature(type(model).fit).parameters
    ids = next((name for name in ("qid", "sid") if name in asked), None)
    tags = model.__sklearn_tags__()
    multilabel = tags.classifier_tags is not None and tags.classifier_tags.multi_label
    options: dict[str, Any] = {"n_features": n_features, "zero_based": False, "multilabel": multilabel}
    options |= {"query_id": ids == "qid", "sequence_id": ids == "sid"}
    return Format({**options, "classes": classes if multilabel else None}, ids)


def lessons_of_file(path: Path, file_format: Format) -> Iterator[Lesson]:
    """Yield the chunks of an svmlight file."""
    for X, y, ids in SvmlightReader(path, **file_format.options):
        yield Lesson(X, y, {} if file_format.ids is None else {file_format.ids: ids})


def lessons_of_function(function: Callable[[], Any]) -> Iterator[Lesson]:
    """Yield what a function returns: X, y and, if there is anything else, a dictionary."""
    found = function()
    if not isinstance(found, tuple) or len(found) not in (2, 3) or not isinstance(found[-1] if len(found) == 3 else {}, dict):
        raise ValueError("it must return (X, y), or (X, y, dictionary of ids and weights).")
    yield Lesson(found[0], found[1], found[2] if len(found) == 3 else {})


def open_shards(model: BasePredtron, given: list[Any], classes: Any, n_features: int | None, *, fresh: bool) -> list[Chunks]:
    """Return the shards of files and functions; a fresh model gets a learner of no rounds, made for the first rows."""
    paths = [path for path in given if isinstance(path, (str, os.PathLike))]
    if fresh and paths:
        classes, n_features = look_through(model, paths, classes, n_features)
    width = n_features if fresh else model.n_features_in_
    file_format = format_of(model, width, classes if fresh else getattr(model, "classes_", None))
    names = [f"shard {i}, {os.fspath(x)!r}" if isinstance(x, (str, os.PathLike)) else f"shard {i}" for i, x in enumerate(given)]
    readers: list[Callable[[], Iterator[Lesson]]] = [
        partial(lessons_of_function, x) if callable(x) else partial(lessons_of_file, x, file_format) for x in given
    ]
    if fresh:
        begin(model, names, readers, classes)
    sizes = [None if callable(x) else os.path.getsize(x) for x in given]
    return [Chunks(name, model, reader, size) for name, reader, size in zip(names, readers, sizes, strict=True)]


def look_through(model: BasePredtron, paths: list[Path], classes: Any, n_features: int | None) -> tuple[Any, int]:
    """Return the classes and the width of files, from a first pass where they are not given."""
    labelled = "classes" in inspect.signature(type(model).partial_fit).parameters
    if n_features is not None and (classes is not None or not labelled):
        return classes, n_features
    options = format_of(model, None, None).options
    found = [SvmlightReader(path, **{**options, "n_features": None, "classes": None}).scan() for path in paths]
    for number, (path, summary) in enumerate(zip(paths, found, strict=True)):
        if summary.error is not None:
            raise ShardError(f"shard {number}, {os.fspath(path)!r}", str(summary.error))
    width = max(summary.n_features for summary in found) if n_features is None else n_features
    if classes is None and labelled:
        classes = np.unique(np.concatenate([summary.classes for summary in found]))
    return classes, width


def begin(model: BasePredtron, names: list[str], readers: list[Callable[[], Iterator[Lesson]]], classes: Any) -> None:
    """Get a learner of no rounds ready for rows like the first."""
    for name, reader in zip(names, readers, strict=True):
        try:
            lesson = next(iter(reader()), None)
            if lesson is None:
                continue
            model._validate_params()
            known = {} if classes is None else {"classes": classes}
            batch = model._read(lesson.X, lesson.y, **lesson.given, **known, fresh=True, partial=True)
            model._prepare_learner(batch.rows, batch.labels, fresh=True, partial=False)
        except ValueError as error:
            raise ShardError(name, str(error)) from error
        return
    raise ValueError("X holds no shard with rows.")
