"""python -m benchmarks check: suites anew, beside the figures that were recorded."""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.record import Record, plain
from benchmarks.report import Table
from benchmarks.run import enough, suite
from benchmarks.suites import SUITES
from benchmarks.tasks import Options

HELP = "run suites anew, those that take minutes unless some are named, and compare their figures with the recorded ones"
MINUTES = ("joint", "norms", "mixing")
MOST, LEAST = 0.05, 0.003  # that a figure may differ by, relative to it, and anyhow
TIMES = 2.0  # that a ratio of times or of memory may be larger or smaller
MEASURED = re.compile(r"\b(ns|us|ms|seconds?|MB|bytes|times|growth|fit|predict|learn|conversion|rounds/s|rows/s)\b|/s\b")
LEADING = re.compile(r"^-?\d+(\.\d+)?(e-?\d+)?")


class Difference(NamedTuple):
    """A figure that is not the recorded one."""

    table: str
    row: str
    column: str
    recorded: Any
    found: Any


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("suites", nargs="*", metavar="SUITE", type=suite, help=", ".join(SUITES))
    parser.add_argument("--data", type=Path, help="a folder of data sets with a load.py")
    parser.add_argument("--repeats", type=enough, default=5, help="at least 5")


def execute(arguments: argparse.Namespace) -> None:
    """Run the suites, print what differs, and end with 1 if anything does."""
    found = 0
    for name in arguments.suites or MINUTES:
        tables = [plain(table) for table in SUITES[name].run(Options(repeats=arguments.repeats, data=arguments.data))]
        recorded = Record.last(name)
        differences = [one for table in tables if (kept := recorded.table(table.title)) for one in differing(kept, table)]
        for one in differences:
            print(f"{name}, {one.table}, {one.row}, {one.column}: recorded {one.recorded}, now {one.found}", flush=True)
        print(f"{name}: {sum(map(figures, tables))} figures, {len(differences)} unlike those of {recorded.date}", flush=True)
        found += len(differences)
    sys.exit(1 if found else 0)


def figures(table: Table) -> int:
    """How many numbers a table has."""
    return sum(value_of(cell) is not None for row in table.rows for cell in row)


def differing(recorded: Table, found: Table) -> Iterator[Difference]:
    """Yield what is other than recorded: rows that are not there, and figures that are too far off."""
    known = {label(row): row for row in recorded.rows}
    places = {name: j for j, name in enumerate(recorded.columns)}
    for row in found.rows:
        if label(row) not in known:
            yield Difference(found.title, label(row), "", None, "a new row")
            continue
        for name, cell in zip(found.columns, row, strict=True):
            before = known[label(row)][places[name]] if name in places else None
            if not close(name, before, cell):
                yield Difference(found.title, label(row), name, before, cell)


def label(row: list) -> str:
    """What a row is of: its words, and the whole numbers before its first figure."""
    words = []
    for cell in row:
        if isinstance(cell, float) or cell is None or (isinstance(cell, str) and LEADING.match(cell)):
            break
        words.append(str(cell))
    return ", ".join(words)


def value_of(cell: Any) -> float | None:
    """The number that a cell begins with: of a spread the median, of a mean with its error the mean."""
    if isinstance(cell, float):
        return cell
    leading = LEADING.match(cell) if isinstance(cell, str) else None
    return float(leading[0]) if leading else None


def close(column: str, recorded: Any, found: Any) -> bool:
    """Whether a figure is that recorded: qualities nearly, ratios of times and memory within a factor; seconds may be any."""
    before, now = value_of(recorded), value_of(found)
    if before is None or now is None:
        return True
    spread = isinstance(found, str) and "(" in found  # as times have it
    if not spread and not MEASURED.search(column):
        return abs(now - before) <= max(LEAST, MOST * abs(before))
    return "ratio" not in column or 1 / TIMES <= now / before <= TIMES
