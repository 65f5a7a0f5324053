"""Base of the text formats that are read record by record."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.warning import warn
from sklearn_predtron.datasets._broken_lines import BrokenLineError
from sklearn_predtron.datasets._compressed import decompressed
from sklearn_predtron.datasets.formats.base import MAX_CLASSES, Head, RowChunk, RowFormat, RowSchema, names_of
from sklearn_predtron.datasets.formats.files import DataFile, Progress
from sklearn_predtron.datasets.formats.labels import are_words, is_line, shortened_labels, typed
from sklearn_predtron.datasets.formats.text import TextLines

MANY = 20  # distinct labels, which may be measurements
BETWEEN = 1000  # records between two calls of `progress`
AT_ONCE = 2**18  # bytes of a file that are read at once, if rows are read by columns


class Record(NamedTuple):
    """A row, a sequence, or n rows of a table that follow each other: their first line, labels and fields."""

    line: int
    labels: list[str | float] | None
    content: Any
    weight: float = 1.0
    ids: list[str] | None = None
    costs: Any = None  # of a row, or an array of shape (n, n_costs)
    gaps: tuple[int, int] = (0, 0)  # lines without tokens before the first sequence of a file, and behind each one
    n: int = 1

    def first(self, n: int) -> Record:
        """Return the first of n rows."""
        labels, ids = self.labels and self.labels[:n], self.ids and self.ids[:n]
        costs = None if self.costs is None else self.costs[:n]
        return self._replace(labels=labels, content=self.content[:n], ids=ids, costs=costs, n=n)


def parse_number(label: str | float) -> float | None:
    """Return text as a finite number, if it is one."""
    if isinstance(label, str) and "_" in label:  # which Python reads as a separator of digits
        return None
    try:
        value = float(label)
    except (ValueError, OverflowError):
        return None
    return value if isfinite(value) else None


class RecordFormat(RowFormat):
    """Base of the formats that are read by records."""

    sequences: ClassVar[bool] = False  # whether a record is one, whose tokens have a line each
    place_of_label: ClassVar[str | None] = None  # the place of the labels in messages
    costs: dict[tuple[Any, Any], str] | None = None  # the columns of the costs, by pair
    width: int | None  # of the rows, once it is known
    needs_pass = False  # whether a first pass finds the columns

    def __init__(self, *, encoding: str, chunk_rows: int, chunk_bytes: int, skip_unlabelled: bool):
        self.encoding, self.chunk_rows, self.chunk_bytes = encoding, chunk_rows, chunk_bytes
        self.skip_unlabelled = skip_unlabelled
        self._known: dict[str | float, Any] = {}  # labels that files have had, as the classes are
        self._classes: tuple[Any, frozenset[Any]] = None, frozenset()  # that are an array, and a set
        self._warned_of: set[str] = set()

    # ------------------------------------------------------------------------------------------------- what formats define

    @abstractmethod
    def has_labels(self, lines: TextLines) -> bool | None:
        """Return whether the rows have labels; None if there are no rows."""

    @abstractmethod
    def records(self, lines: TextLines) -> Iterator[Record]:
        """Yield the records of a file."""

    def labelled_records(self, lines: TextLines) -> Iterator[Record]:
        """Yield the labelled records; report how many have none."""
        return self.records(lines)

    def add_record(self, record: Record, lines: TextLines) -> None:
        """Record one record in the first pass."""

    def finish_pass(self, name: str) -> None:
        """Fix the columns after the first pass."""

    @abstractmethod
    def rows(self, records: Sequence[Record]) -> Any:
        """Return the features of some records."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return the description of the files that a saved model stores."""

    @property
    def hint(self) -> str:
        """An addition to messages about files without labels."""
        return ""

    # ----------------------------------------------------------------------------------------------------------- the protocol

    def sniff(self, file: DataFile) -> Head:
        with self._opened(file, first_lines_only=True) as (lines, _):
            there = self.has_labels(lines)
        labelled = there if there is None else there and not self.ignores_labels
        file.labelled, file.head, file.hint = labelled is not False, Head(labelled is not None), self.hint
        return file.head

    def attributes(self, schema: RowSchema) -> dict[str, Any]:
        costs = {} if self.costs is None else {"costs": [[*map(str, pair), column] for pair, column in self.costs.items()]}
        return {"file_format_": self.state() | costs}

    def schema(self, files: Sequence[DataFile], classes: Any, progress: Progress) -> RowSchema:
        if classes is not None and not self.needs_pass:
            return RowSchema(self.width, classes, None, self.feature_names)
        labels: dict[str | float, None] = {}
        rows, error = 0, None
        for file in files:
            file.keep(progress)
            with self._opened(file) as (lines, fraction):
                try:
                    for record in self._records(lines, file):
                        rows += record.n
                        self.add_record(record, lines)
                        labels.update(dict.fromkeys(record.labels or []))
                        if classes is None and len(labels) > MAX_CLASSES:
                            raise ValueError(f"{names_of(files)} has more than {MAX_CLASSES} distinct labels{self._label_hint}")
                        if rows % BETWEEN < record.n:
                            progress("first pass", fraction())
                except BrokenLineError as broken:
                    error = broken
                    break
        name = names_of(files)
        if not rows:
            raise error or ValueError(f"{name} has no rows")
        self.finish_pass(name)
        if classes is None:
            classes = classes_of(list(labels), name)
            check_classes(classes, rows, name, self._label_hint)
        if len(classes) < 2:
            known = shortened_labels(classes)
            raise error or ValueError(f"{name} has the labels {known}; at least two are needed, or the parameter `classes`")
        return RowSchema(self.width, classes, rows if error is None else None, self.feature_names)

    def chunks(self, file: DataFile, schema: RowSchema, *, learned: bool) -> Iterator[RowChunk]:
        found: list[tuple[Record, list[Any] | None]] = []
        n = begun = 0
        with_costs: bool | None = None  # whether the rows have costs
        with self._opened(file) as (lines, fraction):
            try:
                lines.most_rows, lines.chunk_end = self.chunk_rows, self.chunk_bytes
                for record in self._records(lines, file):
                    with_costs = record.costs is not None if with_costs is None else with_costs
                    if with_costs != (record.costs is not None):
                        here, before = ("no costs", "some") if with_costs else ("costs", "none")
                        raise lines.broken(f"the row has {here}, and those before it have {before}", record.line)
                    try:
                        labels = self._labels(record, lines, file, schema, learned)
                    except BrokenLineError as error:
                        if record.n > 1 and error.line_number > record.line:
                            record = record.first(error.line_number - record.line)
                            found.append((record, self._labels(record, lines, file, schema, learned)))
                        raise
                    found.append((record, labels))
                    n += len(record.content) if self.sequences else record.n
                    if n >= self.chunk_rows or lines.n_bytes - begun >= self.chunk_bytes:
                        yield self._chunk(found, file, fraction())
                        found, n, begun = [], 0, lines.n_bytes
                    lines.most_rows, lines.chunk_end = self.chunk_rows - n, begun + self.chunk_bytes
            except BrokenLineError:
                if found:
                    yield self._chunk(found, file, None)
                raise
            if found:
                yield self._chunk(found, file, fraction())

    # -------------------------------------------------------------------------------------------------------------- the parts

    feature_names: list[str] | None = None

    @property
    def _label_hint(self) -> str:
        return "" if self.place_of_label is None else f"; {self.place_of_label}"

    def _chunk(self, found: list[tuple[Record, list[Any] | None]], file: DataFile, fraction: float | None) -> RowChunk:
        """Return records as a chunk."""
        records = [record for record, _ in found]
        weights = np.array([record.weight for record in records])
        costs = None
        if self.costs is not None and records[0].costs is not None:
            columns = np.concatenate([np.atleast_2d(record.costs) for record in records]).T
            costs = dict(zip(self.costs, columns, strict=True))
        return RowChunk(
            X=self.rows(records),
            y=np.array([label for _, labels in found for label in labels or []]) if file.labelled else None,
            place=f"{file.name}, line {records[0].line}: in the chunk that begins here",
            groups=np.repeat(np.arange(len(records)), [len(record.content) for record in records]) if self.sequences else None,
            sample_weight=None if (weights == 1).all() else weights,
            costs=costs,
            ids=None if records[0].ids is None else [text for record in records for text in record.ids or []],
            fraction=fraction,
            gaps=np.array([records[0].gaps[0], *(record.gaps[1] for record in records)]) if self.sequences else None,
        )

    def _records(self, lines: TextLines, file: DataFile) -> Iterator[Record]:
        """Yield the records of a file, or only the labelled ones."""
        if self.ignores_labels:
            return (record._replace(labels=None) for record in self.records(lines))
        return self.labelled_records(lines) if self.skip_unlabelled and file.labelled else self.records(lines)

    def _labels(self, record: Record, lines: TextLines, file: DataFile, schema: RowSchema, learned: bool) -> list[Any] | None:
        """Convert the labels of a record to the classes' type."""
        if record.labels is None:
            if file.labelled:
                raise lines.broken("the row has no label; the parameter `skip_unlabelled` leaves such rows out", record.line)
            return None
        found = list(map(self._known.get, record.labels))
        if None in found:
            found = [self._label_of(label, schema.classes) for label in record.labels]
        if None not in found:
            return found
        if not learned:  # which count as wrong
            both = zip(record.labels, found, strict=True)
            return [unknown_label(label, schema.classes) if known is None else known for label, known in both]
        at, classes = found.index(None), shortened_labels(schema.classes)
        label = record.labels[at]
        said = shortened(label) if isinstance(label, str) else f"{label:g}"
        raise lines.broken(f"the label {said} is not one of the classes {classes}", record.line + at)

    def _label_of(self, label: str | float, classes: NDArray) -> Any:
        """Convert a label to the classes' type; None if unknown."""
        if label not in self._known:
            words = are_words(classes)
            found = label if words and isinstance(label, str) else None if words else parse_number(label)
            if self._classes[0] is not classes:
                self._classes = classes, frozenset(classes.tolist())
            if found not in self._classes[1]:
                return None
            self._known[label] = found
        return self._known[label]

    @contextmanager
    def _opened(
        self, file: DataFile, *, first_lines_only: bool = False
    ) -> Iterator[tuple[TextLines, Callable[[], float | None]]]:
        """Yield the lines of a file, and its progress."""
        with file.open(first_lines_only=first_lines_only) as raw, decompressed(raw, file.path) as text:
            size = 0 if file.is_pipe else os.fstat(raw.fileno()).st_size
            lines = TextLines(text, file.name, self.chunk_bytes, self.encoding, 1 if file.is_pipe else AT_ONCE)
            yield lines, lambda: min(1.0, (raw.tell() - (text is raw) * lines.unread) / size) if size else None

    def warn_of_unlabelled(self, n: int, lines: TextLines) -> None:
        """Warn once per file about skipped rows without a label."""
        if n and lines.path not in self._warned_of:
            self._warned_of.add(lines.path)
            warn(f"{lines.path}: {n:,} {'row' if n == 1 else 'rows'} without a label {'was' if n == 1 else 'were'} left out")


