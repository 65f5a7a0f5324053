"""Layouts of text files other than svmlight: what a record is, and what rows are made of records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import isfinite
from typing import Any, ClassVar, NamedTuple

from sklearn_predtron._support.warning import warn
from sklearn_predtron.cli._text_lines import Lines


class Record(NamedTuple):
    """A row, or the tokens of a sequence: where it begins, its labels, if it has any, and what features are made of."""

    line: int
    labels: list[str | float] | None
    content: Any
    weight: float = 1.0
    id: str | None = None


def number_of(label: str | float) -> float | None:
    """Return a label, or a text, as a number, if it is a finite one."""
    if isinstance(label, str) and "_" in label:  # which Python reads as a separator of digits
        return None
    try:
        value = float(label)
    except (ValueError, OverflowError):
        return None
    return value if isfinite(value) else None


class Layout(ABC):
    """Base of how a text file is read, record by record."""

    name: ClassVar[str]
    task: ClassVar[str | None] = None  # the only one that it is for
    sequences: ClassVar[bool] = False  # whether a record is one, whose tokens have a line each
    of_tables: ClassVar[bool] = False  # of whose columns features can be made
    place_of_label: ClassVar[str | None] = None  # what a message says of where the labels are
    width: int | None  # of the rows, once it is known

    skips = False  # whether rows without a label are left out, where others have one
    with_ids = False  # whether records have ids

    def left_out(self, n: int, lines: Lines) -> None:
        """Warn once of a file that some rows without a label were left out."""
        if n and lines.path not in self._warned_of:
            self._warned_of.add(lines.path)
            warn(f"{lines.path}: {n:,} {'row' if n == 1 else 'rows'} without a label {'was' if n == 1 else 'were'} left out")

    @cached_property
    def _warned_of(self) -> set[str]:
        return set()

    @property
    def without_label(self) -> str:
        """Return the text that is added to messages about files without labels."""
        return ""

    @property
    def is_known(self) -> bool:
        """Return whether records can be made rows without a first pass."""
        return self.width is not None

    @abstractmethod
    def look(self, lines: Lines) -> bool | None:
        """Return whether the rows of a file have labels, by its first lines; None if it has no rows."""

    @abstractmethod
    def records(self, lines: Lines) -> Iterator[Record]:
        """Yield the records of a file."""

    def labelled_records(self, lines: Lines) -> Iterator[Record]:
        """Yield the records of a file that have a label, and say how many have none."""
        return self.records(lines)

    def note(self, record: Record, lines: Lines) -> None:  # noqa: B027
        """Take notice of a record in the first pass."""

    def finish_pass(self) -> None:  # noqa: B027
        """Know from now on what the first pass has shown."""

    @abstractmethod
    def rows(self, records: Sequence[Record]) -> Any:
        """Return the rows of features of some records."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return the description of the files that a saved model stores."""

    def beside(self, baseline: Any) -> Any:
        """Return the learner of scikit-learn's that takes such rows."""
        return baseline
