"""Files of tokens in columns, with empty lines between sequences."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.datasets._broken_lines import BrokenLineError
from sklearn_predtron.datasets._conll import AUTO, LineForm, sequences_of_lines
from sklearn_predtron.datasets.formats.base import ChunkLimits
from sklearn_predtron.datasets.formats.file_formats import Conll
from sklearn_predtron.datasets.formats.files import named
from sklearn_predtron.datasets.formats.records import Record, RecordFormat
from sklearn_predtron.datasets.formats.text import TextLines, counted

WIDTH = 2**20  # features, unless another number is asked for
USUAL = "words"  # the name of the default template
MACRO = re.compile(r"%x\[\s*([+-]?\d{1,4})\s*,\s*(\d{1,4}(?::\w+)?)\s*\]")
ACCEPTED = "accepted are lines as U01:%x[-1,0]/%x[0,0], of offsets and columns, and B"

Template = list[tuple[tuple[str, int], ...]]


class ConllFormat(RecordFormat):
    """Tokens in columns.

    Parameters
    ----------
    width : int
        Features that items are hashed to.
    template : list of tuples or None
        Items, as `token_features` takes them.
    columns : int or None
        Columns beside the label, if they are known.
    label : str or None
        The column of the label: its number from 1, first or last (None).
    comment, sep : str or None
        As `read_conll` takes them.
    """

    name, sequences = "conll", True
    place_of_label = "the parameter `label` is the column of the labels, which is the last one by default"

    @classmethod
    def from_options(
        cls, how: Conll, limits: ChunkLimits, classes: Any, like: Any, state: Mapping[str, Any] | None
    ) -> ConllFormat:
        text: dict[str, Any] = {"encoding": how.encoding, "skip_unlabelled": False, **limits._asdict()}
        if state is not None:
            form = {name: state.get(name) for name in ("label", "comment", "sep")}
            return cls(like.n_features_in_, state["template"], int(state["columns"]), **form, **text)
        if like is not None:
            kind = type(like).__name__
            raise ValueError(f"like holds a {kind} that was not trained on conll files; accepted are models that were")
        items = read_template(how.template)
        return cls(how.n_features or WIDTH, items, label=how.label, comment=how.comment, sep=how.sep, **text)

    def __init__(
        self,
        width: int,
        template: Template | None,
        columns: int | None = None,
        *,
        label: str | None = None,
        comment: str | None = AUTO,
        sep: str | None = None,
        **text: Any,
    ):
        super().__init__(**text)
        if label not in (None, "first", "last") and not str(label).isdecimal():
            raise ValueError(f"label={label!r} is no column of tokens; accepted are its number from 1, first and last")
        self.width: int = width
        self.template, self.columns, self.label = template, columns, label
        self.form = LineForm(comment, sep)
        if columns is not None:
            features_of_tokens([[""] * columns], template=template, n_features=1)  # rejects columns that make no features

    @property
    def label_column(self) -> int:
        """Return the column of the label."""
        return int(str(self.label)) - 1 if is_column_number(self.label) else 0 if self.label == "first" else -1

    def has_labels(self, lines: TextLines) -> bool | None:
        for first, tokens in sequences_of_lines(bounded(lines), self.form):
            n = len(tokens[0])
            if self.columns is None:
                self._take_columns(n - 1, lines, first)
            return self._has_label(n, lines, first)
        return None

    def _take_columns(self, n: int, lines: TextLines, first: int) -> None:
        """Set the number of columns, from which features are made."""
        if is_column_number(self.label) and not 1 <= int(str(self.label)) <= n + 1:
            raise ValueError(f"label={self.label!r} is no column of {lines.path}; accepted are 1 to {n + 1}, first and last")
        if n < 1:
            raise lines.broken("there is one column; the last one is the label, and others are needed", first)
        features_of_tokens([[""] * n], template=self.template, n_features=1)
        self.columns = n

    def _has_label(self, n: int, lines: TextLines, line: int) -> bool:
        """Return whether a token with these columns has a label."""
        wanted = self.columns or 0
        if n not in (wanted, wanted + 1):
            said = f"accepted are {wanted + 1}, of which the last is the label, or {wanted} without labels"
            raise lines.broken(f"the token has {counted(n, 'column')}; {said}", line)
        return n > wanted

    def records(self, lines: TextLines) -> Iterator[Record]:
        before: Record | None = None
        error = None
        found = self._sequences(lines)
        while True:
            try:
                record = next(found, None)
            except BrokenLineError as broken:
                record, error = None, broken
            if before is not None:
                end = before.line + len(before.content)
                following = record.line if record is not None else lines.number + 1 if error is None else end + 1
                yield before._replace(gaps=(before.gaps[0], following - end))
            if error is not None:
                raise error
            if record is None:
                return
            before = record._replace(gaps=(record.line - 1 if before is None else 0, 0))

    def _sequences(self, lines: TextLines) -> Iterator[Record]:
        """Yield the sequences of a file, without their gaps."""
        labelled = None
        for first, tokens in sequences_of_lines(bounded(lines), self.form):
            if labelled is None:
                labelled = self._has_label(len(tokens[0]), lines, first)
            n = (self.columns or 0) + labelled
            for i, columns in enumerate(tokens, first):
                if len(columns) != n:
                    raise lines.broken(f"the token has {counted(len(columns), 'column')}, and those before it have {n}", i)
            labels: list[str | float] | None = [columns.pop(self.label_column) for columns in tokens] if labelled else None
            yield Record(first, labels, tokens)

    def rows(self, records: Sequence[Record]) -> Any:
        tokens = [columns for record in records for columns in record.content]
        sid = np.repeat(np.arange(len(records)), [len(record.content) for record in records])
        return features_of_tokens(tokens, sid, template=self.template, n_features=self.width)

    def state(self) -> dict[str, Any]:
        comment = None if self.form.comment == AUTO else self.form.comment
        own = {"label": self.label, "comment": comment, "sep": self.form.sep}
        known = {name: value for name, value in own.items() if value is not None}
        return {"format": self.name, "template": self.template, "columns": self.columns, **known}


def features_of_tokens(tokens: Any, sid: Any = None, **how: Any) -> Any:
    """Return the features of tokens."""
    from sklearn_predtron.datasets._token_features import token_features  # tables do without scikit-learn

    return token_features(tokens, sid, **how)


def is_column_number(label: str | None) -> bool:
    """Return whether the label column is given by number."""
    return label is not None and label.isdecimal()


def bounded(lines: TextLines) -> Iterator[str]:
    """Yield the lines; raise an error for sequences too large for memory."""
    first = begun = 0
    for line in lines:
        if line.isspace():
            first, begun = lines.number, lines.n_bytes
        elif lines.n_bytes - begun > lines.longest:
            raise lines.broken(f"the sequence from line {first + 1} on is longer than chunk_bytes={lines.longest}")
        yield line


# ------------------------------------------------------------------------------------------------------------- templates


def read_template(template: str | os.PathLike[str] | Template | None) -> Template | None:
    """Return the items of a template; None is the default one."""
    if template is None or template == USUAL:
        return None
    if isinstance(template, list):
        return template
    with named(f"template={template!r}"), open(template, encoding="utf-8-sig", errors="replace") as lines:
        found = [read_item(template, i, line) for i, line in enumerate(lines, 1)]
    items = [item for item in found if item]
    if not items:
        raise ValueError(f"template={template!r} has no items; {ACCEPTED}")
    return items


def read_item(path: str | os.PathLike[str], number: int, line: str) -> tuple[tuple[str, int], ...]:
    """Return the item of a line; comments and "B" have none."""
    text = line.strip()
    if not text or text.startswith("#") or text == "B":
        return ()
    macros = MACRO.findall(text)
    if not text.startswith("U") or not macros or "%" in MACRO.sub("", text):
        raise ValueError(f"template={path!r}, line {number}: {shortened(text)} is no item; {ACCEPTED}")
    return tuple((attribute, int(offset)) for offset, attribute in macros)
