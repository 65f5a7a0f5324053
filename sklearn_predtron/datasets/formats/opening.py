"""Files of any format as one stream of rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.datasets._counts import check_counts
from sklearn_predtron.datasets.formats.base import CHUNK_BYTES, CHUNK_ROWS, Head, ReadingOptions, RowChunk, RowFormat, RowSchema
from sklearn_predtron.datasets.formats.conll import ConllFormat
from sklearn_predtron.datasets.formats.files import DataFile, Progress
from sklearn_predtron.datasets.formats.named_features import JsonFormat, VwFormat
from sklearn_predtron.datasets.formats.svmlight import SvmlightFormat
from sklearn_predtron.datasets.formats.tables import CsvFormat

MAX_KEPT = 2**28  # bytes of parsed rows that later epochs do not parse again
OBJECT = 8  # times the size of its address, about
FORMATS: dict[str, type[RowFormat]] = {kind.name: kind for kind in (SvmlightFormat, CsvFormat, ConllFormat, JsonFormat, VwFormat)}
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
    format: str | None = None,
    like: Any = None,
    label: str | None = None,
    classes: ArrayLike | None = None,
    n_features: int | None = None,
    drop: Sequence[str] = (),
    id: str | None = None,
    costs: Mapping[tuple[Any, Any], str] | None = None,
    numbers_only: bool = False,
    skip_unlabelled: bool = False,
    header: bool | None = None,
    sep: str | None = None,
    encoding: str = "utf-8",
    comment: str | None = "auto",
    template: Any = None,
    multilabel: bool = False,
    query_id: bool = False,
    sequence_id: bool = False,
    zero_based: bool | None = None,
    grow: bool = False,
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
    format : {"svmlight", "csv", "conll", "json", "vw"}, default=None
        None: by the ending of the names, ``.csv``, ``.tsv``, ``.conll``, ``.jsonl``, ``.ndjson`` or ``.vw``; otherwise svmlight.
    like : RowStream, fitted estimator or predictor, default=None
        The rows are read as those of this reader, or as those that the command line trained this model on.  Other labels may
        occur then.
    label : str, default=None
        The column of the labels.  csv: its name, its number from 1 if columns have no names, "first" or "last" (default).
        json: its name, by default "label".  conll: its number from 1, "first" or "last" (default).
    classes : array-like, default=None
        The labels that may occur.  None: those that a first pass finds.
    n_features : int, default=None
        Number of columns of X.  svmlight: None is what a first pass finds.  json, vw and conll: the number of columns that names
        are hashed to, by default 2**18 (conll: 2**20).
    drop : sequence of str, default=()
        Columns of csv that are no features.
    id : str, default=None
        A column of csv that is no feature; the chunks have its cells.
    costs : dict, default=None
        Columns of csv, or names in json, with the costs of each row by pair ``(true, predicted)``.
    numbers_only : bool, default=False
        Whether text and missing cells of csv raise an error.  False: columns of text are categories, and X has dtype object if
        there are any; text among numbers is missing (NaN).
    skip_unlabelled : bool, default=False
        Whether rows without a label, among others that have one, are left out with a warning.  Not for svmlight and conll.
    header : bool, default=None
        Whether the first line of csv names the columns.  None: if it has no number, or text where the second line has a number.
    sep : str, default=None
        The text between columns.  None: csv: a tab, comma or semicolon, by the first line; conll: white space.
    encoding : str, default="utf-8"
        The encoding of the text.  Not for svmlight.
    comment : str, default="auto"
        How comments of conll begin, as in `read_conll`.
    template : list or path, default=None
        Features of the tokens of conll, as in `token_features`, or a file in the format of CRF++.
    multilabel : bool, default=False
        Whether a row of svmlight has any number of labels, with commas between them.
    query_id, sequence_id : bool, default=False
        Whether rows of svmlight are documents of queries, or tokens of sequences, by ``qid:``.
    zero_based : bool, default=None
        Whether indices of svmlight count from 0.  None: if the index 0 occurs; from 1 if there is no first pass.
    grow : bool, default=False
        Whether svmlight is read without a first pass: chunks are as wide as their rows, and any label may occur.
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
        If a parameter is invalid or not for the format, or the files have no rows.

    See Also
    --------
    SvmlightReader : Reads svmlight with labels that are numbers.
    ParquetReader : Reads Parquet files.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.datasets import open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "mails.csv")
    ...     with open(path, "w") as file:
    ...         print("number,length,links,kind", "1,120,3,spam", "2,80,0,ham", "3,95,1,ham", sep="\\n", file=file)
    ...     model = PredtronBinaryClassifier()
    ...     with open_rows(path, label="kind", drop=["number"]) as rows:
    ...         print(rows.schema.classes.tolist(), rows.schema.feature_names)
    ...         for chunk in rows:
    ...             print(chunk.X.tolist(), chunk.y.tolist())
    ...             model = model.partial_fit(chunk.X, chunk.y, classes=rows.schema.classes)
    ['ham', 'spam'] ['length', 'links']
    [[120.0, 3.0], [80.0, 0.0], [95.0, 1.0]] ['spam', 'ham', 'ham']
    """
    check_counts(chunk_rows=chunk_rows, chunk_bytes=chunk_bytes, n_features=1 if n_features is None else n_features)
    try:
        paths = [os.fspath(path)] if isinstance(path, (str, os.PathLike)) else [os.fspath(one) for one in path]
    except TypeError:
        raise ValueError(f"path={shortened(path)} must be the path of a file, or several") from None
    check_arguments(format, drop, costs, encoding)
    how = ReadingOptions(
        chunk_rows=chunk_rows,
        chunk_bytes=chunk_bytes,
        n_features=n_features,
        numbers_only=numbers_only,
        label=label,
        drop=list(drop) or (),
        id=id,
        costs=dict(costs) if costs else None,
        skip_unlabelled=skip_unlabelled,
        header=header,
        sep=sep,
        encoding=encoding,
        comment=comment,
        template=template,
        multilabel=multilabel,
        query_id=query_id,
        sequence_id=sequence_id,
        zero_based=zero_based,
        grow=grow,
    )
    if isinstance(like, RowStream):
        fixed = {name: value for name, value in how.given.items() if name != "numbers_only"}
        for option, value in {**fixed, "classes": classes, "format": format}.items():
            if value is not None:
                raise ValueError(f"{option}={value!r} is fixed by the rows that `like` is; leave it out")
        schema, form = like.schema, copy(like.format)  # which the first pass completes
        form.chunk_rows, form.chunk_bytes = chunk_rows, chunk_bytes
        return RowStream([DataFile(one) for one in paths], form, None, schema, like.progress)
    if like is not None and not hasattr(like, "n_features_in_"):
        raise ValueError(
            f"like={shortened(like)} must be rows of open_rows or a fitted estimator; sklearn_predtron.load reads one from a file"
        )
    state = getattr(like, "file_format_", None)
    if state is not None:
        check_fixed(state, how, classes, format, paths)
    kind = FORMATS[format or (format_of_names(paths) if state is None else state["format"]) or SvmlightFormat.name]
    for option, value in how.given.items():
        having = [other.name for other in FORMATS.values() if option in other.options]
        if having and kind.name not in having:
            raise ValueError(f"{option}={value!r} is for {' and '.join(having)} files, and the files are {kind.name}")
    known = labels_of(like) if like is not None else None if classes is None else in_order(np.asarray(classes))
    try:
        found = kind.from_options(how, known, like, state)
    except (KeyError, TypeError, ValueError):
        if state is None:
            raise
        raise unknown(state) from None
    return RowStream([DataFile(one) for one in paths], found, known)


