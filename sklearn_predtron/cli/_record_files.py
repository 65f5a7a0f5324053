"""Files of layouts other than svmlight: formats and readers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.warning import warn
from sklearn_predtron.cli._console import UsageError
from sklearn_predtron.cli._data_files import DataFile, MemoryBudget
from sklearn_predtron.cli._growing import check_number
from sklearn_predtron.cli._job import Job
from sklearn_predtron.cli._labels import are_words, shortened_labels
from sklearn_predtron.cli._layout import Record, TextLayout, parse_number
from sklearn_predtron.cli._lines import is_line
from sklearn_predtron.cli._names import MAX_CLASSES
from sklearn_predtron.cli._progress import ProgressBar
from sklearn_predtron.cli._text_lines import TextLines
from sklearn_predtron.datasets import BrokenLineError
from sklearn_predtron.datasets._compressed import decompressed

OBJECT = 8  # times the size of its address, about
MANY = 20  # distinct labels, which may be measurements
BETWEEN = 1000  # records from one look at the progress to the next


@dataclass
class RecordFormat:
    """The format of files with a layout, like `FileFormat`."""

    layout: TextLayout
    classes: Any  # numbers, or words in the order of their ranks
    chunk_rows: int
    chunk_bytes: int
    n_rows: int | None = None  # of TRAIN, if a first pass has come to its end
    budget: MemoryBudget | None = None  # for rows of several epochs
    multilabel, query_id = False, False
    _known: dict[str | float, Any] = field(default_factory=dict)  # labels that files have had, as the classes are

    @property
    def n_features(self) -> int | None:
        """Return the width of the rows."""
        return self.layout.width

    def reader(self, file: DataFile, *, learned: bool) -> RecordReader:
        """Return a reader of a file."""
        return RecordReader(file, self, self.budget if learned else None, learned=learned)

    def label_of(self, label: str | float) -> Any:
        """Convert a label to the classes' type; None if unknown."""
        if label not in self._known:
            words = are_words(self.classes)
            found = label if words and isinstance(label, str) else None if words else parse_number(label)
            if found not in self.classes.tolist():
                return None
            self._known[label] = found
        return self._known[label]

    def unknown_label(self, label: str | float) -> Any:
        """Return a label of the classes' type that is no class."""
        if are_words(self.classes):
            return label if isinstance(label, str) else f"{label:g}"
        number = parse_number(label)
        return np.inf if number is None else number

    def mark(self, model: Any) -> None:
        """Store in a model how its files are read."""
        model.file_format_ = self.layout.state()

    def wrap_baseline(self, baseline: Any) -> Any:
        """Return the scikit-learn baseline for the rows."""
        return self.layout.wrap_baseline(baseline)

    @property
    def with_empty_lines(self) -> bool:
        """Return whether empty lines separate predicted sequences."""
        return self.layout.sequences


class RecordReader:
    """A pass over a file: chunks of rows and their lines."""

    query_id = False

    def __init__(self, file: DataFile, form: RecordFormat, budget: MemoryBudget | None, *, learned: bool):
        self._file, self._form, self._budget, self._learned = file, form, budget, learned
        self.path, self.sequence_id = file.name, form.layout.sequences
        self.fraction_read: float | None = None
        self.ids: list[str] | None = None  # of the rows of the present chunk, if they have some
        self.weights: NDArray | None = None  # of the rows of the present chunk, if they are not all 1

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        if self._file.parsed is not None:
            for i, (chunk, weights) in enumerate(self._file.parsed, 1):
                self.weights, self.fraction_read = weights, i / len(self._file.parsed)
                yield chunk
            return
        kept: list[Any] = []
        budget, taken = 0 if self._budget is None else self._budget.left, 0
        for chunk in self._parsed():
            taken += size_of(chunk[0])
            if taken <= budget:
                kept.append((chunk, self.weights))
            else:
                kept.clear()
            yield chunk
        if self._budget is not None and taken <= budget:
            self._budget.left -= taken
            self._file.parsed = kept

    def _parsed(self) -> Iterator[tuple[Any, Any, Any]]:
        """Yield the chunks."""
        for records in self._chunks():
            y = np.array([label for _, labels in records for label in labels or []]) if self._file.labelled else None
            lines = np.array([record.line for record, _ in records])
            weights = np.array([record.weight for record, _ in records])
            self.weights = None if (weights == 1).all() else weights
            self.ids = [str(record.id) for record, _ in records] if self._form.layout.with_ids else None
            X = self._form.layout.rows([record for record, _ in records])
            sizes = [len(record.content) for record, _ in records] if self.sequence_id else 1
            yield X, y, np.repeat(lines, sizes) if self.sequence_id else lines[0]

    def where(self, found: Any) -> str:
        """Return where a chunk begins."""
        return f"{self.path}, line {found[0] if self.sequence_id else found}: in the chunk that begins here"

    def _chunks(self) -> Iterator[list[tuple[Record, list[Any] | None]]]:
        """Yield records and labels by chunk, until one is unreadable."""
        found: list[tuple[Record, list[Any] | None]] = []
        n = begun = 0
        with opened(self._file, self._form.chunk_bytes) as (lines, fraction):
            try:
                for record in records_of(self._form.layout, lines, self._file):
                    found.append((record, self._labels(record, lines)))
                    n += len(record.content) if self.sequence_id else 1
                    if n >= self._form.chunk_rows or lines.n_bytes - begun >= self._form.chunk_bytes:
                        self.fraction_read = fraction()
                        yield found
                        found, n, begun = [], 0, lines.n_bytes
            except BrokenLineError:
                if found:
                    yield found
                raise
            if found:
                self.fraction_read = fraction()
                yield found

    def _labels(self, record: Record, lines: TextLines) -> list[Any] | None:
        """Convert the labels of a record to the classes' type."""
        if record.labels is None:
            if self._file.labelled:
                raise lines.broken("the row has no label", record.line)
            return None
        found = [self._form.label_of(label) for label in record.labels]
        if None in found and not self._learned:  # which count as wrong
            both = zip(record.labels, found, strict=True)
            return [self._form.unknown_label(label) if known is None else known for label, known in both]
        if None in found:
            at, known = found.index(None), shortened_labels(self._form.classes)
            label = record.labels[at]
            said = shortened(label) if isinstance(label, str) else f"{label:g}"
            raise lines.broken(f"the label {said} is not one of the classes {known}", record.line + at)
        return found


