"""Files of any format as one stream of rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.datasets._counts import check_counts
from sklearn_predtron.datasets.formats.base import CHUNK_BYTES, CHUNK_ROWS, ChunkLimits, Head, RowChunk, RowFormat, RowSchema
from sklearn_predtron.datasets.formats.conll import ConllFormat
from sklearn_predtron.datasets.formats.file_formats import Conll, Csv, FileFormat, JsonLines, Svmlight, VowpalWabbit
from sklearn_predtron.datasets.formats.files import DataFile, Progress
from sklearn_predtron.datasets.formats.named_features import JsonFormat, VwFormat
from sklearn_predtron.datasets.formats.svmlight import SvmlightFormat
from sklearn_predtron.datasets.formats.tables import CsvFormat

MAX_KEPT = 2**28  # bytes of parsed rows that later epochs do not parse again
OBJECT = 8  # times the size of its address, about
READERS: dict[type[FileFormat], type[RowFormat]] = {
    Svmlight: SvmlightFormat,
    Csv: CsvFormat,
    Conll: ConllFormat,
    JsonLines: JsonFormat,
    VowpalWabbit: VwFormat,
}
FORMATS = {kind.name: kind for kind in READERS}
ENDINGS = {".csv": "csv", ".tsv": "csv", ".conll": "conll", ".jsonl": "json", ".ndjson": "json", ".vw": "vw"}
OF_MODELS = ("label", "template", "comment", "sep", "n_features", "classes", "costs")  # fixed by a model


def no_progress(label: str, fraction: float | None) -> None:
    """Show nothing."""


class RowStream:
    """Files of rows, opened by `open_rows`.

    Iterating yields the chunks of all files, one file after the other.

    Parameters
    ----------
    files : list of DataFile
        The files.
    format : RowFormat
        Their format.
    classes : ndarray or None
        The labels that may occur, if they are known.
    schema : RowSchema, default=None
        What is known of the rows; None: a first pass finds it, if necessary.
    progress : callable, default=no_progress
        Called with a label and the fraction that has been read.

    Attributes
    ----------
    schema : RowSchema
        Width, labels and number of rows.

    See Also
    --------
    open_rows : Opens files.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn_predtron.datasets import open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "rows.svm")
    ...     with open(path, "w") as file:
    ...         print("1 3:0.5", "0 1:2", sep="\\n", file=file)
    ...     rows = open_rows(path)
    ...     print(rows.schema.n_features, [len(chunk) for chunk in rows])
    3 [2]
    """

    def __init__(
        self,
        files: list[DataFile],
        format: Any,
        classes: Any,
        schema: RowSchema | None = None,
        progress: Progress = no_progress,
    ):
        self.files, self.format, self.classes, self.progress = files, format, classes, progress
        self.learned = schema is None
        self._schema = schema
        self._left = MAX_KEPT

    def __enter__(self) -> RowStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close pipes and their copies."""
        for file in self.files:
            file.close()

    def sniff(self) -> Head:
        """Return the first row of the files, and record whether each has labels.

        Returns
        -------
        Head
            The first row that is there.
        """
        found = Head()
        for file in self.files:
            # The program that writes several pipes may write one after the other.
            if file.head is not None or not (file.is_pipe and found.is_there):
                head = file.head or self.format.sniff(file)
                found = found if found.is_there else head
        return found

    @property
    def schema(self) -> RowSchema:
        """Width, labels and number of rows, from a first pass if necessary."""
        if self._schema is None:
            self.sniff()
            self._schema = self.format.schema(self.files, self.classes, self.progress)
        return self._schema

    def __iter__(self) -> Iterator[RowChunk]:
        return self.chunks(keep=False)

    def chunks(self, *, keep: bool = True) -> Iterator[RowChunk]:
        """Yield the chunks of all files.

        Parameters
        ----------
        keep : bool, default=True
            Whether parsed rows are kept in memory, up to 256 MiB, for the next pass.

        Yields
        ------
        RowChunk
            The next rows.
        """
        schema = self.schema
        for file in self.files:
            if file.head is None:
                self.format.sniff(file)
            if file.parsed is not None:
                yield from (replace(chunk, fraction=i / len(file.parsed)) for i, chunk in enumerate(file.parsed, 1))
            else:
                yield from self._read(file, schema, self._left if keep else 0)

    def _read(self, file: DataFile, schema: RowSchema, most: int) -> Iterator[RowChunk]:
        """Yield the chunks of one file, and keep them if there is memory."""
        kept: list[RowChunk] = []
        taken = 0
        for chunk in self.format.chunks(file, schema, learned=self.learned):
            taken += size_of(chunk.X)
            if taken <= most:
                kept.append(chunk)
            else:
                kept.clear()
            yield chunk
        if 0 < taken <= most:
            self._left -= taken
            file.parsed = kept


