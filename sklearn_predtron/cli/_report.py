"""What the job says when it is done: a table, or JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass

from sklearn_predtron.cli._compare import ResultRow
from sklearn_predtron.cli._console import complain, report
from sklearn_predtron.cli._data_files import STANDARD
from sklearn_predtron.cli._demo import Task, legend, table, top_table
from sklearn_predtron.cli._growing import LeftOut


@dataclass
class Outcome:
    """What came of the job, and what ended parts of it early, with what is left."""

    results: Sequence[ResultRow]
    left_out: LeftOut
    errors: list[tuple[BaseException, str]]
    predictions_to: str | None
    only_predicted: bool


def report_outcome(outcome: Outcome, args: argparse.Namespace, task: Task) -> int:
    """Say what came of the job, beside predictions that take the output, and return the exit code."""
    beside = outcome.predictions_to == STANDARD
    text = "" if args.quiet else str(outcome.left_out)
    if args.json:
        code = report(as_json(outcome.results, outcome.left_out), beside=beside)
    elif args.quiet or outcome.only_predicted:
        code = report(text, beside=True)
    else:
        text = f"{table(outcome.results)}\n{top_table(outcome.results)}{text}{legend([task])}\n"
        code = report(text, beside=beside)
    return max([code, *(complain(error, rest) for error, rest in outcome.errors)])


def as_json(results: Sequence[ResultRow], left_out: LeftOut) -> str:
    """Return the results as one JSON object."""
    missing = {"values": left_out.values, "features": len(left_out.features)}
    return json.dumps({"results": [result.figures() for result in results], "left_out_of_test": missing}) + "\n"
