"""Files of tokens in columns, as in CoNLL's shared tasks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.warning import warn

AUTO, USUAL = "auto", "# "  # how comments begin unless the user says it
HINT = "; comment='#' reads lines that begin with # before a sequence as comments"
BYTE_ORDER_MARK = "\ufeff"
COLUMN = re.compile(r"[^ \t\n\r\f\v]+")
DOCUMENT = "-DOCSTART-"  # the first column of a line that begins a document


def read_conll(
    source: str | PathLike[str] | Iterable[str],
    *,
    label: int | None = -1,
    encoding: str = "utf-8",
    comment: str | None = "auto",
    sep: str | None = None,
) -> tuple[NDArray, NDArray | None, NDArray]:
    """Read sequences of tokens in CoNLL's format.

    Lines that begin with "-DOCSTART-" separate sequences, too.

    Parameters
    ----------
    source : str, path or iterable of str
        A file, or its lines.
    label : int or None, default=-1
        The column of the labels, counted from 0; negative numbers count from the last column.  None: there are no labels.
    encoding : str, default="utf-8"
        The encoding of the file.
    comment : "auto", str or None, default="auto"
        The beginning of comment lines, which precede the first token of a sequence.  "auto": if the first sequence begins with
        lines "# ..." that differ from its tokens in columns or label, such lines are comments before each sequence, and a warning
        says so.  None: every line is a token.
    sep : str or None, default=None
        The separator of columns, such as a tab; columns may then hold spaces.  None: ASCII white space.  Other spaces, such as
        the non-breaking space, are then parts of tokens.

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
        If a line has another number of columns than the first one (the message has its number), if there is no column `label`, or
        if there is no token.

    See Also
    --------
    token_features : Makes rows of tokens.
    chunk_labels : Converts chunk labels to another scheme.

    Examples
    --------
    >>> from sklearn_predtron.datasets import read_conll
    >>> lines = ["Ada NNP B-PER", "sleeps VBZ O", "", "Run VB O"]
    >>> tokens, y, sid = read_conll(lines)
    >>> tokens.tolist(), y.tolist(), sid.tolist()
    ([['Ada', 'NNP'], ['sleeps', 'VBZ'], ['Run', 'VB']], ['B-PER', 'O', 'O'], [0, 0, 1])
    """
    form = LineForm(comment, sep)
    if isinstance(source, str | PathLike):
        with open(source, encoding=encoding) as lines:
            rows, sid = read_lines(lines, form)
    else:
        rows, sid = read_lines(source, form)
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


def read_lines(lines: Iterable[str], form: LineForm) -> tuple[list[list[str]], NDArray]:
    """Return the columns and sequence number of each token."""
    rows: list[list[str]] = []
    sizes: list[int] = []
    for first, tokens in sequences_of_lines(lines, form):
        width = len(rows[0] if rows else tokens[0])
        for i, columns in enumerate(tokens, first):
            if len(columns) != width:
                hint = HINT if columns[0].startswith("#") or (rows[:1] and rows[0][0].startswith("#")) else ""
                raise ValueError(
                    f"line {i} has {len(columns)} columns, and the first token has {width}: {shortened(' '.join(columns))}{hint}."
                )
        rows += tokens
        sizes.append(len(tokens))
    return rows, np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)


class LineForm:
    """The form of lines: comments and delimiters.

    Parameters
    ----------
    comment : "auto", str or None
        How lines of comment begin; "auto" is decided by the first sequence.
    sep : str or None
        The text between columns; None is white space.
    """

    def __init__(self, comment: str | None, sep: str | None):
        if comment is not None and (not isinstance(comment, str) or not comment):
            raise ValueError(f"comment={comment!r} is not accepted; accepted are 'auto', None and the beginning of lines.")
        if sep is not None and (not isinstance(sep, str) or not sep.strip("\r\n")):
            raise ValueError(f"sep={sep!r} is not accepted; accepted are None, for white space, and a text such as a tab.")
        self.comment, self.sep = comment, sep

    @property
    def prefix(self) -> str | None:
        """Prefix of lines that can be comments."""
        return USUAL if self.comment == AUTO else self.comment

    def columns(self, line: str) -> list[str]:
        """Return the columns of a line."""
        if self.sep is None or line.isspace():
            return line_columns(line)
        return line.rstrip("\r\n").split(self.sep)

    def are_comments(self, first: int, head: list[list[str]], tokens: list[list[str]]) -> bool:
        """Whether the lines before a sequence's tokens are comments."""
        if self.comment != AUTO:
            return self.comment is not None
        labels = {columns[-1] for columns in tokens}
        alike = all(len(columns) == len(tokens[0]) and columns[-1] in labels for columns in head)
        self.comment = USUAL if head and not alike else None
        if self.comment is not None:
            warn(
                f"line {first} begins with {USUAL!r} before the tokens of a sequence: such lines are read as comments; "
                f"comment={USUAL!r} says so without a warning, and comment=None reads them as tokens."
            )
        return self.comment is not None


def sequences_of_lines(lines: Iterable[str], form: LineForm) -> Iterator[tuple[int, list[list[str]]]]:
    """Yield each sequence's first line number and token columns."""
    waiting: list[tuple[int, list[list[str]]]] = []  # sequences of lines that are comments or tokens
    for first, head, tokens in runs_of_lines(lines, form):
        if not tokens and form.comment == AUTO:
            waiting.append((first, head))
            continue
        comments = form.are_comments(first if not waiting else waiting[0][0], [*chain(*(h for _, h in waiting)), *head], tokens)
        yield from () if comments else waiting
        waiting = []
        found = tokens if comments else head + tokens
        if found:
            yield first + (len(head) if comments else 0), found
    yield from waiting


def runs_of_lines(lines: Iterable[str], form: LineForm) -> Iterator[tuple[int, list[list[str]], list[list[str]]]]:
    """Yield each sequence's first line number, comments and lines."""
    head: list[list[str]] = []
    tokens: list[list[str]] = []
    number = 0
    for number, line in enumerate(lines, 1):
        text = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
        columns = form.columns(text)
        if columns and columns[0] != DOCUMENT:
            prefix = form.prefix
            (head if not tokens and prefix is not None and text.startswith(prefix) else tokens).append(columns)
        elif head or tokens:
            yield number - len(head) - len(tokens), head, tokens
            head, tokens = [], []
    if head or tokens:
        yield number + 1 - len(head) - len(tokens), head, tokens


def line_columns(line: str) -> list[str]:
    """Return the columns of a line; spaces that are not ASCII, such as no-break spaces, belong to columns."""
    return line.split() if line.isascii() or line.isspace() else COLUMN.findall(line)
