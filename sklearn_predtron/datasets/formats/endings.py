"""Formats by the ending of a file's name."""

from __future__ import annotations

ENDINGS = {".csv": "csv", ".tsv": "csv", ".conll": "conll", ".jsonl": "json", ".ndjson": "json", ".vw": "vw"}


def format_of_name(path: str) -> str | None:
    """Return the format by the ending of a file's name; None if it is another."""
    stem = path.lower().removesuffix(".gz").removesuffix(".bz2")
    return next((name for ending, name in ENDINGS.items() if stem.endswith(ending)), None)
