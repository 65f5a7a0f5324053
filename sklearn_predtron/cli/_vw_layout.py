"""Vowpal Wabbit lines: label, importance and named features."""

from __future__ import annotations

from collections.abc import Iterator

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.cli._hashed_layout import NamedFeaturesLayout
from sklearn_predtron.cli._layout import Record, parse_number
from sklearn_predtron.cli._text_lines import TextLines

ACCEPTED = "accepted before | are a number, which is the label, and another one, its importance"


class VwLayout(NamedFeaturesLayout):
    """``LABEL IMPORTANCE |NAMESPACE:SCALE NAME:VALUE ...`` per line.

    All but the first bar may be left out.
    """

    name = "vw"

    def _record(self, line: str, lines: TextLines) -> Record:
        head, *spaces = line.split("|")
        if not spaces:
            raise lines.broken("there is no |, behind which features are")
        label, weight = read_head(head, lines)
        pairs = [pair for text in spaces for pair in features_of(text, lines)]
        return Record(lines.number, None if label is None else [label], pairs, weight)


def read_head(text: str, lines: TextLines) -> tuple[float | None, float]:
    """Return the label and the importance, if given."""
    words = text.split()
    if words and (not text[-1].isspace() or words[-1].startswith("'")):
        raise lines.broken(f"at {shortened(words[-1])}: what is a tag, by its ' or because no space is before |, is not read")
    for word in words:
        if ":" in word:
            raise lines.broken(f"at {shortened(word)}: costs of labels are not read; {ACCEPTED}")
    numbers = [parse_number(word) for word in words]
    if None in numbers:
        raise lines.broken(f"at {shortened(words[numbers.index(None)])}: it is no number; {ACCEPTED}")
    if len(words) > 2:
        raise lines.broken(f"at {shortened(words[2])}: initial predictions are not read; {ACCEPTED}")
    label, weight = [*numbers, None, None][:2]
    if weight is not None and weight < 0:
        raise lines.broken(f"at {shortened(words[1])}: the importance is negative")
    return label, 1.0 if weight is None else weight


def features_of(text: str, lines: TextLines) -> Iterator[tuple[str, float]]:
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