def unknown_label(label: str | float, classes: NDArray) -> Any:
    """Return a label of the classes' type that is no class."""
    if are_words(classes):
        return label if isinstance(label, str) else f"{label:g}"
    number = parse_number(label)
    return np.inf if number is None else number


def check_classes(classes: NDArray, rows: int, name: str, hint: str) -> None:
    """Raise ValueError for labels that are measurements."""
    if are_words(classes):
        return
    if (classes != np.floor(classes)).any():
        label = classes[classes != np.floor(classes)][0]
        raise ValueError(
            f"{name} has the label {label:g}, which is continuous, and no class{hint}; the parameter `classes` names fractions"
        )
    if len(classes) > MANY and 2 * len(classes) > rows:
        warn(f"{name} has {len(classes)} distinct labels in {rows} rows, as measurements have, and each is a class{hint}")


def saved_costs(state: Mapping[str, Any], classes: NDArray) -> dict[tuple[Any, Any], str] | None:
    """Return the columns of the costs that a model stores, by pair."""
    return {(typed(t, classes), typed(p, classes)): str(column) for t, p, column in state.get("costs", [])} or None


def is_code(label: str | float) -> bool:
    """Return whether a number would lose digits of a text, as of 007 and of numbers beyond 2^53."""
    digits = label.removeprefix("-") if isinstance(label, str) else ""
    return digits.isdecimal() and str(int(float(digits))) != digits


def classes_of(labels: list[str | float], name: str) -> NDArray:
    """Return the sorted labels: numbers if all of them are."""
    numbers = [parse_number(label) for label in labels]
    if None not in numbers and not any(map(is_code, labels)):
        return np.unique(np.array(numbers, dtype=np.float64))
    words = [label for label in labels if isinstance(label, str)]
    word = next(label for label in words if parse_number(label) is None or is_code(label))
    if len(words) < len(labels):
        raise ValueError(f"{name} has the label {shortened(word)} beside numbers; accepted are numbers, or text alone")
    for label in words:
        if not label or not is_line(label):
            raise ValueError(f"{name} has the label {label!r}, which a line of predictions cannot hold")
    return np.unique(words)
