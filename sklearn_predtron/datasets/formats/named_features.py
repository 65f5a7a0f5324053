"""Rows of named, hashed features, a line each: JSON objects and Vowpal Wabbit's lines."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NoReturn

import numpy as np

from sklearn_predtron._support.cells import ENOUGH, SHOWN, Census, examples
from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.warning import warn
from sklearn_predtron.datasets.formats.base import ChunkLimits
from sklearn_predtron.datasets.formats.file_formats import JsonLines, VowpalWabbit
from sklearn_predtron.datasets.formats.records import Record, RecordFormat, parse_number, saved_costs
from sklearn_predtron.datasets.formats.text import TextLines

HASHED = 2**18  # features, unless another number is asked for
MOST_NAMES, MOST_TEXTS = 1000, 1000  # names whose strings are counted, and strings of each
LABEL = "label"
BEFORE_BAR = "accepted before | are a number, which is the label, and another one, its importance"


class NamedFeaturesFormat(RecordFormat):
    """Base of formats with named features.

    Parameters
    ----------
    width : int
        Features that names are hashed to.
    """

    numbers_as_text: ClassVar[str]  # the warning of them
    may_be_whole: ClassVar[bool]  # whether whole numbers as text may be meant as numbers

    def __init__(self, width: int, **text: Any):
        super().__init__(**text)
        self.width: int = width
        self._texts: dict[tuple[str, str], Census] = {}  # the first strings of a file that have a name
        self._warned_of_numbers: set[str] = set()
        self._with_numbers: set[str] = set()  # files in which names have numbers

    def has_labels(self, lines: TextLines) -> bool | None:
        first = None
        for record in self._all(lines):
            if not self.skip_unlabelled or record.labels is not None:
                return record.labels is not None
            first = False
        return first

    def _all(self, lines: TextLines) -> Iterator[Record]:
        """Yield the rows of all lines that are not blank."""
        return (self._record(line, lines) for line in lines if not line.isspace())

    def labelled_records(self, lines: TextLines) -> Iterator[Record]:
        n = 0
        for record in self._all(lines):
            if record.labels is None:
                n += 1
            else:
                yield record
        self.warn_of_unlabelled(n, lines)
        self._warn_of_numbers(lines)

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
            if record.labels is not None and not labelled and not self.ignores_labels:
                raise lines.broken("the row has a label, and those before it have none")
            yield record
        self._warn_of_numbers(lines)

    def _count_text(self, name: str, text: str, lines: TextLines) -> None:
        """Record one of the first strings that a name has in a file."""
        place = lines.path, name
        if place in self._texts or len(self._texts) < MOST_NAMES:
            found = self._texts.setdefault(place, Census())
            if found.filled < MOST_TEXTS:
                found.add(text)

    def _warn_of_numbers(self, lines: TextLines) -> None:
        """Warn once per file about numbers as text, each of which is a feature."""
        texts = {name: found for (path, name), found in self._texts.items() if path == lines.path and found.of_numbers}
        names = [name for name, found in texts.items() if len(found.numbers) >= ENOUGH and self._are_numbers(found, lines)]
        if names and lines.path not in self._warned_of_numbers:
            self._warned_of_numbers.add(lines.path)
            said = examples([f"{number:g}" for number in sorted(texts[names[0]].numbers)])
            warn(
                self.numbers_as_text.format(path=lines.path, names=examples(names) + ", ..." * (len(names) > SHOWN), numbers=said)
            )

    def _are_numbers(self, found: Census, lines: TextLines) -> bool:
        """Return whether strings of numbers are hardly codes: they have fractions, or the file has no other numbers."""
        return any(number % 1 for number in found.numbers) or (self.may_be_whole and lines.path not in self._with_numbers)

    @abstractmethod
    def _record(self, line: str, lines: TextLines) -> Record:
        """Return the row of a line."""

    def rows(self, records: Sequence[Record]) -> Any:
        from sklearn.feature_extraction import FeatureHasher  # other formats do without its import

        hasher = FeatureHasher(self.width, input_type="pair", alternate_sign=False, dtype=np.float64)
        return hasher.transform(record.content for record in records)

    def state(self) -> dict[str, Any]:
        return {"format": self.name}


class JsonFormat(NamedFeaturesFormat):
    """An object a line.

    Parameters
    ----------
    width : int
        Features that names are hashed to.
    label : str
        The name of the label.
    costs : dict or None
        Names of the members that are costs, by pair.
    """

    name = "json"
    place_of_label = "the parameter `label` says the name of the label"
    numbers_as_text = (
        "{path} has numbers as strings in {names}, as {numbers}, and each is a feature of its own; write them without quotes"
    )
    may_be_whole = True

    @classmethod
    def from_options(
        cls, how: JsonLines, limits: ChunkLimits, classes: Any, like: Any, state: Mapping[str, Any] | None
    ) -> JsonFormat:
        given = how.label or LABEL, dict(how.costs) if how.costs else None
        known = given if state is None else (state["label"], saved_costs(state, like.classes_))
        return cls(width_of(how, like), *known, **text_format(how, limits))

    def __init__(self, width: int, label: str, costs: dict[tuple[Any, Any], str] | None, **text: Any):
        super().__init__(width, **text)
        if not isinstance(label, str):
            raise ValueError(f"label={label!r} is no name")
        self.label, self.costs = label, costs

    @property
    def hint(self) -> str:
        return f"; the label is {self.label!r} unless the parameter `label` says another name"

    def _record(self, line: str, lines: TextLines) -> Record:
        try:
            found = json.loads(line.strip(), object_pairs_hook=JsonMembers, parse_constant=reject_constant)
        except json.JSONDecodeError as error:
            raise lines.broken(f"the line is no JSON: {error.msg}, at place {error.pos + 1}") from None
        except (ValueError, RecursionError) as error:
            raise lines.broken(f"the line is no JSON: {error}") from None
        if not isinstance(found, JsonMembers):
            raise lines.broken(f"the line is {shortened(found)}; accepted are objects, of features by name")
        members = dict(found)
        if len(members) < len(found):
            raise lines.broken("a name is there twice")
        pairs = [(name, feature_of(name, value, lines)) for name, value in found if name != self.label and value is not None]
        for name, value in pairs:
            if isinstance(value, str):
                self._count_text(name, value, lines)
            else:
                self._with_numbers.add(lines.path)
        labels = self._labels_in(members.get(self.label), lines)
        return Record(lines.number, labels, pairs, costs=self._costs_in(members, lines, learned=labels is not None))

    def _costs_in(self, members: dict[str, Any], lines: TextLines, *, learned: bool) -> list[float] | None:
        """Return the costs of a row, which rows without labels need not have."""
        names = [] if self.costs is None else list(self.costs.values())
        if not names or (not learned and not all(name in members for name in names)):
            return None
        return [lines.cost(name, members.get(name)) for name in names]

    def _labels_in(self, label: Any, lines: TextLines) -> list[str | float] | None:
        """Return the label in a list, if any."""
        if isinstance(label, list):
            raise lines.broken(f"the label {self.label!r} is a list or an object; accepted are numbers and strings")
        if isinstance(label, str):
            check_text(label, lines)
        elif label is not None and parse_number(label) is None:
            raise lines.broken(f"the label {self.label!r} is too large a number")
        elif isinstance(label, int) and float(label) != label:
            raise lines.broken(f"the label {label} has more digits than a number keeps; in quotes it is text")
        return None if label is None else [str(label).lower() if isinstance(label, bool) else label]

    def state(self) -> dict[str, Any]:
        return {**super().state(), "label": self.label}


def text_format(how: JsonLines | VowpalWabbit, limits: ChunkLimits) -> dict[str, Any]:
    """Return how the text is read."""
    return {"encoding": how.encoding, "skip_unlabelled": how.skip_unlabelled, **limits._asdict()}


def width_of(how: JsonLines | VowpalWabbit, like: Any) -> int:
    """Return the number of features that names are hashed to."""
    return (how.n_features or HASHED) if like is None else like.n_features_in_


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


class VwFormat(NamedFeaturesFormat):
    """``LABEL IMPORTANCE |NAMESPACE:SCALE NAME:VALUE ...`` per line. All but the first bar may be left out."""

    name = "vw"
    numbers_as_text = "{path} has numbers without names, as {numbers}, and each is a feature of its own; accepted are NAME:VALUE"
    may_be_whole = False  # they are names

    @classmethod
    def from_options(
        cls, how: VowpalWabbit, limits: ChunkLimits, classes: Any, like: Any, state: Mapping[str, Any] | None
    ) -> VwFormat:
        return cls(width_of(how, like), **text_format(how, limits))

    def _record(self, line: str, lines: TextLines) -> Record:
        head, *spaces = line.split("|")
        if not spaces:
            raise lines.broken("there is no |, behind which features are")
        label, weight = read_head(head, lines)
        pairs = [pair for text in spaces for pair in features_of_namespace(text, lines)]
        for text in spaces:
            for word in text.split():
                if ":" not in word:
                    self._count_text("", word, lines)
        return Record(lines.number, None if label is None else [label], pairs, weight)


def read_head(text: str, lines: TextLines) -> tuple[float | None, float]:
    """Return the label and the importance, if given."""
    words = text.split()
    if words and (not text[-1].isspace() or words[-1].startswith("'")):
        raise lines.broken(f"at {shortened(words[-1])}: what is a tag, by its ' or because no space is before |, is not read")
    for word in words:
        if ":" in word:
            raise lines.broken(f"at {shortened(word)}: costs of labels are not read; {BEFORE_BAR}")
    numbers = [parse_number(word) for word in words]
    if None in numbers:
        raise lines.broken(f"at {shortened(words[numbers.index(None)])}: it is no number; {BEFORE_BAR}")
    if len(words) > 2:
        raise lines.broken(f"at {shortened(words[2])}: initial predictions are not read; {BEFORE_BAR}")
    label, weight = [*numbers, None, None][:2]
    if weight is not None and weight < 0:
        raise lines.broken(f"at {shortened(words[1])}: the importance is negative")
    return label, 1.0 if weight is None else weight


def features_of_namespace(text: str, lines: TextLines) -> Iterator[tuple[str, float]]:
    """Yield the hashed names and values of a namespace."""
    words = text.split()
    space, scale = ("", 1.0) if not words or text[0].isspace() else named_value(words.pop(0), lines)
    for word in words:
        name, value = named_value(word, lines)
        yield f"{space}^{name}" if space else name, scale * value


def named_value(word: str, lines: TextLines) -> tuple[str, float]:
    """Return a name and its number, by default 1."""
    name, colon, text = word.partition(":")
    value = parse_number(text) if colon else 1.0
    if not name or value is None:
        raise lines.broken(f"at {shortened(word)}: expected NAME or NAME:VALUE, with a finite number")
    return name, value
