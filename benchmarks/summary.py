"""python -m benchmarks report: one line for each comparison that a suite is for, from the results that are kept."""

import argparse
from collections.abc import Sequence
from math import exp, log
from statistics import mean

from benchmarks import first_page
from benchmarks.headlines import HEADLINES, Headline
from benchmarks.record import Record
from benchmarks.report import README, Table, number, replace
from benchmarks.suites import SUITES

HELP = "print the summary of the results that are kept"


def line(headline: Headline) -> list:
    """The cells of a headline: the geometric mean of its ratios, their extremes, the limits."""
    about = [f"[{headline.suite}](results/{headline.suite}.md)", headline.what, headline.baseline]
    table = Record.last(headline.suite).table(headline.title)
    rows = [] if table is None else zip(headline.ratios(table), headline.limits(table), strict=True)
    measured = [(ratio, limit) for ratio, limit in rows if ratio is not None]
    if not measured:
        return [*about, "not measured", None, None, None]
    found = [ratio for ratio, _ in measured]
    middle = number(exp(mean(map(log, found))))
    ratio = middle if len(found) == 1 else f"{middle} ({number(min(found))}-{number(max(found))})"
    return [*about, ratio, *limit_cells([(ratio, *limit) for ratio, limit in measured if limit is not None])]


def limit_cells(limited: Sequence[tuple[float, float, bool]]) -> list:
    """Of ratios with their limits: the limits, the greatest ratio to one, and how many are kept."""
    if not limited:
        return [None, None, None]
    values = sorted({limit for _, limit, _ in limited})
    stated = number(values[0]) if len(values) == 1 else f"{number(values[0])}-{number(values[-1])}"
    worst = max(ratio / limit for ratio, limit, _ in limited)
    return [stated, number(worst), f"{sum(kept for *_, kept in limited)} of {len(limited)}"]


def summary() -> str:
    """The table of all headlines, and when each suite was measured."""
    columns = ["suite", "measure", "compared with", "sklearn_predtron / peer", "limit", "worst ratio to it", "kept"]
    table = Table("Summary", columns, [line(headline) for headline in HEADLINES]).lines()
    dates: dict[str, list[str]] = {}
    for suite in SUITES:
        record = Record.last(suite)
        dates.setdefault(f"{record.date} at {record.commit} (BLAS {record.blas or 'not noted'})", []).append(suite)
    return table + "\nMeasured: " + "; ".join(f"{', '.join(names)} on {when}" for when, names in dates.items()) + ".\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--write", action="store_true", help="replace the summary in the README, and the results on the first page"
    )


def execute(arguments: argparse.Namespace) -> None:
    """Print the summary."""
    print(summary())
    if arguments.write:
        README.write_text(replace(README.read_text(), "summary", summary()))
        first_page.write()