def size_of(X: Any) -> int:
    """Estimate the bytes of rows."""
    if hasattr(X, "indptr"):
        return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    return X.nbytes * (OBJECT if X.dtype == object else 1)


def open_rows(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    format: FileFormat | str | None = None,
    like: Any = None,
    classes: ArrayLike | None = None,
    chunk_rows: int = CHUNK_ROWS,
    chunk_bytes: int = CHUNK_BYTES,
) -> RowStream:
    """Open files of rows in any text format, to read them in chunks.

    Several files are one stream.  Memory does not grow with the files.  A first pass finds what later chunks need: the width and
    labels of svmlight, the columns of a table.  It starts when `schema` or the first chunk is asked for.  A line that cannot be
    read raises `BrokenLineError` after the rows before it.

    Parameters
    ----------
    path : str, path-like or sequence of them
        The files.  Those that end in ``.gz`` or ``.bz2`` are decompressed, and "-" is standard input.  A pipe is copied to a
        temporary file if a first pass is necessary.
    format : Csv, JsonLines, VowpalWabbit, Conll, Svmlight or str, default=None
        The format of the files with its parameters, or its name: "csv", "json", "vw", "conll" or "svmlight".  None: by the
        ending of the names, ``.csv``, ``.tsv``, ``.jsonl``, ``.ndjson``, ``.vw`` or ``.conll``; otherwise svmlight.
    like : RowStream, fitted estimator or predictor, default=None
        The rows are read as those of this reader, or as those that the command line trained this model on.  Other labels may
        occur then.
    classes : array-like, default=None
        The labels that may occur.  None: those that a first pass finds.
    chunk_rows : int, default=10_000
        Largest number of rows in a chunk, whose last query or sequence is whole.
    chunk_bytes : int, default=8 * 2**20
        Largest length of a chunk, and of a line, query or sequence.

    Returns
    -------
    RowStream
        Iterating yields `RowChunk` objects, and `schema` is a `RowSchema`.

    Raises
    ------
    ValueError
        If a parameter is invalid, or the files have no rows.

    See Also
    --------
    Csv, JsonLines, VowpalWabbit, Conll, Svmlight : The formats.
    SvmlightReader : Reads svmlight with labels that are numbers.
    ParquetReader : Reads Parquet files.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.datasets import Csv, open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "mails.csv")
    ...     with open(path, "w") as file:
    ...         print("number,length,links,kind", "1,120,3,spam", "2,80,0,ham", "3,95,1,ham", sep="\\n", file=file)
    ...     model = PredtronBinaryClassifier()
    ...     with open_rows(path, format=Csv(label="kind", drop=["number"])) as rows:
    ...         print(rows.schema.classes.tolist(), rows.schema.feature_names)
    ...         for chunk in rows:
    ...             print(chunk.X.tolist(), chunk.y.tolist())
    ...             model = model.partial_fit(chunk.X, chunk.y, classes=rows.schema.classes)
    ['ham', 'spam'] ['length', 'links']
    [[120.0, 3.0], [80.0, 0.0], [95.0, 1.0]] ['spam', 'ham', 'ham']
    """
    check_counts(chunk_rows=chunk_rows, chunk_bytes=chunk_bytes)
    limits = ChunkLimits(chunk_rows, chunk_bytes)
    try:
        paths = [os.fspath(path)] if isinstance(path, (str, os.PathLike)) else [os.fspath(one) for one in path]
    except TypeError:
        paths = []
    if not paths:
        raise ValueError(f"path={shortened(path)} must be the path of a file, or several")
    if classes is not None and np.ndim(classes) != 1:
        raise ValueError(f"classes={shortened(classes)} must be a list of the labels that may occur")
    if not (format is None or type(format) in READERS or (isinstance(format, str) and format in FORMATS)):
        kinds = ", ".join(kind.__name__ for kind in READERS)
        raise ValueError(f"format={format!r} is not known; accepted are {', '.join(FORMATS)}, and instances of {kinds}")
    if isinstance(like, RowStream):
        for option, value in {"classes": classes, "format": format}.items():
            if value is not None:
                raise ValueError(f"{option}={value!r} is fixed by the rows that `like` is; leave it out")
        schema, form = like.schema, copy(like.format)  # which the first pass completes
        form.chunk_rows, form.chunk_bytes = limits
        return RowStream([DataFile(one) for one in paths], form, None, schema, like.progress)
    if like is not None and not hasattr(like, "n_features_in_"):
        raise ValueError(
            f"like={shortened(like)} must be rows of open_rows or a fitted estimator; sklearn_predtron.load reads one from a file"
        )
    state = getattr(like, "file_format_", None)
    how = format if isinstance(format, FileFormat) else format_of(format, paths, like)
    if state is not None:
        format_in(state, how.name)
        for option in OF_MODELS:
            value = classes if option == "classes" else how.given.get(option)
            if value is not None:
                raise ValueError(f"{option}={value!r} is fixed by the model that `like` is; leave it out")
    known = labels_of_model(like) if like is not None else None if classes is None else in_order(np.asarray(classes))
    try:
        found = READERS[type(how)].from_options(how, limits, known, like, state)
    except (KeyError, TypeError, ValueError):
        if state is None:
            raise
        raise unknown(state) from None
    return RowStream([DataFile(one) for one in paths], found, known)


