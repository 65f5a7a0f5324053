"""Base of text layouts other than svmlight."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import isfinite
from typing import Any, ClassVar, NamedTuple

from sklearn_predtron._support.warning import warn
from sklearn_predtron.cli._text_lines import TextLines


class Record(NamedTuple):
    """A row or sequence: its line, labels and fields."""

    line: int
    labels: list[str | float] | None
    content: Any
    weight: float = 1.0
    id: str | None = None


def parse_number(label: str | float) -> float | None:
    """Return text as a finite number, if it is one."""
    if isinstance(label, str) and "_" in label:  # which Python reads as a separator of digits
        return None
    try:
        value = float(label)
    except (ValueError, OverflowError):
        return None
    return value if isfinite(value) else None


class TextLayout(ABC):
    """Base of the layouts that read a file by records."""

    name: ClassVar[str]
    task: ClassVar[str | None] = None  # the only one that it is for
    sequences: ClassVar[bool] = False  # whether a record is one, whose tokens have a line each
    of_tables: ClassVar[bool] = False  # of whose columns features can be made
    place_of_label: ClassVar[str | None] = None  # the place of the labels in messages
    width: int | None  # of the rows, once it is known

    skips = False  # whether rows without a label are left out, where others have one
    with_ids = False  # whether records have ids

    def left_out(self, n: int, lines: TextLines) -> None:
        """Warn once per file about skipped rows without a label."""
        if n and lines.path not in self._warned_of:
            self._warned_of.add(lines.path)
            warn(f"{lines.path}: {n:,} {'row' if n == 1 else 'rows'} without a label {'was' if n == 1 else 'were'} left out")

    @cached_property
    def _warned_of(self) -> set[str]:
        return set()

    @property
    def without_label(self) -> str:
        """Return the hint in messages about files without labels."""
        return ""

    @property
    def is_known(self) -> bool:
        """Return whether rows can be made without a first pass."""
        return self.width is not None

    @abstractmethod
    def first_row(self, lines: TextLines) -> bool | None:
        """Return whether the rows have labels.

        None if there are no rows.
        """

    @abstractmethod
    def records(self, lines: TextLines) -> Iterator[Record]:
        """Yield the records of a file."""

    def labelled_records(self, lines: TextLines) -> Iterator[Record]:
        """Yield the labelled records; report how many have none."""
        return self.records(lines)

    def add_record(self, record: Record, lines: TextLines) -> None:  # noqa: B027
        """Record one record in the first pass."""

    def finish_pass(self) -> None:  # noqa: B027
        """Fix the layout after the first pass."""

    @abstractmethod
    def rows(self, records: Sequence[Record]) -> Any:
        """Return the features of some records."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return the description of the files that a saved model stores."""

    def wrap_baseline(self, baseline: Any) -> Any:
        """Return the scikit-learn baseline for such rows."""
        return baseline