def check_fixed(state: Any, how: ReadingOptions, classes: Any, format: str | None, paths: Sequence[str]) -> None:
    """Raise ValueError for arguments that a model fixes by the files that it was trained on."""
    name = format_in(state, format)
    said = format_of_names(paths) or name
    if format is None and said != name:
        raise ValueError(
            f"path={shortened(paths[0])} is named as {said}, and the model was trained on {name} files; "
            f"format={name!r} reads it as one"
        )
    for option in OF_MODELS:
        value = classes if option == "classes" else how.given.get(option)
        if value is not None:
            raise ValueError(f"{option}={value!r} is fixed by the model that `like` is; leave it out")


def check_arguments(format: Any, drop: Any, costs: Any, encoding: Any) -> None:
    """Raise ValueError for arguments of another form."""
    if format not in (None, *FORMATS):
        raise ValueError(f"format={format!r} is not known; accepted are {', '.join(FORMATS)}")
    if isinstance(drop, str):
        raise ValueError(f"drop={drop!r} is not accepted; accepted are sequences of columns")
    if costs is not None and not (
        isinstance(costs, Mapping) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in costs)
    ):
        raise ValueError(f"costs={shortened(costs)} is not accepted; accepted are columns by pair (true, predicted)")
    try:
        is_known = "\n,0a".encode(encoding) == b"\n,0a"
    except (LookupError, TypeError):
        is_known = False
    if not is_known:
        raise ValueError(f"encoding={encoding!r} is not known; accepted are encodings of Python in which ASCII is ASCII")


def in_order(classes: Any) -> Any:
    """Return labels sorted, unless they are text, whose order may be of ranks."""
    return classes if classes.dtype.kind in "UO" else np.unique(classes)


def labels_of(model: Any) -> Any:
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
