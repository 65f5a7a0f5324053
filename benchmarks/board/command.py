"""The command python -m benchmarks.board: it measures, prints the tables and, with --write, records them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.board.measure import FIRST, Found, mean_ranks, measured
from benchmarks.board.methods import LEFT_OUT, METHODS
from benchmarks.board.sets import SETS, Missing
from benchmarks.board.task import MOST_ROWS
from benchmarks.record import Record
from benchmarks.report import Table

TITLE, PROMISES, SECONDS = "Savings", "Promises", "CPU seconds of training"
RANKS_OF_ALL, RANKS_OF_TWO = "mean rank, all sets", "mean rank, two classes"


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what the arguments name."""
    given = parse(argv)
    methods = {name: METHODS[name] for name in given.methods or METHODS}
    left_out = [f"The method {name!r} is left out: {needs} is not installed" for name, needs in LEFT_OUT.items()]
    found: list[Found] = []
    rest = dict.fromkeys(SETS)
    for name in given.sets or SETS:
        rest.pop(name, None)
        try:
            task = SETS[name](given.data)
        except Missing as reason:
            left_out.append(f"The set {name!r} is left out: {reason}")
            continue
        found.append(measured(task, methods, given.splits))
        print(f"{task.name}: measured", file=sys.stderr, flush=True)
        notes = [*left_out, *([f"Sets that were not run: {', '.join(rest)}"] if rest else [])]
        tables = board(found, list(methods), given.splits, notes)
        if given.write:  # after each set, so that an interrupted run loses one
            Record.now("board", tables, given.splits).save()
    if found:
        print("\n".join(table.markdown() for table in tables))


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the arguments."""
    about = "Methods that decide at costs, on public sets."
    parser = argparse.ArgumentParser(prog="python -m benchmarks.board", description=about)
    parser.add_argument("--sets", nargs="+", choices=SETS, metavar="SET", help="sets (default: all): " + ", ".join(SETS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, metavar="METHOD", help="methods: " + "; ".join(METHODS))
    parser.add_argument("--splits", type=int, default=5, help="random splits of each set (5)")
    parser.add_argument("--data", type=Path, help="the folder of data that DATA.md describes")
    parser.add_argument("--write", action="store_true", help="record the tables in results/board.json and board.md")
    return parser.parse_args(argv)


def board(found: list[Found], methods: list[str], splits: int, notes: list[str]) -> list[Table]:
    """Return the tables: savings with ranks, promises, seconds."""
    kept = [promises(found)] if any(of.wrong for of in found) else []
    return [savings(found, methods, splits, notes), *kept, seconds(found, methods)]


def savings(found: list[Found], methods: list[str], splits: int, notes: list[str]) -> Table:
    """Mean savings with their intervals, and mean ranks."""
    priced = [of for of in found if of.savings]
    table = Table(
        TITLE,
        ["set", *methods],
        note="Share of the cost of the best constant decision that a method saves: 1 is best, 0 as good as a constant.  Means "
        f"over {splits} random stratified splits, from number {FIRST} on: 70 % for training, of which at most {MOST_ROWS} rows "
        "are used, and 30 % for the test.  ± is half of a 95 % t interval, corrected for the training rows that splits share "
        "(Nadeau and Bengio 2003).  All methods have their default parameters.  "
        f"'{RANKS_OF_ALL}' is of methods that decide on every set, '{RANKS_OF_TWO}' is over the sets on which most methods "
        "decide; 1 is best.  An empty cell: the method has no such decision." + "".join(f"  {note}." for note in notes),
    )
    for of in priced:
        table.rows.append([of.name, *(with_interval(of, of.savings.get(name)) for name in methods)])
    of_two = [of for of in priced if len(of.savings) == max(len(of.savings) for of in priced)]
    for title, sets in ((RANKS_OF_ALL, priced), (RANKS_OF_TWO, of_two)):
        ranks = mean_ranks(sets)
        table.rows.append([title, *(f"{ranks[name]:.1f}" if name in ranks else None for name in methods)])
    return table


def with_interval(of: Found, values: list[float] | None) -> str | None:
    """A mean and half of its interval."""
    if values is None:
        return None
    half = of.interval(values)
    return f"{np.mean(values):.3f}" + ("" if half is None else f" ± {half:.3f}")


def promises(found: list[Found]) -> Table:
    """Shares of answered rows and of wrong answers, where at most a share may be wrong."""
    table = Table(
        PROMISES,
        ["set", "method", "answered", "wrong answers", "largest share of wrong answers", "promise broken"],
        note="At most 5 % of the answers may be wrong.  Half of the training rows choose the rows that are answered: "
        "sklearn_predtron certifies the promise with 95 % confidence; peers answer as many rows as keep it on this half.  "
        "The last column counts the splits with more than 5 % wrong answers among the test rows, some of them by chance.",
    )
    for of in found:
        for name, wrong in of.wrong.items():
            over = f"{sum(share > (of.risk or 0) for share in wrong)} of {len(wrong)}"
            shares = with_interval(of, of.answered[name]), with_interval(of, wrong)
            table.rows.append([of.name, name, *shares, f"{max(wrong):.3f}", over])
    return table


def seconds(found: list[Found], methods: list[str]) -> Table:
    """Mean CPU seconds, one thread."""
    means = [{name: float(np.mean(values)) for name, values in of.seconds.items()} for of in found]
    table = Table(SECONDS, ["set", *methods], note="Means over the splits, columns included; one thread.")
    table.rows = [[of.name, *(mean.get(name) for name in methods)] for of, mean in zip(found, means, strict=True)]
    return table