def size_of(X: Any) -> int:
    """Estimate the bytes of rows."""
    if sparse.issparse(X):
        return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    return X.nbytes * (OBJECT if X.dtype == object else 1)


def records_of(layout: TextLayout, lines: TextLines, file: DataFile) -> Iterator[Record]:
    """Yield the records of a file, or only the labelled ones."""
    return layout.labelled_records(lines) if layout.skips and file.labelled else layout.records(lines)


@contextmanager
def opened(
    file: DataFile, longest: int, *, first_lines_only: bool = False
) -> Iterator[tuple[TextLines, Callable[[], float | None]]]:
    """Yield the lines of a file, and its progress."""
    with file.open(first_lines_only=first_lines_only) as raw, decompressed(raw, file.path) as text:
        size = 0 if file.is_pipe else os.fstat(raw.fileno()).st_size
        yield TextLines(text, file.name, longest, file.encoding), lambda: min(1.0, raw.tell() / size) if size else None


# --------------------------------------------------------------------------------------------------------------- first pass


def find_records(
    job: Job, layout: TextLayout, train: list[DataFile], classes: Any, *, ranks: bool, bar: ProgressBar
) -> RecordFormat:
    """Return the format of the job's files, scanning if needed."""
    form = RecordFormat(layout, classes, job.chunk_rows, job.chunk_bytes, budget=MemoryBudget() if job.epochs > 1 else None)
    if classes is not None and layout.is_known:
        return form
    labels: dict[str | float, None] = {}
    rows, error = 0, None
    for file in train:
        file.keep(bar)
        with opened(file, job.chunk_bytes) as (lines, fraction):
            try:
                for record in records_of(layout, lines, file):
                    rows += 1
                    layout.add_record(record, lines)
                    labels.update(dict.fromkeys(record.labels or []))
                    if classes is None and len(labels) > (job.max_classes or MAX_CLASSES):
                        check_label_count(len(labels), job.max_classes)
                    if rows % BETWEEN == 0:
                        bar("first pass", fraction())
            except BrokenLineError as broken:
                error = broken
                break
    name = "TRAIN=" + ", ".join(repr(file.path) for file in train)
    if not rows:
        raise error or UsageError(f"{name} has no rows")
    layout.finish_pass()
    form.n_rows = rows if error is None else None
    if classes is None:
        form.classes = classes_of(list(labels), ranks=ranks, name=name)
        check_classes(form.classes, rows, name, "" if layout.place_of_label is None else f"; {layout.place_of_label}")
    if len(form.classes) < 2:
        raise error or UsageError(
            f"{name} has the labels {shortened_labels(form.classes)}; at least two are needed, or --classes"
        )
    return form


def check_classes(classes: NDArray, rows: int, name: str, hint: str) -> None:
    """Raise an error for labels that are measurements."""
    if are_words(classes):
        return
    if (classes != np.floor(classes)).any():
        label = classes[classes != np.floor(classes)][0]
        raise UsageError(f"{name} has the label {label:g}, which is continuous, and no class{hint}; --classes names fractions")
    if len(classes) > MANY and 2 * len(classes) > rows:
        warn(f"{name} has {len(classes)} distinct labels in {rows} rows, as measurements have, and each is a class{hint}")


def check_label_count(n: int, most: int | None) -> None:
    """Raise an error for more labels than allowed."""
    try:
        check_number(n, most)
    except ValueError as error:
        raise UsageError(str(error)) from None


def classes_of(labels: list[str | float], *, ranks: bool, name: str) -> NDArray:
    """Return the sorted labels: numbers if all of them are."""
    numbers = [parse_number(label) for label in labels]
    if None not in numbers:
        return np.unique(np.array(numbers, dtype=np.float64))
    words = [label for label in labels if isinstance(label, str)]
    word = next(label for label in words if parse_number(label) is None)
    if ranks:
        raise UsageError(
            f"{name} has the label {shortened(word)}; ranks that are words need --classes, which gives them in their order"
        )
    if len(words) < len(labels):
        raise UsageError(f"{name} has the label {shortened(word)} beside numbers; accepted are numbers, or words alone")
    for label in words:
        if not label or not is_line(label):
            raise UsageError(f"{name} has the label {label!r}, which a line of predictions cannot hold")
    return np.unique(words)
