"""Feature templates of tokens in the format of CRF++."""

from __future__ import annotations

import re

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.cli._console import UsageError
from sklearn_predtron.cli._data_files import named

USUAL = "words"  # the name of the template that is there without a file
MACRO = re.compile(r"%x\[\s*([+-]?\d{1,4})\s*,\s*(\d{1,4}(?::\w+)?)\s*\]")
ACCEPTED = "accepted are lines as U01:%x[-1,0]/%x[0,0], of offsets and columns, and B"

Template = list[tuple[tuple[str, int], ...]]


def read_template_file(path: str | None) -> Template | None:
    """Read the items of a template; None is the default one."""
    if path is None or path == USUAL:
        return None
    with named(f"--template={path!r}"), open(path, encoding="utf-8-sig", errors="replace") as lines:
        found = [read_item(path, i, line) for i, line in enumerate(lines, 1)]
    items = [item for item in found if item]
    if not items:
        raise UsageError(f"--template={path!r} has no items; {ACCEPTED}")
    return items


def read_item(path: str, number: int, line: str) -> tuple[tuple[str, int], ...]:
    """Return the item of a line; comments and "B" have none."""
    text = line.strip()
    if not text or text.startswith("#") or text == "B":
        return ()
    macros = MACRO.findall(text)
    if not text.startswith("U") or not macros or "%" in MACRO.sub("", text):
        raise UsageError(f"--template={path!r}, line {number}: {shortened(text)} is no item; {ACCEPTED}")
    return tuple((attribute, int(offset)) for offset, attribute in macros)
