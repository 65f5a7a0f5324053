"""Text labels and unlabelled rows, rewritten before parsing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import IO

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.one_line import one_line
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.datasets._first_words import replace_first_words

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
FIRST_FIELD = re.compile(rb"(\s*)([^\s#]+)")
READABLE = "words without white space, #, : and NUL"
LONGEST_LABEL = 40  # of several in a message
UNKNOWN = b"label?"  # before a label that the parser is to reject


def decode_word(word: bytes) -> str:
    """Decode a label so that encoding returns its bytes."""
    return word.decode("utf-8", "surrogateescape")


def reads_as_number(label: bytes | str) -> bool:
    """Return whether a label can be read as a number."""
    try:
        float(label)
    except ValueError:
        return False
    return True


def is_line(label: str) -> bool:
    """Return whether a text label fits in a line."""
    return "\n" not in label and "\r" not in label


def can_be_read(label: str, *, several: bool) -> bool:
    """Return whether a row can begin with a word label."""
    return label != "" and not re.search(r"[\s#:\0]", label, re.ASCII) and not (several and "," in label)


def are_words(labels: NDArray | None) -> bool:
    """Return whether labels are known and text."""
    return labels is not None and labels.dtype.kind in "UO" and all(isinstance(label, str) for label in labels.tolist())


def typed(text: str, classes: NDArray | None) -> str | float:
    """Return a label as the classes have it; raise ValueError if it is no number where they are numbers."""
    return text if classes is not None and classes.dtype.kind in "UO" else float(text)


def add_labels(lines: bytes) -> bytes:
    """Put a label before each row; a blank line is a row without features, and a comment alone is no row."""
    rows = lines.split(b"\n")
    n = len(rows) - (not rows[-1])  # the text behind the last line's end is no line
    return b"\n".join([row if row.lstrip().startswith(b"#") else b"0 " + row for row in rows[:n]] + rows[n:])


def add_labels_to_groups(lines: bytes) -> bytes:
    """Put a label before each document or token with an id."""
    rows = lines.split(b"\n")
    return b"\n".join([b"0 " + row if FIRST_FIELD.match(row) else row for row in rows])


class WordLabels:
    """Word labels and the numbers that replace them in parsing.

    Parameters
    ----------
    names : iterable of str
        The words that are known, each of which a row can begin with; their numbers count from 0.
    grows : bool
        Whether words that are not known become known as they are read.
    several : bool
        Whether a row has any number of labels, with commas between them.
    """

    def __init__(self, names: Iterable[str] = (), *, grows: bool, several: bool):
        self.names = list(names)
        self.grows = grows
        self.several = several
        self.unknown: str | None = None  # the first label of the present pass that is not known
        self._numbers = {name.encode("utf-8", "surrogateescape"): b"%d" % i for i, name in enumerate(self.names)}

    def restart(self) -> None:
        """Restart for a pass over a file."""
        self.unknown = None

    def rewrite(self, lines: bytes) -> memoryview:
        """Replace words by numbers."""
        return replace_first_words(lines, self._numbers, self._rewrite_line)

    def _rewrite_line(self, line: bytes) -> bytes:
        """Replace a line's words by numbers; a first field with a colon is no label."""
        match = FIRST_FIELD.match(line)
        if match is None or b":" in match[2]:
            return line
        if line[match.end() : match.end() + 1] == b"#":  # as in C#, of which a comment would leave the C
            return self._mark_rejected(match[2] + b"#") + line[match.end() :]
        parts = match[2].split(b",") if self.several else [match[2]]
        return match[1] + b",".join([self._numbers.get(part) or self._new(part) for part in parts]) + line[match.end() :]

    def _new(self, word: bytes) -> bytes:
        """Return the number of a new word, or an unparsable text."""
        if self.grows and word and b"," not in word and b"\0" not in word:
            self.names.append(decode_word(word))
            return self._numbers.setdefault(word, b"%d" % len(self._numbers))
        return self._mark_rejected(word)

    def _mark_rejected(self, word: bytes) -> bytes:
        """Mark a word as rejected, and record the first one."""
        self.unknown = decode_word(word) if self.unknown is None else self.unknown
        return UNKNOWN + word

    def explain(self, reason: str) -> str:
        """Explain an unreadable line with the file's own words."""
        if self.unknown is None or UNKNOWN.decode() not in reason:
            return reason
        if not self.unknown:
            return "a label is empty, before or after a comma"
        if "\0" in self.unknown:
            return f"at {shortened(self.unknown)}: a label has no NUL byte"
        if self.unknown.endswith("#"):
            return f"at {shortened(self.unknown)}: a label has no #, and a comment after a word has a space before it"
        if self.grows:
            return (
                f"at {shortened(self.unknown)}: the label has a comma; the parameter `multilabel` reads several labels in a row"
            )
        return f"at {shortened(self.unknown)}: the label is not one of the classes {shortened_labels(self.names)}"

    def of(self, numbers: NDArray) -> NDArray:
        """Return the words of numbers."""
        return np.array(self.names)[numbers.astype(np.intp)]


def shortened_labels(labels: Iterable[str | float]) -> str:
    """Return the first ten labels for a message."""
    found = [one_line(label, LONGEST_LABEL) if isinstance(label, str) else f"{label:g}" for label in islice(labels, 11)]
    return f"[{', '.join(found[:10])}{', ...' if len(found) > 10 else ''}]"


class RewrittenText:
    """The lines of a file, rewritten as they are read."""

    def __init__(self, file: IO[bytes], rewrite: Callable[[bytes], bytes | memoryview], longest: int):
        self._file = file
        self._rewrite = rewrite
        self._longest = longest
        self._line = bytearray()  # whose end is not read yet
        self._ready = memoryview(b"")
        self._opened = False

    def readinto1(self, buffer: memoryview) -> int:
        """Read whole lines, or a part of a very long one."""
        over = False
        while not self._ready and not over:
            read = self._file.read1(len(buffer))  # type: ignore[attr-defined]
            over = not read
            cut = len(read) if over else read.rfind(b"\n") + 1
            self._line += read[:cut]
            if cut or over or len(self._line) + len(read) > self._longest:
                self._ready = memoryview(self._rewrite(self._without_mark(bytes(self._line))))
                self._line.clear()
            self._line += read[cut:]
        n = min(len(buffer), len(self._ready))
        buffer[:n], self._ready = self._ready[:n], self._ready[n:]
        return n

    def _without_mark(self, lines: bytes) -> bytes:
        """Remove the byte order mark from the first lines."""
        first, self._opened = not self._opened, True
        return lines.removeprefix(BYTE_ORDER_MARK) if first else lines
