"""The first row of a file: its label, its ids, and its format."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from sklearn_predtron.cli._data_files import DataFile
from sklearn_predtron.cli._labels import is_number
from sklearn_predtron.datasets._blocks import rows_of
from sklearn_predtron.datasets._compressed import decompressed

ROWS_READ_FIRST = 100  # rows that may have no label in a file of sets of labels, which may be empty
ENDINGS = {".csv": "csv", ".tsv": "csv", ".conll": "conll", ".jsonl": "json", ".ndjson": "json", ".vw": "vw"}
PAIR = re.compile(rb"\d+:[-+.\deE]+")


@dataclass
class FirstRow:
    """Findings from the first row of a file."""

    label: bytes | None = None
    has_id: bool = False
    is_there: bool = False

    @classmethod
    def of(cls, file: DataFile, size: int, *, several: bool) -> FirstRow:
        """Return the findings, and record whether there are labels.

        With `several` labels a row, it is the first of the leading rows that has any.
        """
        found, broken = cls(), False
        with file.open(first_lines_only=True) as raw, decompressed(raw, file.path) as lines:
            for fields in islice(rows_of(lines, size), ROWS_READ_FIRST if several else 1):
                broken = not fields
                file.hint = "" if several or broken or found.is_there else hint_of(fields)
                label = fields[0] if fields and b":" not in fields[0] else None
                second = fields[label is not None :][:1]
                found = cls(label, found.has_id or b"".join(second).startswith(b"qid:"), True)
                if label is not None:
                    break
        file.labelled = found.label is not None or broken or not found.is_there
        file.first_row_read = True
        return found


def format_like(fields: list[bytes]) -> str | None:
    """Return the format that a first row resembles, or None."""
    if fields[0].startswith(b"{"):
        return "json"
    if any(field.startswith(b"|") for field in fields):
        return "vw"
    if any(PAIR.fullmatch(field) for field in fields[1:]):
        return None
    line = b" ".join(fields)
    if b"," in line or b";" in line:
        return "csv"
    if len(fields) < 2:
        return None
    return "csv" if all(is_number(field) for field in fields) else "conll"


def hint_of(fields: list[bytes]) -> str:
    """Return the hint about a file with such fields."""
    name = format_like(fields)
    return "" if name is None else f"; the file seems to be {name}, which --format {name} reads"


def format_of_name(path: str) -> str | None:
    """Return the format by the ending of a file's name; None if it is another."""
    stem = path.lower().removesuffix(".gz").removesuffix(".bz2")
    return next((name for ending, name in ENDINGS.items() if stem.endswith(ending)), None)
