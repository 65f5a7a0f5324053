"""Files of tokens in columns, as CoNLL's shared tasks have them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.queries import shortened

BYTE_ORDER_MARK = "\ufeff"
COLUMN = re.compile(r"[^ \t\n\r\f\v]+")
DOCUMENT = "-DOCSTART-"  # the first column of a line that begins a document


def read_conll(
    source: str | PathLike[str] | Iterable[str], *, label: int | None = -1, encoding: str = "utf-8"
) -> tuple[NDArray, NDArray | None, NDArray]:
    """Read tokens in columns, a line each, of sequences with empty lines between them.

    Columns are separated by white space of ASCII: other spaces, such as one that does not break, are parts of tokens.  Lines that
    begin with "-DOCSTART-" separate sequences, too.

    Parameters
    ----------
    source : str, path or iterable of str
        A file, or its lines.
    label : int or None, default=-1
        The column of the labels, from 0, or from the last one by negative numbers; None is none.
    encoding : str, default="utf-8"
        Of a file.

    Returns
    -------
    tokens : ndarray of shape (n_tokens, n_columns)
        The other columns, as strings.
    y : ndarray of shape (n_tokens,) or None
        Labels.
    sid : ndarray of shape (n_tokens,)
        The number of each token's sequence, 0, 1, ...; int64.

    Raises
    ------
    ValueError
        If a line has another number of columns than the first one, with the number of the line; if there is no such column, or
        no token.

    See Also
    --------
    token_features : Makes rows of tokens.
    chunk_labels : Labels of chunks in another scheme.

    Examples
    --------
    >>> from sklearn_predtron.datasets import read_conll
    >>> lines = ["Ada NNP B-PER", "sleeps VBZ O", "", "Run VB O"]
    >>> tokens, y, sid = read_conll(lines)
    >>> tokens.tolist(), y.tolist(), sid.tolist()
    ([['Ada', 'NNP'], ['sleeps', 'VBZ'], ['Run', 'VB']], ['B-PER', 'O', 'O'], [0, 0, 1])
    """
    if isinstance(source, str | PathLike):
        with open(source, encoding=encoding) as lines:
            rows, sid = read_lines(lines)
    else:
        rows, sid = read_lines(source)
    if not rows:
        raise ValueError(f"source={shortened(source)} has no tokens.")
    columns: list[Any] = list(zip(*rows, strict=True))
    if label is None:
        return np.array(columns).T, None, sid
    if not -len(columns) <= label < len(columns) or len(columns) == 1:
        raise ValueError(
            f"label={label!r} is no column beside others: there are {len(columns)}; None is for files without labels."
        )
    y = np.array(columns.pop(label))
    return np.array(columns).T, y, sid


def read_lines(lines: Iterable[str]) -> tuple[list[list[str]], NDArray]:
    """Return the columns of each token, and the number of its sequence."""
    rows: list[list[str]] = []
    sizes: list[int] = []
    for first, tokens in sequences_of_lines(lines):
        width = len(rows[0] if rows else tokens[0])
        for i, columns in enumerate(tokens, first):
            if len(columns) != width:
                raise ValueError(
                    f"line {i} has {len(columns)} columns, and the first token has {width}: {shortened(' '.join(columns))}."
                )
        rows += tokens
        sizes.append(len(tokens))
    return rows, np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)


def sequences_of_lines(lines: Iterable[str]) -> Iterator[tuple[int, list[list[str]]]]:
    """Yield each sequence as the number of its first line, from 1, and the columns of its tokens."""
    tokens: list[list[str]] = []
    number = 0
    for number, line in enumerate(lines, 1):
        columns = columns_of(line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line)
        if columns and columns[0] != DOCUMENT:
            tokens.append(columns)
        elif tokens:
            yield number - len(tokens), tokens
            tokens = []
    if tokens:
        yield number + 1 - len(tokens), tokens


def columns_of(line: str) -> list[str]:
    """Return the columns of a line; a space that is not ASCII, such as one that does not break, is a part of a column."""
    return line.split() if line.isascii() or line.isspace() else COLUMN.findall(line)
