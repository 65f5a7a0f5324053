"""Rows of named, hashed features, such as JSON objects."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
from sklearn.feature_extraction import FeatureHasher

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.cli._layout import Record, TextLayout, parse_number
from sklearn_predtron.cli._text_lines import TextLines

HASHED = 2**18  # features, unless another number is asked for
LABEL = "label"


class NamedFeaturesLayout(TextLayout):
    """Base of layouts with named features, one row per line.

    Parameters
    ----------
    width : int
        Features that names are hashed to.
    """

    def __init__(self, width: int):
        self.width: int = width

    def first_row(self, lines: TextLines) -> bool | None:
        first = None
        for record in self._all(lines):
            if not self.skips or record.labels is not None:
                return record.labels is not None
            first = False
        return first

    def _all(self, lines: TextLines) -> Iterator[Record]:
        """Yield the rows of all lines that are not blank."""
        return (self._record(line, lines) for line in lines if not line.isspace())

    def labelled_records(self, lines: TextLines) -> Iterator[Record]:
        """Yield the labelled rows; report how many have none."""
        n = 0
        for record in self._all(lines):
            if record.labels is None:
                n += 1
            else:
                yield record
        self.left_out(n, lines)

    def records(self, lines: TextLines) -> Iterator[Record]:
        labelled, blank = None, list[int]()  # blank lines before the first row, which shows whether they are rows
        for line in lines:
            if line.isspace():
                blank += [lines.number] if labelled is None else []
                if labelled is False:
                    yield Record(lines.number, None, [])
                continue
            record = self._record(line, lines)
            if labelled is None:
                labelled = record.labels is not None
                yield from () if labelled else (Record(number, None, []) for number in blank)
            if record.labels is not None and not labelled:
                raise lines.broken("the row has a label, and those before it have none")
            yield record

    @abstractmethod
    def _record(self, line: str, lines: TextLines) -> Record:
        """Return the row of a line."""

    def rows(self, records: Sequence[Record]) -> Any:
        hasher = FeatureHasher(self.width, input_type="pair", alternate_sign=False, dtype=np.float64)
        return hasher.transform(record.content for record in records)

    def state(self) -> dict[str, Any]:
        return {"format": self.name}


class JsonLayout(NamedFeaturesLayout):
    """An object a line.

    Parameters
    ----------
    width : int
        Features that names are hashed to.
    label : str
        The name of the label.
    """

    name = "json"
    place_of_label = "--label says the name of the label"

    def __init__(self, width: int, label: str):
        super().__init__(width)
        self.label = label

    @classmethod
    def loaded(cls, loaded: Any, state: dict[str, Any]) -> JsonLayout:
        """Return the layout that a saved model stores."""
        if not isinstance(state["label"], str):
            raise ValueError("label")
        return cls(loaded.n_features_in_, state["label"])

    @property
    def without_label(self) -> str:
        return f"; the label is {self.label!r} unless --label says another name"

    def _record(self, line: str, lines: TextLines) -> Record:
        try:
            found = json.loads(line.strip(), object_pairs_hook=JsonMembers, parse_constant=reject_constant)
        except json.JSONDecodeError as error:
            raise lines.broken(f"the line is no JSON: {error.msg}, at place {error.pos + 1}") from None
        except (ValueError, RecursionError) as error:
            raise lines.broken(f"the line is no JSON: {error}") from None
        if not isinstance(found, JsonMembers):
            raise lines.broken(f"the line is {shortened(found)}; accepted are objects, of features by name")
        if len({name for name, _ in found}) < len(found):
            raise lines.broken("a name is there twice")
        pairs = [(name, feature_of(name, value, lines)) for name, value in found if name != self.label and value is not None]
        return Record(lines.number, self._labels(dict(found).get(self.label), lines), pairs)

    def _labels(self, label: Any, lines: TextLines) -> list[str | float] | None:
        """Return the label in a list, if any."""
        if isinstance(label, list):
            raise lines.broken(f"the label {self.label!r} is a list or an object; accepted are numbers and strings")
        if isinstance(label, str):
            check_text(label, lines)
        elif label is not None and parse_number(label) is None:
            raise lines.broken(f"the label {self.label!r} is too large a number")
        return None if label is None else [str(label).lower() if isinstance(label, bool) else label]

    def state(self) -> dict[str, Any]:
        return {**super().state(), "label": self.label}


class JsonMembers(list[tuple[str, Any]]):
    """The members of an object, in their order."""


def feature_of(name: str, value: Any, lines: TextLines) -> float | str:
    """Return a feature's value; strings are hashed with the name."""
    if isinstance(value, list):
        raise lines.broken(f"{name!r} is a list or an object; accepted are numbers, strings, true, false and null")
    if isinstance(value, str):
        check_text(value, lines)
    check_text(name, lines)
    number = value if isinstance(value, str) else parse_number(value)
    if number is None:
        raise lines.broken(f"the number of {name!r} is too large")
    return number


def check_text(text: str, lines: TextLines) -> None:
    """Raise ValueError for lone surrogates, which have no hash."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise lines.broken(f"{text!r} is no text in Unicode") from None


def reject_constant(name: str) -> NoReturn:
    """Raise ValueError for NaN and infinities, which JSON lacks."""
    raise ValueError(f"{name} is no number of JSON")
