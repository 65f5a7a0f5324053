"""Reports of a finished job: tables or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sklearn_predtron._support.one_line import one_line
from sklearn_predtron.cli._compare import CUTS, ResultRow
from sklearn_predtron.cli._console import complain, report
from sklearn_predtron.cli._data_files import STANDARD
from sklearn_predtron.cli._job import Job
from sklearn_predtron.cli._progress import LONGEST_NAME
from sklearn_predtron.cli._tasks import Task
from sklearn_predtron.cli._unseen import UnseenFeatures

HEADER = [
    "data",
    "learner",
    "rounds",
    "rounds/s",
    "progressive loss",
    "last iterate",
    "held-out score",
    "held-out loss",
    "F1 of chunks",
    "rejected",
    "right of the rest",
]


def table(results: Sequence[ResultRow]) -> str:
    """Format the table without empty columns."""
    hidden = {"held-out loss"} if all(result.held_out_loss is None for result in results) else set()
    hidden |= {"F1 of chunks"} if all(result.chunks is None for result in results) else set()
    hidden |= {"rejected", "right of the rest"} if all(result.rejected is None for result in results) else set()
    lines = [HEADER] + [result.cells() for result in results]
    return aligned([[cell for name, cell in zip(HEADER, line, strict=True) if name not in hidden] for line in lines])


def top_table(results: Sequence[ResultRow]) -> str:
    """Format NDCG@k as a table, if requested."""
    lines = [line for result in results for line in result.top_cells()]
    return "\n" + aligned([["learner", "queries", *(f"NDCG@{k}" for k in CUTS)], *lines]) + "\n\n" if lines else ""


def cost_table(results: Sequence[ResultRow]) -> str:
    """Format the table of costs, if rows have costs."""
    lines = [line for result in results for line in result.cost_cells()]
    return "\n" + aligned([["learner", "rows", "mean cost", "best constant", "savings"], *lines]) + "\n\n" if lines else ""


def aligned(lines: list[list[str]], left: Sequence[int] = (0, 1)) -> str:
    """Align cells as text below a header."""
    lines = [[one_line(cell, LONGEST_NAME) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines = [lines[0], ["-" * width for width in widths], *lines[1:]]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if i in left else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def legend(tasks: Sequence[Task]) -> str:
    """Return a one-line legend of the table's columns."""
    scores = {task.score for task in tasks}
    score = scores.pop() if len(scores) == 1 else "accuracy, or the task's own"
    return f"rounds/s: training only; progressive loss: the mean, each before its update; held-out score: {score}."


@dataclass
class Outcome:
    """The outcome of the job, and errors that ended it early."""

    results: Sequence[ResultRow]
    left_out: UnseenFeatures
    errors: list[tuple[BaseException, str]]
    predictions_to: str | None
    only_predicted: bool


def report_outcome(outcome: Outcome, job: Job, task: Task) -> int:
    """Report the outcome; return the exit code."""
    to_stderr = outcome.predictions_to == STANDARD
    text = "" if job.quiet else str(outcome.left_out)
    if job.json:
        code = report(as_json(outcome.results, outcome.left_out), to_stderr=to_stderr)
    elif job.quiet or outcome.only_predicted:
        code = report(text, to_stderr=True)
    else:
        text = f"{table(outcome.results)}\n{top_table(outcome.results)}{cost_table(outcome.results)}{text}{legend([task])}\n"
        code = report(text, to_stderr=to_stderr)
    return max([code, *(complain(error, rest) for error, rest in outcome.errors)])


def as_json(results: Sequence[ResultRow], left_out: UnseenFeatures) -> str:
    """Return the results as one JSON object."""
    missing = {"values": left_out.values, "features": len(left_out.features)}
    found: dict[str, Any] = {"results": [result.figures() for result in results], "left_out_of_test": missing}
    if left_out.rows:
        found["unknown_labels_of_test"] = left_out.rows
    return json.dumps(found) + "\n"
