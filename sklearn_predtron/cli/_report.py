"""Reports of a finished job: tables or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sklearn_predtron._support.one_line import one_line
from sklearn_predtron.cli._console import complain, report
from sklearn_predtron.cli._evaluation import CUTS, FIT, ResultRow, format_mean
from sklearn_predtron.cli._progress import LONGEST_NAME
from sklearn_predtron.cli._settings import Job
from sklearn_predtron.cli._tasks import Task
from sklearn_predtron.cli._unseen import UnseenFeatures
from sklearn_predtron.datasets.formats.files import STANDARD

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
    "accuracy of the rest",
]
OF_TRAINING = "rounds", "rounds/s", "progressive loss", "last iterate"


def table(results: Sequence[ResultRow]) -> str:
    """Format the table without empty columns."""
    hidden = {"held-out loss"} if all(result.held_out_loss is None for result in results) else set()
    hidden |= {"F1 of chunks"} if all(result.chunks is None for result in results) else set()
    hidden |= {"rejected", "accuracy of the rest"} if all(result.rejected is None for result in results) else set()
    hidden |= set(OF_TRAINING) if only_scored(results) else set()
    hidden |= {"progressive loss", "last iterate"} if results[0].training == FIT else set()
    lines = [HEADER] + [result.cells() for result in results]
    return aligned([[cell for name, cell in zip(HEADER, line, strict=True) if name not in hidden] for line in lines])


def legend_of(result: ResultRow, score: str) -> str:
    """Return how the model was trained, and what the columns mean."""
    parts = [f"held-out score: {score}.\n"]
    if result.training is not None:
        epochs = "1 epoch" if result.epochs == 1 else f"{result.epochs} epochs"
        if result.training == FIT:
            parts[:0] = [f"rounds/s: of fit, {epochs} of the rows in memory (--stream: one pass)"]
        else:
            parts[:0] = [f"rounds/s: of the {result.training}, {epochs}", "progressive loss: the mean, each before its update"]
    return "; ".join(parts)


def only_scored(results: Sequence[ResultRow]) -> bool:
    """Return whether the model was scored and not trained."""
    return results[0].tested > 0 and results[0].rounds == 0


def top_table(results: Sequence[ResultRow]) -> str:
    """Format NDCG@k as a table, if queries were scored."""
    lines = [
        [result.learner, *(format_mean(value, result.tested) for value in result.top)]
        for result in results
        if result.top is not None and result.tested
    ]
    return "\n" + aligned([["learner", *(f"NDCG@{k}" for k in CUTS)], *lines]) + "\n\n" if lines else ""


def cost_table(results: Sequence[ResultRow]) -> str:
    """Format the table of costs, if rows have costs."""
    lines = [
        [result.learner, *("-" if value is None else f"{value:.4f}" for value in result.costs.figures.values())]
        for result in results
        if result.costs is not None
    ]
    return "\n" + aligned([["learner", "mean cost", "best constant", "savings"], *lines]) + "\n\n" if lines else ""


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
    to_stderr, output = outcome.predictions_to == STANDARD, job.output
    text = "" if output.quiet else str(outcome.left_out)
    if output.json:
        code = report(as_json(outcome.results, outcome.left_out), to_stderr=to_stderr)
    elif output.quiet or outcome.only_predicted:
        code = report(text, to_stderr=True)
    else:
        legend = legend_of(outcome.results[0], task.score)
        text = f"{table(outcome.results)}\n{top_table(outcome.results)}{cost_table(outcome.results)}{text}{legend}"
        code = report(text, to_stderr=to_stderr)
    if output.plot:
        result = outcome.results[0]
        from sklearn_predtron.cli._picture import draw_confusion, write_picture

        code = max(code, write_picture(lambda: draw_confusion(result.confusion, result.learner), output.plot))
    return max([code, *(complain(error, rest) for error, rest in outcome.errors)])


def as_json(results: Sequence[ResultRow], left_out: UnseenFeatures) -> str:
    """Return the results as one JSON object."""
    missing = {"values": left_out.values, "features": len(left_out.features)}
    found: dict[str, Any] = {"results": [result.figures() for result in results], "left_out_of_test": missing}
    if left_out.rows:
        found["unknown_labels_of_test"] = left_out.rows
    return json.dumps(found) + "\n"