def format_of(name: str | None, paths: Sequence[str], like: Any, **options: Any) -> FileFormat:
    """Return the format of files by its name, by that of a model's files, or by the files' names; with some options."""
    state = getattr(like, "file_format_", None)
    if state is None:
        kind = FORMATS[name or format_of_names(paths) or Svmlight.name]
    else:
        kind = FORMATS[format_in(state, name)]
        said = format_of_names(paths) or kind.name
        if name is None and said != kind.name:
            raise ValueError(
                f"path={shortened(paths[0])} is named as {said}, and the model was trained on {kind.name} files; "
                f"format={kind.name!r} reads it as one"
            )
    for option, value in options.items():
        if option not in kind.options():
            having = " and ".join(other.name for other in FORMATS.values() if option in other.options())
            raise ValueError(f"{option}={value!r} is for {having} files, and the files are {kind.name}")
    return kind(**options)


def in_order(classes: Any) -> Any:
    """Return labels sorted, unless they are text, whose order may be of ranks."""
    return classes if classes.dtype.kind in "UO" else np.unique(classes)


def labels_of_model(model: Any) -> Any:
    """Return the labels of a model; the classes of several labels are the columns' numbers; without names they are the labels."""
    return getattr(model, "svmlight_labels_", getattr(model, "classes_", None))


def format_of_name(path: str) -> str | None:
    """Return the format by the ending of a file's name; None if it is another."""
    stem = path.lower().removesuffix(".gz").removesuffix(".bz2")
    return next((name for ending, name in ENDINGS.items() if stem.endswith(ending)), None)


def format_of_names(paths: Sequence[str]) -> str | None:
    """Return the format by the file names' endings, if any."""
    found: dict[str, str] = {}
    for path in paths:
        if (name := format_of_name(path)) is not None:
            found.setdefault(name, path)
    if len(found) > 1:
        first, second = list(found.values())[:2]
        raise ValueError(f"{first!r} and {second!r} have names of two formats; accepted are files of one, or format=")
    return next(iter(found), None)


def format_in(state: Any, format: str | None) -> str:
    """Return the format that a saved model stores."""
    if not isinstance(state, dict) or state.get("format") not in FORMATS:
        raise unknown(state)
    if format not in (None, state["format"]):
        raise ValueError(f"format={format!r} is not for like, which was trained on {state['format']} files")
    return state["format"]


def unknown(state: Any) -> ValueError:
    """Return the error for a model whose files are unknown."""
    return ValueError(
        f"like has the file settings {shortened(state)}, which cannot be read; accepted are models that the command line saved"
    )
