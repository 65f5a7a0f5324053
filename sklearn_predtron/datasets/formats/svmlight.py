"""Files in svmlight format, whose labels may be text or absent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from itertools import islice
from typing import IO, Any

import numpy as np

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.datasets._blocks import rows_of
from sklearn_predtron.datasets._broken_lines import BrokenLineError
from sklearn_predtron.datasets._compressed import decompressed
from sklearn_predtron.datasets._reader import SvmlightReader
from sklearn_predtron.datasets._rows import Chunk
from sklearn_predtron.datasets._summary import SvmlightSummary
from sklearn_predtron.datasets.formats.base import (
    MAX_CLASSES,
    ChunkLimits,
    Head,
    RowChunk,
    RowFormat,
    RowSchema,
    group_numbers,
    names_of,
)
from sklearn_predtron.datasets.formats.file_formats import Svmlight
from sklearn_predtron.datasets.formats.files import DataFile, Progress
from sklearn_predtron.datasets.formats.labels import (
    READABLE,
    RewrittenText,
    WordLabels,
    add_labels,
    add_labels_to_groups,
    are_words,
    can_be_read,
    decode_word,
    reads_as_number,
    shortened_labels,
)

ROWS_READ_FIRST = 100  # rows that may have no label in a file of sets of labels, which may be empty
PAIR = re.compile(rb"(?i)\d+:([-+.\de]+|[-+]?(nan|inf|infinity))")


class LabelledReader(SvmlightReader):
    """A reader of a `DataFile`, whose labels may be text or absent."""

    def __init__(self, file: DataFile, *, words: WordLabels | None = None, **parameters: Any):
        super().__init__(file.name, **parameters)
        self._file = file
        self._words = words if file.labelled else None

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        for chunk in self.parsed_chunks():
            yield chunk.X, self.labels_of(chunk), chunk.first if chunk.qid is None else chunk.qid

    def parsed_chunks(self) -> Iterator[Chunk]:
        """Yield the chunks as they are parsed."""
        return self._chunks(self.n_features, bool(self.zero_based), self.classes)

    def where(self, chunk: Chunk) -> str:
        """Return where a chunk begins."""
        if chunk.qid is not None:
            return f"{self.path}: in the chunk that begins with qid:{chunk.qid[0]}"
        return f"{self.path}, line {chunk.first}: in the chunk that begins here"

    def labels_of(self, chunk: Chunk) -> Any:
        """Return the labels of rows; None if they have none."""
        if not self._file.labelled:
            return None
        if self.multilabel and self.classes is not None:
            return chunk.labels.indicators(self.classes)
        return chunk.labels.values if self._words is None else self._words.of(chunk.labels.values)

    def _open(self) -> IO[bytes]:
        return self._file.open()

    def _text(self, file: IO[bytes]) -> Any:
        if self._words is not None:
            self._words.restart()
            return RewrittenText(file, self._words.rewrite, self.chunk_bytes)
        if self._file.labelled:
            return file
        grouped = self.query_id or self.sequence_id
        return RewrittenText(file, add_labels_to_groups if grouped else add_labels, self.chunk_bytes)

    def _chunks(self, *arguments: Any, **options: Any) -> Iterator[Chunk]:
        try:
            yield from super()._chunks(*arguments, **options)
        except BrokenLineError as error:
            if self._file.broken is not None and self._file.broken.line_number == error.line_number:
                raise self._file.broken from None  # not the width, which the rows before it have
            reason = error.reason if self._words is None else self._words.explain(error.reason)
            reason = reason.replace("(zero_based=False)", "here")
            raise BrokenLineError(error.path, error.line_number, reason + self._file.hint) from None


class SvmlightFormat(RowFormat):
    """Rows of indices and values.

    Parameters
    ----------
    n_features : int or None
        Number of columns; None is to be found.
    zero_based : bool or None
        Whether indices count from 0; None is to be found.
    multilabel : bool
        Whether a row has any number of labels.
    query_id, sequence_id : bool
        Whether rows are documents of queries, or tokens of sequences.
    grow : bool
        Whether chunks are as wide as their rows, and labels are open.
    """

    name, of_tables = "svmlight", True

    @classmethod
    def from_options(
        cls, how: Svmlight, limits: ChunkLimits, classes: Any, like: Any, state: Mapping[str, Any] | None
    ) -> SvmlightFormat:
        n_features, zero_based = how.n_features, how.zero_based
        if like is not None:
            n_features = like.n_features_in_
            zero_based = getattr(like, "svmlight_zero_based_", None) if zero_based is None else zero_based
        elif how.grow or (n_features is not None and (how.query_id or classes is not None)):
            zero_based = bool(zero_based)
        kinds = {name: getattr(how, name) for name in ("multilabel", "query_id", "sequence_id", "grow")}
        return cls(n_features=n_features, zero_based=zero_based, **kinds, **limits._asdict())

    def __init__(
        self,
        *,
        n_features: int | None,
        zero_based: bool | None,
        multilabel: bool,
        query_id: bool,
        sequence_id: bool,
        grow: bool,
        chunk_rows: int,
        chunk_bytes: int,
    ):
        self.n_features, self.zero_based, self.multilabel = n_features, zero_based, multilabel
        self.query_id, self.sequence_id, self.grow = query_id, sequence_id, grow
        self.chunk_rows, self.chunk_bytes = chunk_rows, chunk_bytes
        self.words: WordLabels | None = None

    def sniff(self, file: DataFile) -> Head:
        """Return the first row of a file, and record whether its rows have labels.

        If rows have any number of labels, it is the first of the leading rows that has any.
        """
        found, broken = Head(), False
        with file.open(first_lines_only=True) as raw, decompressed(raw, file.path) as lines:
            for fields in islice(rows_of(lines, self.chunk_bytes), ROWS_READ_FIRST if self.multilabel else 1):
                broken = not fields
                file.hint = "" if self.multilabel or broken or found.is_there else hint_of(fields)
                label = fields[0] if fields and b":" not in fields[0] else None
                second = fields[label is not None :][:1]
                found = Head(True, label, found.has_id or b"".join(second).startswith(b"qid:"))
                if label is not None:
                    break
        file.labelled = found.label is not None or broken or not found.is_there
        file.head = found
        return found

    def schema(self, files: Sequence[DataFile], classes: Any, progress: Progress) -> RowSchema:
        if are_words(classes) and any(file.labelled for file in files):
            self.check_readable(classes.tolist())
        self.words = self._find_words(classes, next((file.head.label for file in files if file.head and file.head.label), None))
        if self.grow or (None not in (self.n_features, self.zero_based) and (self.query_id or classes is not None)):
            return RowSchema(None if self.grow else self.n_features, classes)
        for file in files:
            file.keep(progress)
        limit = MAX_CLASSES if classes is None else max(MAX_CLASSES, len(classes))
        found = [self._scan(file, None if self.query_id else limit, progress) for file in files]
        return self._found(found, files, classes)

    def _scan(self, file: DataFile, most: int | None, progress: Progress) -> SvmlightSummary:
        """Scan one file, up to a number of labels."""
        base: Any = "auto" if self.zero_based is None else self.zero_based
        reader = LabelledReader(
            file, zero_based=base, multilabel=self.multilabel and file.labelled, words=self.words, **self._how
        )
        limit = {} if most is None else {"max_classes": most}
        try:
            return reader.scan(callback=lambda: progress("first pass", reader.fraction_read), **limit)
        except ValueError as error:
            raise ValueError(str(error).replace(f"max_classes={most}", str(most))) from None

    def _found(self, found: list[SvmlightSummary], files: Sequence[DataFile], classes: Any) -> RowSchema:
        """Return the schema that the first pass has found."""
        for file, summary in zip(files, found, strict=True):
            file.broken = summary.error
        self.zero_based = any(summary.zero_based for summary in found)
        width = max(summary.n_features + (self.zero_based and not summary.zero_based) for summary in found)
        self.n_features = self.n_features or width
        name, rows = names_of(files), sum(summary.n_rows for summary in found)
        error = next((summary.error for summary in found if summary.error is not None), None)
        if not rows and (error is None or self.query_id):
            raise error or ValueError(f"{name} has no rows")
        if self.query_id:
            return RowSchema(self.n_features, None, None if error else rows)
        if classes is None:
            classes = np.unique(
                np.concatenate([summary.classes for summary in found]) if self.words is None else self.words.names
            )
            if len(classes) > MAX_CLASSES:
                raise ValueError(f"{name} has more than {MAX_CLASSES} distinct labels; labels must be classes")
        if len(classes) < 2:
            known = shortened_labels(classes)
            raise error or ValueError(f"{name} has the labels {known}; at least two are needed, or the parameter `classes`")
        if self.words is not None:
            self.words = WordLabels(classes.tolist(), grows=False, several=self.multilabel)
        return RowSchema(self.n_features, classes, None if error else rows)

    def _find_words(self, classes: Any, label: bytes | None) -> WordLabels | None:
        """Return the text labels, and whether others can follow."""
        several = self.multilabel
        if classes is not None:
            return WordLabels(classes.tolist(), grows=self.grow and not several, several=several) if are_words(classes) else None
        if label is None or all(reads_as_number(part) for part in (label.split(b",") if several else [label])):
            return None
        if self.query_id:
            text = shortened(decode_word(label))
            raise ValueError(f"the first row has the label {text}; accepted are numbers, which relevances are")
        return WordLabels(grows=True, several=several)

    def check_readable(self, labels: Sequence[str]) -> None:
        """Raise ValueError for labels that no row can begin with."""
        for name in labels:
            if not can_be_read(name, several=self.multilabel):
                accepted = READABLE.replace(" and", ", commas and") if self.multilabel else READABLE
                raise ValueError(f"classes has the label {name!r}, which no row can begin with; accepted are {accepted}")

    @property
    def _how(self) -> dict[str, Any]:
        """The arguments shared by all readers."""
        return {name: getattr(self, name) for name in ("query_id", "sequence_id", "chunk_rows", "chunk_bytes")}

    def reader(self, file: DataFile, schema: RowSchema, *, learned: bool) -> LabelledReader:
        """Return a reader of a training or another file."""
        several, words = self.multilabel and file.labelled, self.words
        new = self.grow if learned else True  # labels that nobody has learned count as wrong
        if words is not None and not self.multilabel:
            words = WordLabels(words.names, grows=new, several=False) if not learned else words
        classes = schema.classes
        if not file.labelled or self.query_id or (new and not self.multilabel):
            classes = None
        elif words is not None:
            classes = np.arange(len(words.names))
        return LabelledReader(
            file,
            n_features=schema.n_features if learned else None,
            zero_based=bool(self.zero_based),
            classes=classes,
            multilabel=several,
            words=words,
            **self._how,
        )

    def shard(self, file: DataFile, schema: RowSchema) -> LabelledReader:
        """Return a reader of one of several parallel files."""
        found = copy(self)
        found.words = None if self.words is None else WordLabels(self.words.names, grows=False, several=self.multilabel)
        return found.reader(file, schema, learned=True)

    def chunks(self, file: DataFile, schema: RowSchema, *, learned: bool) -> Iterator[RowChunk]:
        reader = self.reader(file, schema, learned=learned)
        for chunk in reader.parsed_chunks():
            groups = None if chunk.qid is None else group_numbers(chunk.qid)
            X, y = chunk.X, reader.labels_of(chunk)
            yield RowChunk(X, y, reader.where(chunk), groups, fraction=reader.fraction_read)

    def attributes(self, schema: RowSchema) -> dict[str, Any]:
        labels = {"svmlight_labels_": schema.classes} if self.multilabel else {}
        return {"svmlight_zero_based_": bool(self.zero_based), **labels}


def format_like(fields: list[bytes]) -> str | None:
    """Return the format that a first row resembles, or None."""
    if fields[0].startswith(b"{"):
        return "json"
    if any(field.startswith(b"|") for field in fields):
        return "vw"
    if any(PAIR.fullmatch(field) for field in fields[1:]):
        return None
    line = b" ".join(fields)
    if b"," in line or b";" in line:
        return "csv"
    if len(fields) < 2:
        return None
    return "csv" if all(reads_as_number(field) for field in fields) else "conll"


def hint_of(fields: list[bytes]) -> str:
    """Return the hint about a file with such fields."""
    name = format_like(fields)
    return "" if name is None else f"; the file seems to be {name}, which format={name!r} reads"
